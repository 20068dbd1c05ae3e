/* var, std and logsumexp over dims. Rules of torch.var, torch.std and torch.logsumexp.
 *
 * Each result is made in two walks over its elements, in float64, and rounded once: var and std after the mean, without
 * the cancellation of a sum of squares; logsumexp after the largest, which leaves the exponentials finite. */
#include <math.h>
#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>
#include <tenon/reductions.h>

#include "base/error.h"
#include "base/pool.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce_attr.h"
#include "ops/tape.h"
#include "ops/walk.h"
#include "ops/wide_row.h"

enum { VAR, STD, LOGSUMEXP };

typedef struct statistic_attr {
    tni_reduce_attr reduce; /* first: derivatives read it as the reductions' */
    bool unbiased;
} statistic_attr;

typedef struct job {
    tni_walk kept, reduced;
    const char *x;
    char *out;
    tni_wide_rows rows;
    tni_loop exp;
    int family;
    bool unbiased;
} job;

/* What the walks find: the first leaves `from`, the second `sum`. */
typedef struct found {
    double sum, from;
} found;

typedef void (*taker)(const job *j, found *f, double *row, int64_t n);

static void take_sum(const job *j, found *f, double *row, int64_t n)
{
    (void)j;
    for (int64_t i = 0; i < n; i++)
        f->sum += row[i] - f->from;
}

static void take_squares(const job *j, found *f, double *row, int64_t n)
{
    (void)j;
    for (int64_t i = 0; i < n; i++)
        f->sum += (row[i] - f->from) * (row[i] - f->from);
}

static void take_largest(const job *j, found *f, double *row, int64_t n)
{
    (void)j;
    for (int64_t i = 0; i < n; i++)
        f->from = row[i] > f->from || isnan(row[i]) ? row[i] : f->from;
}

static void take_exponentials(const job *j, found *f, double *row, int64_t n)
{
    const tni_row exponentials = {.data = {(char *)row, (char *)row}, .strides = {sizeof *row, sizeof *row}, .n = n};
    for (int64_t i = 0; i < n; i++)
        row[i] -= f->from;
    j->exp(&exponentials);
    for (int64_t i = 0; i < n; i++)
        f->sum += row[i];
}

/* Every element of one result, a dense row at a time. */
static void walk(const job *j, const char *x, taker take, found *f)
{
    const tni_walk *w = &j->reduced;
    double row[TNI_WIDE_ROW];
    int64_t unused;
    for (int64_t i = 0; i < w->numel; i += w->sizes[0]) {
        const char *at = x + tni_walk_at(w, i, &unused) * j->rows.itemsize;
        for (int64_t k = 0, n; k < w->sizes[0]; k += n) {
            n = w->sizes[0] - k < TNI_WIDE_ROW ? w->sizes[0] - k : TNI_WIDE_ROW;
            tni_wide_load(&j->rows, row, at + k * w->strides[0] * j->rows.itemsize, w->strides[0], n);
            take(j, f, row, n);
        }
    }
}

/* The mean is taken from the first element on, so that it is exact where all are the same. */
static double variance(const job *j, const char *x)
{
    const double n = (double)j->reduced.numel, divisor = n - j->unbiased;
    found f = {0, 0};
    if (j->reduced.numel > 0)
        tni_wide_load(&j->rows, &f.from, x, 0, 1);
    walk(j, x, take_sum, &f);
    f = (found){0, f.from + f.sum / n};
    walk(j, x, take_squares, &f);
    const double y = f.sum / (divisor > 0 ? divisor : 0);
    return j->family == STD ? sqrt(y) : y;
}

static double log_of_sum(const job *j, const char *x)
{
    found f = {0, -INFINITY};
    walk(j, x, take_largest, &f);
    if (isinf(f.from))
        f.from = 0;
    walk(j, x, take_exponentials, &f);
    return log(f.sum) + f.from;
}

static void statistic_task(void *context, int64_t result)
{
    const job *j = context;
    int64_t out;
    const char *x = j->x + tni_walk_at(&j->kept, result, &out) * j->rows.itemsize;
    const double y = j->family == LOGSUMEXP ? log_of_sum(j, x) : variance(j, x);
    tni_wide_store(&j->rows, j->out + out * j->rows.out_itemsize, 0, &y, 1);
}

static tn_status statistic_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_reduce_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    tn_dtype dtype = (tn_dtype)x->dtype;
    uint64_t mask;
    if (call->op->family != LOGSUMEXP && tni_dtype_kind(dtype) <= TNI_INT)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor is %s, needed a floating dtype; convert it",
                        tn_dtype_name(dtype));
    if (tni_dtype_kind(dtype) <= TNI_INT)
        dtype = tn_get_default_dtype();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    if (!tni_converter_of((tn_dtype)x->dtype, dtype))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    if (tni_reduced_dims(name, x, &attr->dims, &mask))
        return tni_pending();
    const int ndim = tni_reduced_sizes(x, mask, attr->keepdim, meta->room);
    return tni_meta_contiguous(call, meta, ndim, dtype, (tn_device_type)x->device);
}

static void statistic_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const statistic_attr *attr = call->attr;
    int64_t out_strides[TN_MAX_NDIM];
    uint64_t mask;
    job j;
    (void)workspace;
    tni_reduced_dims(tni_call_name(call), x, &attr->reduce.dims, &mask); /* infer made sure */
    tni_kept_strides(x, out, mask, attr->reduce.keepdim, out_strides);
    tni_walk_make(&j.kept, x, mask, false, out_strides);
    tni_walk_make(&j.reduced, x, mask, true, out_strides);
    j.x = tni_data(x);
    j.out = tni_data(out);
    j.rows = tni_wide_rows_of(x, out);
    j.exp = tni_pointwise_levels[tni_cpu_level()]->unary[TNI_UNARY_exp][TNI_LANE_F64];
    j.family = call->op->family;
    j.unbiased = attr->unbiased;
    if (x->numel >= 2 * TNI_GRAIN)
        tni_parallel_for(j.kept.numel, statistic_task, &j);
    else
        for (int64_t result = 0; result < j.kept.numel; result++)
            statistic_task(&j, result);
}

