/* The operator contract.
 *
 * An operator is a constant struct: what it takes (params), how its results look (infer), how much scratch it wants
 * (workspace), and what it does (run). infer looks at the inputs' records alone, so it serves META, out= and every
 * other question of shape (besides, it checks the positions of an index where they are data); run gets everything it
 * needs, allocates nothing and, after its workspace is there, cannot fail.
 *
 * Note [Forms]
 * One operator serves three forms. A new result is made from what infer says. An in-place call is an out= call whose
 * output is the first input and must already have the result's shape. In place on a view operator (transpose_) gives
 * the first input the view's geometry: its record is changed, its memory is not. Checks come before anything is
 * touched: infer, then the output's dtype and overlap, then the new geometry, the workspace, the storage's growth; so
 * a call that fails leaves its arguments as they were.
 *
 * Note [Attributes]
 * What an operator takes besides tensors stands in a plain struct of its own; the params say at which offset, so that
 * calls by name, printing and saving need no code per operator. A number that stands in for a tensor operand is an
 * attribute too: the input is then NULL, and bit i of the uint32_t that such an attribute struct begins with says so.
 * */
#ifndef TNI_DISPATCH_OP_H
#define TNI_DISPATCH_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/call.h>
#include <tenon/layer.h>
#include <tenon/views.h>

#include "core/geometry.h"
#include "core/iterator.h"
#include "core/tensor.h"

enum { TNI_MAX_IN = 5, TNI_MAX_PARAMS = 13 };

typedef struct tn_op_call tni_call;
typedef struct tni_op tni_op;

/* A list of integers inside an attribute struct: sizes, dims. The numbers belong to the caller for the time of the
 * call. */
typedef struct tni_ints {
    const int64_t *data;
    int n;
} tni_ints;

/* An index inside an attribute struct; its entries belong to the caller for the time of the call. */
typedef struct tni_index_list {
    const tn_index *data;
    int n;
} tni_index_list;

/* A list of tensors inside an attribute struct, which belong to the caller for the time of the call; some may be NULL.
 * They are no inputs: layers do not look at them, and no gradient goes there. (Inputs of any number: takes_list.) */
typedef struct tni_tensors {
    tn_tensor *const *data;
    int n;
} tni_tensors;

/* One parameter. code is that of the schema text (tenon/call.h): T X S I L J B D M R G Q. */
typedef struct tni_param {
    const char *name;
    char code;
    bool optional;
    int8_t input;    /* index among the inputs for T and X; -1 otherwise */
    uint16_t offset; /* in the attribute struct, of a tn_scalar (S, X), int64_t (I; Q: a tn_reduction), tni_ints (L, J),
                        bool (B), tn_dtype (D), tn_memory_format (M), tni_index_list (R), tni_tensors (G) */
} tni_param;

#define TNI_TENSOR(name, number) {name, 'T', false, number, 0}
#define TNI_OPTIONAL_TENSOR(name, number) {name, 'T', true, number, 0}
#define TNI_OPERAND(name, number, type, field) {name, 'X', false, number, offsetof(type, field)}
#define TNI_ATTR(name, code, type, field) {name, code, false, -1, offsetof(type, field)}
#define TNI_OPTIONAL(name, code, type, field) {name, code, true, -1, offsetof(type, field)}

/* How a result shall look. infer fills it for each output. */
typedef struct tni_meta {
    tni_record record;  /* sizes and strides point into an input, or to dims, or to room */
    int64_t *dims;      /* room for the dims of a view of low rank: `room`, or in the view to be */
    tn_tensor *view_of; /* the result is a view of this input with the record's geometry; there is nothing to run */
    tn_tensor *same;    /* the result is this input itself */
    tn_tensor *part_of; /* the result reads this input's storage with the record's geometry, but is no view of it */
    const tn_tensor *like; /* the result has this contiguous input's shape over fresh memory; of the record dtype alone
                              is set */
    bool own_counter; /* of a part_of result: it counts versions on its own */
    int64_t room[2 * TN_MAX_NDIM];
} tni_meta;

typedef enum tni_form { TNI_NEW, TNI_IN_PLACE, TNI_OUT, TNI_FORMS } tni_form;

