/* Driver of the own product kernels: dot products, streamed products, packed products.
 *
 *   dot       n == 1.
 *   streamed  small or narrow ones: panel after panel of b, each used as it lies or packed on the stack, over all rows
 *             of a as they lie; one row of a over a wide b instead row after row of b. Needs no workspace, unless
 *             neither stride of a is 1.
 *   packed    large ones: a and b are packed in blocks into the workspace, then tasks run over rectangles of c (BLIS's
 *             five loops, with the packing in front of them so that all tasks share it).
 *
 * Each element of c is one chain of additions in all of them (gemm.h), so that neither this choice nor the cutting into
 * tasks shows in the bits. */
#include "cpu/gemm_own.h"

#include "base/checked.h"
#include "base/pool.h"
#include "base/thread.h"

/* The product as the loops want it: c's columns contiguous if any are, bias with a stride for rows too. */
typedef struct job {
    const tni_gemm_kernels *kernels;
    size_t size; /* of an element */
    int64_t m, n, k;
    const char *a, *b, *bias;
    char *c;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col, bias_row, bias_col;
} job;

enum {
    TASK_FLOPS = 2 * 1000 * 1000, /* a task shared with other threads takes 10 us or more */
    TASK_ROWS = 192,              /* of c: with 384 steps of a 288 KiB, which the second-level cache holds */
    PACKED_ROWS = 48,             /* packing pays about from here on: chosen by estimate */
    PACKED_COLUMNS = 64,
    PACKED_FLOPS = 1000 * 1000,
    ROW_COLUMNS = 128, /* one row of c takes the loop by rows of b from here on */
    FITTING_DEPTH = TNI_GEMM_STACK / 128, /* so many rows of a panel, two vectors of 64 bytes, fit the stack */
};

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t parts(int64_t n, int64_t part)
{
    return (n - 1) / part + 1;
}

/* n in whole vectors. */
static int64_t whole_vectors(const tni_gemm_kernels *kernels, int64_t n)
{
    return (n + kernels->lanes - 1) & -(int64_t)kernels->lanes;
}

static int64_t round_up(int64_t n, int64_t unit)
{
    return parts(n, unit) * unit;
}

/* Size of parts when n is cut evenly into parts of at most `most`, in whole units. */
static int64_t part_of_at_most(int64_t n, int64_t most, int64_t unit)
{
    return n <= most ? round_up(n, unit) : round_up(parts(n, parts(n, most)), unit);
}

/* c^T = b^T a^T: where that makes c's rows contiguous, or fills vectors that a narrow c would not. */
static bool better_transposed(const tni_gemm_kernels *kernels, const tni_gemm *g)
{
    if (g->m == 1 || g->n <= 1)
        return false;
    if (g->c_col != 1)
        return g->c_row == 1;
    return 2 * g->n <= kernels->lanes && g->n < g->m && g->a_row == 1;
}

static inline job job_of(const tni_gemm_kernels *kernels, const tni_gemm *g, size_t size)
{
    const int64_t one_step = g->k == 1; /* then the stride of a's steps is free, and 1 suits the tiles */
    if (TNI_UNLIKELY(better_transposed(kernels, g)))
        return (job){.kernels = kernels, .size = size, .m = g->n, .n = g->m, .k = g->k, .a = g->b, .b = g->a,
                     .c = g->c, .bias = g->bias, .a_row = g->b_col, .a_col = one_step ? 1 : g->b_row,
                     .b_row = g->a_col, .b_col = g->a_row, .c_row = g->c_col, .c_col = g->c_row,
                     .bias_row = g->bias_stride};
    return (job){.kernels = kernels, .size = size, .m = g->m, .n = g->n, .k = g->k, .a = g->a, .b = g->b, .c = g->c,
                 .bias = g->bias, .a_row = g->a_row, .a_col = one_step ? 1 : g->a_col, .b_row = g->b_row,
                 .b_col = g->b_col, .c_row = g->c_row, .c_col = g->c_col, .bias_col = g->bias_stride};
}

