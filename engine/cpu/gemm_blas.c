/* Products by OpenBLAS. The only file that sees cblas.h, and of that only its types: the functions come from dlsym, so
 * that a program without large products neither loads the library (1.3 ms, 2.7 MB) nor needs it.
 *
 * What the first product does to the process, once: it loads libopenblas.so.0, which starts that library's own threads
 * (one per further CPU; they sleep), sets OpenBLAS's thread count to 1 (for the host's own use of OpenBLAS too: with
 * more threads its bits would depend on their number), and makes it map a work buffer for each thread of ours. OpenBLAS
 * loops for ever or ends the process when it finds no memory for those, so a probe of the address space comes first;
 * without room own kernels do the work. Bad arguments it would report on stdout and skip: they are checked here.
 *
 * A large product is cut into tasks by its shape alone; each task is one single-threaded call, so all thread counts
 * give the same bits. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cpu/gemm_blas.h"

#ifdef TENON_OPENBLAS

#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/pool.h"
#include "cpu/gemm_levels.h"
#include "cpu/level.h"

typedef void sgemm_function(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint m, blasint n,
                            blasint k, float alpha, const float *a, blasint lda, const float *b, blasint ldb,
                            float beta, float *c, blasint ldc);
typedef void dgemm_function(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint m, blasint n,
                            blasint k, double alpha, const double *a, blasint lda, const double *b, blasint ldb,
                            double beta, double *c, blasint ldc);

static struct {
    sgemm_function *sgemm;
    dgemm_function *dgemm;
    void (*set_num_threads)(int);
    void *(*memory_alloc)(int); /* OpenBLAS's own, not in its headers */
    void (*memory_free)(void *);
    bool has_avx512;
} openblas;

static pthread_once_t opened_once = PTHREAD_ONCE_INIT;
static bool opened;

/* A data pointer to a function pointer, as POSIX allows and ISO C can't say. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Room for what OpenBLAS maps, with a margin (measured: 390 MiB for two threads on two CPUs): 128 MiB for each thread
 * that calls it, stack and heap of each of its own threads, the library. */
static bool address_space_suffices(int callers)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t bytes = ((size_t)callers * 128 + (size_t)(cpus > 0 ? cpus : 1) * 72 + 256) << 20;
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED && munmap(room, bytes) == 0;
}

/* Makes OpenBLAS map one buffer for each thread that may call it at a time; it keeps them. */
static void map_buffers(int callers)
{
    enum { MOST = 64 };
    void *buffers[MOST];
    int count = callers < MOST ? callers : MOST;
    for (int i = 0; i < count; i++)
        buffers[i] = openblas.memory_alloc(0);
    for (int i = 0; i < count; i++)
        openblas.memory_free(buffers[i]);
}

/* Whether the kernels that OpenBLAS chose for this CPU are AVX-512's; so are those of a library that does not say. */
static bool chose_avx512(void *library)
{
    static const char *const cores[] = {"SkylakeX", "Cooperlake", "Sapphirerapids"};
    char *(*core_name)(void);
    if (!find(library, "openblas_get_corename", &core_name))
        return true;
    const char *name = core_name();
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcasecmp(name, cores[i]) == 0)
            return true;
    return false;
}

static void open_openblas(void)
{
    int callers = tni_num_threads();
    void *library = address_space_suffices(callers) ? dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return;
    if (!find(library, "cblas_sgemm", &openblas.sgemm) || !find(library, "cblas_dgemm", &openblas.dgemm) ||
        !find(library, "openblas_set_num_threads", &openblas.set_num_threads)) {
        dlclose(library);
        return;
    }
    openblas.set_num_threads(1);
    if (find(library, "blas_memory_alloc", &openblas.memory_alloc) &&
        find(library, "blas_memory_free", &openblas.memory_free))
        map_buffers(callers);
    float ones[64], product[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 8, 8, 8, 1, ones, 8, ones, 8, 0, product, 8);
    opened = product[63] == 8;
    openblas.has_avx512 = chose_avx512(library);
}

bool tni_gemm_blas_suits(int level)
{
    return level < TNI_CPU_AVX512 || openblas.has_avx512;
}

bool tni_gemm_blas_takes(const tni_gemm *g)
{
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX)
        return false;
    pthread_once(&opened_once, open_openblas);
    return opened;
}

