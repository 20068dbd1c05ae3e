/* The derivative of an operator: what stands beside its forward.
 *
 * An operator's tni_op points to one of these. It says which tensors the tape keeps of a call, and how the gradients of
 * the inputs follow from that of the result (the vector-Jacobian product), in operators of the same table, so that they
 * can be differentiated again. A derivative knows nothing of broadcasting, of accumulation, or of which of its inputs
 * were views: a gradient may have any shape that the input broadcasts to, and the walk sums it back. Nor need it test
 * for errors: while one is pending nothing happens.
 *
 *     static void mul_vjp(tni_vjp *v)
 *     {
 *         if (tni_needs(v, 0))
 *             v->grads[0] = tn_mul(v->grad, tni_saved_input(v, 1));
 *         if (tni_needs(v, 1))
 *             v->grads[1] = tn_mul(v->grad, tni_saved_input(v, 0));
 *     }
 *     static const tni_derivative mul_derivative = {.saves = {TNI_SAVE(1), TNI_SAVE(0)}, .vjp = mul_vjp};
 */
#ifndef TNI_AUTOGRAD_DERIVATIVE_H
#define TNI_AUTOGRAD_DERIVATIVE_H

#include "dispatch/op.h"

typedef struct tn_node tni_node;
typedef struct tni_derivative tni_derivative;

/* The call of a derivative. */
typedef struct tni_vjp {
    tni_node *node;
    const void *attr;  /* the attributes of the recorded call; lists in it are the node's own */
    tn_tensor *grad;   /* that of the result */
    tn_tensor **grads; /* written: of input i; NULL stays for one that is zero or not needed */
    uint64_t needed;   /* bit i: the gradient of input i is asked for; ask tni_needs */
    bool creates_graph; /* the derivative is recorded in turn: what fused kernels can't be */
} tni_vjp;

/* A tensor's shape and kind, as it was when a call was recorded. */
typedef struct tni_shape {
    const int64_t *sizes;
    int ndim;
    tn_dtype dtype;
    tn_device_type device;
} tni_shape;

/* Where operands lie when a derivative is checked: multiples of 0.5. */
typedef struct tni_domain {
    double low, high;
} tni_domain;

#define TNI_SAVE(input) (1u << (input))
#define TNI_SAVE_RESULT 0x80u

struct tni_derivative {
    const char *name;           /* of the node as PyTorch prints it; NULL: made of the operator's, "AddBackward0" */
    uint8_t saves[TNI_MAX_IN];  /* what the gradient of input i is computed from; a number in a tensor's place counts */
    bool geometry;              /* the node keeps sizes, strides and offset of input 0: tni_saved_geometry; of an
                                   operator that takes a list the shape of each input: tni_listed_shapes */
    bool numbers_stay;          /* a number in a tensor's place does not count as saved: graphs can be walked again */
    bool linear;                /* the result is linear in all inputs that can be differentiated together: its tangent
                                   is the operator applied to theirs */
    void (*vjp)(tni_vjp *v);    /* NULL: constant. A new result requires no gradient, what is written gives none on */
    /* Instead of recording an in-place call: does it and says what that means for the history. NULL: it is recorded */
    tn_status (*write)(tni_call *call);
    /* The tangent of the result from those of the inputs (NULL where one is absent). NULL: the operator itself if
     * linear, else from vjp: the jvp is the vjp of the vjp. */
    tn_tensor *(*jvp)(const tni_call *call, tn_tensor *const *tangents);
    const char *(*named)(const tni_node *node); /* instead of name, where attributes, form or shapes decide */
    const tni_domain *domain;       /* for gradcheck; NULL: -2 .. 2 */
    void (*end)(const void *attr); /* of a node with TNI_NODE_ENDS: gives up what the attributes hold */
};

/* Of operators whose result is constant for autograd: comparisons, indices, zeros_like. */
extern const tni_derivative tni_constant;

/* Of detach, set_data and resize_: what they mean in place is in autograd/inplace.c. */
extern const tni_derivative tni_detaching, tni_replacing_data, tni_resizing;

/* Whether the gradient of input i is wanted. */
static inline bool tni_needs(const tni_vjp *v, int i)
{
    return v->needed >> (i < 63 ? i : 63) & 1;
}

/* Input i, or the result, as the tape kept it: its version is checked, and it has its history when the derivative is
 * recorded. NULL with an error pending when it was written since. NULL without one for a number or an absent input. */
tn_tensor *tni_saved_input(tni_vjp *v, int i);
tn_tensor *tni_saved_result(tni_vjp *v);

/* Whether the tensors of a list among the attributes are what they were when the tape kept them. */
tn_status tni_check_listed(tni_vjp *v);

/* The shape of input i; of the result. An input that is not to be differentiated has none: ndim 0, TN_DTYPE_NONE. */
tni_shape tni_input_shape(const tni_vjp *v, int i);
tni_shape tni_result_shape(const tni_vjp *v);

/* The shapes of the inputs of an operator that takes a list, one after the other: ndim and sizes each. */
const int64_t *tni_listed_shapes(const tni_vjp *v);

/* sizes, strides (ndim each) and offset of input 0, of a derivative with `geometry`. */
const int64_t *tni_saved_geometry(const tni_vjp *v, int *ndim);

#endif
