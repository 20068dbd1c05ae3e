/* Reductions: sum, mean, amax, amin. Rules of torch's functions of these names.
 *
 * Note [Order of sums]
 * The elements that fall into one result are walked in the order of memory and cut into pieces of PIECE along the
 * walk. A piece is summed in 32 lanes and a tree, the pieces' sums are added pairwise (a binary counter of partial
 * sums), and so are the chunks of CHUNK elements that threads take. Where the kept dim is the dense one, rows are
 * added to a row of totals instead, BAND rows at a time into a fresh row of totals that is then added to the result.
 * All of it depends on shape and strides alone: the same bits for every thread count. The error of a float64 sum is
 * of the order of (PIECE / 32 + log2 n) eps, as pairwise summation has it; a float32 sum is rounded once. */
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/pool.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/reduce_attr.h"

enum { PIECE = 4096, CHUNK = 1 << 16, BAND = 128, LEAST_COLUMNS = 16 };

enum { SUM, MEAN, AMAX, AMIN };

extern const tni_reduce_kernels tni_reduce_baseline, tni_reduce_avx2, tni_reduce_avx512;

const tni_reduce_kernels *const tni_reduce_levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = &tni_reduce_baseline,
    [TNI_CPU_AVX2] = &tni_reduce_avx2,
    [TNI_CPU_AVX512] = &tni_reduce_avx512,
};

tn_status tni_reduced_dims(const char *name, const tn_tensor *x, const tni_ints *dims, uint64_t *mask)
{
    *mask = 0;
    if (dims->n < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d dims, needed 0 or more", dims->n);
    if (dims->n > 0 && !dims->data)
        return TNI_FAIL_NULL(name, 2, "dims");
    if (dims->n == 0) {
        *mask = ~UINT64_C(0);
        return TN_OK;
    }
    for (int i = 0; i < dims->n; i++) {
        int dim = tni_wrap_dim(name, dims->data[i], x->ndim);
        if (dim < 0)
            return tni_pending();
        if (*mask & (UINT64_C(1) << dim))
            return TNI_FAIL(TN_ERROR_DIM, name, "dim %d appears twice, needed once at most", dim);
        *mask |= UINT64_C(1) << dim;
    }
    return TN_OK;
}

int tni_reduced_sizes(const tn_tensor *x, uint64_t mask, bool keepdim, int64_t *sizes)
{
    int kept = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!(mask & (UINT64_C(1) << d)))
            sizes[kept++] = x->sizes[d];
        else if (keepdim)
            sizes[kept++] = 1;
    }
    return kept;
}