/* A matrix as BLAS takes it. LAID_COPIED: neither way, so a row-major copy stands for it. */
typedef enum laying { LAID_BY_ROWS, LAID_BY_COLUMNS, LAID_COPIED } laying;

static laying lay(int64_t rows, int64_t columns, int64_t row, int64_t column, int64_t *leading)
{
    *leading = rows == 1 ? columns : row;
    if ((column == 1 || columns == 1) && *leading >= columns && *leading <= INT_MAX)
        return LAID_BY_ROWS;
    *leading = columns == 1 ? rows : column;
    if ((row == 1 || rows == 1) && *leading >= rows && *leading <= INT_MAX)
        return LAID_BY_COLUMNS;
    *leading = columns;
    return LAID_COPIED;
}

/* The product with c by rows, or to be copied there. */
typedef struct blas_job {
    bool is_double;
    int64_t size, m, n, k, lda, ldb, ldc;
    const char *a, *b, *bias;
    char *c;
    laying a_laid, b_laid, c_laid;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col, bias_row, bias_col;
    int64_t rows, columns; /* of a task */
} blas_job;

/* Size of parts when n is cut evenly into parts of `least` or more, in whole units. */
static int64_t part_of_at_least(int64_t n, int64_t least, int64_t unit)
{
    int64_t count = n / least > 1 ? n / least : 1, part = (n - 1) / count + 1;
    return (part - 1) / unit * unit + unit;
}

static blas_job job_of(const tni_gemm *g, bool is_double)
{
    blas_job p = {.is_double = is_double, .size = is_double ? 8 : 4, .m = g->m, .n = g->n, .k = g->k, .a = g->a,
                  .b = g->b, .c = g->c, .bias = g->bias, .a_row = g->a_row, .a_col = g->a_col, .b_row = g->b_row,
                  .b_col = g->b_col, .c_row = g->c_row, .c_col = g->c_col, .bias_col = g->bias_stride};
    p.c_laid = lay(p.m, p.n, p.c_row, p.c_col, &p.ldc);
    if (p.c_laid == LAID_BY_COLUMNS) {
        blas_job t = {.is_double = is_double, .size = p.size, .m = p.n, .n = p.m, .k = p.k, .a = p.b, .b = p.a,
                      .c = p.c, .bias = p.bias, .a_row = p.b_col, .a_col = p.b_row, .b_row = p.a_col, .b_col = p.a_row,
                      .c_row = p.c_col, .c_col = p.c_row, .bias_row = p.bias_col, .c_laid = LAID_BY_ROWS, .ldc = p.ldc};
        p = t;
    }
    p.a_laid = lay(p.m, p.k, p.a_row, p.a_col, &p.lda);
    p.b_laid = lay(p.k, p.n, p.b_row, p.b_col, &p.ldb);
    const double cells = 4e6 / (double)p.k; /* 8 MFLOP a task, along the longer side of c */
    p.rows = p.m;
    p.columns = p.n;
    if (p.m >= p.n)
        p.rows = part_of_at_least(p.m, (int64_t)(cells / (double)p.n) + 128, 16);
    else
        p.columns = part_of_at_least(p.n, (int64_t)(cells / (double)p.m) + 128, 16);
    return p;
}

static size_t copy_bytes(laying laid, int64_t rows, int64_t columns, size_t size)
{
    size_t bytes = 0;
    if (laid != LAID_COPIED)
        return 0;
    if (!tni_mul_size((size_t)rows, (size_t)columns, &bytes) || !tni_mul_size(bytes, size, &bytes) ||
        !tni_add_size(bytes, 63, &bytes))
        return SIZE_MAX;
    return bytes / 64 * 64;
}

size_t tni_gemm_blas_workspace(const tni_gemm *g, size_t size)
{
    const blas_job p = job_of(g, size == sizeof(double));
    size_t a = copy_bytes(p.a_laid, p.m, p.k, size), b = copy_bytes(p.b_laid, p.k, p.n, size), sum;
    size_t c = copy_bytes(p.c_laid, p.m, p.n, size);
    if (a == SIZE_MAX || b == SIZE_MAX || c == SIZE_MAX || !tni_add_size(a, b, &sum) || !tni_add_size(sum, c, &sum))
        return SIZE_MAX;
    return sum;
}

