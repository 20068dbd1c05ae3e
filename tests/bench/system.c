/* Blocks, values, the clock and the CPU. */
#define _GNU_SOURCE
#include "bench.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE_PAGE = 2 << 20 };

void *bench_block(fixture *f, size_t bytes)
{
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (f->n_blocks == (int)(sizeof f->blocks / sizeof *f->blocks))
        return NULL;
    void *block = aligned_alloc(alignment, rounded ? rounded : alignment);
    if (!block)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE)
        madvise(block, rounded, MADV_HUGEPAGE);
#endif
    memset(block, 0, rounded);
    f->blocks[f->n_blocks++] = block;
    return block;
}

double bench_value(int64_t i, uint32_t seed)
{
    uint32_t u = (uint32_t)i * 2654435761u + seed * 2246822519u;
    return u * (4.0 / 4294967296.0) - 1;
}

void bench_fill(void *data, int64_t numel, tn_dtype dtype, uint32_t seed, double scale, double shift)
{
    for (int64_t i = 0; i < numel; i++) {
        double v = bench_value(i, seed) * scale + shift;
        if (dtype == TN_FLOAT32)
            ((float *)data)[i] = (float)v;
        else
            ((double *)data)[i] = v;
    }
}

void *bench_values(fixture *f, int64_t numel, uint32_t seed, double scale, double shift)
{
    void *block = bench_block(f, (size_t)numel * tn_itemsize(f->dtype));
    if (block)
        bench_fill(block, numel, f->dtype, seed, scale, shift);
    return block;
}

double bench_load(const void *data, int64_t i, tn_dtype dtype)
{
    return dtype == TN_FLOAT32 ? ((const float *)data)[i] : ((const double *)data)[i];
}

void bench_release(fixture *f)
{
    while (f->n_blocks > 0)
        free(f->blocks[--f->n_blocks]);
}

int64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int bench_pin(void)
{
#ifdef __linux__
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0 ? cpu : -1;
        }
#endif
    return -1;
}

void bench_cpu_model(char *text, size_t size)
{
    snprintf(text, size, "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, size, "%s", colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}
