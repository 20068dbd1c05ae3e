/* Would a wrong derivative be noticed? Each one is broken in turn, for each input, in several ways: the check of the
 * operator must find a fault every time.
 *
 * Operators are constants, so their pages are made writable for as long as one is broken. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "autograd/node.h"
#include "dispatch/op.h"
#include "support/test.h"

typedef enum mutation { SHIFTED, SCALED, NEGATED, DROPPED, CUT, TANGENT, CALLED_LINEAR, MUTATIONS } mutation;

static const char *const words[MUTATIONS] = {[SCALED] = "scaled by 1.01",
                                             [NEGATED] = "negated",
                                             [DROPPED] = "dropped",
                                             [SHIFTED] = "shifted by 0.01",
                                             [CUT] = "without its history",
                                             [TANGENT] = "the tangent scaled by 1.01",
                                             [CALLED_LINEAR] = "of an operator that is called linear"};

static const tni_derivative *genuine;
static mutation how;
static int input;
static bool applied; /* it changed something */

static bool is_zero(tn_tensor *x)
{
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *copy = tn_clone_format(x, TN_CONTIGUOUS_FORMAT);
    const unsigned char *bytes = copy ? tn_data(copy) : NULL;
    size_t n = copy ? (size_t)tn_numel(copy) * tn_itemsize(tn_tensor_dtype(copy)) : 0;
    bool zero = true;
    for (size_t i = 0; bytes && i < n; i++)
        zero = zero && (bytes[i] == 0 || bytes[i] == 0x80); /* -0.0 too */
    tn_grad_mode_restore(mode);
    return zero;
}

static tn_tensor *mutated(tni_vjp *v, tn_tensor *grad)
{
    switch (how) {
    case SCALED:
        return tn_mul_scalar(grad, tn_float(1.01));
    case NEGATED:
        return tn_neg(grad);
    case DROPPED:
        return NULL;
    default:
        return v->creates_graph ? tn_detach(grad) : grad;
    }
}

static void broken_vjp(tni_vjp *v)
{
    genuine->vjp(v);
    if (tn_error_code() || input >= (int)v->node->n_edges || !tni_needs(v, input))
        return;
    tn_tensor *grad = v->grads[input];
    if (how == SHIFTED) {
        const tni_shape shape = tni_input_shape(v, input);
        tn_tensor *ones = tn_full(shape.sizes, shape.ndim, tn_float(0.01), shape.dtype);
        applied |= tn_numel(ones) > 0;
        v->grads[input] = grad ? tn_add(grad, ones) : ones;
    } else if (grad && how != TANGENT && !is_zero(grad)) {
        applied |= how != CUT || v->creates_graph;
        v->grads[input] = mutated(v, grad);
    }
}

static tn_tensor *broken_jvp(const tni_call *call, tn_tensor *const *tangents)
{
    tn_tensor *t = genuine->jvp(call, tangents);
    if (!t || is_zero(t))
        return t;
    applied = true;
    return tn_mul_scalar(t, tn_float(1.01));
}

static void replace(const tni_op *op, const tni_derivative *derivative)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)op / page * page;
    size_t bytes = (uintptr_t)(op + 1) - first;
    assert_int_equal(mprotect((void *)first, bytes, PROT_READ | PROT_WRITE), 0);
    *(const tni_derivative **)(uintptr_t)&op->derivative = derivative;
    assert_int_equal(mprotect((void *)first, bytes, PROT_READ), 0);
}

/* True if the mutation changed anything; fails the test when that went unnoticed. */
static bool try(int number, tn_operator_check *check)
{
    const tni_op *op = tni_operators[number];
    genuine = op->derivative;
    tni_derivative broken = *genuine;
    broken.vjp = broken_vjp;
    if (how == TANGENT)
        broken.jvp = broken_jvp;
    if (how == CALLED_LINEAR) {
        broken.vjp = genuine->vjp;
        broken.linear = true;
    }
    applied = how == CALLED_LINEAR;
    replace(op, &broken);
    tn_status status = tn_gradcheck_operator(number, NULL, check);
    replace(op, genuine);
    if (status)
        fail_msg("%s: %s", check->name, tn_error_message());
    return applied;
}

static void each_is_noticed(void **state)
{
    (void)state;
    int of[MUTATIONS] = {0}, total = 0, missed = 0;
    for (int i = 0; i < tn_operator_count(); i++) {
        tn_operator_check check;
        const tni_derivative *derivative = tni_operators[i]->derivative;
        const int inputs = tni_operators[i]->takes_list ? 2 : tni_operators[i]->n_in;
        if (!derivative || !derivative->vjp)
            continue;
        for (input = 0; input < inputs; input++)
            for (how = SHIFTED; how < MUTATIONS; how++) {
                if ((how == TANGENT && (input > 0 || !derivative->jvp)) ||
                    (how == CALLED_LINEAR && (input > 0 || derivative->linear)))
                    continue;
                if (!try(i, &check)) {
                    if (how == SHIFTED) /* nobody asks for this gradient: an index, a mask */
                        break;
                    continue;
                }
                if (how == CALLED_LINEAR && check.verdict == TN_OPERATOR_OK) {
                    printf("%s is linear, and might be called so\n", check.name);
                    continue;
                }
                of[how]++;
                total++;
                if (check.verdict == TN_OPERATOR_FAULT)
                    continue;
                missed++;
                printf("%s: gradient of input %d %s: not noticed\n", check.name, input, words[how]);
            }
    }
    for (int k = 0; k < MUTATIONS; k++)
        printf("%4d %s\n", of[k], words[k]);
    printf("%d broken derivatives, %d not noticed\n", total, missed);
    assert_int_equal(missed, 0);
    assert_true(total > 300);
}

TEST_MAIN(test(each_is_noticed))
