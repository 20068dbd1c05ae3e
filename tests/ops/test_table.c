/* The operator table against the reference: every operator, sample, dtype and layout; META; purity; error samples. A
 * table that claims a dtype which did not run fails. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "dispatch/op.h"
#include "support/calls.h"
#include "support/errors.h"
#include "support/test.h"

static const tn_dtype four[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL};
/* all that have cells; those behind the first four are tried in fewer layouts. The others are in test_dtypes.c */
static const tn_dtype dtypes[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64,  TN_BOOL,   TN_FLOAT16, TN_BFLOAT16, TN_INT8,
                                  TN_INT16,   TN_INT32,   TN_UINT8, TN_UINT16, TN_UINT32,  TN_UINT64};
enum { FOUR = 4, FEW_LAYOUTS = 2, DTYPES = sizeof dtypes / sizeof *dtypes };

static int seen; /* calls that the counting layer saw */

static tn_status count_call(void *context, tn_op_call *call)
{
    ++*(int *)context;
    return tn_layer_next(call);
}

static const char *own_name(const tni_op *op)
{
    return op->name[TNI_NEW] ? op->name[TNI_NEW] : op->name[TNI_IN_PLACE];
}

static int tensor_operands(const sample *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->arguments[i].kind == SAMPLE_TENSOR || s->arguments[i].list[0].numbers;
    return n;
}

/* Slots in use of this thread's scopes, and blocks of memory. */
static int64_t slots_used(void)
{
    const tni_scope_stack *stack = tni_this_thread.scopes;
    return stack ? (int64_t)stack->used - stack->empty : 0;
}

/* An operator that only creates takes the dtype as an argument. False when it takes none. */
static bool set_dtype_argument(const tni_op *op, sample *s, tn_dtype dtype)
{
    for (int p = 0; p < op->n_params; p++) {
        if (op->params[p].code != 'D')
            continue;
        while (s->n <= p)
            s->arguments[s->n++].kind = SAMPLE_NONE;
        s->arguments[p].kind = SAMPLE_DTYPE;
        s->arguments[p].dtype = dtype;
        return true;
    }
    return false;
}

static void check_meta(const reference_call *call, const char *name, const tn_tensor *y)
{
    tn_tensor *m = call_run_meta(call, name);
    if (!m)
        fail_msg("%s\n  on meta: %s", call_text(call, name), tn_error_message());
    bool same = tn_tensor_device(m).type == TN_META && tn_ndim(m) == tn_ndim(y) &&
                tn_tensor_dtype(m) == tn_tensor_dtype(y) && tn_storage_offset(m) == tn_storage_offset(y) &&
                tn_storage_nbytes(m) == tn_storage_nbytes(y) && tn_is_contiguous(m) == tn_is_contiguous(y) &&
                tn_numel(m) == tn_numel(y);
    for (int d = 0; same && d < tn_ndim(y); d++)
        same = tn_sizes(m)[d] == tn_sizes(y)[d] && tn_strides(m)[d] == tn_strides(y)[d];
    if (!same || tn_storage_data(m))
        fail_msg("%s\n  the result on meta has another record", call_text(call, name));
    assert_null(tn_data(m));
    assert_int_equal(tn_error_code(), TN_ERROR_DEVICE);
    tn_error_clear();
}

static bool has_overlap(const tn_tensor *x)
{
    for (int d = 0; d < tn_ndim(x) && tn_numel(x) > 0; d++)
        if (tn_sizes(x)[d] > 1 && tn_strides(x)[d] == 0)
            return true;
    return false;
}

/* One call that should work, in the functional form (or in place where there is no other). True if it did. */
static bool run_case(const tni_op *op, const sample *s, const variant *v)
{
    const char *name = own_name(op);
    reference_call call;
    expectation e;
    snapshots before;
    tn_scope scope = tn_scope_begin();
    call_prepare(&call, name, s, v);
    call_snapshots(&call, &before);
    if (!reference_of(&call, &e))
        fail_msg("no reference for %s", name);
    bool in_place = op->name[TNI_NEW] == NULL;
    bool refused = (in_place && !op->overlap_allowed && has_overlap(call.arguments[0].tensor)) ||
                   (!op->run && !in_place && e.shares == SHARES_NOTHING);
    int seen_before = seen;
    int64_t slots = slots_used();
    tn_tensor *y = call_run(&call, name);
    assert_int_equal(seen, seen_before + 1);
    if (refused) {
        if (y)
            fail_msg("%s\n  should be refused", call_text(&call, name));
        check_error(call_text(&call, name), name);
        check_snapshots(&call, name, &before, NULL);
        assert_int_equal(slots_used(), slots);
    } else {
        if (in_place)
            assert_ptr_equal(y, call.arguments[0].tensor);
        check_result(&call, name, &e, y);
        check_snapshots(&call, name, &before, in_place ? y : NULL);
        if (in_place ? slots_used() != slots : slots_used() != slots + 1)
            fail_msg("%s\n  %lld slots were taken", call_text(&call, name), (long long)(slots_used() - slots));
        if (!in_place)
            check_meta(&call, name, y);
    }
    expectation_free(&e);
    call_free(&call);
    assert_int_equal(tn_scope_end(scope), TN_OK);
    return !refused;
}

