/* argmax, argmin: the index of the first largest or smallest element along a dim, or of the flattened tensor; NaN
 * counts as the most. As torch.argmax and torch.argmin. */
#include <string.h>
#include <tenon/ops.h>

#include "autograd/derivative.h"
#include "base/error.h"
#include "base/pool.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/reduce_attr.h"
#include "ops/walk.h"

enum { MOST, LEAST };

static tn_status argmax_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_reduce_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    uint64_t mask;
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    if (attr->dims.n > 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d dims, needed one, or none for the flattened tensor", attr->dims.n);
    if (tni_reduced_dims(name, x, &attr->dims, &mask))
        return tni_pending();
    for (int d = 0; d < x->ndim; d++)
        if (x->sizes[d] == 0 && mask & (UINT64_C(1) << d))
            return TNI_FAIL(TN_ERROR_EMPTY, name, "dim %d has no elements, and nothing has no %s one", d,
                            call->op->family == MOST ? "largest" : "smallest");
    int ndim = tni_reduced_sizes(x, mask, attr->keepdim, meta->room);
    return tni_meta_contiguous(call, meta, ndim, TN_INT64, (tn_device_type)x->device);
}

enum { LEAST_COLUMNS = 16, MANY = 256, SHORT = 64, PIECE = 4096, TASK = 1 << 15 };

/* The dims that are kept, and those that are searched: row-major, merged where they continue one another, so that the
 * first of equals is found first. */
typedef struct plan {
    tni_walk kept;
    int ndim;
    int64_t sizes[TN_MAX_NDIM], strides[TN_MAX_NDIM]; /* innermost first; strides in elements */
    int64_t n;                                        /* elements of one search */
    const char *x;
    int64_t *out;
    tn_dtype x_dtype;
    int lane;
    bool most;
    tni_widening widening;
    const tni_reduce_kernel *extreme;
    const tni_search_kernel *search;
} plan;

static void make_plan(plan *p, const tni_call *call)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const tni_reduce_attr *attr = call->attr;
    uint64_t mask;
    int64_t out_strides[TN_MAX_NDIM];
    tni_reduced_dims(tni_call_name(call), x, &attr->dims, &mask); /* infer made sure */
    p->ndim = 0;
    p->n = 1;
    for (int d = 0, next = 0; d < x->ndim; d++) {
        bool reduced = (mask >> d) & 1;
        out_strides[d] = reduced ? 0 : out->strides[next];
        next += !reduced || attr->keepdim;
    }
    for (int d = x->ndim - 1; d >= 0; d--) {
        int last = p->ndim - 1;
        if (!((mask >> d) & 1) || x->sizes[d] == 1)
            continue;
        p->n *= x->sizes[d];
        if (last >= 0 && x->strides[d] == p->strides[last] * p->sizes[last]) {
            p->sizes[last] *= x->sizes[d];
            continue;
        }
        p->sizes[p->ndim] = x->sizes[d];
        p->strides[p->ndim++] = x->strides[d];
    }
    if (p->ndim == 0) {
        p->sizes[0] = 1;
        p->strides[0] = 0;
        p->ndim = 1;
    }
    tni_walk_make(&p->kept, x, mask, false, out_strides);
    p->x = tni_data(x);
    p->out = (int64_t *)(void *)tni_data(out);
    p->x_dtype = (tn_dtype)x->dtype;
    p->lane = tni_lane_of(p->x_dtype);
    p->most = call->op->family == MOST;
    const tn_dtype compute = tni_lane_dtype(p->lane);
    p->widening = (tni_widening){.from = tni_itemsize(p->x_dtype), .wide = tni_itemsize(compute)};
    if (compute != p->x_dtype)
        p->widening.convert = tni_converter_of(p->x_dtype, compute);
    const tni_reduce_kernels *level = tni_reduce_levels[tni_cpu_level()];
    p->extreme = &level->kernel[p->most ? TNI_MAX : TNI_MIN][p->lane];
    p->search = &level->search[p->most ? TNI_MAX : TNI_MIN][p->lane];
}

/* Whether a comes before b: it is beyond it, or NaN and b is not. */
static bool before(const plan *p, tni_total a, tni_total b)
{
    if (p->lane == TNI_LANE_I64)
        return p->most ? a.i64 > b.i64 : a.i64 < b.i64;
    double x = p->lane == TNI_LANE_F32 ? (double)a.f32 : a.f64, y = p->lane == TNI_LANE_F32 ? (double)b.f32 : b.f64;
    return (p->most ? x > y : x < y) || (x != x && y == y);
}

