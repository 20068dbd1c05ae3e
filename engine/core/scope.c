/* Scopes: who holds what, and when it dies. See Note [Scope slots]. */
#include "core/scope.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

enum { FIRST_SLOTS = 256, FIRST_FRAMES = 16 };

static bool owned_here(const tni_scope_stack *stack, const tn_object *object, uint32_t slot)
{
    return __atomic_load_n(&object->owner, __ATOMIC_RELAXED) == (void *)stack &&
           __atomic_load_n(&object->slot, __ATOMIC_RELAXED) == slot;
}

static void set_hint(const tni_scope_stack *stack, tn_object *object, uint32_t slot)
{
    __atomic_store_n(&object->owner, (void *)stack, __ATOMIC_RELAXED);
    __atomic_store_n(&object->slot, slot, __ATOMIC_RELAXED);
}

void tni_object_destroy_block(tn_object *object)
{
    const tn_object_class *type = object->type;
    if (type->destroy)
        type->destroy(object);
    tni_free(object, type->bytes);
}

/* Gives up the reference of a slot that was just taken out of the stack. */
static void release_slot(tni_scope_stack *stack, tn_object *object, uint32_t slot)
{
    if (tni_unref(&object->references)) {
        tni_object_destroy(object);
        return;
    }
    if (owned_here(stack, object, slot))
        __atomic_store_n(&object->owner, NULL, __ATOMIC_RELAXED);
}

static inline void release_down_to(tni_scope_stack *stack, uint32_t mark)
{
    while (stack->used > mark) {
        uint32_t slot = --stack->used;
        tn_object *object = stack->slots[slot];
        if (object)
            release_slot(stack, object, slot);
        else
            stack->empty--;
    }
}

static void end_frames(tni_scope_stack *stack, uint32_t depth)
{
    release_down_to(stack, stack->frames[depth].mark);
    if (depth > 0)
        stack->depth = depth - 1;
}

void tni_scope_clear(tn_scope scope)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    if (TNI_UNLIKELY(stack->depth > scope.depth))
        end_frames(stack, scope.depth + 1);
    release_down_to(stack, stack->frames[scope.depth].mark);
}

static void free_stack(tni_thread *thread)
{
    tni_scope_stack *stack = thread->scopes;
    thread->scopes = NULL;
    tni_free(stack->slots, stack->capacity * sizeof *stack->slots);
    tni_free(stack->frames, stack->frames_capacity * sizeof *stack->frames);
    tni_free(stack, sizeof *stack);
}

/* A stack that holds nothing gives its memory back, so that the allocator can be replaced. */
static void thread_idle(tni_thread *thread)
{
    if (thread->scopes && thread->scopes->depth == 0 && thread->scopes->used == thread->scopes->empty)
        free_stack(thread);
}

static void thread_ended(tni_thread *thread)
{
    if (!thread->scopes)
        return;
    thread->scopes->depth = 0;
    end_frames(thread->scopes, 0);
    free_stack(thread);
}

static uint64_t stacks_made;

static bool make_stack(const char *function)
{
    tni_scope_stack *stack = tni_alloc_zeroed(sizeof *stack);
    tn_object **slots = tni_alloc(FIRST_SLOTS * sizeof *slots);
    tni_scope_frame *frames = tni_alloc(FIRST_FRAMES * sizeof *frames);
    if (stack && slots && frames && tni_thread_at_end(TNI_THREAD_SCOPES, thread_ended, thread_idle) == TN_OK) {
        stack->slots = slots;
        stack->capacity = FIRST_SLOTS;
        stack->frames = frames;
        stack->frames_capacity = FIRST_FRAMES;
        stack->frames[0] = (tni_scope_frame){.mark = 0, .serial = 0};
        stack->next_serial = (__atomic_add_fetch(&stacks_made, 1, __ATOMIC_RELAXED) << 40) + 1;
        tni_this_thread.scopes = stack;
        return true;
    }
    tni_free(slots, FIRST_SLOTS * sizeof *slots);
    tni_free(frames, FIRST_FRAMES * sizeof *frames);
    tni_free(stack, sizeof *stack);
    TNI_FAIL_MEMORY(function, FIRST_SLOTS * sizeof *slots);
    return false;
}

