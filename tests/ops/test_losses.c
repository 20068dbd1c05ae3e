/* Values, gradients and second gradients of products, reductions, softmax and losses, and steps of optimizers, against
 * what gradients_torch.py recorded from PyTorch; and their edges. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { WORD = 64, ARGUMENTS = 8 };

static FILE *file;
static char word[WORD];

static const char *next_word(void)
{
    if (fscanf(file, "%63s", word) != 1)
        fail_msg("the recorded file ends too soon");
    return word;
}

static double next_number(void)
{
    return strtod(next_word(), NULL);
}

static int64_t next_integer(void)
{
    return (int64_t)strtoll(next_word(), NULL, 10);
}

static tn_tensor *next_tensor(void)
{
    const tn_dtype dtype = tn_dtype_from_name(next_word());
    int64_t sizes[8], numel = 1;
    const int ndim = (int)next_integer();
    for (int d = 0; d < ndim; d++)
        numel *= sizes[d] = next_integer();
    tn_tensor *x = tn_empty(sizes, ndim, dtype);
    void *data = tn_data_mut(x);
    for (int64_t i = 0; i < numel; i++) {
        next_word();
        if (dtype == TN_FLOAT64)
            ((double *)data)[i] = strtod(word, NULL);
        else if (dtype == TN_FLOAT32)
            ((float *)data)[i] = strtof(word, NULL);
        else
            ((int64_t *)data)[i] = strtoll(word, NULL, 10);
    }
    assert_non_null(x);
    return x;
}

static double element(const tn_tensor *x, int64_t i)
{
    return tn_tensor_dtype(x) == TN_FLOAT64 ? ((const double *)tn_data(x))[i]
                                            : (double)((const float *)tn_data(x))[i];
}

/* Within some roundings of each other. */
static void check_close(const char *what, tn_tensor *x, tn_tensor *wanted)
{
    /* PyTorch adds 1e-12 to x and 1 - x in the second derivative, and not in the first */
    const double loose = strstr(what, "bce_loss, second") ? 1000 : 1;
    if (!x)
        fail_msg("%s: %s", what, tn_error_message());
    tn_tensor *y = tn_contiguous(x);
    assert_int_equal(tn_numel(y), tn_numel(wanted));
    assert_int_equal(tn_ndim(y), tn_ndim(wanted));
    assert_int_equal(tn_tensor_dtype(y), tn_tensor_dtype(wanted));
    const double tolerance = tn_tensor_dtype(y) == TN_FLOAT64 ? 2e-13 : 4e-6;
    for (int64_t i = 0; i < tn_numel(y); i++) {
        const double a = element(y, i), b = element(wanted, i);
        if (isnan(b) ? !isnan(a) : !(a == b || fabs(a - b) <= loose * tolerance * (1 + fabs(b))))
            fail_msg("%s: element %lld is %.17g, PyTorch has %.17g", what, (long long)i, a, b);
    }
}

/* sum of ((a i + b) mod m - m / 2) / 4 times x_i */
static tn_tensor *weighted_sum(tn_tensor *x, int a, int b, int m)
{
    tn_tensor *w = tn_empty(tn_sizes(x), tn_ndim(x), tn_tensor_dtype(x));
    void *data = tn_data_mut(w);
    for (int64_t i = 0; i < tn_numel(w); i++) {
        const double value = (double)((a * i + b) % m - m / 2) / 4;
        if (tn_tensor_dtype(x) == TN_FLOAT64)
            ((double *)data)[i] = value;
        else
            ((float *)data)[i] = (float)value;
    }
    return tn_sum(tn_mul(x, w), NULL, 0, false, TN_DTYPE_NONE);
}

typedef struct program {
    char name[WORD], what[2 * WORD];
    tn_value values[ARGUMENTS];
    int64_t dims[ARGUMENTS][4];
    char words[ARGUMENTS][WORD];
    tn_tensor *inputs[ARGUMENTS];
    int n, n_inputs;
} program;

