/* Operators by name, with boxed arguments: for interpreters, recorded programs and tools. The typed functions of ops.h
 * do not come through here. */
#ifndef TENON_CALL_H
#define TENON_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef enum tn_value_kind {
    TN_VALUE_NONE, /* an optional argument left off */
    TN_VALUE_TENSOR,
    TN_VALUE_SCALAR, /* number or bool */
    TN_VALUE_INTS,   /* list of integers */
    TN_VALUE_DTYPE
} tn_value_kind;

typedef struct tn_value {
    tn_value_kind kind;
    union {
        tn_tensor *tensor;
        tn_scalar scalar;
        struct {
            const int64_t *data;
            int n;
        } ints;
        tn_dtype dtype;
    } as;
} tn_value;

/* Calls the operator `name`. "add_" is the in-place form of "add", "add_out" takes the tensor to write as one more,
 * last argument. arguments   in the order of the operator's schema; trailing optional ones may be left off result the
 * first result (for in-place and out forms the tensor written), held by the innermost scope as usual errors
 * TN_ERROR_NAME (no such operator or form), TN_ERROR_ARGUMENT (too many or too few arguments, a kind that does not fit:
 * the message names the parameter), and those of the operator */
TN_API tn_tensor *tn_call(const char *name, const tn_value *arguments, int n_arguments);

/* The operators that there are: 0 .. count-1; name, and schema such as "self:T other:X alpha:S?" (T tensor, X tensor or
 * number, S number, I integer, L integers, J integer or integers, B bool, D dtype; ? optional). NULL for a number out
 * of range. */
TN_API int tn_operator_count(void);
TN_API const char *tn_operator_name(int i);
TN_API int tn_operator_schema(int i, char *buf, size_t size);

TN_END

#endif
