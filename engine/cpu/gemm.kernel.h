/* Loops of the matrix product for one CPU level and one type: the panel (register tiles), the dot product, packing.
 * Included by gemm_LEVEL.c, once per type; no include guard on purpose. The includer defines, and this file undefines:
 *
 *   REAL, NAME(x), KERNELS     the type; x with the type's suffix; the table's name. For float64 also REAL_IS_DOUBLE.
 *   VEC, LANES                 a vector and its number of values
 *   ROWS_NARROW, ROWS_WIDE     rows of a tile one vector wide and two vectors wide: 16 and 12 of 32 registers,
 *                              8 and 6 of 16
 *   ROWS_DOT                   dot products at a time, 4 or 8
 *   BROADCAST(x) FMA(x, y, z)  all lanes x; x y + z
 *   FOLD(v)                    the 128-bit piece left when halves of v are added until 128 bits are left
 *   MASKED and, if 1, MASK, MASK_FIRST(n), LOAD_MASKED(m, p), STORE_MASKED(m, p, v)
 *
 * A tile keeps its part of c in registers; each step of k loads one or two vectors of b and broadcasts `rows` values
 * of a. */

/* S(0) ... S(15), spelled out: a loop that the compiler may or may not unroll may or may not stay in registers. */
#ifndef EACH_ROW
#define EACH_ROW(S) S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15)
#define EACH_DOT(S) S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7)
/* The same for S(r, 0) ... S(r, 3). */
#define EACH_DOT_PART(S, r) S(r, 0) S(r, 1) S(r, 2) S(r, 3)
#endif

#define PIECE_LANES ((int)(16 / sizeof(REAL)))
#define VEC_BYTES   (LANES * sizeof(REAL))
#define DOT_LANES   ((int)(64 / sizeof(REAL)))
#define DOT_VECS    (DOT_LANES / LANES)
#define DOT_ROWS    256 /* of dot_columns: 16 KiB of sums */
#define ROW_PIECE   1024 /* columns of row at a time */

typedef REAL NAME(piece) __attribute__((vector_size(16), may_alias));
typedef REAL NAME(piece_at) __attribute__((vector_size(16), may_alias, aligned(sizeof(REAL))));
typedef REAL NAME(vec_at) __attribute__((vector_size(VEC_BYTES), may_alias, aligned(sizeof(REAL))));

#define LOAD(p)     ((VEC) * (const NAME(vec_at) *)(p))
#define STORE(p, v) (*(NAME(vec_at) *)(p) = (NAME(vec_at))(v))
#if MASKED
#define LOAD_LAST(p)     LOAD_MASKED(mask, p)
#define STORE_LAST(p, v) STORE_MASKED(mask, p, v)
#else
#define MASK             int
#define MASK_FIRST(n)    ((int)(n))
#define LOAD_LAST(p)     LOAD(p)
#define STORE_LAST(p, v) STORE(p, v)
#endif

/* What a tile does with its row r. */
#define ZERO(r) acc[r][0] = acc[r][1] = (VEC){0};
#define LOAD_ROW(r)                                                                                                    \
    if ((r) < rows) {                                                                                                  \
        if (vecs == 2)                                                                                                 \
            acc[r][0] = LOAD(c + (r)*c_row);                                                                           \
        acc[r][last] = LOAD_LAST(c + (r)*c_row + last * LANES);                                                        \
    }
#define PREFETCH_ROW(r)                                                                                                \
    if ((r) < rows) {                                                                                                  \
        __builtin_prefetch(c + (rows + (r)) * c_row, 1);                                                               \
        __builtin_prefetch(c + (rows + (r)) * c_row + last * LANES, 1);                                                \
    }
#define STEP(r)                                                                                                        \
    if ((r) < rows) {                                                                                                  \
        VEC x = BROADCAST(a_fours[(r) / 4][(r) % 4 * a_row]);                                                          \
        if (vecs == 2)                                                                                                 \
            acc[r][0] = FMA(x, b_first, acc[r][0]);                                                                    \
        acc[r][last] = FMA(x, b_last, acc[r][last]);                                                                   \
    }
#define ADD_BIAS(r)                                                                                                    \
    if ((r) < rows) {                                                                                                  \
        if (vecs == 2)                                                                                                 \
            acc[r][0] += LOAD(bias);                                                                                   \
        acc[r][last] += bias_last;                                                                                     \
    }