/* One single-threaded product: c[first_row .., first_column ..]. */
static void multiply(const blas_job *p, int64_t first_row, int64_t rows, int64_t first_column, int64_t columns)
{
    const char *a = p->a + first_row * (p->a_laid == LAID_BY_COLUMNS ? 1 : p->lda) * p->size;
    const char *b = p->b + first_column * (p->b_laid == LAID_BY_COLUMNS ? p->ldb : 1) * p->size;
    char *c = p->c + (first_row * p->ldc + first_column) * p->size;
    enum CBLAS_TRANSPOSE a_way = p->a_laid == LAID_BY_COLUMNS ? CblasTrans : CblasNoTrans;
    enum CBLAS_TRANSPOSE b_way = p->b_laid == LAID_BY_COLUMNS ? CblasTrans : CblasNoTrans;
    if (p->is_double)
        openblas.dgemm(CblasRowMajor, a_way, b_way, (int)rows, (int)columns, (int)p->k, 1, (const double *)a,
                       (int)p->lda, (const double *)b, (int)p->ldb, 0, (double *)c, (int)p->ldc);
    else
        openblas.sgemm(CblasRowMajor, a_way, b_way, (int)rows, (int)columns, (int)p->k, 1, (const float *)a,
                       (int)p->lda, (const float *)b, (int)p->ldb, 0, (float *)c, (int)p->ldc);
}

static void add_bias(const blas_job *p, int64_t first_row, int64_t rows, int64_t first_column, int64_t columns)
{
    for (int64_t i = first_row; i < first_row + rows; i++) {
        for (int64_t j = first_column; j < first_column + columns; j++) {
            int64_t at = i * p->ldc + j, from = i * p->bias_row + j * p->bias_col;
            if (p->is_double)
                ((double *)p->c)[at] += ((const double *)p->bias)[from];
            else
                ((float *)p->c)[at] += ((const float *)p->bias)[from];
        }
    }
}

static void multiply_task(void *context, int64_t task)
{
    const blas_job *p = context;
    int64_t column_tasks = (p->n - 1) / p->columns + 1;
    int64_t i = task / column_tasks * p->rows, j = task % column_tasks * p->columns;
    int64_t rows = p->m - i < p->rows ? p->m - i : p->rows, columns = p->n - j < p->columns ? p->n - j : p->columns;
    multiply(p, i, rows, j, columns);
    if (p->bias)
        add_bias(p, i, rows, j, columns);
}

void tni_gemm_blas(const tni_gemm *g, bool is_double, void *workspace)
{
    blas_job p = job_of(g, is_double), whole = p;
    const tni_gemm_kernels *copy = is_double ? &tni_gemm_baseline_f64 : &tni_gemm_baseline_f32;
    char *next = workspace;
    if (p.a_laid == LAID_COPIED) {
        copy->pack(next, p.k, p.k, p.m, p.a, p.a_col, p.a_row);
        p.a = next;
        next += copy_bytes(LAID_COPIED, p.m, p.k, (size_t)p.size);
    }
    if (p.b_laid == LAID_COPIED) {
        copy->pack(next, p.n, p.n, p.k, p.b, p.b_col, p.b_row);
        p.b = next;
        next += copy_bytes(LAID_COPIED, p.k, p.n, (size_t)p.size);
    }
    if (p.c_laid == LAID_COPIED)
        p.c = next;
    int64_t tasks = ((p.m - 1) / p.rows + 1) * ((p.n - 1) / p.columns + 1);
    if (tasks == 1)
        multiply_task(&p, 0);
    else
        tni_parallel_for(tasks, multiply_task, &p);
    for (int64_t i = 0; p.c_laid == LAID_COPIED && i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++)
            memcpy(whole.c + (i * p.c_row + j * p.c_col) * p.size, p.c + (i * p.n + j) * p.size, (size_t)p.size);
}

#else

bool tni_gemm_blas_takes(const tni_gemm *g)
{
    (void)g;
    return false;
}

bool tni_gemm_blas_suits(int level)
{
    (void)level;
    return false;
}

size_t tni_gemm_blas_workspace(const tni_gemm *g, size_t size)
{
    (void)g, (void)size;
    return 0;
}

void tni_gemm_blas(const tni_gemm *g, bool is_double, void *workspace)
{
    (void)g, (void)is_double, (void)workspace;
}

#endif