static tn_status reduce_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_reduce_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    uint64_t mask;
    tn_dtype dtype = attr->dtype;
    if (dtype != TN_DTYPE_NONE && tni_check_dtype(name, dtype))
        return tni_pending();
    if (dtype == TN_DTYPE_NONE && call->form == TNI_OUT && call->op->family < AMAX)
        dtype = (tn_dtype)call->out[0]->dtype; /* torch.sum and torch.mean with out= add in out's dtype */
    if (dtype == TN_DTYPE_NONE) {
        dtype = (tn_dtype)x->dtype;
        if (call->op->family == SUM && tni_dtype_kind(dtype) <= TNI_INT)
            dtype = TN_INT64;
    }
    if (call->op->family == MEAN && tni_dtype_kind(dtype) <= TNI_INT)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor is %s, needed a floating dtype; convert it, or give one",
                        tn_dtype_name(dtype));
    int lane = tni_lane_of(dtype);
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    if (!tni_converter_of((tn_dtype)x->dtype, tni_lane_dtype(lane)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    call->compute = lane == TNI_LANE_U64 ? TN_INT64 : tni_lane_dtype(lane); /* sums of both wrap to the same bits */
    if (tni_reduced_dims(name, x, &attr->dims, &mask))
        return tni_pending();
    for (int d = 0; d < x->ndim && call->op->family >= AMAX; d++)
        if (x->sizes[d] == 0 && mask & (UINT64_C(1) << d))
            return TNI_FAIL(TN_ERROR_EMPTY, name, "dim %d has no elements, and nothing has no %s one", d,
                            call->op->family == AMAX ? "largest" : "smallest");
    int ndim = tni_reduced_sizes(x, mask, attr->keepdim, meta->room);
    return tni_meta_contiguous(call, meta, ndim, dtype, (tn_device_type)x->device);
}

/* One set of dims, fastest first, merged where they continue one another. */
typedef struct walk {
    int ndim;
    int64_t numel;
    int64_t sizes[TN_MAX_NDIM];
    int64_t strides[TN_MAX_NDIM];     /* of x, elements */
    int64_t out_strides[TN_MAX_NDIM]; /* of the result, elements; 0 for reduced dims */
} walk;

typedef struct plan {
    walk kept, reduced;
    const char *x;
    char *out;
    tn_dtype x_dtype, compute, out_dtype;
    tni_converter convert; /* x to compute; NULL when they are the same */
    tni_converter truth;   /* x to bool, before that: sums in bool ask whether anything is true; NULL otherwise */
    const tni_reduce_kernel *kernel;
    tni_reduction reduction;
    int64_t divisor; /* of a mean; 1 otherwise */
    int64_t chunks;  /* pieces of CHUNK elements that one result is cut into */
    tni_total *partial; /* [kept.numel][chunks] in the workspace, when there is more than one chunk */
} plan;

static void make_walk(walk *w, const tn_tensor *x, uint64_t mask, bool take, const int64_t *out_strides)
{
    const int64_t *operands[2] = {x->strides, NULL};
    int perm[TN_MAX_NDIM];
    tni_dim_order(x->sizes, x->ndim, operands, 2, perm);
    w->ndim = 0;
    w->numel = 1;
    for (int i = 0; i < x->ndim; i++) {
        int d = perm[i], last = w->ndim - 1;
        if (((mask >> d) & 1) != take)
            continue;
        w->numel *= x->sizes[d];
        if (x->sizes[d] == 1)
            continue;
        if (last >= 0 && x->strides[d] == w->strides[last] * w->sizes[last] &&
            out_strides[d] == w->out_strides[last] * w->sizes[last]) {
            w->sizes[last] *= x->sizes[d];
            continue;
        }
        w->sizes[w->ndim] = x->sizes[d];
        w->strides[w->ndim] = x->strides[d];
        w->out_strides[w->ndim++] = out_strides[d];
    }
    if (w->ndim == 0) {
        w->sizes[0] = 1;
        w->strides[0] = w->out_strides[0] = 0;
        w->ndim = 1;
    }
}

/* Where linear position i of the walk is, in elements of x and of the result. */
static int64_t position(const walk *w, int64_t i, int64_t *out)
{
    int64_t at = 0;
    *out = 0;
    for (int d = 0; d < w->ndim; d++) {
        int64_t index = i % w->sizes[d];
        i /= w->sizes[d];
        at += index * w->strides[d];
        *out += index * w->out_strides[d];
    }
    return at;
}

/* Partial results, added pairwise: level[i] stands for 2^i pieces. */
typedef struct cascade {
    uint64_t count;
    tni_total level[64];
} cascade;

static bool is_complex(const plan *p)
{
    return tni_dtype_kind(p->compute) == TNI_COMPLEX;
}

/* Whether b is taken: it is beyond a, or NaN. */
static bool beyond(const plan *p, tni_total a, tni_total b)
{
    bool most = p->reduction == TNI_MAX;
    if (p->compute == TN_INT64)
        return most ? b.i64 > a.i64 : b.i64 < a.i64;
    double x = p->compute == TN_FLOAT32 ? (double)a.f32 : a.f64, y = p->compute == TN_FLOAT32 ? (double)b.f32 : b.f64;
    return isnan(y) || (most ? y > x : y < x);
}

static tni_total fold(const plan *p, tni_total a, tni_total b)
{
    tni_total both = {.i64 = 0};
    if (p->reduction != TNI_SUM)
        return beyond(p, a, b) ? b : a;
    if (p->compute == TN_INT64) {
        both.i64 = (int64_t)((uint64_t)a.i64 + (uint64_t)b.i64);
    } else if (is_complex(p)) {
        both.c128[0] = a.c128[0] + b.c128[0];
        both.c128[1] = a.c128[1] + b.c128[1];
    } else {
        both.f64 = a.f64 + b.f64;
    }
    return both;
}

/* Complex rows are two rows of real numbers, each at every second place. */
static tni_total row_of(const plan *p, const char *x, int64_t stride, int64_t n)
{
    if (!is_complex(p))
        return p->kernel->row(x, stride, n);
    tni_total both = {.i64 = 0};
    both.c128[0] = p->kernel->row(x, 2 * stride, n).f64;
    both.c128[1] = p->kernel->row(x + tni_itemsize(p->compute) / 2, 2 * stride, n).f64;
    return both;
}

static void cascade_add(const plan *p, cascade *c, tni_total value)
{
    int level = 0;
    for (; (c->count >> level) & 1; level++)
        value = fold(p, c->level[level], value);
    c->level[level] = value;
    c->count++;
}

static tni_total cascade_end(const plan *p, const cascade *c)
{
    tni_total total = {.i64 = 0};
    bool any = false;
    for (int level = 0; level < 64; level++) {
        if (!((c->count >> level) & 1))
            continue;
        total = any ? fold(p, c->level[level], total) : c->level[level];
        any = true;
    }
    return total;
}

/* Folds n elements from `x`, converting them first if need be. */
static void fold_row(const plan *p, cascade *c, const char *x, int64_t stride, int64_t n)
{
    _Alignas(64) char block[TNI_BLOCK * 16];
    char bits[TNI_BLOCK];
    int64_t itemsize = tni_itemsize(p->x_dtype), piece = p->convert ? TNI_BLOCK : PIECE;
    for (int64_t i = 0; i < n; i += piece) {
        int64_t some = n - i < piece ? n - i : piece;
        const char *here = x + i * stride * itemsize;
        if (p->convert) {
            int64_t step = stride * itemsize;
            if (p->truth) {
                p->truth(bits, 1, here, step, some);
                here = bits;
                step = 1;
            }
            p->convert(block, tni_itemsize(p->compute), here, step, some);
            cascade_add(p, c, row_of(p, block, 1, some));
        } else {
            cascade_add(p, c, row_of(p, here, stride, some));
        }
    }
}

/* Elements begin .. end-1 of the reduced walk of one result. */
static tni_total fold_range(const plan *p, const char *x, int64_t begin, int64_t end)
{
    const walk *w = &p->reduced;
    cascade c = {.count = 0};
    while (begin < end) {
        int64_t unused, at = position(w, begin, &unused), first = begin % w->sizes[0];
        int64_t n = w->sizes[0] - first < end - begin ? w->sizes[0] - first : end - begin;
        fold_row(p, &c, x + at * tni_itemsize(p->x_dtype), w->strides[0], n);
        begin += n;
    }
    return cascade_end(p, &c);
}

/* Rounds a total to the result's dtype. */
static void store(const plan *p, int64_t at, tni_total total)
{
    char *y = p->out + at * tni_itemsize(p->out_dtype);
    tn_dtype dtype = p->compute;
    if (p->reduction == TNI_SUM && p->compute == TN_FLOAT32)
        dtype = TN_FLOAT64;
    if (is_complex(p)) {
        dtype = TN_COMPLEX128;
        total.c128[1] /= (double)p->divisor;
    }
    if (p->divisor != 1)
        total.f64 /= (double)p->divisor;
    tni_converter_of(dtype, p->out_dtype)(y, 0, &total, 0, 1);
}

static void row_task(void *context, int64_t task)
{
    plan *p = context;
    int64_t result = task / p->chunks, chunk = task % p->chunks, out;
    const char *x = p->x + position(&p->kept, result, &out) * tni_itemsize(p->x_dtype);
    int64_t begin = p->chunks == 1 ? 0 : chunk * CHUNK, end = p->reduced.numel;
    if (p->chunks > 1 && begin + CHUNK < end)
        end = begin + CHUNK;
    tni_total total = fold_range(p, x, begin, end);
    if (p->chunks == 1)
        store(p, out, total);
    else
        p->partial[task] = total;
}

enum { ROWS_A_TASK = 64 };

static void rows_task(void *context, int64_t group)
{
    plan *p = context;
    int64_t tasks = p->kept.numel * p->chunks, end = (group + 1) * ROWS_A_TASK;
    for (int64_t task = group * ROWS_A_TASK; task < (end < tasks ? end : tasks); task++)
        row_task(p, task);
}

static void run_rows(plan *p)
{
    int64_t tasks = p->kept.numel * p->chunks;
    bool large = p->kept.numel * p->reduced.numel >= 2 * TNI_GRAIN;
    if (!large || tasks == 1)
        for (int64_t task = 0; task < tasks; task++)
            row_task(p, task);
    else if (p->reduced.numel >= TNI_BLOCK)
        tni_parallel_for(tasks, row_task, p);
    else
        tni_parallel_for((tasks + ROWS_A_TASK - 1) / ROWS_A_TASK, rows_task, p);
    for (int64_t result = 0; result < p->kept.numel && p->chunks > 1; result++) {
        cascade c = {.count = 0};
        int64_t out;
        for (int64_t chunk = 0; chunk < p->chunks; chunk++)
            cascade_add(p, &c, p->partial[result * p->chunks + chunk]);
        position(&p->kept, result, &out);
        store(p, out, cascade_end(p, &c));
    }
}

/* Task: TNI_COLUMNS results beside each other in memory, at one position of the outer kept dims. */
static void column_task(void *context, int64_t task)
{
    const plan *p = context;
    const walk *kept = &p->kept, *reduced = &p->reduced;
    int64_t tiles = (kept->sizes[0] + TNI_COLUMNS - 1) / TNI_COLUMNS, first = task % tiles * TNI_COLUMNS;
    int64_t n = kept->sizes[0] - first < TNI_COLUMNS ? kept->sizes[0] - first : TNI_COLUMNS, out, unused;
    int64_t itemsize = tni_itemsize(p->x_dtype), wide = p->reduction == TNI_SUM ? 8 : itemsize;
    const char *x = p->x + position(kept, task / tiles * kept->sizes[0] + first, &out) * itemsize;
    _Alignas(64) char band[TNI_COLUMNS * 8], sums[TNI_COLUMNS * 8];
    memset(sums, 0, (size_t)(n * wide));
    if (p->reduction != TNI_SUM)
        memcpy(sums, x, (size_t)(n * wide));
    for (int64_t r = 0; r < reduced->numel; r += reduced->sizes[0]) {
        const char *rows = x + position(reduced, r, &unused) * itemsize;
        for (int64_t b = 0; b < reduced->sizes[0]; b += BAND) {
            int64_t some = reduced->sizes[0] - b < BAND ? reduced->sizes[0] - b : BAND;
            const char *here = rows + b * reduced->strides[0] * itemsize;
            if (p->reduction != TNI_SUM) {
                p->kernel->columns(sums, here, reduced->strides[0], some, n);
                continue;
            }
            memset(band, 0, (size_t)(n * wide));
            p->kernel->columns(band, here, reduced->strides[0], some, n);
            for (int64_t c = 0; c < n; c++) {
                if (p->compute == TN_INT64)
                    ((uint64_t *)(void *)sums)[c] += ((uint64_t *)(void *)band)[c];
                else
                    ((double *)(void *)sums)[c] += ((double *)(void *)band)[c];
            }
        }
    }
    for (int64_t c = 0; c < n; c++) {
        tni_total total;
        memcpy(&total, sums + c * wide, (size_t)wide);
        store(p, out + c * kept->out_strides[0], total);
    }
}

static void run_columns(plan *p)
{
    int64_t tiles = (p->kept.sizes[0] + TNI_COLUMNS - 1) / TNI_COLUMNS;
    int64_t tasks = p->kept.numel / p->kept.sizes[0] * tiles;
    if (p->kept.numel * p->reduced.numel >= 2 * TNI_GRAIN)
        tni_parallel_for(tasks, column_task, p);
    else
        for (int64_t task = 0; task < tasks; task++)
            column_task(p, task);
}

static int64_t chunks_of(int64_t reduced)
{
    return reduced > CHUNK ? (reduced + CHUNK - 1) / CHUNK : 1;
}

static void make_plan(plan *p, const tni_call *call)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const tni_reduce_attr *attr = call->attr;
    uint64_t mask;
    int64_t out_strides[TN_MAX_NDIM];
    tni_reduced_dims(tni_call_name(call), x, &attr->dims, &mask); /* infer made sure */
    for (int d = 0, next = 0; d < x->ndim; d++) {
        bool reduced = (mask >> d) & 1;
        out_strides[d] = reduced ? 0 : out->strides[next];
        next += !reduced || attr->keepdim;
    }
    make_walk(&p->kept, x, mask, false, out_strides);
    make_walk(&p->reduced, x, mask, true, out_strides);
    p->x = tni_data(x);
    p->out = tni_data(out);
    p->x_dtype = (tn_dtype)x->dtype;
    p->compute = call->compute;
    p->out_dtype = (tn_dtype)out->dtype;
    p->convert = p->x_dtype == p->compute ? NULL : tni_converter_of(p->x_dtype, p->compute);
    p->truth = NULL;
    if (call->op->family == SUM && p->out_dtype == TN_BOOL) {
        p->truth = tni_converter_of(p->x_dtype, TN_BOOL);
        p->convert = tni_converter_of(TN_BOOL, p->compute);
    }
    p->reduction = call->op->family == AMAX ? TNI_MAX : call->op->family == AMIN ? TNI_MIN : TNI_SUM;
    p->kernel =
        &tni_reduce_levels[tni_cpu_level()]->kernel[p->reduction][tni_lane_of(tni_real_dtype(p->compute))];
    p->divisor = call->op->family == MEAN ? p->reduced.numel : 1;
    p->chunks = chunks_of(p->reduced.numel);
    p->partial = NULL;
}

