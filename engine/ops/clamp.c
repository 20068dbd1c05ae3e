/* clamp: every element brought between two bounds. Rules of torch.clamp: an upper bound below the lower one wins, a NaN
 * bound makes everything NaN, a NaN element stays. */
#include <math.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

#define NO_BOUND ((tn_scalar_kind)-1)

typedef struct clamp_attr {
    tn_scalar min, max; /* kind NO_BOUND: there is none */
} clamp_attr;

/* The bounds in each lane's type. */
typedef union bound {
    float f32;
    double f64;
    int64_t i64;
    uint64_t u64;
} bound;

typedef struct bounds {
    bound low, high;
} bounds;

/* A bound that is NaN replaces every element. */
#define CLAMP(T, L)                                                                  \
    static void clamp_##L(const tni_row *row)                                        \
    {                                                                                \
        const bounds *b = row->context;                                              \
        const T low = b->low.L, high = b->high.L;                                    \
        for (int64_t i = 0; i < row->n; i++) {                                       \
            T x = *(const T *)(const void *)(row->data[1] + i * row->strides[1]);    \
            x = x < low || low != low ? low : x;                                     \
            x = x > high || high != high ? high : x;                                 \
            *(T *)(void *)(row->data[0] + i * row->strides[0]) = x;                  \
        }                                                                            \
    }
CLAMP(float, f32)
CLAMP(double, f64)
CLAMP(int64_t, i64)
CLAMP(uint64_t, u64)

/* Whether a bound is below (-1) or above (1) what an integer dtype holds; 0 when it is within, or the dtype floats. */
static int beyond_range(tn_scalar given, tn_dtype dtype)
{
    if (given.kind == NO_BOUND || !tni_is_integral(dtype))
        return 0;
    double value = tni_scalar_real(given), bits = (double)(8 * tni_itemsize(dtype));
    bool sign = tni_dtype_kind(dtype) == TNI_INT;
    double low = sign ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, sign ? (int)bits - 1 : (int)bits);
    if (given.kind == TN_SCALAR_INT && tni_itemsize(dtype) == 8)
        return !sign && given.value.i < 0 ? -1 : 0;
    return value < low ? -1 : value >= high;
}

static tn_status check_bounds(const tni_call *call, tn_dtype dtype)
{
    const clamp_attr *attr = call->attr;
    bool low = beyond_range(attr->min, dtype) > 0, high = beyond_range(attr->max, dtype) < 0;
    if (!low && !high)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_OVERFLOW, tni_call_name(call), "%s is %.17g, beyond what %s holds", low ? "min" : "max",
                    tni_scalar_real(low ? attr->min : attr->max), tn_dtype_name(dtype));
}

static tn_status clamp_infer(tni_call *call, tni_meta *meta)
{
    static const tni_loop lanes[TNI_LANES] = {clamp_f32, clamp_f64, clamp_i64, clamp_u64, NULL, NULL};
    const tn_tensor *x = call->in[0];
    const clamp_attr *attr = call->attr;
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    if (attr->min.kind == NO_BOUND && attr->max.kind == NO_BOUND)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "neither min nor max, needed at least one");
    bool fits = tni_result_type_tensor(&state, (tn_dtype)x->dtype, x->ndim);
    if (fits && attr->min.kind != NO_BOUND)
        fits = tni_result_type_scalar(&state, attr->min);
    if (fits && attr->max.kind != NO_BOUND)
        fits = tni_result_type_scalar(&state, attr->max);
    tn_dtype dtype = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    if (dtype == TN_DTYPE_NONE)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "%s and the bounds have no common dtype",
                        tn_dtype_name((tn_dtype)x->dtype));
    if (check_bounds(call, dtype))
        return tni_pending();
    tni_meta_of_one(meta, x, dtype);
    call->dense = tni_contiguous(x) && (tn_dtype)x->dtype == dtype;
    return tni_set_loop(call, lanes, dtype);
}

