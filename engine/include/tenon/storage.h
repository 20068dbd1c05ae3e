/* Storages: the row of bytes below a tensor, as an object of its own. Views of one tensor share one storage.
 *
 * Memory comes from the library, or from outside with a deleter: from_blob's, DLPack's. What the library has not
 * allocated is never moved or resized by it.
 *
 * A storage belongs to scopes and references like every object (tenon/scope.h), and lives as long as a tensor reads it
 * or anybody holds it. A storage argument that is NULL is TN_ERROR_NULL; while an error is pending nothing is made or
 * written, and no data given out. What a storage says of itself (tn_storage_size to tn_storage_is_resizable) can be
 * asked even then; of one that is NULL the answer is 0 or false.
 *
 * Threads  as for tensors: several may read at once; one that writes or resizes must be alone. */
#ifndef TENON_STORAGE_H
#define TENON_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_storage tn_storage;

/* Who frees the bytes. */
typedef enum tn_storage_owner {
    TN_OWNER_LIBRARY, /* allocated here */
    TN_OWNER_OUTSIDE  /* memory that came with a deleter, or that the caller keeps */
} tn_storage_owner;

/* Ends the use of memory that came from outside. Called once, when the last tensor and storage over the memory has
 * died, by the thread that ended it, possibly while an error is pending. It may use the library.
 * context  as it came with the memory
 * data     the memory's first byte, as it came */
typedef void (*tn_deleter)(void *context, void *data);

/* The storage that x reads now: held by the innermost scope, it outlives x if need be.
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY
 * cost    O(1)
 * source  Tensor.untyped_storage */
TN_API tn_storage *tn_storage_of(tn_tensor *x);

/* A storage of its own, bytes undefined, on the thread's default device (on meta: a size without memory).
 * errors  TN_ERROR_MEMORY
 * source  torch.UntypedStorage */
TN_API tn_storage *tn_storage_new(size_t nbytes);

/* A tensor over bytes of the storage: no copy. It shares the storage's version counter and is a view of no tensor.
 * offset  of the first element from the storage's beginning, in elements of dtype
 * stride  ndim numbers of 0 or more; NULL: contiguous
 * dtype   any; TN_DTYPE_NONE: the thread's default dtype
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (negative size, stride or offset; bytes that dtype's alignment does not
 *         allow to be read), TN_ERROR_DIM, TN_ERROR_DTYPE, TN_ERROR_OVERFLOW, TN_ERROR_BOUNDS (beyond the storage's
 *         end), TN_ERROR_MEMORY
 * cost    O(ndim)
 * source  Tensor.set_ */
TN_API tn_tensor *tn_from_storage(tn_storage *storage, int64_t offset, const int64_t *size, const int64_t *stride,
                                  int ndim, tn_dtype dtype);

/* self reads the storage from now on, with these sizes, strides and offset in elements of its dtype; the storage grows
 * if it is too small. Counts one version of self.
 * stride  ndim numbers of 0 or more; NULL: contiguous
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a size, stride or offset below 0; bytes that the alignment of self's dtype
 *         does not allow to be read), TN_ERROR_DIM, TN_ERROR_DEVICE (one of the two on meta), TN_ERROR_OVERFLOW,
 *         TN_ERROR_STATE (a storage that can't grow), TN_ERROR_MEMORY; then self stays as it is
 * cost    O(ndim), and what the growth takes
 * source  Tensor.set_ */
TN_API tn_status tn_set_storage_(tn_tensor *self, tn_storage *storage, int64_t offset, const int64_t *size,
                                 const int64_t *stride, int ndim);

/* Bytes in all.
 * errors  TN_ERROR_NULL
 * source  UntypedStorage.nbytes */
TN_API size_t tn_storage_size(const tn_storage *storage);

/* cpu; meta when it has a size and no memory (also below a zero tensor).
 * errors  TN_ERROR_NULL */
TN_API tn_device tn_storage_device(const tn_storage *storage);

/* Who frees the bytes; whether they may be written; whether the size may change: not when the bytes came from outside,
 * nor while their address is given away through DLPack.
 * errors  TN_ERROR_NULL
 * source  UntypedStorage.resizable */
TN_API tn_storage_owner tn_storage_owned_by(const tn_storage *storage);
TN_API bool tn_storage_is_read_only(const tn_storage *storage);
TN_API bool tn_storage_is_resizable(const tn_storage *storage);

/* References held on the storage, as tn_use_count tells: one of each tensor that reads it, but for views, which live on
 * their base's; one of each scope, tn_retain and DLPack tensor that holds it, that of tn_storage_of included.
 * errors  TN_ERROR_NULL */
TN_API int64_t tn_storage_use_count(const tn_storage *storage);

/* The first byte, to read; NULL when there are none, which is no error. Valid while the storage lives and is not
 * resized.
 * errors  TN_ERROR_NULL, TN_ERROR_DEVICE (meta has none); then, and while an error is pending, NULL */
TN_API const void *tn_storage_bytes(const tn_storage *storage);

/* The same to write: counts one version for the tensors that share the storage's counter.
 * errors  as tn_storage_bytes; TN_ERROR_STATE (read-only memory). Then nothing is counted */
TN_API void *tn_storage_bytes_mut(tn_storage *storage);

/* Changes the size; bytes that the old and the new size have stay, further ones are undefined. No tensor's shape
 * changes: one that reaches beyond a smaller end keeps reading bytes that no other storage has, since memory is given
 * back no earlier than the storage ends or grows over it. Growing may move the bytes.
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY, TN_ERROR_STATE (not resizable); then nothing changes
 * cost    O(nbytes) where it grows
 * source  UntypedStorage.resize_ */
TN_API tn_status tn_storage_resize_(tn_storage *storage, size_t nbytes);

/* What tn_from_blob may be told besides; {0} is the default. */
typedef struct tn_blob_options {
    const int64_t *stride; /* ndim numbers of 0 or more, in elements; NULL: contiguous */
    int64_t offset;        /* of the first element from data, in elements */
    size_t nbytes;         /* bytes at data: the tensor must not reach beyond. 0: as many as it reaches */
    bool read_only;        /* every write is refused with TN_ERROR_STATE */
    tn_deleter deleter;    /* NULL: the memory is the caller's, and must outlive every tensor over it */
    void *context;         /* for the deleter */
} tn_blob_options;

/* A tensor around memory of the caller's: no copy, both sides see each other's writes (the caller's count no version).
 *
 * The memory passes to the library with the call, whatever comes of it: the deleter runs exactly once, when the last
 * tensor and storage over the memory has died, or before a call that fails returns (also one that finds an error
 * pending, or arguments that are wrong). So `tn_from_blob(block, ..., free it)` leaks nothing, checked or not.
 *
 * data     the storage's first byte, aligned as dtype asks; may be NULL when the tensor has no elements
 * dtype    any, and given
 * options  may be NULL
 * result   on the CPU; its storage belongs to the outside and is not resized
 * errors   TN_ERROR_NULL, TN_ERROR_ARGUMENT (negative size, stride or offset; a data address that is not aligned),
 *          TN_ERROR_DIM, TN_ERROR_DTYPE, TN_ERROR_OVERFLOW, TN_ERROR_BOUNDS (beyond nbytes), TN_ERROR_MEMORY
 * cost     O(ndim)
 * source   torch::from_blob */
TN_API tn_tensor *tn_from_blob(void *data, const int64_t *size, int ndim, tn_dtype dtype,
                               const tn_blob_options *options);

TN_END

#endif
