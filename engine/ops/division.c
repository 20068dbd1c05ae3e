/* Whole quotients and what is left over. Rules of torch.floor_divide, torch.div with rounding_mode="trunc",
 * torch.remainder and torch.fmod:
 *
 *     floor_divide   a / b rounded down             remainder  a - b floor_divide(a, b), with the sign of b
 *     trunc_divide   a / b rounded towards zero     fmod       a - b trunc_divide(a, b), with the sign of a
 *
 * An integer divisor of 0 is refused before anything is written; the least integer divided by -1 wraps. Of floats the
 * remainder of fmod is exact, and the others are made of it, as Python's divmod does; a divisor of 0 gives infinity and
 * NaN.
 *
 *     slope of what is left over  1 in a, minus the whole quotient in b;    of trunc_divide  0
 *     floor_divide is recorded and refuses the walk, as in PyTorch */
#include <math.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

#define LOOP(op, T, L)                                                                                                 \
    static void op##_##L(const tni_row *row)                                                                           \
    {                                                                                                                  \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            const T a = *(const T *)(const void *)(row->data[1] + i * row->strides[1]);                                \
            const T b = *(const T *)(const void *)(row->data[2] + i * row->strides[2]);                                \
            *(T *)(void *)(row->data[0] + i * row->strides[0]) = op##_of_##L(a, b);                                    \
        }                                                                                                              \
    }

#define REAL(T, L, FMOD, FLOOR, TRUNC, COPYSIGN)                                                                       \
    static inline T fmod_of_##L(T a, T b)                                                                              \
    {                                                                                                                  \
        return FMOD(a, b);                                                                                             \
    }                                                                                                                  \
    static inline T remainder_of_##L(T a, T b)                                                                         \
    {                                                                                                                  \
        const T left = FMOD(a, b);                                                                                     \
        return left != 0 && (left < 0) != (b < 0) ? left + b : left;                                                   \
    }                                                                                                                  \
    static inline T trunc_divide_of_##L(T a, T b)                                                                      \
    {                                                                                                                  \
        return TRUNC(a / b);                                                                                           \
    }                                                                                                                  \
    static inline T floor_divide_of_##L(T a, T b)                                                                      \
    {                                                                                                                  \
        if (b == 0)                                                                                                    \
            return a / b;                                                                                              \
        const T left = FMOD(a, b);                                                                                     \
        T ratio = (a - left) / b;                                                                                      \
        if (left != 0 && (left < 0) != (b < 0))                                                                        \
            ratio -= 1;                                                                                                \
        if (ratio == 0)                                                                                                \
            return COPYSIGN(0, a / b);                                                                                 \
        const T down = FLOOR(ratio);                                                                                   \
        return ratio - down > (T)0.5 ? down + 1 : down;                                                                \
    }                                                                                                                  \
    LOOP(fmod, T, L)                                                                                                   \
    LOOP(remainder, T, L)                                                                                              \
    LOOP(trunc_divide, T, L)                                                                                           \
    LOOP(floor_divide, T, L)
REAL(float, f32, fmodf, floorf, truncf, copysignf)
REAL(double, f64, fmod, floor, trunc, copysign)