static size_t reduce_workspace(const tni_call *call)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    int64_t chunks = out->numel > 0 ? chunks_of(x->numel / out->numel) : 1;
    return chunks > 1 ? (size_t)(chunks * out->numel) * sizeof(tni_total) : 0;
}

static void reduce_run(const tni_call *call, void *workspace)
{
    plan p;
    make_plan(&p, call);
    p.partial = workspace;
    /* columns where the kept dim is the dense one; x is in the first cache line by line then */
    if (!p.convert && !is_complex(&p) && p.kept.strides[0] == 1 && p.kept.sizes[0] >= LEAST_COLUMNS && p.reduced.numel > 0)
        run_columns(&p);
    else
        run_rows(&p);
}

static const tni_reduce_attr reduce_default = {.dtype = TN_DTYPE_NONE};

#define DIMS                                                                \
    TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', tni_reduce_attr, dims), \
        TNI_OPTIONAL("keepdim", 'B', tni_reduce_attr, keepdim)
#define REDUCTION(row, dtype_set)                                                                                       \
    .n_in = 1, .n_out = 1, .dtypes = dtype_set, .attr_bytes = sizeof(tni_reduce_attr), .attr_default = &reduce_default, \
    .infer = reduce_infer, .workspace = reduce_workspace, .run = reduce_run, .family = row

