/* Tensors and storages as text, exactly as PyTorch 2.15 shows them. The library itself prints nothing: the text goes to
 * a buffer, to a function, or to a string that the scope keeps:
 *
 *     printf("%s\n", tn_repr(x));        tensor([[0, 1, 2],
 *                                                [3, 4, 5]])
 *
 * The text does not depend on the locale. Writing it costs time in proportion to what is shown: of a tensor that is
 * summarised, however large, only the edges are read. */
#ifndef TENON_PRINT_H
#define TENON_PRINT_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/storage.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Whether floats are shown in exponent form. Automatic: when, of the finite ones that are shown and not 0, the largest
 * is above 1e8 or 1000 times the smallest, or the smallest is below 1e-4, signs aside. */
typedef enum tn_sci_mode { TN_SCI_AUTOMATIC, TN_SCI_OFF, TN_SCI_ON } tn_sci_mode;

/* How tensors are shown. Get them, change some, set them; or start from a profile. */
typedef struct tn_print_options {
    int precision; /* digits after the point, 0 .. 1100 */
    tn_sci_mode sci_mode;
    int64_t threshold; /* more elements than this, and the tensor is summarised; INT64_MAX: never */
    int64_t edgeitems; /* elements at each end of a dim that a summary shows, 0 or more */
    int64_t linewidth; /* columns before a line is broken */
} tn_print_options;

/* PyTorch's sets of options. */
typedef enum tn_print_profile {
    TN_PRINT_DEFAULT, /* precision 4, threshold 1000, edgeitems 3, linewidth 80 */
    TN_PRINT_SHORT,   /* precision 2, edgeitems 2 */
    TN_PRINT_FULL     /* threshold INT64_MAX */
} tn_print_profile;

/* The calling thread's options; those of TN_PRINT_DEFAULT at first, and again when NULL is set.
 * errors  tn_set_print_options: TN_ERROR_ARGUMENT (precision, edgeitems or sci_mode out of range); then nothing changes
 * source  torch.set_printoptions, torch.get_printoptions */
TN_API tn_status tn_set_print_options(const tn_print_options *options);
TN_API tn_print_options tn_get_print_options(void);

/* The options of a profile, with sci_mode automatic; those of TN_PRINT_DEFAULT for a number that is no profile.
 * errors  none */
TN_API tn_print_options tn_print_options_of(tn_print_profile profile);

/* The text of a tensor, "tensor(0.3333)", kept by the innermost scope. Never NULL.
 * dtype   any. Quantised ones show the integers that they store, since their scale is not known here; bits types, which
 *         PyTorch does not show, show them too
 * result  a constant string; "" after an error or while one is pending
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY
 * cost    O(elements shown)
 * source  torch.Tensor.__repr__ */
TN_API const char *tn_repr(const tn_tensor *x);

/* The same into a buffer.
 * buf     gets the text, cut to size and terminated; may be NULL if size is 0
 * result  the length of the whole text, as snprintf gives it (INT_MAX for a longer one); 0 and "" after an error or
 *         while one is pending
 * errors  TN_ERROR_NULL */
TN_API int tn_tensor_text(const tn_tensor *x, char *buf, size_t size);

/* Takes the next `bytes` characters of a text, not terminated; returns 0, or anything else to hear no more. */
typedef int (*tn_text_writer)(void *context, const char *text, size_t bytes);

/* The same, piece by piece, without memory for the whole.
 * errors  TN_ERROR_NULL, TN_ERROR_FILE (write did not return 0) */
TN_API tn_status tn_tensor_write(const tn_tensor *x, tn_text_writer write, void *context);

/* The text of a storage, read as elements of dtype, one a line, all of them:
 *      555
 *      1
 *     [torch.storage.TypedStorage(dtype=torch.int64, device=cpu) of size 2]
 * tn_storage_repr gives a string as tn_repr does, tn_storage_text fills a buffer as tn_tensor_text does.
 * dtype   any; TN_DTYPE_NONE: the bytes, as torch.UntypedStorage
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE; tn_storage_repr: TN_ERROR_MEMORY
 * source  Tensor.storage, Tensor.untyped_storage */
TN_API const char *tn_storage_repr(const tn_storage *storage, tn_dtype dtype);
TN_API int tn_storage_text(const tn_storage *storage, tn_dtype dtype, char *buf, size_t size);

TN_END

#endif
