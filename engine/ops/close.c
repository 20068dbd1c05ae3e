/* Comparing tensors as wholes: equal, allclose, assert_close. Rules and report of torch.equal, torch.allclose and
 * torch.testing.assert_close.
 *
 * Both operands are brought to one dtype and row-major order first. Closeness is judged in that dtype (float32
 * arithmetic for float32), as torch.isclose does: actual == expected, or |actual - expected| finite and <= atol +
 * |rtol expected|. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "base/text.h"
#include "core/lazy.h"
#include "core/geometry.h"
#include "core/narrow.h"
#include "core/tensor.h"
#include "dispatch/op.h"

typedef struct tolerance {
    double rtol, atol;
    bool equal_nan;
} tolerance;

/* What a comparison found. */
typedef struct verdict {
    int64_t mismatches;
    double abs, rel;             /* the largest among mismatches, as the dtype has them */
    uint64_t whole;              /* abs of integers */
    int64_t abs_index, rel_index; /* row-major */
} verdict;

/* A pair in one dtype that is judged in (float32, float64, int64 or complex128), contiguous, of one shape. */
typedef struct pair {
    const tn_tensor *a, *b;
    tn_dtype dtype;
    tn_dtype own; /* the dtype that both have, or promote to */
} pair;

/* A float as the pair's own 16-bit dtype has it. */
static float narrowed(const pair *p, float x)
{
    return p->own == TN_FLOAT16 ? tni_f16_to_f32(tni_f32_to_f16(x)) : tni_bf16_to_f32(tni_f32_to_bf16(x));
}

#define T float
#define JUDGE judge_f32
#define ABS fabsf
#define ROUND(x) (x)
#include "ops/close.kernel.h"

#define T float
#define JUDGE judge_half
#define ABS fabsf
#define ROUND(x) narrowed(p, x)
#include "ops/close.kernel.h"

#define T double
#define JUDGE judge_f64
#define ABS fabs
#define ROUND(x) (x)
#include "ops/close.kernel.h"

static bool near_f32(int64_t a, int64_t b, const tolerance *t)
{
    return fabsf((float)a - (float)b) <= (float)t->atol + fabsf((float)t->rtol * (float)b);
}

static bool near_f64(int64_t a, int64_t b, const tolerance *t)
{
    return fabs((double)a - (double)b) <= t->atol + fabs(t->rtol * (double)b);
}

/* Integers are compared exactly; with tolerances in the default float dtype, as torch does. Differences wrap. */
static void judge_i64(const pair *p, const tolerance *t, verdict *v)
{
    const int64_t *a = (const int64_t *)(const void *)tni_data(p->a),
                  *b = (const int64_t *)(const void *)tni_data(p->b);
    const bool wide = tn_get_default_dtype() == TN_FLOAT64;
    for (int64_t i = 0; i < p->a->numel; i++) {
        if (a[i] == b[i] || ((t->rtol != 0 || t->atol != 0) && (wide ? near_f64 : near_f32)(a[i], b[i], t)))
            continue;
        uint64_t exact = a[i] > b[i] ? (uint64_t)a[i] - (uint64_t)b[i] : (uint64_t)b[i] - (uint64_t)a[i];
        float rel = (float)exact / fabsf((float)b[i]);
        if (v->mismatches == 0 || exact > v->whole) {
            v->whole = exact;
            v->abs_index = i;
        }
        if (v->mismatches++ == 0 || rel > v->rel) {
            v->rel = rel;
            v->rel_index = i;
        }
    }
}

/* A number as the parts of the pair's complex dtype have it. */
static double part_rounded(const pair *p, double x)
{
    if (p->own == TN_COMPLEX128)
        return x;
    return (double)(p->own == TN_COMPLEX64 ? (float)x : tni_f16_to_f32(tni_f32_to_f16((float)x)));
}