#define REDUCE_SAMPLES "[3,4] | [3,4] 0 | [3,4] -1 true | [2,3,40] (0,2) | [] | [300,70] 0 | [70,300] 1 | [5000] 0 | "
#define BAD_DIMS "! [3,4] 2 | ! [3,4] (0,0) | ! [3,4] (1,-1)"

const tni_op tni_op_sum = {
    .name = TNI_NAMES_NEW_OUT(sum), .params = {DIMS, TNI_OPTIONAL("dtype", 'D', tni_reduce_attr, dtype)},
    .n_params = 4, REDUCTION(SUM, TNI_ANY_REALS | TNI_COMPLEXES), .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] | [0,3] 0 | [3,4] 0 false float64 | " BAD_DIMS};

const tni_op tni_op_mean = {
    .name = TNI_NAMES_NEW_OUT(mean), .params = {DIMS, TNI_OPTIONAL("dtype", 'D', tni_reduce_attr, dtype)},
    .n_params = 4, REDUCTION(MEAN, TNI_FLOATS | TNI_COMPLEXES), .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] | [0,3] 0 | " BAD_DIMS};

const tni_op tni_op_amax = {
    .name = TNI_NAMES_NEW_OUT(amax), .params = {DIMS}, .n_params = 3, REDUCTION(AMAX, TNI_REALS | TNI_BOOLS),
    .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] 1 | ! [0,3] | ! [0,3] 0 | " BAD_DIMS};

