/* Losses as modules: each against its function, value and gradient, in both dtypes and all reductions, copied too;
 * their buffers; losses of the user's; refusals. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

enum { ROWS = 4, CLASSES = 3 };

/* What a case needs: scores, probabilities, numbers of their shape, and weights. */
typedef struct material {
    tn_tensor *x, *p, *t, *classes, *weight, *pos_weight;
    tn_reduction reduction;
} material;

typedef struct pair {
    tn_module *module;
    tn_tensor *input, *target, *expected; /* of the function */
} pair;

static pair mse(const material *m)
{
    return (pair){tn_mse_loss_module(m->reduction), m->x, m->t, tn_mse_loss(m->x, m->t, m->reduction)};
}

static pair l1(const material *m)
{
    return (pair){tn_l1_loss_module(m->reduction), m->x, m->t, tn_l1_loss(m->x, m->t, m->reduction)};
}

static pair smooth_l1(const material *m)
{
    return (pair){tn_smooth_l1_loss_module(0.3, m->reduction), m->x, m->t,
                  tn_smooth_l1_loss(m->x, m->t, 0.3, m->reduction)};
}

static pair huber(const material *m)
{
    return (pair){tn_huber_loss_module(0.3, m->reduction), m->x, m->t, tn_huber_loss(m->x, m->t, 0.3, m->reduction)};
}

static pair bce(const material *m)
{
    return (pair){tn_bce_loss_module(NULL, m->reduction), m->p, m->t, tn_bce_loss(m->p, m->t, m->reduction)};
}

static pair bce_weighted(const material *m)
{
    return (pair){tn_bce_loss_module(m->weight, m->reduction), m->p, m->t,
                  tn_bce_loss_weighted(m->p, m->t, m->weight, m->reduction)};
}

static pair bce_with_logits(const material *m)
{
    return (pair){tn_bce_with_logits_module(NULL, NULL, m->reduction), m->x, m->t,
                  tn_bce_with_logits(m->x, m->t, m->reduction)};
}

static pair bce_with_logits_weighted(const material *m)
{
    return (pair){tn_bce_with_logits_module(m->weight, m->pos_weight, m->reduction), m->x, m->t,
                  tn_bce_with_logits_weighted(m->x, m->t, m->weight, m->pos_weight, m->reduction)};
}

static pair kl_div(const material *m)
{
    return (pair){tn_kl_div_module(false, m->reduction), m->x, m->t, tn_kl_div(m->x, m->t, false, m->reduction)};
}

static pair kl_div_of_logs(const material *m)
{
    return (pair){tn_kl_div_module(true, m->reduction), m->x, m->t, tn_kl_div(m->x, m->t, true, m->reduction)};
}

static pair poisson_nll(const material *m)
{
    return (pair){tn_poisson_nll_loss_module(true, false, 1e-8, m->reduction), m->x, m->t,
                  tn_poisson_nll_loss(m->x, m->t, true, false, 1e-8, m->reduction)};
}

static pair poisson_nll_full(const material *m)
{
    return (pair){tn_poisson_nll_loss_module(false, true, 0.125, m->reduction), m->p, m->t,
                  tn_poisson_nll_loss(m->p, m->t, false, true, 0.125, m->reduction)};
}

static pair nll(const material *m)
{
    return (pair){tn_nll_loss_module(NULL, -100, m->reduction), m->x, m->classes,
                  tn_nll_loss(m->x, m->classes, m->reduction)};
}

static pair nll_weighted(const material *m)
{
    return (pair){tn_nll_loss_module(m->weight, 2, m->reduction), m->x, m->classes,
                  tn_nll_loss_weighted(m->x, m->classes, m->weight, 2, m->reduction)};
}

static pair cross_entropy(const material *m)
{
    return (pair){tn_cross_entropy_module(&(tn_cross_entropy_options){.reduction = m->reduction}), m->x, m->classes,
                  tn_cross_entropy(m->x, m->classes, m->reduction)};
}

static pair cross_entropy_with(const material *m)
{
    const tn_cross_entropy_options options = {.reduction = m->reduction, .label_smoothing = 0.125, .ignore = true,
                                              .ignore_index = 0, .weight = m->weight};
    return (pair){tn_cross_entropy_module(&options), m->x, m->classes,
                  tn_cross_entropy_with(m->x, m->classes, &options)};
}

