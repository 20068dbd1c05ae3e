/* A tape without waste, over the plain tensors of yardstick_tensor.h: each recorded result has a step with its inputs
 * and what their gradients need; the walk back counts what is to come for each step, then goes from the root to the
 * leaf. Products and sums of two tensors. */
#ifndef TENON_BENCH_YARDSTICK_TAPE_H
#define TENON_BENCH_YARDSTICK_TAPE_H

#include "yardstick_tensor.h"
#include <stdbool.h>

typedef struct taped taped;

taped *taped_leaf(plain *value, bool requires_grad); /* takes the value over */
taped *taped_add(taped *a, taped *b);
taped *taped_mul(taped *a, taped *b);
void taped_release(taped *x);
plain *taped_value(taped *x);
plain *taped_grad(taped *x);          /* of a leaf; NULL before a walk */
void taped_clear_grad(taped *x);
bool taped_backward(taped *root);     /* false: no memory */

#endif