const tni_op tni_op_amin = {
    .name = TNI_NAMES_NEW_OUT(amin), .params = {DIMS}, .n_params = 3, REDUCTION(AMIN, TNI_REALS | TNI_BOOLS),
    .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] 1 | ! [0,3] | ! [0,3] 0 | " BAD_DIMS};

/* The public functions take dims as int; 64 fit on the stack. */
static bool list_dims(const char *name, const int *dims, int n, int64_t *list, tni_ints *ints)
{
    ints->data = list;
    ints->n = n;
    if (n > TN_MAX_NDIM) {
        if (!tni_pending())
            TNI_FAIL(TN_ERROR_DIM, name, "%d dims, needed at most %d", n, TN_MAX_NDIM);
        return false;
    }
    if (n > 0 && !dims)
        ints->data = NULL;
    for (int i = 0; i < n && dims; i++)
        list[i] = dims[i];
    return true;
}

static tn_tensor *reduce(const tni_op *op, tn_tensor *x, const int *dims, int n, bool keepdim, tn_dtype dtype)
{
    int64_t list[TN_MAX_NDIM];
    tni_reduce_attr attr = {.keepdim = keepdim, .dtype = dtype};
    return list_dims(op->name[TNI_NEW], dims, n, list, &attr.dims) ? tni_call_new(op, &x, &attr) : NULL;
}

