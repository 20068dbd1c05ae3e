/* Maxima and minima of one dtype and their places: included by reduce.kernel.h. Minima are the maxima of numbers whose
 * order is turned round, by the bits `turn` (0 for maxima; the sign of floats, all bits of integers). NaN wins: a value
 * is taken if it is beyond the best or NaN, and nothing is beyond NaN. */
static inline F(lanes) F(turned)(F(lanes) x, T_INT turn)
{
    return (F(lanes))((F(mask))x ^ (((F(mask)){0}) + turn));
}

static inline T F(turned_one)(T x, T_INT turn)
{
    T_INT bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= turn;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline F(lanes) F(beyond)(F(lanes) x, F(lanes) best)
{
    F(mask) take = (F(mask))(x > best) | (F(mask))IS_NAN(x);
    return (F(lanes))(((F(mask))x & take) | ((F(mask))best & ~take));
}

static inline T F(beyond_one)(T x, T best)
{
    return x > best || IS_NAN(x) ? x : best;
}

/* 8 elements in memory, turned. */
#define TURNED_AT(x) F(turned)((F(lanes)) * (const F(part) *)(x), turn)

enum { F(dense_from) = 32 }; /* elements from which a dense row is worth taking by itself */

/* A dense row of n >= 32 elements. The last 8 may be taken twice. */
static NOINLINE T F(extreme_dense)(const T *x, int64_t n, T_INT turn)
{
    F(lanes) a = TURNED_AT(x), b = TURNED_AT(x + 8), c = TURNED_AT(x + 16), d = TURNED_AT(x + 24);
    int64_t i = 32;
    for (; i + 32 <= n; i += 32) {
        a = F(beyond)(TURNED_AT(x + i), a);
        b = F(beyond)(TURNED_AT(x + i + 8), b);
        c = F(beyond)(TURNED_AT(x + i + 16), c);
        d = F(beyond)(TURNED_AT(x + i + 24), d);
    }
    a = F(beyond)(F(beyond)(d, c), F(beyond)(b, a));
    for (; i < n; i += 8)
        a = F(beyond)(TURNED_AT(x + (i + 8 <= n ? i : n - 8)), a);
    a = F(beyond)(__builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3), a);
    a = F(beyond)(__builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5), a);
    return F(turned_one)(F(beyond_one)(a[1], a[0]), turn);
}

static NOINLINE T F(extreme_row)(const T *x, int64_t stride, int64_t n, T_INT turn)
{
    if (stride == 1 && n >= F(dense_from))
        return F(extreme_dense)(x, n, turn);
    T best = F(turned_one)(x[0], turn);
    for (int64_t i = 1; i < n; i++)
        best = F(beyond_one)(F(turned_one)(x[i * stride], turn), best);
    return F(turned_one)(best, turn);
}

static NOINLINE void F(extreme_rows)(T *best, const T *x, int64_t row_stride, int64_t stride, int64_t rows, int64_t n,
                                     T_INT turn)
{
    int64_t r = 0;
    for (; r + 8 <= rows && (stride != 1 || n < F(dense_from)); r += 8, x += 8 * row_stride) {
        F(lanes) a = F(turned)(F(across)(x, row_stride), turn);
        for (int64_t i = 1; i < n; i++)
            a = F(beyond)(F(turned)(F(across)(x + i * stride, row_stride), turn), a);
        a = F(turned)(a, turn);
        memcpy(best + r, &a, sizeof a);
    }
    for (; r < rows; r++, x += row_stride)
        best[r] = F(extreme_row)(x, stride, n, turn);
}

static NOINLINE void F(extreme_columns)(T *best, const T *x, int64_t row_stride, int64_t rows, int64_t columns,
                                        T_INT turn)
{
    for (int64_t r = 0, some; r < rows; r += some, x += some * row_stride) {
        int64_t c = 0;
        some = rows - r < 8 ? rows - r : 8;
        for (; c + 8 <= columns; c += 8) {
            F(lanes) b = TURNED_AT(best + c);
            for (int64_t k = 0; k < some; k++)
                b = F(beyond)(TURNED_AT(x + k * row_stride + c), b);
            *(F(part) *)(best + c) = (F(part))F(turned)(b, turn);
        }
        for (; c < columns; c++) {
            T b = F(turned_one)(best[c], turn);
            for (int64_t k = 0; k < some; k++)
                b = F(beyond_one)(F(turned_one)(x[k * row_stride + c], turn), b);
            best[c] = F(turned_one)(b, turn);
        }
    }
}