/* 2 (x - mean) / (n - 1), times `scale`. */
static tn_tensor *variance_slope(const tni_vjp *v, tn_tensor *x, tn_tensor *scale)
{
    const statistic_attr *attr = v->attr;
    const tni_shape y = tni_result_shape(v);
    int64_t n = 1, kept = 1;
    int dims[TN_MAX_NDIM];
    for (int d = 0; d < x->ndim; d++)
        n *= x->sizes[d];
    for (int d = 0; d < y.ndim; d++)
        kept *= y.sizes[d];
    n = kept > 0 ? n / kept : 1;
    for (int i = 0; i < attr->reduce.dims.n; i++)
        dims[i] = (int)attr->reduce.dims.data[i];
    const double divisor = (double)(n - attr->unbiased);
    tn_tensor *away = tn_sub(x, tn_mean(x, dims, attr->reduce.dims.n, true, TN_DTYPE_NONE));
    return tn_mul(tn_mul_scalar(tni_reduced_reinserted(v, scale), tn_float(2 / (divisor > 0 ? divisor : 0))), away);
}

static void var_vjp(tni_vjp *v)
{
    tn_tensor *x = tni_saved_input(v, 0);
    v->grads[0] = x ? variance_slope(v, x, v->grad) : NULL;
}

/* That of var over 2 std; nothing where all elements are the same, as in PyTorch. */
static void std_vjp(tni_vjp *v)
{
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v);
    if (!x || !y)
        return;
    tn_tensor *zero = tn_eq_scalar(y, tn_int(0));
    tn_tensor *scale = tn_div(v->grad, tn_mul_scalar(tn_masked_fill(y, zero, tn_int(1)), tn_int(2)));
    v->grads[0] = variance_slope(v, x, tn_masked_fill(scale, zero, tn_int(0)));
}

static void logsumexp_vjp(tni_vjp *v)
{
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v);
    if (x && y)
        v->grads[0] = tn_mul(tni_reduced_reinserted(v, v->grad), tn_exp(tn_sub(x, tni_reduced_reinserted(v, y))));
}

static const tni_derivative var_derivative = {.saves = {TNI_SAVE(0)}, .vjp = var_vjp};
static const tni_derivative std_derivative = {.saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = std_vjp};
static const tni_derivative logsumexp_derivative = {.saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = logsumexp_vjp};

static const statistic_attr statistic_default = {.reduce = {.dtype = TN_DTYPE_NONE}, .unbiased = true};

#define STATISTIC(row, dtype_set)                                                                                      \
    .n_in = 1, .n_out = 1, .dtypes = dtype_set, .attr_bytes = sizeof(statistic_attr),                                  \
    .attr_default = &statistic_default, .infer = statistic_infer, .run = statistic_run, .exact_out_dtype = true,       \
    .family = row
#define VARIANCE_PARAMS                                                                                                \
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', statistic_attr, reduce.dims),                           \
               TNI_OPTIONAL("unbiased", 'B', statistic_attr, unbiased),                                                \
               TNI_OPTIONAL("keepdim", 'B', statistic_attr, reduce.keepdim)},                                          \
    .n_params = 4,                                                                                                     \
    .samples = "[3,4] | [3,4] 0 | [3,4] -1 false | [2,3,4] (0,2) true true | [300] | [300,3] 0 | [20,30] 1 | [5] | "   \
               "! [3,4] 2 | ! [3,4] (0,0)"

const tni_op tni_op_var = {
    .name = TNI_NAMES_NEW(var), .derivative = &var_derivative, STATISTIC(VAR, TNI_FLOATS), VARIANCE_PARAMS};

const tni_op tni_op_std = {
    .name = TNI_NAMES_NEW(std), .derivative = &std_derivative, STATISTIC(STD, TNI_FLOATS), VARIANCE_PARAMS};

const tni_op tni_op_logsumexp = {
    .name = TNI_NAMES_NEW(logsumexp),
    .derivative = &logsumexp_derivative,
    STATISTIC(LOGSUMEXP, TNI_ANY_REALS),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'J', statistic_attr, reduce.dims),
               TNI_OPTIONAL("keepdim", 'B', statistic_attr, reduce.keepdim)},
    .n_params = 3,
    .samples = "[3,4] 0 | [3,4] -1 true | [2,3,4] (0,2) | [] 0 | [300] 0 | [300,3] 0 | [0,3] 0 | [0,3] 1 | ! [3,4] 2 | "
               "! [3,4] (0,0)"};

/* The public functions take dims as int. */
static tn_tensor *call(const tni_op *op, tn_tensor *x, const int *dims, int n, bool unbiased, bool keepdim)
{
    int64_t list[TN_MAX_NDIM];
    statistic_attr attr = {.reduce = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE}, .unbiased = unbiased};
    return tni_list_dims(op->name[TNI_NEW], dims, n, list, &attr.reduce.dims) ? tni_call_new(op, &x, &attr) : NULL;
}

tn_tensor *tn_var(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim)
{
    return call(&tni_op_var, x, dims, n_dims, unbiased, keepdim);
}

tn_tensor *tn_std(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim)
{
    return call(&tni_op_std, x, dims, n_dims, unbiased, keepdim);
}

tn_tensor *tn_logsumexp(tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return call(&tni_op_logsumexp, x, dims, n_dims, false, keepdim);
}
