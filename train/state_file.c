/* Lists of named tensors to write, and questions to a file that was read, with messages that name it. */
#include "state_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tenon/create.h>
#include <tenon/ops.h>

enum { MESSAGE = 256, LONGEST_PATH = 40 };

static tn_status make_room(tni_saving *saving)
{
    if (saving->n < saving->room)
        return TN_OK;
    int64_t larger = saving->room ? 2 * saving->room : 32;
    tn_named_tensor *tensors = tn_allocate((size_t)larger * sizeof *tensors, saving->function);
    if (!tensors)
        return tn_error_code();
    if (saving->n > 0)
        memcpy(tensors, saving->tensors, (size_t)saving->n * sizeof *tensors);
    tn_deallocate(saving->tensors, (size_t)saving->room * sizeof *tensors);
    saving->tensors = tensors;
    saving->room = larger;
    return TN_OK;
}

tn_status tni_saving_add(tni_saving *saving, tn_tensor *tensor, const char *format, ...)
{
    va_list arguments;
    if (tn_error_code() || make_room(saving))
        return tn_error_code();
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *name = tn_allocate((size_t)length + 1, saving->function);
    if (!name)
        return tn_error_code();
    va_start(arguments, format);
    vsnprintf(name, (size_t)length + 1, format, arguments);
    va_end(arguments);
    saving->tensors[saving->n++] = (tn_named_tensor){name, tn_retain(tensor)};
    return TN_OK;
}

tn_status tni_saving_copy(tni_saving *saving)
{
    for (int64_t i = 0; i < saving->n; i++) {
        tn_tensor *copy = tn_clone(saving->tensors[i].tensor);
        if (!copy)
            return tn_error_code();
        tn_release(&saving->tensors[i].tensor);
        saving->tensors[i].tensor = tn_object_keep(copy);
    }
    return TN_OK;
}

void tni_saving_free(tni_saving *saving)
{
    for (int64_t i = 0; i < saving->n; i++) {
        tn_release(&saving->tensors[i].tensor);
        tn_deallocate((void *)(uintptr_t)saving->tensors[i].name, strlen(saving->tensors[i].name) + 1);
    }
    tn_deallocate(saving->tensors, (size_t)saving->room * sizeof *saving->tensors);
    *saving = (tni_saving){.function = saving->function};
}

tn_tensor *tni_tensor_of(const void *data, const int64_t *size, int ndim, tn_dtype dtype)
{
    tn_tensor *x = tn_empty_on(size, ndim, dtype, (tn_device){TN_CPU, 0});
    void *to = x && tn_numel(x) > 0 ? tn_data_mut(x) : NULL;
    if (to)
        memcpy(to, data, (size_t)tn_numel(x) * tn_itemsize(dtype));
    return tn_error_code() ? NULL : x;
}

tn_tensor *tni_row_of(const void *data, int64_t n, tn_dtype dtype)
{
    return tni_tensor_of(data, &n, 1, dtype);
}

const char *tni_shown_name(char text[TNI_SHOWN_NAME], const char *name)
{
    size_t used = 0;
    for (; name[used] && used < TNI_SHOWN_NAME - 1; used++)
        text[used] = (unsigned char)name[used] < ' ' || name[used] == 127 ? '?' : name[used];
    text[used] = '\0';
    if (name[used])
        memcpy(text + used - 3, "...", 3);
    return text;
}

tn_status tni_reading_fail(const tni_reading *reading, tn_status code, const char *source, int line,
                           const char *format, ...)
{
    char text[MESSAGE], path[TNI_SHOWN_NAME];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = strlen(reading->path), skip = length > LONGEST_PATH ? length - (LONGEST_PATH - 3) : 0;
    return tn_fail(code, reading->function, source, line, "'%s%s' %s", skip ? "..." : "",
                   tni_shown_name(path, reading->path + skip), text);
}

static bool has_size(const tn_tensor *x, const int64_t *size, int ndim)
{
    bool same = tn_ndim(x) == ndim;
    for (int i = 0; same && i < ndim; i++)
        same = tn_size(x, i) == size[i];
    return same;
}

tn_tensor *tni_reading_take(const tni_reading *reading, const char *name, const int64_t *size, int ndim,
                            tn_dtype dtype)
{
    char shown[TNI_SHOWN_NAME], found[80], needed[80];
    tn_tensor *x = tn_safetensors_find(reading->file, name);
    tni_shown_name(shown, name);
    if (!x) {
        if (!tn_error_code())
            READING_FAIL(reading, TN_ERROR_NAME, "has no tensor '%s', which is needed", shown);
        return NULL;
    }
    if (tn_tensor_dtype(x) == dtype && has_size(x, size, ndim))
        return x;
    tn_format_shape(found, sizeof found, tn_sizes(x), tn_ndim(x));
    tn_format_shape(needed, sizeof needed, size, ndim);
    READING_FAIL(reading, tn_tensor_dtype(x) == dtype ? TN_ERROR_SHAPE : TN_ERROR_DTYPE,
                 "has tensor '%s' as %s %s, needed %s %s", shown, tn_dtype_name(tn_tensor_dtype(x)), found,
                 tn_dtype_name(dtype), needed);
    return NULL;
}

const void *tni_reading_row(const tni_reading *reading, const char *name, int64_t n, tn_dtype dtype)
{
    tn_tensor *x = tni_reading_take(reading, name, &n, 1, dtype);
    return x ? tn_data(x) : NULL;
}