/* The bound, rounded or wrapped to the dtype of the result, in that of the loop; or one that leaves everything. */
static void set_bound(const tni_call *call, tn_scalar given, bool low, bound *to)
{
    static const bound none[TNI_LANES][2] = {
        [TNI_LANE_F32] = {{.f32 = INFINITY}, {.f32 = -INFINITY}},
        [TNI_LANE_F64] = {{.f64 = (double)INFINITY}, {.f64 = -(double)INFINITY}},
        [TNI_LANE_I64] = {{.i64 = INT64_MAX}, {.i64 = INT64_MIN}},
        [TNI_LANE_U64] = {{.u64 = UINT64_MAX}, {.u64 = 0}},
    };
    _Alignas(16) char common[16];
    if (given.kind == NO_BOUND || beyond_range(given, call->common) != 0) {
        *to = none[tni_lane_of(call->compute)][low];
        return;
    }
    tni_scalar_to(given, call->common, common);
    tni_converter_of(call->common, call->compute)(to, 0, common, 0, 1);
}

static void clamp_run(const tni_call *call, void *workspace)
{
    const clamp_attr *attr = call->attr;
    bounds both;
    (void)workspace;
    set_bound(call, attr->min, true, &both.low);
    set_bound(call, attr->max, false, &both.high);
    tni_run_pointwise(call, 1, call->compute, &both);
}

/* The gradient goes through strictly between the bounds: 0 at a bound, and of NaN. */
static void clamp_vjp(tni_vjp *v)
{
    const clamp_attr *attr = v->attr;
    tn_tensor *x = tni_saved_input(v, 0), *inside = NULL;
    if (attr->min.kind != NO_BOUND)
        inside = tn_gt_scalar(x, attr->min);
    if (attr->max.kind != NO_BOUND) {
        tn_tensor *below = tn_lt_scalar(x, attr->max);
        inside = attr->min.kind != NO_BOUND ? tn_logical_and(inside, below) : below;
    }
    v->grads[0] = tn_where_scalar(inside, v->grad, tn_int(0));
}

static const tni_derivative clamp_derivative = {
    .name = "ClampBackward1", .saves = {TNI_SAVE(0)}, .vjp = clamp_vjp};

static const clamp_attr clamp_default = {{.kind = NO_BOUND}, {.kind = NO_BOUND}};

const tni_op tni_op_clamp = {
    .name = TNI_NAMES(clamp),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("min", 'S', clamp_attr, min),
               TNI_OPTIONAL("max", 'S', clamp_attr, max)},
    .n_params = 3, .n_in = 1, .n_out = 1, .dtypes = TNI_ANY_REALS, .attr_bytes = sizeof(clamp_attr),
    .attr_default = &clamp_default, .derivative = &clamp_derivative, .infer = clamp_infer, .run = clamp_run,
    .samples = "[3,4] 0 2 | [3,4] 1 | [3,4] none 1 | [] 0 1 | [0,3] 0 | [2,3,4] 2 1 | ! [3] | ! [3] none none"};

static clamp_attr attr_of(const tn_scalar *low, const tn_scalar *high)
{
    clamp_attr attr = clamp_default;
    if (low)
        attr.min = *low;
    if (high)
        attr.max = *high;
    return attr;
}

tn_tensor *tn_clamp(tn_tensor *x, const tn_scalar *low, const tn_scalar *high)
{
    const clamp_attr attr = attr_of(low, high);
    return tni_call_new(&tni_op_clamp, &x, &attr);
}

tn_status tn_clamp_(tn_tensor *self, const tn_scalar *low, const tn_scalar *high)
{
    const clamp_attr attr = attr_of(low, high);
    return tni_call_in_place(&tni_op_clamp, &self, &attr);
}

tn_status tn_clamp_out(tn_tensor *out, tn_tensor *x, const tn_scalar *low, const tn_scalar *high)
{
    const clamp_attr attr = attr_of(low, high);
    return tni_call_out(&tni_op_clamp, out, &x, &attr);
}