static tn_status reduce_out(const tni_op *op, tn_tensor *out, tn_tensor *x, const int *dims, int n, bool keepdim)
{
    int64_t list[TN_MAX_NDIM];
    tni_reduce_attr attr = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return list_dims(op->name[TNI_OUT], dims, n, list, &attr.dims) ? tni_call_out(op, out, &x, &attr) : tni_pending();
}

tn_tensor *tn_sum(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype)
{
    return reduce(&tni_op_sum, x, dims, n_dims, keepdim, dtype);
}

tn_tensor *tn_mean(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype)
{
    return reduce(&tni_op_mean, x, dims, n_dims, keepdim, dtype);
}

tn_tensor *tn_amax(tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce(&tni_op_amax, x, dims, n_dims, keepdim, TN_DTYPE_NONE);
}

tn_tensor *tn_amin(tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce(&tni_op_amin, x, dims, n_dims, keepdim, TN_DTYPE_NONE);
}

tn_status tn_amin_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_amin, out, x, dims, n_dims, keepdim);
}

tn_status tn_sum_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_sum, out, x, dims, n_dims, keepdim);
}

tn_status tn_mean_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_mean, out, x, dims, n_dims, keepdim);
}

tn_status tn_amax_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_amax, out, x, dims, n_dims, keepdim);
}
