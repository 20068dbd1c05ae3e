/* Straight C beside which Tenon is measured: loops over plain arrays, no checks, no allocation.
 *
 * One table of functions a CPU level, chosen at run time; [0] float32, [1] float64. */
#ifndef TENON_BENCH_YARDSTICK_H
#define TENON_BENCH_YARDSTICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yardstick_train.h"

/* A memory-bound job, done for indices begin .. end-1 of what it is cut along. Stores bypass the caches. */
typedef struct job {
    void *out;
    const void *x, *y;
    int64_t rows, cols; /* of x */
} job;
typedef void job_function(const job *j, int64_t begin, int64_t end);

/* C = A B + C, row-major: A [m, k], B [k, n], C [m, n]. */
typedef void product_f32(int m, int n, int k, const float *a, const float *b, float *c);
typedef void product_f64(int m, int n, int k, const double *a, const double *b, double *c);

/* 2-16-16-1 on 200 points: weights stored [in, out], h1 and h2 room for [points, 16] each. */
typedef struct forward_job {
    const void *x, *w[3], *b[3];
    void *h1, *h2, *out;
    int points;
} forward_job;

typedef struct yardstick {
    const char *level;
    job_function *copy[2], *add[2], *relu[2]; /* cut along elements */
    job_function *sum_rows[2];                /* out[r] = sum of row r; cut along rows */
    job_function *sum_columns[2];             /* out[c] = sum of column c; cut along columns */
    job_function *transpose[2];               /* out [cols, rows]; cut along columns; both sizes multiples of 64 */
    job_function *even[2];                    /* out[i] = x[2 i]; cut along elements of out */
    void (*forward_f32)(const forward_job *, product_f32 *);
    void (*forward_f64)(const forward_job *, product_f64 *);
    product_f32 *product_f32; /* plain loops, for want of a BLAS */
    product_f64 *product_f64;
    train_functions train;
} yardstick;

extern const yardstick yardstick_baseline, yardstick_avx2, yardstick_avx512;

/* The best level of this CPU. */
const yardstick *yardstick_pick(void);

/* Runs the job over 0 .. n-1 on that many threads, cut at multiples of 64. */
void yardstick_run(job_function *function, const job *j, int64_t n, int threads);

/* cblas_sgemm and cblas_dgemm of an OpenBLAS that can be opened, on one thread; false, and NULLs, without one. */
bool yardstick_openblas(product_f32 **f32, product_f64 **f64);

/* cblas_sgemm itself, once yardstick_openblas has found it; NULL before. */
typedef void general_f32(int order, int a_turned, int b_turned, int m, int n, int k, float alpha, const float *a,
                         int lda, const float *b, int ldb, float beta, float *c, int ldc);
general_f32 *yardstick_general(void);

/* Threads of OpenBLAS from now on, which Tenon shares and needs at 1; nothing where it was not opened. */
void yardstick_threads(int n);

#endif