static const struct {
    const char *class;
    pair (*make)(const material *m);
    int buffers;
} losses[] = {{"MSELoss", mse, 0},
              {"L1Loss", l1, 0},
              {"SmoothL1Loss", smooth_l1, 0},
              {"HuberLoss", huber, 0},
              {"BCELoss", bce, 0},
              {"BCELoss", bce_weighted, 1},
              {"BCEWithLogitsLoss", bce_with_logits, 0},
              {"BCEWithLogitsLoss", bce_with_logits_weighted, 2},
              {"KLDivLoss", kl_div, 0},
              {"KLDivLoss", kl_div_of_logs, 0},
              {"PoissonNLLLoss", poisson_nll, 0},
              {"PoissonNLLLoss", poisson_nll_full, 0},
              {"NLLLoss", nll, 0},
              {"NLLLoss", nll_weighted, 1},
              {"CrossEntropyLoss", cross_entropy, 0},
              {"CrossEntropyLoss", cross_entropy_with, 1}};
enum { LOSSES = sizeof losses / sizeof *losses };

static material make_material(tn_dtype dtype, tn_reduction reduction)
{
    const int64_t shape[] = {ROWS, CLASSES}, rows = ROWS, classes = CLASSES;
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 3);
    material m = {.x = tn_empty(shape, 2, dtype), .t = tn_empty(shape, 2, dtype), .p = tn_empty(shape, 2, dtype),
                  .weight = tn_empty(&classes, 1, dtype), .pos_weight = tn_empty(&classes, 1, dtype),
                  .classes = tn_from_array((int64_t[]){2, 0, 1, 1}, &rows, 1, TN_INT64), .reduction = reduction};
    tn_init_normal_(m.x, 0, 1, &g);
    tn_init_uniform_(m.p, 0.1, 0.9, &g);
    tn_init_uniform_(m.t, 0, 1, &g);
    tn_init_uniform_(m.weight, 0.5, 2, &g);
    tn_init_uniform_(m.pos_weight, 0.5, 2, &g);
    tn_requires_grad_(m.x, true);
    tn_requires_grad_(m.p, true);
    return m;
}

static tn_tensor *gradient(tn_tensor *loss, tn_tensor *input)
{
    tn_tensor *one = tn_ones_like(loss, TN_DTYPE_NONE, TN_PRESERVE_FORMAT);
    return tn_list_get(tn_grad(&loss, &one, 1, &input, 1, NULL), 0);
}

static void equal_the_functions(void **state)
{
    (void)state;
    for (int k = 0; k < LOSSES * 6; k++) {
        const int i = k / 6;
        const tn_dtype dtype = k % 2 ? TN_FLOAT32 : TN_FLOAT64;
        tn_scope scope = tn_scope_begin();
        const material m = make_material(dtype, (tn_reduction)(k / 2 % 3));
        const pair c = losses[i].make(&m);
        tn_module *copy = tn_module_to(c.module, dtype);
        tn_tensor *y = tn_forward_loss(c.module, c.input, c.target), *z = tn_forward_loss(copy, c.input, c.target);
        if (!y || !z)
            fail_msg("%s, loss %d: %s", losses[i].class, i, tn_error_message());
        if (!tn_equal(y, c.expected) || !tn_equal(z, c.expected) || tn_ndim(y) != tn_ndim(c.expected))
            fail_msg("%s, loss %d, reduction %d: it is not its function", losses[i].class, i, (int)m.reduction);
        tn_tensor *expected = gradient(c.expected, c.input);
        if (!tn_equal(gradient(y, c.input), expected))
            fail_msg("%s, loss %d: another gradient than its function's", losses[i].class, i);
        assert_string_equal(tn_module_name(c.module), losses[i].class);
        assert_int_equal(tn_buffer_count(c.module), losses[i].buffers);
        assert_int_equal(tn_parameter_count(c.module), 0);
        tn_scope_end(scope);
        assert_int_equal(tn_error_code(), TN_OK);
    }
}

/* Weights are in the state by PyTorch's names, and held; a copy has its own in its dtype. */
static void buffers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const material m = make_material(TN_FLOAT64, TN_MEAN);
    tn_module *loss = tn_bce_with_logits_module(NULL, m.pos_weight, TN_MEAN);
    assert_int_equal(tn_buffer_count(loss), 1);
    assert_ptr_equal(tn_named_buffer(loss, "pos_weight"), m.pos_weight);
    tn_module *narrow = tn_module_to(loss, TN_FLOAT32);
    assert_int_equal(tn_tensor_dtype(tn_named_buffer(narrow, "pos_weight")), TN_FLOAT32);
    assert_int_equal(tn_module_eval(loss), TN_OK);
    assert_false(tn_module_is_training(loss));
    loss = tn_cross_entropy_module(NULL);
    assert_true(tn_equal(tn_forward_loss(loss, m.x, m.classes), tn_cross_entropy(m.x, m.classes, TN_MEAN)));
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

