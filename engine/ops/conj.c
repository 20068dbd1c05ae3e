/* Operators that set, ask and settle the lazy bits of a tensor (core/lazy.h): conj, resolve_conj, resolve_neg.
 * Rules of torch. */
#include <tenon/lazy.h>
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "core/lazy.h"
#include "ops/copy.h"
#include "ops/operators.h"
#include "ops/tape.h"

static bool is_complex(const tn_tensor *x)
{
    return tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX;
}

/* Of a real tensor: itself. */
static tn_status conj_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    if (!is_complex(x)) {
        meta->same = x;
        return TN_OK;
    }
    tni_meta_view(meta, x);
    meta->record.toggle = tni_toggle(TNI_KEY_CONJ);
    return TN_OK;
}

static tn_status resolve(tni_call *call, tni_meta *meta, uint64_t key)
{
    tn_tensor *x = call->in[0];
    if (x->keys & key)
        tni_meta_like(meta, x, (tn_dtype)x->dtype);
    else
        meta->same = x;
    return TN_OK;
}

static tn_status resolve_conj_infer(tni_call *call, tni_meta *meta)
{
    return resolve(call, meta, TNI_KEY_CONJ);
}

static tn_status resolve_neg_infer(tni_call *call, tni_meta *meta)
{
    return resolve(call, meta, TNI_KEY_NEG);
}

/* For META alone: elsewhere the lazy layer hands over a tensor whose bit is gone, which is the result. */
static void copy_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    const tn_tensor *out = call->out[0];
    tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, call->in[0]);
}

static void conj_vjp(tni_vjp *v)
{
    v->grads[0] = tn_conj(v->grad);
}

static const tni_derivative conj_derivative = {.linear = true, .vjp = conj_vjp};
static const tni_derivative resolve_conj_derivative = {.name = "CloneBackward0", .linear = true, .vjp = tni_vjp_pass};
static const tni_derivative resolve_neg_derivative = {.name = "CloneBackward0", .linear = true, .vjp = tni_vjp_pass};

#define LAZY_OP(op, text)                                                                                              \
    const tni_op tni_op_##op = {.name = TNI_NAMES_NEW(op), .params = {TNI_TENSOR("self", 0)}, .n_params = 1,           \
                                .n_in = 1, .n_out = 1, .infer = op##_infer, .run = copy_run, .samples = text,          \
                                .derivative = &op##_derivative};                                                       \
                                                                                                                       \
    tn_tensor *tn_##op(tn_tensor *x)                                                                                   \
    {                                                                                                                  \
        return tni_call_new(&tni_op_##op, &x, NULL);                                                                   \
    }

LAZY_OP(conj, "[3,4] | [] | [0,3]")
LAZY_OP(resolve_conj, "[3,4] | []")
LAZY_OP(resolve_neg, "[3,4] | []")

tn_tensor *tn_conj_physical(tn_tensor *x)
{
    if (x && !is_complex(x))
        return tn_conj(x); /* itself */
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = tn_conj(x);
    y = y ? (y->keys & TNI_KEY_CONJ ? tn_resolve_conj(y) : tn_clone(y)) : NULL;
    if (y)
        tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

tn_tensor *tn_zero_tensor(const int64_t *size, int ndim, tn_dtype dtype)
{
    const char *name = "zero_tensor";
    int64_t strides[TN_MAX_NDIM], bytes;
    if (tni_pending() || tni_check_sizes(name, size, ndim))
        return NULL;
    if (dtype == TN_DTYPE_NONE)
        dtype = tn_get_default_dtype();
    if (tni_check_dtype(name, dtype))
        return NULL;
    tni_record record = {
        .dtype = (uint8_t)dtype, .ndim = (int8_t)ndim, .sizes = size, .strides = strides, .contiguous = true};
    if (!tni_numel(size, ndim, &record.numel) || !tni_mul_i64(record.numel, tni_itemsize(dtype), &bytes)) {
        TNI_FAIL(TN_ERROR_OVERFLOW, name, "the sizes count more bytes than 64 bits");
        return NULL;
    }
    tni_contiguous_strides(size, ndim, strides);
    return tni_zero_tensor(name, &record);
}

static bool has_key(const char *function, const tn_tensor *x, uint64_t key)
{
    if (!x && !tni_pending())
        TNI_FAIL_NULL(function, 1, "x");
    return x && x->keys & key;
}

bool tn_is_conj(const tn_tensor *x)
{
    return has_key("is_conj", x, TNI_KEY_CONJ);
}

bool tn_is_neg(const tn_tensor *x)
{
    return has_key("is_neg", x, TNI_KEY_NEG);
}

bool tn_is_zero_tensor(const tn_tensor *x)
{
    return has_key("is_zero_tensor", x, TNI_KEY_ZERO);
}
