/* How reductions run.
 *
 * Note [Order of sums]
 * The elements that fall into one result are walked in the order of memory and cut into pieces of PIECE along the
 * walk. A piece is summed in 32 lanes and a tree, the pieces' sums are added pairwise (a binary counter of partial
 * sums), and so are the chunks of CHUNK elements that threads take. Where the kept dim is the dense one, rows are
 * added to a row of totals instead, BAND rows at a time into a fresh row of totals that is then added to the result.
 * All of it depends on shape, strides and dtypes alone: the same bits for every thread count. The error of a float64
 * sum is of the order of (PIECE / 32 + log2 n) eps, as pairwise summation has it; a float32 sum is rounded once.
 * Elements that are converted first are converted in blocks of TNI_BLOCK, which are their pieces.
 *
 * Results that are one piece each are made many at a time, with the same bits: short rows would cost more to set up
 * than to add. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "core/iterator.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/reduce_attr.h"
#include "ops/walk.h"

enum { PIECE = 4096, CHUNK = 1 << 16, BAND = 128, LEAST_COLUMNS = 16, MANY = 256, TASK = 1 << 15 };

extern const tni_reduce_kernels tni_reduce_baseline, tni_reduce_avx2, tni_reduce_avx512;

const tni_reduce_kernels *const tni_reduce_levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = &tni_reduce_baseline,
    [TNI_CPU_AVX2] = &tni_reduce_avx2,
    [TNI_CPU_AVX512] = &tni_reduce_avx512,
};

typedef struct plan {
    tni_walk kept, reduced;
    const char *x;
    char *out;
    tn_dtype x_dtype, compute, out_dtype;
    tni_widening widening; /* x to compute; sums in bool ask whether anything is true */
    const tni_reduce_kernel *kernel;
    tni_reduction reduction;
    int64_t divisor;    /* of a mean; 1 otherwise */
    int64_t many;       /* results that a task makes, when each is one piece */
    int64_t chunks;     /* pieces of CHUNK elements that one result is cut into */
    tni_total *partial; /* [kept.numel][chunks] in the workspace, when there is more than one chunk */
} plan;

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
    tni_total both = {.c128 = {0, 0}};
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
    tni_total both = {.c128 = {0, 0}};
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
    tni_total total = {.c128 = {0, 0}}; /* the widest: all of it */
    bool any = false;
    for (int level = 0; c->count >> level; level++) {
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
    int64_t itemsize = tni_itemsize(p->x_dtype), piece = p->widening.convert ? TNI_BLOCK : PIECE;
    for (int64_t i = 0; i < n; i += piece) {
        int64_t some = n - i < piece ? n - i : piece;
        const char *here = x + i * stride * itemsize;
        if (p->widening.convert) {
            tni_widen(&p->widening, block, here, stride * itemsize, some);
            cascade_add(p, c, row_of(p, block, 1, some));
        } else {
            cascade_add(p, c, row_of(p, here, stride, some));
        }
    }
}

/* Elements begin .. end-1 of the reduced walk of one result. */
static tni_total fold_range(const plan *p, const char *x, int64_t begin, int64_t end)
{
    const tni_walk *w = &p->reduced;
    cascade c;
    c.count = 0;
    while (begin < end) {
        int64_t unused, at = tni_walk_at(w, begin, &unused), first = begin % w->sizes[0];
        int64_t n = w->sizes[0] - first < end - begin ? w->sizes[0] - first : end - begin;
        fold_row(p, &c, x + at * tni_itemsize(p->x_dtype), w->strides[0], n);
        begin += n;
    }
    return cascade_end(p, &c);
}

/* Bytes of a total as the kernels leave it. */
static int64_t total_size(const plan *p)
{
    return is_complex(p) ? 16 : p->reduction == TNI_SUM ? 8 : tni_itemsize(p->compute);
}

/* Rounds n totals to the result's dtype, from element `at` of the result; changes them. */
static void store(const plan *p, int64_t at, int64_t stride, void *totals, int64_t n)
{
    double *numbers = totals, divisor = (double)p->divisor;
    int64_t itemsize = tni_itemsize(p->out_dtype), size = total_size(p);
    tn_dtype dtype = p->compute;
    if (is_complex(p))
        dtype = TN_COMPLEX128;
    else if (p->reduction == TNI_SUM && p->compute == TN_FLOAT32)
        dtype = TN_FLOAT64;
    for (int64_t i = 0, count = divisor != 1 ? n * size / 8 : 0; i < count; i++)
        numbers[i] /= divisor;
    tni_converter_of(dtype, p->out_dtype)(p->out + at * itemsize, stride * itemsize, totals, size, n);
}