/* |x - t| less the margin, at least 0; the net holds it as a child. */
static tn_tensor *within_margin(tn_module *self, tn_tensor *x, tn_tensor *target, void *context)
{
    (void)self;
    tn_tensor *beyond = tn_sub_scalar(tn_abs(tn_sub(x, target)), tn_float(*(const double *)context));
    return tn_mean(tn_relu(beyond), NULL, 0, false, TN_DTYPE_NONE);
}

static tn_tensor *sum_of_children(tn_module *self, tn_tensor *x, tn_tensor *target, void *context)
{
    (void)context;
    return tn_add(tn_forward_loss(tn_child(self, 0), x, target), tn_forward_loss(tn_child(self, 1), x, target));
}

static tn_tensor *target_itself(tn_module *self, tn_tensor *x, tn_tensor *target, void *context)
{
    (void)self, (void)x, (void)context;
    return target;
}

static void of_the_user(void **state)
{
    (void)state;
    double margin = 0.25;
    tn_scope scope = tn_scope_begin();
    const material m = make_material(TN_FLOAT64, TN_MEAN);
    tn_module *own = tn_module_new(&(tn_module_kind){.name = "Margin", .forward_loss = within_margin}, &margin);
    tn_module *both = tn_module_new(&(tn_module_kind){.name = "Both", .forward_loss = sum_of_children}, NULL);
    tn_register_module(both, "margin", own);
    tn_register_module(both, "mse", tn_mse_loss_module(TN_MEAN));
    tn_tensor *own_value = tn_forward_loss(own, m.x, m.t), *value = tn_forward_loss(both, m.x, m.t);
    assert_true(tn_item(own_value) > 0);
    assert_true(tn_item(value) == tn_item(own_value) + tn_item(tn_mse_loss(m.x, m.t, TN_MEAN)));
    assert_int_equal(tn_use_count(value), 1);
    assert_int_equal(tn_backward(value), TN_OK);
    assert_non_null(tn_grad_of(m.x));
    tn_module *same = tn_module_new(&(tn_module_kind){.name = "Same", .forward_loss = target_itself}, NULL);
    assert_ptr_equal(tn_forward_loss(same, m.x, m.t), m.t);
    assert_null(tn_forward(own, m.x));
    expect_error(TN_ERROR_ARGUMENT, "forward: Margin is a loss of an input and a target, needed tn_forward_loss");
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const material m = make_material(TN_FLOAT32, TN_MEAN);
    tn_module *loss = tn_mse_loss_module(TN_MEAN), *linear = tn_linear_module(3, 3, true, TN_FLOAT32);
    assert_null(tn_forward_loss(NULL, m.x, m.t));
    expect_error(TN_ERROR_NULL, "forward_loss: argument 1 (module) is NULL");
    assert_null(tn_forward_loss(loss, NULL, m.t));
    expect_error(TN_ERROR_NULL, "forward_loss: argument 2 (input) is NULL");
    assert_null(tn_forward_loss(loss, m.x, NULL));
    expect_error(TN_ERROR_NULL, "forward_loss: argument 3 (target) is NULL");
    assert_null(tn_forward_loss(linear, m.x, m.t));
    expect_error(TN_ERROR_ARGUMENT, "forward_loss: Linear is no loss, needed one, or tn_forward");
    assert_null(tn_forward(loss, m.x));
    expect_error(TN_ERROR_ARGUMENT, "forward: MSELoss is a loss of an input and a target, needed tn_forward_loss");
    tn_module *net = tn_sequential();
    tn_sequential_append(net, loss);
    assert_null(tn_forward(net, m.x));
    expect_error(TN_ERROR_ARGUMENT, "0: forward: MSELoss is a loss");
    assert_null(tn_forward_loss(tn_huber_loss_module(-1, TN_MEAN), m.x, m.t));
    expect_error(TN_ERROR_ARGUMENT, "huber_loss: ");
    assert_null(tn_forward_loss(tn_mse_loss_module((tn_reduction)7), m.x, m.t));
    expect_error(TN_ERROR_ARGUMENT, "mse_loss: ");
    assert_null(tn_forward_loss(tn_cross_entropy_module(&(tn_cross_entropy_options){.weight = m.x}), m.x, m.classes));
    EXPECT(TN_ERROR_SHAPE);
    assert_null(tn_module_new(&(tn_module_kind){.name = "None"}, NULL));
    expect_error(TN_ERROR_NULL, "kind.forward");
    tn_forward_loss(loss, NULL, NULL);
    assert_null(tn_mse_loss_module(TN_MEAN));
    assert_null(tn_forward_loss(loss, m.x, m.t));
    expect_error(TN_ERROR_NULL, "forward_loss: argument 2 (input) is NULL");
    tn_scope_end(scope);
}

TEST_MAIN(test(equal_the_functions), test(buffers), test(of_the_user), test(refusals))
