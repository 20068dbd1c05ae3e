/* Closeness in one floating dtype: included with T, ABS and the function's name JUDGE. */
static void JUDGE(const pair *p, const tolerance *t, verdict *v)
{
    const T *a = (const T *)(const void *)tni_data(p->a), *b = (const T *)(const void *)tni_data(p->b);
    const T rtol = (T)t->rtol, atol = (T)t->atol;
    for (int64_t i = 0; i < p->a->numel; i++) {
        T gap = ABS(a[i] - b[i]), allowed = atol + ABS(rtol * b[i]);
        if (a[i] == b[i] || (t->equal_nan && isnan(a[i]) && isnan(b[i])) || (isfinite(gap) && gap <= allowed))
            continue;
        T rel = gap / ABS(b[i]);
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
