/* The plain tensor of yardstick_tensor.h. In a file of its own, so that nothing is inlined into the timed loops. */
#include "yardstick_tensor.h"
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_NDIM = 4, CLASSES = 16, SMALLEST = 32 };

typedef struct store {
    int refs, class;
    alignas(16) unsigned char bytes[];
} store;

struct plain {
    int refs, class, dtype, ndim;
    int64_t size[MAX_NDIM], stride[MAX_NDIM], offset;
    store *storage;
};

typedef struct free_block {
    struct free_block *next;
} free_block;

static _Thread_local free_block *free_blocks[CLASSES];

/* The class of a size: classes hold SMALLEST, 2 SMALLEST, 4 SMALLEST ... bytes. */
static int class_of(size_t bytes)
{
    size_t units = (bytes + SMALLEST - 1) / SMALLEST;
    return units <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)(units - 1));
}

static void *take(int class)
{
    free_block *block = free_blocks[class];
    if (block) {
        free_blocks[class] = block->next;
        return block;
    }
    return malloc((size_t)SMALLEST << class);
}

static void give(void *block, int class)
{
    free_block *b = block;
    b->next = free_blocks[class];
    free_blocks[class] = b;
}

static void add_f32(void *out, const void *a, const void *b, int64_t n)
{
    float *z = out;
    const float *x = a, *y = b;
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] + y[i];
}

static void add_f64(void *out, const void *a, const void *b, int64_t n)
{
    double *z = out;
    const double *x = a, *y = b;
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] + y[i];
}

static void mul_f32(void *out, const void *a, const void *b, int64_t n)
{
    float *z = out;
    const float *x = a, *y = b;
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

static void mul_f64(void *out, const void *a, const void *b, int64_t n)
{
    double *z = out;
    const double *x = a, *y = b;
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

typedef void (*pair_loop)(void *, const void *, const void *, int64_t);

static const struct {
    size_t bytes;
    pair_loop add, mul;
} dtypes[PLAIN_DTYPES] = {{4, add_f32, mul_f32}, {8, add_f64, mul_f64}};

void *plain_take(size_t bytes)
{
    return take(class_of(bytes));
}

void plain_give(void *block, size_t bytes)
{
    give(block, class_of(bytes));
}

static plain *record(void)
{
    int class = class_of(sizeof(plain));
    plain *x = take(class);
    if (x) {
        x->refs = 1;
        x->class = class;
    }
    return x;
}

plain *plain_empty(const int64_t *size, int ndim, int dtype)
{
    if (ndim < 0 || ndim > MAX_NDIM || dtype < 0 || dtype >= PLAIN_DTYPES)
        return NULL;
    int64_t numel = 1;
    for (int d = 0; d < ndim; d++)
        if (size[d] < 0 || __builtin_mul_overflow(numel, size[d], &numel))
            return NULL;
    int class = class_of(sizeof(store) + (size_t)numel * dtypes[dtype].bytes);
    store *s = class < CLASSES ? take(class) : NULL;
    plain *x = s ? record() : NULL;
    if (!x) {
        if (s)
            give(s, class);
        return NULL;
    }
    s->refs = 1;
    s->class = class;
    x->dtype = dtype;
    x->ndim = ndim;
    x->offset = 0;
    x->storage = s;
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        x->size[d] = size[d];
        x->stride[d] = stride;
        stride *= size[d];
    }
    return x;
}

void plain_release(plain *x)
{
    if (!x || --x->refs > 0)
        return;
    if (--x->storage->refs == 0)
        give(x->storage, x->storage->class);
    give(x, x->class);
}

static bool is_contiguous(const plain *x)
{
    int64_t stride = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (x->size[d] != 1 && x->stride[d] != stride)
            return false;
        stride *= x->size[d];
    }
    return true;
}

void *plain_data(plain *x)
{
    return x->storage->bytes + (size_t)x->offset * dtypes[x->dtype].bytes;
}

int64_t plain_stride(const plain *x, int dim)
{
    return x->stride[dim];
}

/* The operands' elements in number, or -1 when they don't fit. */
static int64_t pair_numel(const plain *a, const plain *b)
{
    if (!a || !b || a->dtype != b->dtype || a->ndim != b->ndim || !is_contiguous(a) || !is_contiguous(b))
        return -1;
    int64_t numel = 1;
    for (int d = 0; d < a->ndim; d++) {
        if (a->size[d] != b->size[d])
            return -1;
        numel *= a->size[d];
    }
    return numel;
}

plain *plain_add(plain *a, plain *b)
{
    int64_t numel = pair_numel(a, b);
    plain *out = numel < 0 ? NULL : plain_empty(a->size, a->ndim, a->dtype);
    if (out)
        dtypes[a->dtype].add(plain_data(out), plain_data(a), plain_data(b), numel);
    return out;
}

plain *plain_mul(plain *a, plain *b)
{
    int64_t numel = pair_numel(a, b);
    plain *out = numel < 0 ? NULL : plain_empty(a->size, a->ndim, a->dtype);
    if (out)
        dtypes[a->dtype].mul(plain_data(out), plain_data(a), plain_data(b), numel);
    return out;
}

plain *plain_ones_like(plain *x)
{
    plain *y = plain_empty(x->size, x->ndim, x->dtype);
    int64_t numel = y ? pair_numel(x, y) : 0;
    for (int64_t i = 0; i < numel; i++) {
        if (x->dtype == PLAIN_F32)
            ((float *)plain_data(y))[i] = 1;
        else
            ((double *)plain_data(y))[i] = 1;
    }
    return y;
}

plain *plain_hold(plain *x)
{
    x->refs++;
    return x;
}

plain *plain_t(plain *x)
{
    if (!x || x->ndim != 2)
        return NULL;
    plain *view = record();
    if (!view)
        return NULL;
    view->dtype = x->dtype;
    view->ndim = 2;
    view->offset = x->offset;
    view->storage = x->storage;
    x->storage->refs++;
    for (int d = 0; d < 2; d++) {
        view->size[d] = x->size[1 - d];
        view->stride[d] = x->stride[1 - d];
    }
    return view;
}

plain *plain_slice(plain *x, int64_t start, int64_t stop)
{
    if (!x || x->ndim != 2 || start < 0 || stop < start || stop > x->size[0])
        return NULL;
    plain *view = record();
    if (!view)
        return NULL;
    view->dtype = x->dtype;
    view->ndim = 2;
    view->offset = x->offset + start * x->stride[0];
    view->storage = x->storage;
    x->storage->refs++;
    for (int d = 0; d < 2; d++) {
        view->size[d] = x->size[d];
        view->stride[d] = x->stride[d];
    }
    view->size[0] = stop - start;
    return view;
}
