/* The dtype table, promotion, casts.
 *
 * Promotion is by kind (bool < integers < floats < complex); within integers by width, signed over unsigned of the same
 * width one step wider; float16 with bfloat16 gives float32. Source: PyTorch 2.15's recorded promotion tables. */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

_Static_assert(TN_DTYPE_COUNT <= 32, "a set of dtypes is a uint32_t");

const tni_dtype_facts tni_dtypes[TN_DTYPE_COUNT] = {
#define TN_DTYPE(NAME, text, bytes, kind) [TN_##NAME] = {text, bytes, TNI_##kind},
#include <tenon/dtype.def>
#undef TN_DTYPE
};

static _Thread_local tn_dtype default_dtype __attribute__((tls_model("initial-exec"))) = TN_FLOAT32;

tn_status tni_check_dtype(const char *function, tn_dtype dtype)
{
    if (tni_dtype_valid(dtype))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_DTYPE, function, "found dtype %d, needed one of tn_dtype", (int)dtype);
}

const char *tn_dtype_name(tn_dtype dtype)
{
    return tni_dtype_valid(dtype) ? tni_dtypes[dtype].text : "invalid";
}

tn_dtype tn_dtype_from_name(const char *name)
{
    if (tni_pending())
        return TN_DTYPE_NONE;
    if (!name) {
        TNI_FAIL_NULL("dtype_from_name", 1, "name");
        return TN_DTYPE_NONE;
    }
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
        if (strcmp(tni_dtypes[dtype].text, name) == 0)
            return (tn_dtype)dtype;
    TNI_FAIL(TN_ERROR_NAME, "dtype_from_name", "found \"%.40s\", needed a dtype such as \"float32\"", name);
    return TN_DTYPE_NONE;
}

size_t tn_itemsize(tn_dtype dtype)
{
    return tni_dtype_valid(dtype) ? tni_dtypes[dtype].bytes : 0;
}

bool tn_is_floating_point(tn_dtype dtype)
{
    return tni_dtype_valid(dtype) && tni_is_float(dtype);
}

bool tn_is_complex(tn_dtype dtype)
{
    return tni_dtype_valid(dtype) && tni_dtype_kind(dtype) == TNI_COMPLEX;
}

bool tn_is_signed(tn_dtype dtype)
{
    if (!tni_dtype_valid(dtype))
        return false;
    tni_kind kind = tni_dtype_kind(dtype);
    if (dtype == TN_FLOAT8_E8M0FNU) /* powers of two alone */
        return false;
    return dtype == TN_QINT8 || dtype == TN_QINT32 || (kind >= TNI_INT && kind <= TNI_COMPLEX);
}

/* The floating dtypes by their exponent and mantissa bits and the codes that are left for numbers. */
static const tn_float_facts float_facts[TN_DTYPE_COUNT] = {
    [TN_FLOAT16] = {16, 0x1p-10, 65504, -65504, 0x1p-14, 1e-3},
    [TN_BFLOAT16] = {16, 0x1p-7, 0x1.fep127, -0x1.fep127, 0x1p-126, 1e-2},
    [TN_FLOAT32] = {32, 0x1p-23, 0x1.fffffep127, -0x1.fffffep127, 0x1p-126, 1e-6},
    [TN_FLOAT64] = {64, 0x1p-52, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1p-1022, 1e-15},
    [TN_FLOAT8_E4M3FN] = {8, 0x1p-3, 448, -448, 0x1p-6, 1},
    [TN_FLOAT8_E4M3FNUZ] = {8, 0x1p-3, 240, -240, 0x1p-7, 1},
    [TN_FLOAT8_E5M2] = {8, 0x1p-2, 57344, -57344, 0x1p-14, 1},
    [TN_FLOAT8_E5M2FNUZ] = {8, 0x1p-2, 57344, -57344, 0x1p-15, 1},
    [TN_FLOAT8_E8M0FNU] = {8, 1, 0x1p127, 0x1p-127, 0x1p-127, 1},
};

tn_float_facts tn_finfo(tn_dtype dtype)
{
    const tn_float_facts none = {0, 0, 0, 0, 0, 0};
    if (tni_pending() || tni_check_dtype("finfo", dtype))
        return none;
    if (tn_is_complex(dtype))
        dtype = tni_real_dtype(dtype);
    if (float_facts[dtype].bits == 0) {
        TNI_FAIL(TN_ERROR_DTYPE, "finfo", "found %s, needed a floating or complex dtype", tn_dtype_name(dtype));
        return none;
    }
    return float_facts[dtype];
}

tn_integer_facts tn_iinfo(tn_dtype dtype)
{
    tn_integer_facts facts = {0, 0, 0};
    if (tni_pending() || tni_check_dtype("iinfo", dtype))
        return facts;
    if (!tni_is_integral(dtype)) {
        TNI_FAIL(TN_ERROR_DTYPE, "iinfo", "found %s, needed an integer dtype", tn_dtype_name(dtype));
        return facts;
    }
    facts.bits = (int)(8 * tni_itemsize(dtype));
    facts.max = ~UINT64_C(0) >> (64 - facts.bits);
    if (tni_dtype_kind(dtype) == TNI_INT) {
        facts.max >>= 1;
        facts.min = -(int64_t)facts.max - 1;
    }
    return facts;
}

