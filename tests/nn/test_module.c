/* Modules: names and parameters, structure rules, copies in another dtype, errors that name the layer, lifetimes. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

static void parameters_and_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ndim;
        int64_t size[2];
    } expected[] = {{"0.weight", 2, {16, 2}}, {"0.bias", 1, {16}},      {"2.weight", 2, {16, 16}},
                    {"2.bias", 1, {16}},      {"4.weight", 2, {1, 16}}, {"4.bias", 1, {1}}};
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT32);
    assert_int_equal(tn_parameter_count(net), 6);
    assert_int_equal(tn_parameter_numel(net), 337);
    for (int i = 0; i < 6; i++) {
        char name[32];
        assert_int_equal(tn_parameter_name(net, i, name, sizeof name), strlen(expected[i].name));
        assert_string_equal(name, expected[i].name);
        tn_tensor *p = tn_parameter(net, i);
        assert_int_equal(tn_ndim(p), expected[i].ndim);
        assert_memory_equal(tn_sizes(p), expected[i].size, (size_t)expected[i].ndim * sizeof(int64_t));
        assert_ptr_equal(tn_named_parameter(net, name), p);
        for (int64_t j = 0; j < tn_numel(p); j++)
            assert_true(tn_data_f32(p)[j] == 0.0f);
    }
    static const char *const children[] = {"Linear", "ReLU", "Linear", "ReLU", "Linear"};
    assert_string_equal(tn_module_name(net), "Sequential");
    assert_int_equal(tn_child_count(net), 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(tn_module_name(tn_child(net, i)), children[i]);

    char cut[4] = "zzz";
    assert_int_equal(tn_parameter_name(net, 3, cut, sizeof cut), 6);
    assert_string_equal(cut, "2.b");
    assert_int_equal(tn_parameter_name(net, 3, cut, 2), 6);
    assert_string_equal(cut, "2");
    assert_int_equal(tn_parameter_name(net, 3, NULL, 0), 6);
    tn_scope_end(scope);
}

static void no_such_parameter(void **state)
{
    (void)state;
    static const char *const names[] = {"",          ".",        "0",        "0.",        "weight",    "00.weight",
                                        "0.weights", "1.weight", "5.weight", "-1.weight", "0.weight.x"};
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT32);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(tn_named_parameter(net, names[i]));
        expect_error(TN_ERROR_NAME, "named_parameter: Sequential has no parameter '");
    }
    assert_null(tn_parameter(net, 6));
    expect_error(TN_ERROR_INDEX, "there is no parameter 6: the module has 6");
    assert_null(tn_parameter(net, -1));
    expect_error(TN_ERROR_INDEX, "-1");
    assert_null(tn_child(net, 5));
    expect_error(TN_ERROR_INDEX, "child");
    char name[8] = "x";
    assert_int_equal(tn_parameter_name(net, 6, name, sizeof name), 0);
    assert_string_equal(name, "");
    expect_error(TN_ERROR_INDEX, "");
    tn_scope_end(scope);
}

static void nested_names(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *outer = tn_sequential(), *inner = tn_sequential();
    assert_int_equal(tn_sequential_append(outer, inner), TN_OK);
    assert_int_equal(tn_sequential_append(outer, tn_linear_module(3, 1, false, TN_FLOAT64)), TN_OK);
    /* appended below a module that has its place already */
    assert_int_equal(tn_sequential_append(inner, tn_linear_module(2, 3, true, TN_FLOAT64)), TN_OK);
    static const char *const names[] = {"0.0.weight", "0.0.bias", "1.weight"};
    assert_int_equal(tn_parameter_count(outer), 3);
    for (int i = 0; i < 3; i++) {
        char name[32];
        tn_parameter_name(outer, i, name, sizeof name);
        assert_string_equal(name, names[i]);
        assert_ptr_equal(tn_named_parameter(outer, name), tn_parameter(outer, i));
    }
    tn_tensor *y = tn_forward(outer, tn_ones((int64_t[]){4, 2}, 2, TN_FLOAT64));
    assert_int_equal(tn_size(y, 1), 1);

    /* the layer that fails is named by its whole path, once */
    assert_null(tn_forward(outer, tn_ones((int64_t[]){4, 5}, 2, TN_FLOAT64)));
    assert_int_equal(tn_error_code(), TN_ERROR_SHAPE);
    assert_int_equal(strncmp(tn_error_message(), "0.0: ", 5), 0);
    tn_error_clear();
    assert_null(tn_forward(outer, tn_ones((int64_t[]){4, 2}, 2, TN_FLOAT32)));
    assert_int_equal(tn_error_code(), TN_ERROR_DTYPE);
    assert_int_equal(strncmp(tn_error_message(), "0.0: ", 5), 0);
    tn_error_clear();
    tn_scope_end(scope);
}

