/* Calls by name: schemas, forms, optional arguments; and the way of a call as far as it shows from outside. */
#include <string.h>
#include <tenon/tenon.h>

#include "dispatch/op.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static tn_value of_tensor(tn_tensor *x)
{
    tn_value value = {.kind = TN_VALUE_TENSOR};
    value.as.tensor = x;
    return value;
}

static tn_value of_number(tn_scalar number)
{
    tn_value value = {.kind = TN_VALUE_SCALAR};
    value.as.scalar = number;
    return value;
}

static tn_value list_of(tn_tensor *const *tensors, int n)
{
    tn_value value = {.kind = TN_VALUE_TENSORS};
    value.as.tensors.data = tensors;
    value.as.tensors.n = n;
    return value;
}

/* Functions made of operators are called by name too; a list comes from any callee; a word that fits nowhere is
 * named. */
static void composites(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    char schema[64];
    for (int i = 0; i < tn_composite_count(); i++) {
        assert_true(tn_is_callable(tn_composite_name(i)));
        assert_true(tn_composite_schema(i, schema, sizeof schema) > 0);
        for (int j = 0; j < tn_operator_count(); j++)
            assert_string_not_equal(tn_composite_name(i), tn_operator_name(j));
    }
    assert_null(tn_composite_name(-1));
    assert_int_equal(tn_composite_schema(tn_composite_count(), schema, sizeof schema), 0);
    assert_false(tn_is_callable("no_such_function"));
    assert_false(tn_is_callable(NULL));

    tn_tensor *x = tn_ones((int64_t[]){2, 3}, 2, TN_FLOAT32), *pair[2] = {x, x};
    tn_value args[3] = {list_of(pair, 2), {.kind = TN_VALUE_SCALAR, .as.scalar = {TN_SCALAR_INT, {1}}}, {0}};
    tn_tensor *y = tn_call("cat", args, 2);
    assert_int_equal(tn_size(y, 1), 6);
    tn_list *list = tn_call_list("cat", args, 1);
    assert_int_equal(tn_list_size(list), 1);
    assert_int_equal(tn_size(tn_list_get(list, 0), 0), 4);
    tn_value self = {.kind = TN_VALUE_TENSOR, .as.tensor = x};
    list = tn_call_list("zero_", &self, 1);
    assert_ptr_equal(tn_list_get(list, 0), x);
    assert_int_equal(tn_use_count(x), 2);
    assert_int_equal(tn_drop(&list), TN_OK);
    assert_int_equal(tn_use_count(x), 1);

    assert_null(tn_call("cat", args, 3));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    args[1] = (tn_value){.kind = TN_VALUE_WORD, .as.word = "mean"};
    assert_null(tn_call("cat", args, 2));
    assert_string_equal(tn_error_message(), "cat: argument 2 (dim) is a word, needed an integer");
    tn_error_clear();
    assert_null(tn_call_list("no_such_function", args, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_NAME);
    tn_error_clear();
    tn_scope_end(scope);
}

/* The table is sound: names are unique, params name each input once, attributes fit, views have no kernel. */
static void table(void **state)
{
    (void)state;
    assert_int_equal(tn_operator_count(), tni_operator_count);
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        char schema[256], small[8];
        uint32_t inputs = 0;
        assert_true(op->n_in <= TNI_MAX_IN && op->n_out == 1 && op->n_params <= TNI_MAX_PARAMS && op->infer &&
                    op->samples);
        for (int p = 0; p < op->n_params; p++) {
            const tni_param *param = &op->params[p];
            assert_non_null(strchr("TXSIJLBDMRGQ", param->code));
            if (param->input >= 0)
                inputs |= 1u << param->input;
            if (param->code != 'T')
                assert_true(param->offset < op->attr_bytes);
        }
        assert_int_equal(inputs, (1u << op->n_in) - 1);
        assert_true(op->run || op->dtypes == 0);
        int length = tn_operator_schema(i, schema, sizeof schema);
        assert_int_equal(length, strlen(schema));
        assert_int_equal(tn_operator_schema(i, small, sizeof small), length);
        assert_true(strlen(small) < sizeof small && strncmp(small, schema, strlen(small)) == 0);
        assert_int_equal(tn_operator_schema(i, NULL, 0), length);
        for (int j = 0; j < i; j++)
            for (int form = 0; form < TNI_FORMS * TNI_FORMS; form++) {
                const char *mine = op->name[form % TNI_FORMS], *other = tni_operators[j]->name[form / TNI_FORMS];
                if (mine && other && strcmp(mine, other) == 0)
                    fail_msg("two operators are called %s", mine);
            }
    }
    assert_null(tn_operator_name(-1));
    assert_null(tn_operator_name(tni_operator_count));
    char none[4] = "xyz";
    assert_int_equal(tn_operator_schema(-1, none, sizeof none), 0);
    assert_string_equal(none, "");
    for (int i = 0; i < tni_operator_count; i++) {
        char schema[256];
        tn_operator_schema(i, schema, sizeof schema);
        if (strcmp(tn_operator_name(i), "add") == 0)
            assert_string_equal(schema, "self:X other:X alpha:S?");
        if (strcmp(tn_operator_name(i), "sum") == 0)
            assert_string_equal(schema, "self:T dim:J? keepdim:B? dtype:D?");
    }
}

