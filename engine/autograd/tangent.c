/* Dual tensors: their level, where tangents are kept, what views and writes mean for them.
 *
 * Note [Tangents]
 * A tangent hangs on its tensor's tape. It is laid out as the tensor is (strides, offset, size of the storage), so that
 * any view of the tensor can be taken of the tangent, too. Then writes need no copies of rules: a view of a tensor that
 * has a tangent gets the view of it when it is made; one that was made before finds it at the base when somebody asks;
 * and the first tangent that comes to a view by a write is put into one for the whole base.
 *
 * make_dual's result is a view, yet its tangent is not a part of one of the base. So it is aloof: TNI_KEY_ALOOF.
 *
 * All tapes with a tangent are in one list, from which a level that closes takes its own. Tensors may die on any
 * thread, hence the lock. It also ends rings: the tangent of a recorded result may have been computed from the result,
 * which its history then holds. */
#include "autograd/tangent.h"

#include <pthread.h>
#include <tenon/forward.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/overlap.h"

static tni_tape *with_tangent; /* under lock */
static uint64_t last_level;    /* atomic */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void link_into(tni_tape **head, tni_tape *tape)
{
    tape->at = head;
    tape->next = *head;
    if (tape->next)
        tape->next->at = &tape->next;
    *head = tape;
}

/* Takes the tape off its list, under lock. */
static tn_tensor *unlink_tape(tni_tape *tape)
{
    tn_tensor *tangent = tape->tangent;
    if (!tangent)
        return NULL;
    *tape->at = tape->next;
    if (tape->next)
        tape->next->at = tape->at;
    __atomic_store_n(&tape->tangent, NULL, __ATOMIC_RELAXED);
    tape->owner->keys &= ~TNI_KEY_DUAL;
    return tangent;
}

