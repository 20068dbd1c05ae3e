/* sgd_step_, adam_step_ and rmsprop_step_: one pass over a parameter with its gradient and its state, all written in
 * place. Formulas of torch.optim.SGD, Adam and RMSprop; ops/step.kernel.h has them in their order. */
#include "ops/step.h"

#include <math.h>
#include <string.h>
#include <tenon/step.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "core/overlap.h"
#include "dispatch/writer.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

enum { PARAM = TNI_STEP_PARAM, GRAD = TNI_STEP_GRAD, STATE = TNI_STEP_STATE, TENSORS = TNI_STEP_TENSORS };
enum { BLOCK = 512, CHUNK = 1 << 15 };

extern const tni_step_kernels tni_step_baseline, tni_step_avx2, tni_step_avx512;

static const tni_step_kernels *const levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = &tni_step_baseline,
#if defined(__x86_64__)
    [TNI_CPU_AVX2] = &tni_step_avx2,
    [TNI_CPU_AVX512] = &tni_step_avx512,
#endif
};

typedef struct sgd_attr {
    tn_scalar lr, momentum, dampening, weight_decay;
    bool nesterov, maximize, first;
} sgd_attr;

typedef struct adam_attr {
    int64_t step;
    tn_scalar lr, beta1, beta2, eps, weight_decay;
    bool decoupled, maximize;
} adam_attr;

typedef struct rmsprop_attr {
    tn_scalar lr, alpha, eps, momentum, weight_decay;
    bool maximize;
} rmsprop_attr;

#define REAL(value) {TN_SCALAR_FLOAT, {.f = value}}
static const sgd_attr sgd_default = {.lr = REAL(1e-3), .momentum = REAL(0), .dampening = REAL(0),
                                     .weight_decay = REAL(0)};
static const adam_attr adam_default = {.step = 1, .lr = REAL(1e-3), .beta1 = REAL(0.9), .beta2 = REAL(0.999),
                                       .eps = REAL(1e-8), .weight_decay = REAL(0)};
static const rmsprop_attr rmsprop_default = {.lr = REAL(1e-2), .alpha = REAL(0.99), .eps = REAL(1e-8),
                                             .momentum = REAL(0), .weight_decay = REAL(0)};

static const char *tensor_name(const tni_call *call, int i)
{
    for (int p = 0; p < call->op->n_params; p++)
        if (call->op->params[p].input == i)
            return call->op->params[p].name;
    return "tensor";
}

/* All of the parameter's shape and dtype. */
static tn_status check_alike(const tni_call *call)
{
    const tn_tensor *param = call->in[PARAM];
    for (int i = GRAD; i < call->op->n_in; i++) {
        const tn_tensor *x = call->in[i];
        if (!x)
            continue;
        if (x->dtype != param->dtype)
            return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "%s is %s and the parameter %s, needed the same",
                            tensor_name(call, i), tn_dtype_name((tn_dtype)x->dtype),
                            tn_dtype_name((tn_dtype)param->dtype));
        if (tni_same_dims(x->sizes, x->ndim, param->sizes, param->ndim))
            continue;
        char have[100], need[100];
        tni_text_shape(have, sizeof have, x->sizes, x->ndim);
        tni_text_shape(need, sizeof need, param->sizes, param->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "%s is %s and the parameter %s, needed the same",
                        tensor_name(call, i), have, need);
    }
    return TN_OK;
}

static tn_status check_number(const tni_call *call, const char *name, tn_scalar value, double below)
{
    const double x = tni_scalar_real(value);
    if (x >= 0 && x < below)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "%s is %g, needed 0 or more%s", name, x,
                    below < 2 ? " and below 1" : "");
}

/* Below 0 too: a schedule that ends at 0 may get there an ulp late. */
static tn_status check_rate(const tni_call *call, tn_scalar lr)
{
    const double x = tni_scalar_real(lr);
    if (isfinite(x))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "lr is %g, needed a finite number", x);
}