struct tni_op {
    const char *name[TNI_FORMS]; /* "add", "add_", "add_out": for messages and calls by name; NULL: no such form */
    tni_param params[TNI_MAX_PARAMS];
    uint8_t n_params, n_in, n_out;
    bool takes_list;         /* the inputs are the tensors of a list, the first param, of code G; n_in is 0, each call
                                says how many: tni_input_count */
    uint8_t optional_in;     /* bit i: input i may be left off (NULL) */
    uint8_t number_in;       /* bit i: input i may be a number instead: Note [Attributes] */
    bool overlap_allowed;    /* writes of one value everywhere may hit a cell twice */
    bool reads_first;        /* run has read the other operands before it writes: they may be parts of the output */
    bool exact_out_dtype;    /* out= must have the result's dtype; otherwise tn_can_cast is enough */
    uint32_t dtypes;         /* TNI_DTYPE_BIT of those that run computes in; the tests run each */
    uint8_t zero_through;    /* bit i: with a zero tensor as input i the result is one */
    uint16_t attr_bytes;
    const void *attr_default; /* attr_bytes of defaults for calls by name; NULL: zeros */
    tn_status (*infer)(tni_call *call, tni_meta *meta);
    size_t (*workspace)(const tni_call *call); /* NULL: none */
    void (*run)(const tni_call *call, void *workspace);
    /* Runs a call that wants no workspace, and says so; or does nothing. For small work, that asking for the workspace
     * first would double. NULL: none */
    bool (*run_light)(const tni_call *call);
    /* Instead of run, of an operator that changes its first argument's record (resize_, set_): does that with what
     * infer found, and counts the version. Nothing is changed when it fails. NULL: none */
    tn_status (*alter)(tni_call *call, const tni_meta *meta);
    const struct tni_derivative *derivative; /* autograd/derivative.h. NULL: recording a call of it is refused */
    int family;          /* which row of its family the operator is: the family's own numbering */
    const char *samples; /* arguments for the tests; see tests/ops/samples.h for the notation */
};

/* The forms that an operator has. */
#define TNI_NAMES(op) {#op, #op "_", #op "_out"}
#define TNI_NAMES_NEW(op) {#op, NULL, NULL}
#define TNI_NAMES_NEW_OUT(op) {#op, NULL, #op "_out"}
#define TNI_NAMES_IN_PLACE(op) {NULL, #op "_", NULL}
#define TNI_NAMES_NEW_IN_PLACE(op) {#op, #op "_", NULL}

/* A call as plain data: it can be looked at, saved and repeated. */
struct tn_op_call {
    const tni_op *op;
    const void *attr;
    tn_tensor **in;  /* tni_input_count */
    tn_tensor **out; /* op->n_out; of a new result it is written here */
    tni_form form;
    int n_listed; /* inputs, where the operator takes a list */
    /* what infer found out and run need not find out again */
    tn_dtype compute; /* dtype of the arithmetic */
    tn_dtype common;  /* of a pointwise family: the dtype that operands and result have outside of it */
    uint8_t exact;    /* bit i: a number or 0-dim operand i is not rounded to a `common` of 16 bits first */
    int level;        /* CPU level, where infer asks for one: a call has one level from its first step to its last */
    tni_loop loop;    /* of a pointwise family */
    bool dense;       /* all inputs are contiguous, of that dtype and of the result's shape */
};

static inline const char *tni_call_name(const tni_call *call)
{
    return call->op->name[call->form];
}

static inline int tni_input_count(const tni_call *call)
{
    return TNI_UNLIKELY(call->op->takes_list) ? call->n_listed : call->op->n_in;
}

/* Checks the arguments, goes through the layers, infers, makes and runs. New outputs belong to the innermost scope. */
tn_status tni_dispatch(tni_call *call);

/* The same, without the short way of calls that make a new result of a fixed number of tensors. */
tn_status tni_dispatch_any(tni_call *call);

/* What tni_dispatch does with a call that makes a new tensor of CPU tensors, once no layer is left. A layer that gets
 * tni_plain_below as its context may go on here. */
tn_status tni_execute_plain(tni_call *call);
extern const char tni_plain_below[1];

