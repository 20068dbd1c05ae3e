/* bench: Tenon beside straight C, PyTorch and NumPy, measured in one run, side by side. */
#include "bench.h"
#include "peer.h"
#include "yardstick.h"
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, BLOCKS = 24, QUICK_BLOCKS = 5 };

static const struct {
    const row *rows;
    const int *count;
} families[] = {{rows_w1, &rows_w1_count}, {rows_w2, &rows_w2_count}, {rows_w3, &rows_w3_count},
                {rows_w4, &rows_w4_count}, {rows_w5, &rows_w5_count}, {rows_w6, &rows_w6_count},
                {rows_w7, &rows_w7_count}, {rows_w8, &rows_w8_count}, {rows_w9, &rows_w9_count}};
enum { N_FAMILIES = sizeof families / sizeof *families };

static const struct {
    int bit;
    tn_dtype dtype;
} row_dtypes[] = {{DTYPE_F32, TN_FLOAT32}, {DTYPE_F64, TN_FLOAT64}};

static const char *const unit_names[] = {[UNIT_NS] = "ns", [UNIT_US] = "us", [UNIT_MS] = "ms", [UNIT_GBS] = "GB/s",
                                         [UNIT_GFLOPS] = "GF/s", [UNIT_MIB] = "MiB"};

/* The order of JSON's fields, and of the table's columns: the hardest first. */
static const int json_order[SIDE_COUNT] = {SIDE_TENON, SIDE_PYTORCH, SIDE_NUMPY, SIDE_C};
static const char *const side_names[SIDE_COUNT] = {"tenon", "c", "pytorch", "numpy"};

typedef struct options {
    bool json, list, median;
    const char *row, *dtype; /* NULL: all */
    char **works;
    int n_works;
    settings s;
} options;

static const char usage[] =
    "usage: bench [options] [W1 W2 ... W9]\n"
    "\n"
    "Measures Tenon beside straight C, and beside PyTorch and NumPy where the interpreter $PYTHON (python3) has them.\n"
    "The sides take turns in blocks of a few milliseconds; of each the best block counts. Works: W1 forward of\n"
    "2-16-16-1 on 200 points, W2 one step of training it, W3 an epoch of 10,000 points in batches of 32, W4 a step of\n"
    "784-256-128-10, W5 one of 1024-1024-1024-1024, W6 memory-bound operations, W7 overhead of one operation, W8 a\n"
    "whole process that trains, W9 a step of each of 1000 nets; none named: all.\n"
    "\n"
    "  --json        one object a line, with its unit; absent peers are left out\n"
    "  --threads N   threads of every side (1: everything is bound to one CPU)\n"
    "  --quick       5 blocks instead of 24: a look, not a measurement\n"
    "  --median      report the median block instead of the best\n"
    "  --row TEXT    only rows whose name contains TEXT\n"
    "  --dtype NAME  only float32, or only float64\n"
    "  --list        the rows there are\n"
    "  --help        this text\n"
    "\n"
    "examples:\n"
    "  PYTHON=venv/bin/python bench W7\n"
    "  bench --json --threads 2 W6 > w6.jsonl\n"
    "  bench --row 'sum dim 0' --dtype float32\n"
    "\n"
    "Exit code 0; 1 if a side's result is wrong or a row fails; 2 for wrong usage.\n";

static bool wanted(const options *o, const row *r)
{
    bool named = o->n_works == 0;
    for (int i = 0; i < o->n_works; i++)
        named |= strcmp(o->works[i], r->work) == 0;
    return named && (!o->row || strstr(r->name, o->row));
}

static bool is_work(const char *name)
{
    for (int f = 0; f < N_FAMILIES; f++)
        if (strcmp(families[f].rows[0].work, name) == 0)
            return true;
    return false;
}

static bool parse_threads(const char *text, int *threads)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || n < 1 || n > 1024)
        return false;
    *threads = (int)n;
    return true;
}