tn_dtype tni_real_dtype(tn_dtype dtype)
{
    switch (dtype) {
    case TN_COMPLEX32:
        return TN_FLOAT16;
    case TN_COMPLEX64:
        return TN_FLOAT32;
    case TN_COMPLEX128:
        return TN_FLOAT64;
    default:
        return dtype;
    }
}

/* Two integer types of which neither is bool; the only unsigned one is uint8. */
static tn_dtype promote_integers(tn_dtype a, tn_dtype b)
{
    bool a_signed = tni_dtypes[a].kind == TNI_INT, b_signed = tni_dtypes[b].kind == TNI_INT;
    if (a_signed && b_signed)
        return tni_itemsize(a) > tni_itemsize(b) ? a : b;
    tn_dtype sign = a_signed ? a : b;
    return sign == TN_INT8 ? TN_INT16 : sign;
}

static tn_dtype to_complex(tn_dtype dtype)
{
    switch (dtype) {
    case TN_FLOAT16:
        return TN_COMPLEX32;
    case TN_FLOAT64:
        return TN_COMPLEX128;
    default:
        return TN_COMPLEX64;
    }
}

static tn_dtype promote_complex(tn_dtype a, tn_dtype b)
{
    bool a_complex = tni_dtypes[a].kind == TNI_COMPLEX, b_complex = tni_dtypes[b].kind == TNI_COMPLEX;
    if (a_complex && b_complex)
        return tni_itemsize(a) > tni_itemsize(b) ? a : b;
    tn_dtype complex = a_complex ? a : b, real = a_complex ? b : a;
    if (tni_dtypes[real].kind != TNI_FLOAT)
        return complex;
    tn_dtype least = to_complex(real);
    return tni_itemsize(least) > tni_itemsize(complex) ? least : complex;
}

/* uint16 to uint64: they promote with real floating dtypes alone. */
static bool is_wide_unsigned(tn_dtype dtype)
{
    return tni_dtype_kind(dtype) == TNI_UINT && dtype != TN_UINT8;
}

tn_dtype tni_promote(tn_dtype a, tn_dtype b)
{
    if (a == b)
        return a;
    tni_kind a_kind = tni_dtype_kind(a), b_kind = tni_dtype_kind(b);
    tni_kind high = a_kind > b_kind ? a_kind : b_kind;
    if (high >= TNI_QUANTIZED || a_kind == TNI_FLOAT8 || b_kind == TNI_FLOAT8)
        return TN_DTYPE_NONE;
    if (high != TNI_FLOAT && (is_wide_unsigned(a) || is_wide_unsigned(b)))
        return TN_DTYPE_NONE;
    if (high == TNI_COMPLEX)
        return promote_complex(a, b);
    if (high == TNI_FLOAT) {
        if (a_kind != TNI_FLOAT || b_kind != TNI_FLOAT)
            return a_kind == TNI_FLOAT ? a : b;
        if (tni_itemsize(a) == tni_itemsize(b)) /* float16 with bfloat16 */
            return TN_FLOAT32;
        return tni_itemsize(a) > tni_itemsize(b) ? a : b;
    }
    if (a_kind == TNI_BOOL || b_kind == TNI_BOOL)
        return a_kind == TNI_BOOL ? b : a;
    return promote_integers(a, b);
}

tn_dtype tn_promote_types(tn_dtype a, tn_dtype b)
{
    if (tni_pending())
        return TN_DTYPE_NONE;
    if (!tni_dtype_valid(a) || !tni_dtype_valid(b)) {
        TNI_FAIL(TN_ERROR_DTYPE, "promote_types", "argument %d is no dtype (%d)", tni_dtype_valid(a) ? 2 : 1,
                 (int)(tni_dtype_valid(a) ? b : a));
        return TN_DTYPE_NONE;
    }
    tn_dtype both = tni_promote(a, b);
    if (both == TN_DTYPE_NONE)
        TNI_FAIL(TN_ERROR_DTYPE, "promote_types", "%s and %s have no common dtype; convert one with tn_to",
                 tn_dtype_name(a), tn_dtype_name(b));
    return both;
}

bool tn_can_cast(tn_dtype from, tn_dtype to)
{
    if (!tni_dtype_valid(from) || !tni_dtype_valid(to))
        return false;
    tni_kind source = tni_dtype_kind(from), target = tni_dtype_kind(to);
    if (source >= TNI_QUANTIZED || target >= TNI_QUANTIZED)
        return from == to;
    if (source == TNI_COMPLEX && target != TNI_COMPLEX)
        return false;
    if (tni_is_float(from) && (target == TNI_BOOL || target == TNI_INT || target == TNI_UINT))
        return false;
    return source == TNI_BOOL || target != TNI_BOOL;
}

