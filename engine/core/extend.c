/* The rest of tenon/extend.h: memory and text for those outside the engine. */
#include <string.h>
#include <tenon/extend.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

void *tn_object_keep(void *object)
{
    void *held = tn_retain(object);
    if (tn_drop(&object))
        tn_release(&held);
    return held;
}

void *tn_allocate(size_t bytes, const char *function)
{
    if (tni_pending())
        return NULL;
    void *block = tni_alloc_zeroed(bytes);
    if (!block)
        TNI_FAIL_MEMORY(function, bytes);
    return block;
}

void tn_deallocate(void *block, size_t bytes)
{
    tni_free(block, bytes);
}

int tn_format_double(char *buf, size_t size, double value)
{
    return tni_text_double(buf, size, value);
}

int tn_format_float(char *buf, size_t size, float value)
{
    return tni_text_float(buf, size, value);
}

int tn_format_scientific(char *buf, size_t size, double value, int digits)
{
    return tni_text_scientific(buf, size, value, digits);
}

int tn_format_shape(char *buf, size_t size, const int64_t *sizes, int ndim)
{
    return tni_text_shape(buf, size, sizes, ndim);
}