static void read_argument(program *p, char kind)
{
    tn_value *v = &p->values[p->n];
    switch (kind) {
    case 'x':
    case 't':
        v->kind = TN_VALUE_TENSOR;
        v->as.tensor = next_tensor();
        if (kind == 'x') {
            assert_int_equal(tn_requires_grad_(v->as.tensor, true), TN_OK);
            p->inputs[p->n_inputs++] = v->as.tensor;
        }
        break;
    case 'i':
    case 's':
        v->kind = TN_VALUE_SCALAR;
        v->as.scalar = kind == 'i' ? tn_int(next_integer()) : tn_float(next_number());
        break;
    case 'b':
        v->kind = TN_VALUE_SCALAR;
        v->as.scalar = tn_bool(next_integer() != 0);
        break;
    case 'w':
        v->kind = TN_VALUE_WORD;
        v->as.word = strcpy(p->words[p->n], next_word());
        break;
    case 'l':
        v->kind = TN_VALUE_INTS;
        v->as.ints.n = (int)next_integer();
        v->as.ints.data = p->dims[p->n];
        for (int i = 0; i < v->as.ints.n; i++)
            p->dims[p->n][i] = next_integer();
        break;
    default:
        v->kind = TN_VALUE_NONE;
    }
    p->n++;
}

static void check_gradients(program *p, tn_tensor *y)
{
    char what[3 * WORD];
    tn_tensor *loss = weighted_sum(y, 5, 1, 7), *total = NULL;
    const tn_grad_options create = {.create_graph = true}, unused = {.allow_unused = true};
    tn_list *grads = tn_grad(&loss, NULL, 1, p->inputs, p->n_inputs, &create);
    if (!grads)
        fail_msg("%s: %s", p->what, tn_error_message());
    for (int i = 0; i < p->n_inputs; i++) {
        tn_tensor *grad = tn_list_get(grads, i);
        assert_string_equal(next_word(), "grad");
        snprintf(what, sizeof what, "%s, gradient %d", p->what, i);
        check_close(what, grad, next_tensor());
        tn_tensor *sum = weighted_sum(grad, 7, 3, 5);
        total = total ? tn_add(total, sum) : sum;
    }
    tn_list *seconds = tn_requires_grad(total) ? tn_grad(&total, NULL, 1, p->inputs, p->n_inputs, &unused) : NULL;
    if (tn_error_code() != TN_OK)
        fail_msg("%s, second: %s", p->what, tn_error_message());
    for (int i = 0; i < p->n_inputs; i++) {
        tn_tensor *second = seconds ? tn_list_get(seconds, i) : NULL, *wanted;
        assert_string_equal(next_word(), "second");
        wanted = next_tensor();
        snprintf(what, sizeof what, "%s, second gradient %d", p->what, i);
        check_close(what, second ? second : tn_zeros_like(p->inputs[i], TN_DTYPE_NONE, TN_CONTIGUOUS_FORMAT), wanted);
    }
}