static tn_status step_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *param = call->in[PARAM];
    call->level = tni_cpu_level();
    if (!(TNI_FLOATS & TNI_DTYPE_BIT(param->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)param->dtype);
    if (check_alike(call))
        return tni_pending();
    meta->same = param;
    return TN_OK;
}

static tn_status sgd_infer(tni_call *call, tni_meta *meta)
{
    const sgd_attr *a = call->attr;
    if (check_rate(call, a->lr) ||
        check_number(call, "momentum", a->momentum, (double)INFINITY) ||
        check_number(call, "weight_decay", a->weight_decay, (double)INFINITY))
        return tni_pending();
    if (a->nesterov && (tni_scalar_real(a->momentum) <= 0 || tni_scalar_real(a->dampening) != 0))
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call),
                        "nesterov with momentum %g and dampening %g, needed a momentum and no dampening",
                        tni_scalar_real(a->momentum), tni_scalar_real(a->dampening));
    if (!call->in[STATE] && tni_scalar_real(a->momentum) != 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "momentum is %g and there is no buffer, needed one",
                        tni_scalar_real(a->momentum));
    return step_infer(call, meta);
}

static tn_status adam_infer(tni_call *call, tni_meta *meta)
{
    const adam_attr *a = call->attr;
    if (a->step < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "step is %lld, needed 1 or more", (long long)a->step);
    if (check_rate(call, a->lr) || check_number(call, "beta1", a->beta1, 1) ||
        check_number(call, "beta2", a->beta2, 1) || check_number(call, "eps", a->eps, (double)INFINITY) ||
        check_number(call, "weight_decay", a->weight_decay, (double)INFINITY))
        return tni_pending();
    return step_infer(call, meta);
}

static tn_status rmsprop_infer(tni_call *call, tni_meta *meta)
{
    const rmsprop_attr *a = call->attr;
    if (check_rate(call, a->lr) || check_number(call, "alpha", a->alpha, (double)INFINITY) ||
        check_number(call, "eps", a->eps, (double)INFINITY) ||
        check_number(call, "momentum", a->momentum, (double)INFINITY) ||
        check_number(call, "weight_decay", a->weight_decay, (double)INFINITY))
        return tni_pending();
    if (!call->in[STATE + 2] && tni_scalar_real(a->momentum) != 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "momentum is %g and there is no buffer, needed one",
                        tni_scalar_real(a->momentum));
    return step_infer(call, meta);
}

static tn_status fail_shared(const tni_call *call, int i, int k)
{
    return TNI_FAIL(TN_ERROR_OVERLAP, tni_call_name(call), "%s shares memory with %s, needed its own",
                    tensor_name(call, i == GRAD ? k : i), tensor_name(call, i == GRAD ? i : k));
}

/* What is written, all but the gradient, must be writable and share memory with none of the others. */
static tn_status check_memory(const tni_call *call)
{
    tn_tensor *const *in = call->in;
    const int n = call->op->n_in;
    for (int i = 0; i < n; i++) {
        const tn_tensor *x = in[i];
        if (!x)
            continue;
        if (i != GRAD && (tni_check_writable(tni_call_name(call), x->storage) ||
                          tni_check_no_internal_overlap(tni_call_name(call), x)))
            return tni_pending();
        for (int k = i + 1; k < n; k++) /* of each pair one is written */
            if (in[k] && TNI_UNLIKELY(in[k]->storage == x->storage) && tni_may_share(in[k], x))
                return fail_shared(call, i, k);
    }
    return TN_OK;
}

/* How the parameter moves: the numbers of its rule, and the rule's kernels. */
typedef struct job {
    tn_tensor *const *in;
    int n; /* tensors */
    const void *numbers;
    tni_step_kernel *kernel;
    int lane;
    int64_t numel, itemsize;
} job;

/* Elements first .. first + n - 1 of dense tensors. */
static void run_dense(const job *j, int64_t first, int64_t n)
{
    void *data[TENSORS];
    for (int i = 0; i < j->n; i++)
        data[i] = j->in[i] ? tni_data(j->in[i]) + first * j->itemsize : NULL;
    j->kernel(j->numbers, data, n);
}