/* Complex numbers by the size of their difference. */
static void judge_complex(const pair *p, const tolerance *t, verdict *v)
{
    const tn_complex_value *a = (const tn_complex_value *)(const void *)tni_data(p->a),
                           *b = (const tn_complex_value *)(const void *)tni_data(p->b);
    for (int64_t i = 0; i < p->a->numel; i++) {
        double re = part_rounded(p, a[i].re - b[i].re), im = part_rounded(p, a[i].im - b[i].im);
        double gap = part_rounded(p, hypot(re, im)), size = part_rounded(p, hypot(b[i].re, b[i].im));
        bool both_nan = (isnan(a[i].re) || isnan(a[i].im)) && (isnan(b[i].re) || isnan(b[i].im));
        if ((a[i].re == b[i].re && a[i].im == b[i].im) || (t->equal_nan && both_nan) ||
            (isfinite(gap) && gap <= t->atol + t->rtol * size))
            continue;
        double rel = part_rounded(p, gap / size);
        if (v->mismatches == 0 || gap > v->abs || (isnan(gap) && !isnan(v->abs))) {
            v->abs = gap;
            v->abs_index = i;
        }
        if (v->mismatches++ == 0 || rel > v->rel || (isnan(rel) && !isnan(v->rel))) {
            v->rel = rel;
            v->rel_index = i;
        }
    }
}

static void judge(const pair *p, const tolerance *t, verdict *v)
{
    memset(v, 0, sizeof *v);
    if (p->own == TN_FLOAT16 || p->own == TN_BFLOAT16)
        judge_half(p, t, v);
    else if (p->dtype == TN_COMPLEX128)
        judge_complex(p, t, v);
    else if (p->dtype == TN_FLOAT32)
        judge_f32(p, t, v);
    else if (p->dtype == TN_FLOAT64)
        judge_f64(p, t, v);
    else
        judge_i64(p, t, v);
}

/* What both promote to; float8 counts as float32 and uint16 to uint64 as int64 where they meet another dtype. */
static tn_dtype common_dtype(tn_dtype a, tn_dtype b)
{
    if (a == b)
        return a;
    const tn_dtype both[2] = {a, b};
    tn_dtype wide[2];
    for (int i = 0; i < 2; i++) {
        tni_kind kind = tni_dtype_kind(both[i]);
        wide[i] = kind == TNI_FLOAT8 ? TN_FLOAT32 : kind == TNI_UINT && both[i] != TN_UINT8 ? TN_INT64 : both[i];
    }
    return tni_promote(wide[0], wide[1]);
}

/* Brings both to one shape, dtype and order; the copies belong to the innermost scope. */
/* The operand with elements that can be read one after another. */
static tn_tensor *comparable(const char *function, tn_tensor *x, const int64_t *sizes, int ndim, tn_dtype dtype)
{
    if (tni_is_lazy(x) && !(x = tni_resolved(function, x)))
        return NULL;
    return tn_contiguous(tn_to(tn_expand(x, sizes, ndim), dtype));
}

static tn_status make_pair(const char *function, tn_tensor *a, tn_tensor *b, pair *p)
{
    static const tn_dtype judged[] = {[TNI_BOOL] = TN_INT64, [TNI_UINT] = TN_INT64, [TNI_INT] = TN_INT64,
                                      [TNI_FLOAT8] = TN_FLOAT32, [TNI_FLOAT] = TN_FLOAT32,
                                      [TNI_COMPLEX] = TN_COMPLEX128};
    tn_dtype dtype = common_dtype((tn_dtype)a->dtype, (tn_dtype)b->dtype);
    p->own = dtype;
    if (dtype != TN_DTYPE_NONE && tni_dtype_kind(dtype) < TNI_QUANTIZED)
        dtype = dtype == TN_FLOAT64 ? dtype : judged[tni_dtype_kind(dtype)];
    else
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, function, "no kernel for %s and %s on cpu",
                        tn_dtype_name((tn_dtype)a->dtype), tn_dtype_name((tn_dtype)b->dtype));
    if (tni_is_meta(a) || tni_is_meta(b))
        return TNI_FAIL(TN_ERROR_DEVICE, function, "argument %d is on meta, which has no values",
                        tni_is_meta(a) ? 1 : 2);
    int64_t sizes[TN_MAX_NDIM];
    int ndim = tni_broadcast(function, a->sizes, a->ndim, b->sizes, b->ndim, sizes);
    if (ndim < 0)
        return tni_pending();
    p->a = comparable(function, a, sizes, ndim, dtype);
    p->b = comparable(function, b, sizes, ndim, dtype);
    p->dtype = dtype;
    return p->a && p->b ? TN_OK : tni_pending();
}

static tn_status check_two(const char *function, const tn_tensor *a, const tn_tensor *b)
{
    if (tni_check_tensor(function, 1, "a", a))
        return tni_pending();
    return tni_check_tensor(function, 2, "b", b);
}

