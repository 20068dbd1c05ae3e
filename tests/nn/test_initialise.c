/* Initialisers against torch.nn.init's recorded values, bit for bit, and their refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

static tn_status fill(const char *name, tn_tensor *x, tn_torch_generator *g)
{
    const double leaky = tn_gain(TN_NONLINEARITY_LEAKY_RELU, 0.1), plain = tn_gain(TN_NONLINEARITY_LEAKY_RELU, 0);
    if (strcmp(name, "uniform") == 0)
        return tn_init_uniform_(x, -1, 2, g);
    if (strcmp(name, "normal") == 0)
        return tn_init_normal_(x, 1, 2, g);
    if (strcmp(name, "xavier_uniform") == 0)
        return tn_init_xavier_uniform_(x, 1.5, g);
    if (strcmp(name, "xavier_normal") == 0)
        return tn_init_xavier_normal_(x, 1, g);
    if (strcmp(name, "kaiming_uniform") == 0)
        return tn_init_kaiming_uniform_(x, leaky, true, g);
    if (strcmp(name, "kaiming_normal") == 0)
        return tn_init_kaiming_normal_(x, plain, false, g);
    if (strcmp(name, "trunc_normal") == 0)
        return tn_init_trunc_normal_(x, 0.5, 2, -2, 2, g);
    assert_string_equal(name, "trunc_normal_narrow");
    return tn_init_trunc_normal_(x, 0.5, 2, 1, 1.5, g);
}

static void recorded(void **state)
{
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/init_torch_2.15.txt", "r");
    char line[2048];
    int cases = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char name[40], dtype_name[16];
        int at;
        if (line[0] == '#' || sscanf(line, "%39s %15s%n", name, dtype_name, &at) != 2)
            continue;
        tn_scope scope = tn_scope_begin();
        tn_torch_generator generator;
        tn_torch_manual_seed(&generator, 7);
        tn_tensor *x = tn_empty((int64_t[]){5, 4}, 2, tn_dtype_from_name(dtype_name));
        assert_int_equal(fill(name, x, &generator), TN_OK);
        const double *values = tn_data_f64(tn_to(x, TN_FLOAT64));
        char *next = line + at;
        for (int i = 0; i < 20; i++) {
            double expected = strtod(next, &next);
            if (memcmp(&expected, &values[i], sizeof expected) != 0)
                fail_msg("%s %s: value %d is %a, PyTorch's %a", name, dtype_name, i, values[i], expected);
        }
        cases++;
        tn_scope_end(scope);
    }
    fclose(file);
    assert_int_equal(cases, 16);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_torch_generator g, unseeded = {0};
    tn_torch_manual_seed(&g, 1);
    tn_tensor *x = tn_full((int64_t[]){2, 3}, 2, tn_float(5), TN_FLOAT32);
    tn_init_uniform_(NULL, 0, 1, &g);
    expect_error(TN_ERROR_NULL, "init_uniform_: argument 1 (tensor) is NULL");
    tn_init_normal_(x, 0, 1, NULL);
    expect_error(TN_ERROR_NULL, "init_normal_: ");
    tn_init_normal_(x, 0, 1, &unseeded);
    expect_error(TN_ERROR_STATE, "init_normal_: ");
    tn_init_uniform_(x, 2, 1, &g);
    expect_error(TN_ERROR_ARGUMENT, "init_uniform_: ");
    tn_init_normal_(tn_zeros((int64_t[]){2}, 1, TN_INT64), 0, 1, &g);
    expect_error(TN_ERROR_DTYPE, "init_normal_: dtype is int64, needed float32 or float64");
    tn_init_uniform_(tn_t(x), 0, 1, &g);
    expect_error(TN_ERROR_ARGUMENT, "not contiguous");
    tn_init_xavier_normal_(tn_zeros((int64_t[]){2}, 1, TN_FLOAT32), 1, &g);
    expect_error(TN_ERROR_DIM, "init_xavier_normal_: the tensor has 1 dims, needed 2 or more: [out, in, ...]");
    tn_init_trunc_normal_(x, 0, 1, 2, 1, &g);
    expect_error(TN_ERROR_ARGUMENT, "init_trunc_normal_: ");
    for (int i = 0; i < 6; i++)
        assert_true(tn_data_f32(x)[i] == 5);
    tn_scope_end(scope);
}

TEST_MAIN(test(recorded), test(refusals))
