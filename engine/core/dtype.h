/* Facts of each dtype, and PyTorch's promotion rules over them. */
#ifndef TNI_CORE_DTYPE_H
#define TNI_CORE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>

/* Ordered as promotion ranks them; the last two promote with nothing. */
typedef enum tni_kind {
    TNI_BOOL,
    TNI_UINT,
    TNI_INT,
    TNI_FLOAT8,
    TNI_FLOAT,
    TNI_COMPLEX,
    TNI_QUANTIZED,
    TNI_BITS
} tni_kind;

typedef struct tni_dtype_facts {
    const char *text;
    uint8_t bytes;
    uint8_t kind; /* tni_kind */
} tni_dtype_facts;

extern const tni_dtype_facts tni_dtypes[TN_DTYPE_COUNT];

static inline bool tni_dtype_valid(tn_dtype dtype)
{
    return (unsigned)dtype < TN_DTYPE_COUNT;
}

/* dtype must be valid. */
static inline int64_t tni_itemsize(tn_dtype dtype)
{
    return tni_dtypes[dtype].bytes;
}

static inline tni_kind tni_dtype_kind(tn_dtype dtype)
{
    return (tni_kind)tni_dtypes[dtype].kind;
}

static inline bool tni_is_integral(tn_dtype dtype) /* bool not included */
{
    return tni_dtypes[dtype].kind == TNI_INT || tni_dtypes[dtype].kind == TNI_UINT;
}

static inline bool tni_is_float(tn_dtype dtype)
{
    return tni_dtypes[dtype].kind == TNI_FLOAT || tni_dtypes[dtype].kind == TNI_FLOAT8;
}

/* The bit of a dtype in a set of dtypes. */
#define TNI_DTYPE_BIT(dtype) (UINT32_C(1) << (dtype))

/* Refuses a number that is no dtype. */
tn_status tni_check_dtype(const char *function, tn_dtype dtype);

/* tn_promote_types without raising: TN_DTYPE_NONE when the pair does not promote. */
tn_dtype tni_promote(tn_dtype a, tn_dtype b);

/* The operands of a result_type question, gathered one by one: PyTorch's three levels of priority (tensors with dims,
 * 0-dim tensors, numbers). Start with {TN_DTYPE_NONE, TN_DTYPE_NONE, TN_DTYPE_NONE}. */
typedef struct tni_result_type {
    tn_dtype dim, zero_dim, number;
} tni_result_type;

#define TNI_RESULT_TYPE_NONE {TN_DTYPE_NONE, TN_DTYPE_NONE, TN_DTYPE_NONE}

/* False when the operand does not promote with those before it. */
bool tni_result_type_tensor(tni_result_type *state, tn_dtype dtype, int ndim);
bool tni_result_type_scalar(tni_result_type *state, tn_scalar scalar);
/* TN_DTYPE_NONE when the levels do not promote. */
tn_dtype tni_result_type_of(const tni_result_type *state);

/* Whether the dtype can hold the scalar: in range for integers and floats; nan and inf in floats alone; bool
 * takes any. PyTorch's check of fill_, full and scalar arguments. */
bool tni_scalar_fits(tn_scalar scalar, tn_dtype dtype);

/* The dtype of a complex dtype's parts; of any other itself. */
tn_dtype tni_real_dtype(tn_dtype dtype);

/* The dtype that a bare number has: bool, int64, the thread's default, or its complex twin. */
tn_dtype tni_scalar_dtype(tn_scalar scalar);

#endif
