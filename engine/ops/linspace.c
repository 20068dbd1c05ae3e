/* eye and linspace. Rules of torch's functions of these names. */
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "ops/create.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"

typedef struct eye_attr {
    int64_t n, m; /* m -1: as n */
    tn_dtype dtype;
} eye_attr;

typedef struct linspace_attr {
    tn_scalar start, end;
    int64_t n;
    tn_dtype dtype;
} linspace_attr;

static tn_status eye_infer(tni_call *call, tni_meta *meta)
{
    const eye_attr *attr = call->attr;
    tn_dtype dtype = attr->dtype == TN_DTYPE_NONE ? tn_get_default_dtype() : attr->dtype;
    if (attr->n < 0 || attr->m < -1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "eye", "%lld %s, needed 0 or more",
                        (long long)(attr->n < 0 ? attr->n : attr->m), attr->n < 0 ? "rows" : "columns");
    if (tni_check_dtype("eye", dtype) || tni_check_value("eye", tn_int(1), dtype))
        return tni_pending();
    meta->room[0] = attr->n;
    meta->room[1] = attr->m == -1 ? attr->n : attr->m;
    return tni_meta_contiguous(call, meta, 2, dtype, tn_get_default_device().type);
}

static void eye_run(const tni_call *call, void *workspace)
{
    const tn_tensor *out = call->out[0];
    tn_dtype dtype = (tn_dtype)out->dtype;
    int64_t n = out->sizes[0] < out->sizes[1] ? out->sizes[0] : out->sizes[1];
    (void)workspace;
    tni_fill(out, tn_int(0));
    for (int64_t i = 0; i < n; i++)
        tni_scalar_to(tn_int(1), dtype, tni_data(out) + i * (out->strides[0] + out->strides[1]) * tni_itemsize(dtype));
}

static tn_status linspace_infer(tni_call *call, tni_meta *meta)
{
    const linspace_attr *attr = call->attr;
    bool complex = attr->start.kind == TN_SCALAR_COMPLEX || attr->end.kind == TN_SCALAR_COMPLEX;
    tn_dtype dtype = attr->dtype;
    if (attr->n < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "linspace", "%lld steps, needed 0 or more", (long long)attr->n);
    if (dtype == TN_DTYPE_NONE)
        dtype = complex ? tni_scalar_dtype(tn_complex(0, 0)) : tn_get_default_dtype();
    if (tni_check_dtype("linspace", dtype))
        return tni_pending();
    if (complex && tni_dtype_kind(dtype) != TNI_COMPLEX)
        return TNI_FAIL(TN_ERROR_DTYPE, "linspace", "complex bounds and dtype %s, needed a complex dtype",
                        tn_dtype_name(dtype));
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "linspace", "no kernel for %s on cpu", tn_dtype_name(dtype));
    if (tni_check_value("linspace", attr->start, dtype) || tni_check_value("linspace", attr->end, dtype))
        return tni_pending();
    meta->room[0] = attr->n;
    return tni_meta_contiguous(call, meta, 1, dtype, tn_get_default_device().type);
}

/* Element i of n from a to b. In float32 for it and narrower floats, in float64 for the others. */
static double between(double a, double b, int64_t i, int64_t n, bool single)
{
    if (n == 1)
        return a;
    if (single) {
        float first = (float)a, last = (float)b, step = (last - first) / (float)(n - 1);
        return (double)(i < n / 2 ? first + step * (float)i : last - step * (float)(n - i - 1));
    }
    double step = (b - a) / (double)(n - 1);
    return i < n / 2 ? a + step * (double)i : b - step * (double)(n - i - 1);
}

static tn_complex_value parts(tn_scalar scalar, tn_dtype dtype)
{
    tn_complex_value z = {tni_scalar_real(scalar), scalar.kind == TN_SCALAR_COMPLEX ? scalar.value.c.im : 0};
    if (tni_is_integral(dtype))
        z.re = trunc(z.re);
    return z;
}

static void linspace_run(const tni_call *call, void *workspace)
{
    const linspace_attr *attr = call->attr;
    const tn_tensor *out = call->out[0];
    tn_dtype dtype = (tn_dtype)out->dtype;
    tn_complex_value a = parts(attr->start, dtype), b = parts(attr->end, dtype);
    bool single = dtype == TN_FLOAT32 || dtype == TN_FLOAT16 || dtype == TN_BFLOAT16 || dtype == TN_COMPLEX64;
    bool complex = tni_dtype_kind(dtype) == TNI_COMPLEX;
    char *y = tni_data(out);
    (void)workspace;
    for (int64_t i = 0; i < attr->n; i++, y += out->strides[0] * tni_itemsize(dtype)) {
        double re = between(a.re, b.re, i, attr->n, single);
        tni_scalar_to(complex ? tn_complex(re, between(a.im, b.im, i, attr->n, single)) : tn_float(re), dtype, y);
    }
}

const tni_op tni_op_eye = {
    .name = TNI_NAMES_NEW(eye),
    .params = {TNI_ATTR("n", 'I', eye_attr, n), TNI_OPTIONAL("m", 'I', eye_attr, m),
               TNI_OPTIONAL("dtype", 'D', eye_attr, dtype)},
    .n_params = 3, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(eye_attr),
    .attr_default = &(const eye_attr){0, -1, TN_DTYPE_NONE}, .infer = eye_infer, .run = eye_run,
    .samples = "3 | 2 4 | 4 2 | 0 | 3 0 | ! -1 | ! 2 -2"};

const tni_op tni_op_linspace = {
    .name = TNI_NAMES_NEW(linspace),
    .params = {TNI_ATTR("start", 'S', linspace_attr, start), TNI_ATTR("end", 'S', linspace_attr, end),
               TNI_ATTR("steps", 'I', linspace_attr, n), TNI_OPTIONAL("dtype", 'D', linspace_attr, dtype)},
    .n_params = 4, .n_out = 1, .dtypes = TNI_REALS | TNI_COMPLEXES, .attr_bytes = sizeof(linspace_attr),
    .attr_default = &(const linspace_attr){.dtype = TN_DTYPE_NONE}, .infer = linspace_infer, .run = linspace_run,
    .samples = "0 1 5 | 0 10 3 | 3 3 4 | 1 0 1 | 0 1 0 | 5 1 9 | ! 0 1 -1"};

tn_tensor *tn_eye(int64_t n, int64_t m, tn_dtype dtype)
{
    const eye_attr attr = {n, m, dtype};
    return tni_call_new(&tni_op_eye, NULL, &attr);
}

tn_tensor *tn_linspace(tn_scalar start, tn_scalar end, int64_t n, tn_dtype dtype)
{
    const linspace_attr attr = {start, end, n, dtype};
    return tni_call_new(&tni_op_linspace, NULL, &attr);
}