#define STORE_ROW(r)                                                                                                   \
    if ((r) < rows) {                                                                                                  \
        if (vecs == 2)                                                                                                 \
            STORE(c + (r)*c_row, acc[r][0]);                                                                           \
        STORE_LAST(c + (r)*c_row + last * LANES, acc[r][last]);                                                        \
    }

/* `rows`, `vecs` and `by_row` are constants where this is called. `by_row`: a_col is 1, else a_row is. `mask` says
 * which lanes of the last vector are columns. */
static inline __attribute__((always_inline)) void NAME(tile)(const int rows, const int vecs, const bool by_row,
                                                             const tni_gemm_panel *p, const REAL *a, REAL *c, MASK mask)
{
    const int last = vecs - 1;
    const REAL *b = p->b, *bias = p->bias;
    const int64_t a_row = by_row ? p->a_row : 1, a_col = by_row ? 1 : p->a_col, b_row = p->b_row, c_row = p->c_row;
    const REAL *a_fours[4] = {a, a + 4 * a_row, a + 8 * a_row, a + 12 * a_row};
    VEC acc[TNI_GEMM_ROWS_MAX][2];
    (void)mask;
    EACH_ROW(ZERO)
    if (p->adds) {
        EACH_ROW(LOAD_ROW)
    }
    if (p->k >= 64) { /* the next tile's rows of c, of which a column of a large matrix shares few cache sets */
        EACH_ROW(PREFETCH_ROW)
    }
    for (int64_t s = p->k; s > 0; s--) {
        VEC b_first = (VEC){0}, b_last = LOAD_LAST(b + last * LANES);
        if (vecs == 2)
            b_first = LOAD(b);
        EACH_ROW(STEP)
        for (int four = 0; four < 4; four++)
            a_fours[four] += a_col;
        b += b_row;
    }
    if (bias) {
        VEC bias_last = LOAD_LAST(bias + last * LANES);
        EACH_ROW(ADD_BIAS)
    }
    EACH_ROW(STORE_ROW)
}

#define TAIL(count, vecs, by_row)                                                                                      \
    if (left & (count)) {                                                                                              \
        NAME(tile)(count, vecs, by_row, p, a, c, mask);                                                                \
        a += (count)*p->a_row;                                                                                         \
        c += (count)*p->c_row;                                                                                         \
    }

#define PANEL(name, rows, vecs, by_row)                                                                                \
    static void NAME(name)(const tni_gemm_panel *p)                                                                    \
    {                                                                                                                  \
        const REAL *a = p->a;                                                                                          \
        REAL *c = p->c;                                                                                                \
        int64_t left = p->m;                                                                                           \
        MASK mask = MASK_FIRST(p->width - ((vecs)-1) * LANES);                                                         \
        const int64_t a_tile = p->a_tile ? p->a_tile : (rows)*p->a_row;                                                \
        for (; left >= (rows); left -= (rows)) {                                                                       \
            NAME(tile)(rows, vecs, by_row, p, a, c, mask);                                                             \
            a += a_tile;                                                                                               \
            c += (rows)*p->c_row;                                                                                      \
        }                                                                                                              \
        if ((rows) > 8)                                                                                                \
            TAIL(8, vecs, by_row)                                                                                      \
        TAIL(4, vecs, by_row)                                                                                          \
        TAIL(2, vecs, by_row)                                                                                          \
        TAIL(1, vecs, by_row)                                                                                          \
    }

PANEL(panel_narrow_by_column, ROWS_NARROW, 1, false)
PANEL(panel_narrow_by_row, ROWS_NARROW, 1, true)
PANEL(panel_wide_by_column, ROWS_WIDE, 2, false)
PANEL(panel_wide_by_row, ROWS_WIDE, 2, true)

static void NAME(panel_run)(const tni_gemm_panel *p)
{
    if (p->width > LANES) {
        if (p->a_col == 1)
            NAME(panel_wide_by_row)(p);
        else
            NAME(panel_wide_by_column)(p);
    } else if (p->a_col == 1) {
        NAME(panel_narrow_by_row)(p);
    } else {
        NAME(panel_narrow_by_column)(p);
    }
}