static tn_status check_same_dtype(const char *function, const tn_tensor *a, const tn_tensor *b)
{
    if (a->dtype == b->dtype)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_DTYPE, function, "a is %s and b is %s, needed the same; convert one with tn_to",
                    tn_dtype_name((tn_dtype)a->dtype), tn_dtype_name((tn_dtype)b->dtype));
}

bool tn_equal(tn_tensor *a, tn_tensor *b)
{
    const tolerance exact = {0, 0, false};
    pair p;
    verdict v = {.mismatches = 1};
    if (check_two("equal", a, b))
        return false;
    if (!tni_same_dims(a->sizes, a->ndim, b->sizes, b->ndim))
        return false;
    tn_scope scope = tn_scope_begin();
    if (make_pair("equal", a, b, &p) == TN_OK)
        judge(&p, &exact, &v);
    tn_scope_end(scope);
    return v.mismatches == 0;
}

static tn_status check_tolerances(const char *function, double rtol, double atol)
{
    if (rtol >= 0 && atol >= 0)
        return TN_OK;
    char text[40];
    tni_text_double(text, sizeof text, rtol >= 0 ? atol : rtol);
    return TNI_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed 0 or more", rtol >= 0 ? "atol" : "rtol", text);
}

bool tn_allclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan)
{
    const tolerance t = {rtol, atol, equal_nan};
    pair p;
    verdict v = {.mismatches = 1};
    if (check_two("allclose", a, b) || check_same_dtype("allclose", a, b) || check_tolerances("allclose", rtol, atol))
        return false;
    tn_scope scope = tn_scope_begin();
    if (make_pair("allclose", a, b, &p) == TN_OK)
        judge(&p, &t, &v);
    tn_scope_end(scope);
    return v.mismatches == 0;
}

/* torch.testing's default tolerances. */
static void default_tolerance(tn_dtype dtype, double *rtol, double *atol)
{
    static const double table[TN_DTYPE_COUNT][2] = {
        [TN_FLOAT16] = {1e-3, 1e-5},    [TN_BFLOAT16] = {1.6e-2, 1e-5}, [TN_FLOAT32] = {1.3e-6, 1e-5},
        [TN_FLOAT64] = {1e-7, 1e-7},    [TN_COMPLEX32] = {1e-3, 1e-5},  [TN_COMPLEX64] = {1.3e-6, 1e-5},
        [TN_COMPLEX128] = {1e-7, 1e-7},
    };
    *rtol = table[dtype][0];
    *atol = table[dtype][1];
}

/* Python's text of a tuple: "(2, 3)", "(2,)", "()". */
static void tuple_text(char *buf, size_t size, const int64_t *numbers, int n)
{
    tni_text_shape(buf, size, numbers, n);
    size_t length = strlen(buf);
    buf[0] = '(';
    if (n == 1 && length + 2 <= size) {
        buf[length - 1] = ',';
        buf[length++] = ')';
        buf[length] = '\0';
    } else {
        buf[length - 1] = ')';
    }
}

static void index_text(char *buf, size_t size, const tn_tensor *x, int64_t flat)
{
    int64_t index[TN_MAX_NDIM];
    for (int d = x->ndim - 1; d >= 0; d--) {
        index[d] = flat % x->sizes[d];
        flat /= x->sizes[d];
    }
    tuple_text(buf, size, index, x->ndim);
}

#define REPORT(...) tni_fail_report(TN_ERROR_NOT_CLOSE, "assert_close", __FILE__, __LINE__, __VA_ARGS__)

/* The attributes, in torch's order; TN_OK when they match. */
static tn_status compare_attributes(const tn_tensor *actual, const tn_tensor *expected,
                                    const tn_assert_close_options *options)
{
    char a[140], b[140];
    if (!tni_same_dims(actual->sizes, actual->ndim, expected->sizes, expected->ndim)) {
        tni_text_shape(a, sizeof a, actual->sizes, actual->ndim);
        tni_text_shape(b, sizeof b, expected->sizes, expected->ndim);
        return REPORT("The values for attribute 'shape' do not match: torch.Size(%s) != torch.Size(%s).", a, b);
    }
    if (options->check_stride &&
        !tni_same_dims(actual->strides, actual->ndim, expected->strides, expected->ndim)) {
        tuple_text(a, sizeof a, actual->strides, actual->ndim);
        tuple_text(b, sizeof b, expected->strides, expected->ndim);
        return REPORT("The values for attribute 'stride()' do not match: %s != %s.", a, b);
    }
    if (actual->device != expected->device)
        return REPORT("The values for attribute 'device' do not match: %s != %s.",
                      tn_device_type_name((tn_device_type)actual->device),
                      tn_device_type_name((tn_device_type)expected->device));
    if (!options->ignore_dtype && actual->dtype != expected->dtype)
        return REPORT("The values for attribute 'dtype' do not match: torch.%s != torch.%s.",
                      tn_dtype_name((tn_dtype)actual->dtype), tn_dtype_name((tn_dtype)expected->dtype));
    return TN_OK;
}

