/* The tape of yardstick_tape.h. */
#include "yardstick_tape.h"
#include <stdlib.h>

typedef struct step {
    int refs, waiting; /* gradients still to come, during a walk */
    bool product, met;
    taped *in[2];      /* held */
    plain *saved[2];   /* held: the factors of a product */
    plain *grad;
    struct step *next; /* in a list of the walk, or of those to be freed */
} step;

struct taped {
    int refs;
    bool requires_grad;
    plain *value, *grad;
    step *step;
};

taped *taped_leaf(plain *value, bool requires_grad)
{
    taped *x = value ? plain_take(sizeof *x) : NULL;
    if (!x) {
        plain_release(value);
        return NULL;
    }
    *x = (taped){1, requires_grad, value, NULL, NULL};
    return x;
}

/* One by one: a chain of steps is as long as it likes. */
static void free_steps(step *first)
{
    while (first) {
        step *s = first;
        first = s->next;
        for (int i = 0; i < 2; i++) {
            taped *in = s->in[i];
            plain_release(s->saved[i]);
            if (in->refs == 1 && in->step && --in->step->refs == 0) {
                in->step->next = first;
                first = in->step;
                in->step = NULL;
            } else if (in->refs == 1) {
                in->step = NULL;
            }
            taped_release(in);
        }
        plain_give(s, sizeof *s);
    }
}

void taped_release(taped *x)
{
    if (!x || --x->refs > 0)
        return;
    plain_release(x->value);
    plain_release(x->grad);
    step *s = x->step;
    plain_give(x, sizeof *x);
    if (s && --s->refs == 0) {
        s->next = NULL;
        free_steps(s);
    }
}

static taped *record(taped *a, taped *b, plain *value, bool product)
{
    taped *x = taped_leaf(value, false);
    if (!x || !(a->requires_grad || b->requires_grad))
        return x;
    step *s = plain_take(sizeof *s);
    if (!s) {
        taped_release(x);
        return NULL;
    }
    *s = (step){.refs = 1, .product = product, .in = {a, b}};
    a->refs++;
    b->refs++;
    if (product) {
        s->saved[0] = a->requires_grad ? plain_hold(b->value) : NULL;
        s->saved[1] = b->requires_grad ? plain_hold(a->value) : NULL;
    }
    x->step = s;
    x->requires_grad = true;
    return x;
}

taped *taped_add(taped *a, taped *b)
{
    return record(a, b, plain_add(a->value, b->value), false);
}

taped *taped_mul(taped *a, taped *b)
{
    return record(a, b, plain_mul(a->value, b->value), true);
}

plain *taped_value(taped *x)
{
    return x->value;
}

plain *taped_grad(taped *x)
{
    return x->grad;
}

void taped_clear_grad(taped *x)
{
    plain_release(x->grad);
    x->grad = NULL;
}

/* Counts the gradients that each step will get. */
static void count(step *root)
{
    step *list = root;
    root->next = NULL;
    root->met = true;
    while (list) {
        step *s = list;
        list = s->next;
        for (int i = 0; i < 2; i++) {
            step *to = s->in[i]->step;
            if (!to)
                continue;
            to->waiting++;
            if (to->met)
                continue;
            to->met = true;
            to->next = list;
            list = to;
        }
    }
}

/* Adds a gradient that is taken over. */
static bool add_to(plain **sum, plain *grad)
{
    if (!grad || !*sum) {
        *sum = grad ? grad : *sum;
        return grad != NULL;
    }
    plain *total = plain_add(*sum, grad);
    plain_release(*sum);
    plain_release(grad);
    *sum = total;
    return total != NULL;
}

bool taped_backward(taped *root)
{
    bool ok = true;
    if (!root->step)
        return false;
    count(root->step);
    root->step->grad = plain_ones_like(root->value);
    step *ready = root->step;
    ready->next = NULL;
    while (ready && ok) {
        step *s = ready;
        ready = s->next;
        s->met = false;
        for (int i = 0; i < 2 && ok; i++) {
            taped *to = s->in[i];
            if (!to->requires_grad)
                continue;
            plain *grad = s->product ? plain_mul(s->grad, s->saved[i]) : plain_hold(s->grad);
            ok = add_to(to->step ? &to->step->grad : &to->grad, grad);
            if (to->step && --to->step->waiting == 0) {
                to->step->next = ready;
                ready = to->step;
            }
        }
        plain_release(s->grad);
        s->grad = NULL;
    }
    return ok;
}
