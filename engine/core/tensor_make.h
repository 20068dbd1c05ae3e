/* How the fields of a tensor are filled, for the two places that make tensors: core/tensor.c, and the dispatcher, whose
 * cheapest results, views, are made in line. */
#ifndef TNI_CORE_TENSOR_MAKE_H
#define TNI_CORE_TENSOR_MAKE_H

#include <stddef.h>

#include "base/alloc.h"
#include "core/lazy.h"
#include "core/tensor.h"

extern const tn_object_class tni_tensor_class;

/* The small fields of a new tensor as one number: created normally, which is 0. */
static inline uint64_t tni_traits_of(uint8_t dtype, uint8_t device, int ndim, bool row, bool has_inner, bool borrows)
{
    return TNI_TRAIT(0, dtype) | TNI_TRAIT(1, device) | TNI_TRAIT(2, ndim) | TNI_TRAIT(3, TNI_CREATED_NORMALLY) |
           TNI_TRAIT(4, row ? TNI_ROW : TNI_CONTIGUITY_UNKNOWN) | TNI_TRAIT(5, has_inner) |
           TNI_TRAIT(6, borrows);
}

_Static_assert(offsetof(tn_tensor, borrows) == offsetof(tn_tensor, traits) + 6, "as tni_traits_of counts");

static inline void tni_free_dims(tn_tensor *x)
{
    if (TNI_UNLIKELY(x->sizes != x->inline_dims))
        tni_free(x->sizes, 2 * (size_t)x->ndim * sizeof *x->sizes);
}

/* What is made outside of dispatch in inference mode: autograd/inference.c. */
static inline tn_tensor *tni_mark_made(tn_tensor *x)
{
    if (x && tni_this_thread.inference)
        x->keys |= TNI_KEY_INFERENCE;
    return x;
}

/* What does not depend on the geometry. `dims` has room for 2 ndim numbers. A scope must hold x next. */
static inline __attribute__((always_inline)) void tni_set_fields(tn_tensor *x, int64_t *dims, int ndim, uint64_t traits)
{
    tni_object_begin(&x->object, &tni_tensor_class);
    x->sizes = dims;
    x->strides = dims + ndim;
    x->autograd = NULL;
    x->traits = traits;
}

/* What a record gives a tensor besides its dims; storage and base are up to the caller. */
static inline __attribute__((always_inline)) void tni_set_numbers(tn_tensor *x, const tni_record *record,
                                                                  int64_t *dims, uint64_t traits)
{
    tni_set_fields(x, dims, record->ndim, traits);
    x->offset = record->offset;
    x->numel = record->numel;
}

/* The same with the dims. */
static inline void tni_set_record(tn_tensor *x, const tni_record *record, int64_t *dims, uint64_t traits)
{
    int ndim = record->ndim;
    tni_set_numbers(x, record, dims, traits);
    for (int d = 0; d < ndim; d++) { /* singly: a wide load would wait for the narrow stores that infer has just made */
        dims[d] = __atomic_load_n(&record->sizes[d], __ATOMIC_RELAXED);
        dims[ndim + d] = __atomic_load_n(&record->strides[d], __ATOMIC_RELAXED);
    }
}

/* Makes the block x, in whose room `dims` the record's dims stand already, a view of `of`, held by the innermost scope,
 * which has room. */
static inline __attribute__((always_inline)) void tni_set_view(tn_tensor *x, tn_tensor *of, const tni_record *record,
                                                               int64_t *dims)
{
    tni_storage *storage = of->storage, *counter = of->counter;
    tn_tensor *base = of->base ? of->base : of;
    bool borrows = TNI_LIKELY(storage == counter) && counter == base->counter;
    uint64_t creation = of->traits & TNI_TRAIT(3, 255);
    if (tni_this_thread.exclude & TNI_KEY_TAPE) { /* nothing is recorded; the layer that records corrects this */
        creation = TNI_TRAIT(3, TNI_CREATED_NO_GRAD);
        x->tape_version = counter->version;
    }
    const uint64_t shared = TNI_TRAIT(0, 255) | TNI_TRAIT(1, 255) | TNI_TRAIT(2, 255);
    uint64_t traits = TNI_TRAIT(4, TNI_CONTIGUITY_UNKNOWN) | TNI_TRAIT(6, borrows) | creation;
    tni_set_numbers(x, record, dims, (record->traits & shared) | traits);
    x->keys = (of->keys & ~TNI_KEY_TAPE) ^ (uint64_t)record->toggle << TNI_CONJ_BIT;
    x->storage = storage;
    x->counter = counter;
    x->base = base;
    tni_ref(&base->object.references);
    if (TNI_UNLIKELY(!borrows)) {
        tni_ref(&storage->object.references);
        if (counter != storage)
            tni_ref(&counter->object.references);
    }
    tni_scope_hold(&x->object);
}

/* The block of a view to be, which the caller makes one or gives back: NULL, with nothing raised, when the thread has
 * kept none or its innermost scope has no room. */
static inline __attribute__((always_inline)) tn_tensor *tni_view_block(void)
{
    const tni_scope_stack *stack = tni_this_thread.scopes;
    return TNI_LIKELY(stack && stack->used < stack->capacity) ? tni_alloc_kept(sizeof(tn_tensor)) : NULL;
}

#endif