/* 0 to go on, else 1 + the exit code. */
static int parse(int argc, char **argv, options *o)
{
    enum { JSON = 256, THREADS, QUICK, MEDIAN, ROW, DTYPE, LIST, HELP };
    static const struct option known[] = {{"json", no_argument, NULL, JSON},
                                          {"threads", required_argument, NULL, THREADS},
                                          {"quick", no_argument, NULL, QUICK},
                                          {"median", no_argument, NULL, MEDIAN},
                                          {"row", required_argument, NULL, ROW},
                                          {"dtype", required_argument, NULL, DTYPE},
                                          {"list", no_argument, NULL, LIST},
                                          {"help", no_argument, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == JSON)
            o->json = o->s.quiet = true;
        else if (c == QUICK)
            o->s.blocks = QUICK_BLOCKS;
        else if (c == MEDIAN)
            o->median = true;
        else if (c == ROW)
            o->row = optarg;
        else if (c == DTYPE)
            o->dtype = optarg;
        else if (c == LIST)
            o->list = true;
        else if (c == HELP)
            return fputs(usage, stdout), 1 + EXIT_SUCCESS;
        else if (c != THREADS)
            return fputs("bench: --help shows the options\n", stderr), 1 + EXIT_USAGE;
        else if (!parse_threads(optarg, &o->s.threads))
            return fprintf(stderr, "bench: --threads: found %s, needed 1 to 1024\n", optarg), 1 + EXIT_USAGE;
    }
    if (o->dtype && strcmp(o->dtype, "float32") != 0 && strcmp(o->dtype, "float64") != 0)
        return fprintf(stderr, "bench: --dtype: found %s, needed float32 or float64\n", o->dtype), 1 + EXIT_USAGE;
    o->works = argv + optind;
    o->n_works = argc - optind;
    for (int i = 0; i < o->n_works; i++)
        if (!is_work(o->works[i]))
            return fprintf(stderr, "bench: %s: no such work; --list shows them\n", o->works[i]), 1 + EXIT_USAGE;
    return 0;
}

/* A time or throughput in the row's unit. */
static double in_unit(const row *r, tn_dtype dtype, double ns)
{
    static const double of_ns[] = {[UNIT_NS] = 1, [UNIT_US] = 1e3, [UNIT_MS] = 1e6, [UNIT_MIB] = 1 << 20};
    if (r->unit == UNIT_GBS || r->unit == UNIT_GFLOPS)
        return r->traffic * (r->unit == UNIT_GBS ? (double)tn_itemsize(dtype) : 1) / ns;
    return ns / of_ns[r->unit];
}

static int decimals(double value)
{
    return value < 1 ? 3 : value < 10 ? 2 : 1;
}

static void print_json(const row *r, tn_dtype dtype, int threads, const double *ns)
{
    printf("{\"work\": \"%s\", \"row\": \"%s\", \"dtype\": \"%s\", \"threads\": %d, \"unit\": \"%s\"", r->work, r->name,
           tn_dtype_name(dtype), threads, unit_names[r->unit]);
    for (int i = 0; i < SIDE_COUNT; i++) {
        int side = json_order[i];
        if (ns[side] > 0)
            printf(", \"%s\": %.*f", side_names[side], decimals(in_unit(r, dtype, ns[side])),
                   in_unit(r, dtype, ns[side]));
    }
    printf("}\n");
}

static void print_line(const row *r, tn_dtype dtype, const double *ns)
{
    printf("%-4s %-16s %-8s %-5s", r->work, r->name, tn_dtype_name(dtype), unit_names[r->unit]);
    for (int side = 0; side < SIDE_COUNT; side++) {
        double value = ns[side] > 0 ? in_unit(r, dtype, ns[side]) : 0;
        if (value > 0)
            printf(" %9.*f%s", decimals(value), value, side == SIDE_C && r->expected ? "*" : " ");
        else
            printf(" %9s ", "-");
    }
    for (int side = SIDE_C; side < SIDE_COUNT; side++) {
        if (ns[side] > 0)
            printf(" %8.2fx", ns[side] / ns[SIDE_TENON]);
        else
            printf(" %9s", "-");
    }
    printf("\n");
}

