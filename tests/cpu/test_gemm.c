/* Matrix products: own kernels of every CPU level and OpenBLAS against a long double reference, over shapes, strides
 * and biases; the promised bits; the documented orders against PyTorch's recorded logits. */
#include "cpu/gemm.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/threads.h>

#include "cpu/gemm_reference.h"
#include "cpu/level.h"
#include "support/test.h"

enum { GUARD = 37 }; /* elements around c; odd, so that nothing is aligned */

static uint64_t seed;

static double random_value(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 33) / (double)(1u << 30) - 1.0;
}

/* A matrix somewhere in a block that ends with it, its gaps full of NaN. */
typedef struct matrix {
    void *block;
    int64_t rows, columns, row, column, offset, length;
    bool is_double;
} matrix;

typedef enum layout {
    BY_ROWS,
    BY_COLUMNS,
    PADDED_ROWS,
    STRIDED, /* neither stride is 1 */
    LAYOUTS_OF_RESULTS,
    ROW_REPEATED = LAYOUTS_OF_RESULTS,
    COLUMN_REPEATED,
    LAYOUTS
} layout;

static double get(const matrix *x, int64_t i, int64_t j)
{
    int64_t at = x->offset + i * x->row + j * x->column;
    return x->is_double ? ((double *)x->block)[at] : (double)((float *)x->block)[at];
}

static void put(const matrix *x, int64_t at, double value)
{
    if (x->is_double)
        ((double *)x->block)[at] = value;
    else
        ((float *)x->block)[at] = (float)value;
}

static void *first(const matrix *x)
{
    return (char *)x->block + (size_t)x->offset * (x->is_double ? 8 : 4);
}

static matrix make(int64_t rows, int64_t columns, layout how, bool is_double, int64_t guard)
{
    matrix x = {NULL, rows, columns, columns, 1, guard, 0, is_double};
    if (how == BY_COLUMNS)
        x.row = 1, x.column = rows;
    else if (how == PADDED_ROWS)
        x.row = columns + 5;
    else if (how == STRIDED)
        x.row = 3 * columns + 2, x.column = 3;
    else if (how == ROW_REPEATED)
        x.row = 0;
    else if (how == COLUMN_REPEATED)
        x.row = 1, x.column = 0;
    int64_t span = rows && columns ? (rows - 1) * x.row + (columns - 1) * x.column + 1 : 0;
    x.length = guard + span + (guard > 1 ? guard : 0);
    x.block = malloc((size_t)x.length * (is_double ? 8 : 4) + 1);
    assert_non_null(x.block);
    for (int64_t at = 0; at < x.length; at++)
        put(&x, at, NAN);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            put(&x, x.offset + i * x.row + j * x.column, random_value());
    return x;
}

typedef struct sample {
    int64_t m, n, k;
    layout a, b, c;
    int bias; /* 0: none; else its stride + 1 */
    bool is_double;
} sample;

/* Operands of a sample, and the product that they make. */
typedef struct operands {
    matrix a, b, c, bias;
    tni_gemm product;
} operands;

static operands operands_of(const sample *s)
{
    operands o = {make(s->m, s->k, s->a, s->is_double, 1),
                  make(s->k, s->n, s->b, s->is_double, 1),
                  make(s->m, s->n, s->c, s->is_double, GUARD),
                  make(1, s->n, BY_ROWS, s->is_double, 1),
                  {0}};
    if (s->bias > 2) {
        free(o.bias.block);
        o.bias = make(1, s->n, STRIDED, s->is_double, 1);
    }
    if (s->bias == 1)
        o.bias.column = 0;
    o.product =
        (tni_gemm){s->m,    s->n,       s->k,    first(&o.a), first(&o.b), first(&o.c), s->bias ? first(&o.bias) : NULL,
                   o.a.row, o.a.column, o.b.row, o.b.column,  o.c.row,     o.c.column,  o.bias.column};
    return o;
}

static void free_operands(operands *o)
{
    free(o->a.block);
    free(o->b.block);
    free(o->c.block);
    free(o->bias.block);
}

static const char *describe(const sample *s, int level, tni_gemm_engine engine)
{
    static char text[200];
    snprintf(text, sizeof text, "%s m %lld n %lld k %lld layouts a %d b %d c %d bias %d level %d engine %d seed %llu",
             s->is_double ? "float64" : "float32", (long long)s->m, (long long)s->n, (long long)s->k, (int)s->a,
             (int)s->b, (int)s->c, s->bias, level, (int)engine, (unsigned long long)seed);
    return text;
}

