/* Functions of the user's own: results, gradients of every order, tangents, what is kept, and what is refused. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static int ended;

static void count_end(void *context)
{
    (void)context;
    ended++;
}

static tn_tensor *vector(const double *values, int64_t n, bool tracked)
{
    tn_tensor *x = tn_from_array(values, &n, 1, TN_FLOAT64);
    assert_int_equal(tn_requires_grad_(x, tracked), TN_OK);
    return x;
}

static void assert_error(tn_status status, const char *message)
{
    assert_string_equal(tn_error_message(), message);
    assert_int_equal(tn_error_code(), status);
    tn_error_clear();
}

static void assert_ok(void)
{
    if (tn_error_code())
        fail_msg("%s", tn_error_message());
}

/* exp, by its result. */
static tn_tensor *exp_forward(tn_function_call *call, tn_tensor *const *inputs, int n)
{
    assert_int_equal(n, 1);
    tn_tensor *y = tn_exp(inputs[0]);
    assert_true(!y || !tn_requires_grad(y));
    tn_save_for_backward(call, &y, 1);
    return y;
}

static tn_status exp_backward(tn_function_call *call, tn_tensor *grad, tn_tensor **grads)
{
    grads[0] = tn_mul(grad, tn_saved_tensor(call, 0));
    return tn_error_code();
}

static tn_tensor *exp_jvp(tn_function_call *call, tn_tensor *const *tangents)
{
    return tn_mul(tangents[0], tn_saved_tensor(call, 0));
}

static const tn_function my_exp = {.name = "MyExp", .forward = exp_forward, .backward = exp_backward, .end = count_end};
static const tn_function dual_exp = {
    .name = "DualExp", .forward = exp_forward, .backward = exp_backward, .jvp = exp_jvp};

/* a b + c, broadcast; c may be left off. */
static tn_tensor *fma_forward(tn_function_call *call, tn_tensor *const *inputs, int n)
{
    assert_int_equal(n, 3);
    tn_tensor *kept[] = {tn_needs_input_grad(call, 1) ? inputs[0] : NULL,
                         tn_needs_input_grad(call, 0) ? inputs[1] : NULL};
    tn_save_for_backward(call, kept, 2);
    tn_tensor *y = tn_mul(inputs[0], inputs[1]);
    return inputs[2] ? tn_add(y, inputs[2]) : y;
}

static tn_status fma_backward(tn_function_call *call, tn_tensor *grad, tn_tensor **grads)
{
    for (int i = 0; i < 2; i++)
        if (tn_needs_input_grad(call, i))
            grads[i] = tn_mul(grad, tn_saved_tensor(call, 1 - i));
    grads[2] = grad;
    return tn_error_code();
}

static const tn_function my_fma = {.name = "Fma", .forward = fma_forward, .backward = fma_backward};

static tn_tensor *applied(void *context, tn_tensor *const *inputs, int n)
{
    return tn_apply(context, inputs, n, NULL);
}