static void row_task(void *context, int64_t task)
{
    plan *p = context;
    int64_t result = task / p->chunks, chunk = task % p->chunks, out;
    const char *x = p->x + tni_walk_at(&p->kept, result, &out) * tni_itemsize(p->x_dtype);
    int64_t begin = p->chunks == 1 ? 0 : chunk * CHUNK, end = p->reduced.numel;
    if (p->chunks > 1 && begin + CHUNK < end)
        end = begin + CHUNK;
    tni_total total = fold_range(p, x, begin, end);
    if (p->chunks == 1)
        store(p, out, 0, &total, 1);
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
        cascade c;
        c.count = 0;
        int64_t out;
        for (int64_t chunk = 0; chunk < p->chunks; chunk++)
            cascade_add(p, &c, p->partial[result * p->chunks + chunk]);
        tni_walk_at(&p->kept, result, &out);
        tni_total total = cascade_end(p, &c);
        store(p, out, 0, &total, 1);
    }
}

/* Folds `rows` <= MANY rows of one piece each; strides in elements. */
static void fold_many(const plan *p, void *totals, const char *x, int64_t row_stride, int64_t stride, int64_t rows)
{
    const int64_t n = p->reduced.numel, half = tni_itemsize(p->compute) / 2;
    if (!is_complex(p)) {
        p->kernel->rows(totals, x, row_stride, stride, rows, n);
        return;
    }
    double parts[2][MANY], *total = totals;
    p->kernel->rows(parts[0], x, 2 * row_stride, 2 * stride, rows, n);
    p->kernel->rows(parts[1], x + half, 2 * row_stride, 2 * stride, rows, n);
    for (int64_t r = 0; r < rows; r++) {
        total[2 * r] = parts[0][r];
        total[2 * r + 1] = parts[1][r];
    }
}

/* The same of rows that are converted first. */
static void fold_many_widened(const plan *p, char *totals, const char *x, int64_t row_stride, int64_t rows)
{
    _Alignas(64) char block[TNI_WIDENED * 16];
    const int64_t n = p->reduced.numel, most = TNI_WIDENED / n;
    for (int64_t r = 0, some; r < rows; r += some, x += some * row_stride * p->widening.from) {
        int64_t stride, wide_row;
        some = rows - r < most ? rows - r : most;
        wide_row = tni_widen_rows(&p->widening, block, &stride, x, row_stride, p->reduced.strides[0], some, n);
        fold_many(p, totals + r * total_size(p), block, wide_row, stride, some);
    }
}

/* Task: p->many results, each of one piece. */
static void many_task(void *context, int64_t task)
{
    const plan *p = context;
    const tni_walk *kept = &p->kept;
    _Alignas(64) char totals[MANY * 16];
    int64_t at = task * p->many, end = at + p->many < kept->numel ? at + p->many : kept->numel;
    while (at < end) {
        int64_t out, rows = kept->sizes[0] - at % kept->sizes[0];
        const char *x = p->x + tni_walk_at(kept, at, &out) * tni_itemsize(p->x_dtype);
        rows = rows < end - at ? rows : end - at;
        rows = rows < MANY ? rows : MANY;
        if (p->widening.convert)
            fold_many_widened(p, totals, x, kept->strides[0], rows);
        else
            fold_many(p, totals, x, kept->strides[0], p->reduced.strides[0], rows);
        store(p, out, kept->out_strides[0], totals, rows);
        at += rows;
    }
}

static bool one_piece(const plan *p)
{
    return p->reduced.ndim == 1 && p->reduced.numel > 0 &&
           p->reduced.numel <= (p->widening.convert ? TNI_BLOCK : PIECE);
}

static void run_many(plan *p)
{
    tni_walk_lengthen(&p->kept, LEAST_COLUMNS);
    p->many = TASK / p->reduced.numel;
    int64_t tasks = (p->kept.numel + p->many - 1) / p->many;
    if (p->kept.numel * p->reduced.numel >= 2 * TNI_GRAIN)
        tni_parallel_for(tasks, many_task, p);
    else
        for (int64_t task = 0; task < tasks; task++)
            many_task(p, task);
}

/* Folds `rows` <= BAND rows of n <= TNI_COLUMNS columns into totals. */
static void add_band(const plan *p, void *totals, const char *x, int64_t rows, int64_t n)
{
    _Alignas(64) char row[TNI_COLUMNS * 8];
    const int64_t stride = p->reduced.strides[0], itemsize = tni_itemsize(p->x_dtype);
    if (!p->widening.convert) {
        p->kernel->columns(totals, x, stride, rows, n);
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        tni_widen(&p->widening, row, x + r * stride * itemsize, itemsize, n);
        p->kernel->columns(totals, row, 0, 1, n);
    }
}

