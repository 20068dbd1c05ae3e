/* Conversions out of one dtype. Included once for each: FROM is its C type, FROM_NAME its suffix,
 * NUMBER(x) what an x in memory counts for. */
#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define ROW(name) JOIN(name, _from_, FROM_NAME)

static void ROW(to_f32)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)
{
    char *y = to;
    const char *x = from;
    if (to_stride == sizeof(float) && from_stride == sizeof(FROM)) {
        float *restrict dense = to; /* rows of different dtypes never overlap */
        for (int64_t i = 0; i < n; i++)
            dense[i] = (float)NUMBER(((const FROM *)from)[i]);
        return;
    }
    for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)
        *(float *)(void *)y = (float)NUMBER(*(const FROM *)(const void *)x);
}

static void ROW(to_f64)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)
{
    char *y = to;
    const char *x = from;
    if (to_stride == sizeof(double) && from_stride == sizeof(FROM)) {
        double *restrict dense = to;
        for (int64_t i = 0; i < n; i++)
            dense[i] = (double)NUMBER(((const FROM *)from)[i]);
        return;
    }
    for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)
        *(double *)(void *)y = (double)NUMBER(*(const FROM *)(const void *)x);
}

static void ROW(to_i64)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)
{
    char *y = to;
    const char *x = from;
    if (to_stride == sizeof(int64_t) && from_stride == sizeof(FROM)) {
        int64_t *dense = to; /* int64 to itself too: not restrict */
        for (int64_t i = 0; i < n; i++)
            dense[i] = TO_I64(((const FROM *)from)[i]);
        return;
    }
    for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)
        *(int64_t *)(void *)y = TO_I64(*(const FROM *)(const void *)x);
}

static void ROW(to_bool)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)
{
    char *y = to;
    const char *x = from;
    if (to_stride == 1 && from_stride == sizeof(FROM)) {
        uint8_t *restrict dense = to;
        for (int64_t i = 0; i < n; i++)
            dense[i] = ((const FROM *)from)[i] != 0;
        return;
    }
    for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)
        *y = *(const FROM *)(const void *)x != 0;
}

#undef ROW
#undef JOIN
#undef JOIN_
#undef FROM
#undef FROM_NAME
#undef NUMBER
#undef TO_I64
