/* Runs one row: every side's result is checked first, then the sides take turns, a block each, for many rounds. */
#include "bench.h"
#include "peer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, MOST_BLOCKS = 64, ANSWER = 8192 };

static const char *const side_names[SIDE_COUNT] = {"tenon", "c", "pytorch", "numpy"};

/* What two sides' results are compared by: count, sum, and elements from all over. */
typedef struct digest {
    int64_t count;
    double sum, samples[SAMPLES];
} digest;

typedef struct race {
    const row *r;
    const settings *s;
    fixture f;
    bool present[SIDE_COUNT];
    int64_t repeat[SIDE_COUNT];
    double times[SIDE_COUNT][MOST_BLOCKS];
} race;

static int sample_count(int64_t count)
{
    return count < SAMPLES ? (int)count : SAMPLES;
}

static int64_t sample_position(int k, int64_t count)
{
    return k * INT64_C(2654435761) % count;
}

static digest digest_array(const fixture *f, const void *data)
{
    digest d = {.count = f->result_numel};
    for (int64_t i = 0; i < d.count; i++)
        d.sum += bench_load(data, i, f->dtype);
    for (int k = 0; k < sample_count(d.count); k++)
        d.samples[k] = bench_load(data, sample_position(k, d.count), f->dtype);
    return d;
}

static digest digest_expected(const race *a)
{
    digest d = {.count = a->f.result_numel};
    for (int64_t i = 0; i < d.count; i++)
        d.sum += a->r->expected(&a->f, i);
    for (int k = 0; k < sample_count(d.count); k++)
        d.samples[k] = a->r->expected(&a->f, sample_position(k, d.count));
    return d;
}

static bool agrees(const race *a, int side, const digest *found, const digest *wanted)
{
    const double tolerance = a->f.dtype == TN_FLOAT32 ? 1e-5 : 1e-12;
    const char *dtype = tn_dtype_name(a->f.dtype);
    if (found->count != wanted->count) {
        fprintf(stderr, "bench: %s %s %s: %s has %lld elements, not %lld\n", a->r->work, a->r->name, dtype,
                side_names[side], (long long)found->count, (long long)wanted->count);
        return false;
    }
    if (!(fabs(found->sum - wanted->sum) <= tolerance * (1 + fabs(wanted->sum)))) {
        fprintf(stderr, "bench: %s %s %s: %s adds up to %.17g, not %.17g\n", a->r->work, a->r->name, dtype,
                side_names[side], found->sum, wanted->sum);
        return false;
    }
    for (int k = 0; k < sample_count(wanted->count); k++)
        if (!(fabs(found->samples[k] - wanted->samples[k]) <= tolerance * (1 + fabs(wanted->samples[k])))) {
            fprintf(stderr, "bench: %s %s %s: %s has %.17g at %lld, not %.17g\n", a->r->work, a->r->name, dtype,
                    side_names[side], found->samples[k], (long long)sample_position(k, wanted->count),
                    wanted->samples[k]);
            return false;
        }
    return true;
}

static bool tenon_failed(const race *a)
{
    fprintf(stderr, "bench: %s %s %s: %s\n", a->r->work, a->r->name, tn_dtype_name(a->f.dtype),
            tn_error_code() ? tn_error_message() : "out of memory");
    tn_error_clear();
    return false;
}

static bool check_processes(race *a)
{
    for (int side = SIDE_TENON; side <= SIDE_C; side++) {
        a->present[side] = a->r->measure(side) >= 0;
        if (!a->present[side])
            fprintf(stderr, "bench: %s %s: the process of %s fails\n", a->r->work, a->r->name, side_names[side]);
    }
    return a->present[SIDE_TENON] && a->present[SIDE_C];
}

static bool check_tenon(race *a, const digest *wanted)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *made = a->r->tenon(&a->f, 1);
    if (a->f.result_numel == 0) {
        tn_scope_end(scope);
        return tn_error_code() == TN_OK || tenon_failed(a);
    }
    const void *data = tn_data(tn_contiguous(made));
    if (!data || tn_tensor_dtype(made) != a->f.dtype || tn_numel(made) != a->f.result_numel) {
        tn_scope_end(scope);
        return tenon_failed(a);
    }
    digest d = digest_array(&a->f, data);
    tn_scope_end(scope);
    return agrees(a, SIDE_TENON, &d, wanted);
}

/* Has a peer set the row up. False only if its result is wrong; a peer that lacks the row is left out. */
static bool check_peer(race *a, int side, const digest *wanted)
{
    char question[256], answer[ANSWER];
    snprintf(question, sizeof question, "begin\t%s\t%s\t%s", a->r->work, a->r->name, tn_dtype_name(a->f.dtype));
    bool answered = peer_ask(a->s->peers[side], question, answer, sizeof answer);
    if (!answered || strncmp(answer, "ok\t", 3) != 0) {
        if (!a->s->quiet && !(answered && strcmp(answer, "absent") == 0))
            fprintf(stderr, "bench: %s %s: %s is left out: %s\n", a->r->work, a->r->name, side_names[side],
                    answered ? answer : "it has ended");
        return true;
    }
    char *at = answer + 3;
    digest d = {.count = strtoll(at, &at, 10)};
    d.sum = strtod(at, &at);
    for (int k = 0; k < sample_count(d.count); k++)
        d.samples[k] = strtod(at, &at);
    a->present[side] = true;
    return agrees(a, side, &d, wanted);
}

