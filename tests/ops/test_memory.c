/* Every allocation failing in turn, over every sample of every operator and form: TN_ERROR_MEMORY, no leak, arguments
 * as they were. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "dispatch/op.h"
#include "support/calls.h"
#include "support/test.h"

enum { MOST_ALLOCATIONS = 64 };

static tn_dtype first_dtype(const tni_op *op)
{
    for (int dtype = 0; dtype < TN_DTYPE_COUNT && op->dtypes; dtype++)
        if (op->dtypes & TNI_DTYPE_BIT(dtype) && (dtype <= TN_FLOAT64 || dtype == TN_INT64))
            return (tn_dtype)dtype;
    return TN_FLOAT32;
}

/* An out that must be resized; of a rank above the inline ones when `high`. */
static tn_tensor *make_out(tn_dtype dtype, bool high)
{
    const int64_t sizes[] = {1, 2, 1, 2, 1, 3, 1};
    return tn_ones(sizes, high ? 7 : 2, dtype);
}

/* The k-th allocation of one call fails. True when the call came through without a failure. */
static bool fail_at(const tni_op *op, int form, const sample *s, int k, bool for_good, bool high)
{
    const char *name = op->name[form];
    const variant v = {.dtypes = {first_dtype(op), first_dtype(op), first_dtype(op)}};
    reference_call call;
    snapshots before;
    tn_scope scope = tn_scope_begin();
    call_prepare(&call, name, s, &v);
    tn_tensor *out = NULL;
    if (form == TNI_OUT) {
        tn_tensor *model = call_run(&call, op->name[TNI_NEW]);
        assert_non_null(model);
        out = make_out(tn_tensor_dtype(model), high);
    }
    call_snapshots(&call, &before);
    snapshot held = {0};
    if (out)
        held = snapshot_take(out);
    int64_t blocks = tn_get_memory_stats().live_blocks;
    tn_fail_allocation(k, for_good);
    tn_tensor *y = out ? call_run_out(&call, name, out) : call_run(&call, name);
    bool failed = tn_allocation_failed();
    tn_fail_allocation(-1, false);
    if (failed) {
        if (y || tn_error_code() != TN_ERROR_MEMORY)
            fail_msg("%s\n  allocation %d failed: %s", call_text(&call, name), k,
                     y ? "a result all the same" : tn_error_message());
        check_error(call_text(&call, name), name);
        if (out && tn_storage_nbytes(out) != held.nbytes)
            fail_msg("%s\n  allocation %d failed: out's storage was resized", call_text(&call, name), k);
        if (tn_get_memory_stats().live_blocks != blocks)
            fail_msg("%s\n  allocation %d failed: %lld blocks more", call_text(&call, name), k,
                     (long long)(tn_get_memory_stats().live_blocks - blocks));
        check_snapshots(&call, name, &before, NULL);
        const char *changed = out ? snapshot_check(&held, NULL) : NULL;
        if (changed)
            fail_msg("%s\n  allocation %d failed%s: out changed: %s", call_text(&call, name), k,
                     for_good ? " for good" : "", changed);
    } else {
        if (!y)
            fail_msg("%s\n  %s", call_text(&call, name), tn_error_message());
        if (form == TNI_IN_PLACE && (op->alter || !op->run)) /* they change records: tests/ops/test_view.c */
            drop_snapshots(&before);
        else
            check_snapshots(&call, name, &before, form == TNI_IN_PLACE ? y : NULL);
    }
    if (out)
        snapshot_free(&held);
    call_free(&call);
    tn_scope_end(scope);
    return !failed;
}

static void every_allocation(void **state)
{
    int failures = 0;
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        for (int form = TNI_NEW; form < TNI_FORMS; form++) {
            const char *text = tni_operators[i]->samples;
            sample s;
            while (tni_operators[i]->name[form] && sample_next(&text, &s)) {
                if (s.fails)
                    continue;
                if (form == TNI_IN_PLACE && s.arguments[0].kind != SAMPLE_TENSOR)
                    continue;
                /* in place the result must have self's shape: samples that broadcast self are refused for that, not for
                 * memory */
                if (form == TNI_IN_PLACE && s.n > 1 && s.arguments[1].kind == SAMPLE_TENSOR &&
                    s.arguments[1].n >= s.arguments[0].n &&
                    memcmp(s.arguments[0].numbers, s.arguments[1].numbers, sizeof s.arguments[0].numbers) != 0)
                    continue;
                if (form == TNI_IN_PLACE && s.n > 2 && s.arguments[2].kind == SAMPLE_DTYPE) /* another than self's */
                    continue;
                for (int how = 0; how < 4; how++) {
                    int k = 0;
                    while (!fail_at(tni_operators[i], form, &s, k, how & 1, how & 2)) {
                        failures++;
                        if (++k > MOST_ALLOCATIONS)
                            fail_msg("%s: more than %d allocations", tni_operators[i]->name[form], MOST_ALLOCATIONS);
                    }
                }
            }
        }
    }
    assert_true(failures > 500);
}

