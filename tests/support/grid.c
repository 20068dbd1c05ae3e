/* See grid.h. */
#include "support/grid.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { GUARD = 9 }; /* elements before and behind */

bool dtype_is_float(tn_dtype dtype)
{
    return tn_is_floating_point(dtype);
}

/* The floats narrower than float32: bits of exponent and mantissa, and the exponent's bias. */
typedef struct narrow {
    int exponent, mantissa, bias;
} narrow;

static narrow narrow_of(tn_dtype dtype)
{
    return dtype == TN_FLOAT16 ? (narrow){5, 10, 15} : (narrow){8, 7, 127}; /* or bfloat16 */
}

static bool is_half(tn_dtype dtype)
{
    return dtype == TN_FLOAT16 || dtype == TN_BFLOAT16;
}

/* x to the nearest number of the narrow dtype, to even between two; beyond the largest it is infinite. */
static double narrowed(double x, tn_dtype dtype)
{
    const narrow n = narrow_of(dtype);
    double single = (double)(float)x;
    if (single == 0 || !isfinite(single))
        return single;
    int exponent = ilogb(single), least = 1 - n.bias;
    double step = ldexp(1, (exponent < least ? least : exponent) - n.mantissa);
    double near = rint(single / step) * step, most = ldexp(2 - ldexp(1, -n.mantissa), n.bias);
    return fabs(near) > most ? copysign((double)INFINITY, single) : copysign(near, single);
}

static double decoded(unsigned code, tn_dtype dtype)
{
    const narrow n = narrow_of(dtype);
    unsigned mantissa = code & ((1U << n.mantissa) - 1), exponent = (code >> n.mantissa) & ((1U << n.exponent) - 1);
    double sign = code >> 15 ? -1 : 1;
    if (exponent == (1U << n.exponent) - 1)
        return mantissa ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp((double)mantissa, 1 - n.bias - n.mantissa);
    return sign * ldexp((double)(mantissa + (1U << n.mantissa)), (int)exponent - n.bias - n.mantissa);
}

static unsigned encoded(double x, tn_dtype dtype)
{
    const narrow n = narrow_of(dtype);
    unsigned sign = signbit(x) ? 0x8000 : 0, infinite = ((1U << n.exponent) - 1) << n.mantissa;
    if (isnan(x))
        return infinite | 1U << (n.mantissa - 1);
    x = fabs(narrowed(x, dtype));
    if (isinf(x))
        return sign | infinite;
    int exponent = x == 0 ? -10000 : ilogb(x);
    if (exponent < 1 - n.bias)
        return sign | (unsigned)ldexp(x, n.bias - 1 + n.mantissa);
    return sign | (((unsigned)(exponent + n.bias - 1) << n.mantissa) + (unsigned)ldexp(x, n.mantissa - exponent));
}

/* An integer as `dtype` wraps it. */
static int64_t wrapped(int64_t i, tn_dtype dtype)
{
    int shift = 64 - 8 * (int)tn_itemsize(dtype);
    return tn_is_signed(dtype) ? (int64_t)((uint64_t)i << shift) >> shift : (int64_t)((uint64_t)i << shift >> shift);
}

int64_t shape_numel(const int64_t *sizes, int ndim)
{
    int64_t numel = 1;
    for (int d = 0; d < ndim; d++)
        numel *= sizes[d];
    return numel;
}

grid grid_new(tn_dtype dtype, const int64_t *sizes, int ndim)
{
    grid g = {.dtype = dtype, .ndim = ndim};
    assert_true(ndim <= GRID_NDIM);
    for (int d = 0; d < ndim; d++)
        g.sizes[d] = sizes[d];
    g.numel = shape_numel(sizes, ndim);
    g.cells = calloc((size_t)g.numel + 1, sizeof *g.cells);
    assert_non_null(g.cells);
    return g;
}

void grid_free(grid *g)
{
    free(g->cells);
    g->cells = NULL;
}