/* Where the first element that equals value is, or the first NaN if it is one; it is among the n. */
#define FIND(T, name)                                                                                                  \
    static int64_t name(const void *data, int64_t stride, const void *value)                                           \
    {                                                                                                                  \
        const T *x = data;                                                                                             \
        T wanted;                                                                                                      \
        int64_t i = 0;                                                                                                 \
        memcpy(&wanted, value, sizeof wanted);                                                                         \
        while (!(x[i * stride] == wanted || (wanted != wanted && x[i * stride] != x[i * stride])))                     \
            i++;                                                                                                       \
        return i;                                                                                                      \
    }
FIND(float, find_f32)
FIND(double, find_f64)
FIND(int64_t, find_i64)

typedef struct best {
    tni_total value;
    int64_t place; /* -1: nothing yet */
} best;

/* A row whose elements stand at base, base + 1, ... of the search: piece by piece, and only a piece that has a better
 * one is looked through for its place. */
static void search_row(const plan *p, const char *x, int64_t stride, int64_t n, int64_t base, best *b)
{
    static int64_t (*const finds[])(const void *, int64_t, const void *) = {find_f32, find_f64, find_i64};
    _Alignas(64) char block[TNI_BLOCK * 8];
    const int64_t piece = p->widening.convert ? TNI_BLOCK : PIECE;
    for (int64_t i = 0; i < n; i += piece) {
        int64_t some = n - i < piece ? n - i : piece, step = stride;
        const char *here = x + i * stride * p->widening.from;
        if (p->widening.convert) {
            tni_widen(&p->widening, block, here, stride * p->widening.from, some);
            here = block;
            step = 1;
        }
        tni_total value = p->extreme->row(here, step, some);
        if (b->place >= 0 && !before(p, value, b->value))
            continue;
        b->place = base + i + finds[p->lane](here, step, &value);
        b->value = value;
    }
}

/* Task: one result, whatever the dims. */
static void long_task(void *context, int64_t task)
{
    const plan *p = context;
    best b = {.place = -1};
    int64_t out, index[TN_MAX_NDIM] = {0};
    const char *x = p->x + tni_walk_at(&p->kept, task, &out) * p->widening.from;
    for (int64_t base = 0; base < p->n; base += p->sizes[0]) {
        search_row(p, x, p->strides[0], p->sizes[0], base, &b);
        for (int d = 1; d < p->ndim; d++) {
            x += p->strides[d] * p->widening.from;
            if (++index[d] < p->sizes[d])
                break;
            x -= index[d] * p->strides[d] * p->widening.from;
            index[d] = 0;
        }
    }
    p->out[out] = b.place;
}

static int64_t rows_a_task(const plan *p)
{
    return TASK / p->n;
}

/* Task: rows_a_task short rows. */
static void rows_task(void *context, int64_t task)
{
    const plan *p = context;
    const tni_walk *kept = &p->kept;
    const int64_t most = p->widening.convert ? TNI_WIDENED / p->n : MANY;
    _Alignas(64) char block[TNI_WIDENED * 8];
    int64_t at = task * rows_a_task(p), end = at + rows_a_task(p) < kept->numel ? at + rows_a_task(p) : kept->numel;
    while (at < end) {
        int64_t out, places[MANY], rows = kept->sizes[0] - at % kept->sizes[0];
        int64_t row_stride = kept->strides[0], stride = p->strides[0];
        const char *x = p->x + tni_walk_at(kept, at, &out) * p->widening.from;
        rows = rows < end - at ? rows : end - at;
        rows = rows < most ? rows : most;
        rows = rows < MANY ? rows : MANY;
        if (p->widening.convert) {
            row_stride = tni_widen_rows(&p->widening, block, &stride, x, row_stride, stride, rows, p->n);
            x = block;
        }
        p->search->rows(places, x, row_stride, stride, rows, p->n);
        for (int64_t r = 0; r < rows; r++)
            p->out[out + r * kept->out_strides[0]] = places[r];
        at += rows;
    }
}

static int64_t tiles_of(const plan *p)
{
    return (p->kept.sizes[0] + TNI_COLUMNS - 1) / TNI_COLUMNS;
}