/* A panel that goes through a buffer of ROWS_WIDE rows, for the c, bias or width that tiles can't take. */
static __attribute__((noinline)) void NAME(panel_buffered)(const tni_gemm_panel *p)
{
    /* aligned by hand: gcc 12 with -O3 -march=native takes it for aligned to a vector and places it by its type */
    _Alignas(64) REAL buffer[ROWS_WIDE * 2 * LANES] = {0};
    const int64_t whole = p->width > LANES ? 2 * LANES : LANES;
    tni_gemm_panel tile = *p;
    tile.c = buffer;
    tile.c_row = whole;
    tile.width = MASKED ? p->width : whole;
    tile.bias = NULL;
    for (int64_t i = 0; i < p->m; i += ROWS_WIDE) {
        REAL *c = (REAL *)p->c + i * p->c_row;
        tile.m = p->m - i < ROWS_WIDE ? p->m - i : ROWS_WIDE;
        for (int64_t r = 0; p->adds && r < tile.m; r++)
            for (int64_t j = 0; j < p->width; j++)
                buffer[r * whole + j] = c[r * p->c_row + j * p->c_col];
        NAME(panel_run)(&tile);
        for (int64_t r = 0; r < tile.m; r++) {
            const REAL *bias = p->bias ? (const REAL *)p->bias + (i + r) * p->bias_row : NULL;
            for (int64_t j = 0; j < p->width; j++)
                c[r * p->c_row + j * p->c_col] =
                    bias ? buffer[r * whole + j] + bias[j * p->bias_col] : buffer[r * whole + j];
        }
        tile.a = (const REAL *)tile.a + (p->a_tile ? p->a_tile : ROWS_WIDE * p->a_row);
    }
}

/* A panel whose bias is not contiguous: every value of it is used for many rows. */
static __attribute__((noinline)) void NAME(panel_biased)(const tni_gemm_panel *p)
{
    _Alignas(64) REAL bias[2 * LANES];
    tni_gemm_panel copy = *p;
    for (int64_t j = 0; j < p->width; j++)
        bias[j] = ((const REAL *)p->bias)[j * p->bias_col];
    copy.bias = bias;
    NAME(panel_run)(&copy);
}

static void NAME(panel)(const tni_gemm_panel *p)
{
    if (p->c_col != 1 || (p->bias && p->bias_row) || (!MASKED && p->width % LANES) ||
        (p->a_tile && p->width <= LANES))
        NAME(panel_buffered)(p);
    else if (p->bias && p->bias_col != 1)
        NAME(panel_biased)(p);
    else
        NAME(panel_run)(p);
}

/* The first PIECE_LANES values of as many rows, `row` apart, go to columns `width` apart. */
static inline void NAME(transpose_piece)(REAL *to, int64_t width, const REAL *from, int64_t row)
{
#define FROM(r) ((NAME(piece)) * (const NAME(piece_at) *)(from + (r)*row))
#define TO(r)   (*(NAME(piece_at) *)(to + (r)*width))
#ifdef REAL_IS_DOUBLE
    NAME(piece) x = FROM(0), y = FROM(1);
    TO(0) = (NAME(piece_at))__builtin_shufflevector(x, y, 0, 2);
    TO(1) = (NAME(piece_at))__builtin_shufflevector(x, y, 1, 3);
#else
    NAME(piece) x = FROM(0), y = FROM(1), z = FROM(2), w = FROM(3);
    NAME(piece) xy = __builtin_shufflevector(x, y, 0, 4, 1, 5), zw = __builtin_shufflevector(z, w, 0, 4, 1, 5);
    TO(0) = (NAME(piece_at))__builtin_shufflevector(xy, zw, 0, 1, 4, 5);
    TO(1) = (NAME(piece_at))__builtin_shufflevector(xy, zw, 2, 3, 6, 7);
    xy = __builtin_shufflevector(x, y, 2, 6, 3, 7);
    zw = __builtin_shufflevector(z, w, 2, 6, 3, 7);
    TO(2) = (NAME(piece_at))__builtin_shufflevector(xy, zw, 0, 1, 4, 5);
    TO(3) = (NAME(piece_at))__builtin_shufflevector(xy, zw, 2, 3, 6, 7);
#endif
#undef FROM
#undef TO
}

