/* Maxima and minima of one dtype: included by reduce.kernel.h with EXTREME (max, min) and BEYOND (>, <). */
#define E_(kind, name, suffix) kind##_##name##_##suffix
#define E__(kind, name, suffix) E_(kind, name, suffix)
#define E(name) E__(EXTREME, name, SUFFIX)

/* NaN wins: a value is taken if it is beyond the best or NaN, and nothing is beyond NaN. */
static inline F(lanes) E(beyond)(F(lanes) x, F(lanes) best)
{
    F(mask) take = (F(mask))(x BEYOND best) | (F(mask))IS_NAN(x);
    return (F(lanes))(((F(mask))x & take) | ((F(mask))best & ~take));
}

static inline T E(beyond_one)(T x, T best)
{
    return x BEYOND best || IS_NAN(x) ? x : best;
}

static tni_total E(row)(const void *data, int64_t stride, int64_t n)
{
    const T *x = data;
    T best = x[0];
    int64_t i = 1;
    if (stride == 1 && n >= 16) {
        F(lanes) a = *(const F(part) *)x, b = *(const F(part) *)(x + 8);
        for (i = 16; i + 16 <= n; i += 16) {
            a = E(beyond)(*(const F(part) *)(x + i), a);
            b = E(beyond)(*(const F(part) *)(x + i + 8), b);
        }
        a = E(beyond)(a, b);
        best = a[0];
        for (int l = 1; l < 8; l++)
            best = E(beyond_one)(a[l], best);
    }
    for (; i < n; i++)
        best = E(beyond_one)(x[i * stride], best);
    tni_total result;
    memcpy(&result, &best, sizeof best);
    return result;
}

static void E(columns)(void *totals, const void *data, int64_t row_stride, int64_t rows, int64_t columns)
{
    T *best = totals;
    const T *x = data;
    for (int64_t r = 0; r < rows; r++, x += row_stride)
        for (int64_t c = 0; c < columns; c++)
            best[c] = x[c] BEYOND best[c] || IS_NAN(x[c]) ? x[c] : best[c];
}

#undef E
#undef E__
#undef E_
#undef EXTREME
#undef BEYOND