/* All layouts of the operands, small and special values. */
static bool run_layouts(const tni_op *op, const sample *s, tn_dtype dtype, int least_layouts)
{
    int operands = tensor_operands(s), second = operands > 1 ? least_layouts : 1,
        first = operands > 0 ? least_layouts : 1;
    bool ran = false;
    for (int a = 0; a < first; a++) {
        for (int b = 0; b < second; b++) {
            for (int values = GRID_SMALL; values <= GRID_SPECIAL; values++) {
                const variant v = {{dtype, dtype, dtype},
                                   {(layout)a, (layout)b, (layout)((a + b) % LAYOUTS)},
                                   (grid_values)values,
                                   (uint64_t)(a * 7 + b * 31 + values) * 1000003};
                bool sums = strstr("sum mean matmul linear linear_reference norm", own_name(op)) != NULL ||
                            strstr(own_name(op), "_loss") || strstr(own_name(op), "softmax") ||
                            strstr(own_name(op), "bce_");
                if (values == GRID_SPECIAL && ((sums && dtype != TN_INT64 && dtype != TN_BOOL) || operands == 0))
                    continue; /* the bounds are for finite sums */
                ran |= run_case(op, s, &v);
            }
        }
    }
    return ran;
}

/* A dtype that the table does not claim is refused. */
static void check_refused(const tni_op *op, const sample *s, tn_dtype dtype)
{
    const char *name = own_name(op);
    const variant v = {.dtypes = {dtype, dtype, dtype}};
    reference_call call;
    for (int i = 0; i < s->n; i++)
        if (s->arguments[i].kind == SAMPLE_NUMBER &&
            ((s->arguments[i].number.kind == TN_SCALAR_FLOAT && !tn_is_floating_point(dtype)) ||
             (s->arguments[i].number.kind == TN_SCALAR_INT && dtype == TN_BOOL)))
            return; /* the number makes it another dtype */
    tn_scope scope = tn_scope_begin();
    call_prepare(&call, name, s, &v);
    if (call_run(&call, name))
        fail_msg("%s\n  works for a dtype that the table does not claim", call_text(&call, name));
    check_error(call_text(&call, name), name);
    call_free(&call);
    tn_scope_end(scope);
}

static void run_operator(const tni_op *op, int layouts, int n_dtypes)
{
    bool should_run = false;
    uint32_t known = 0;
    for (int i = 0; i < n_dtypes; i++)
        known |= TNI_DTYPE_BIT(dtypes[i]);
    uint32_t ran = 0, claimed = op->dtypes & known;
    const char *text = op->samples;
    sample s;
    if (!text)
        fail_msg("%s has no samples", own_name(op));
    if (op->alter && !op->name[TNI_NEW]) /* tests/ops/test_view.c */
        return;
    while (sample_next(&text, &s)) {
        if (s.fails)
            continue;
        should_run = true;
        if (tensor_operands(&s) == 0)
            run_layouts(op, &s, TN_FLOAT32, 1); /* the dtype that the sample itself gives */
        for (int i = 0; i < n_dtypes; i++) {
            sample with = s;
            if (tensor_operands(&s) == 0 && !set_dtype_argument(op, &with, dtypes[i]))
                continue;
            if (claimed && !(claimed & TNI_DTYPE_BIT(dtypes[i])))
                check_refused(op, &with, dtypes[i]);
            else if (run_layouts(op, &with, dtypes[i], i < FOUR || layouts < FEW_LAYOUTS ? layouts : FEW_LAYOUTS))
                ran |= TNI_DTYPE_BIT(dtypes[i]);
        }
    }
    if (claimed && ran != claimed)
        fail_msg("%s claims the dtypes %#x, of which only %#x ran", own_name(op), (unsigned)claimed, (unsigned)ran);
    if (!claimed && should_run && ran == 0)
        fail_msg("no sample of %s ran", own_name(op));
}

static void run_table(int layouts, int n_dtypes)
{
    for (int i = 0; i < tni_operator_count; i++)
        run_operator(tni_operators[i], layouts, n_dtypes);
}

