/* Ending tensors. */
#include <assert.h>

#include "base/alloc.h"
#include "core/tensor.h"
#include "core/tensor_make.h"

static void tensor_destroy(void *object);

/* bytes 0: tensor_destroy frees the block. */
const tn_object_class tni_tensor_class = {.name = "tensor", .bytes = 0, .destroy = tensor_destroy};

/* Ends a tensor of any kind. */
static TNI_ASIDE void destroy_any(tn_tensor *x)
{
    tni_storage *storage = x->borrows ? NULL : x->storage;
    tni_storage *counter = x->counter == x->storage ? NULL : x->counter;
    tni_storage *inner = x->has_inner ? tni_inner_storage(x) : NULL; /* x ends with its block: Note [One block] */
    if (x->autograd)
        x->autograd->type->destroy(x->autograd);
    tni_free_dims(x);
    if (x->base)
        tni_object_release(&x->base->object);
    if (!inner)
        tni_free(x, sizeof *x);
    if (counter && counter != inner)
        tni_storage_release(counter);
    if (storage && storage != inner)
        tni_storage_release(storage);
    if (inner)
        tni_storage_release(inner);
}

static TNI_ASIDE void destroy_recorded(tn_tensor *x)
{
    x->autograd->type->destroy(x->autograd);
    x->autograd = NULL;
    tensor_destroy(x);
}

/* A view that borrows, whose base nobody else holds any more. */
static TNI_ASIDE void destroy_with_base(tn_tensor *x)
{
    tn_tensor *base = x->base;
    tni_free(x, sizeof *x);
    tni_object_destroy(&base->object);
}

/* Whether data that nobody else reads stands apart from x's block, its storage in it. */
static inline bool is_alone_beside(tn_tensor *x)
{
    const tni_storage *storage = x->storage;
    return x->counter == storage && x->has_inner && storage == tni_inner_storage(x) && !x->base && !storage->deleter &&
           tni_ref_now(&storage->object.references) == 1 && !(storage->flags & TNI_STORAGE_INLINE_DATA);
}

/* The common kinds end here: data of its own that nobody else reads; a view that borrows. Equal to
 * destroy_any. What needs a frame is aside. */
static void tensor_destroy(void *object)
{
    tn_tensor *x = object;
    tni_storage *storage = x->storage;
    if (TNI_UNLIKELY(x->sizes != x->inline_dims)) {
        destroy_any(x);
        return;
    }
    if (TNI_UNLIKELY(x->autograd != NULL)) {
        destroy_recorded(x);
        return;
    }
    if (x->borrows) {
        if (TNI_UNLIKELY(tni_unref(&x->base->object.references)))
            destroy_with_base(x);
        else
            tni_free(x, sizeof *x);
        return;
    }
    if (x->counter == storage && x->has_inner && storage == tni_inner_storage(x) &&
        tni_ref_now(&storage->object.references) == 1 && storage->flags & TNI_STORAGE_INLINE_DATA) {
        assert(!x->base);
        tni_free(x, storage->block);
        return;
    }
    if (is_alone_beside(x)) {
        char *data = storage->data;
        const size_t capacity = storage->capacity;
        tni_free(x, storage->block);
        tni_free(data, capacity);
        return;
    }
    destroy_any(x);
}
