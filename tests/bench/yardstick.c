/* Choice of level, threads and OpenBLAS for the yardsticks. */
#include "yardstick.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

const yardstick *yardstick_pick(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &yardstick_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &yardstick_avx2;
#endif
    return &yardstick_baseline;
}

typedef struct share {
    job_function *function;
    const job *j;
    int64_t begin, end;
} share;

static void *run_share(void *argument)
{
    const share *s = argument;
    s->function(s->j, s->begin, s->end);
    return NULL;
}

void yardstick_run(job_function *function, const job *j, int64_t n, int threads)
{
    enum { MOST = 64 };
    pthread_t id[MOST];
    bool started[MOST] = {false};
    share s[MOST];
    int count = threads < MOST ? threads : MOST;
    for (int t = 0; t < count; t++) {
        int64_t begin = n * t / count / 64 * 64, end = t + 1 == count ? n : n * (t + 1) / count / 64 * 64;
        s[t] = (share){function, j, begin, end};
        started[t] = t > 0 && pthread_create(&id[t], NULL, run_share, &s[t]) == 0;
    }
    for (int t = 0; t < count; t++)
        if (!started[t])
            run_share(&s[t]);
    for (int t = 1; t < count; t++)
        if (started[t])
            pthread_join(id[t], NULL);
}

/* cblas's enumerators, as its reference interface numbers them. */
enum { ROW_MAJOR = 101, NO_TRANS = 111 };

static void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
static void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                     int);

static void product_sgemm(int m, int n, int k, const float *a, const float *b, float *c)
{
    sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 1, c, n);
}

static void product_dgemm(int m, int n, int k, const double *a, const double *b, double *c)
{
    dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 1, c, n);
}

/* dlsym's pointer as a function pointer, which ISO C has no cast for. */
static void find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, size);
}

static void (*set_threads)(int);

bool yardstick_openblas(product_f32 **f32, product_f64 **f64)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    *f32 = NULL;
    *f64 = NULL;
    if (!library)
        return false;
    find(library, "cblas_sgemm", &sgemm, sizeof sgemm);
    find(library, "cblas_dgemm", &dgemm, sizeof dgemm);
    find(library, "openblas_set_num_threads", &set_threads, sizeof set_threads);
    if (!sgemm || !dgemm || !set_threads)
        return false;
    set_threads(1);
    *f32 = product_sgemm;
    *f64 = product_dgemm;
    return true;
}

general_f32 *yardstick_general(void)
{
    return sgemm;
}

void yardstick_threads(int n)
{
    if (set_threads)
        set_threads(n);
}
