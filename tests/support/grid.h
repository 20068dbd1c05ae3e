/* Tensors as the tests see them: a shape and values by logical index, read and written element by element through
 * strides; and tensors made from them in several layouts, inside storages with guard bytes around. Only public
 * functions are used. */
#ifndef TENON_TESTS_SUPPORT_GRID_H
#define TENON_TESTS_SUPPORT_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/tenon.h>

enum { GRID_NDIM = 8 };

/* A value: f of floats, i of integers and bool (uint64 wraps). Complex and float8 numbers have none. */
typedef struct cell {
    double f;
    int64_t i;
} cell;

typedef struct grid {
    tn_dtype dtype;
    int ndim;
    int64_t sizes[GRID_NDIM];
    int64_t numel;
    cell *cells; /* row-major */
} grid;

grid grid_new(tn_dtype dtype, const int64_t *sizes, int ndim);
void grid_free(grid *g);
grid grid_read(const tn_tensor *x);

/* How the random values are chosen: small ones, or with infinities, NaN, zeros of both signs, subnormals and extreme
 * integers among them. */
typedef enum grid_values { GRID_SMALL, GRID_SPECIAL } grid_values;
void grid_fill(grid *g, grid_values values, uint64_t seed);

/* Positions 0 .. range-1, or range .. -range-1 of a negative range. */
void grid_fill_positions(grid *g, int64_t range, uint64_t seed);

/* The index of element `linear`, and back. */
void grid_index(const grid *g, int64_t linear, int64_t *index);
int64_t grid_linear(const grid *g, const int64_t *index);

/* What a cell of one dtype becomes in another. */
cell cell_convert(cell c, tn_dtype from, tn_dtype to);
/* The same value, NaN equal to NaN, zeros told apart by sign. */
bool cell_same(cell a, cell b, tn_dtype dtype);

bool dtype_is_float(tn_dtype dtype);

/* Row-major numbers of a shape. */
int64_t shape_numel(const int64_t *sizes, int ndim);

typedef enum layout {
    LAYOUT_PLAIN,      /* contiguous, a storage of its own */
    LAYOUT_INSIDE,     /* contiguous, in the middle of a larger storage */
    LAYOUT_TRANSPOSED, /* the first dim is the fastest */
    LAYOUT_SLICED,     /* a stride of 2 and an offset */
    LAYOUT_EXPANDED,   /* the first dim larger than 1 has stride 0 */
    LAYOUTS
} layout;

/* A tensor of g's shape, dtype and values in that layout; afterwards g has the values that the tensor has (an expanded
 * one repeats). */
tn_tensor *layout_tensor(grid *g, layout how);
const char *layout_name(layout how);

/* A meta tensor of the same geometry over a storage of the same size. */
tn_tensor *meta_twin(const tn_tensor *x);

/* Address of element `linear` of x. */
const char *element_address(const tn_tensor *x, int64_t linear);

/* What must not change: storage bytes (guards among them), version, geometry. */
typedef struct snapshot {
    const tn_tensor *tensor;
    unsigned char *bytes;
    size_t nbytes;
    int64_t version, offset, numel;
    int ndim;
    int64_t sizes[GRID_NDIM], strides[GRID_NDIM];
    tn_dtype dtype;
} snapshot;

snapshot snapshot_take(const tn_tensor *x);
/* NULL when nothing changed, else what did. With `written` the elements of that tensor and the version (one more) are
 * excepted; its other bytes are guards. */
const char *snapshot_check(const snapshot *s, const tn_tensor *written);
void snapshot_free(snapshot *s);

#endif