/* b is not 0: infer looked */
static inline int64_t trunc_divide_of_i64(int64_t a, int64_t b)
{
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t fmod_of_i64(int64_t a, int64_t b)
{
    return b == -1 ? 0 : a % b;
}

static inline int64_t remainder_of_i64(int64_t a, int64_t b)
{
    const int64_t left = fmod_of_i64(a, b);
    return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

static inline int64_t floor_divide_of_i64(int64_t a, int64_t b)
{
    const int64_t left = fmod_of_i64(a, b);
    return trunc_divide_of_i64(a, b) - (left != 0 && (left < 0) != (b < 0));
}
LOOP(fmod, int64_t, i64)
LOOP(remainder, int64_t, i64)
LOOP(trunc_divide, int64_t, i64)
LOOP(floor_divide, int64_t, i64)

enum { FLOOR_DIVIDE, TRUNC_DIVIDE, REMAINDER, FMOD };
#define LANES(op) {op##_f32, op##_f64, op##_i64, NULL, NULL, NULL}
static const tni_loop loops[][TNI_LANES] = {[FLOOR_DIVIDE] = LANES(floor_divide),
                                            [TRUNC_DIVIDE] = LANES(trunc_divide),
                                            [REMAINDER] = LANES(remainder),
                                            [FMOD] = LANES(fmod)};

/* Whether there is a 0 in a row of the divisor, integers of that size. */
#define LOOK(T)                                                                                                        \
    for (int64_t i = 0; i < row->n; i++)                                                                               \
        any |= *(const T *)(const void *)(row->data[0] + i * row->strides[0]) == 0
static bool row_has_zero(const tni_row *row, int64_t itemsize)
{
    bool any = false;
    if (itemsize == 1)
        LOOK(uint8_t);
    else if (itemsize == 2)
        LOOK(uint16_t);
    else if (itemsize == 4)
        LOOK(uint32_t);
    else
        LOOK(uint64_t);
    return any;
}

static bool has_zero(const tn_tensor *b)
{
    int64_t index[TN_MAX_NDIM] = {0}, at = 0;
    const int64_t itemsize = tni_itemsize((tn_dtype)b->dtype);
    const int last = b->ndim - 1;
    tni_row row = {.n = b->ndim > 0 ? b->sizes[last] : 1, .strides = {b->ndim > 0 ? b->strides[last] * itemsize : 0}};
    for (int d = 0;;) {
        row.data[0] = tni_data(b) + at * itemsize;
        if (row_has_zero(&row, itemsize))
            return true;
        for (d = last - 1; d >= 0; d--) {
            at += b->strides[d];
            if (++index[d] < b->sizes[d])
                break;
            at -= index[d] * b->strides[d];
            index[d] = 0;
        }
        if (d < 0)
            return false;
    }
}

static int64_t numel_of(const tni_meta *meta)
{
    int64_t n = 1;
    if (meta->like)
        return meta->like->numel;
    for (int d = 0; d < meta->record.ndim; d++)
        n *= meta->record.sizes[d];
    return n;
}

static tn_status division_infer(tni_call *call, tni_meta *meta)
{
    const tni_binary_attr *attr = call->attr;
    const tn_tensor *b = call->in[1];
    tn_dtype dtype;
    if (tni_binary_shape(call, meta, &dtype))
        return tni_pending();
    meta->record.dtype = (uint8_t)dtype;
    if (tni_set_loop(call, loops[call->op->family], dtype))
        return tni_pending();
    const bool looks = tni_is_integral(dtype) && numel_of(meta) > 0 && !(b && tni_is_meta(b)) &&
                       !(call->in[0] && tni_is_meta(call->in[0]));
    if (looks && (b ? has_zero(b) : attr->number[1].value.i == 0))
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "integers divided by 0, needed another divisor");
    return TN_OK;
}

static void division_run(const tni_call *call, void *workspace)
{
    static const tni_alpha unused;
    (void)workspace;
    tni_run_pointwise(call, 2, call->compute, &unused);
}

/* g, and -g times the whole quotient. */
static void left_over_vjp(tni_vjp *v, tn_tensor *(*quotient)(tn_tensor *a, tn_tensor *b))
{
    v->grads[0] = v->grad;
    if (!tni_needs(v, 1))
        return;
    tn_tensor *a = tni_saved_input(v, 0), *b = tni_saved_input(v, 1);
    if (!a && !tni_pending())
        a = tn_full(NULL, 0, tni_number_of(v, 0), (tn_dtype)b->dtype);
    tn_grad_mode mode = tn_no_grad(); /* the quotient moves in steps */
    tn_tensor *whole = quotient(a, b);
    tn_grad_mode_restore(mode);
    v->grads[1] = tn_mul(tn_neg(v->grad), whole);
}

static void remainder_vjp(tni_vjp *v)
{
    left_over_vjp(v, tn_floor_divide);
}

static void fmod_vjp(tni_vjp *v)
{
    left_over_vjp(v, tn_trunc_divide);
}

static void trunc_divide_vjp(tni_vjp *v)
{
    for (int i = 0; i < 2; i++)
        if (tni_needs(v, i))
            v->grads[i] = tni_no_slope(v);
}

static void floor_divide_vjp(tni_vjp *v)
{
    TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "backward", "\"%s\" has no derivative", v->node->op->name[v->node->form]);
}

static const char *remainder_named(const tni_node *node)
{
    return ((const tni_binary_attr *)node->attr)->numbers & 2 ? "RemainderBackward0" : "RemainderBackward1";
}

static const char *fmod_named(const tni_node *node)
{
    return ((const tni_binary_attr *)node->attr)->numbers & 2 ? "FmodBackward0" : "FmodBackward1";
}

enum { BOTH = TNI_SAVE(0) | TNI_SAVE(1) };
static const tni_derivative remainder_derivative = {.saves = {0, BOTH}, .vjp = remainder_vjp,
                                                    .named = remainder_named};
static const tni_derivative fmod_derivative = {.saves = {0, BOTH}, .vjp = fmod_vjp, .named = fmod_named};
static const tni_derivative trunc_divide_derivative = {
    .name = "DivBackward2", .saves = {TNI_SAVE(1), BOTH}, .vjp = trunc_divide_vjp};

static const tni_derivative floor_divide_derivative = {.name = "NotImplemented", .vjp = floor_divide_vjp};

#define DIVISION(op, row, its_derivative)                                                                              \
    const tni_op tni_op_##op = {                                                                                       \
        .name = TNI_NAMES(op),                                                                                         \
        .params = {TNI_OPERAND("self", 0, tni_binary_attr, number[0]),                                                 \
                   TNI_OPERAND("other", 1, tni_binary_attr, number[1])},                                               \
        .n_params = 2, .n_in = 2, .n_out = 1, .number_in = 3, .dtypes = TNI_REALS,                                     \
        .attr_bytes = sizeof(tni_binary_attr), .attr_default = &tni_binary_default, .derivative = &its_derivative,     \
        .infer = division_infer, .run = division_run, .family = row,                                                   \
        .samples = "[3,4] [3,4] | [3,4] [4] | [] [2,3] | [0,4] [4] | [3,4] 2 | [5] 2.5 | 3 [5] | [2,3,4] [3,1] | "     \
                   "! [3] [4] | ! 1 2"};                                                                               \
                                                                                                                       \
    TNI_BINARY_FRONTS(op)
DIVISION(floor_divide, FLOOR_DIVIDE, floor_divide_derivative)
DIVISION(trunc_divide, TRUNC_DIVIDE, trunc_divide_derivative)
DIVISION(remainder, REMAINDER, remainder_derivative)
DIVISION(fmod, FMOD, fmod_derivative)