static void chunk_task(void *context, int64_t chunk)
{
    const job *j = context;
    const int64_t first = chunk * CHUNK;
    run_dense(j, first, first + CHUNK < j->numel ? CHUNK : j->numel - first);
}

/* Piece by piece of the last dim, through blocks of the dtype of the arithmetic. */
static TNI_ASIDE void run_strided(const job *j)
{
    _Alignas(64) char blocks[TENSORS][BLOCK * sizeof(double)];
    const tn_tensor *param = j->in[PARAM];
    const tn_dtype dtype = (tn_dtype)param->dtype, compute = j->lane ? TN_FLOAT64 : TN_FLOAT32;
    const tni_converter in = tni_converter_of(dtype, compute), out = tni_converter_of(compute, dtype);
    const int last = param->ndim - 1;
    const int64_t row = param->ndim > 0 ? param->sizes[last] : 1, wide = tni_itemsize(compute);
    void *data[TENSORS] = {NULL};
    char *at[TENSORS];
    for (int64_t i = 0, n; i < j->numel; i += n) {
        n = row - i % row < BLOCK ? row - i % row : BLOCK;
        for (int k = 0; k < j->n; k++) {
            const tn_tensor *x = j->in[k];
            if (!x)
                continue;
            int64_t offset = 0;
            for (int64_t d = last, rest = i; d >= 0; rest /= x->sizes[d--])
                offset += rest % x->sizes[d] * x->strides[d];
            at[k] = tni_data(x) + offset * j->itemsize;
            data[k] = blocks[k];
            in(blocks[k], wide, at[k], x->ndim > 0 ? x->strides[last] * j->itemsize : 0, n);
        }
        j->kernel(j->numbers, data, n);
        for (int k = 0; k < j->n; k++)
            if (j->in[k] && k != GRAD)
                out(at[k], param->ndim > 0 ? j->in[k]->strides[last] * j->itemsize : 0, blocks[k], wide, n);
    }
}

static void run_job(job *j)
{
    const tn_dtype dtype = (tn_dtype)j->in[PARAM]->dtype;
    bool dense = dtype == TN_FLOAT32 || dtype == TN_FLOAT64;
    for (int i = 0; i < j->n; i++)
        dense = dense && (!j->in[i] || tni_contiguous(j->in[i]));
    if (!dense)
        run_strided(j);
    else if (j->numel < 2 * TNI_GRAIN)
        run_dense(j, 0, j->numel);
    else
        tni_parallel_for((j->numel + CHUNK - 1) / CHUNK, chunk_task, j);
}

/* Moves the parameter by the rule of those kernels, by lane. */
static tn_status step_alter(tni_call *call, tni_step_kernel *const *kernels, const void *numbers)
{
    tn_tensor *const *in = call->in;
    const tn_tensor *param = in[PARAM];
    const int lane = param->dtype == TN_FLOAT64;
    if (check_memory(call))
        return tni_pending();
    job j = {in, call->op->n_in, numbers, kernels[lane], lane, param->numel, tni_itemsize((tn_dtype)param->dtype)};
    if (!tni_is_meta(param) && param->numel > 0)
        run_job(&j);
    for (int i = 0; i < j.n; i++)
        if (in[i] && i != GRAD)
            tni_count_write(in[i]->counter, tni_call_name(call));
    return TN_OK;
}

static tn_status sgd_alter(tni_call *call, const tni_meta *meta)
{
    const sgd_attr *a = call->attr;
    const tni_sgd sgd = {.lr = tni_scalar_real(a->lr), .momentum = tni_scalar_real(a->momentum),
                         .dampening = tni_scalar_real(a->dampening), .weight_decay = tni_scalar_real(a->weight_decay),
                         .nesterov = a->nesterov, .maximize = a->maximize, .first = a->first};
    (void)meta;
    return step_alter(call, levels[call->level]->sgd, &sgd);
}

/* The last beta1^step and beta2^step of this thread, which the parameters of one step share. */
static _Thread_local struct {
    int64_t step;
    double beta[2], power[2];
} powers __attribute__((tls_model("initial-exec")));