/* Runs the product into a c full of the bytes 0x7b, which NULL stands for "nothing written here" later. */
static void run(operands *o, const sample *s, int level, tni_gemm_engine engine)
{
    size_t bytes = tni_gemm_workspace_at(level, engine, &o->product, s->is_double);
    char *workspace = bytes ? aligned_alloc(64, (bytes + 127) / 64 * 64) : NULL;
    memset(o->c.block, 0x7b, (size_t)o->c.length * (s->is_double ? 8 : 4));
    if (bytes)
        memset(workspace, 0x7b, (bytes + 127) / 64 * 64);
    tni_gemm_at(level, engine, &o->product, s->is_double, workspace);
    for (size_t i = bytes; bytes && i < (bytes + 127) / 64 * 64; i++)
        if (workspace[i] != 0x7b)
            fail_msg("%s: wrote behind the workspace", describe(s, level, engine));
    free(workspace);
}

/* The sums and their error bounds. */
static void reference(const operands *o, const sample *s, double *sums, double *bounds)
{
    const double eps = s->is_double ? DBL_EPSILON : FLT_EPSILON;
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            long double sum = 0;
            double size = 0;
            for (int64_t q = 0; q < s->k; q++) {
                double x = get(&o->a, i, q), y = get(&o->b, q, j);
                sum += (long double)x * y;
                size += fabs(x * y);
            }
            double bias = s->bias ? get(&o->bias, 0, j) : 0;
            sums[i * s->n + j] = (double)(sum + bias);
            bounds[i * s->n + j] = (double)(s->k + 1) * eps * size + eps * fabs(bias);
        }
    }
}

static void check(operands *o, const sample *s, int level, tni_gemm_engine engine, const double *sums,
                  const double *bounds)
{
    const size_t size = s->is_double ? 8 : 4;
    char untouched[8];
    memset(untouched, 0x7b, sizeof untouched);
    run(o, s, level, engine);
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            double found = get(&o->c, i, j), sum = sums[i * s->n + j];
            if (!(fabs(found - sum) <= bounds[i * s->n + j]))
                fail_msg("%s: c[%lld,%lld] is %.17g, needed %.17g within %g", describe(s, level, engine), (long long)i,
                         (long long)j, found, sum, bounds[i * s->n + j]);
            memcpy((char *)first(&o->c) + (size_t)(i * o->c.row + j * o->c.column) * size, untouched, size);
        }
    }
    for (size_t at = 0; at < (size_t)o->c.length * size; at++)
        if (((char *)o->c.block)[at] != 0x7b)
            fail_msg("%s: wrote outside c, byte %zu", describe(s, level, engine), at);
}

static void check_everywhere(const sample *s)
{
    operands o = operands_of(s);
    double *sums = malloc((size_t)(s->m * s->n + 1) * sizeof *sums),
           *bounds = malloc((size_t)(s->m * s->n + 1) * sizeof *bounds);
    assert_true(sums && bounds);
    reference(&o, s, sums, bounds);
    for (int level = 0; level <= tni_cpu_level(); level++)
        check(&o, s, level, TNI_GEMM_OWN, sums, bounds);
    check(&o, s, tni_cpu_level(), TNI_GEMM_AUTO, sums, bounds);
    check(&o, s, tni_cpu_level(), TNI_GEMM_BLAS, sums, bounds);
    free(sums);
    free(bounds);
    free_operands(&o);
}

static void matches_reference(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 200};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int turn = 0;
    seed = 1;
    for (int m = 0; m < SIZES; m++) {
        for (int n = 0; n < SIZES; n++) {
            for (int k = 0; k < SIZES; k++) {
                if (sizes[m] * sizes[n] * sizes[k] > 40000 && (m + n + k) % 5)
                    continue;
                turn++;
                sample s = {sizes[m],
                            sizes[n],
                            sizes[k],
                            (layout)(turn % LAYOUTS),
                            (layout)(turn / 5 % LAYOUTS),
                            (layout)(turn / 3 % LAYOUTS_OF_RESULTS),
                            turn / 7 % 4,
                            turn / 2 % 2};
                check_everywhere(&s);
            }
        }
    }
}

