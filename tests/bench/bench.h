/* The benchmark's own parts: what a row is, and the sides that run it.
 *
 * A row is one line of a table in rows_*.c: a name, its traffic, and one function a side. A function runs the row's
 * operation n times and is timed by the driver; the peers' functions of the same name are in peers.py. */
#ifndef TENON_BENCH_H
#define TENON_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon/tenon.h>

enum { SIDE_TENON, SIDE_C, SIDE_PYTORCH, SIDE_NUMPY, SIDE_COUNT };

typedef enum unit { UNIT_NS, UNIT_US, UNIT_MS, UNIT_GBS, UNIT_GFLOPS, UNIT_MIB } unit;

enum { DTYPE_F32 = 1, DTYPE_F64 = 2 };

/* What a row works on. setup fills it; the driver frees the plain blocks and ends the scope that holds the rest. */
typedef struct fixture {
    tn_dtype dtype;
    int threads;
    tn_tensor *x, *y, *out; /* Tenon's operands */
    tn_module *net;
    void *cx, *cy, *cout; /* the yardstick's, and where it leaves its result */
    int64_t rows, cols;   /* of cx, where it is a matrix */
    int64_t numel;        /* elements of cx */
    int64_t result_numel; /* elements of the result; 0 when they are undefined */
    void *blocks[16];     /* what bench_block handed out for this row */
    int n_blocks;
} fixture;

typedef struct row {
    const char *work, *name;
    unit unit;
    int dtypes;                                /* DTYPE_F32 | DTYPE_F64 */
    int per;                                   /* times are given divided by this; 0: 1 */
    double traffic;                            /* elements read and written by one operation; its FLOP */
    bool (*setup)(fixture *);                  /* false: an error is pending, or memory is short */
    tn_tensor *(*tenon)(fixture *, int64_t n); /* n operations; the last result, NULL on an error */
    void (*c)(fixture *, int64_t n);           /* n operations; the result in cout */
    /* If set, the yardstick is a limit (a copy of the same traffic), and element i of the result must be this. */
    double (*expected)(const fixture *, int64_t i);
    /* If set, instead of all these: ns or bytes of one side of this process; negative on a failure, told by nobody. */
    double (*measure)(int side);
    int peer_blocks; /* of slow peers; 0: as many as the others */
} row;

extern const row rows_w1[], rows_w2[], rows_w3[], rows_w4[], rows_w5[], rows_w6[], rows_w7[], rows_w8[], rows_w9[];
extern const int rows_w1_count, rows_w2_count, rows_w3_count, rows_w4_count, rows_w5_count, rows_w6_count,
    rows_w7_count, rows_w8_count, rows_w9_count;

/* Blocks on 2 MiB pages where the system gives them, freed with the fixture; NULL when memory is short. */
void *bench_block(fixture *f, size_t bytes);
/* numel elements of f's dtype: element i is value(i, seed) times scale, plus shift. */
void *bench_values(fixture *f, int64_t numel, uint32_t seed, double scale, double shift);
void bench_fill(void *data, int64_t numel, tn_dtype dtype, uint32_t seed, double scale, double shift);
/* Deterministic values in [-1, 3), the same as in peers.py: 4 u / 2^32 - 1, u = 2654435761 i + 2246822519 seed
 * mod 2^32. */
double bench_value(int64_t i, uint32_t seed);
double bench_load(const void *data, int64_t i, tn_dtype dtype);
void bench_release(fixture *f);

/* Time in ns from a steady clock. */
int64_t bench_now(void);

/* Binds the process, and the children it starts later, to the last CPU it may use; -1 where that can't be done. */
int bench_pin(void);
void bench_cpu_model(char *text, size_t size);

typedef struct peer peer;

typedef struct settings {
    int threads, blocks;
    bool quiet;              /* say nothing of absent or failing peers */
    peer *peers[SIDE_COUNT]; /* NULL where the side is no peer or was not found */
} settings;

/* ns per operation of each side: the least and the median of the blocks; 0 for an absent side. */
typedef struct result {
    double best[SIDE_COUNT], median[SIDE_COUNT];
} result;

/* Runs one row in one dtype. False if the sides disagree or Tenon fails, told on stderr. */
bool bench_measure(const row *r, tn_dtype dtype, const settings *s, result *out);

#endif