/* Takes element `at` where it comes before what was found so far; equals and what follows NaN do not. */
static inline void F(place)(F(lanes) x, T_INT at, F(lanes) *best, F(mask) *place)
{
    F(mask) take = (F(mask))(x > *best) | ((F(mask))IS_NAN(x) & ~(F(mask))IS_NAN(*best));
    *best = (F(lanes))(((F(mask))x & take) | ((F(mask)) * best & ~take));
    *place = (((F(mask)){0} + at) & take) | (*place & ~take);
}

static inline void F(place_one)(T x, T_INT at, T *best, T_INT *place)
{
    if (x > *best || (IS_NAN(x) && !(IS_NAN(*best)))) {
        *best = x;
        *place = at;
    }
}

static NOINLINE void F(place_rows)(int64_t *place, const T *x, int64_t row_stride, int64_t stride, int64_t rows,
                                   int64_t n, T_INT turn)
{
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8, x += 8 * row_stride) {
        F(lanes) best = F(turned)(F(across)(x, row_stride), turn);
        F(mask) at = {0};
        for (int64_t i = 1; i < n; i++)
            F(place)(F(turned)(F(across)(x + i * stride, row_stride), turn), (T_INT)i, &best, &at);
        for (int l = 0; l < 8; l++)
            place[r + l] = at[l];
    }
    for (; r < rows; r++, x += row_stride) {
        T best = F(turned_one)(x[0], turn);
        T_INT at = 0;
        for (int64_t i = 1; i < n; i++)
            F(place_one)(F(turned_one)(x[i * stride], turn), (T_INT)i, &best, &at);
        place[r] = at;
    }
}

static NOINLINE void F(place_columns)(T *best, T_INT *place, const T *x, int64_t row_stride, int64_t rows,
                                      int64_t columns, int64_t first, T_INT turn)
{
    for (int64_t r = 0; r < rows; r++, x += row_stride) {
        const T_INT at = (T_INT)(first + r);
        int64_t c = 0;
        for (; c + 8 <= columns; c += 8) {
            F(lanes) b = TURNED_AT(best + c);
            F(mask) p;
            memcpy(&p, place + c, sizeof p);
            F(place)(TURNED_AT(x + c), at, &b, &p);
            b = F(turned)(b, turn);
            memcpy(best + c, &b, sizeof b);
            memcpy(place + c, &p, sizeof p);
        }
        for (; c < columns; c++) {
            T b = F(turned_one)(best[c], turn);
            F(place_one)(F(turned_one)(x[c], turn), at, &b, place + c);
            best[c] = F(turned_one)(b, turn);
        }
    }
}
#undef TURNED_AT

/* What the table has: each for maxima and for minima. */
#define EXTREME(kind, turn)                                                                                          \
    static tni_total F(kind##_row)(const void *x, int64_t stride, int64_t n)                                         \
    {                                                                                                                \
        T best = F(extreme_row)(x, stride, n, turn);                                                                 \
        tni_total result;                                                                                            \
        memcpy(&result, &best, sizeof best);                                                                         \
        return result;                                                                                               \
    }                                                                                                                \
    static void F(kind##_rows)(void *totals, const void *x, int64_t row_stride, int64_t stride, int64_t rows,        \
                               int64_t n)                                                                            \
    {                                                                                                                \
        F(extreme_rows)(totals, x, row_stride, stride, rows, n, turn);                                               \
    }                                                                                                                \
    static void F(kind##_columns)(void *totals, const void *x, int64_t row_stride, int64_t rows, int64_t columns)    \
    {                                                                                                                \
        F(extreme_columns)(totals, x, row_stride, rows, columns, turn);                                              \
    }                                                                                                                \
    static void F(kind##_place_rows)(int64_t *place, const void *x, int64_t row_stride, int64_t stride, int64_t rows,\
                                     int64_t n)                                                                      \
    {                                                                                                                \
        F(place_rows)(place, x, row_stride, stride, rows, n, turn);                                                  \
    }                                                                                                                \
    static void F(kind##_place_columns)(void *best, void *place, const void *x, int64_t row_stride, int64_t rows,    \
                                        int64_t columns, int64_t first)                                              \
    {                                                                                                                \
        F(place_columns)(best, place, x, row_stride, rows, columns, first, turn);                                    \
    }
EXTREME(max, 0)
EXTREME(min, T_TURN)
#undef EXTREME