static void find_powers(int64_t step, double beta1, double beta2)
{
    const double beta[2] = {beta1, beta2};
    if (powers.step == step && memcmp(powers.beta, beta, sizeof beta) == 0)
        return;
    powers.step = step;
    for (int i = 0; i < 2; i++) {
        powers.beta[i] = beta[i];
        powers.power[i] = pow(beta[i], (double)step);
    }
}

static tn_status adam_alter(tni_call *call, const tni_meta *meta)
{
    const adam_attr *a = call->attr;
    const double lr = tni_scalar_real(a->lr), beta1 = tni_scalar_real(a->beta1), beta2 = tni_scalar_real(a->beta2);
    const double decay = tni_scalar_real(a->weight_decay);
    find_powers(a->step, beta1, beta2);
    const tni_adam adam = {.beta1 = beta1, .beta2 = beta2, .eps = tni_scalar_real(a->eps),
                           .weight_decay = a->decoupled ? 0 : decay, .shrink = a->decoupled ? 1 - lr * decay : 1,
                           .step_size = lr / (1 - powers.power[0]), .root = sqrt(1 - powers.power[1]),
                           .maximize = a->maximize};
    (void)meta;
    if (step_alter(call, levels[call->level]->adam, &adam))
        return tni_pending();
    if (a->decoupled && decay != 0) /* PyTorch shrinks the parameter in a write of its own */
        tni_written(call->in[PARAM]);
    return TN_OK;
}

static tn_status rmsprop_alter(tni_call *call, const tni_meta *meta)
{
    const rmsprop_attr *a = call->attr;
    const tni_rmsprop rmsprop = {.lr = tni_scalar_real(a->lr), .alpha = tni_scalar_real(a->alpha),
                                 .eps = tni_scalar_real(a->eps), .momentum = tni_scalar_real(a->momentum),
                                 .weight_decay = tni_scalar_real(a->weight_decay), .maximize = a->maximize};
    (void)meta;
    return step_alter(call, levels[call->level]->rmsprop, &rmsprop);
}

#define NUMBER(name, type)  TNI_OPTIONAL(#name, 'S', type, name)
#define CHOICE(name, type)  TNI_OPTIONAL(#name, 'B', type, name)

const tni_op tni_op_sgd_step = {
    .name = TNI_NAMES_IN_PLACE(sgd_step),
    .params = {TNI_TENSOR("param", PARAM), TNI_TENSOR("grad", GRAD),
               TNI_OPTIONAL_TENSOR("momentum_buffer", STATE),
               NUMBER(lr, sgd_attr), NUMBER(momentum, sgd_attr), NUMBER(dampening, sgd_attr),
               NUMBER(weight_decay, sgd_attr), CHOICE(nesterov, sgd_attr), CHOICE(maximize, sgd_attr),
               CHOICE(first, sgd_attr)},
    .n_params = 10, .n_in = 3, .n_out = 1, .optional_in = 1 << STATE, .exact_out_dtype = true,
    .attr_bytes = sizeof(sgd_attr), .attr_default = &sgd_default, .infer = sgd_infer, .alter = sgd_alter,
    .samples = "[3,4] [3,4] none 0.1 | [3,4] [3,4] [3,4] 0.1 0.9 | ! [3,4] [4] | ! [3] [3] none 0.1 0.9 | "
        "! [3] [3] none nan"};