static bool check_sides(race *a)
{
    if (a->r->measure) {
        const digest nothing = {0};
        bool learned = check_processes(a);
        for (int side = SIDE_PYTORCH; side < SIDE_COUNT; side++)
            if (a->s->peers[side])
                learned = check_peer(a, side, &nothing) && learned;
        return learned;
    }
    a->r->c(&a->f, 1);
    digest wanted = a->r->expected ? digest_expected(a) : digest_array(&a->f, a->f.cout);
    a->present[SIDE_C] = true;
    a->present[SIDE_TENON] = check_tenon(a, &wanted);
    bool ok = a->present[SIDE_TENON];
    for (int side = SIDE_PYTORCH; side < SIDE_COUNT; side++)
        if (a->s->peers[side])
            ok = check_peer(a, side, &wanted) && ok;
    return ok;
}

/* ns for n operations of a side of this process; negative if Tenon fails. */
static double run(race *a, int side, int64_t n)
{
    int64_t start = bench_now();
    if (side == SIDE_C) {
        a->r->c(&a->f, n);
    } else {
        tn_scope scope = tn_scope_begin();
        a->r->tenon(&a->f, n);
        tn_scope_end(scope);
    }
    int64_t spent = bench_now() - start;
    return side == SIDE_TENON && tn_error_code() ? -1 : (double)spent;
}

/* ns per operation of one block of a side of this process, as peers.py does it: a warm-up, then as many operations as
 * fill the time. */
static double time_block(race *a, int side)
{
    if (a->r->measure)
        return a->r->measure(side);
    const double least = a->r->unit == UNIT_GBS ? 4e6 : 3e6;
    int64_t *repeat = &a->repeat[side];
    if (run(a, side, *repeat / 8 + 1) < 0)
        return -1;
    for (;;) {
        double spent = run(a, side, *repeat);
        if (spent < 0 || spent >= 0.6 * least)
            return spent / (double)*repeat;
        double growth = spent < 0.12 * least ? 10 : 1.2 * least / spent;
        *repeat = (int64_t)((double)*repeat * growth) + 1;
    }
}

static double time_peer(race *a, int side)
{
    char answer[ANSWER];
    if (peer_ask(a->s->peers[side], "block", answer, sizeof answer) && strncmp(answer, "ns\t", 3) == 0)
        return strtod(answer + 3, NULL);
    return -1;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rounds. Who begins changes from round to round, so that nobody always follows the same one. */
static bool run_rounds(race *a, result *out)
{
    int blocks = a->s->blocks < MOST_BLOCKS ? a->s->blocks : MOST_BLOCKS;
    int peer_blocks = a->r->peer_blocks && a->r->peer_blocks < blocks ? a->r->peer_blocks : blocks;
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < SIDE_COUNT; k++) {
            int side = (b + k) % SIDE_COUNT;
            if (!a->present[side] || (side >= SIDE_PYTORCH && b >= peer_blocks))
                continue;
            double time = side < SIDE_PYTORCH ? time_block(a, side) : time_peer(a, side);
            if (time < 0 && side == SIDE_TENON)
                return tenon_failed(a);
            a->present[side] = time >= 0;
            a->times[side][b] = time;
        }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!a->present[side])
            continue;
        const int taken = side < SIDE_PYTORCH ? blocks : peer_blocks;
        qsort(a->times[side], (size_t)taken, sizeof(double), compare_doubles);
        const double per = a->r->per > 0 ? a->r->per : 1;
        out->best[side] = a->times[side][0] / per;
        out->median[side] = a->times[side][taken / 2] / per;
    }
    return true;
}

bool bench_measure(const row *r, tn_dtype dtype, const settings *s, result *out)
{
    race *a = calloc(1, sizeof *a);
    if (!a)
        return false;
    *a = (race){.r = r, .s = s, .f = {.dtype = dtype, .threads = s->threads}};
    *out = (result){0};
    for (int side = 0; side < SIDE_COUNT; side++)
        a->repeat[side] = 1;
    tn_scope scope = tn_scope_begin();
    bool ok = !r->setup || r->setup(&a->f) ? check_sides(a) && run_rounds(a, out) : tenon_failed(a);
    char answer[ANSWER];
    for (int side = SIDE_PYTORCH; side < SIDE_COUNT; side++)
        if (a->present[side])
            peer_ask(s->peers[side], "end", answer, sizeof answer);
    tn_scope_end(scope);
    bench_release(&a->f);
    free(a);
    return ok;
}
