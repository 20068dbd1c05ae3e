/* Loops of the yardsticks for one type T at one CPU level. Included by yardstick_level.h, which defines the macros. */

typedef T NAME(vec) __attribute__((vector_size(VECTOR_BYTES)));
typedef T NAME(loose) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
typedef INTEGER NAME(bits) __attribute__((vector_size(VECTOR_BYTES)));

#define VEC     NAME(vec)
#define LOAD(p) (*(const NAME(loose) *)(p))

#undef EACH_LANE
#if LANES == 16
#define EACH_LANE(M, s)                                                                                                \
    M(0, s), M(1, s), M(2, s), M(3, s), M(4, s), M(5, s), M(6, s), M(7, s), M(8, s), M(9, s), M(10, s), M(11, s),      \
        M(12, s), M(13, s), M(14, s), M(15, s)
#elif LANES == 8
#define EACH_LANE(M, s) M(0, s), M(1, s), M(2, s), M(3, s), M(4, s), M(5, s), M(6, s), M(7, s)
#elif LANES == 4
#define EACH_LANE(M, s) M(0, s), M(1, s), M(2, s), M(3, s)
#else
#define EACH_LANE(M, s) M(0, s), M(1, s)
#endif

/* A pointwise loop over elements: aligned vectors streamed, the tail (at the very end only) one by one. begin is a
 * multiple of 64 and out is aligned to a vector. */
#define POINTWISE(name, vector, scalar)                                                                                \
    static void NAME(name)(const job *j, int64_t begin, int64_t end)                                                   \
    {                                                                                                                  \
        T *out = j->out;                                                                                               \
        const T *x = j->x, *y = j->y;                                                                                  \
        int64_t i = begin;                                                                                             \
        (void)y;                                                                                                       \
        for (; i + LANES <= end; i += LANES) {                                                                         \
            VEC v = vector;                                                                                            \
            STREAM((VEC *)(out + i), v);                                                                               \
        }                                                                                                              \
        STREAM_END();                                                                                                  \
        for (; i < end; i++)                                                                                           \
            out[i] = scalar;                                                                                           \
    }

#define DOUBLED(l, s) (2 * (l))

POINTWISE(copy, LOAD(x + i), x[i])
POINTWISE(add, LOAD(x + i) + LOAD(y + i), x[i] + y[i])
POINTWISE(relu, (VEC)((NAME(bits))LOAD(x + i) & ~(LOAD(x + i) < 0)), x[i] < 0 ? 0 : x[i])
POINTWISE(even, __builtin_shufflevector(LOAD(x + 2 * i), LOAD(x + 2 * i + LANES), EACH_LANE(DOUBLED, 0)), x[2 * i])

#undef POINTWISE
#undef DOUBLED

static void NAME(sum_rows)(const job *j, int64_t begin, int64_t end)
{
    enum { CHAINS = 8, AHEAD = 4096 };
    T *out = j->out;
    for (int64_t r = begin; r < end; r++) {
        const T *x = (const T *)j->x + r * j->cols;
        VEC sum[CHAINS] = {{0}};
        int64_t c = 0;
        for (; c + CHAINS * LANES <= j->cols; c += CHAINS * LANES)
            for (int k = 0; k < CHAINS; k++) {
                sum[k] += LOAD(x + c + k * LANES);
                __builtin_prefetch((const char *)(x + c + k * LANES) + AHEAD);
            }
        for (int k = 1; k < CHAINS; k++)
            sum[0] += sum[k];
        T total = 0;
        for (int l = 0; l < LANES; l++)
            total += sum[0][l];
        for (; c < j->cols; c++)
            total += x[c];
        out[r] = total;
    }
}

/* Four rows at a time into one row of sums that stays in L1. */
static void NAME(sum_columns)(const job *j, int64_t begin, int64_t end)
{
    T *restrict out = j->out;
    const T *x = j->x;
    memset(out + begin, 0, (size_t)(end - begin) * sizeof(T));
    int64_t r = 0, w = j->cols;
    for (; r + 4 <= j->rows; r += 4, x += 4 * w)
        for (int64_t c = begin; c < end; c++)
            out[c] += (x[c] + x[c + w]) + (x[c + 2 * w] + x[c + 3 * w]);
    for (; r < j->rows; r++, x += w)
        for (int64_t c = begin; c < end; c++)
            out[c] += x[c];
}

