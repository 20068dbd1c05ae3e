/* Adding elements into others. The rows are those of add (ops/arithmetic.kernel.h), through blocks where the dtype has
 * no loop of its own. */
#include "ops/accumulate.h"

#include <string.h>

#include "core/convert.h"
#include "ops/pointwise.h"

/* alpha as add takes it: rounded to the dtype first. */
static void set_alpha(tni_alpha *alpha, tn_scalar scalar, tn_dtype dtype, tn_dtype wide)
{
    _Alignas(16) char common[16];
    memset(alpha, 0, sizeof *alpha);
    tni_scalar_to(scalar, dtype, common);
    tni_converter_of(dtype, wide)(alpha, 0, common, 0, 1);
}

static bool is_one(tn_scalar scalar)
{
    return scalar.kind != TN_SCALAR_COMPLEX && tni_scalar_real(scalar) == 1;
}

void tni_add_scaled_row(tn_dtype dtype, char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
                        tn_scalar scalar)
{
    enum { WIDEST = 16 };
    _Alignas(64) char sums[TNI_BLOCK * WIDEST], terms[TNI_BLOCK * WIDEST], rounded[TNI_BLOCK * WIDEST];
    const int lane = tni_lane_of(dtype);
    const tn_dtype wide = tni_lane_dtype(lane);
    const int64_t size = tni_itemsize(wide);
    const tni_binary loop = is_one(scalar) ? TNI_BINARY_add : TNI_BINARY_add_alpha;
    const tni_pointwise *kernels = tni_pointwise_levels[tni_cpu_level()];
    const tni_loop add = kernels->binary[TNI_BINARY_add][lane], multiply = kernels->binary[TNI_BINARY_mul][lane],
                   scaled = kernels->binary[loop][lane];
    tni_alpha alpha;
    set_alpha(&alpha, scalar, dtype, wide);
    if (wide == dtype) {
        const tni_row row = {{to, to, (char *)(uintptr_t)from}, {to_stride, to_stride, from_stride}, n, false, &alpha};
        scaled(&row);
        return;
    }
    const tni_converter widen = tni_converter_of(dtype, wide), narrow = tni_converter_of(wide, dtype);
    for (int64_t i = 0; i < n; i += TNI_BLOCK) {
        int64_t some = n - i < TNI_BLOCK ? n - i : TNI_BLOCK;
        const tni_row row = {{sums, sums, terms}, {size, size, size}, some, false, &alpha};
        widen(sums, size, to + i * to_stride, to_stride, some);
        widen(terms, size, from + i * from_stride, from_stride, some);
        if (loop == TNI_BINARY_add_alpha) { /* the product is rounded to the dtype, as in PyTorch */
            const tni_row scale = {{terms, terms, (char *)&alpha}, {size, size, 0}, some, false, &alpha};
            multiply(&scale);
            narrow(rounded, tni_itemsize(dtype), terms, size, some);
            widen(terms, size, rounded, tni_itemsize(dtype), some);
        }
        add(&row);
        narrow(to + i * to_stride, to_stride, sums, size, some);
    }
}

void tni_add_row(tn_dtype dtype, char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n)
{
    tni_add_scaled_row(dtype, to, to_stride, from, from_stride, n, tn_int(1));
}

#define SCATTER(T)                                               \
    do {                                                         \
        for (int64_t i = 0; i < n; i++, from += from_stride) {   \
            T sum, term;                                         \
            memcpy(&sum, to + at[i], sizeof sum);                \
            memcpy(&term, from, sizeof term);                    \
            sum += term;                                         \
            memcpy(to + at[i], &sum, sizeof sum);                \
        }                                                        \
        return;                                                  \
    } while (0)

void tni_add_scattered(tn_dtype dtype, char *to, const int64_t *at, const char *from, int64_t from_stride, int64_t n)
{
    switch (dtype) {
    case TN_FLOAT32:
        SCATTER(float);
    case TN_FLOAT64:
        SCATTER(double);
    case TN_INT64:
    case TN_UINT64:
        SCATTER(uint64_t);
    case TN_INT32:
    case TN_UINT32:
        SCATTER(uint32_t);
    default:
        for (int64_t i = 0; i < n; i++)
            tni_add_row(dtype, to + at[i], 0, from + i * from_stride, 0, 1);
    }
}
