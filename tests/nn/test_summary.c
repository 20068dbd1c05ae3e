/* The table of a net's layers: rows by dotted names, inside of the user's modules too, that add up to the last one. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"

/* The table as written, runs of spaces as one. */
static char text[4096];

static int take(void *context, const char *data, size_t bytes)
{
    (void)context;
    size_t used = strlen(text);
    for (size_t i = 0; i < bytes; i++)
        if (used + 1 < sizeof text && !(data[i] == ' ' && used > 0 && text[used - 1] == ' '))
            text[used++] = data[i];
    text[used] = '\0';
    return 0;
}

static void shows(const tn_module *net, const int64_t *size, int ndim, const char *rows)
{
    static const char heading[] = "layer class output dtype parameters multiply-adds bytes\n";
    text[0] = '\0';
    if (tn_summary_write(net, size, ndim, TN_FLOAT32, take, NULL))
        fail_msg("%s", tn_error_message());
    assert_string_equal(text + strlen(heading), rows);
    assert_memory_equal(text, heading, strlen(heading));
}

static tn_tensor *residual(tn_module *self, tn_tensor *x, void *context)
{
    (void)context;
    return tn_add(x, tn_forward(tn_child(self, 0), x));
}

static const tn_module_kind residual_kind = {.name = "Residual", .forward = residual};

static tn_module *block_of(const tn_module_kind *kind, tn_module *inner)
{
    tn_module *block = tn_module_new(kind, NULL);
    tn_register_module(block, "inner", inner);
    return block;
}

static tn_module *chain(tn_module *const *modules, int n)
{
    tn_module *net = tn_sequential();
    for (int i = 0; i < n; i++)
        tn_sequential_append(net, modules[i]);
    return net;
}

static void layers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *relu = tn_relu_module();
    tn_module *inner = chain((tn_module *[]){tn_linear_module(4, 3, false, TN_FLOAT32), relu}, 2);
    tn_module *net = chain((tn_module *[]){tn_linear_module(2, 4, true, TN_FLOAT32), relu, inner}, 3);
    shows(net, (int64_t[]){5, 2}, 2,
          "0 Linear [5, 4] float32 12 40 48\n"
          "1 ReLU [5, 4] float32 0 0 0\n"
          "2.0 Linear [5, 3] float32 12 60 48\n"
          "2.1 ReLU [5, 3] float32 0 0 0\n"
          "all 24 100 96\n");
    shows(tn_linear_module(2, 3, true, TN_FLOAT32), (int64_t[]){2}, 1,
          " Linear [3] float32 9 6 36\n"
          "all 9 6 36\n");
    tn_scope_end(scope);
}

static void inside_a_module_of_the_user(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *block = block_of(&residual_kind, tn_linear_module(16, 16, true, TN_FLOAT32));
    tn_module *net = chain((tn_module *[]){block, tn_linear_module(16, 2, true, TN_FLOAT32)}, 2);
    shows(net, (int64_t[]){1, 16}, 2,
          "0 Residual [1, 16] float32 0 0 0\n"
          "0.inner Linear [1, 16] float32 272 256 1088\n"
          "1 Linear [1, 2] float32 34 32 136\n"
          "all 306 288 1224\n");
    /* One in another, around a Sequential. */
    tn_module *two = chain((tn_module *[]){tn_linear_module(4, 4, true, TN_FLOAT32), tn_tanh_module()}, 2);
    shows(block_of(&residual_kind, block_of(&residual_kind, two)), (int64_t[]){3, 4}, 2,
          " Residual [3, 4] float32 0 0 0\n"
          "inner Residual [3, 4] float32 0 0 0\n"
          "inner.inner.0 Linear [3, 4] float32 20 48 80\n"
          "inner.inner.1 Tanh [3, 4] float32 0 0 0\n"
          "all 20 48 80\n");
    tn_scope_end(scope);
}

static tn_tensor *unrolled(tn_module *self, tn_tensor *x, void *context)
{
    (void)context;
    for (int i = 0; i < 3; i++)
        x = tn_forward(tn_child(tn_child(self, 0), 0), x);
    return tn_mul(x, tn_named_parameter(self, "scale"));
}

static tn_tensor *borrowing(tn_module *self, tn_tensor *x, void *context)
{
    (void)self;
    return tn_forward(context, x);
}

/* Called three times, never, and from where it is not registered; a parameter of the module itself. */
static void calls(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *two = chain((tn_module *[]){tn_linear_module(4, 4, true, TN_FLOAT32),
                                           tn_linear_module(9, 1, false, TN_FLOAT32)}, 2);
    tn_module *loop = block_of(&(tn_module_kind){.name = "Loop", .forward = unrolled}, two);
    tn_register_parameter(loop, "scale", tn_ones((int64_t[]){4}, 1, TN_FLOAT32));
    shows(loop, (int64_t[]){1, 4}, 2,
          " Loop [1, 4] float32 4 0 16\n"
          "inner.0 Linear [1, 4] float32 20 48 80\n"
          "inner.1 Linear 9 0 36\n"
          "all 33 48 132\n");
    tn_module *apart = tn_linear_module(4, 2, false, TN_FLOAT32);
    shows(tn_module_new(&(tn_module_kind){.name = "Borrows", .forward = borrowing}, apart), (int64_t[]){1, 4}, 2,
          " Borrows [1, 2] float32 0 0 0\n"
          "? Linear [1, 2] float32 8 8 32\n"
          "all 0 8 0\n");
    tn_scope_end(scope);
}

/* What ran in place is in the mode that it was in; an error names the layer and leaves no observer behind. */
static void nothing_stays(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_torch_generator masks;
    tn_torch_manual_seed(&masks, 1);
    tn_module *norm = tn_batch_norm1d_module(4, NULL, TN_FLOAT32), *drop = tn_dropout_module(0.5, &masks);
    tn_module *net = chain((tn_module *[]){block_of(&residual_kind, tn_relu_module()), norm, drop}, 3);
    tn_module_eval(norm);
    shows(net, (int64_t[]){3, 4}, 2,
          "0 Residual [3, 4] float32 0 0 0\n"
          "0.inner ReLU [3, 4] float32 0 0 0\n"
          "1 BatchNorm1d [3, 4] float32 8 0 32\n"
          "2 Dropout [3, 4] float32 0 0 0\n"
          "all 8 0 32\n");
    assert_true(tn_module_is_training(net) && tn_module_is_training(drop));
    assert_false(tn_module_is_training(norm));
    text[0] = '\0';
    assert_int_not_equal(tn_summary_write(net, (int64_t[]){3, 5}, 2, TN_FLOAT32, take, NULL), TN_OK);
    expect_error(tn_error_code(), "1: ");
    assert_string_equal(text, "");
    tn_forward(net, tn_zeros((int64_t[]){3, 4}, 2, TN_FLOAT32));
    assert_string_equal(text, "");
    tn_error_clear();
    tn_scope_end(scope);
}

TEST_MAIN(test(layers), test(inside_a_module_of_the_user), test(calls), test(nothing_stays))
