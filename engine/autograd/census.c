/* One pass in row-major order: blocks of a row are brought to float64, whose exponents every float dtype's fit in. */
#include "autograd/census.h"

#include <math.h>

#include "core/convert.h"
#include "core/lazy.h"

enum { BLOCK = 256 };

static void see(tni_census *census, const double *parts, int n_parts, int64_t position)
{
    bool nan = false, infinite = false, zero = true, negative = false;
    for (int i = 0; i < n_parts; i++) {
        double size = fabs(parts[i]);
        nan = nan || isnan(parts[i]);
        if (isinf(parts[i])) {
            infinite = true;
            negative = parts[i] < 0;
        } else if (size > census->largest) {
            census->largest = size;
        }
        zero = zero && size == 0;
    }
    if (nan && census->nans++ == 0)
        census->first_nan = position;
    if (infinite && !nan && census->infinities++ == 0) {
        census->first_infinity = position;
        census->negative = negative;
    }
    census->zeros += zero;
}

static void see_row(tni_census *census, const char *row, int64_t stride, int64_t n, tn_dtype dtype, int64_t position)
{
    double block[2 * BLOCK];
    const int parts = tni_dtype_kind(dtype) == TNI_COMPLEX ? 2 : 1;
    tni_converter convert = tni_converter_of(dtype, parts == 2 ? TN_COMPLEX128 : TN_FLOAT64);
    if (!convert)
        return;
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t now = n - done < BLOCK ? n - done : BLOCK;
        convert(block, parts * (int64_t)sizeof *block, row + done * stride, stride, now);
        for (int64_t i = 0; i < now; i++)
            see(census, block + parts * i, parts, position + done + i);
    }
}

tni_census tni_census_of(const tn_tensor *x)
{
    tni_census census = {0};
    const tn_dtype dtype = (tn_dtype)x->dtype;
    const int64_t size = tni_itemsize(dtype);
    const int outer = x->ndim - 1;
    int64_t index[TN_MAX_NDIM] = {0};
    if (x->keys & TNI_KEY_ZERO) {
        census.zeros = x->numel;
        return census;
    }
    if (x->numel == 0 || !(x->keys & TNI_KEY_CPU))
        return census;
    if (tni_contiguous(x)) {
        see_row(&census, tni_data(x), size, x->numel, dtype, 0);
        return census;
    }
    const int64_t row = x->sizes[outer];
    const char *at = tni_data(x);
    for (int64_t position = 0; position < x->numel; position += row) {
        see_row(&census, at, x->strides[outer] * size, row, dtype, position);
        for (int d = outer - 1; d >= 0; d--) {
            at += x->strides[d] * size;
            if (++index[d] < x->sizes[d])
                break;
            at -= x->strides[d] * size * x->sizes[d];
            index[d] = 0;
        }
    }
    return census;
}