static void run_case(int number)
{
    program p = {.n = 0};
    tn_scope scope = tn_scope_begin();
    strcpy(p.name, next_word());
    snprintf(p.what, sizeof p.what, "case %d, %s", number, p.name);
    while (strcmp(next_word(), "out") != 0)
        read_argument(&p, word[0]);
    tn_tensor *y = tn_call(p.name, p.values, p.n);
    check_close(p.what, y, next_tensor());
    if (p.n_inputs > 0)
        check_gradients(&p, y);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* Bits, but where this CPU lacks what PyTorch's had; and but for Adam's root, which PyTorch's vector library does not
 * always round to the nearest number. */
static void check_bits(const char *what, const tn_tensor *x, const tn_tensor *wanted)
{
    const bool level = strcmp(tn_get_cpu_capability(), "default") != 0, exact = level && !strstr(what, "adam");
    const double tolerance = tn_tensor_dtype(x) == TN_FLOAT64 ? (level ? 2e-16 : 1e-14) : level ? 1e-7 : 1e-5;
    for (int64_t i = 0; i < tn_numel(x); i++)
        if (exact ? element(x, i) != element(wanted, i)
                  : fabs(element(x, i) - element(wanted, i)) > tolerance * (1 + fabs(element(wanted, i))))
            fail_msg("%s: element %lld is %.17g, PyTorch has %.17g", what, (long long)i, element(x, i),
                     element(wanted, i));
}

static void run_steps(int number)
{
    char what[WORD];
    double o[8];
    tn_scope scope = tn_scope_begin();
    const bool adam = strcmp(next_word(), "adam") == 0;
    const tn_dtype dtype = tn_dtype_from_name(next_word());
    const int64_t n = next_integer(), steps = next_integer();
    for (int i = 0; i < (adam ? 8 : 6); i++)
        o[i] = next_number();
    next_word();
    tn_tensor *p = next_tensor(), *state[3];
    for (int i = 0; i < 3; i++)
        state[i] = tn_zeros(&n, 1, dtype);
    for (int64_t step = 1; step <= steps; step++) {
        next_word();
        tn_tensor *grad = next_tensor();
        if (adam)
            tn_adam_step_(p, grad, state[0], state[1], o[5] != 0 ? state[2] : NULL,
                          &(tn_adam_step_options){.step = step, .lr = o[0], .beta1 = o[1], .beta2 = o[2], .eps = o[3],
                                                  .weight_decay = o[4], .decoupled = o[6] != 0, .maximize = o[7] != 0});
        else
            tn_sgd_step_(p, grad, o[1] != 0 ? state[0] : NULL,
                         &(tn_sgd_step_options){.lr = o[0], .momentum = o[1], .dampening = o[2], .weight_decay = o[3],
                                                .nesterov = o[4] != 0, .maximize = o[5] != 0, .first = step == 1});
        if (tn_error_code() != TN_OK)
            fail_msg("steps %d: %s", number, tn_error_message());
        next_word();
        snprintf(what, sizeof what, "steps %d, %s, step %d", number, adam ? "adam" : "sgd", (int)step);
        check_bits(what, p, next_tensor());
        const bool shrinks = adam && o[6] != 0 && o[4] != 0; /* a write of its own */
        assert_int_equal(tn_version(p), 1 + (shrinks ? 2 * step : step));
    }
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static void recorded(void **state)
{
    int cases = 0;
    (void)state;
    file = fopen(TENON_TEST_DATA "/gradients_torch_2.15.txt", "r");
    assert_non_null(file);
    while (strcmp(next_word(), "end") != 0) {
        cases++;
        if (strcmp(word, "case") == 0)
            run_case(cases);
        else
            run_steps(cases);
    }
    fclose(file);
    assert_true(cases > 150);
}

static void refused(const char *part)
{
    if (tn_error_code() == TN_OK || !strstr(tn_error_message(), part))
        fail_msg("%s, needed \"%s\"", tn_error_message(), part);
    tn_error_clear();
}

/* Errors name the place, and nothing is written. */
static void errors(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const float values[] = {0.5f, 0.25f, 1.5f, -1}, nans[] = {0.5f, NAN};
    const int64_t classes[] = {0, 2, -1}, three = 3, two = 2, four = 4;
    tn_tensor *x = tn_from_array(values, (int64_t[]){2, 2}, 2, TN_FLOAT32);
    tn_tensor *t = tn_zeros_like(x, TN_DTYPE_NONE, TN_PRESERVE_FORMAT);
    assert_null(tn_bce_loss(x, t, TN_MEAN));
    refused("element 2 of the input is 1.5");
    tn_tensor *nan_x = tn_from_array(nans, &two, 1, TN_FLOAT32);
    assert_null(tn_bce_loss(nan_x, nan_x, TN_MEAN));
    refused("element 1 of the input is");
    tn_tensor *target = tn_from_array(classes, &three, 1, TN_INT64);
    assert_null(tn_cross_entropy(tn_zeros((int64_t[]){3, 2}, 2, TN_FLOAT32), target, TN_MEAN));
    refused("element 1 of the target is class 2, needed one of 0 .. 1");
    assert_null(tn_huber_loss(x, t, 0, TN_MEAN));
    refused("delta is 0");
    assert_null(tn_mse_loss(x, t, (tn_reduction)7));
    refused("reduction is 7");
    tn_tensor *p = tn_ones(&four, 1, TN_FLOAT32), *g = tn_ones(&four, 1, TN_FLOAT32);
    assert_int_equal(tn_requires_grad_(p, true), TN_OK);
    assert_int_equal(tn_sgd_step_(p, g, NULL, NULL), TN_ERROR_INPLACE_LEAF);
    tn_error_clear();
    tn_grad_mode mode = tn_no_grad();
    assert_int_equal(tn_sgd_step_(p, p, NULL, NULL), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_adam_step_(p, g, g, p, NULL, NULL), TN_ERROR_OVERLAP);
    tn_error_clear();
    const int64_t version = tn_version(p);
    assert_int_equal(tn_sgd_step_(p, g, NULL, &(tn_sgd_step_options){.lr = 0.5}), TN_OK);
    tn_grad_mode_restore(mode);
    assert_int_equal(tn_version(p), version + 1);
    assert_float_equal(((const float *)tn_data(p))[3], 0.5, 0);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* Strided and 16-bit tensors, and many elements on several threads, step like dense ones. */
static void steps_everywhere(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t sizes[] = {300, 700};
    const tn_sgd_step_options o = {.lr = 0.25, .momentum = 0.5};
    tn_tensor *p = tn_t(tn_ones((int64_t[]){700, 300}, 2, TN_FLOAT32)), *b = tn_ones(sizes, 2, TN_FLOAT32);
    tn_tensor *dense = tn_ones(sizes, 2, TN_FLOAT32), *dense_b = tn_ones(sizes, 2, TN_FLOAT32);
    tn_tensor *g = tn_full(sizes, 2, tn_float(0.75), TN_FLOAT32);
    assert_int_equal(tn_sgd_step_(p, g, b, &o), TN_OK);
    assert_int_equal(tn_sgd_step_(dense, g, dense_b, &o), TN_OK);
    assert_true(tn_equal(p, dense) && tn_equal(b, dense_b));
    const int64_t n = 5;
    tn_tensor *h = tn_ones(&n, 1, TN_BFLOAT16), *hg = tn_ones(&n, 1, TN_BFLOAT16);
    assert_int_equal(tn_sgd_step_(h, hg, NULL, &o), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_int_equal(tn_sgd_step_(h, hg, NULL, &(tn_sgd_step_options){.lr = 0.25}), TN_OK);
    assert_true(tn_equal(tn_to(h, TN_FLOAT32), tn_full(&n, 1, tn_float(0.75), TN_FLOAT32)));
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* A large loss is the same whatever the threads; and its mean is that of its elements. */
static void large(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t n = 400003;
    tn_tensor *x = tn_sin(tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_FLOAT32)), *t = tn_zeros(&n, 1, TN_FLOAT32);
    const int threads = tn_get_num_threads();
    tn_tensor *one, *many = tn_bce_with_logits(x, t, TN_MEAN);
    tn_set_num_threads(1);
    one = tn_bce_with_logits(x, t, TN_MEAN);
    tn_set_num_threads(threads);
    assert_true(tn_equal(one, many));
    tn_tensor *each = tn_mean(tn_to(tn_bce_with_logits(x, t, TN_NONE), TN_FLOAT64), NULL, 0, false, TN_DTYPE_NONE);
    assert_float_equal(tn_item(each), tn_item(one), 1e-7);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* Softmax along a dim whose elements lie apart has the bits of that of dense rows. */
static void columns(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t sizes[] = {300, 701};
    tn_tensor *x = tn_sin(tn_arange(tn_int(0), tn_int(300 * 701), tn_int(1), TN_FLOAT32));
    x = tn_view(x, sizes, 2);
    assert_true(tn_equal(tn_softmax(x, 0), tn_t(tn_softmax(tn_contiguous(tn_t(x)), 1))));
    assert_true(tn_equal(tn_log_softmax(x, 0), tn_t(tn_log_softmax(tn_contiguous(tn_t(x)), 1))));
    assert_int_equal(tn_error_code(), TN_OK);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

TEST_MAIN(test(recorded), test(errors), test(steps_everywhere), test(large), test(columns))
