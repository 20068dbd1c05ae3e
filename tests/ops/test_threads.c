/* The same bits for every number of threads, on shapes that are shared out; and against a plain loop where that is
 * cheap. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/draw.h"
#include "support/test.h"

enum { CASES = 22, MOST_THREADS = 3 };

static tn_tensor *values(const int64_t *sizes, int ndim, tn_dtype dtype)
{
    tn_tensor *x = tn_empty(sizes, ndim, TN_FLOAT32);
    float *data = tn_data_f32_mut(x);
    uint64_t state = 88172645463325252u;
    for (int64_t i = 0; i < tn_numel(x); i++) {
        data[i] = (float)draw_below(&state, 20001) / 997.0f - 10.0f;
    }
    return tn_to(x, dtype);
}

/* A result that is large, or reads much. */
static tn_tensor *result(int which, tn_dtype dtype)
{
    const int64_t square[] = {300, 700}, line = 1000000, tall[] = {1000, 1000}, thin[] = {200000, 3},
                  deep[] = {40, 60, 80};
    const int zero = 0, one = 1, ends[] = {0, 2};
    tn_tensor *x = values(square, 2, dtype), *flat = values(&line, 1, dtype), *big = tn_view(flat, tall, 2);
    switch (which) {
    case 0:
        return tn_sum(flat, NULL, 0, false, TN_DTYPE_NONE);
    case 1:
        return tn_sum(x, &zero, 1, false, TN_DTYPE_NONE);
    case 2:
        return tn_sum(x, &one, 1, true, TN_DTYPE_NONE);
    case 3:
        return tn_sum(tn_t(big), &zero, 1, false, TN_DTYPE_NONE);
    case 4:
        return tn_sum(values(deep, 3, dtype), ends, 2, false, TN_DTYPE_NONE);
    case 5:
        return tn_sum(values(thin, 2, dtype), &zero, 1, false, TN_DTYPE_NONE);
    case 6:
        return tn_sum(values(thin, 2, dtype), &one, 1, false, TN_DTYPE_NONE);
    case 7:
        return dtype == TN_INT64 ? tn_neg(flat) : tn_mean(flat, NULL, 0, false, TN_DTYPE_NONE);
    case 8:
        return tn_amax(big, &zero, 1, false);
    case 9:
        return tn_amax(flat, NULL, 0, false);
    case 10:
        return tn_argmax(big, 1, false);
    case 11:
        return tn_argmax_all(flat, false);
    case 12:
        return tn_add(flat, flat);
    case 13:
        return tn_add(big, tn_t(big));
    case 14:
        return tn_mul(big, tn_select(big, 0, 3));
    case 15:
        return tn_contiguous(tn_t(big));
    case 16:
        return tn_clone(tn_slice(big, 1, 0, 1000, 2));
    case 17:
        return tn_to(flat, dtype == TN_FLOAT64 ? TN_FLOAT32 : TN_FLOAT64);
    case 18:
        return tn_exp(flat);
    case 19:
        return tn_tanh(tn_t(big));
    case 20:
        return tn_lt(big, tn_t(big));
    default:
        return tn_matmul(x, tn_t(x));
    }
}

static void same_bits(void **state)
{
    static const tn_dtype dtypes[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64};
    (void)state;
    for (int which = 0; which < CASES; which++) {
        for (int k = 0; k < 3; k++) {
#if defined(TENON_QUICK) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
            if (k != which % 3) /* slow: one dtype a case */
                continue;
#endif
            void *first = NULL;
            size_t bytes = 0;
            for (int threads = 1; threads <= MOST_THREADS; threads++) {
                tn_scope scope = tn_scope_begin();
                assert_int_equal(tn_set_num_threads(threads), TN_OK);
                tn_tensor *y = tn_contiguous(result(which, dtypes[k]));
                if (!y)
                    fail_msg("case %d, %s, %d threads: %s", which, tn_dtype_name(dtypes[k]), threads,
                             tn_error_message());
                if (threads == 1) {
                    bytes = (size_t)tn_numel(y) * tn_itemsize(tn_tensor_dtype(y));
                    first = malloc(bytes);
                    memcpy(first, tn_data(y), bytes);
                } else if (memcmp(first, tn_data(y), bytes) != 0) {
                    fail_msg("case %d, %s: other bits with %d threads than with one", which, tn_dtype_name(dtypes[k]),
                             threads);
                }
                tn_scope_end(scope);
            }
            free(first);
        }
    }
    assert_int_equal(tn_set_num_threads(2), TN_OK);
}

/* Large copies and sums against plain loops: transposed, strided, broadcast. */
static void against_loops(void **state)
{
    const int64_t sizes[] = {515, 777};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = values(sizes, 2, TN_FLOAT32), *t = tn_contiguous(tn_t(x)),
              *gaps = tn_clone(tn_slice(x, 1, 1, TN_SLICE_END, 3));
    tn_tensor *sum = tn_add(tn_t(t), tn_select(x, 0, 9));
    const float *data = tn_data_f32(x);
    for (int64_t i = 0; i < 515; i++) {
        for (int64_t j = 0; j < 777; j++) {
            assert_true(tn_data_f32(t)[j * 515 + i] == data[i * 777 + j]);
            assert_true(tn_data_f32(sum)[i * tn_stride(sum, 0) + j * tn_stride(sum, 1)] ==
                        data[i * 777 + j] + data[9 * 777 + j]);
        }
        for (int64_t j = 1; j < 777; j += 3)
            assert_true(tn_data_f32(gaps)[i * tn_stride(gaps, 0) + (j - 1) / 3 * tn_stride(gaps, 1)] ==
                        data[i * 777 + j]);
    }
    const int64_t all = 515 * 777;
    double total = 0;
    for (int64_t i = 0; i < all; i++)
        total += (double)data[i];
    double got = tn_item(tn_sum(x, NULL, 0, false, TN_DTYPE_NONE));
    assert_true(got - total < 0.05 && total - got < 0.05);
    tn_scope_end(scope);
}

TEST_MAIN(test(same_bits), test(against_loops))
