/* Memory formats: names, strides, and whether a tensor has one. Rules of torch.memory_format. */
#include "core/format.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/tensor.h"

static const char *const names[] = {
    [TN_CONTIGUOUS_FORMAT] = "contiguous",
    [TN_CHANNELS_LAST] = "channels_last",
    [TN_CHANNELS_LAST_3D] = "channels_last_3d",
    [TN_PRESERVE_FORMAT] = "preserve",
};

enum { FORMATS = sizeof names / sizeof *names };

tn_memory_format tn_memory_format_from_name(const char *name)
{
    if (tni_pending())
        return TN_CONTIGUOUS_FORMAT;
    for (int i = 0; name && i < FORMATS; i++)
        if (strcmp(names[i], name) == 0)
            return (tn_memory_format)i;
    if (!name)
        TNI_FAIL_NULL("memory_format_from_name", 1, "name");
    else
        TNI_FAIL(TN_ERROR_NAME, "memory_format_from_name",
                 "found \"%.40s\", needed contiguous, channels_last, channels_last_3d or preserve", name);
    return TN_CONTIGUOUS_FORMAT;
}

const char *tn_memory_format_name(tn_memory_format format)
{
    return (unsigned)format < FORMATS ? names[format] : "invalid";
}

/* The dims of channels-last of that rank, innermost first. */
static const int *channels_order(int ndim)
{
    static const int four[] = {1, 3, 2, 0}, five[] = {1, 4, 3, 2, 0};
    return ndim == 5 ? five : four;
}

static int rank_of(tn_memory_format format)
{
    return format == TN_CHANNELS_LAST ? 4 : 5;
}

tn_status tni_check_format(const char *function, tn_memory_format format, const int64_t *sizes, int ndim)
{
    char shape[120];
    if ((unsigned)format >= FORMATS)
        return TNI_FAIL(TN_ERROR_ARGUMENT, function, "memory format %d, needed 0 .. %d", (int)format, FORMATS - 1);
    bool channels = format == TN_CHANNELS_LAST || format == TN_CHANNELS_LAST_3D;
    if (!channels || ndim == rank_of(format))
        return TN_OK;
    tni_text_shape(shape, sizeof shape, sizes, ndim);
    return TNI_FAIL(TN_ERROR_FORMAT, function, "%s for %s of %d dims, needed %d dims", names[format], shape, ndim,
                    rank_of(format));
}

void tni_format_strides(tn_memory_format format, const int64_t *sizes, int ndim, int64_t *strides)
{
    if (format != TN_CHANNELS_LAST && format != TN_CHANNELS_LAST_3D) {
        tni_contiguous_strides(sizes, ndim, strides);
        return;
    }
    const int *order = channels_order(ndim);
    int64_t stride = 1;
    for (int i = 0; i < ndim; i++) {
        strides[order[i]] = stride;
        stride *= sizes[order[i]]; /* a size of 0 makes those outside it 0, as in PyTorch */
    }
}

bool tni_has_format(tn_memory_format format, const int64_t *sizes, const int64_t *strides, int ndim)
{
    if (format == TN_CONTIGUOUS_FORMAT || format == TN_PRESERVE_FORMAT)
        return tni_is_contiguous(sizes, strides, ndim);
    if (ndim != rank_of(format))
        return false;
    const int *order = channels_order(ndim);
    int64_t expected = 1;
    for (int i = 0; i < ndim; i++) {
        int64_t size = sizes[order[i]];
        if (size == 1)
            continue;
        if (strides[order[i]] != expected)
            return false;
        expected *= size;
    }
    return true;
}

bool tn_is_contiguous_in(const tn_tensor *x, tn_memory_format format)
{
    if (!x) {
        if (!tni_pending())
            TNI_FAIL_NULL("is_contiguous_in", 1, "x");
        return false;
    }
    return tni_has_format(format, x->sizes, x->strides, x->ndim);
}

/* Whether the strides ask for channels last of that rank: they do not fall from the innermost of its dims outwards, and
 * where sizes of 1 leave it open, row-major order is meant. As Tensor.suggest_memory_format. */
static bool looks_channels_last(const tn_tensor *x, int ndim)
{
    static const int four[] = {1, 3, 2, 0}, five[] = {1, 4, 3, 2, 0};
    const int *order = ndim == 4 ? four : five;
    int64_t least = 0;
    if (x->ndim != ndim || x->strides[1] == 0)
        return false;
    for (int i = 0; i < ndim; i++) {
        int d = order[i];
        if (x->sizes[d] == 0 || x->strides[d] < least || (d == 0 && least == x->strides[1]))
            return false;
        least = x->strides[d] * (x->sizes[d] > 1 ? x->sizes[d] : 1);
    }
    return true;
}

tn_memory_format tni_suggested_format(const tn_tensor *x)
{
    if (looks_channels_last(x, 4))
        return TN_CHANNELS_LAST;
    return looks_channels_last(x, 5) ? TN_CHANNELS_LAST_3D : TN_CONTIGUOUS_FORMAT;
}