/* Rows [r, count) and steps [s, steps) one by one. */
static void NAME(pack_plain)(REAL *to, int64_t width, int64_t r, int64_t count, int64_t s, int64_t steps,
                             const REAL *from, int64_t row, int64_t column)
{
    for (; s < steps; s++)
        for (int64_t i = r; i < count; i++)
            to[s * width + i] = from[i * row + s * column];
}

static void NAME(pack)(void *packed, int64_t width, int64_t count, int64_t steps, const void *source, int64_t row,
                       int64_t column)
{
    REAL *to = packed;
    const REAL *from = source;
    int64_t whole = count / PIECE_LANES * PIECE_LANES, r = 0;
    if (row == 1) {
        for (int64_t s = 0; s < steps; s++)
            for (r = 0; r < whole; r += PIECE_LANES)
                *(NAME(piece_at) *)(to + s * width + r) = *(const NAME(piece_at) *)(from + s * column + r);
        r = whole;
    } else if (column == 1) {
        int64_t whole_steps = steps / PIECE_LANES * PIECE_LANES;
        for (; r < whole; r += PIECE_LANES) {
            for (int64_t s = 0; s < whole_steps; s += PIECE_LANES)
                NAME(transpose_piece)(to + s * width + r, width, from + r * row + s, row);
            NAME(pack_plain)(to, width, r, r + PIECE_LANES, whole_steps, steps, from, row, 1);
        }
    }
    NAME(pack_plain)(to, width, r, count, 0, steps, from, row, column);
    for (int64_t s = 0; count < width && s < steps; s++)
        for (int64_t i = count; i < width; i++)
            to[s * width + i] = 0;
}

/* Sums of PIECE_LANES folded accumulators, one a lane: lanes in halves down to one. */
static inline NAME(piece) NAME(fold_pieces)(const NAME(piece) * v)
{
#ifdef REAL_IS_DOUBLE
    return __builtin_shufflevector(v[0], v[1], 0, 2) + __builtin_shufflevector(v[0], v[1], 1, 3);
#else
    NAME(piece) x = __builtin_shufflevector(v[0], v[1], 0, 1, 4, 5) + __builtin_shufflevector(v[0], v[1], 2, 3, 6, 7);
    NAME(piece) y = __builtin_shufflevector(v[2], v[3], 0, 1, 4, 5) + __builtin_shufflevector(v[2], v[3], 2, 3, 6, 7);
    return __builtin_shufflevector(x, y, 0, 2, 4, 6) + __builtin_shufflevector(x, y, 1, 3, 5, 7);
#endif
}

/* c[r] = the folded accumulator of row r summed (+ bias). */
static inline __attribute__((always_inline)) void NAME(dot_store)(const int rows, const NAME(piece) * folded,
                                                                  const REAL *bias, REAL *c, int64_t c_row)
{
    REAL add = bias ? *bias : 0;
    for (int r = 0; r < rows; r += PIECE_LANES) {
        NAME(piece) sum = NAME(fold_pieces)(folded + r);
        if (bias)
            sum += add;
        if (rows >= PIECE_LANES && c_row == 1) {
            *(NAME(piece_at) *)(c + r) = (NAME(piece_at))sum;
            continue;
        }
        for (int j = 0; j < PIECE_LANES && r + j < rows; j++)
            c[(r + j) * c_row] = sum[j];
    }
}

/* Copies up to DOT_LANES values of k of some rows (one row: a_row is not used), the rest of each copy 0. */
static inline void NAME(dot_copy)(REAL *to, int rows, int64_t steps, const REAL *a, int64_t a_row, int64_t a_col)
{
    for (int64_t j = 0; j < DOT_LANES; j++)
        for (int r = 0; r < rows; r++)
            to[r * DOT_LANES + j] = j < steps ? a[r * a_row + j * a_col] : 0;
}

/* What dot_rows does with its row r, and with vector v of that row's lanes. */
#define DOT_ZERO(r) acc[r][0] = acc[r][1] = acc[r][2] = acc[r][3] = (VEC){0};
#define DOT_PART(r, v)                                                                                                 \
    if ((r) < rows && (v) < DOT_VECS)                                                                                  \
        acc[r][v] = FMA(LOAD(x + (r)*x_row + (v)*LANES), LOAD(y + (v)*LANES), acc[r][v]);
#define DOT_STEP(r) EACH_DOT_PART(DOT_PART, r)
#define DOT_LAST(r)                                                                                                    \
    if ((r) < rows)                                                                                                    \
        acc[r][0] = FMA(LOAD_MASKED(mask, a + (r)*a_row + s), y, acc[r][0]);
