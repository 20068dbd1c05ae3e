/* The tensor: a storage, and the record that reads it as a grid. */
#ifndef TNI_CORE_TENSOR_H
#define TNI_CORE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/storage.h>
#include <tenon/tensor.h>

#include "core/dtype.h"
#include "core/scope.h"
#include "core/storage.h"

/* Dispatch keys that a tensor carries: backends low, layers above (dispatch/keys.h says who is where). */
#define TNI_KEY_CPU (UINT64_C(1) << 0)
#define TNI_KEY_META (UINT64_C(1) << 1)
/* The tensor itself requires a gradient, as a leaf or as a result that was recorded. A view has its base's, too: ask
 * tni_keys. Operators on such tensors are recorded (autograd/record.c). */
enum { TNI_TAPE_BIT = 40 };
#define TNI_KEY_TAPE (UINT64_C(1) << TNI_TAPE_BIT)
/* The tensor may have a tangent, and so may views of it: autograd/tangent.h. */
enum { TNI_DUAL_BIT = 42 };
#define TNI_KEY_DUAL (UINT64_C(1) << TNI_DUAL_BIT)
/* A view that has no part in the tangent of its base (make_dual's result), and views of it. No layer's bit. */
#define TNI_KEY_ALOOF (UINT64_C(1) << 2)

/* Of tensors made in inference mode, and of a thread in that mode: autograd/inference.c. */
enum { TNI_INFERENCE_BIT = 41 };
#define TNI_KEY_INFERENCE (UINT64_C(1) << TNI_INFERENCE_BIT)

/* What is shown of a tensor's autograd metadata. */
typedef struct tni_autograd_facts {
    const char *grad_fn; /* "AddBackward0"; "Invalid" where asking for it is an error; NULL: none */
    bool requires_grad;
    const tn_tensor *tangent; /* NULL: none */
} tni_autograd_facts;

/* What autograd hangs on a tensor. Core knows only how to end and how to show it. */
typedef struct tni_autograd_meta tni_autograd_meta;
typedef struct tni_autograd_class {
    void (*destroy)(tni_autograd_meta *meta);
    void (*facts)(const tn_tensor *x, tni_autograd_facts *facts); /* may be NULL: nothing to show */
} tni_autograd_class;

struct tni_autograd_meta {
    const tni_autograd_class *type;
};

/* How a view came about; what autograd needs to know before it lets the view be written. */
typedef enum tni_creation {
    TNI_CREATED_NORMALLY,
    TNI_CREATED_MULTI_OUTPUT,
    TNI_CREATED_NO_GRAD,
    TNI_CREATED_INFERENCE
} tni_creation;

/* Odd values are contiguous. A row has the strides of a new tensor; the strides of size-1 dims of another contiguous
 * one may be any. */
typedef enum tni_contiguity { TNI_NOT_CONTIGUOUS, TNI_ROW, TNI_CONTIGUITY_UNKNOWN, TNI_CONTIGUOUS } tni_contiguity;

enum { TNI_INLINE_NDIM = 5 }; /* higher ranks keep their dims in a block of their own */

/* Byte i of `traits`, as a number. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TNI_TRAIT(i, value) ((uint64_t)(uint8_t)(value) << 8 * (i))
#else
#define TNI_TRAIT(i, value) ((uint64_t)(uint8_t)(value) << (56 - 8 * (i)))
#endif

struct tn_tensor {
    tn_object object;
    uint64_t keys;
    tni_storage *storage;
    tni_storage *counter; /* whose version counts: Note [Version counters] */
    int64_t offset;
    int64_t numel;
    int64_t *sizes;   /* ndim numbers: inline_dims, or a block of 2 ndim */
    int64_t *strides; /* behind them */
    tn_tensor *base;  /* held; never itself a view */
    tni_autograd_meta *autograd;
    union {
        struct {
            uint8_t dtype;
            uint8_t device;
            int8_t ndim;
            uint8_t creation;
            uint8_t contiguity; /* tni_contiguity: ask tni_contiguous */
            uint8_t has_inner;  /* an inner storage stands behind this struct: Note [One block] */
            uint8_t borrows;    /* holds no reference on its storage: Note [Borrowed storage] */
        };
        uint64_t traits; /* all of them, byte by byte (TNI_TRAIT): makers write them in one store, readers read one */
    };
    int64_t inline_dims[2 * TNI_INLINE_NDIM];
    /* Of a view that was recorded, or made while nothing was: the version at which `autograd` told its history. After
     * another write it is stale, and told anew from the base's. */
    uint32_t tape_version;
};

/* The tensor with its inner storage takes whole cache lines, so that the data behind them is aligned. */
#define TNI_INNER_OFFSET (((sizeof(struct tn_tensor) + 63) / 64) * 64)

static inline tni_storage *tni_inner_storage(tn_tensor *x)
{
    return (tni_storage *)(void *)((char *)x + TNI_INNER_OFFSET);
}

static inline tn_tensor *tni_outer_tensor(tni_storage *inner)
{
    return (tn_tensor *)(void *)((char *)inner - TNI_INNER_OFFSET);
}

/* x's keys; a view requires a gradient when its base does, and has a tangent then, whenever that came about. */
static inline uint64_t tni_keys(const tn_tensor *x)
{
    const tn_tensor *base = x->base;
    return TNI_UNLIKELY(base != NULL) ? x->keys | (base->keys & (TNI_KEY_TAPE | TNI_KEY_DUAL)) : x->keys;
}

static inline bool tni_is_meta(const tn_tensor *x)
{
    return x->device == TN_META;
}

bool tni_find_contiguity(const tn_tensor *x);