void tni_tangent_drop(tni_tape *tape)
{
    if (!__atomic_load_n(&tape->tangent, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    tn_tensor *tangent = unlink_tape(tape);
    pthread_mutex_unlock(&lock);
    if (tangent)
        tni_object_release(&tangent->object);
}

tn_status tni_dual_enter(void)
{
    tni_thread *thread = &tni_this_thread;
    if (tni_pending())
        return tni_pending();
    if (thread->dual_level)
        return TNI_FAIL(TN_ERROR_FORWARD_AD, "enter_dual_level", "a level is open, needed none: they are not nested");
    thread->dual_level = __atomic_add_fetch(&last_level, 1, __ATOMIC_RELAXED);
    return TN_OK;
}

/* Releasing a tangent may end other tensors of the list: each is taken off under lock and released outside. */
static void drop_level(uint64_t level)
{
    tni_tape *ours = NULL, *next;
    tn_tensor *tangent;
    pthread_mutex_lock(&lock);
    for (tni_tape *tape = with_tangent; tape; tape = next) {
        next = tape->next;
        if (tape->level != level)
            continue;
        *tape->at = next;
        if (next)
            next->at = tape->at;
        link_into(&ours, tape);
    }
    do {
        tangent = ours ? unlink_tape(ours) : NULL;
        pthread_mutex_unlock(&lock);
        if (tangent) {
            tni_object_release(&tangent->object);
            pthread_mutex_lock(&lock);
        }
    } while (tangent);
}

tn_status tn_exit_dual_level(void)
{
    tni_thread *thread = &tni_this_thread;
    uint64_t level = thread->dual_level;
    thread->dual_level = 0;
    if (level)
        drop_level(level);
    if (tni_pending() || level)
        return tni_pending();
    return TNI_FAIL(TN_ERROR_FORWARD_AD, "exit_dual_level", "no level is open, needed enter_dual_level before");
}

bool tn_in_dual_level(void)
{
    return tni_this_thread.dual_level != 0;
}

/* Elements that x's storage has room for. */
static int64_t storage_elements(const tn_tensor *x)
{
    return (int64_t)x->storage->nbytes / tni_itemsize((tn_dtype)x->dtype);
}

/* Whether what is a view of x can be taken of t in the same way. */
static bool laid_out_as(const tn_tensor *t, const tn_tensor *x)
{
    if (t->offset != x->offset || storage_elements(t) != storage_elements(x) ||
        (t->keys & TNI_KEYS_LAZY) != (x->keys & TNI_KEYS_LAZY))
        return false;
    for (int d = 0; d < x->ndim; d++)
        if (t->sizes[d] != x->sizes[d] || (t->strides[d] != x->strides[d] && x->sizes[d] > 1))
            return false;
    return true;
}

tn_tensor *tni_tangent_zeros(const tn_tensor *x, tn_dtype dtype)
{
    static const int64_t one = 1;
    const tn_device device = {(tn_device_type)x->device, 0};
    int64_t n = storage_elements(x);
    bool all = x->offset == 0 && n == x->numel && tni_is_dense(x->sizes, x->strides, x->ndim);
    tn_tensor *whole = all ? tni_tape_ops->empty_strided(x->sizes, x->strides, x->ndim, dtype, device)
                           : tni_tape_ops->empty_strided(&n, &one, 1, dtype, device);
    if (!whole || tni_tape_ops->zero_(whole))
        return NULL;
    tn_tensor *t = all ? whole : tni_tape_ops->as_strided(whole, x->sizes, x->strides, x->ndim, x->offset);
    if (t)
        t->keys ^= x->keys & (TNI_KEY_CONJ | TNI_KEY_NEG);
    return t;
}

/* t, or a copy of it that is laid out as x. */
static tn_tensor *laid_out(tn_tensor *t, const tn_tensor *x)
{
    if (laid_out_as(t, x))
        return t;
    tn_tensor *copy = tni_tangent_zeros(x, (tn_dtype)t->dtype);
    return copy && tni_tape_ops->copy_(copy, t) == TN_OK ? copy : NULL;
}

/* Of a tangent of x's base: the part that x is of the base. */
static tn_tensor *part_for(const char *function, const tn_tensor *x, tn_tensor *t)
{
    const tn_tensor *base = x->base;
    const uint64_t bits = (x->keys ^ base->keys) & (TNI_KEY_CONJ | TNI_KEY_NEG);
    if (x->dtype == base->dtype && !bits)
        return tni_tape_ops->as_strided(t, x->sizes, x->strides, x->ndim, x->offset);
    const tni_record record = {.dtype = x->dtype == base->dtype ? t->dtype : x->dtype, .device = x->device,
                               .ndim = x->ndim, .sizes = x->sizes, .strides = x->strides, .numel = x->numel,
                               .offset = x->offset, .toggle = tni_toggle(bits)};
    return tni_tensor_view(function, t, &record);
}

/* Whether one is complex, the other its parts. */
static bool are_parts(const tn_tensor *x, const tn_tensor *y)
{
    bool complex = tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX;
    const tn_tensor *whole = complex ? x : y, *parts = complex ? y : x;
    return tni_dtype_kind((tn_dtype)whole->dtype) == TNI_COMPLEX &&
           tni_dtype_kind((tn_dtype)parts->dtype) == TNI_FLOAT &&
           tni_itemsize((tn_dtype)whole->dtype) == 2 * tni_itemsize((tn_dtype)parts->dtype);
}

/* The base of x whose tangent x's is a part of: not where x reads the memory as other numbers. */
static tn_tensor *tangent_base(const tn_tensor *x)
{
    tn_tensor *base = x->base;
    if (!base || x->keys & TNI_KEY_ALOOF)
        return NULL;
    bool same = x->dtype == base->dtype && tni_dtype_kind((tn_dtype)x->dtype) >= TNI_FLOAT;
    return same || are_parts(x, base) ? base : NULL;
}

/* Puts a tangent in its place. */
static tn_status keep(const char *function, tn_tensor *x, tn_tensor *t, uint64_t level)
{
    tni_tape *tape = tni_tape_make(function, x);
    if (!tape)
        return tni_pending();
    tni_ref(&t->object.references);
    pthread_mutex_lock(&lock);
    tape->tangent = t;
    tape->owner = x;
    tape->level = level;
    link_into(&with_tangent, tape);
    x->keys |= TNI_KEY_DUAL;
    pthread_mutex_unlock(&lock);
    return TN_OK;
}

tn_tensor *tni_tangent_find(const char *function, tn_tensor *x)
{
    const tni_tape *tape = tni_tape_of(x);
    if (tape && tape->tangent)
        return tape->tangent;
    const tn_tensor *base = tangent_base(x);
    const tni_tape *whole = base ? tni_tape_of(base) : NULL;
    if (!whole || !whole->tangent || (x->dtype != base->dtype && whole->tangent->dtype != base->dtype))
        return NULL;
    uint64_t exclude = tni_this_thread.exclude;
    tn_scope scope = tn_scope_begin();
    tni_this_thread.exclude = exclude | TNI_KEY_DUAL;
    tn_tensor *part = tni_pending() ? NULL : part_for(function, x, whole->tangent);
    if (part && keep(function, x, part, whole->level))
        part = NULL;
    tni_this_thread.exclude = exclude;
    tn_scope_end(scope);
    return part;
}

static tn_status fail_shape(const char *function, const tn_tensor *x, const tn_tensor *t)
{
    char have[120], need[120];
    tni_text_shape(have, sizeof have, t->sizes, t->ndim);
    tni_text_shape(need, sizeof need, x->sizes, x->ndim);
    return TNI_FAIL(TN_ERROR_FORWARD_AD, function, "the tangent has shape %s, the tensor %s: needed the same", have,
                    need);
}

/* A tangent that was written by hand may have become anything. */
static tn_status check_tangent(const char *function, const tn_tensor *x, tn_tensor *t)
{
    if (!tni_same_dims(x->sizes, x->ndim, t->sizes, t->ndim))
        return fail_shape(function, x, t);
    if (tni_tangent_of(function, t))
        return TNI_FAIL(TN_ERROR_FORWARD_AD, function, "the tangent has a tangent itself, needed one without");
    return tni_pending();
}

/* tni_tangent_put, in a scope of its own. */
static tn_status put(const char *function, tn_tensor *x, tn_tensor *t, uint64_t level, bool written)
{
    tn_tensor *base = written ? tangent_base(x) : NULL;
    const tni_tape *whole = base ? tni_tape_of(base) : NULL;
    if (base && !(whole && whole->tangent) && (x->dtype == base->dtype || x->dtype == t->dtype)) {
        tn_dtype dtype = x->dtype == base->dtype ? (tn_dtype)t->dtype : (tn_dtype)base->dtype;
        bool same = laid_out_as(t, base) && laid_out_as(t, x);
        tn_tensor *all = same ? t : tni_tangent_zeros(base, dtype), *part = t;
        if (!all || (!same && (!(part = part_for(function, x, all)) || tni_tape_ops->copy_(part, t))))
            return tni_pending();
        if (keep(function, base, all, level))
            return tni_pending();
        t = part;
    }
    t = laid_out(t, x);
    return t ? keep(function, x, t, level) : tni_pending();
}

tn_status tni_tangent_put(const char *function, tn_tensor *x, tn_tensor *t, uint64_t level, bool written)
{
    uint64_t exclude = tni_this_thread.exclude;
    tn_scope scope = tn_scope_begin();
    tni_this_thread.exclude = exclude | TNI_KEY_DUAL;
    if (!tni_pending() && check_tangent(function, x, t) == TN_OK)
        put(function, x, t, level, written);
    tni_this_thread.exclude = exclude;
    tn_scope_end(scope);
    return tni_pending();
}

tn_status tni_tangent_hand_on(const char *function, tn_tensor *from, tn_tensor *to)
{
    tn_tensor *t = tni_tangent_of(function, from);
    return t ? keep(function, to, t, tni_tape_of(from)->level) : tni_pending();
}

static tn_status check_dtype(const char *name, const tn_tensor *x)
{
    if (tni_dtype_kind((tn_dtype)x->dtype) >= TNI_FLOAT)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_DTYPE, "make_dual", "%s is %s, needed a floating or complex dtype", name,
                    tn_dtype_name((tn_dtype)x->dtype));
}

static tn_status check_dual(tn_tensor *x, tn_tensor *tangent)
{
    if (tni_check_tensor("make_dual", 1, "self", x) || tni_check_tensor("make_dual", 2, "tangent", tangent))
        return tni_pending();
    if (!tni_this_thread.dual_level)
        return TNI_FAIL(TN_ERROR_FORWARD_AD, "make_dual", "no level is open, needed enter_dual_level before");
    if (check_dtype("self", x) || check_dtype("tangent", tangent))
        return tni_pending();
    if (tni_tangent_of("make_dual", x))
        return TNI_FAIL(TN_ERROR_FORWARD_AD, "make_dual", "self has a tangent already, needed one without");
    if (tni_pending())
        return tni_pending();
    if (tangent->device != x->device)
        return TNI_FAIL(TN_ERROR_DEVICE, "make_dual", "self and tangent are on different devices, needed one");
    return TN_OK;
}

static tn_status alias_infer(tni_call *call, tni_meta *meta)
{
    tni_meta_view(meta, call->in[0]);
    return TN_OK;
}

/* The gradient of the view is a view of the gradient. */
static void dual_vjp(tni_vjp *v)
{
    v->grads[0] = tni_tape_ops->view(v->grad, v->grad->sizes, v->grad->ndim);
}

static void primal_vjp(tni_vjp *v)
{
    v->grads[0] = v->grad;
}

static const tni_derivative dual_derivative = {.name = "ViewBackward0", .linear = true, .vjp = dual_vjp};
static const tni_derivative primal_derivative = {.name = "Identity", .linear = true, .vjp = primal_vjp};

/* Not in the table: their results are made aloof here. */
#define ALIAS .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1, .infer = alias_infer
static const tni_op make_dual_op = {.name = TNI_NAMES_NEW(make_dual), ALIAS, .derivative = &dual_derivative};
static const tni_op primal_op = {.name = TNI_NAMES_NEW(primal), ALIAS, .derivative = &primal_derivative};

/* A view of x without tangent, which takes no part in x's either. */
static tn_tensor *aloof(const tni_op *op, tn_tensor *x)
{
    uint64_t exclude = tni_this_thread.exclude;
    tni_this_thread.exclude = exclude | TNI_KEY_DUAL;
    tn_tensor *view = tni_call_new(op, &x, NULL);
    tni_this_thread.exclude = exclude;
    if (view)
        view->keys = (view->keys & ~TNI_KEY_DUAL) | TNI_KEY_ALOOF;
    return view;
}

tn_tensor *tn_make_dual(tn_tensor *x, tn_tensor *tangent)
{
    tn_tensor *dual = check_dual(x, tangent) ? NULL : aloof(&make_dual_op, x);
    if (dual && tni_tangent_put("make_dual", dual, tangent, tni_this_thread.dual_level, false))
        tn_drop(&dual);
    return tni_pending() ? NULL : dual;
}

static tn_tensor *shared(const char *function, tn_tensor *x)
{
    if (!x || !tni_scope_room(function))
        return NULL;
    tn_retain(x);
    tni_scope_hold(&x->object);
    return x;
}

tn_tensor *tn_primal(tn_tensor *x)
{
    if (tni_check_tensor("primal", 1, "self", x))
        return NULL;
    return tni_this_thread.dual_level ? aloof(&primal_op, x) : shared("primal", x);
}

tn_tensor *tn_tangent(tn_tensor *x)
{
    return tni_check_tensor("tangent", 1, "self", x) ? NULL : shared("tangent", tni_tangent_of("tangent", x));
}