#define DOT_FOLD(r)                                                                                                    \
    if ((r) < rows) {                                                                                                  \
        if (DOT_VECS == 4)                                                                                             \
            acc[r][0] += acc[r][2], acc[r][1] += acc[r][3];                                                            \
        if (DOT_VECS >= 2)                                                                                             \
            acc[r][0] += acc[r][1];                                                                                    \
        folded[r] = FOLD(acc[r][0]);                                                                                   \
    }

/* c[r] = sum_k a[r,k] b[k] (+ bias) for `rows` rows. Rows that are not contiguous and, where memory access can't be
 * masked, the last values of k go through zero-padded copies. */
static inline __attribute__((always_inline)) void NAME(dot_rows)(const int rows, const bool contiguous, int64_t k,
                                                                 const REAL *a, int64_t a_row, int64_t a_col,
                                                                 const REAL *b, const REAL *bias, REAL *c,
                                                                 int64_t c_row)
{
    VEC acc[8][4];
    NAME(piece) folded[8];
    _Alignas(64) REAL a_copy[8 * DOT_LANES];
    _Alignas(64) REAL b_copy[DOT_LANES];
    int64_t s = 0;
    EACH_DOT(DOT_ZERO)
    for (; s + DOT_LANES <= k; s += DOT_LANES) {
        const REAL *x = contiguous ? a + s : a_copy, *y = b + s;
        const int64_t x_row = contiguous ? a_row : DOT_LANES;
        if (!contiguous)
            NAME(dot_copy)(a_copy, rows, DOT_LANES, a + s * a_col, a_row, a_col);
        EACH_DOT(DOT_STEP)
    }
    if (s < k && MASKED && contiguous) {
#if MASKED
        MASK mask = MASK_FIRST(k - s);
        VEC y = LOAD_MASKED(mask, b + s);
        EACH_DOT(DOT_LAST)
#endif
    } else if (s < k) {
        const REAL *x = a_copy, *y = b_copy;
        const int64_t x_row = DOT_LANES;
        NAME(dot_copy)(a_copy, rows, k - s, a + s * a_col, a_row, a_col);
        NAME(dot_copy)(b_copy, 1, k - s, b + s, 0, 1);
        EACH_DOT(DOT_STEP)
    }
    EACH_DOT(DOT_FOLD)
    for (int r = rows; r < PIECE_LANES; r++)
        folded[r] = folded[0];
    NAME(dot_store)(rows, folded, bias, c, c_row);
}

/* The same of whole vectors of rows where the columns of a are contiguous: the lanes of many rows at a time, so that a
 * is read in long pieces. Lanes that k leaves empty add 0 as in dot_rows, which has zeros there. */
static void NAME(dot_columns)(int64_t m, int64_t k, const REAL *a, int64_t a_col, const REAL *b, const REAL *bias,
                              REAL *c, int64_t c_row)
{
    _Alignas(64) REAL sums[DOT_LANES][DOT_ROWS];
    for (int64_t rows; m > 0; m -= rows, a += rows, c += rows * c_row) {
        rows = m < DOT_ROWS ? m : DOT_ROWS;
        memset(sums, 0, sizeof sums);
        for (int64_t s = 0; s < k; s++) {
            REAL *sum = sums[s % DOT_LANES];
            const REAL *column = a + s * a_col;
            const VEC x = BROADCAST(b[s]);
            for (int64_t r = 0; r < rows; r += LANES)
                STORE(sum + r, FMA(LOAD(column + r), x, LOAD(sum + r)));
        }
        for (int64_t l = k % DOT_LANES; l > 0 && l < DOT_LANES; l++)
            for (int64_t r = 0; r < rows; r += LANES)
                STORE(sums[l] + r, LOAD(sums[l] + r) + (VEC){0});
        for (int half = DOT_LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++)
                for (int64_t r = 0; r < rows; r += LANES)
                    STORE(sums[l] + r, LOAD(sums[l] + r) + LOAD(sums[l + half] + r));
        for (int64_t r = 0; r < rows; r++)
            c[r * c_row] = bias ? sums[0][r] + *bias : sums[0][r];
    }
}