/* Task: TNI_COLUMNS results beside each other in memory. */
static void columns_task(void *context, int64_t task)
{
    const plan *p = context;
    const tni_walk *kept = &p->kept;
    const int64_t from = p->widening.from, wide = p->widening.wide, first = task % tiles_of(p) * TNI_COLUMNS;
    int64_t n = kept->sizes[0] - first < TNI_COLUMNS ? kept->sizes[0] - first : TNI_COLUMNS, out;
    const char *x = p->x + tni_walk_at(kept, task / tiles_of(p) * kept->sizes[0] + first, &out) * from;
    _Alignas(64) char row[TNI_COLUMNS * 8], bests[TNI_COLUMNS * 8], places[TNI_COLUMNS * 8];
    tni_converter_of(p->x_dtype, tni_lane_dtype(p->lane))(bests, wide, x, from, n);
    memset(places, 0, (size_t)(n * wide));
    if (!p->widening.convert)
        p->search->columns(bests, places, x, p->strides[0], p->n, n, 0);
    for (int64_t r = 0; p->widening.convert && r < p->n; r++) {
        tni_widen(&p->widening, row, x + r * p->strides[0] * from, from, n);
        p->search->columns(bests, places, row, 0, 1, n, r);
    }
    tni_converter_of(wide == 4 ? TN_INT32 : TN_INT64, TN_INT64)(p->out + out, kept->out_strides[0] * 8, places, wide,
                                                                n);
}

static void argmax_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    plan p;
    make_plan(&p, call);
    void (*body)(void *, int64_t) = long_task;
    int64_t tasks = p.kept.numel;
    if (p.ndim == 1 && p.kept.strides[0] == 1 && p.kept.sizes[0] >= LEAST_COLUMNS && p.n <= INT32_MAX) {
        body = columns_task;
        tasks = p.kept.numel / p.kept.sizes[0] * tiles_of(&p);
    } else if (p.ndim == 1 && p.n <= (p.strides[0] == 1 ? SHORT : TNI_BLOCK)) {
        tni_walk_lengthen(&p.kept, LEAST_COLUMNS);
        body = rows_task;
        tasks = (p.kept.numel + rows_a_task(&p) - 1) / rows_a_task(&p);
    }
    if (p.kept.numel * p.n >= 2 * TNI_GRAIN)
        tni_parallel_for(tasks, body, &p);
    else
        for (int64_t task = 0; task < tasks; task++)
            body(&p, task);
}

static const tni_reduce_attr argmax_default = {.dtype = TN_DTYPE_NONE};

#define SEARCH_OP(row)                                                                              \
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', tni_reduce_attr, dims),              \
               TNI_OPTIONAL("keepdim", 'B', tni_reduce_attr, keepdim)},                             \
    .n_params = 3, .n_in = 1, .n_out = 1, .exact_out_dtype = true, .dtypes = TNI_REALS,             \
    .attr_bytes = sizeof(tni_reduce_attr), .attr_default = &argmax_default, .derivative = &tni_constant,\
    .infer = argmax_infer,  \
    .run = argmax_run, .family = row, .samples = SAMPLES
#define SAMPLES                                                                                     \
    "[3,4] | [3,4] 0 | [3,4] -1 true | [2,3,4] 1 | [] | [] 0 | [0,3] 1 | ! [0,3] | ! [0,3] 0 | "    \
    "! [3,4] 2 | ! [3,4] (0,1)"

const tni_op tni_op_argmax = {.name = TNI_NAMES_NEW_OUT(argmax), SEARCH_OP(MOST)};
const tni_op tni_op_argmin = {.name = TNI_NAMES_NEW_OUT(argmin), SEARCH_OP(LEAST)};

tn_tensor *tn_argmax(tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmax, &x, &attr);
}

tn_tensor *tn_argmax_all(tn_tensor *x, bool keepdim)
{
    const tni_reduce_attr attr = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmax, &x, &attr);
}

tn_status tn_argmax_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_out(&tni_op_argmax, out, &x, &attr);
}

tn_tensor *tn_argmin(tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmin, &x, &attr);
}

tn_tensor *tn_argmin_all(tn_tensor *x, bool keepdim)
{
    const tni_reduce_attr attr = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmin, &x, &attr);
}

tn_status tn_argmin_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_out(&tni_op_argmin, out, &x, &attr);
}