tn_status tn_set_default_dtype(tn_dtype dtype)
{
    if (tni_pending())
        return tni_pending();
    if (dtype != TN_FLOAT32 && dtype != TN_FLOAT64 && dtype != TN_FLOAT16 && dtype != TN_BFLOAT16)
        return TNI_FAIL(TN_ERROR_DTYPE, "set_default_dtype", "found %s, needed float16, bfloat16, float32 or float64",
                        tn_dtype_name(dtype));
    default_dtype = dtype;
    return TN_OK;
}

tn_dtype tn_get_default_dtype(void)
{
    return default_dtype;
}

tn_dtype tni_scalar_dtype(tn_scalar scalar)
{
    if (scalar.kind == TN_SCALAR_BOOL)
        return TN_BOOL;
    if (scalar.kind == TN_SCALAR_COMPLEX)
        return to_complex(default_dtype);
    return scalar.kind == TN_SCALAR_INT ? TN_INT64 : default_dtype;
}

static bool merge(tn_dtype *level, tn_dtype dtype)
{
    *level = *level == TN_DTYPE_NONE ? dtype : tni_promote(*level, dtype);
    return *level != TN_DTYPE_NONE;
}

bool tni_result_type_tensor(tni_result_type *state, tn_dtype dtype, int ndim)
{
    return merge(ndim > 0 ? &state->dim : &state->zero_dim, dtype);
}

bool tni_result_type_scalar(tni_result_type *state, tn_scalar scalar)
{
    return merge(&state->number, tni_scalar_dtype(scalar));
}

/* bool, integer, floating, complex: the kinds that priority compares. */
static int category(tn_dtype dtype)
{
    switch (tni_dtype_kind(dtype)) {
    case TNI_BOOL:
        return 0;
    case TNI_UINT:
    case TNI_INT:
        return 1;
    case TNI_FLOAT8:
    case TNI_FLOAT:
        return 2;
    default:
        return 3;
    }
}

/* A level with the ones below it: only a higher kind there changes the dtype. Floats keep their width when numbers or
 * 0-dim tensors make them complex. */
static tn_dtype combine(tn_dtype higher, tn_dtype lower)
{
    if (higher == TN_DTYPE_NONE || lower == TN_DTYPE_NONE)
        return higher == TN_DTYPE_NONE ? lower : higher;
    if (tni_dtype_kind(higher) >= TNI_QUANTIZED || category(higher) >= category(lower))
        return higher;
    if (tni_dtype_kind(lower) == TNI_COMPLEX && tni_dtype_kind(higher) == TNI_FLOAT)
        return to_complex(higher);
    if (tni_dtype_kind(lower) == TNI_COMPLEX && is_wide_unsigned(higher))
        return lower;
    return tni_promote(higher, lower);
}

tn_dtype tni_result_type_of(const tni_result_type *state)
{
    return combine(state->dim, combine(state->zero_dim, state->number));
}

/* The largest number that a dtype takes from a scalar; narrow real floats but the fnuz ones take any (what is too large
 * becomes what their conversion makes of it), as in PyTorch. */
static double largest(tn_dtype dtype)
{
    switch (dtype) {
    case TN_FLOAT32:
    case TN_COMPLEX64:
        return 0x1.fffffep127;
    case TN_COMPLEX32:
        return 65504;
    case TN_FLOAT8_E4M3FNUZ:
    case TN_FLOAT8_E5M2FNUZ:
        return float_facts[dtype].max;
    default:
        return (double)INFINITY;
    }
}

bool tni_scalar_fits(tn_scalar scalar, tn_dtype dtype)
{
    if (scalar.kind == TN_SCALAR_COMPLEX) {
        tn_complex_value z = scalar.value.c;
        if (tni_dtype_kind(dtype) != TNI_COMPLEX)
            return dtype == TN_BOOL || (z.im == 0 && tni_scalar_fits(tn_float(z.re), dtype));
        return tni_scalar_fits(tn_float(z.re), dtype) && tni_scalar_fits(tn_float(z.im), dtype);
    }
    if (!tni_is_integral(dtype)) {
        double value = scalar.kind == TN_SCALAR_FLOAT ? scalar.value.f : (double)scalar.value.i;
        return !isfinite(value) || fabs(value) <= largest(dtype);
    }
    int bits = (int)(8 * tni_itemsize(dtype));
    bool sign = tni_dtype_kind(dtype) == TNI_INT;
    if (scalar.kind == TN_SCALAR_FLOAT) {
        /* 2^63 and 2^64 are doubles; the largest integer of 64 bits is not */
        double low = sign ? -ldexp(1, bits - 1) : 0, high = ldexp(1, sign ? bits - 1 : bits);
        return scalar.value.f >= low && scalar.value.f < high;
    }
    int64_t value = scalar.value.i;
    if (bits == 64)
        return true; /* negative numbers wrap in uint64, as in PyTorch */
    int64_t high = (INT64_C(1) << (sign ? bits - 1 : bits)) - 1;
    return value <= high && value >= (sign ? -high - 1 : -high);
}