static void print_header(const options *o, int cpu)
{
    char model[128], bound[32] = "";
    product_f32 *f32;
    product_f64 *f64;
    bench_cpu_model(model, sizeof model);
    if (cpu >= 0)
        snprintf(bound, sizeof bound, ", bound to CPU %d", cpu);
    printf("%s; Tenon at %s; %d thread%s%s; %s of %d blocks\n", model, tn_get_cpu_capability(), o->s.threads,
           o->s.threads == 1 ? "" : "s", bound, o->median ? "median" : "best", o->s.blocks);
    printf("c: loops at %s, W1 over %s; *: a copy of the same traffic, the limit\n", yardstick_pick()->level,
           yardstick_openblas(&f32, &f64) ? "OpenBLAS" : "plain loops (no libopenblas.so.0)");
}

static void print_columns(void)
{
    printf("x: how many times faster Tenon is\n\n%-4s %-16s %-8s %-5s", "work", "row", "dtype", "unit");
    for (int side = 0; side < SIDE_COUNT; side++)
        printf(" %9s ", side_names[side]);
    printf(" %9s %9s %9s\n", "x c", "x pytorch", "x numpy");
}

/* Starts both peers at once, since PyTorch takes seconds to load, then waits for them. */
static void start_peers(options *o)
{
    static const char *const library[SIDE_COUNT] = {[SIDE_PYTORCH] = "torch", [SIDE_NUMPY] = "numpy"};
    const char *python = getenv("PYTHON");
    python = python && *python ? python : "python3";
    for (int side = SIDE_PYTORCH; side < SIDE_COUNT; side++)
        o->s.peers[side] = peer_start(python, TENON_BENCH_PEERS, library[side], o->s.threads);
    for (int side = SIDE_PYTORCH; side < SIDE_COUNT; side++) {
        peer *p = o->s.peers[side];
        bool ready = p && peer_ready(p);
        if (!o->json)
            printf("%s: %s\n", side_names[side], p ? peer_about(p) : "no interpreter");
        if (!ready) {
            peer_stop(p);
            o->s.peers[side] = NULL;
        }
    }
}

/* One row in its dtypes. False if something is wrong, stdout included. */
static bool run_row(const options *o, const row *r)
{
    bool ok = true;
    for (int d = 0; d < 2; d++) {
        tn_dtype dtype = row_dtypes[d].dtype;
        if (!(r->dtypes & row_dtypes[d].bit) || (o->dtype && strcmp(o->dtype, tn_dtype_name(dtype)) != 0))
            continue;
        if (o->list) {
            printf("%-4s %-16s %-8s %s\n", r->work, r->name, tn_dtype_name(dtype), unit_names[r->unit]);
            continue;
        }
        result out;
        if (!bench_measure(r, dtype, &o->s, &out)) {
            ok = false;
            continue;
        }
        const double *ns = o->median ? out.median : out.best;
        if (o->json)
            print_json(r, dtype, o->s.threads, ns);
        else
            print_line(r, dtype, ns);
        fflush(stdout);
    }
    return ok;
}

int main(int argc, char **argv)
{
    options o = {.s = {.threads = 1, .blocks = BLOCKS}};
    int stop = parse(argc, argv, &o);
    if (stop)
        return stop - 1;
    if (!o.list) {
        signal(SIGPIPE, SIG_IGN); /* a peer that dies is an answer that does not come */
        int cpu = o.s.threads == 1 ? bench_pin() : -1;
        tn_set_num_threads(o.s.threads);
        if (!o.json)
            print_header(&o, cpu);
        start_peers(&o);
        if (!o.json)
            print_columns();
    }
    bool ok = true;
    for (int f = 0; f < N_FAMILIES; f++)
        for (int i = 0; i < *families[f].count && !ferror(stdout); i++)
            if (wanted(&o, &families[f].rows[i]))
                ok = run_row(&o, &families[f].rows[i]) && ok;
    for (int side = 0; side < SIDE_COUNT; side++)
        peer_stop(o.s.peers[side]);
    return ok && fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