static void all_layouts(void **state)
{
    (void)state;
    run_table(LAYOUTS, DTYPES);
}

/* The other CPU levels give the same: exactly for exact operators, within the bounds for the rest. */
static void lower_cpu_levels(void **state)
{
    static const char *const levels[] = {"default", "avx2", "avx512"};
    char own[16];
    (void)state;
    snprintf(own, sizeof own, "%s", tn_get_cpu_capability());
    for (size_t i = 0; i < sizeof levels / sizeof *levels && strcmp(levels[i], own) != 0; i++) {
        assert_int_equal(tn_set_cpu_capability(levels[i]), TN_OK);
        run_table(2 + (int)i, FOUR);
    }
    assert_int_equal(tn_set_cpu_capability(NULL), TN_OK);
}

/* Operands of two dtypes: the result's dtype, and values converted first. */
static void mixed_dtypes(void **state)
{
    static const tn_dtype more[][2] = {
        {TN_FLOAT16, TN_FLOAT32}, {TN_FLOAT32, TN_BFLOAT16}, {TN_BFLOAT16, TN_FLOAT16}, {TN_INT8, TN_UINT8},
        {TN_UINT8, TN_INT64},     {TN_FLOAT16, TN_INT64},    {TN_INT32, TN_FLOAT64},    {TN_INT64, TN_BFLOAT16},
        {TN_BOOL, TN_FLOAT16},    {TN_UINT8, TN_BOOL},       {TN_INT16, TN_INT8}};
    enum { MORE = sizeof more / sizeof *more };
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        const char *text = op->samples;
        sample s;
        bool operands = op->n_params >= 2 && (op->params[0].code == 'X' || op->params[1].code == 'T') && op->n_in == 2;
        while (operands && sample_next(&text, &s)) {
            if (s.fails || tensor_operands(&s) != 2 || (s.n > 2 && s.arguments[2].kind != SAMPLE_NONE))
                continue;
            for (int pair = 0; pair < 16 + MORE; pair++) {
                tn_dtype a = pair < 16 ? four[pair / 4] : more[pair - 16][0];
                tn_dtype b = pair < 16 ? four[pair % 4] : more[pair - 16][1];
                const variant v = {
                    {a, b, b},
                    {(layout)(pair % LAYOUTS == LAYOUT_EXPANDED ? 0 : pair % LAYOUTS), LAYOUT_SLICED, LAYOUT_PLAIN},
                    (grid_values)(pair & 1),
                    (uint64_t)pair};
                bool claimed = op->dtypes & TNI_DTYPE_BIT(a) && op->dtypes & TNI_DTYPE_BIT(b);
                if (claimed && !(op->exact_out_dtype && a != b))
                    run_case(op, &s, &v);
            }
        }
    }
}

/* Samples that must fail do, and leave nothing behind. */
static void error_samples(void **state)
{
    int samples = 0;
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        const char *text = op->samples, *name = own_name(op);
        sample s;
        while (sample_next(&text, &s)) {
            const variant v = {.dtypes = {TN_FLOAT32, TN_FLOAT32, TN_FLOAT32}};
            reference_call call;
            snapshots before;
            if (!s.fails)
                continue;
            samples++;
            tn_scope scope = tn_scope_begin();
            call_prepare(&call, name, &s, &v);
            call_snapshots(&call, &before);
            int64_t slots = slots_used(), blocks = tn_get_memory_stats().live_blocks;
            if (call_run(&call, name))
                fail_msg("%s\n  should fail", call_text(&call, name));
            check_error(call_text(&call, name), name);
            assert_int_equal(slots_used(), slots);
            assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
            check_snapshots(&call, name, &before, NULL);
            if (tensor_operands(&s) > 0 || op->n_in == 0) {
                if (call_run_meta(&call, name))
                    fail_msg("%s\n  should fail on meta", call_text(&call, name));
                check_error(call_text(&call, name), name);
            }
            call_free(&call);
            tn_scope_end(scope);
        }
    }
    assert_true(samples > 80);
}