/* Closes the gaps; marks and hints move along. */
static void compact(tni_scope_stack *stack)
{
    uint32_t kept = 0, frame = 0;
    for (uint32_t slot = 0; slot < stack->used; slot++) {
        while (frame <= stack->depth && stack->frames[frame].mark == slot)
            stack->frames[frame++].mark = kept;
        tn_object *object = stack->slots[slot];
        if (!object)
            continue;
        if (owned_here(stack, object, slot))
            set_hint(stack, object, kept);
        stack->slots[kept++] = object;
    }
    while (frame <= stack->depth)
        stack->frames[frame++].mark = kept;
    stack->used = kept;
    stack->empty = 0;
}

bool tni_scope_grow(const char *function)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    if (!stack)
        return make_stack(function);
    if (stack->empty >= stack->capacity / 2) {
        compact(stack);
        return true;
    }
    size_t bytes, old_bytes = stack->capacity * sizeof *stack->slots;
    tn_object **slots = NULL;
    if (stack->capacity <= UINT32_MAX / 2 && tni_mul_size(old_bytes, 2, &bytes))
        slots = tni_alloc(bytes);
    if (!slots) {
        TNI_FAIL(TN_ERROR_MEMORY, function, "no memory for %u more objects of this thread's scopes", stack->capacity);
        return false;
    }
    memcpy(slots, stack->slots, stack->used * sizeof *slots);
    tni_free(stack->slots, old_bytes);
    stack->slots = slots;
    stack->capacity *= 2;
    return true;
}

tn_scope tn_scope_begin(void)
{
    const tn_scope none = {0, 0};
    if (!tni_this_thread.scopes && !make_stack("scope_begin"))
        return none;
    tni_scope_stack *stack = tni_this_thread.scopes;
    if (stack->depth + 1 == stack->frames_capacity) {
        size_t old_bytes = stack->frames_capacity * sizeof *stack->frames;
        tni_scope_frame *frames = stack->frames_capacity <= UINT32_MAX / 2 ? tni_alloc(2 * old_bytes) : NULL;
        if (!frames) {
            TNI_FAIL_MEMORY("scope_begin", 2 * old_bytes);
            return none;
        }
        memcpy(frames, stack->frames, old_bytes);
        tni_free(stack->frames, old_bytes);
        stack->frames = frames;
        stack->frames_capacity *= 2;
    }
    tn_scope scope = {++stack->depth, stack->next_serial++};
    stack->frames[scope.depth] = (tni_scope_frame){.mark = stack->used, .serial = scope.serial};
    return scope;
}

static bool is_open(const tni_scope_stack *stack, tn_scope scope)
{
    return stack && scope.depth >= 1 && scope.depth <= stack->depth &&
           stack->frames[scope.depth].serial == scope.serial;
}

tn_status tn_scope_end(tn_scope scope)
{
    if (scope.depth == 0)
        return TN_OK;
    if (!is_open(tni_this_thread.scopes, scope))
        return TNI_FAIL(TN_ERROR_STATE, "scope_end", "the scope (depth %u) is not open on this thread", scope.depth);
    end_frames(tni_this_thread.scopes, scope.depth);
    return TN_OK;
}

/* The newest slot that holds the object, or used when there is none. */
static TNI_ASIDE uint32_t search_slot(const tni_scope_stack *stack, const tn_object *object)
{
    for (uint32_t slot = stack->used; slot > 0; slot--)
        if (stack->slots[slot - 1] == object)
            return slot - 1;
    return stack->used;
}

/* The same, by the hint where it is one of this stack. */
static inline uint32_t find_slot(const tni_scope_stack *stack, const tn_object *object)
{
    uint32_t slot = __atomic_load_n(&object->slot, __ATOMIC_RELAXED);
    if (TNI_LIKELY(slot < stack->used && owned_here(stack, object, slot) && stack->slots[slot] == object))
        return slot;
    return search_slot(stack, object);
}