const tni_op tni_op_adam_step = {
    .name = TNI_NAMES_IN_PLACE(adam_step),
    .params = {TNI_TENSOR("param", PARAM), TNI_TENSOR("grad", GRAD), TNI_TENSOR("exp_avg", STATE),
               TNI_TENSOR("exp_avg_sq", STATE + 1), TNI_OPTIONAL_TENSOR("max_exp_avg_sq", STATE + 2),
               TNI_OPTIONAL("step", 'I', adam_attr, step), NUMBER(lr, adam_attr), NUMBER(beta1, adam_attr),
               NUMBER(beta2, adam_attr), NUMBER(eps, adam_attr), NUMBER(weight_decay, adam_attr),
               CHOICE(decoupled, adam_attr), CHOICE(maximize, adam_attr)},
    .n_params = 13, .n_in = 5, .n_out = 1, .optional_in = 1 << (STATE + 2), .exact_out_dtype = true,
    .attr_bytes = sizeof(adam_attr), .attr_default = &adam_default, .infer = adam_infer,
    .alter = adam_alter,
    .samples = "[3,4] [3,4] [3,4] [3,4] | [3,4] [3,4] [3,4] [3,4] [3,4] 2 | ! [3,4] [4] [3,4] [3,4] | "
        "! [3] [3] [3] [3] none 0"};

const tni_op tni_op_rmsprop_step = {
    .name = TNI_NAMES_IN_PLACE(rmsprop_step),
    .params = {TNI_TENSOR("self", PARAM), TNI_TENSOR("grad", GRAD), TNI_TENSOR("square_avg", STATE),
               TNI_OPTIONAL_TENSOR("grad_avg", STATE + 1), TNI_OPTIONAL_TENSOR("momentum_buffer", STATE + 2),
               NUMBER(lr, rmsprop_attr), NUMBER(momentum, rmsprop_attr), NUMBER(weight_decay, rmsprop_attr),
               NUMBER(alpha, rmsprop_attr), NUMBER(eps, rmsprop_attr), CHOICE(maximize, rmsprop_attr)},
    .n_params = 11, .n_in = 5, .n_out = 1, .optional_in = 1 << (STATE + 1) | 1 << (STATE + 2),
    .exact_out_dtype = true, .attr_bytes = sizeof(rmsprop_attr), .attr_default = &rmsprop_default,
    .infer = rmsprop_infer, .alter = rmsprop_alter,
    .samples = "[3,4] [3,4] [3,4] | [3,4] [3,4] [3,4] [3,4] [3,4] 0.1 0.5 | ! [3,4] [4] [3,4] | "
        "! [3] [3] [3] none none 0.1 0.9"};

tn_status tn_sgd_step_(tn_tensor *param, tn_tensor *grad, tn_tensor *momentum_buffer, const tn_sgd_step_options *o)
{
    tn_tensor *in[3] = {param, grad, momentum_buffer};
    if (!o)
        return tni_call_in_place(&tni_op_sgd_step, in, &sgd_default);
    const sgd_attr attr = {tn_float(o->lr), tn_float(o->momentum), tn_float(o->dampening), tn_float(o->weight_decay),
                           o->nesterov, o->maximize, o->first};
    return tni_call_in_place(&tni_op_sgd_step, in, &attr);
}

tn_status tn_adam_step_(tn_tensor *param, tn_tensor *grad, tn_tensor *exp_avg, tn_tensor *exp_avg_sq,
                        tn_tensor *max_exp_avg_sq, const tn_adam_step_options *o)
{
    tn_tensor *in[5] = {param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq};
    if (!o)
        return tni_call_in_place(&tni_op_adam_step, in, &adam_default);
    const adam_attr attr = {o->step, tn_float(o->lr), tn_float(o->beta1), tn_float(o->beta2), tn_float(o->eps),
                            tn_float(o->weight_decay), o->decoupled, o->maximize};
    return tni_call_in_place(&tni_op_adam_step, in, &attr);
}

tn_status tn_rmsprop_step_(tn_tensor *param, tn_tensor *grad, tn_tensor *square_avg, tn_tensor *grad_avg,
                           tn_tensor *momentum_buffer, const tn_rmsprop_step_options *o)
{
    tn_tensor *in[5] = {param, grad, square_avg, grad_avg, momentum_buffer};
    if (!o)
        return tni_call_in_place(&tni_op_rmsprop_step, in, &rmsprop_default);
    const rmsprop_attr attr = {tn_float(o->lr), tn_float(o->alpha), tn_float(o->eps), tn_float(o->momentum),
                               tn_float(o->weight_decay), o->maximize};
    return tni_call_in_place(&tni_op_rmsprop_step, in, &attr);
}