static void forms(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_full(LIST(3), 1, tn_int(5), TN_FLOAT32), *y = tn_ones(LIST(3), 1, TN_FLOAT32);
    tn_tensor *out = tn_zeros(LIST(3), 1, TN_FLOAT32);
    tn_value none = {.kind = TN_VALUE_NONE};
    tn_value three[] = {of_tensor(x), of_tensor(y), of_number(tn_int(2))};
    assert_true(tn_data_f32(tn_call("add", three, 3))[0] == 7);
    assert_true(tn_data_f32(tn_call("add", three, 2))[0] == 6);
    tn_value with_out[] = {of_tensor(x), of_tensor(y), of_tensor(out)};
    assert_ptr_equal(tn_call("add_out", with_out, 3), out);
    assert_true(tn_data_f32(out)[2] == 6);
    tn_value all[] = {of_tensor(x), of_tensor(y), of_number(tn_int(3)), of_tensor(out)};
    assert_ptr_equal(tn_call("add_out", all, 4), out);
    assert_true(tn_data_f32(out)[2] == 8);
    tn_value skipped[] = {of_tensor(x), of_tensor(y), none, of_tensor(out)};
    assert_ptr_equal(tn_call("add_out", skipped, 4), out);
    assert_true(tn_data_f32(out)[2] == 6);
    assert_ptr_equal(tn_call("add_", three, 2), x);
    assert_int_equal(tn_version(x), 1);
    tn_value number_first[] = {of_number(tn_float(1.5)), of_tensor(y)};
    assert_true(tn_data_f32(tn_call("sub", number_first, 2))[0] == 0.5f);
    assert_null(tn_call("sub_", number_first, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    const char *const unknown[] = {"", "ad", "add__", "add_out_", "relu_back", "maximum_", "zeros_out"};
    for (int i = 0; i < 7; i++) {
        assert_null(tn_call(unknown[i], three, 2));
        assert_int_equal(tn_error_code(), TN_ERROR_NAME);
        tn_error_clear();
    }
    assert_null(tn_call(NULL, three, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    assert_null(tn_call("add", NULL, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    /* a name that the caller's buffer holds must not be needed afterwards */
    char name[] = "add";
    tn_value bad[] = {of_tensor(x), of_tensor(tn_zeros(LIST(2), 1, TN_FLOAT32))};
    assert_null(tn_call(name, bad, 2));
    memset(name, 'x', 3);
    assert_string_equal(tn_error_get()->function, "add");
    tn_error_clear();
    tn_scope_end(scope);
}

/* A list, or one integer in its place. */
static void lists(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones(LIST(2, 3), 2, TN_FLOAT32);
    tn_value dims = {.kind = TN_VALUE_INTS};
    const int64_t both[] = {0, -1};
    dims.as.ints.data = both;
    dims.as.ints.n = 2;
    tn_value with_list[] = {of_tensor(x), dims},
             with_one[] = {of_tensor(x), of_number(tn_int(-1)), of_number(tn_bool(true))};
    assert_true(tn_item(tn_call("sum", with_list, 2)) == 6);
    tn_tensor *kept = tn_call("sum", with_one, 3);
    assert_true(tn_ndim(kept) == 2 && tn_size(kept, 1) == 1 && tn_data_f32(kept)[1] == 3);
    with_list[1].as.ints.n = -5;
    assert_null(tn_call("sum", with_list, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    static const char *const takers[] = {"view", "reshape", "expand"};
    for (int i = 0; i < 3; i++) {
        for (int n = -3; n <= 70; n += 73) {
            with_list[1].as.ints.n = n;
            int64_t many[70] = {0};
            with_list[1].as.ints.data = n > 0 ? many : NULL;
            assert_null(tn_call(takers[i], with_list, 2));
            assert_true(tn_error_code() != TN_OK);
            tn_error_clear();
        }
        with_list[1].as.ints.data = NULL;
        with_list[1].as.ints.n = 2;
        assert_null(tn_call(takers[i], with_list, 2));
        assert_int_equal(tn_error_code(), TN_ERROR_NULL);
        tn_error_clear();
    }
    tn_scope_end(scope);
}

/* alpha's kind has to suit the result. */
static void alpha(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *f = tn_ones(LIST(2), 1, TN_FLOAT32), *i = tn_ones(LIST(2), 1, TN_INT64),
              *b = tn_ones(LIST(2), 1, TN_BOOL);
    tn_tensor *into = tn_zeros(LIST(2), 1, TN_INT64);
    const struct {
        tn_tensor *x;
        tn_scalar alpha;
        bool good;
        double value;
    } cases[] = {{f, tn_float(1), true, 2},    {f, tn_int(3), true, 4},      {f, tn_bool(true), false, 0},
                 {i, tn_float(1), false, 0},   {i, tn_float(2.5), false, 0}, {i, tn_int(-2), true, -1},
                 {i, tn_bool(true), false, 0}, {b, tn_int(-1), true, 1},     {b, tn_int(2), true, 1},
                 {b, tn_int(0), true, 1},      {b, tn_bool(true), true, 1},  {b, tn_float(1), false, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tn_tensor *y = tn_add_alpha(cases[k].x, cases[k].x, cases[k].alpha);
        if ((y != NULL) != cases[k].good)
            fail_msg("case %d: %s", (int)k, tn_error_message());
        if (!cases[k].good)
            assert_int_equal(tn_error_code(), TN_ERROR_DTYPE);
        else if (tn_item(tn_select(y, 0, 1)) != cases[k].value)
            fail_msg("case %d gives %g", (int)k, tn_item(tn_select(y, 0, 1)));
        tn_error_clear();
    }
    assert_int_equal(tn_add_out(into, b, b), TN_OK); /* true or true is true, then 1 */
    assert_int_equal(tn_item_i64(tn_select(into, 0, 0)), 1);
    tn_scope_end(scope);
}

/* An operand without dims may stay on the CPU: it stands for a number. Others may not. */
static void devices(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const tn_device meta = {TN_META, 0}, cpu = {TN_CPU, 0};
    tn_tensor *number = tn_ones(NULL, 0, TN_FLOAT64), *row = tn_ones(LIST(3), 1, TN_FLOAT32);
    assert_int_equal(tn_set_default_device(meta), TN_OK);
    tn_tensor *x = tn_zeros(LIST(2, 3), 2, TN_FLOAT32);
    assert_int_equal(tn_set_default_device(cpu), TN_OK);
    for (int order = 0; order < 2; order++) {
        tn_tensor *y = order ? tn_mul(number, x) : tn_mul(x, number);
        assert_non_null(y);
        assert_int_equal(tn_tensor_device(y).type, TN_META);
        assert_true(tn_ndim(y) == 2 && tn_size(y, 1) == 3 && tn_tensor_dtype(y) == TN_FLOAT32);
    }
    assert_int_equal(tn_add_(x, number), TN_OK);
    assert_int_equal(tn_version(x), 1);
    assert_int_equal(tn_add_(number, x), TN_ERROR_DEVICE);
    tn_error_clear();
    assert_null(tn_add(x, row));
    assert_int_equal(tn_error_code(), TN_ERROR_DEVICE);
    tn_error_clear();
    assert_null(tn_maximum(x, row));
    tn_error_clear();
    tn_scope_end(scope);
}

TEST_MAIN(test(devices), test(table), test(composites), test(forms), test(lists), test(alpha))
