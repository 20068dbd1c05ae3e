/* Closeness in one floating dtype: included with T, ABS, ROUND (what a result is rounded to: the narrow dtypes compute
 * in a wider T) and the function's name JUDGE. */
static void JUDGE(const pair *p, const tolerance *t, verdict *v)
{
    const T *a = (const T *)(const void *)tni_data(p->a), *b = (const T *)(const void *)tni_data(p->b);
    const T rtol = (T)t->rtol, atol = ROUND((T)t->atol);
    for (int64_t i = 0; i < p->a->numel; i++) {
        T gap = ABS(ROUND(a[i] - b[i])), allowed = ROUND(atol + ABS(ROUND(rtol * b[i])));
        if (a[i] == b[i] || (t->equal_nan && isnan(a[i]) && isnan(b[i])) || (isfinite(gap) && gap <= allowed))
            continue;
        T rel = ROUND(gap / ABS(b[i]));
        if (v->mismatches == 0 || gap > v->abs || (isnan(gap) && !isnan(v->abs))) {
            v->abs = gap;
            v->abs_index = i;
        }
        if (v->mismatches++ == 0 || rel > v->rel || (isnan(rel) && !isnan(v->rel))) {
            v->rel = rel;
            v->rel_index = i;
        }
    }
}
#undef T
#undef JUDGE
#undef ABS
#undef ROUND
