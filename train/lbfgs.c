/* L-BFGS: Newton's direction from the last changes of parameters and gradient (torch.optim.LBFGS).
 *
 * All parameters count as one vector of n elements; with s the changes of it and y those of the gradient,
 *     H_0 = (s.y / y.y) I,   d = -H g by the two loops of Nocedal 1980 over the pairs that are kept
 * and the parameters move by t d. Liu & Nocedal 1989; Nocedal & Wright, algorithm 7.4.
 *
 * What is remembered is state of the first parameter, as in PyTorch. The pairs are rows of two matrices, written in
 * turn; `numbers` says how many there are and which is the oldest. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/linalg.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "line_search.h"
#include "optimizer.h"

enum { LR, MAX_ITER, MAX_EVAL, TOLERANCE_GRAD, TOLERANCE_CHANGE, HISTORY_SIZE, STRONG_WOLFE, MAXIMIZE, OPTIONS };

/* [n], [n], [rows, n], [rows, n], float64 [rows], float64 [NUMBERS_SIZE] */
enum { DIRECTION, PREV_FLAT_GRAD, OLD_DIRS, OLD_STPS, RO, NUMBERS, STATES };

/* A whole run's memory besides the vectors. */
typedef struct memory {
    double t, h_diag, prev_loss;
    double n_iter, func_evals; /* whole numbers */
    double count, oldest;      /* pairs that are kept, row of the first of them */
} memory;

enum { NUMBERS_SIZE = sizeof(memory) / sizeof(double), FIRST_ROWS = 4 };

typedef struct descent {
    tn_optimizer *self;
    const tni_closure *closure;
    const double *option;
    tni_slot *slot;    /* the first: it has the state */
    int64_t n;         /* elements of all parameters */
    tn_tensor **begin; /* copies of the parameters where the step began, */
    tn_tensor **here;  /* and where the line search began */
    memory memory;
    bool changed; /* parameters or history are no longer as they were */
} descent;

static double dot(tn_tensor *a, tn_tensor *b)
{
    tn_tensor *product = tn_dot(a, b);
    const double value = product ? tn_item(product) : NAN;
    if (product)
        tn_drop(&product);
    return value;
}

static double largest(tn_tensor *x)
{
    tn_tensor *most = tn_max(tn_abs(x));
    return most ? tn_item(most) : NAN;
}

/* The gradients of all parameters as one vector, zeros where there is none. */
static tn_tensor *flat_gradient(const descent *d)
{
    const int64_t n = d->self->n_slots;
    tn_tensor **parts = tn_allocate((size_t)n * sizeof *parts, "lbfgs");
    if (!parts)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        tn_tensor *parameter = d->self->slots[i].parameter, *grad = tn_grad_of(parameter);
        const int64_t numel = tn_numel(parameter);
        parts[i] = grad ? tn_reshape(grad, &numel, 1) : tn_zeros(&numel, 1, tn_tensor_dtype(parameter));
    }
    tn_tensor *flat = tn_error_code() ? NULL : tn_cat(parts, (int)n, 0);
    tn_deallocate(parts, (size_t)n * sizeof *parts);
    if (flat && d->option[MAXIMIZE] != 0)
        tn_neg_(flat);
    return flat;
}

/* The loss that is to be small, and its gradient; NaN with an error. */
static double evaluate(const descent *d, tn_tensor **gradient)
{
    tn_scope scope = tn_scope_begin();
    const double loss = tni_closure_call(d->closure);
    tn_tensor *flat = tn_error_code() ? NULL : flat_gradient(d);
    *gradient = flat && !tn_error_code() ? tn_scope_escape(scope, flat) : NULL;
    tn_scope_end(scope);
    return d->option[MAXIMIZE] != 0 ? -loss : loss;
}

/* All parameters by t times the direction. */
static tn_status move(descent *d, double t)
{
    int64_t at = 0;
    tn_scope scope = tn_scope_begin();
    for (int64_t i = 0; i < d->self->n_slots && !tn_error_code(); i++) {
        tn_tensor *parameter = d->self->slots[i].parameter;
        const int64_t numel = tn_numel(parameter);
        tn_tensor *part = tn_narrow(d->slot->state[DIRECTION], 0, at, numel);
        tn_add_alpha_(parameter, tn_reshape(part, tn_sizes(parameter), tn_ndim(parameter)), tn_float(t));
        at += numel;
    }
    tn_scope_end(scope);
    return tn_error_code();
}