/* The usual fronts. in has op->n_in entries; attr may be NULL if the operator has none. */
static inline tn_tensor *tni_call_new(const tni_op *op, tn_tensor **in, const void *attr)
{
    tn_tensor *out = NULL;
    tni_call call; /* the rest is infer's */
    call.op = op;
    call.attr = attr;
    call.in = in;
    call.out = &out;
    call.form = TNI_NEW;
    return TNI_LIKELY(tni_dispatch(&call) == TN_OK) ? out : NULL;
}

static inline tn_status tni_call_in_place(const tni_op *op, tn_tensor **in, const void *attr)
{
    tn_tensor *out[1] = {in[0]};
    tni_call call = {.op = op, .attr = attr, .in = in, .out = out, .form = TNI_IN_PLACE};
    return tni_dispatch_any(&call);
}

/* Of an operator that takes a list: n tensors, none of them NULL. */
static inline tn_tensor *tni_call_list(const tni_op *op, tn_tensor *const *in, int n, const void *attr)
{
    tn_tensor *out = NULL;
    tni_call call = {.op = op, .attr = attr, .in = (tn_tensor **)(uintptr_t)in, .out = &out, .form = TNI_NEW,
                     .n_listed = n};
    return tni_dispatch_any(&call) == TN_OK ? out : NULL;
}

tn_status tni_call_out(const tni_op *op, tn_tensor *out, tn_tensor **in, const void *attr);

/* The table of all operators: ops/table.c. */
extern const tni_op *const tni_operators[];
extern const int tni_operator_count;

/* Before infer: nothing is said yet. */
static inline void tni_meta_begin(tni_meta *meta, int64_t *dims)
{
    meta->view_of = meta->same = meta->part_of = NULL;
    meta->like = NULL;
    meta->dims = dims;
}

void tni_meta_preserved(tni_meta *meta, const tn_tensor *x);

/* Fills the record where infer only named the input that the result is like. */
void tni_meta_settle(tni_meta *meta);

/* For infer: the result has x's shape and order of strides, without gaps, and the given dtype, over fresh memory. */
static inline void tni_meta_like(tni_meta *meta, const tn_tensor *x, tn_dtype dtype)
{
    meta->record.dtype = (uint8_t)dtype;
    if (TNI_LIKELY(tni_contiguous(x)))
        meta->like = x;
    else
        tni_meta_preserved(meta, x);
}
/* Fresh contiguous memory of ndim sizes that stand in meta->room. TN_ERROR_OVERFLOW when they are too large. */
tn_status tni_meta_contiguous(const tni_call *call, tni_meta *meta, int ndim, tn_dtype dtype, tn_device_type device);
/* A view of x; sizes and strides as set in the record by the caller afterwards, or still x's own. */
static inline void tni_meta_view(tni_meta *meta, tn_tensor *x)
{
    tni_record *record = &meta->record;
    meta->view_of = x;
    record->traits = x->traits & (TNI_TRAIT(0, 255) | TNI_TRAIT(1, 255) | TNI_TRAIT(2, 255));
    record->sizes = x->sizes;
    record->strides = x->strides;
    record->numel = x->numel;
    record->offset = x->offset;
}

/* A view of x of ndim dims, whose sizes and strides are written through the pointers before infer returns. */
static inline void tni_meta_view_dims(tni_meta *meta, tn_tensor *x, int ndim, int64_t **sizes, int64_t **strides)
{
    tni_record *record = &meta->record;
    int64_t *dims = TNI_LIKELY(ndim <= TNI_INLINE_NDIM) ? meta->dims : meta->room;
    meta->view_of = x;
    record->traits = (x->traits & (TNI_TRAIT(0, 255) | TNI_TRAIT(1, 255))) | TNI_TRAIT(2, ndim);
    record->sizes = *sizes = dims;
    record->strides = *strides = dims + ndim;
    record->numel = x->numel;
    record->offset = x->offset;
}

/* The same with x's own dims in it. */
static inline void tni_meta_own_dims(tni_meta *meta, tn_tensor *x, int64_t **sizes, int64_t **strides)
{
    const int ndim = x->ndim;
    tni_meta_view_dims(meta, x, ndim, sizes, strides);
    for (int d = 0; d < ndim; d++) {
        (*sizes)[d] = x->sizes[d];
        (*strides)[d] = x->strides[d];
    }
}

#endif