/* All layouts of one shape each for the dot, streamed and packed ways, and for tails of rows, columns and steps. */
static void matches_reference_in_all_layouts(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{21, 1, 35}, {1, 37, 19}, {29, 5, 23}, {19, 43, 18}, {1, 1, 50}, {61, 77, 130}};
    seed = 2;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        const int64_t *d = shapes[shape];
        for (int at = 0; at < LAYOUTS * LAYOUTS * LAYOUTS_OF_RESULTS; at++) {
            if (d[0] * d[1] * d[2] > 100000 && at % 4 != 1)
                continue;
            sample s = {d[0],
                        d[1],
                        d[2],
                        (layout)(at % LAYOUTS),
                        (layout)(at / LAYOUTS % LAYOUTS),
                        (layout)(at / LAYOUTS / LAYOUTS),
                        at % 5 % 4,
                        at % 2};
            check_everywhere(&s);
        }
    }
}

/* Blocks of k, of rows and of columns have borders inside these. */
static void matches_reference_when_cut_in_blocks(void **state)
{
    (void)state;
    static const sample samples[] = {
        {50, 70, 1000, BY_ROWS, BY_COLUMNS, BY_ROWS, 2, false},
        {3, 40, 1000, BY_COLUMNS, BY_COLUMNS, BY_ROWS, 2, false},
        {40, 3, 900, BY_COLUMNS, BY_ROWS, BY_COLUMNS, 4, true},
        {1030, 70, 12, STRIDED, STRIDED, STRIDED, 1, false},
        {60, 1050, 11, BY_COLUMNS, PADDED_ROWS, BY_ROWS, 2, false},
        {50, 1100, 20, BY_ROWS, BY_ROWS, BY_COLUMNS, 2, true},
        {2, 3000, 3, BY_ROWS, BY_COLUMNS, BY_ROWS, 0, false},
        {3, 1, 5000, STRIDED, STRIDED, BY_ROWS, 2, true},
        {24, 2500, 64, BY_ROWS, BY_COLUMNS, BY_COLUMNS, 2, false},
        {100, 1100, 200, BY_ROWS, BY_COLUMNS, BY_ROWS, 2, false},
        {1100, 90, 200, BY_COLUMNS, BY_ROWS, BY_ROWS, 4, true},
        {900, 100, 230, STRIDED, BY_ROWS, STRIDED, 2, false},
        {30000, 1, 80, BY_ROWS, BY_ROWS, STRIDED, 2, false},
        {530, 1, 75, BY_COLUMNS, STRIDED, STRIDED, 2, true},
        {1, 2309, 37, STRIDED, PADDED_ROWS, BY_ROWS, 4, false},
    };
    seed = 3;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        check_everywhere(&samples[i]);
}

static void assert_same_bits(const matrix *x, const matrix *y, const sample *s, const char *what)
{
    if (memcmp(x->block, y->block, (size_t)x->length * (x->is_double ? 8 : 4)) == 0)
        return;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++)
            if (memcmp(&(double){get(x, i, j)}, &(double){get(y, i, j)}, sizeof(double)))
                fail_msg("%s: %s: c[%lld,%lld] is %a and %a", describe(s, -1, TNI_GEMM_OWN), what, (long long)i,
                         (long long)j, get(x, i, j), get(y, i, j));
    fail_msg("%s: %s: gaps of c differ", describe(s, -1, TNI_GEMM_OWN), what);
}

static matrix copy_of(const matrix *x)
{
    matrix y = *x;
    size_t bytes = (size_t)x->length * (x->is_double ? 8 : 4);
    y.block = malloc(bytes);
    assert_non_null(y.block);
    memcpy(y.block, x->block, bytes);
    return y;
}

static void has_equal_bits_for_all_numbers_of_threads(void **state)
{
    (void)state;
    static const sample samples[] = {
        {128, 256, 784, BY_ROWS, BY_COLUMNS, BY_ROWS, 2, false},
        {300, 200, 100, BY_COLUMNS, BY_ROWS, BY_ROWS, 2, true},
        {4000, 24, 64, BY_ROWS, BY_COLUMNS, BY_ROWS, 2, false},
        {2, 3000, 600, BY_ROWS, BY_ROWS, BY_ROWS, 0, false},
        {40000, 1, 90, BY_ROWS, BY_ROWS, BY_ROWS, 2, false},
        {9000, 1, 400, BY_COLUMNS, BY_ROWS, BY_ROWS, 2, false},
        {1, 9000, 400, BY_ROWS, BY_ROWS, BY_ROWS, 2, true},
        {700, 400, 130, STRIDED, BY_ROWS, BY_COLUMNS, 2, false},
    };
    const int before = tn_get_num_threads();
    seed = 4;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        operands o = operands_of(&samples[i]);
        for (int engine = TNI_GEMM_AUTO; engine <= TNI_GEMM_BLAS; engine++) {
            tn_set_num_threads(1);
            run(&o, &samples[i], tni_cpu_level(), (tni_gemm_engine)engine);
            matrix one = copy_of(&o.c);
            for (int threads = 2; threads <= 3; threads++) {
                tn_set_num_threads(threads);
                run(&o, &samples[i], tni_cpu_level(), (tni_gemm_engine)engine);
                assert_same_bits(&one, &o.c, &samples[i], threads == 2 ? "1 and 2 threads" : "1 and 3 threads");
            }
            free(one.block);
        }
        free_operands(&o);
    }
    tn_set_num_threads(before);
}