/* Whether x is contiguous, found out when first asked. Several threads may ask: they find the same. */
static inline bool tni_contiguous(const tn_tensor *x)
{
    uint8_t known = __atomic_load_n(&x->contiguity, __ATOMIC_RELAXED);
    return TNI_LIKELY(known != TNI_CONTIGUITY_UNKNOWN) ? known & 1 : tni_find_contiguity(x);
}

/* Whether that is known already: for the straight way of a call, which leaves finding out to the plain one. */
static inline bool tni_known_contiguous(const tn_tensor *x)
{
    return __atomic_load_n(&x->contiguity, __ATOMIC_RELAXED) & 1;
}

/* Whether x is known to have the strides of a new tensor of its sizes. */
static inline bool tni_known_row(const tn_tensor *x)
{
    return __atomic_load_n(&x->contiguity, __ATOMIC_RELAXED) == TNI_ROW;
}

/* First element, for reading and writing where the storage has memory. (On meta, whose data is NULL, a number of bytes:
 * hence no arithmetic on pointers.) */
static inline char *tni_data(const tn_tensor *x)
{
    return (char *)((uintptr_t)x->storage->data + (uintptr_t)(x->offset * tni_itemsize((tn_dtype)x->dtype)));
}

static inline void tni_written(tn_tensor *x)
{
    tni_storage_written(x->counter);
}

/* What a new tensor shall be. Sizes passed tni_check_sizes and tni_numel. */
typedef struct tni_record {
    union {
        struct {
            uint8_t dtype;  /* tn_dtype */
            uint8_t device; /* tn_device_type */
            int8_t ndim;
            bool contiguous; /* known to have the strides of a new tensor */
            uint8_t toggle;  /* of a view: which lazy bits change against its base; tni_toggle makes it of keys */
        };
        uint64_t traits; /* all of them; dtype, device and ndim where a tensor's traits have them */
    };
    const int64_t *sizes, *strides; /* copied */
    int64_t numel;
    int64_t offset;
} tni_record;

/* The record of a tensor of these sizes and strides (0 or more; NULL: contiguous, made in the room for 64 at
 * `strides`), offset 0. Checks all but the strides. */
tn_status tni_record_of(const char *function, const int64_t *size, const int64_t *stride, int ndim, tn_dtype dtype,
                        tn_device_type device, tni_record *record, int64_t *strides);

/* Bytes that the record reaches, from the beginning of a storage. */
tn_status tni_record_bytes(const char *function, const tni_record *record, size_t *bytes);

/* A tensor over a storage that is there and holds what the record reaches; takes a reference on it. */
tn_tensor *tni_tensor_over(const char *function, const tni_record *record, tni_storage *storage);

/* tn_from_blob, but for the error that may be pending and the deleter, which it leaves to the caller when it fails. */
tn_tensor *tni_tensor_around(const char *function, void *data, const int64_t *size, int ndim, tn_dtype dtype,
                             const tn_blob_options *options);

/* Refuses an address that elements of the dtype must not be read from. */
tn_status tni_check_aligned(const char *function, const void *data, tn_dtype dtype);

/* A tensor over a new storage of `bytes`, held by the innermost scope; elements undefined.
 * NULL with TN_ERROR_MEMORY or TN_ERROR_OVERFLOW raised in the name of `function`. */
tn_tensor *tni_tensor_new(const char *function, const tni_record *record);

/* A new tensor of contiguous x's sizes and device, contiguous, of another dtype. */
tn_tensor *tni_tensor_like(const char *function, const tn_tensor *x, tn_dtype dtype);

/* A view of x: its storage, its counter, its base. NULL as above. */
tn_tensor *tni_tensor_view(const char *function, tn_tensor *x, const tni_record *record);

/* A zero tensor (Note [Lazy bits]) on the CPU: the record's shape without memory. NULL as above. */
tn_tensor *tni_zero_tensor(const char *function, const tni_record *record);

/* A tensor of x's storage with that record, but no view of x: it counts versions with x, or on its own (from 0). NULL
 * as above. */
tn_tensor *tni_tensor_sharing(const char *function, tn_tensor *x, const tni_record *record, bool own_counter);

/* Makes a view a tensor of its own on the same memory: it has no base any more. */
void tni_tensor_leave_base(tn_tensor *x);

/* Gives x the record's geometry and dtype over its own storage (NULL) or another of the same device, which it then
 * keeps; x's version counter stays: Note [Borrowed storage]. The record may point into x. Nothing changes on an
 * error. */
tn_status tni_tensor_assign(const char *function, tn_tensor *x, const tni_record *record, tni_storage *storage);

/* The geometry that tni_tensor_regrid replaced. It ends by tni_tensor_restore, which cannot fail, or
 * tni_geometry_drop. */
typedef struct tni_geometry {
    int64_t *block; /* the dims of a high rank; NULL when they are inline_dims */
    int64_t numel;
    int ndim;
    uint8_t contiguity;
    int64_t inline_dims[2 * TNI_INLINE_NDIM];
} tni_geometry;

/* The first half of Tensor.resize_: gives x another geometry, which reaches *bytes of its storage; the caller then
 * has the storage grow to that, or restores the old geometry. Nothing changes on an error. */
tn_status tni_tensor_regrid(const char *function, tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim,
                            tni_geometry *old, size_t *bytes);
void tni_tensor_restore(tn_tensor *x, tni_geometry *old);
void tni_geometry_drop(tni_geometry *old);

/* Takes the newest object off the innermost scope and ends it: for a maker that fails after making. */
void tni_tensor_unmake(tn_tensor *x);

/* The checks of each public function: no error pending, x not NULL. */
tn_status tni_check_tensor(const char *function, int number, const char *name, const tn_tensor *x);

#endif