void *tn_scope_escape(tn_scope scope, void *pointer)
{
    tn_object *object = pointer;
    if (!object)
        return NULL;
    tni_scope_stack *stack = tni_this_thread.scopes;
    if (!is_open(stack, scope)) {
        TNI_FAIL(TN_ERROR_STATE, "scope_escape", "the scope (depth %u) is not open on this thread", scope.depth);
        return NULL;
    }
    uint32_t slot = find_slot(stack, object);
    if (slot == stack->used || slot < stack->frames[scope.depth].mark) {
        TNI_FAIL(TN_ERROR_STATE, "scope_escape", "the %s does not belong to the scope", object->type->name);
        return NULL;
    }
    /* from the innermost scope that holds it outwards: change places with the scope's first object, then let the mark
     * pass */
    for (uint32_t depth = stack->depth; depth >= scope.depth; depth--) {
        uint32_t mark = stack->frames[depth].mark;
        if (slot < mark)
            continue;
        tn_object *first = stack->slots[mark];
        stack->slots[slot] = first;
        if (first && owned_here(stack, first, mark))
            set_hint(stack, first, slot);
        stack->slots[mark] = object;
        set_hint(stack, object, mark);
        slot = mark;
        stack->frames[depth].mark = mark + 1;
    }
    if (tni_ref_now(&object->references) > 1) /* it may sit in a newer slot too, and the hint names the newest */
        set_hint(stack, object, search_slot(stack, object));
    return object;
}

void *tn_retain(void *pointer)
{
    tn_object *object = pointer;
    if (object)
        tni_ref(&object->references);
    return object;
}

void tn_release(void *address)
{
    if (!address)
        return;
    tn_object *object;
    memcpy(&object, address, sizeof object);
    memset(address, 0, sizeof object);
    tni_object_release(object);
}

/* Empty slots at the end of the innermost scope serve nobody. */
static void strip_empty(tni_scope_stack *stack)
{
    uint32_t mark = stack->frames[stack->depth].mark;
    while (stack->used > mark && !stack->slots[stack->used - 1]) {
        stack->used--;
        stack->empty--;
    }
}

static TNI_ASIDE tn_status drop_any(void *address, tn_object *object)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    uint32_t slot = stack ? find_slot(stack, object) : 0;
    if (TNI_UNLIKELY(!stack || slot == stack->used))
        return TNI_FAIL(TN_ERROR_STATE, "drop", "no scope of this thread holds the %s", object->type->name);
    memset(address, 0, sizeof object);
    if (slot + 1 == stack->used && slot >= stack->frames[stack->depth].mark) { /* used never falls below a mark */
        stack->used = slot;
        if (TNI_UNLIKELY(stack->empty > 0))
            strip_empty(stack);
    } else {
        stack->slots[slot] = NULL;
        stack->empty++;
    }
    release_slot(stack, object, slot);
    return TN_OK;
}

/* The common object is the newest of the innermost scope, and held by nobody else. Equal to drop_any. */
tn_status tn_drop(void *address)
{
    if (!address)
        return TN_OK;
    tn_object *object;
    memcpy(&object, address, sizeof object);
    if (!object)
        return TN_OK;
    tni_scope_stack *stack = tni_this_thread.scopes;
    uint32_t slot = __atomic_load_n(&object->slot, __ATOMIC_RELAXED);
    if (TNI_UNLIKELY(!stack || slot + 1 != stack->used || stack->slots[slot] != object || stack->empty > 0 ||
                     slot < stack->frames[stack->depth].mark || tni_ref_now(&object->references) != 1))
        return drop_any(address, object);
    memset(address, 0, sizeof object);
    stack->used = slot;
    tni_object_destroy(object);
    return TN_OK;
}

void *tn_adopt(void *pointer)
{
    tn_object *object = pointer;
    if (!object || !tni_scope_room("adopt"))
        return NULL;
    tni_scope_hold(object);
    return object;
}

int64_t tn_use_count(const void *pointer)
{
    const tn_object *object = pointer;
    return object ? (int64_t)tni_ref_now(&object->references) : 0;
}

const tn_object_class *tn_object_type(const void *object)
{
    return ((const tn_object *)object)->type;
}

void *tn_object_new(const tn_object_class *type)
{
    if (tni_pending())
        return NULL;
    if (!type || type->bytes < sizeof(tn_object)) {
        TNI_FAIL(TN_ERROR_ARGUMENT, "object_new", "found %s, needed a class with room for a tn_object",
                 type ? "a smaller one" : "NULL");
        return NULL;
    }
    if (!tni_scope_room(type->name))
        return NULL;
    tn_object *object = tni_alloc_zeroed(type->bytes);
    if (!object) {
        TNI_FAIL_MEMORY(type->name, type->bytes);
        return NULL;
    }
    tni_object_init(object, type);
    tni_scope_hold(object);
    return object;
}