/* Task: TNI_COLUMNS results beside each other in memory, at one position of the outer kept dims. */
static void column_task(void *context, int64_t task)
{
    const plan *p = context;
    const tni_walk *kept = &p->kept, *reduced = &p->reduced;
    int64_t tiles = (kept->sizes[0] + TNI_COLUMNS - 1) / TNI_COLUMNS, first = task % tiles * TNI_COLUMNS;
    int64_t n = kept->sizes[0] - first < TNI_COLUMNS ? kept->sizes[0] - first : TNI_COLUMNS, out, unused;
    int64_t itemsize = tni_itemsize(p->x_dtype);
    const char *x = p->x + tni_walk_at(kept, task / tiles * kept->sizes[0] + first, &out) * itemsize;
    _Alignas(64) char band[TNI_COLUMNS * 8], sums[TNI_COLUMNS * 8];
    memset(sums, 0, (size_t)(n * total_size(p)));
    if (p->reduction != TNI_SUM)
        tni_converter_of(p->x_dtype, p->compute)(sums, total_size(p), x, itemsize, n);
    for (int64_t r = 0; r < reduced->numel; r += reduced->sizes[0]) {
        const char *rows = x + tni_walk_at(reduced, r, &unused) * itemsize;
        for (int64_t b = 0; b < reduced->sizes[0]; b += BAND) {
            int64_t some = reduced->sizes[0] - b < BAND ? reduced->sizes[0] - b : BAND;
            const char *here = rows + b * reduced->strides[0] * itemsize;
            if (p->reduction != TNI_SUM) {
                add_band(p, sums, here, some, n);
                continue;
            }
            memset(band, 0, (size_t)(n * total_size(p)));
            add_band(p, band, here, some, n);
            for (int64_t c = 0; c < n; c++) {
                if (p->compute == TN_INT64)
                    ((uint64_t *)(void *)sums)[c] += ((uint64_t *)(void *)band)[c];
                else
                    ((double *)(void *)sums)[c] += ((double *)(void *)band)[c];
            }
        }
    }
    store(p, out, kept->out_strides[0], sums, n);
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

static void make_plan(plan *p, const tni_reduce_job *job)
{
    const tn_tensor *x = job->x, *out = job->out;
    int64_t out_strides[TN_MAX_NDIM];
    tni_kept_strides(x, out, job->mask, job->keepdim, out_strides);
    tni_walk_make(&p->kept, x, job->mask, false, out_strides);
    tni_walk_make(&p->reduced, x, job->mask, true, out_strides);
    p->x = tni_data(x);
    p->out = tni_data(out);
    p->x_dtype = (tn_dtype)x->dtype;
    p->compute = job->compute;
    p->out_dtype = (tn_dtype)out->dtype;
    p->widening = (tni_widening){.from = tni_itemsize(p->x_dtype), .wide = tni_itemsize(p->compute)};
    if (job->truth)
        p->widening.truth = tni_converter_of(p->x_dtype, TN_BOOL);
    if (job->truth || p->x_dtype != p->compute)
        p->widening.convert = tni_converter_of(job->truth ? TN_BOOL : p->x_dtype, p->compute);
    p->reduction = job->reduction;
    p->kernel = &tni_reduce_levels[tni_cpu_level()]->kernel[p->reduction][tni_lane_of(tni_real_dtype(p->compute))];
    p->divisor = job->mean ? p->reduced.numel : 1;
    p->chunks = chunks_of(p->reduced.numel);
    p->many = 0;
}

size_t tni_reduce_workspace(const tn_tensor *x, const tn_tensor *out)
{
    int64_t chunks = out->numel > 0 ? chunks_of(x->numel / out->numel) : 1;
    return chunks > 1 ? (size_t)(chunks * out->numel) * sizeof(tni_total) : 0;
}

void tni_reduce_run(const tni_reduce_job *job, void *workspace)
{
    plan p;
    make_plan(&p, job);
    p.partial = workspace;
    /* columns where the kept dim is the dense one; x is in the first cache line by line then */
    if (!is_complex(&p) && p.kept.strides[0] == 1 && p.kept.sizes[0] >= LEAST_COLUMNS && p.reduced.numel > 0)
        run_columns(&p);
    else if (one_piece(&p))
        run_many(&p);
    else
        run_rows(&p);
}

bool tni_reduce_rows(const tn_tensor *x, const tn_tensor *out)
{
    const int64_t rows = x->sizes[0], columns = x->sizes[1];
    const bool wide = x->dtype == TN_FLOAT64;
    double totals[MANY];
    const tni_reduce_kernel *kernel = &tni_reduce_levels[tni_cpu_level()]->kernel[TNI_SUM][wide];
    if (rows < 2 || rows > BAND || columns > MANY || (columns < LEAST_COLUMNS && columns != 1))
        return false;
    if (columns == 1) {
        kernel->rows(totals, tni_data(x), 0, 1, 1, rows);
    } else {
        memset(totals, 0, (size_t)columns * sizeof *totals);
        kernel->columns(totals, tni_data(x), columns, rows, columns);
    }
    const tn_dtype dtype = (tn_dtype)x->dtype;
    tni_converter_of(TN_FLOAT64, dtype)(tni_data(out), tni_itemsize(dtype), totals, sizeof *totals, columns);
    return true;
}