/* n > 1: one chain from k = 0; that makes the bits of a row independent of everything but its values. */
static void adds_in_the_promised_order(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 5, 16, 17, 60, 200};
    int turn = 0;
    seed = 5;
    for (int at = 0; at < 7 * 7 * 7; at++) {
        turn++;
        sample s = {sizes[at % 7],
                    sizes[at / 7 % 7] * (at % 7 ? 1 : 6),
                    sizes[at / 49] * (at % 11 ? 1 : 5),
                    (layout)(turn % LAYOUTS),
                    (layout)(turn / 3 % LAYOUTS),
                    BY_ROWS,
                    turn % 4,
                    turn % 2};
        if (s.n == 1 || s.m * s.n * s.k > 400000)
            continue;
        operands o = operands_of(&s);
        for (int level = 0; level <= tni_cpu_level(); level++) {
            tn_order order = level == TNI_CPU_BASELINE ? TN_ORDER_SEQUENTIAL : TN_ORDER_SEQUENTIAL_FMA;
#ifndef __x86_64__
            order = TN_ORDER_SEQUENTIAL_FMA;
#endif
            run(&o, &s, level, TNI_GEMM_OWN);
            matrix own = copy_of(&o.c);
            memset(o.c.block, 0x7b, (size_t)o.c.length * (s.is_double ? 8 : 4));
            if (s.is_double)
                tni_gemm_reference_f64(&o.product, order);
            else
                tni_gemm_reference_f32(&o.product, order);
            assert_same_bits(&own, &o.c, &s, "own kernel and reference order");
            free(own.block);
        }
        free_operands(&o);
    }
}

