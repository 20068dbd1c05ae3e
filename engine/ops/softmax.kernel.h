/* Sums in vectors are cut every so often and go on in double, so that long rows stay as good as short ones. */
#define PIECE (64 * VLANES)

static inline VEC V(some)(const T *p, int64_t left, T fill)
{
    return left >= VLANES ? V(load)(p) : V(load_part)(p, (int)left, fill);
}

static inline void V(put)(T *p, int64_t left, VEC v)
{
    if (left >= VLANES)
        V(store)(p, v);
    else
        V(store_part)(p, (int)left, v);
}

static inline double V(total)(VEC v)
{
    T lanes[VLANES];
    double sum = 0;
    V(store)(lanes, v);
    for (int i = 0; i < VLANES; i++)
        sum += (double)lanes[i];
    return sum;
}

static T T_NAME(largest)(const T *x, int64_t n)
{
    T lanes[VLANES], most = (T)-INFINITY;
    VEC v = V(set1)(most);
    for (int64_t i = 0; i < n; i += VLANES)
        v = V(max2)(V(some)(x + i, n - i, (T)-INFINITY), v);
    V(store)(lanes, v);
    for (int i = 0; i < VLANES; i++)
        most = lanes[i] > most ? lanes[i] : most;
    return most;
}

/* e^(x - most) into y, unless that is NULL; returns the sum. */
static double T_NAME(exponentials)(T *y, const T *x, int64_t n, T most)
{
    const VEC shift = V(set1)(most);
    double sum = 0;
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t end = first + PIECE < n ? first + PIECE : n;
        VEC total = V(set1)(0);
        for (int64_t i = first; i < end; i += VLANES) {
            VEC e = V(exp)(V(some)(x + i, end - i, (T)-INFINITY) - shift);
            if (y)
                V(put)(y + i, end - i, e);
            total = total + e;
        }
        sum += V(total)(total);
    }
    return sum;
}

static void T_NAME(softmax)(void *to, const void *from, const void *unused, int64_t rows, int64_t n)
{
    (void)unused;
    for (int64_t r = 0; r < rows; r++) {
        T *y = (T *)to + r * n;
        const T *x = (const T *)from + r * n;
        const VEC sum = V(set1)((T)T_NAME(exponentials)(y, x, n, T_NAME(largest)(x, n)));
        for (int64_t i = 0; i < n; i += VLANES)
            V(put)(y + i, n - i, V(some)(y + i, n - i, 0) / sum);
    }
}

static void T_NAME(log_softmax)(void *to, const void *from, const void *unused, int64_t rows, int64_t n)
{
    (void)unused;
    for (int64_t r = 0; r < rows; r++) {
        T *y = (T *)to + r * n;
        const T *x = (const T *)from + r * n, most = T_NAME(largest)(x, n);
        const VEC shift = V(set1)(most), sum = V(log)(V(set1)((T)T_NAME(exponentials)(NULL, x, n, most)));
        for (int64_t i = 0; i < n; i += VLANES)
            V(put)(y + i, n - i, V(some)(x + i, n - i, 0) - shift - sum);
    }
}

/* Sum of a b; of a alone when b is NULL. */
static double T_NAME(products)(const T *a, const T *b, int64_t n)
{
    double sum = 0;
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t end = first + PIECE < n ? first + PIECE : n;
        VEC total = V(set1)(0);
        for (int64_t i = first; i < end; i += VLANES) {
            VEC v = V(some)(a + i, end - i, 0);
            if (b)
                v = v * V(some)(b + i, end - i, 0);
            total = total + v;
        }
        sum += V(total)(total);
    }
    return sum;
}

static void T_NAME(softmax_backward)(void *to, const void *from, const void *result, int64_t rows, int64_t n)
{
    for (int64_t r = 0; r < rows; r++) {
        T *y = (T *)to + r * n;
        const T *a = (const T *)from + r * n, *b = (const T *)result + r * n;
        const VEC sum = V(set1)((T)T_NAME(products)(a, b, n));
        for (int64_t i = 0; i < n; i += VLANES)
            V(put)(y + i, n - i, (V(some)(a + i, n - i, 0) - sum) * V(some)(b + i, n - i, 0));
    }
}

static void T_NAME(log_softmax_backward)(void *to, const void *from, const void *result, int64_t rows, int64_t n)
{
    for (int64_t r = 0; r < rows; r++) {
        T *y = (T *)to + r * n;
        const T *a = (const T *)from + r * n, *b = (const T *)result + r * n;
        const VEC sum = V(set1)((T)T_NAME(products)(a, NULL, n));
        for (int64_t i = 0; i < n; i += VLANES)
            V(put)(y + i, n - i, V(some)(a + i, n - i, 0) - V(exp)(V(some)(b + i, n - i, 0)) * sum);
    }
}

#undef PIECE