void grid_index(const grid *g, int64_t linear, int64_t *index)
{
    for (int d = g->ndim - 1; d >= 0; d--) {
        index[d] = linear % g->sizes[d];
        linear /= g->sizes[d];
    }
}

int64_t grid_linear(const grid *g, const int64_t *index)
{
    int64_t linear = 0;
    for (int d = 0; d < g->ndim; d++)
        linear = linear * g->sizes[d] + index[d];
    return linear;
}

const char *element_address(const tn_tensor *x, int64_t linear)
{
    const int64_t *sizes = tn_sizes(x), *strides = tn_strides(x);
    int64_t at = tn_storage_offset(x);
    for (int d = tn_ndim(x) - 1; d >= 0; d--) {
        at += linear % sizes[d] * strides[d];
        linear /= sizes[d];
    }
    return (const char *)tn_storage_data(x) + at * (int64_t)tn_itemsize(tn_tensor_dtype(x));
}

static cell load(const void *from, tn_dtype dtype)
{
    cell c = {0, 0};
    float f32;
    unsigned char byte;
    switch (dtype) {
    case TN_FLOAT32:
        memcpy(&f32, from, sizeof f32);
        c.f = (double)f32;
        break;
    case TN_FLOAT64:
        memcpy(&c.f, from, sizeof c.f);
        break;
    case TN_INT64:
        memcpy(&c.i, from, sizeof c.i);
        break;
    case TN_BOOL:
        memcpy(&byte, from, sizeof byte);
        assert_true(byte <= 1); /* a bool is 0 or 1 */
        c.i = byte;
        break;
    case TN_FLOAT16:
    case TN_BFLOAT16: {
        uint16_t code;
        memcpy(&code, from, sizeof code);
        c.f = decoded(code, dtype);
        break;
    }
    default:
        if (tn_is_complex(dtype) || dtype_is_float(dtype))
            fail_msg("no cells of %s", tn_dtype_name(dtype));
        memcpy(&c.i, from, tn_itemsize(dtype));
        c.i = wrapped(c.i, dtype);
    }
    return c;
}

static void store(void *to, cell c, tn_dtype dtype)
{
    float f32 = (float)c.f;
    unsigned char byte = c.i != 0;
    switch (dtype) {
    case TN_FLOAT32:
        memcpy(to, &f32, sizeof f32);
        break;
    case TN_FLOAT64:
        memcpy(to, &c.f, sizeof c.f);
        break;
    case TN_INT64:
        memcpy(to, &c.i, sizeof c.i);
        break;
    case TN_BOOL:
        memcpy(to, &byte, sizeof byte);
        break;
    case TN_FLOAT16:
    case TN_BFLOAT16: {
        uint16_t code = (uint16_t)encoded(c.f, dtype);
        memcpy(to, &code, sizeof code);
        break;
    }
    default:
        memcpy(to, &c.i, tn_itemsize(dtype));
    }
}