#define LOW(l, s)  ((l) & (s) ? LANES + (l) - (s) : (l))
#define HIGH(l, s) ((l) & (s) ? LANES + (l) : (l) + (s))

/* One stage of a transpose in registers: swaps the blocks of s x s beside the diagonal. */
#define STAGE(s)                                                                                                       \
    if ((s) < LANES)                                                                                                   \
        for (int r = 0; r < LANES; r++)                                                                                \
            if (!(r & (s))) {                                                                                          \
                VEC a = v[r], b = v[r + (s) % LANES];                                                                  \
                v[r] = __builtin_shufflevector(a, b, EACH_LANE(LOW, (s) % LANES));                                     \
                v[r + (s) % LANES] = __builtin_shufflevector(a, b, EACH_LANE(HIGH, (s) % LANES));                      \
            }

/* In panels of 64 columns, so that a row's neighbouring lines are fetched together; lines of out are streamed. */
static void NAME(transpose)(const job *j, int64_t begin, int64_t end)
{
    enum { PANEL = 64 };
    for (int64_t panel = begin; panel < end; panel += PANEL)
        for (int64_t row = 0; row < j->rows; row += LANES)
            for (int64_t c = panel; c < panel + PANEL; c += LANES) {
                const T *x = (const T *)j->x + row * j->cols + c;
                T *out = (T *)j->out + c * j->rows + row;
                VEC v[LANES];
                for (int r = 0; r < LANES; r++)
                    v[r] = LOAD(x + r * j->cols);
                STAGE(1)
                STAGE(2)
                STAGE(4)
                STAGE(8)
                for (int r = 0; r < LANES; r++)
                    STREAM((VEC *)(out + r * j->rows), v[r]);
            }
    STREAM_END();
}

#undef LOW
#undef HIGH
#undef STAGE

static void NAME(product_plain)(int m, int n, int k, const T *a, const T *b, T *c)
{
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int q = 0; q < n; q++)
                c[i * n + q] += a[i * k + p] * b[p * n + q];
}

/* 1 / (1 + e^-x), with e^-x as 2^n e^r: |r| <= ln 2 / 2 by Taylor's series. */
static void NAME(sigmoid)(T *x, int n)
{
    const T log2_e = (T)1.4426950408889634, ln2 = (T)0.6931471805599453, most = EXPONENT_BIAS - 2;
    for (int i = 0; i < n; i++) {
        T t = -x[i] * log2_e;
        t = t > most ? most : t;
        t = t < -most ? -most : t;
        T whole = (t + ROUND_TO_WHOLE) - ROUND_TO_WHOLE, r = (t - whole) * ln2, series = 1;
        for (int k = DEGREE; k > 0; k--)
            series = 1 + series * r * (1 / (T)k);
        INTEGER bits = ((INTEGER)whole + EXPONENT_BIAS) << MANTISSA_BITS;
        T power;
        memcpy(&power, &bits, sizeof power);
        x[i] = 1 / (1 + series * power);
    }
}

static void NAME(layer)(const T *x, const T *w, const T *b, T *h, int points, int in, int out, bool relu,
                        NAME(product) * product)
{
    for (int i = 0; i < points; i++)
        memcpy(h + i * out, b, (size_t)out * sizeof(T));
    product(points, out, in, x, w, h);
    if (relu)
        for (int i = 0; i < points * out; i++)
            h[i] = h[i] > 0 ? h[i] : 0;
}

static void NAME(forward)(const forward_job *j, NAME(product) * product)
{
    NAME(layer)(j->x, j->w[0], j->b[0], j->h1, j->points, 2, 16, true, product);
    NAME(layer)(j->h1, j->w[1], j->b[1], j->h2, j->points, 16, 16, true, product);
    NAME(layer)(j->h2, j->w[2], j->b[2], j->out, j->points, 16, 1, false, product);
    NAME(sigmoid)(j->out, j->points);
}

#undef VEC
#undef LOAD