/* In floating point, so that it can't wrap. */
static double flops(const job *p)
{
    return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

static void run_tasks(int64_t tasks, void (*body)(void *context, int64_t task), void *context)
{
    if (tasks == 1)
        body(context, 0);
    else
        tni_parallel_for(tasks, body, context);
}

/* Dot products. */

enum { DOT_STACK = 8 * 1024 }; /* bytes of b made contiguous on the stack */

typedef struct dot_job {
    const job *p;
    const void *b; /* contiguous */
    int64_t rows;  /* of a task */
} dot_job;

static void dot_task(void *context, int64_t task)
{
    const dot_job *d = context;
    const job *p = d->p;
    int64_t first = task * d->rows, size = (int64_t)p->size;
    p->kernels->dot(least(d->rows, p->m - first), p->k, p->a + first * p->a_row * size, p->a_row, p->a_col, d->b,
                    p->bias, p->c + first * p->c_row * size, p->c_row);
}

static bool dot_copies_b(const job *p)
{
    return p->b_row != 1 && p->k > 1;
}

static void dot(const job *p, void *workspace)
{
    _Alignas(64) char stack[DOT_STACK];
    dot_job d = {.p = p, .b = p->b, .rows = p->m};
    if (dot_copies_b(p)) {
        char *copy = (size_t)p->k <= DOT_STACK / p->size ? stack : workspace;
        p->kernels->pack(copy, 1, 1, p->k, p->b, 0, p->b_row);
        d.b = copy;
    }
    if (flops(p) < 2 * TASK_FLOPS) {
        dot_task(&d, 0);
        return;
    }
    d.rows = (int64_t)(1 + TASK_FLOPS / (2.0 * (double)p->k));
    run_tasks(parts(p->m, d.rows), dot_task, &d);
}

/* Streamed products. */

typedef struct stream_job {
    const job *p;
    int64_t depth;         /* steps of k at a time */
    int64_t rows, columns; /* of a task */
    int64_t column_tasks;
} stream_job;

static bool stream_packs_b(const job *p)
{
    return p->b_col != 1 || (!p->kernels->masked && p->n != whole_vectors(p->kernels, p->n));
}

/* One row of c over a wide b, by rows of b instead of panels, which would touch a page a step. */
static bool streams_row(const job *p)
{
    return p->m == 1 && p->b_col == 1 && p->c_col == 1 && p->n >= ROW_COLUMNS;
}

/* A product of few columns and steps: one panel, which is what stream_part makes of it. */
static void stream_panel(const job *p)
{
    _Alignas(64) char buffer[TNI_GEMM_STACK];
    tni_gemm_panel panel = {.m = p->m, .k = p->k, .width = p->n, .a = p->a, .b = p->b, .bias = p->bias, .c = p->c,
                            .a_row = p->a_row, .a_col = p->a_col, .b_row = p->b_row, .c_row = p->c_row,
                            .c_col = p->c_col, .bias_row = p->bias_row, .bias_col = p->bias_col};
    if (stream_packs_b(p)) {
        panel.b_row = whole_vectors(p->kernels, p->n);
        p->kernels->pack(buffer, panel.b_row, p->n, p->k, p->b, p->b_col, p->b_row);
        panel.b = buffer;
    }
    p->kernels->panel(&panel);
}

static void stream_part(const stream_job *t, int64_t first_row, int64_t first_column)
{
    _Alignas(64) char buffer[TNI_GEMM_STACK];
    const job *p = t->p;
    const int64_t size = (int64_t)p->size, end = least(first_column + t->columns, p->n);
    const bool packs = stream_packs_b(p);
    tni_gemm_panel panel = {.m = least(t->rows, p->m - first_row),
                            .a_row = p->a_row,
                            .a_col = p->a_col,
                            .b_row = p->b_row,
                            .c_row = p->c_row,
                            .c_col = p->c_col,
                            .bias_row = p->bias_row,
                            .bias_col = p->bias_col};
    if (streams_row(p)) {
        const int64_t whole = (end - first_column) & -(int64_t)p->kernels->lanes;
        p->kernels->row(whole, p->k, p->a, p->a_col, p->b + first_column * size, p->b_row,
                        p->bias ? p->bias + first_column * p->bias_col * size : NULL, p->bias_col,
                        p->c + first_column * size);
        first_column += whole;
    }
    for (int64_t s = 0; s < p->k && first_column < end; s += t->depth) {
        panel.k = least(t->depth, p->k - s);
        panel.a = p->a + (first_row * p->a_row + s * p->a_col) * size;
        panel.adds = s > 0;
        for (int64_t j = first_column; j < end; j += p->kernels->columns) {
            panel.width = least(p->kernels->columns, end - j);
            panel.b = p->b + (s * p->b_row + j * p->b_col) * size;
            if (packs) {
                panel.b_row = whole_vectors(p->kernels, panel.width);
                p->kernels->pack(buffer, panel.b_row, panel.width, panel.k, panel.b, p->b_col, p->b_row);
                panel.b = buffer;
            }
            panel.c = p->c + (first_row * p->c_row + j * p->c_col) * size;
            if (p->bias && s + panel.k == p->k)
                panel.bias = p->bias + (first_row * p->bias_row + j * p->bias_col) * size;
            p->kernels->panel(&panel);
        }
        panel.bias = NULL;
    }
}

static void stream_task(void *context, int64_t task)
{
    const stream_job *t = context;
    stream_part(t, task / t->column_tasks * t->rows, task % t->column_tasks * t->columns);
}

/* Steps of k at a time: all of them if one row of tiles uses b once, what the stack or the first-level cache holds
 * else. */
static int64_t stream_depth(const job *p)
{
    int64_t most = TNI_GEMM_DEPTH;
    if (stream_packs_b(p))
        most = TNI_GEMM_STACK / (int64_t)p->size / least(p->kernels->columns, whole_vectors(p->kernels, p->n));
    else if (p->m <= p->kernels->rows)
        most = p->k;
    return p->k <= most ? p->k : part_of_at_most(p->k, most, 1);
}

/* Tasks of whole rows where rows are many, else of whole panels of columns. */
static void stream(const job *p)
{
    const tni_gemm_kernels *kernels = p->kernels;
    const bool alone = flops(p) < 2 * TASK_FLOPS;
    if (alone && p->n <= kernels->columns && p->k <= FITTING_DEPTH) {
        stream_panel(p);
        return;
    }
    stream_job t = {.p = p, .depth = stream_depth(p), .rows = p->m, .columns = p->n, .column_tasks = 1};
    if (alone) {
        stream_part(&t, 0, 0);
        return;
    }
    int64_t cells = (int64_t)(TASK_FLOPS / (2.0 * (double)p->k)) + 1;
    if (p->m >= p->n) {
        t.rows = least(p->m, round_up(parts(cells, p->n), TASK_ROWS));
    } else {
        t.columns = least(p->n, round_up(parts(cells, p->m), kernels->columns));
        t.column_tasks = parts(p->n, t.columns);
    }
    run_tasks(parts(p->m, t.rows) * t.column_tasks, stream_task, &t);
}

/* Packed products. */

enum {
    BLOCK_ROWS = 1008,             /* of a and c packed at a time */
    BLOCK_COLUMNS = 1024,          /* of b and c */
    BLOCK_BYTES = 8 * 1024 * 1024, /* of both, all depths */
    TASK_COLUMNS = 128,
    PACK_TILES = 16, /* tiles of a a task packs */
    PACK_PANELS = 4,
};

typedef struct packed_plan {
    int64_t depth, depths; /* steps of k of one packed panel; such depths packed at a time */
    int64_t rows, columns; /* of a block */
    int64_t task_rows, task_columns;
} packed_plan;

typedef struct packed_job {
    job p;
    packed_plan plan;
    char *a, *b; /* packed */
    int64_t first_row, first_column, first_step;
    int64_t rows, columns, steps; /* of this block */
    bool packs_b;
} packed_job;

static packed_plan plan_packed(const job *p)
{
    const tni_gemm_kernels *kernels = p->kernels;
    packed_plan plan = {.depth = part_of_at_most(p->k, TNI_GEMM_DEPTH, 1),
                        .rows = part_of_at_most(p->m, BLOCK_ROWS, kernels->rows),
                        .columns = part_of_at_most(p->n, BLOCK_COLUMNS, kernels->columns)};
    int64_t bytes = (plan.rows + plan.columns) * plan.depth * (int64_t)p->size;
    plan.depths = least(parts(p->k, plan.depth), bytes < BLOCK_BYTES ? BLOCK_BYTES / bytes : 1);
    plan.task_rows = part_of_at_most(plan.rows, TASK_ROWS, kernels->rows);
    int64_t cells = TASK_FLOPS / (2 * plan.depths * plan.depth), columns = parts(cells + 1, plan.task_rows);
    plan.task_columns = round_up(columns > TASK_COLUMNS ? columns : TASK_COLUMNS, kernels->columns);
    return plan;
}

static size_t packed_bytes(const packed_plan *plan, size_t size)
{
    return (size_t)((plan->rows + plan->columns) * plan->depth * plan->depths) * size;
}

static int64_t a_at(const packed_job *t, int64_t depth, int64_t row)
{
    return (depth * t->plan.rows + row) * t->plan.depth * (int64_t)t->p.size;
}

static int64_t b_at(const packed_job *t, int64_t depth, int64_t column)
{
    return (depth * t->plan.columns + column) * t->plan.depth * (int64_t)t->p.size;
}

/* The tasks of one depth: groups of a's tiles, then groups of b's panels. */
static void pack_task(void *context, int64_t task)
{
    const packed_job *t = context;
    const job *p = &t->p;
    const int64_t tile = p->kernels->rows, panel = p->kernels->columns, size = (int64_t)p->size;
    const int64_t a_groups = parts(t->rows, tile * PACK_TILES);
    const int64_t groups = a_groups + (t->packs_b ? parts(t->columns, panel * PACK_PANELS) : 0);
    const int64_t depth = task / groups, group = task % groups, step = t->first_step + depth * t->plan.depth;
    const int64_t steps = least(t->plan.depth, t->steps - depth * t->plan.depth);
    if (group < a_groups) {
        const int64_t first = group * tile * PACK_TILES, end = least(first + tile * PACK_TILES, t->rows);
        for (int64_t i = first; i < end; i += tile)
            p->kernels->pack(t->a + a_at(t, depth, i), tile, least(tile, end - i), steps,
                             p->a + ((t->first_row + i) * p->a_row + step * p->a_col) * size, p->a_row, p->a_col);
        return;
    }
    const int64_t first = (group - a_groups) * panel * PACK_PANELS,
                  end = least(first + panel * PACK_PANELS, t->columns);
    for (int64_t j = first; j < end; j += panel)
        p->kernels->pack(t->b + b_at(t, depth, j), panel, least(panel, end - j), steps,
                         p->b + (step * p->b_row + (t->first_column + j) * p->b_col) * size, p->b_col, p->b_row);
}

static void multiply_task(void *context, int64_t task)
{
    const packed_job *t = context;
    const job *p = &t->p;
    const int64_t size = (int64_t)p->size, column_tasks = parts(t->columns, t->plan.task_columns);
    const int64_t i = task / column_tasks * t->plan.task_rows, j_first = task % column_tasks * t->plan.task_columns;
    const int64_t j_end = least(j_first + t->plan.task_columns, t->columns), row = t->first_row + i;
    tni_gemm_panel panel = {.m = least(t->plan.task_rows, t->rows - i),
                            .a_row = 1,
                            .a_col = p->kernels->rows,
                            .a_tile = p->kernels->rows * t->plan.depth,
                            .b_row = p->kernels->columns,
                            .c_row = p->c_row,
                            .c_col = p->c_col,
                            .bias_row = p->bias_row,
                            .bias_col = p->bias_col};
    for (int64_t depth = 0; depth * t->plan.depth < t->steps; depth++) {
        const int64_t step = t->first_step + depth * t->plan.depth;
        panel.k = least(t->plan.depth, t->steps - depth * t->plan.depth);
        panel.a = t->a + a_at(t, depth, i);
        panel.adds = step > 0;
        for (int64_t j = j_first; j < j_end; j += p->kernels->columns) {
            const int64_t column = t->first_column + j;
            panel.width = least(p->kernels->columns, j_end - j);
            panel.b = t->b + b_at(t, depth, j);
            panel.c = p->c + (row * p->c_row + column * p->c_col) * size;
            if (p->bias && step + panel.k == p->k)
                panel.bias = p->bias + (row * p->bias_row + column * p->bias_col) * size;
            p->kernels->panel(&panel);
        }
    }
}

static void packed(const job *p, void *workspace)
{
    packed_job t = {.p = *p, .plan = plan_packed(p)};
    const int64_t tile = p->kernels->rows * PACK_TILES, panel = p->kernels->columns * PACK_PANELS;
    const int64_t steps = t.plan.depth * t.plan.depths;
    t.b = workspace;
    t.a = t.b + (size_t)(t.plan.columns * steps) * p->size;
    for (t.first_column = 0; t.first_column < p->n; t.first_column += t.plan.columns) {
        t.columns = least(t.plan.columns, p->n - t.first_column);
        for (t.first_step = 0; t.first_step < p->k; t.first_step += steps) {
            t.steps = least(steps, p->k - t.first_step);
            for (t.first_row = 0; t.first_row < p->m; t.first_row += t.plan.rows) {
                t.rows = least(t.plan.rows, p->m - t.first_row);
                t.packs_b = t.first_row == 0;
                int64_t groups = parts(t.rows, tile) + (t.packs_b ? parts(t.columns, panel) : 0);
                run_tasks(parts(t.steps, t.plan.depth) * groups, pack_task, &t);
                run_tasks(parts(t.rows, t.plan.task_rows) * parts(t.columns, t.plan.task_columns), multiply_task, &t);
            }
        }
    }
}

/* The choice. */

static bool wants_packing(const job *p)
{
    return p->m >= PACKED_ROWS && p->n > PACKED_COLUMNS && flops(p) >= PACKED_FLOPS;
}

/* a with neither stride 1 is made contiguous before it is streamed. */
static bool stream_copies_a(const job *p)
{
    return p->m > 1 && p->a_row != 1 && p->a_col != 1;
}

/* Whether b, which is copied, has room on the stack. */
static bool dot_fits_stack(const job *p)
{
    return (size_t)p->k <= DOT_STACK / p->size;
}

size_t tni_gemm_own_workspace(const tni_gemm_kernels *kernels, const tni_gemm *g, size_t size)
{
    const job p = job_of(kernels, g, size);
    size_t bytes = 0;
    if (p.n == 1) {
        if (dot_copies_b(&p) && !dot_fits_stack(&p) && !tni_mul_size((size_t)p.k, size, &bytes))
            return SIZE_MAX;
    } else if (wants_packing(&p)) {
        const packed_plan plan = plan_packed(&p);
        bytes = packed_bytes(&plan, size);
    } else if (stream_copies_a(&p)) {
        if (!tni_mul_size((size_t)p.m, (size_t)p.k, &bytes) || !tni_mul_size(bytes, size, &bytes))
            return SIZE_MAX;
    }
    return bytes;
}

void tni_gemm_own(const tni_gemm_kernels *kernels, const tni_gemm *g, size_t size, void *workspace)
{
    job p = job_of(kernels, g, size);
    if (p.n == 1) {
        dot(&p, workspace);
    } else if (wants_packing(&p)) {
        packed(&p, workspace);
    } else {
        if (stream_copies_a(&p)) {
            kernels->pack(workspace, p.k, p.k, p.m, p.a, p.a_col, p.a_row);
            p.a = workspace;
            p.a_row = p.k;
            p.a_col = 1;
        }
        stream(&p);
    }
}

bool tni_gemm_own_light(const tni_gemm_kernels *kernels, const tni_gemm *g, size_t size)
{
    const job p = job_of(kernels, g, size);
    if (p.n == 1 ? dot_copies_b(&p) && !dot_fits_stack(&p) : wants_packing(&p) || stream_copies_a(&p))
        return false;
    if (p.n == 1)
        dot(&p, NULL);
    else
        stream(&p);
    return true;
}
