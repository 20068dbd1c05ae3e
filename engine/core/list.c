/* Lists of tensors: one block, the header and the references behind it. */
#include "core/list.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

struct tn_list {
    tn_object object;
    int64_t size, capacity;
    tn_tensor *tensors[];
};

static void list_destroy(void *object);

/* bytes 0: list_destroy frees the block, whose size the capacity tells. */
static const tn_object_class list_class = {.name = "list", .bytes = 0, .destroy = list_destroy};

static size_t block_bytes(int64_t capacity)
{
    return sizeof(tn_list) + (size_t)capacity * sizeof(tn_tensor *);
}

static void list_destroy(void *object)
{
    tn_list *list = object;
    for (int64_t i = list->size - 1; i >= 0; i--)
        if (list->tensors[i])
            tni_object_release(&list->tensors[i]->object);
    tni_free(list, block_bytes(list->capacity));
}

tn_list *tni_list_new(const char *function, int64_t n)
{
    size_t bytes;
    if (!tni_mul_size((size_t)n, sizeof(tn_tensor *), &bytes) || bytes > SIZE_MAX / 2) {
        TNI_FAIL(TN_ERROR_OVERFLOW, function, "%lld results are more than memory can list", (long long)n);
        return NULL;
    }
    if (!tni_scope_room(function))
        return NULL;
    tn_list *list = tni_alloc(block_bytes(n));
    if (!list) {
        TNI_FAIL_MEMORY(function, block_bytes(n));
        return NULL;
    }
    tni_object_init(&list->object, &list_class);
    list->size = 0;
    list->capacity = n;
    tni_scope_hold(&list->object);
    return list;
}

void tni_list_add(tn_list *list, tn_tensor *x)
{
    list->tensors[list->size++] = tn_object_keep(x);
}

void tni_list_share(tn_list *list, tn_tensor *x)
{
    list->tensors[list->size++] = tn_retain(x);
}

tn_list *tn_list_of(tn_tensor *const *tensors, int64_t n)
{
    if (tni_pending())
        return NULL;
    if (n < 0) {
        TNI_FAIL(TN_ERROR_ARGUMENT, "list_of", "%lld tensors, needed 0 or more", (long long)n);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++)
        if (!tensors || !tensors[i]) {
            TNI_FAIL(TN_ERROR_NULL, "list_of", "argument 1 (tensors) is NULL at tensor %lld", (long long)i);
            return NULL;
        }
    tn_list *list = tni_list_new("list_of", n);
    for (int64_t i = 0; list && i < n; i++)
        tni_list_share(list, tensors[i]);
    return list;
}

static bool is_there(const char *function, const tn_list *list)
{
    if (!list && !tni_pending())
        TNI_FAIL_NULL(function, 1, "list");
    return list != NULL;
}

int64_t tn_list_size(const tn_list *list)
{
    return is_there("list_size", list) ? list->size : 0;
}

tn_tensor *tn_list_get(const tn_list *list, int64_t i)
{
    if (!is_there("list_get", list))
        return NULL;
    int64_t at = i < 0 ? i + list->size : i;
    if (at >= 0 && at < list->size)
        return list->tensors[at];
    TNI_FAIL(TN_ERROR_INDEX, "list_get", "index %lld of a list of %lld, needed %lld .. %lld", (long long)i,
             (long long)list->size, (long long)-list->size, (long long)list->size - 1);
    return NULL;
}

tn_tensor *const *tn_list_tensors(const tn_list *list)
{
    return is_there("list_tensors", list) ? list->tensors : NULL;
}
