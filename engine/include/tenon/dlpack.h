/* DLPack: one array in the hands of two libraries, without a copy (NumPy, PyTorch, JAX, CuPy and others speak it).
 *
 * The structs here have the layout of those of DLPack 1.3's C header under names of their own, so that both headers may
 * be included; a pointer to one is cast to the other: (DLManagedTensorVersioned *)tn_to_dlpack(x). The version in the
 * struct tells two generations apart: the versioned one of DLPack 1, and the older one without a version, which many
 * libraries still give.
 *
 * Whoever receives such a struct calls its deleter exactly once, when it needs the memory no more; then the giver may
 * free it. Writes of one side are seen by the other, and what the other side writes counts no version.
 *
 * source  DLPack, https://dmlc.github.io/dlpack/latest/c_api.html */
#ifndef TENON_DLPACK_H
#define TENON_DLPACK_H

#include <stdint.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

enum { TN_DLPACK_MAJOR = 1, TN_DLPACK_MINOR = 3 };

/* Bits of tn_dlpack.flags. */
enum { TN_DLPACK_READ_ONLY = 1, TN_DLPACK_COPIED = 2, TN_DLPACK_SUBBYTE_PADDED = 4 };

/* Device types; those of this library's devices alone. */
enum { TN_DLPACK_CPU = 1 };

/* Codes of element types. */
enum {
    TN_DLPACK_INT = 0,
    TN_DLPACK_UINT = 1,
    TN_DLPACK_FLOAT = 2,
    TN_DLPACK_BFLOAT = 4,
    TN_DLPACK_COMPLEX = 5,
    TN_DLPACK_BOOL = 6,
    TN_DLPACK_FLOAT8_E4M3FN = 10,
    TN_DLPACK_FLOAT8_E4M3FNUZ = 11,
    TN_DLPACK_FLOAT8_E5M2 = 12,
    TN_DLPACK_FLOAT8_E5M2FNUZ = 13,
    TN_DLPACK_FLOAT8_E8M0FNU = 14
};

typedef struct tn_dlpack_device {
    int32_t type;
    int32_t index;
} tn_dlpack_device;

typedef struct tn_dlpack_dtype {
    uint8_t code;
    uint8_t bits;   /* of one lane */
    uint16_t lanes; /* 1: no vector */
} tn_dlpack_dtype;

/* The array: DLTensor. */
typedef struct tn_dlpack_tensor {
    void *data;
    tn_dlpack_device device;
    int32_t ndim;
    tn_dlpack_dtype dtype;
    int64_t *shape;       /* ndim numbers */
    int64_t *strides;     /* ndim numbers, in elements; NULL, before DLPack 1.2: contiguous */
    uint64_t byte_offset; /* of the first element from data */
} tn_dlpack_tensor;

/* The array with its owner, DLPack 1: DLManagedTensorVersioned. */
typedef struct tn_dlpack {
    struct {
        uint32_t major, minor;
    } version;
    void *context; /* the giver's own */
    void (*deleter)(struct tn_dlpack *self);
    uint64_t flags;
    tn_dlpack_tensor tensor;
} tn_dlpack;

/* The same before DLPack 1: DLManagedTensor. */
typedef struct tn_dlpack_unversioned {
    tn_dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct tn_dlpack_unversioned *self);
} tn_dlpack_unversioned;

/* Gives x's memory to another library: no copy. The result is no object of a scope: it lives, and keeps x's storage
 * (not x), until its deleter is called, by any thread. Meanwhile the storage cannot be resized.
 *
 * data points at the first element, byte_offset is 0; shape and strides are x's (never NULL but for 0 dims). Without
 * elements data is NULL. Read-only memory sets the flag TN_DLPACK_READ_ONLY; the struct without flags cannot say so,
 * and is refused then.
 *
 * dtype   all but the quantised and the bits types
 * errors  TN_ERROR_NULL, TN_ERROR_DEVICE (on meta), TN_ERROR_DTYPE, TN_ERROR_STATE (a lazy conjugate, negative or zero
 *         tensor; tn_to_dlpack_unversioned: read-only memory), TN_ERROR_MEMORY
 * cost    O(ndim)
 * source  torch.utils.dlpack.to_dlpack */
TN_API tn_dlpack *tn_to_dlpack(tn_tensor *x);
TN_API tn_dlpack_unversioned *tn_to_dlpack_unversioned(tn_tensor *x);

/* A tensor around another library's memory: no copy. Any byte_offset is taken and folded into the storage's beginning;
 * strides that are NULL mean contiguous. Memory marked read-only is read as any other; every write is refused with
 * TN_ERROR_STATE.
 *
 * The struct passes to the library with the call, whatever comes of it: its deleter (NULL: none) runs exactly once,
 * when the last tensor and storage over the memory has died, or before a call that fails returns (also one that finds
 * an error pending). Glue for Python marks the capsule as used in both cases.
 *
 * result  on the CPU; its storage belongs to the outside and is not resized; negative strides that lead nowhere (a dim
 *         of size 1, no elements) become those of a contiguous tensor
 * errors  TN_ERROR_NULL (no struct, shape or data), TN_ERROR_DEVICE (not the CPU), TN_ERROR_DTYPE (a code, width or
 *         number of lanes that no dtype here has), TN_ERROR_DIM (ndim not 0 .. 64), TN_ERROR_ARGUMENT (another major
 *         version; a negative size or stride; a first element that is not aligned), TN_ERROR_OVERFLOW, TN_ERROR_MEMORY
 * cost    O(ndim)
 * source  torch.from_dlpack */
TN_API tn_tensor *tn_from_dlpack(tn_dlpack *managed);
TN_API tn_tensor *tn_from_dlpack_unversioned(tn_dlpack_unversioned *managed);

TN_END

#endif