static tn_status put_back(const descent *d, tn_tensor *const *copies)
{
    for (int64_t i = 0; i < d->self->n_slots && !tn_error_code(); i++)
        tn_copy_(d->self->slots[i].parameter, copies[i]);
    return tn_error_code();
}

static bool try_length(void *context, double t, tni_place *place)
{
    descent *d = context;
    place->t = t;
    if (move(d, t))
        return false;
    place->value = evaluate(d, &place->gradient);
    if (put_back(d, d->here))
        return false;
    place->slope = dot(place->gradient, d->slot->state[DIRECTION]);
    return !tn_error_code();
}

static int64_t rows_of(const descent *d)
{
    return d->slot->state[OLD_DIRS] ? tn_size(d->slot->state[OLD_DIRS], 0) : 0;
}

static int64_t row_of(const descent *d, int64_t i)
{
    return ((int64_t)d->memory.oldest + i) % rows_of(d);
}

/* A matrix or vector with more rows: the pairs in it in their order, from the first row on. */
static tn_tensor *grown(const descent *d, int which, int64_t rows)
{
    const int64_t size[] = {rows, d->n};
    const bool is_vector = which == RO;
    tn_tensor *old = d->slot->state[which];
    tn_tensor *made = tn_zeros(size, is_vector ? 1 : 2, is_vector ? TN_FLOAT64 : tn_tensor_dtype(d->slot->parameter));
    for (int64_t i = 0; made && i < (int64_t)d->memory.count && !tn_error_code(); i++)
        tn_copy_(tn_select(made, 0, i), tn_select(old, 0, row_of(d, i)));
    return tn_error_code() ? NULL : made;
}

/* Room for another pair: more rows, up to history_size, or the oldest pair goes. */
static tn_status make_room(descent *d)
{
    const int64_t most = (int64_t)d->option[HISTORY_SIZE], rows = rows_of(d);
    while (d->memory.count > 0 && (int64_t)d->memory.count >= most) {
        d->memory.oldest = (double)row_of(d, 1);
        d->memory.count--;
    }
    if ((int64_t)d->memory.count < rows)
        return TN_OK;
    const int64_t twice = rows > 0 ? 2 * rows : FIRST_ROWS, more = twice < most ? twice : most;
    tn_tensor *made[3];
    for (int i = 0; i < 3; i++)
        if (!(made[i] = grown(d, OLD_DIRS + i, more)))
            return tn_error_code();
    for (int i = 0; i < 3; i++)
        tni_optimizer_put_state(d->self, 0, OLD_DIRS + i, made[i]);
    d->memory.oldest = 0;
    return TN_OK;
}

/* Keeps the change of the parameters and that of the gradient, where the function curves upwards. */
static tn_status remember(descent *d, tn_tensor *gradient)
{
    tn_tensor **state = d->slot->state;
    tn_tensor *y = tn_sub(gradient, state[PREV_FLAT_GRAD]);
    tn_tensor *s = tn_mul_scalar(state[DIRECTION], tn_float(d->memory.t));
    const double ys = y && s ? dot(y, s) : NAN;
    if (tn_error_code() || !(ys > 1e-10) || make_room(d))
        return tn_error_code();
    const int64_t row = row_of(d, (int64_t)d->memory.count);
    if (tn_copy_(tn_select(state[OLD_DIRS], 0, row), y) || tn_copy_(tn_select(state[OLD_STPS], 0, row), s))
        return tn_error_code();
    double *ro = tn_data_f64_mut(state[RO]);
    if (ro)
        ro[row] = 1 / ys;
    d->memory.count++;
    d->memory.h_diag = ys / dot(y, y);
    return tn_error_code();
}

