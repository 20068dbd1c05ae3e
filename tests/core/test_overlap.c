/* Which writes are refused: against brute force over small geometries, within PyTorch's rule that only the sure cases
 * are. */
#include <string.h>
#include <tenon/tenon.h>

#include "core/geometry.h"
#include "core/overlap.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static void within_itself(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(12), 1, TN_FLOAT32);
    assert_int_equal(tni_check_no_internal_overlap("test", tn_as_strided(x, LIST(3, 4), LIST(1, 3), 2, 0)), TN_OK);
    assert_int_equal(tni_check_no_internal_overlap("test", tn_as_strided(x, LIST(5, 4), LIST(1, 1), 2, 0)),
                     TN_OK); /* windows pass */
    assert_int_equal(tni_check_no_internal_overlap("test", tn_as_strided(x, LIST(1, 4), LIST(0, 1), 2, 0)), TN_OK);
    assert_int_equal(tni_check_no_internal_overlap("test", tn_as_strided(x, LIST(2, 4), LIST(0, 1), 2, 0)),
                     TN_ERROR_OVERLAP);
    tn_error_clear();
    tn_tensor *wide = tn_expand(tn_zeros(LIST(1), 1, TN_FLOAT32), LIST(4), 1);
    assert_int_equal(tn_add_scalar_(wide, tn_int(1)), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_fill_(wide, tn_int(2)), TN_OK); /* one value everywhere hurts nobody */
    assert_int_equal(tn_zero_(wide), TN_OK);
    assert_int_equal(tn_copy_(wide, x), TN_ERROR_SHAPE);
    tn_error_clear();
    assert_int_equal(tn_copy_(wide, tn_zeros(LIST(4), 1, TN_FLOAT32)), TN_ERROR_OVERLAP);
    tn_error_clear();
    tn_scope_end(scope);
}

/* Random pairs of views of one storage. Refused exactly when both are dense, share a byte, and do not cover the same
 * bytes with the same strides. */
static void with_an_operand(void **state)
{
    uint64_t random = 5;
    int refused = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *base = tn_zeros(LIST(30), 1, TN_FLOAT32), *view[2];
        unsigned char cells[2][30] = {{0}};
        bool dense[2];
        for (int k = 0; k < 2; k++) {
            int64_t sizes[2], strides[2], offset;
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t r = random >> 33;
            sizes[0] = (int64_t)(r % 4);
            sizes[1] = (int64_t)(r / 4 % 4);
            strides[1] = (int64_t)(r / 16 % 3 == 0 ? sizes[0] : 1);
            strides[0] = (int64_t)(r / 48 % 3 == 0 ? 1 : r / 48 % 3 == 1 ? sizes[1] : 5);
            offset = (int64_t)(r / 144 % 6);
            view[k] = tn_as_strided(base, sizes, strides, 2, offset);
            assert_non_null(view[k]);
            for (int64_t i = 0; i < sizes[0]; i++)
                for (int64_t j = 0; j < sizes[1]; j++)
                    cells[k][offset + i * strides[0] + j * strides[1]] = 1;
            dense[k] = tni_is_dense(sizes, strides, 2);
        }
        bool share = false, same = tn_storage_offset(view[0]) == tn_storage_offset(view[1]) &&
                                   tn_numel(view[0]) == tn_numel(view[1]);
        for (int i = 0; i < 30; i++)
            share = share || (cells[0][i] && cells[1][i]);
        for (int d = 0; d < 2; d++)
            same = same && tn_stride(view[0], d) == tn_stride(view[1], d);
        bool wanted = dense[0] && dense[1] && share && !same;
        tn_status status = tni_check_no_partial_overlap("test", view[0], view[1]);
        if ((status == TN_ERROR_OVERLAP) != wanted)
            fail_msg("round %d: %s", round, tn_error_message());
        if (share)
            assert_true(tni_may_share(view[0], view[1]));
        refused += wanted;
        tn_error_clear();
        tn_scope_end(scope);
    }
    assert_true(refused > 500);
}

static void no_false_alarm(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(4, 4), 2, TN_FLOAT32), *y = tn_zeros(LIST(4, 4), 2, TN_FLOAT32);
    assert_false(tni_may_share(x, y));
    assert_false(tni_may_share(tn_narrow(x, 0, 0, 2), tn_narrow(x, 0, 2, 2)));
    /* x[:, 1:] = x[:, :-1] is not judged; x[1:] = x[:-1] is */
    assert_int_equal(tn_copy_(tn_narrow(x, 1, 1, 3), tn_narrow(x, 1, 0, 3)), TN_OK);
    assert_int_equal(tn_copy_(tn_narrow(x, 0, 1, 3), tn_narrow(x, 0, 0, 3)), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_copy_(x, x), TN_OK);
    assert_int_equal(tn_copy_(tn_narrow(x, 0, 0, 2), tn_narrow(x, 0, 2, 2)), TN_OK);
    assert_int_equal(tn_add_(x, tn_t(x)), TN_ERROR_OVERLAP);
    tn_error_clear();
    tn_scope_end(scope);
}

TEST_MAIN(test(within_itself), test(with_an_operand), test(no_false_alarm))