static void every_order(void **state)
{
    (void)state;
    char name[40];
    const tn_function *functions[] = {&my_exp, &dual_exp};
    tn_scope scope = tn_scope_begin();
    for (int i = 0; i < 2; i++) {
        tn_tensor *x = vector((double[]){-1, 0.5, 2}, 3, true);
        void *f = (void *)(uintptr_t)functions[i];
        tn_gradcheck(applied, f, &x, 1, NULL, NULL);
        tn_gradgradcheck(applied, f, &x, 1, NULL, NULL);
        tn_gradcheck_forward(applied, f, &x, 1, NULL, NULL);
        assert_ok();
        tn_tensor *y = tn_apply(functions[i], &x, 1, NULL);
        tn_node_name(tn_grad_fn(y), name, sizeof name);
        assert_string_equal(name, i == 0 ? "MyExpBackward" : "DualExpBackward");
    }
    const int64_t sizes[] = {2, 3};
    tn_tensor *wide = tn_full(sizes, 2, tn_float(1.5), TN_FLOAT64), *one = vector((double[]){3}, 1, true);
    tn_requires_grad_(wide, true);
    for (int k = 0; k < 4; k++) { /* some inputs alone need a gradient; one is left off */
        tn_tensor *inputs[] = {wide, k == 1 ? tn_detach(one) : one,
                               k < 2 ? vector((double[]){1, 2, 3}, 3, k == 0) : NULL};
        tn_tensor *loss = tn_sum(tn_apply(&my_fma, inputs, 3, NULL), NULL, 0, false, TN_DTYPE_NONE);
        assert_int_equal(tn_backward(loss), TN_OK);
        if (inputs[2] && tn_requires_grad(inputs[2]))
            assert_true(tn_data_f64(tn_grad_of(inputs[2]))[2] == 2);
    }
    assert_true(tn_data_f64(tn_grad_of(wide))[5] == 4 * 3 && tn_data_f64(tn_grad_of(one))[0] == 3 * 6 * 1.5);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* The second derivative by forward mode over the walk back: what was saved has a tangent, too. */
static void forward_over_reverse(void **state)
{
    (void)state;
    const tn_function *functions[] = {&my_exp, &dual_exp};
    for (int i = 0; i < 2; i++) {
        tn_scope scope = tn_scope_begin();
        tn_enter_dual_level();
        tn_tensor *x = tn_make_dual(vector((double[]){0, 1}, 2, true), vector((double[]){1, 10}, 2, false));
        tn_tensor *y = tn_apply(functions[i], &x, 1, NULL), *loss = tn_sum(y, NULL, 0, false, TN_DTYPE_NONE);
        const tn_grad_options recorded = {.create_graph = true};
        const tn_list *grads = tn_grad(&loss, NULL, 1, &x, 1, &recorded);
        const tn_tensor *t = grads ? tn_tangent(tn_list_tensors(grads)[0]) : NULL;
        assert_ok();
        assert_non_null(t);
        assert_true(tn_data_f64(t)[0] == 1 && fabs(tn_data_f64(t)[1] - 10 * exp(1)) < 1e-13);
        tn_exit_dual_level();
        assert_int_equal(tn_scope_end(scope), TN_OK);
    }
}

static void the_context_ends_once(void **state)
{
    (void)state;
    ended = 0;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = vector((double[]){1, 2}, 2, true), *plain = tn_detach(x);
    tn_apply(&my_exp, &plain, 1, NULL);
    assert_int_equal(ended, 1);
    tn_grad_mode mode = tn_no_grad();
    assert_true(!tn_requires_grad(tn_apply(&my_exp, &x, 1, NULL)));
    tn_grad_mode_restore(mode);
    assert_int_equal(ended, 2);
    tn_tensor *y = tn_apply(&my_exp, &x, 1, NULL);
    assert_int_equal(ended, 2);
    tn_drop(&y);
    assert_int_equal(ended, 3); /* the result was saved: no cycle */
    assert_null(tn_apply(&my_exp, &x, 0, NULL));
    tn_error_clear();
    assert_int_equal(ended, 4);
    y = tn_apply(&my_exp, &x, 1, NULL);
    tn_add_scalar_(y, tn_int(1));
    assert_int_equal(tn_backward(tn_sum(y, NULL, 0, false, TN_DTYPE_NONE)), TN_ERROR_SAVED_VERSION);
    assert_error(TN_ERROR_SAVED_VERSION,
                 "backward: \"MyExp\" saved its result, a float64 tensor [2], at version 0, and it was written by "
                 "\"add_\" since, version 1: needed it unchanged");
    y = tn_apply(&my_exp, &x, 1, NULL);
    tn_tensor *loss = tn_sum(y, NULL, 0, false, TN_DTYPE_NONE);
    assert_int_equal(tn_backward(loss), TN_OK);
    assert_int_equal(tn_backward(loss), TN_ERROR_GRAPH_FREED);
    tn_error_clear();
    assert_int_equal(tn_scope_end(scope), TN_OK);
    assert_int_equal(ended, 6);
}

/* What forward and backward do wrong, by number. */
enum { GIVES_INPUT, GIVES_VIEW, WRITES, GIVES_NOTHING, CONSTANT, WRONG_SHAPE, SILENT, ONCE };

static tn_tensor *wrong_forward(tn_function_call *call, tn_tensor *const *inputs, int n)
{
    (void)n;
    switch (*(int *)tn_function_context(call)) {
    case GIVES_INPUT:
        return inputs[0];
    case GIVES_VIEW:
        return tn_view(inputs[0], (int64_t[]){2, 1}, 2);
    case WRITES:
        tn_mul_scalar_(inputs[0], tn_int(1));
        return tn_clone(inputs[0]);
    case GIVES_NOTHING:
        return NULL;
    case CONSTANT:
        tn_mark_non_differentiable(call);
        return tn_clone(inputs[0]);
    default:
        return tn_view(tn_clone(inputs[0]), (int64_t[]){2, 1}, 2);
    }
}

static tn_status wrong_backward(tn_function_call *call, tn_tensor *grad, tn_tensor **grads)
{
    int how = *(int *)tn_function_context(call);
    if (how == SILENT)
        return TN_ERROR_ARGUMENT;
    grads[0] = how == WRONG_SHAPE ? tn_zeros((int64_t[]){3}, 1, TN_FLOAT64) : tn_view(grad, (int64_t[]){2}, 1);
    assert_null(tn_saved_tensor(call, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_INDEX);
    tn_error_clear();
    return TN_OK;
}

static void what_is_refused(void **state)
{
    (void)state;
    static const tn_function wrong = {.name = "Wrong", .forward = wrong_forward, .backward = wrong_backward},
                             once = {.name = "Once",
                                     .forward = wrong_forward,
                                     .backward = wrong_backward,
                                     .once_differentiable = true};
    static const struct {
        tn_status status;
        const char *message;
    } needed[] = {
        [GIVES_INPUT] = {TN_ERROR_OVERLAP, "Wrong: its forward returned the input 0, needed a tensor of its own, as "
                                           "tn_clone gives it"},
        [GIVES_VIEW] = {TN_ERROR_OVERLAP, "Wrong: its forward returned a view of input 0, needed a tensor of its own, "
                                          "as tn_clone gives it"},
        [WRITES] = {TN_ERROR_STATE, "Wrong: its forward wrote into an input: needed a result of its own"},
        [GIVES_NOTHING] = {TN_ERROR_STATE, "Wrong: its forward gave NULL and raised no error: needed a tensor"},
        [WRONG_SHAPE] = {TN_ERROR_GRAD, "Wrong: its backward gave [3] as the gradient of input 0, needed [2]"},
        [SILENT] = {TN_ERROR_ARGUMENT, "Wrong: its backward failed and did not say why"},
        [ONCE] = {TN_ERROR_NOT_IMPLEMENTED, "Once: its backward is once_differentiable, and the walk is to be "
                                            "differentiated in turn: needed one made of operators"},
    };
    const tn_backward_options again = {.create_graph = true};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = vector((double[]){1, 2}, 2, true);
    for (int how = GIVES_INPUT; how <= ONCE; how++) {
        tn_tensor *y = tn_apply(how == ONCE ? &once : &wrong, &x, 1, &how);
        if (how < CONSTANT)
            assert_null(y);
        else
            assert_int_equal(tn_requires_grad(y), how != CONSTANT);
        if (how > CONSTANT) {
            tn_add_scalar_(y, tn_int(0)); /* as any result */
            tn_backward_with(tn_sum(y, NULL, 0, false, TN_DTYPE_NONE), NULL, how == ONCE ? &again : NULL);
        }
        if (how != CONSTANT)
            assert_error(needed[how].status, needed[how].message);
    }
    assert_null(tn_apply(NULL, &x, 1, NULL));
    assert_error(TN_ERROR_NULL, "apply: argument 1 (function) is NULL");
    assert_null(tn_apply(&(tn_function){.name = "Half", .forward = wrong_forward}, &x, 1, NULL));
    assert_error(TN_ERROR_NULL, "apply: the function has no backward, needed one");
    assert_null(tn_saved_tensor(NULL, 0));
    assert_error(TN_ERROR_NULL, "saved_tensor: argument 1 (call) is NULL");
    assert_null(tn_grad_of(x));
    int how = ONCE + 1; /* nothing wrong */
    assert_int_equal(tn_backward(tn_sum(tn_apply(&once, &x, 1, &how), NULL, 0, false, TN_DTYPE_NONE)), TN_OK);
    assert_true(tn_data_f64(tn_grad_of(x))[1] == 1);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static void memory_that_fails(void **state)
{
    (void)state;
    for (int k = 0;; k++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = vector((double[]){1, 2}, 2, true);
        ended = 0;
        tn_fail_allocation(k, true);
        tn_tensor *y = tn_apply(&my_exp, &x, 1, NULL);
        bool failed = tn_error_code() == TN_ERROR_MEMORY;
        tn_fail_allocation(-1, false);
        tn_error_clear();
        assert_int_equal(y != NULL, !failed);
        assert_int_equal(ended, failed);
        assert_int_equal(tn_scope_end(scope), TN_OK);
        assert_int_equal(ended, 1);
        if (!failed)
            break;
        assert_true(k < 100);
    }
}

TEST_MAIN(test(every_order), test(forward_over_reverse), test(the_context_ends_once), test(what_is_refused),
          test(memory_that_fails))