/* -H g by the two loops. */
static tn_tensor *newton(const descent *d, tn_tensor *gradient)
{
    tn_tensor *const *state = d->slot->state, *q = tn_neg(gradient);
    const int64_t count = (int64_t)d->memory.count;
    double *al = tn_allocate((size_t)(count + 1) * sizeof *al, "lbfgs");
    const double *ro = count > 0 ? tn_data_f64(state[RO]) : NULL;
    for (int64_t i = count - 1; i >= 0 && !tn_error_code(); i--) {
        const int64_t row = row_of(d, i);
        al[i] = dot(tn_select(state[OLD_STPS], 0, row), q) * ro[row];
        tn_add_alpha_(q, tn_select(state[OLD_DIRS], 0, row), tn_float(-al[i]));
    }
    tn_tensor *r = tn_mul_scalar(q, tn_float(d->memory.h_diag));
    for (int64_t i = 0; i < count && !tn_error_code(); i++) {
        const int64_t row = row_of(d, i);
        const double be = dot(tn_select(state[OLD_DIRS], 0, row), r) * ro[row];
        tn_add_alpha_(r, tn_select(state[OLD_STPS], 0, row), tn_float(al[i] - be));
    }
    tn_deallocate(al, (size_t)(count + 1) * sizeof *al);
    return tn_error_code() ? NULL : r;
}

/* Writes a vector into the state of that number. */
static tn_status keep(descent *d, int which, tn_tensor *value)
{
    tn_tensor **state = &d->slot->state[which];
    if (!*state)
        *state = tn_object_keep(tn_zeros(&d->n, 1, tn_tensor_dtype(d->slot->parameter)));
    return *state ? tn_copy_(*state, value) : tn_error_code();
}

static tn_status find_direction(descent *d, tn_tensor *gradient)
{
    memory *m = &d->memory;
    if (++m->n_iter == 1) {
        m->count = m->oldest = 0;
        m->h_diag = 1;
        return keep(d, DIRECTION, tn_neg(gradient)) || keep(d, PREV_FLAT_GRAD, gradient);
    }
    if (remember(d, gradient))
        return tn_error_code();
    tn_tensor *way = newton(d, gradient);
    return !way || keep(d, DIRECTION, way) || keep(d, PREV_FLAT_GRAD, gradient);
}

static double first_length(const descent *d, tn_tensor *gradient)
{
    if (d->memory.n_iter != 1)
        return d->option[LR];
    const double inverse = 1 / tn_item(tn_sum(tn_abs(gradient), NULL, 0, false, TN_DTYPE_NONE));
    return (inverse < 1 ? inverse : 1) * d->option[LR];
}

/* Moves along the direction to where the line search ends; evaluations, or -1 with an error. */
static int64_t search_line(descent *d, double slope, int64_t most, double *loss, tn_tensor **gradient)
{
    for (int64_t i = 0; i < d->self->n_slots; i++)
        if (tn_copy_(d->here[i], d->self->slots[i].parameter))
            return -1;
    const tni_line line = {.evaluate = try_length, .context = d, .start = {0, *loss, slope, *gradient},
                           .longest = largest(d->slot->state[DIRECTION]),
                           .most = most};
    tni_place best = line.start;
    const int64_t evaluations = tn_error_code() ? -1 : tni_strong_wolfe(&line, d->memory.t, &best);
    if (evaluations < 0)
        return -1;
    d->memory.t = best.t;
    *loss = best.value;
    *gradient = best.gradient;
    return move(d, best.t) ? -1 : evaluations;
}

typedef struct progress {
    double loss;
    tn_tensor *gradient;
    int64_t evaluations;
    bool flat; /* no element of the gradient is above tolerance_grad */
} progress;

static bool is_flat(const descent *d, tn_tensor *gradient)
{
    return largest(gradient) <= d->option[TOLERANCE_GRAD];
}

/* One iteration of the step; false when there is no more to do, or an error. */
static bool iterate(descent *d, progress *p, bool last)
{
    const double *o = d->option, before = p->loss;
    if (find_direction(d, p->gradient))
        return false;
    d->memory.prev_loss = p->loss;
    d->memory.t = first_length(d, p->gradient);
    const double slope = dot(p->gradient, d->slot->state[DIRECTION]);
    if (tn_error_code() || slope > -o[TOLERANCE_CHANGE])
        return false;
    int64_t evaluations = 0;
    if (o[STRONG_WOLFE] != 0) {
        evaluations = search_line(d, slope, (int64_t)o[MAX_EVAL] - p->evaluations, &p->loss, &p->gradient);
        p->flat = evaluations >= 0 && is_flat(d, p->gradient);
    } else if (!move(d, d->memory.t) && !last) {
        p->loss = evaluate(d, &p->gradient);
        p->flat = !tn_error_code() && is_flat(d, p->gradient);
        evaluations = 1;
    }
    if (tn_error_code())
        return false;
    p->evaluations += evaluations;
    d->memory.func_evals += (double)evaluations;
    if (last || p->evaluations >= (int64_t)o[MAX_EVAL] || p->flat)
        return false;
    const double change = largest(tn_mul_scalar(d->slot->state[DIRECTION], tn_float(d->memory.t)));
    return !(change <= o[TOLERANCE_CHANGE]) && !(fabs(p->loss - before) < o[TOLERANCE_CHANGE]);
}