/* Every tensor argument as NULL; and nothing happens while an error is pending. */
static void null_and_pending(void **state)
{
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        for (int form = TNI_NEW; form < TNI_FORMS; form++) {
            const char *name = op->name[form], *text = op->samples;
            const variant v = {.dtypes = {TN_FLOAT32, TN_FLOAT32, TN_FLOAT32}};
            sample s;
            while (name && sample_next(&text, &s)) {
                reference_call call;
                snapshots before;
                tn_value values[SAMPLE_ARGUMENTS + 1];
                if (s.fails || (form == TNI_IN_PLACE && s.arguments[0].kind != SAMPLE_TENSOR))
                    continue;
                tn_scope scope = tn_scope_begin();
                call_prepare(&call, name, &s, &v);
                int n = call_box(&call, values);
                if (form == TNI_OUT) {
                    values[n].kind = TN_VALUE_TENSOR;
                    values[n++].as.tensor = tn_zeros(NULL, 0, TN_FLOAT32);
                }
                call_snapshots(&call, &before);
                int64_t slots = slots_used();
                for (int k = 0; k < n; k++) {
                    if (values[k].kind != TN_VALUE_TENSOR ||
                        (k < op->n_params && op->params[k].code == 'T' && op->params[k].optional))
                        continue;
                    tn_tensor *held = values[k].as.tensor;
                    values[k].as.tensor = NULL;
                    assert_null(tn_call(name, values, n));
                    values[k].as.tensor = held;
                    if (tn_error_code() != TN_ERROR_NULL)
                        fail_msg("%s\n  argument %d is NULL: %s", call_text(&call, name), k + 1, tn_error_message());
                    const char *which =
                        k < op->n_params && !(form == TNI_OUT && k == n - 1) ? op->params[k].name : "out";
                    if (!strstr(tn_error_message(), which))
                        fail_msg("%s\n  the message does not name %s: %s", call_text(&call, name), which,
                                 tn_error_message());
                    check_error(call_text(&call, name), name);
                }
                TN_FAIL(TN_ERROR_STATE, "earlier", "an error that was there before");
                assert_null(tn_call(name, values, n));
                assert_string_equal(tn_error_message(), "earlier: an error that was there before");
                tn_error_clear();
                assert_int_equal(slots_used(), slots);
                check_snapshots(&call, name, &before, NULL);
                call_free(&call);
                tn_scope_end(scope);
            }
        }
    }
}

/* Boxed arguments of the wrong kind or number. */
static void wrong_kinds(void **state)
{
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        const char *name = own_name(op), *text = op->samples;
        const variant v = {.dtypes = {TN_FLOAT32, TN_FLOAT32, TN_FLOAT32}};
        sample s;
        reference_call call;
        tn_value values[SAMPLE_ARGUMENTS + 1], odd;
        tn_scope scope = tn_scope_begin();
        assert_true(sample_next(&text, &s));
        call_prepare(&call, name, &s, &v);
        int n = call_box(&call, values);
        for (int k = 0; k < n; k++) {
            for (int kind = TN_VALUE_NONE; kind <= TN_VALUE_FORMAT + 1; kind++) {
                char code = op->params[k].code;
                bool fits = (kind == TN_VALUE_NONE && op->params[k].optional) ||
                            (kind == TN_VALUE_TENSOR && (code == 'T' || code == 'X')) ||
                            (kind == TN_VALUE_SCALAR && strchr("XSIJBMQ", code)) ||
                            (kind == TN_VALUE_INTS && strchr("LJ", code)) || (kind == TN_VALUE_DTYPE && code == 'D') ||
                            (kind == TN_VALUE_WORD && code == 'Q') ||
                            (kind == TN_VALUE_INDEX && code == 'R') ||
                            (kind == TN_VALUE_TENSORS && code == 'G') || (kind == TN_VALUE_FORMAT && code == 'M');
                if (fits)
                    continue;
                odd = values[k];
                memset(&values[k], 0, sizeof values[k]);
                values[k].kind = (tn_value_kind)kind;
                assert_null(tn_call(name, values, n));
                values[k] = odd;
                if (tn_error_code() != TN_ERROR_ARGUMENT || !strstr(tn_error_message(), op->params[k].name))
                    fail_msg("%s: argument %d of kind %d: %s", name, k + 1, kind, tn_error_message());
                check_error(name, name);
            }
        }
        for (int k = n; k < SAMPLE_ARGUMENTS + 1; k++)
            memset(&values[k], 0, sizeof values[k]);
        int least = 0;
        while (least < op->n_params && !op->params[least].optional)
            least++;
        const int counts[] = {-1, least - 1, op->n_params + 1};
        for (int k = 0; k < 3; k++) {
            if (counts[k] == 0 && least > 1)
                continue;
            assert_null(tn_call(name, values, counts[k]));
            assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
            check_error(name, name);
        }
        call_free(&call);
        tn_scope_end(scope);
    }
    assert_null(tn_call("no_such_operator", NULL, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_NAME);
    tn_error_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {fresh(all_layouts),      fresh(mixed_dtypes), fresh(error_samples),
                                       fresh(null_and_pending), fresh(wrong_kinds),  fresh(lower_cpu_levels)};
    int layer = tn_layer_register("count", count_call, &seen);
    tn_layer_enable(layer, true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
