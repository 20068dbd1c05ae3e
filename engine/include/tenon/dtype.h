/* What one element of a tensor holds, and numbers that know what they are. */
#ifndef TENON_DTYPE_H
#define TENON_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>

TN_BEGIN

typedef enum tn_dtype {
#define TN_DTYPE(NAME, text, bytes, kind) TN_##NAME,
#include <tenon/dtype.def>
#undef TN_DTYPE
    TN_DTYPE_COUNT,
    TN_DTYPE_NONE = -1 /* "no dtype given": the function's own rule decides */
} tn_dtype;

/* PyTorch's name without "torch.", such as "float32"; "invalid" for a number that is no dtype. Never NULL.
 * errors  none */
TN_API const char *tn_dtype_name(tn_dtype dtype);

/* The dtype of that name, such as "float32".
 * errors  TN_ERROR_NULL, TN_ERROR_NAME (no dtype has it); then TN_DTYPE_NONE */
TN_API tn_dtype tn_dtype_from_name(const char *name);

/* Bytes of one element; 0 for a number that is no dtype.
 * errors  none */
TN_API size_t tn_itemsize(tn_dtype dtype);

/* Whether it is float16 to float64, bfloat16 or a float8 type; false for a number that is no dtype.
 * errors  none */
TN_API bool tn_is_floating_point(tn_dtype dtype);

/* Whether its elements have an imaginary part; whether they can be negative (PyTorch's answer: false for unsigned
 * integers, bool, float8_e8m0fnu, quint8 and the packed and bits types). False for a number that is no dtype.
 * errors  none */
TN_API bool tn_is_complex(tn_dtype dtype);
TN_API bool tn_is_signed(tn_dtype dtype);

/* The facts of a floating dtype.
 * eps              the gap between 1 and the next larger number
 * smallest_normal  the smallest positive number of full precision
 * resolution       10 to the power of minus the decimal digits that it keeps
 * dtype    floating or complex (then the facts of its parts)
 * errors   TN_ERROR_DTYPE; then all zero
 * source   torch.finfo */
typedef struct tn_float_facts {
    int bits;
    double eps, max, min, smallest_normal, resolution;
} tn_float_facts;
TN_API tn_float_facts tn_finfo(tn_dtype dtype);

/* The range of an integer dtype.
 * dtype    int8 to int64, uint8 to uint64
 * errors   TN_ERROR_DTYPE; then all zero
 * source   torch.iinfo */
typedef struct tn_integer_facts {
    int bits;
    int64_t min;
    uint64_t max;
} tn_integer_facts;
TN_API tn_integer_facts tn_iinfo(tn_dtype dtype);

/* The smallest dtype that both fit in by PyTorch's rules (bool < integers < floats < complex).
 * errors  TN_ERROR_DTYPE for pairs that PyTorch does not promote: uint16 to uint64 with bool, integers or complex, two
 *         different float8 or one with another type, quantised and bits types with any other; then TN_DTYPE_NONE
 * source  torch.promote_types */
TN_API tn_dtype tn_promote_types(tn_dtype a, tn_dtype b);

/* Whether a result of dtype `from` may be written into a tensor of dtype `to`: not from complex to real, from float to
 * integer, nor from anything to bool but bool. False for a number that is no dtype.
 * errors  none
 * source  torch.can_cast */
TN_API bool tn_can_cast(tn_dtype from, tn_dtype to);

/* The dtype that decimals get when none is given, per thread; float32 at first.
 * errors  TN_ERROR_DTYPE unless it is float16, bfloat16, float32 or float64
 * source  torch.set_default_dtype */
TN_API tn_status tn_set_default_dtype(tn_dtype dtype);
TN_API tn_dtype tn_get_default_dtype(void);

/* A number with its kind. Kinds promote like PyTorch's Python numbers: a bool, integer, float or complex scalar does
 * not change the dtype of a tensor of the same or a higher kind. */
typedef enum tn_scalar_kind { TN_SCALAR_BOOL, TN_SCALAR_INT, TN_SCALAR_FLOAT, TN_SCALAR_COMPLEX } tn_scalar_kind;

typedef struct tn_complex_value {
    double re, im;
} tn_complex_value;

typedef struct tn_scalar {
    tn_scalar_kind kind;
    union {
        int64_t i; /* bool and int; elements of uint64 from 2^63 on wrap */
        double f;
        tn_complex_value c;
    } value;
} tn_scalar;

static inline tn_scalar tn_bool(bool value)
{
    tn_scalar scalar;
    scalar.kind = TN_SCALAR_BOOL;
    scalar.value.i = value;
    return scalar;
}

static inline tn_scalar tn_int(int64_t value)
{
    tn_scalar scalar;
    scalar.kind = TN_SCALAR_INT;
    scalar.value.i = value;
    return scalar;
}

static inline tn_scalar tn_float(double value)
{
    tn_scalar scalar;
    scalar.kind = TN_SCALAR_FLOAT;
    scalar.value.f = value;
    return scalar;
}

static inline tn_scalar tn_complex(double re, double im)
{
    tn_scalar scalar;
    scalar.kind = TN_SCALAR_COMPLEX;
    scalar.value.c.re = re;
    scalar.value.c.im = im;
    return scalar;
}

TN_END

#endif