grid grid_read(const tn_tensor *x)
{
    grid g = grid_new(tn_tensor_dtype(x), tn_sizes(x), tn_ndim(x));
    for (int64_t i = 0; i < g.numel; i++)
        g.cells[i] = load(element_address(x, i), g.dtype);
    return g;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void grid_fill(grid *g, grid_values values, uint64_t seed)
{
    static const double floats[] = {
        0.0, -0.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 1e30, -1e-40, 88.9, -104.0, 1, 20.5, -1e19};
    static const int64_t integers[] = {0, INT64_MIN, INT64_MAX, -1, 1, (INT64_C(1) << 53) + 1, -(INT64_C(1) << 31)};
    uint64_t state = seed;
    for (int64_t i = 0; i < g->numel; i++) {
        uint64_t r = next_random(&state);
        bool special = values == GRID_SPECIAL && r % 3 == 0;
        r >>= 8;
        if (g->dtype == TN_BOOL)
            g->cells[i].i = r & 1;
        else if (!dtype_is_float(g->dtype))
            g->cells[i].i = !tn_is_signed(g->dtype)
                                ? (int64_t)(special ? r % 256 : r % 19)
                                : wrapped(special ? integers[r % 7] : (int64_t)(r % 19) - 9, g->dtype);
        else
            g->cells[i].f =
                special ? floats[r % 12] : ((double)(r % 8193) - 4096) / 1024 + (double)(r >> 32 & 0xff) * 1e-6;
        if (g->dtype == TN_FLOAT32)
            g->cells[i].f = (double)(float)g->cells[i].f;
        if (is_half(g->dtype))
            g->cells[i].f = narrowed(g->cells[i].f, g->dtype);
    }
}

void grid_fill_positions(grid *g, int64_t range, uint64_t seed)
{
    uint64_t state = seed;
    int64_t least = range < 0 ? range : 0, count = range < 0 ? -2 * range : range;
    for (int64_t i = 0; i < g->numel; i++)
        g->cells[i].i = least + (int64_t)((next_random(&state) >> 16) % (uint64_t)count);
}

cell cell_convert(cell c, tn_dtype from, tn_dtype to)
{
    cell out = {0, 0};
    bool real = dtype_is_float(from);
    switch (to) {
    case TN_FLOAT32:
        out.f = real ? (double)(float)c.f : (double)(float)c.i;
        break;
    case TN_FLOAT64:
        out.f = real ? c.f : (double)c.i;
        break;
    case TN_FLOAT16:
    case TN_BFLOAT16:
        out.f = narrowed(real ? c.f : (double)(float)c.i, to);
        break;
    default: /* int8, int16 and uint16 by way of int32, as PyTorch has it */
        out.i = !real ? c.i : c.f >= -0x1p63 && c.f < 0x1p63 ? (int64_t)c.f : INT64_MIN;
        if (real && (to == TN_INT8 || to == TN_INT16 || to == TN_INT32 || to == TN_UINT16) &&
            !(c.f > -0x1p31 - 1 && c.f < 0x1p31))
            out.i = INT32_MIN;
        out.i = wrapped(out.i, to);
        break;
    case TN_BOOL:
        out.i = real ? c.f != 0 || isnan(c.f) : c.i != 0;
    }
    return out;
}

bool cell_same(cell a, cell b, tn_dtype dtype)
{
    if (!dtype_is_float(dtype))
        return a.i == b.i;
    if (isnan(a.f) || isnan(b.f))
        return isnan(a.f) && isnan(b.f);
    return a.f == b.f && signbit(a.f) == signbit(b.f);
}

const char *layout_name(layout how)
{
    static const char *const names[LAYOUTS] = {"plain", "inside", "transposed", "sliced", "expanded"};
    return names[how];
}

/* Strides of the layout, and the elements that they span. */
static int64_t layout_strides(const grid *g, layout how, int64_t *strides)
{
    int64_t stride = 1, span = 1;
    bool repeated = how != LAYOUT_EXPANDED;
    for (int k = 0; k < g->ndim; k++) {
        int d = how == LAYOUT_TRANSPOSED ? k : g->ndim - 1 - k;
        strides[d] = stride * (how == LAYOUT_SLICED ? 2 : 1);
        stride *= g->sizes[d] > 1 ? g->sizes[d] : 1;
    }
    for (int d = 0; d < g->ndim && !repeated; d++) {
        if (g->sizes[d] > 1) {
            strides[d] = 0;
            repeated = true;
        }
    }
    for (int d = 0; d < g->ndim; d++)
        span += g->sizes[d] > 0 ? (g->sizes[d] - 1) * strides[d] : 0;
    return span;
}

tn_tensor *layout_tensor(grid *g, layout how)
{
    int64_t strides[GRID_NDIM] = {0};
    size_t itemsize = tn_itemsize(g->dtype);
    int64_t span = layout_strides(g, how, strides), room = span + 2 * GUARD;
    tn_tensor *x;
    if (how == LAYOUT_PLAIN) {
        unsigned char *bytes = calloc((size_t)g->numel + 1, itemsize);
        for (int64_t i = 0; i < g->numel; i++)
            store(bytes + (size_t)i * itemsize, g->cells[i], g->dtype);
        x = tn_from_array(bytes, g->sizes, g->ndim, g->dtype);
        free(bytes);
    } else {
        tn_tensor *base = tn_empty(&room, 1, g->dtype);
        assert_non_null(base);
        memset(tn_data_mut(base), g->dtype == TN_BOOL ? 1 : 0xa5, (size_t)room * itemsize);
        x = tn_as_strided(base, g->sizes, strides, g->ndim, GUARD);
        for (int64_t i = 0; x && i < g->numel; i++)
            store((char *)(uintptr_t)element_address(x, i), g->cells[i], g->dtype);
    }
    if (!x)
        fail_msg("no %s tensor: %s", layout_name(how), tn_error_message());
    for (int64_t i = 0; i < g->numel; i++)
        g->cells[i] = load(element_address(x, i), g->dtype);
    return x;
}

tn_tensor *meta_twin(const tn_tensor *x)
{
    const tn_device meta = {TN_META, 0}, before = tn_get_default_device();
    int64_t elements = (int64_t)(tn_storage_nbytes(x) / tn_itemsize(tn_tensor_dtype(x)));
    tn_set_default_device(meta);
    tn_tensor *base = tn_empty(&elements, 1, tn_tensor_dtype(x));
    tn_tensor *twin = tn_as_strided(base, tn_sizes(x), tn_strides(x), tn_ndim(x), tn_storage_offset(x));
    tn_set_default_device(before);
    return twin;
}

snapshot snapshot_take(const tn_tensor *x)
{
    snapshot s = {.tensor = x,
                  .nbytes = tn_storage_nbytes(x),
                  .version = tn_version(x),
                  .offset = tn_storage_offset(x),
                  .numel = tn_numel(x),
                  .ndim = tn_ndim(x),
                  .dtype = tn_tensor_dtype(x)};
    s.bytes = malloc(s.nbytes + 1);
    if (s.nbytes > 0 && tn_storage_data(x))
        memcpy(s.bytes, tn_storage_data(x), s.nbytes);
    for (int d = 0; d < s.ndim; d++) {
        s.sizes[d] = tn_sizes(x)[d];
        s.strides[d] = tn_strides(x)[d];
    }
    return s;
}

const char *snapshot_check(const snapshot *s, const tn_tensor *written)
{
    const tn_tensor *x = s->tensor;
    bool shared = written && tn_is_same_storage(written, x);
    if (tn_version(x) != s->version + shared)
        return shared ? "the version is not one more" : "the version";
    if (tn_storage_offset(x) != s->offset || tn_numel(x) != s->numel || tn_ndim(x) != s->ndim ||
        tn_tensor_dtype(x) != s->dtype)
        return "the record";
    for (int d = 0; d < s->ndim; d++)
        if (tn_sizes(x)[d] != s->sizes[d] || tn_strides(x)[d] != s->strides[d])
            return "sizes or strides";
    const unsigned char *bytes = tn_storage_data(x);
    if (tn_storage_nbytes(x) < s->nbytes)
        return "the storage's size";
    if (s->nbytes == 0 || !bytes)
        return NULL;
    if (!shared)
        return memcmp(bytes, s->bytes, s->nbytes) == 0 ? NULL : "the bytes";
    unsigned char *mine = malloc(s->nbytes);
    memcpy(mine, bytes, s->nbytes);
    size_t itemsize = tn_itemsize(tn_tensor_dtype(written));
    for (int64_t i = 0; i < tn_numel(written); i++) {
        size_t at = (size_t)(element_address(written, i) - (const char *)bytes);
        memcpy(mine + at, s->bytes + at, itemsize);
    }
    bool same = memcmp(mine, s->bytes, s->nbytes) == 0;
    free(mine);
    return same ? NULL : "bytes outside the tensor";
}

void snapshot_free(snapshot *s)
{
    free(s->bytes);
    s->bytes = NULL;
}