static void append_rules(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *a = tn_sequential(), *b = tn_sequential(), *relu = tn_relu_module(),
              *linear = tn_linear_module(2, 2, true, TN_FLOAT32);
    assert_int_equal(tn_sequential_append(NULL, a), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "argument 1");
    tn_sequential_append(a, NULL);
    expect_error(TN_ERROR_NULL, "argument 2");
    tn_sequential_append(linear, relu);
    expect_error(TN_ERROR_ARGUMENT, "argument 1 is a Linear");
    tn_sequential_append(a, a);
    expect_error(TN_ERROR_ARGUMENT, "contains");
    assert_int_equal(tn_sequential_append(a, b), TN_OK);
    tn_sequential_append(b, a);
    expect_error(TN_ERROR_ARGUMENT, "contains");
    assert_int_equal(tn_child_count(b), 0);
    assert_int_equal(tn_sequential_append(b, linear), TN_OK);
    tn_sequential_append(a, linear);
    expect_error(TN_ERROR_ARGUMENT, "stands in another");
    for (int i = 0; i < 20; i++)
        assert_int_equal(tn_sequential_append(i % 2 ? a : b, relu), TN_OK);
    assert_int_equal(tn_use_count(relu), 21);
    assert_int_equal(tn_child_count(a), 11);

    /* a child whose parent has died may get another place */
    tn_module *free_linear = tn_linear_module(2, 2, true, TN_FLOAT32), *gone = tn_sequential();
    assert_int_equal(tn_sequential_append(gone, free_linear), TN_OK);
    tn_drop(&gone);
    assert_int_equal(tn_sequential_append(a, free_linear), TN_OK);
    tn_scope_end(scope);
}

/* Nesting is bounded from above and from below, so that no walk can run out of stack. */
static void nesting(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *top = tn_sequential(), *at = top;
    int deep = 1;
    for (;; deep++) {
        tn_module *next = tn_sequential();
        if (tn_sequential_append(at, next))
            break;
        at = next;
    }
    expect_error(TN_ERROR_ARGUMENT, "nested 65 deep");
    assert_int_equal(deep, 64);
    tn_module *over = tn_sequential();
    tn_sequential_append(over, top);
    expect_error(TN_ERROR_ARGUMENT, "nested 65 deep");
    tn_tensor *x = tn_ones((int64_t[]){2, 2}, 2, TN_FLOAT32);
    assert_ptr_equal(tn_forward(top, x), x);
    assert_ptr_not_equal(tn_module_to(top, TN_FLOAT64), top);
    tn_scope_end(scope);
}

