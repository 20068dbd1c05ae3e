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

enum { E(dense_from) = 32 }; /* elements from which a dense row is worth taking by itself */

/* A dense row of n >= 32 elements. The last 8 may be taken twice. */
static inline T E(dense)(const T *x, int64_t n)
{
    F(lanes) a = *(const F(part) *)x, b = *(const F(part) *)(x + 8), c = *(const F(part) *)(x + 16),
             d = *(const F(part) *)(x + 24);
    int64_t i = 32;
    for (; i + 32 <= n; i += 32) {
        a = E(beyond)(*(const F(part) *)(x + i), a);
        b = E(beyond)(*(const F(part) *)(x + i + 8), b);
        c = E(beyond)(*(const F(part) *)(x + i + 16), c);
        d = E(beyond)(*(const F(part) *)(x + i + 24), d);
    }
    a = E(beyond)(E(beyond)(d, c), E(beyond)(b, a));
    for (; i + 8 <= n; i += 8)
        a = E(beyond)(*(const F(part) *)(x + i), a);
    if (i < n)
        a = E(beyond)(*(const F(part) *)(x + n - 8), a);
    a = E(beyond)(__builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3), a);
    a = E(beyond)(__builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5), a);
    return E(beyond_one)(a[1], a[0]);
}

static inline T E(strided)(const T *x, int64_t stride, int64_t n)
{
    T best = x[0];
    for (int64_t i = 1; i < n; i++)
        best = E(beyond_one)(x[i * stride], best);
    return best;
}

static tni_total E(row)(const void *data, int64_t stride, int64_t n)
{
    T best = stride == 1 && n >= E(dense_from) ? E(dense)(data, n) : E(strided)(data, stride, n);
    tni_total result;
    memcpy(&result, &best, sizeof best);
    return result;
}

static void E(rows)(void *totals, const void *data, int64_t row_stride, int64_t stride, int64_t rows, int64_t n)
{
    T *best = totals;
    const T *x = data;
    int64_t r = 0;
    if (stride == 1 && n >= E(dense_from)) {
        for (; r < rows; r++, x += row_stride)
            best[r] = E(dense)(x, n);
        return;
    }
    for (; r + 8 <= rows; r += 8, x += 8 * row_stride) {
        F(lanes) a = F(across)(x, row_stride);
        for (int64_t i = 1; i < n; i++)
            a = E(beyond)(F(across)(x + i * stride, row_stride), a);
        memcpy(best + r, &a, sizeof a);
    }
    for (; r < rows; r++, x += row_stride)
        best[r] = E(strided)(x, stride, n);
}

static void E(columns)(void *totals, const void *data, int64_t row_stride, int64_t rows, int64_t columns)
{
    T *best = totals;
    const T *x = data;
    for (int64_t r = 0; r < rows; r++, x += row_stride)
        for (int64_t c = 0; c < columns; c++)
            best[c] = x[c] BEYOND best[c] || IS_NAN(x[c]) ? x[c] : best[c];
}

/* Takes element `at` where it comes before what was found so far; equals and what follows NaN do not. */
static inline void E(place)(F(lanes) x, T_INT at, F(lanes) *best, F(mask) *place)
{
    F(mask) take = (F(mask))(x BEYOND * best) | ((F(mask))IS_NAN(x) & ~(F(mask))IS_NAN(*best));
    *best = (F(lanes))(((F(mask))x & take) | ((F(mask)) * best & ~take));
    *place = (((F(mask)){0} + at) & take) | (*place & ~take);
}

static inline void E(place_one)(T x, T_INT at, T *best, T_INT *place)
{
    if (x BEYOND * best || (IS_NAN(x) && !(IS_NAN(*best)))) {
        *best = x;
        *place = at;
    }
}

static void E(place_rows)(int64_t *place, const void *data, int64_t row_stride, int64_t stride, int64_t rows, int64_t n)
{
    const T *x = data;
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8, x += 8 * row_stride) {
        F(lanes) best = F(across)(x, row_stride);
        F(mask) at = {0};
        for (int64_t i = 1; i < n; i++)
            E(place)(F(across)(x + i * stride, row_stride), (T_INT)i, &best, &at);
        for (int l = 0; l < 8; l++)
            place[r + l] = at[l];
    }
    for (; r < rows; r++, x += row_stride) {
        T best = x[0];
        T_INT at = 0;
        for (int64_t i = 1; i < n; i++)
            E(place_one)(x[i * stride], (T_INT)i, &best, &at);
        place[r] = at;
    }
}

static void E(place_columns)(void *bests, void *places, const void *data, int64_t row_stride, int64_t rows,
                             int64_t columns, int64_t first)
{
    T *best = bests;
    T_INT *place = places;
    const T *x = data;
    for (int64_t r = 0; r < rows; r++, x += row_stride) {
        int64_t c = 0;
        for (; c + 8 <= columns; c += 8) {
            F(lanes) b;
            F(mask) p;
            memcpy(&b, best + c, sizeof b);
            memcpy(&p, place + c, sizeof p);
            E(place)(*(const F(part) *)(x + c), (T_INT)(first + r), &b, &p);
            memcpy(best + c, &b, sizeof b);
            memcpy(place + c, &p, sizeof p);
        }
        for (; c < columns; c++)
            E(place_one)(x[c], (T_INT)(first + r), best + c, place + c);
    }
}

#undef E
#undef E__
#undef E_
#undef EXTREME
#undef BEYOND