/* The step: the loss at its start. */
static double descend(descent *d)
{
    progress p = {.evaluations = 1};
    const double loss = p.loss = evaluate(d, &p.gradient);
    d->memory.func_evals++;
    if (tn_error_code() || d->n == 0 || is_flat(d, p.gradient))
        return loss;
    d->changed = true;
    const int64_t iterations = (int64_t)d->option[MAX_ITER];
    bool more = true;
    for (int64_t i = 1; more && i <= iterations; i++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *old = p.gradient;
        more = iterate(d, &p, i == iterations);
        if (p.gradient && p.gradient != old)
            p.gradient = tn_scope_escape(scope, p.gradient);
        tn_scope_end(scope);
        if (p.gradient != old)
            tn_drop(&old);
    }
    return loss;
}

static bool is_whole(double x, double below)
{
    return x >= 0 && x < below && x == floor(x);
}

/* Takes up the numbers of the steps before; false with an error where they and the vectors aren't of one run. */
static bool load_memory(descent *d)
{
    tn_tensor *const *state = d->slot->state;
    if (!state[NUMBERS]) {
        for (int i = 0; i < NUMBERS; i++)
            tn_release(&d->slot->state[i]);
        return true;
    }
    const double *numbers = tn_data_f64(state[NUMBERS]);
    if (!numbers)
        return false;
    memcpy(&d->memory, numbers, sizeof d->memory);
    const memory *m = &d->memory;
    const bool began = m->n_iter > 0, pairs = m->count > 0;
    const int64_t rows = rows_of(d);
    bool fits = is_whole(m->n_iter, 0x1p53) && is_whole(m->func_evals, 0x1p53) &&
                is_whole(m->count, (double)rows + 1) && is_whole(m->oldest, (double)rows + (rows == 0)) &&
                (!began || (state[DIRECTION] && state[PREV_FLAT_GRAD])) && (!pairs || (state[OLD_STPS] && state[RO]));
    for (int i = OLD_DIRS; fits && pairs && i <= RO; i++)
        fits = tn_size(state[i], 0) == rows;
    if (!fits)
        TN_FAIL(TN_ERROR_STATE, "lbfgs", "what is remembered of earlier steps does not belong together");
    return fits;
}

static void save_memory(const descent *d)
{
    const int64_t size = NUMBERS_SIZE;
    tn_tensor **state = &d->slot->state[NUMBERS];
    if (!*state)
        *state = tn_object_keep(tn_zeros(&size, 1, TN_FLOAT64));
    double *numbers = *state ? tn_data_f64_mut(*state) : NULL;
    if (numbers)
        memcpy(numbers, &d->memory, sizeof d->memory);
}

/* After an error: parameters are where the step began, and the history, half changed, is forgotten. */
static void undo(descent *d)
{
    tn_error saved;
    tn_error_push(&saved);
    put_back(d, d->begin);
    tn_error_pop(&saved);
    for (int i = 0; i < STATES; i++)
        tn_release(&d->slot->state[i]);
}

static bool prepare(descent *d)
{
    const int64_t n = d->self->n_slots;
    d->begin = tn_allocate(2 * (size_t)n * sizeof *d->begin, "lbfgs");
    if (!d->begin || !load_memory(d))
        return false;
    d->here = d->begin + n;
    for (int64_t i = 0; i < n; i++) {
        d->n += tn_numel(d->self->slots[i].parameter);
        d->begin[i] = tn_clone(d->self->slots[i].parameter);
        d->here[i] = d->option[STRONG_WOLFE] != 0 ? tn_clone(d->self->slots[i].parameter) : NULL;
    }
    return !tn_error_code();
}

static double minimise(tn_optimizer *self, const tni_closure *closure)
{
    descent d = {.self = self, .closure = closure, .option = self->groups[0].option, .slot = &self->slots[0]};
    double loss = NAN;
    tn_scope scope = tn_scope_begin();
    if (prepare(&d)) {
        loss = descend(&d);
        if (!tn_error_code())
            save_memory(&d);
        if (tn_error_code() && d.changed)
            undo(&d);
    }
    tn_deallocate(d.begin, 2 * (size_t)self->n_slots * sizeof *d.begin);
    tn_scope_end(scope);
    return tn_error_code() ? NAN : d.option[MAXIMIZE] != 0 ? -loss : loss;
}