/* One whole number as Python prints it. */
static void whole_text(char *buf, size_t size, int64_t value, bool truth)
{
    if (truth)
        snprintf(buf, size, "%s", value ? "True" : "False");
    else
        snprintf(buf, size, "%lld", (long long)value);
}

/* The report on 0-dim tensors: the values, and their difference as Python works it out, in float64 or whole numbers.
 * `truth`: both are bool. */
/* A complex number as Python prints it: (1+2j), or 2j where the real part is 0. */
static void complex_text(char *buf, size_t size, tn_complex_value z)
{
    char re[40], im[40];
    char *const both[2] = {re, im};
    tni_text_double(re, sizeof re, z.re);
    tni_text_double(im, sizeof im, z.im);
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(both[i]);
        if (length > 2 && strcmp(both[i] + length - 2, ".0") == 0)
            both[i][length - 2] = '\0';
    }
    if (z.re == 0 && !signbit(z.re))
        snprintf(buf, size, "%sj", im);
    else
        snprintf(buf, size, "(%s%s%sj)", re, im[0] == '-' ? "" : "+", im);
}

static tn_status report_scalars(const pair *p, const tolerance *t, bool truth)
{
    char a[90], b[90], gap[40], ratio[40], atol[40], rtol[40], abs_allowed[64] = "", rel_allowed[64] = "";
    bool equality = t->rtol == 0 && t->atol == 0;
    double rel;
    if (p->dtype == TN_INT64) {
        int64_t x = tn_item_i64(p->a), y = tn_item_i64(p->b);
        uint64_t exact = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
        uint64_t size = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
        rel = y == 0 ? (double)INFINITY : (double)((long double)exact / (long double)size);
        whole_text(a, sizeof a, x, truth);
        whole_text(b, sizeof b, y, truth);
        snprintf(gap, sizeof gap, "%llu", (unsigned long long)exact);
    } else if (p->dtype == TN_COMPLEX128) {
        tn_complex_value x = tn_item_scalar(p->a).value.c, y = tn_item_scalar(p->b).value.c;
        double difference = hypot(x.re - y.re, x.im - y.im), size = hypot(y.re, y.im);
        rel = size == 0 ? (double)INFINITY : difference / size;
        complex_text(a, sizeof a, x);
        complex_text(b, sizeof b, y);
        tni_text_double(gap, sizeof gap, difference);
    } else {
        double x = tn_item(p->a), y = tn_item(p->b), difference = fabs(x - y);
        rel = y == 0 ? (double)INFINITY : difference / fabs(y);
        tni_text_double(a, sizeof a, x);
        tni_text_double(b, sizeof b, y);
        tni_text_double(gap, sizeof gap, difference);
    }
    tni_text_double(ratio, sizeof ratio, rel);
    tni_text_double(atol, sizeof atol, t->atol);
    tni_text_double(rtol, sizeof rtol, t->rtol);
    if (!equality) {
        snprintf(abs_allowed, sizeof abs_allowed, " (up to %s allowed)", atol);
        snprintf(rel_allowed, sizeof rel_allowed, " (up to %s allowed)", rtol);
    }
    return REPORT("Scalars are not %s!\n\nExpected %s but got %s.\n"
                  "Absolute difference: %s%s\nRelative difference: %s%s",
                  equality ? "equal" : "close", b, a, gap, abs_allowed, ratio, rel_allowed);
}

