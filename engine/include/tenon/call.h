/* Operators by name, with boxed arguments: for interpreters, recorded programs and tools. The typed functions of ops.h
 * do not come through here. */
#ifndef TENON_CALL_H
#define TENON_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/list.h>
#include <tenon/tensor.h>
#include <tenon/views.h>

TN_BEGIN

typedef enum tn_value_kind {
    TN_VALUE_NONE, /* an optional argument left off */
    TN_VALUE_TENSOR,
    TN_VALUE_SCALAR, /* number or bool */
    TN_VALUE_INTS,   /* list of integers */
    TN_VALUE_DTYPE,
    TN_VALUE_TENSORS, /* list of tensors */
    TN_VALUE_INDEX,   /* entries of an index, as tn_getitem takes them */
    TN_VALUE_WORD,    /* one of the words that a function knows, such as "mean" */
    TN_VALUE_FORMAT   /* memory format */
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
        struct {
            tn_tensor *const *data;
            int n;
        } tensors;
        struct {
            const tn_index *data;
            int n;
        } index;
        const char *word;
        tn_memory_format format;
    } as;
} tn_value;

/* Calls the operator `name`, or a function made of operators, such as "split". "add_" is the in-place form of "add";
 * "add_out" takes the tensor to write as one more, last argument.
 * arguments  in the order of the operator's schema; trailing optional ones may be left off
 * result     a new tensor, held by the innermost scope as usual. In-place and out forms return the tensor that was
 *            written without a new hold on it: it is not to be dropped or released on account of this call
 * errors     TN_ERROR_NULL, TN_ERROR_NAME (no such operator or form), TN_ERROR_ARGUMENT (too many or too few arguments,
 *            a kind that does not fit: the message names the parameter; a function with several results), and those
 *            of the operator; then NULL */
TN_API tn_tensor *tn_call(const char *name, const tn_value *arguments, int n_arguments);

/* The same for functions with several results ("split", "unbind"); of others a list of the one result.
 * errors  as tn_call; then NULL */
TN_API tn_list *tn_call_list(const char *name, const tn_value *arguments, int n_arguments);

/* Whether tn_call and tn_call_list know the name; false for NULL.
 * errors  none */
TN_API bool tn_is_callable(const char *name);

/* The operators that there are have the numbers 0 .. count-1; functions made of operators are not among them.
 * errors  none */
TN_API int tn_operator_count(void);

/* The name of an operator: that of its new form where it has one ("add"), else of its in-place form ("fill_"). A
 * constant string; NULL for a number out of range.
 * errors  none */
TN_API const char *tn_operator_name(int i);

/* What an operator takes, such as "self:T other:X alpha:S?": T tensor, X tensor or number, S number, I integer, L
 * integers, J integer or integers, B bool, D dtype, M memory format, R index, G list of tensors, Q word; ? optional.
 * buf     gets the text, cut to size and terminated; may be NULL if size is 0
 * result  the length of the whole text, as snprintf gives it; 0 and "" for a number out of range
 * errors  none */
TN_API int tn_operator_schema(int i, char *buf, size_t size);

/* The same of functions made of operators: numbers 0 .. count-1, names, schemas.
 * errors  none */
TN_API int tn_composite_count(void);
TN_API const char *tn_composite_name(int i);
TN_API int tn_composite_schema(int i, char *buf, size_t size);

TN_END

#endif