static void to_dtype(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 5, 1}, 3, TN_FLOAT64);
    tn_default_rng rng;
    tn_default_rng_seed(&rng, 3);
    tn_init_normal(net, &rng);
    for (int same = 0; same < 2; same++) {
        tn_module *other = tn_module_to(net, same ? TN_FLOAT64 : TN_FLOAT32);
        assert_string_equal(tn_error_message(), "");
        assert_int_equal(tn_parameter_count(other), tn_parameter_count(net));
        for (int64_t i = 0; i < tn_parameter_count(net); i++) {
            tn_tensor *p = tn_parameter(net, i), *q = tn_parameter(other, i);
            assert_int_equal(tn_tensor_dtype(p), TN_FLOAT64);
            assert_int_equal(tn_tensor_dtype(q), same ? TN_FLOAT64 : TN_FLOAT32);
            assert_false(tn_is_same_storage(p, q));
            assert_int_equal(tn_use_count(q), 1);
            for (int64_t j = 0; j < tn_numel(p); j++)
                assert_true(same ? tn_data_f64(q)[j] == tn_data_f64(p)[j]
                                 : tn_data_f32(q)[j] == (float)tn_data_f64(p)[j]);
        }
        assert_string_equal(tn_module_name(tn_child(other, 1)), "ReLU");
    }
    tn_module *plain = tn_module_to(tn_linear_module(2, 3, false, TN_FLOAT32), TN_FLOAT64);
    assert_int_equal(tn_parameter_count(plain), 1);
    assert_string_equal(tn_module_name(tn_module_to(tn_sigmoid_module(), TN_FLOAT32)), "Sigmoid");
    assert_null(tn_module_to(net, TN_INT64));
    expect_error(TN_ERROR_DTYPE, "module_to: dtype is int64");
    assert_null(tn_module_to(NULL, TN_FLOAT32));
    expect_error(TN_ERROR_NULL, "argument 1");
    tn_scope_end(scope);
}

typedef struct text {
    char all[512];
    size_t used, limit;
} text;

static int take(void *context, const char *piece, size_t bytes)
{
    text *to = context;
    if (to->used + bytes > to->limit)
        return 1;
    memcpy(to->all + to->used, piece, bytes);
    to->used += bytes;
    return 0;
}

/* What print(module) shows in PyTorch; a writer that takes no more ends it. */
static void as_text(void **state)
{
    (void)state;
    static const char expected[] = "Sequential(\n"
                                   "  (0): Linear(in_features=2, out_features=3, bias=False)\n"
                                   "  (1): Sequential(\n"
                                   "    (0): LeakyReLU(negative_slope=0.2)\n"
                                   "    (1): Softmax(dim=-1)\n"
                                   "  )\n"
                                   "  (2): Sequential()\n"
                                   "  (3): Embedding(4, 2, padding_idx=3, max_norm=1.5, norm_type=1.0)\n"
                                   ")";
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_sequential(), *inner = tn_sequential();
    const tn_embedding_options options = {.pad = true, .padding_idx = -1, .max_norm = 1.5, .norm_type = 1};
    tn_sequential_append(inner, tn_leaky_relu_module(0.2));
    tn_sequential_append(inner, tn_softmax_module(-1));
    tn_sequential_append(net, tn_linear_module(2, 3, false, TN_FLOAT32));
    tn_sequential_append(net, inner);
    tn_sequential_append(net, tn_sequential());
    tn_sequential_append(net, tn_embedding_module(4, 2, &options, TN_FLOAT32));
    text whole = {.limit = sizeof whole.all - 1};
    assert_int_equal(tn_module_write(net, take, &whole), TN_OK);
    assert_string_equal(whole.all, expected);
    for (size_t limit = 0; limit < sizeof expected - 1; limit++) {
        text cut = {.limit = limit};
        assert_int_equal(tn_module_write(net, take, &cut), TN_ERROR_FILE);
        expect_error(TN_ERROR_FILE, "module_write: the text was not taken");
    }
    assert_int_equal(tn_module_write(net, NULL, NULL), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "module_write: argument 2 (write) is NULL");
    assert_int_equal(tn_module_write(NULL, take, &whole), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "module_write: argument 1 (module) is NULL");
    tn_scope_end(scope);
}