/* Large enough for scratch memory: it is asked for after out was resized, which is then taken back. */
static void scratch(void **state)
{
    static const char *const texts[] = {"[70000]", "[3,70000] 1", "[300,200] [200,100]", "[64,300] [130,300] [130]"};
    static const char *const names[] = {"sum", "mean", "matmul", "linear"};
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        for (int which = 0; which < 4; which++) {
            const char *text = texts[which];
            sample s;
            if (!tni_operators[i]->name[TNI_NEW] || strcmp(tni_operators[i]->name[TNI_NEW], names[which]) != 0)
                continue;
            assert_true(sample_next(&text, &s));
            for (int how = 0; how < 4; how++)
                for (int form = TNI_NEW; form <= TNI_OUT; form += TNI_OUT)
                    for (int k = 0; !fail_at(tni_operators[i], form, &s, k, how & 1, how & 2); k++)
                        assert_true(k < MOST_ALLOCATIONS);
        }
    }
}

/* Functions outside the table. */
static tn_tensor *make_one(int which)
{
    const int64_t sizes[] = {2, 3}, high[] = {1, 2, 1, 2, 1, 2, 1}, strides[] = {4, 1};
    const float data[] = {1, 2, 3, 4, 5, 6};
    switch (which) {
    case 0:
        return tn_from_array(data, sizes, 2, TN_FLOAT32);
    case 1:
        return tn_empty(high, 7, TN_FLOAT64);
    case 2:
        return tn_empty_strided(sizes, strides, 2, TN_INT64);
    default:
        return tn_empty((int64_t[]){400}, 1, TN_FLOAT64);
    }
}

static void makers(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        for (int k = 0;; k++) {
            tn_scope scope = tn_scope_begin();
            int64_t blocks = tn_get_memory_stats().live_blocks;
            tn_fail_allocation(k, false);
            tn_tensor *x = make_one(which);
            bool failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(x == NULL, failed);
            assert_int_equal(tn_error_code(), failed ? TN_ERROR_MEMORY : TN_OK);
            if (failed)
                assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
            tn_error_clear();
            tn_scope_end(scope);
            if (!failed)
                break;
        }
    }
}

/* equal, allclose and assert_close make copies inside. */
static void comparisons(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t sizes[] = {3, 4};
    tn_tensor *a = tn_transpose(tn_ones(sizes, 2, TN_FLOAT32), 0, 1),
              *b = tn_transpose(tn_ones(sizes, 2, TN_FLOAT64), 0, 1);
    tn_tensor *c = tn_transpose(tn_zeros(sizes, 2, TN_FLOAT32), 0, 1);
    const tn_assert_close_options any_dtype = {.ignore_dtype = true};
    for (int which = 0; which < 3; which++) {
        for (int k = 0;; k++) {
            int64_t blocks = tn_get_memory_stats().live_blocks;
            tn_fail_allocation(k, false);
            if (which == 0)
                assert_false(tn_equal(a, c));
            else if (which == 1)
                assert_false(tn_allclose(a, c, 1e-5, 1e-8, false));
            else
                tn_assert_close(a, b, &any_dtype);
            bool failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(tn_error_code(), failed ? TN_ERROR_MEMORY : TN_OK);
            assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
            tn_error_clear();
            if (!failed)
                break;
        }
    }
    tn_scope_end(scope);
}

static int forget_error(void **state)
{
    (void)state;
    tn_fail_allocation(-1, false);
    tn_error_clear();
    return 0;
}

#define clean(function) cmocka_unit_test_setup(function, forget_error)

int main(void)
{
    const struct CMUnitTest tests[] = {clean(every_allocation), clean(scratch), clean(makers), clean(comparisons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