/* The dot product of gemm.h, step by step. */
static float lanes_f32(const float *a, const float *b, int64_t k)
{
    float lanes[16] = {0};
    for (int64_t s = 0; s < k; s++)
        lanes[s % 16] = fmaf(a[s], b[s], lanes[s % 16]);
    for (int half = 8; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    return lanes[0];
}

static void adds_dot_products_in_lanes(void **state)
{
    (void)state;
    seed = 6;
    for (int64_t k = 1; k < 70; k++) {
        static const layout layouts[] = {STRIDED, BY_ROWS, BY_COLUMNS};
        sample s = {275, 1, k, layouts[k % 3], BY_ROWS, BY_ROWS, 0, false};
        operands o = operands_of(&s);
        for (int level = TNI_CPU_AVX2; level <= tni_cpu_level(); level++) {
            run(&o, &s, level, TNI_GEMM_OWN);
            for (int64_t i = 0; i < s.m; i++) {
                float row[70], column[70];
                for (int64_t j = 0; j < k; j++) {
                    row[j] = (float)get(&o.a, i, j);
                    column[j] = (float)get(&o.b, j, 0);
                }
                float needed = lanes_f32(row, column, k), found = (float)get(&o.c, i, 0);
                if (memcmp(&needed, &found, sizeof needed))
                    fail_msg("%s: row %lld is %a, needed %a", describe(&s, level, TNI_GEMM_OWN), (long long)i,
                             (double)found, (double)needed);
            }
        }
        free_operands(&o);
    }
}

/* A NaN or infinity reaches its row or column, and no other place. */
static void passes_nan_and_infinity_on(void **state)
{
    (void)state;
    static const sample samples[] = {{17, 1, 16, BY_ROWS, BY_ROWS, BY_ROWS, 2, false},
                                     {17, 19, 16, BY_ROWS, BY_COLUMNS, BY_ROWS, 2, false},
                                     {70, 90, 100, BY_ROWS, BY_ROWS, BY_ROWS, 0, false},
                                     {70, 90, 100, BY_ROWS, BY_COLUMNS, BY_ROWS, 2, true}};
    seed = 7;
    for (size_t at = 0; at < sizeof samples / sizeof *samples; at++) {
        const sample *s = &samples[at];
        operands o = operands_of(s);
        put(&o.a, o.a.offset + 3 * o.a.row + 5 * o.a.column, NAN);
        put(&o.a, o.a.offset + 4 * o.a.row + 6 * o.a.column, -INFINITY);
        for (int level = 0; level <= tni_cpu_level(); level++) {
            for (int engine = TNI_GEMM_OWN; engine <= TNI_GEMM_BLAS; engine++) {
                run(&o, s, level, (tni_gemm_engine)engine);
                for (int64_t i = 0; i < s->m; i++) {
                    for (int64_t j = 0; j < s->n; j++) {
                        double found = get(&o.c, i, j);
                        double infinity = get(&o.b, 6, j) > 0 ? -INFINITY : INFINITY;
                        if (i == 3 ? !isnan(found) : i == 4 ? found != infinity : !isfinite(found))
                            fail_msg("%s: c[%lld,%lld] is %g", describe(s, level, (tni_gemm_engine)engine),
                                     (long long)i, (long long)j, found);
                    }
                }
            }
        }
        free_operands(&o);
    }
}

/* Copies whose size wraps are refused by SIZE_MAX. */
static void refuses_workspaces_that_wrap(void **state)
{
    (void)state;
    tni_gemm matrix_times_matrix = {
        .m = 40, .n = 2, .k = INT64_MAX / 4, .a_row = 3, .a_col = 3, .b_row = 2, .b_col = 1, .c_row = 2, .c_col = 1};
    tni_gemm matrix_times_vector = {
        .m = 40, .n = 1, .k = INT64_MAX / 2, .a_row = 3, .a_col = 3, .b_row = 2, .b_col = 1, .c_row = 1, .c_col = 1};
    assert_true(tni_gemm_workspace_at(tni_cpu_level(), TNI_GEMM_OWN, &matrix_times_matrix, true) == SIZE_MAX);
    assert_true(tni_gemm_workspace_at(tni_cpu_level(), TNI_GEMM_OWN, &matrix_times_vector, true) == SIZE_MAX);
}

static void relu(float *x, int count)
{
    for (int i = 0; i < count; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

/* y [rows, out] = x [rows, in] w^T [out, in], the bias of zeros added as the recorded run did. */
static void linear(const float *x, const float *w, float *y, int rows, int in, int out)
{
    static const float zero = 0;
    tni_gemm g = {rows, out, in, x, w, y, &zero, in, 1, 1, in, out, 1, 0};
    tni_gemm_reference_f32(&g, TN_ORDER_MKL);
}

static void replays_recorded_logits(void **state)
{
    (void)state;
    static float values[32 + 256 + 16 + 400 + 200], first_layer[200 * 16], second[200 * 16], logits[200];
    char word[200];
    FILE *file = fopen(TENON_TEST_DATA "/lesson_logits_torch_2.15.txt", "r");
    assert_non_null(file);
    for (int line = 0; line < 3; line++)
        while (fgetc(file) != '\n')
            assert_false(feof(file));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_int_equal(fscanf(file, "%199s", word), 1);
        values[i] = strtof(word, NULL);
    }
    fclose(file);
    const float *w1 = values, *w2 = w1 + 32, *w3 = w2 + 256, *points = w3 + 16, *recorded = points + 400;
    linear(points, w1, first_layer, 200, 2, 16);
    relu(first_layer, 200 * 16);
    linear(first_layer, w2, second, 200, 16, 16);
    relu(second, 200 * 16);
    linear(second, w3, logits, 200, 16, 1);
    for (int i = 0; i < 200; i++)
        if (memcmp(&logits[i], &recorded[i], sizeof(float)))
            fail_msg("logit %d is %a, recorded %a", i, (double)logits[i], (double)recorded[i]);
}

TEST_MAIN(test(matches_reference), test(matches_reference_in_all_layouts), test(matches_reference_when_cut_in_blocks),
          test(has_equal_bits_for_all_numbers_of_threads), test(adds_in_the_promised_order),
          test(adds_dot_products_in_lanes), test(passes_nan_and_infinity_on), test(refuses_workspaces_that_wrap),
          test(replays_recorded_logits))
