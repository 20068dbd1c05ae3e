/* The text of a storage, and strings that a scope keeps. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/print.h"

enum { FIRST_TRY = 4096 };

/* `dtype` TN_DTYPE_NONE: bytes. */
static void put_storage(tni_out *out, const tn_storage *storage, tn_dtype dtype)
{
    char text[TNI_ELEMENT_TEXT];
    bool untyped = dtype == TN_DTYPE_NONE;
    tn_dtype cell = untyped ? TN_UINT8 : dtype;
    size_t bytes = (size_t)tni_itemsize(cell), n = storage->nbytes / bytes;
    if (!storage->data)
        tni_put_text(out, "...\n");
    else if (n == 0)
        tni_put_text(out, " \n");
    for (size_t i = 0; storage->data && i < n; i++) {
        int length = tni_number_text(cell, tni_scalar_load(cell, storage->data + i * bytes), text);
        tni_put(out, " ", 1);
        tni_put(out, text, (size_t)length);
        tni_put(out, "\n", 1);
    }
    tni_put_text(out, untyped ? "[torch.storage.UntypedStorage(" : "[torch.storage.TypedStorage(dtype=torch.");
    if (!untyped) {
        tni_put_text(out, tn_dtype_name(dtype));
        tni_put_text(out, ", ");
    }
    tni_put_text(out, storage->data ? "device=cpu) of size " : "device=meta) of size ");
    tni_put(out, text, (size_t)tni_text_unsigned(text, sizeof text, n));
    tni_put(out, "]", 1);
}

static tn_status check_storage(const char *function, const tn_storage *storage, tn_dtype dtype)
{
    if (tni_pending())
        return tni_pending();
    if (!storage)
        return TNI_FAIL_NULL(function, 1, "storage");
    return dtype == TN_DTYPE_NONE ? TN_OK : tni_check_dtype(function, dtype);
}

int tn_storage_text(const tn_storage *storage, tn_dtype dtype, char *buf, size_t size)
{
    tni_out out = tni_out_buffer(buf, size);
    if (check_storage("storage_text", storage, dtype) == TN_OK)
        put_storage(&out, storage, dtype);
    return tni_out_end(&out);
}

/* A string as an object that scopes own. */
typedef struct text_object {
    tn_object object;
    size_t block; /* bytes of the struct and the text behind it */
    char text[];
} text_object;

static void text_destroy(void *object)
{
    text_object *text = object;
    tni_free(text, text->block);
}

static const tn_object_class text_class = {.name = "text", .bytes = 0, .destroy = text_destroy};

/* A string with room for `length` characters, held by the innermost scope. */
static char *string_new(const char *function, size_t length)
{
    size_t bytes;
    if (!tni_scope_room(function))
        return NULL;
    if (!tni_add_size(length, sizeof(text_object) + 1, &bytes)) {
        TNI_FAIL(TN_ERROR_OVERFLOW, function, "%zu characters are too many", length);
        return NULL;
    }
    text_object *text = tni_alloc(bytes);
    if (!text) {
        TNI_FAIL_MEMORY(function, bytes);
        return NULL;
    }
    tni_object_init(&text->object, &text_class);
    text->block = bytes;
    tni_scope_hold(&text->object);
    return text->text;
}

/* What is put: a tensor, or a storage. */
typedef struct source {
    const tn_tensor *x;
    const tn_storage *storage;
    tn_dtype dtype;
} source;

static void put_source(tni_out *out, const source *from)
{
    if (from->x)
        tni_put_tensor(out, from->x);
    else
        put_storage(out, from->storage, from->dtype);
}

/* Most texts fit the stack at the first try; the others are written twice. */
static const char *string_of(const char *function, const source *from)
{
    char first[FIRST_TRY];
    tni_out out = tni_out_buffer(first, sizeof first);
    put_source(&out, from);
    char *text = string_new(function, out.whole);
    if (!text)
        return "";
    if (out.whole < sizeof first) {
        memcpy(text, first, out.whole);
        text[out.whole] = '\0';
        return text;
    }
    tni_out whole = tni_out_buffer(text, out.whole + 1);
    put_source(&whole, from);
    tni_out_end(&whole);
    return text;
}

const char *tn_repr(const tn_tensor *x)
{
    if (tni_check_tensor("repr", 1, "x", x))
        return "";
    return string_of("repr", &(source){.x = x});
}

const char *tn_storage_repr(const tn_storage *storage, tn_dtype dtype)
{
    if (check_storage("storage_repr", storage, dtype))
        return "";
    return string_of("storage_repr", &(source){.storage = storage, .dtype = dtype});
}