/* Two tensors of one float8 dtype are equal in all bits or not: no tolerance, and no differences to report. */
static tn_status compare_bits(tn_tensor *actual, tn_tensor *expected, const tolerance *t)
{
    char share[40], at[120];
    int64_t first = -1, mismatches = 0;
    if (t->rtol != 0 || t->atol != 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "assert_close", "a tolerance for %s, needed 0: its bits are compared",
                        tn_dtype_name((tn_dtype)actual->dtype));
    const tn_tensor *a = tn_contiguous(actual), *b = tn_contiguous(expected);
    if (!a || !b)
        return tni_pending();
    const unsigned char *x = (const unsigned char *)tni_data(a), *y = (const unsigned char *)tni_data(b);
    for (int64_t i = 0; i < a->numel; i++) {
        if (x[i] == y[i])
            continue;
        first = first < 0 ? i : first;
        mismatches++;
    }
    if (mismatches == 0)
        return TN_OK;
    tni_text_fixed(share, sizeof share, 100.0 * ((double)mismatches / (double)a->numel), 1);
    index_text(at, sizeof at, a, first);
    return REPORT("Tensor-likes are not 'equal'!\n\nMismatched elements: %lld / %lld (%s%%)\n"
                  "The first mismatched element is at index %s.",
                  (long long)mismatches, (long long)a->numel, share, at);
}

static tn_status report_mismatch(const pair *p, const tolerance *t, const verdict *v)
{
    char abs[40], rel[40], share[40], abs_at[120], rel_at[120], atol[40], rtol[40], abs_allowed[64] = "",
                                                                                    rel_allowed[64] = "";
    bool equality = t->rtol == 0 && t->atol == 0;
    if (p->dtype == TN_INT64)
        snprintf(abs, sizeof abs, "%llu", (unsigned long long)v->whole);
    else
        tni_text_double(abs, sizeof abs, v->abs);
    tni_text_double(rel, sizeof rel, v->rel);
    tni_text_fixed(share, sizeof share, 100.0 * ((double)v->mismatches / (double)p->a->numel), 1);
    index_text(abs_at, sizeof abs_at, p->a, v->abs_index);
    index_text(rel_at, sizeof rel_at, p->a, v->rel_index);
    tni_text_double(atol, sizeof atol, t->atol);
    tni_text_double(rtol, sizeof rtol, t->rtol);
    if (!equality) {
        snprintf(abs_allowed, sizeof abs_allowed, " (up to %s allowed)", atol);
        snprintf(rel_allowed, sizeof rel_allowed, " (up to %s allowed)", rtol);
    }
    return REPORT("Tensor-likes are not %s!\n\nMismatched elements: %lld / %lld (%s%%)\n"
                  "Greatest absolute difference: %s at index %s%s\nGreatest relative difference: %s at index %s%s",
                  equality ? "equal" : "close", (long long)v->mismatches, (long long)p->a->numel, share, abs, abs_at,
                  abs_allowed, rel, rel_at, rel_allowed);
}

tn_status tn_assert_close(tn_tensor *actual, tn_tensor *expected, const tn_assert_close_options *options)
{
    static const tn_assert_close_options defaults;
    if (tni_check_tensor("assert_close", 1, "actual", actual) ||
        tni_check_tensor("assert_close", 2, "expected", expected))
        return tni_pending();
    if (!options)
        options = &defaults;
    tolerance t = {options->rtol, options->atol, options->equal_nan};
    if (options->tolerances_given) {
        if (check_tolerances("assert_close", t.rtol, t.atol))
            return tni_pending();
    } else {
        double rtol, atol;
        default_tolerance((tn_dtype)actual->dtype, &t.rtol, &t.atol);
        default_tolerance((tn_dtype)expected->dtype, &rtol, &atol);
        t.rtol = rtol > t.rtol ? rtol : t.rtol;
        t.atol = atol > t.atol ? atol : t.atol;
    }
    if (compare_attributes(actual, expected, options))
        return tni_pending();
    pair p;
    verdict v;
    tn_scope scope = tn_scope_begin();
    bool bitwise = actual->dtype == expected->dtype && tni_dtype_kind((tn_dtype)actual->dtype) == TNI_FLOAT8;
    if (bitwise && (t.rtol != 0 || t.atol != 0 || (actual->ndim > 0 && !tni_is_meta(actual))))
        compare_bits(actual, expected, &t);
    else if (make_pair("assert_close", actual, expected, &p) == TN_OK) {
        judge(&p, &t, &v);
        if (v.mismatches > 0 && actual->ndim == 0)
            report_scalars(&p, &t, (tn_dtype)actual->dtype == TN_BOOL && (tn_dtype)expected->dtype == TN_BOOL);
        else if (v.mismatches > 0)
            report_mismatch(&p, &t, &v);
    }
    tn_scope_end(scope);
    return tni_pending();
}