static bool fits(const tn_optimizer *self, int64_t slot, int which, const tn_tensor *value)
{
    int64_t n = 0;
    for (int64_t i = 0; i < self->n_slots; i++)
        n += tn_numel(self->slots[i].parameter);
    const bool is_numbers = which == NUMBERS, is_matrix = which == OLD_DIRS || which == OLD_STPS;
    const tn_dtype dtype = is_numbers || which == RO ? TN_FLOAT64 : tn_tensor_dtype(self->slots[0].parameter);
    if (slot != 0 || tn_tensor_dtype(value) != dtype || tn_ndim(value) != 1 + is_matrix)
        return false;
    if (is_numbers)
        return tn_size(value, 0) == NUMBERS_SIZE && tn_is_contiguous(value);
    return which == RO ? tn_is_contiguous(value) : tn_size(value, is_matrix) == n;
}

const tni_optimizer_kind tni_lbfgs = {
    .name = "lbfgs",
    .options = {[LR] = {"lr", TNI_FROM_ZERO, 1}, [MAX_ITER] = {"max_iter", TNI_COUNT, 20},
                [MAX_EVAL] = {"max_eval", TNI_COUNT, 25}, [TOLERANCE_GRAD] = {"tolerance_grad", TNI_FROM_ZERO, 1e-7},
                [TOLERANCE_CHANGE] = {"tolerance_change", TNI_FROM_ZERO, 1e-9},
                [HISTORY_SIZE] = {"history_size", TNI_COUNT, 100}, [STRONG_WOLFE] = {"strong_wolfe", TNI_FLAG, 0},
                [MAXIMIZE] = {"maximize", TNI_FLAG, 0}},
    .n_options = OPTIONS,
    .states = {[DIRECTION] = "d", [PREV_FLAT_GRAD] = "prev_flat_grad", [OLD_DIRS] = "old_dirs",
               [OLD_STPS] = "old_stps", [RO] = "ro", [NUMBERS] = "numbers"},
    .n_states = STATES,
    .minimise = minimise,
    .fits = fits,
};

static tn_status check_dtypes(const tn_list *parameters)
{
    const int64_t n = tn_error_code() || !parameters ? 0 : tn_list_size(parameters);
    for (int64_t i = 0; i < n; i++) {
        const tn_dtype dtype = tn_tensor_dtype(tn_list_get(parameters, i));
        const tn_dtype first = tn_tensor_dtype(tn_list_get(parameters, 0));
        if (dtype != first || !tn_is_floating_point(dtype))
            return TN_FAIL(TN_ERROR_DTYPE, "lbfgs", "parameter %" PRId64 " is %s and the first %s, needed one floating "
                           "dtype for all", i, tn_dtype_name(dtype), tn_dtype_name(first));
    }
    return tn_error_code();
}

tn_optimizer *tn_lbfgs(const tn_list *parameters, const tn_lbfgs_options *options)
{
    static const tn_lbfgs_options none;
    const tn_lbfgs_options *o = options ? options : &none;
    const double iterations = tni_option_given(&tni_lbfgs, MAX_ITER, (double)o->max_iter);
    const double all[TNI_OPTIONS] = {
        [LR] = tni_option_given(&tni_lbfgs, LR, o->lr),
        [MAX_ITER] = iterations,
        [MAX_EVAL] = o->max_eval != 0 ? (double)o->max_eval : floor(iterations * 5 / 4),
        [TOLERANCE_GRAD] = tni_option_given(&tni_lbfgs, TOLERANCE_GRAD, o->tolerance_grad),
        [TOLERANCE_CHANGE] = tni_option_given(&tni_lbfgs, TOLERANCE_CHANGE, o->tolerance_change),
        [HISTORY_SIZE] = tni_option_given(&tni_lbfgs, HISTORY_SIZE, (double)o->history_size),
        [STRONG_WOLFE] = o->strong_wolfe,
        [MAXIMIZE] = o->maximize};
    return check_dtypes(parameters) ? NULL : tni_optimizer_make(&tni_lbfgs, parameters, all);
}