static void NAME(dot)(int64_t m, int64_t k, const void *a_values, int64_t a_row, int64_t a_col, const void *b,
                      const void *bias, void *c_values, int64_t c_row)
{
    const REAL *a = a_values;
    REAL *c = c_values;
    if (a_row == 1 && a_col != 1 && m >= LANES) {
        const int64_t whole = m & -(int64_t)LANES;
        NAME(dot_columns)(whole, k, a, a_col, b, bias, c, c_row);
        a += whole;
        c += whole * c_row;
        m -= whole;
    }
    for (; m >= ROWS_DOT; m -= ROWS_DOT) {
        if (a_col == 1)
            NAME(dot_rows)(ROWS_DOT, true, k, a, a_row, 1, b, bias, c, c_row);
        else
            NAME(dot_rows)(ROWS_DOT, false, k, a, a_row, a_col, b, bias, c, c_row);
        a += ROWS_DOT * a_row;
        c += ROWS_DOT * c_row;
    }
    for (; m > 0; m--) {
        if (a_col == 1)
            NAME(dot_rows)(1, true, k, a, a_row, 1, b, bias, c, c_row);
        else
            NAME(dot_rows)(1, false, k, a, a_row, a_col, b, bias, c, c_row);
        a += a_row;
        c += c_row;
    }
}

/* Four steps of k a pass over c. */
static void NAME(row)(int64_t n, int64_t k, const void *a_values, int64_t a_col, const void *b_values, int64_t b_row,
                      const void *bias, int64_t bias_col, void *c_values)
{
    const REAL *a = a_values;
    for (int64_t first = 0; first < n; first += ROW_PIECE) {
        const REAL *b = (const REAL *)b_values + first;
        REAL *c = (REAL *)c_values + first;
        const int64_t columns = n - first < ROW_PIECE ? n - first : ROW_PIECE;
        int64_t s = 0;
        memset(c, 0, (size_t)columns * sizeof *c);
        for (; s + 4 <= k; s += 4, b += 4 * b_row) {
            const VEC x = BROADCAST(a[s * a_col]), y = BROADCAST(a[(s + 1) * a_col]);
            const VEC z = BROADCAST(a[(s + 2) * a_col]), w = BROADCAST(a[(s + 3) * a_col]);
            for (int64_t j = 0; j < columns; j += LANES) {
                VEC sum = FMA(y, LOAD(b + b_row + j), FMA(x, LOAD(b + j), LOAD(c + j)));
                STORE(c + j, FMA(w, LOAD(b + 3 * b_row + j), FMA(z, LOAD(b + 2 * b_row + j), sum)));
            }
        }
        for (; s < k; s++, b += b_row) {
            const VEC x = BROADCAST(a[s * a_col]);
            for (int64_t j = 0; j < columns; j += LANES)
                STORE(c + j, FMA(x, LOAD(b + j), LOAD(c + j)));
        }
        for (int64_t j = 0; bias && j < columns; j++)
            c[j] += ((const REAL *)bias)[(first + j) * bias_col];
    }
}

const tni_gemm_kernels KERNELS = {
    .rows = ROWS_WIDE,
    .columns = 2 * LANES,
    .lanes = LANES,
    .masked = MASKED,
    .panel = NAME(panel),
    .pack = NAME(pack),
    .dot = NAME(dot),
    .row = NAME(row),
};

#undef ZERO
#undef LOAD_ROW
#undef PREFETCH_ROW
#undef STEP
#undef ADD_BIAS
#undef STORE_ROW
#undef DOT_ZERO
#undef DOT_STEP
#undef DOT_PART
#undef DOT_LAST
#undef DOT_FOLD
#undef PIECE_LANES
#undef VEC_BYTES
#undef DOT_LANES
#undef DOT_VECS
#undef DOT_ROWS
#undef ROW_PIECE
#undef LOAD
#undef STORE
#undef LOAD_LAST
#undef STORE_LAST
#undef TAIL
#undef PANEL
#undef REAL
#undef REAL_IS_DOUBLE
#undef NAME
#undef KERNELS
#undef VEC
#undef LANES
#undef ROWS_NARROW
#undef ROWS_WIDE
#undef ROWS_DOT
#undef BROADCAST
#undef FMA
#undef FOLD
#undef MASKED
#undef MASK
#undef MASK_FIRST
#undef LOAD_MASKED
#undef STORE_MASKED
