/* What lazy bits mean for elements: a sign bit of one or both parts, whatever the float type. See Note [Lazy bits]. */
#include "core/lazy.h"

#include <string.h>

#include "core/geometry.h"
#include "core/iterator.h"

/* One element: `parts` floats of `bytes` each, of which those in `flips` (bit 0: the real part) change sign. */
typedef struct sign_change {
    int parts, bytes;
    unsigned flips;
} sign_change;

static sign_change change_of(const tn_tensor *x)
{
    bool complex = tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX;
    int parts = complex ? 2 : 1;
    sign_change change = {.parts = parts, .bytes = (int)tni_itemsize((tn_dtype)x->dtype) / parts};
    if (x->keys & TNI_KEY_NEG)
        change.flips ^= 3;
    if (complex && x->keys & TNI_KEY_CONJ)
        change.flips ^= 2;
    return change;
}

static inline void change_part(char *part, int bytes)
{
    if (bytes == 2) {
        uint16_t u;
        memcpy(&u, part, sizeof u);
        u ^= UINT16_C(1) << 15;
        memcpy(part, &u, sizeof u);
    } else if (bytes == 4) {
        uint32_t u;
        memcpy(&u, part, sizeof u);
        u ^= UINT32_C(1) << 31;
        memcpy(part, &u, sizeof u);
    } else {
        uint64_t u;
        memcpy(&u, part, sizeof u);
        u ^= UINT64_C(1) << 63;
        memcpy(part, &u, sizeof u);
    }
}

static inline void change_element(char *to, const char *from, const sign_change *change)
{
    memcpy(to, from, (size_t)(change->parts * change->bytes));
    for (int part = 0; part < change->parts; part++)
        if (change->flips >> part & 1)
            change_part(to + part * change->bytes, change->bytes);
}

static void change_row(const tni_row *row)
{
    const sign_change *change = row->context;
    char *to = row->data[0];
    const char *from = row->data[1];
    for (int64_t i = 0; i < row->n; i++, to += row->strides[0], from += row->strides[1])
        change_element(to, from, change);
}

static void copy_changed(const tn_tensor *to, const tn_tensor *from, sign_change change)
{
    tni_iter it;
    tni_iter_begin(&it, to->sizes, to->ndim);
    tni_iter_tensor(&it, to, (tn_dtype)to->dtype);
    tni_iter_tensor(&it, from, (tn_dtype)from->dtype);
    tni_iter_run(&it, change_row, &change);
}

tn_tensor *tni_resolved(const char *function, tn_tensor *x)
{
    int64_t strides[TN_MAX_NDIM];
    tni_record record = {.dtype = x->dtype, .device = x->device, .ndim = x->ndim,
                         .sizes = x->sizes, .strides = strides, .numel = x->numel};
    tni_preserved_strides(x->sizes, x->strides, x->ndim, strides);
    tn_tensor *y = tni_tensor_new(function, &record);
    if (!y || y->numel == 0 || tni_is_meta(y))
        return y;
    if (x->keys & TNI_KEY_ZERO)
        memset(y->storage->data, 0, y->storage->nbytes);
    else
        copy_changed(y, x, change_of(x));
    return y;
}

void tni_store_through(tn_tensor *x, const tn_tensor *from)
{
    if (x->numel > 0 && !tni_is_meta(x))
        copy_changed(x, from, change_of(x));
}

void tni_read_element(const tn_tensor *x, const void *address, void *element)
{
    const sign_change change = change_of(x);
    if (x->keys & TNI_KEY_ZERO)
        memset(element, 0, (size_t)(change.parts * change.bytes));
    else
        change_element(element, address, &change);
}
