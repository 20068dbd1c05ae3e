/* The object header's inner side and the stack of scopes that holds objects.
 *
 * Note [Scope slots]
 * A thread's open scopes share one array of object pointers; a scope is a mark in it. Making an object pushes it and
 * notes its slot in the header, so that tn_drop finds it in O(1): the slot becomes NULL, or is popped when it is the
 * last. The header's owner and slot are hints: an object may sit in several slots (tn_contiguous returned it again)
 * or in the stacks of two threads, so a hint is believed only if the slot holds the object, and the stack is searched
 * otherwise. When the array is full and half of it is NULL it is closed up instead of grown, so a loop that makes and
 * drops stays bounded. */
#ifndef TNI_CORE_SCOPE_H
#define TNI_CORE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/scope.h>

#include "base/refcount.h"
#include "base/thread.h"

typedef struct tni_scope_frame {
    uint32_t mark; /* index of the scope's first slot */
    uint64_t serial;
} tni_scope_frame;

typedef struct tni_scope_stack {
    tn_object **slots;
    uint32_t used, capacity;
    uint32_t empty; /* slots below used that are NULL */
    uint32_t depth; /* frames[depth] is the innermost scope; frames[0] the root */
    uint32_t frames_capacity;
    uint64_t next_serial; /* the stack's number in the upper 24 bits: no handle opens another thread's scope */
    tni_scope_frame *frames;
} tni_scope_stack;

/* Makes the thread's stack, or room in it. False with an error raised in the name of `function`. */
bool tni_scope_grow(const char *function);

/* Room for one more object: asked for before making it, so that holding it cannot fail. */
static inline bool tni_scope_room(const char *function)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    return TNI_LIKELY(stack && stack->used < stack->capacity) || tni_scope_grow(function);
}

/* Hands the caller's reference to the innermost scope. There must be room. */
static inline void tni_scope_hold(tn_object *object)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    const uint32_t slot = stack->used;
    __atomic_store_n(&object->owner, (void *)stack, __ATOMIC_RELAXED);
    __atomic_store_n(&object->slot, slot, __ATOMIC_RELAXED);
    stack->slots[slot] = object;
    stack->used = slot + 1;
}

static inline void tni_object_init(tn_object *object, const tn_object_class *type)
{
    object->type = type;
    object->owner = NULL;
    object->slot = 0;
    object->references = 1;
}

/* Gives up all that an open scope of this thread holds, and ends the scopes inside it; it stays open. */
void tni_scope_clear(tn_scope scope);

/* Takes the object that the innermost scope has just got back: the reference is the caller's. */
static inline void tni_scope_unhold(tn_object *object)
{
    tni_this_thread.scopes->used--;
    __atomic_store_n(&object->owner, NULL, __ATOMIC_RELAXED);
}

/* The same for an object that a scope holds at once: tni_scope_hold sets the rest. */
static inline void tni_object_begin(tn_object *object, const tn_object_class *type)
{
    object->type = type;
    object->references = 1;
}

void tni_object_destroy_block(tn_object *object);

/* Destroys an object whose last reference is gone. Classes with bytes == 0 free their own block in destroy. */
static inline void tni_object_destroy(tn_object *object)
{
    const tn_object_class *type = object->type;
    if (TNI_LIKELY(type->bytes == 0))
        type->destroy(object);
    else
        tni_object_destroy_block(object);
}

static inline void tni_object_release(tn_object *object)
{
    if (object && tni_unref(&object->references))
        tni_object_destroy(object);
}

#endif