static void bad_layers(void **state)
{
    (void)state;
    assert_null(tn_linear_module(0, 1, true, TN_FLOAT32));
    expect_error(TN_ERROR_ARGUMENT, "in_features is 0");
    assert_null(tn_linear_module(1, -4, true, TN_FLOAT32));
    expect_error(TN_ERROR_ARGUMENT, "out_features is -4");
    assert_null(tn_linear_module(1, 1, true, TN_FLOAT16));
    expect_error(TN_ERROR_DTYPE, "float16");
    assert_null(tn_linear_module(INT64_MAX, INT64_MAX, true, TN_FLOAT32));
    expect_error(TN_ERROR_OVERFLOW, "");
    assert_null(tn_mlp((int64_t[]){2}, 1, TN_FLOAT32));
    expect_error(TN_ERROR_ARGUMENT, "mlp: n_sizes is 1");
    assert_null(tn_mlp((int64_t[]){2, 0, 1}, 3, TN_FLOAT32));
    expect_error(TN_ERROR_ARGUMENT, "mlp: size 1 is 0");
    assert_null(tn_mlp(NULL, 3, TN_FLOAT32));
    expect_error(TN_ERROR_NULL, "mlp: argument 1");
    assert_null(tn_mlp((int64_t[]){2, 1}, 2, TN_BOOL));
    expect_error(TN_ERROR_DTYPE, "bool");
    assert_null(tn_mlp((int64_t[]){2, -3}, -1, TN_FLOAT32));
    expect_error(TN_ERROR_ARGUMENT, "n_sizes is -1");
}

static void pending_and_null(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 1}, 2, TN_FLOAT32);
    tn_tensor *x = tn_ones((int64_t[]){1, 2}, 2, TN_FLOAT32);
    assert_null(tn_forward(NULL, x));
    expect_error(TN_ERROR_NULL, "forward: argument 1 (module) is NULL");
    assert_null(tn_forward(net, NULL));
    tn_memory_stats before = tn_get_memory_stats();
    assert_null(tn_forward(net, x));
    assert_null(tn_sequential());
    assert_null(tn_relu_module());
    assert_null(tn_mlp((int64_t[]){2, 1}, 2, TN_FLOAT32));
    assert_null(tn_module_to(net, TN_FLOAT64));
    assert_null(tn_parameter(net, 0));
    assert_null(tn_named_parameter(net, "0.weight"));
    assert_null(tn_module_name(net));
    assert_null(tn_child(net, 0));
    assert_int_equal(tn_parameter_count(net), 0);
    assert_int_equal(tn_parameter_numel(net), 0);
    assert_int_equal(tn_sequential_append(net, tn_child(net, 0)), TN_ERROR_NULL);
    assert_int_equal(tn_get_memory_stats().allocations, before.allocations);
    expect_error(TN_ERROR_NULL, "forward: argument 2 (x) is NULL");
    tn_scope_end(scope);
}

/* Only the result outlives forward; parameters and children live as long as somebody holds them. */
static void lifetimes(void **state)
{
    (void)state;
    tn_memory_stats empty = tn_get_memory_stats();
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT32);
    tn_tensor *x = tn_ones((int64_t[]){7, 2}, 2, TN_FLOAT32);
    tn_tensor *warm = tn_forward(net, x);
    tn_drop(&warm);
    int64_t live = tn_get_memory_stats().live_blocks;
    tn_tensor *y = tn_forward(net, x);
    assert_int_equal(tn_use_count(y), 1);
    tn_drop(&y);
    assert_int_equal(tn_get_memory_stats().live_blocks, live);

    tn_tensor *bias = tn_retain(tn_parameter(net, 5));
    tn_module *first = tn_retain(tn_child(net, 0));
    tn_scope_end(scope);
    assert_int_equal(tn_use_count(bias), 1);
    assert_int_equal(tn_use_count(first), 1);
    assert_int_equal(tn_size(tn_parameter(first, 0), 0), 16);
    tn_release(&bias);
    tn_release(&first);
    assert_int_equal(tn_get_memory_stats().live_blocks, empty.live_blocks);
}

TEST_MAIN(test(parameters_and_names), test(no_such_parameter), test(nested_names), test(append_rules), test(nesting),
          test(to_dtype), test(as_text), test(bad_layers), test(pending_and_null), test(lifetimes))
