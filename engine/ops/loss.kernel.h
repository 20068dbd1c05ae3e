#define EACH(name, VALUE)                                                                                      \
    static void T_NAME(name)(void *y, const void *x, const void *t, const void *p, int64_t n, double given)    \
    {                                                                                                          \
        const T *xs = x, *ts = t, *ps = p;                                                                     \
        T *ys = y;                                                                                             \
        const T parameter = (T)given;                                                                          \
        int64_t i = 0;                                                                                         \
        for (; i + VLANES <= n; i += VLANES)                                                                   \
            V(store)(ys + i, VALUE(V(load)(xs + i), V(load)(ts + i), ps ? V(load)(ps + i) : V(set1)(1),        \
                                   parameter));                                                                \
        const int rest = (int)(n - i);                                                                         \
        if (rest > 0)                                                                                          \
            V(store_part)(ys + i, rest, VALUE(V(load_part)(xs + i, rest, 0), V(load_part)(ts + i, rest, 0),    \
                                              ps ? V(load_part)(ps + i, rest, 1) : V(set1)(1), parameter));    \
    }

#define SLOPE(name, VALUE)                                                                                     \
    static void T_NAME(name)(void *y, const void *x, const void *t, const void *p, int64_t n, double given,    \
                             double by)                                                                        \
    {                                                                                                          \
        const T *xs = x, *ts = t, *ps = p;                                                                     \
        T *ys = y;                                                                                             \
        const T parameter = (T)given;                                                                          \
        const VEC factor = V(set1)((T)by);                                                                     \
        int64_t i = 0;                                                                                         \
        for (; i + VLANES <= n; i += VLANES)                                                                   \
            V(store)(ys + i, factor * VALUE(V(load)(xs + i), V(load)(ts + i),                                  \
                                            ps ? V(load)(ps + i) : V(set1)(1), parameter));                    \
        const int rest = (int)(n - i);                                                                         \
        if (rest > 0)                                                                                          \
            V(store_part)(ys + i, rest,                                                                        \
                          factor * VALUE(V(load_part)(xs + i, rest, 0), V(load_part)(ts + i, rest, 0),         \
                                         ps ? V(load_part)(ps + i, rest, 1) : V(set1)(1), parameter));         \
    }

static inline VEC V(mse)(VEC x, VEC t, VEC p, T parameter)
{
    (void)p, (void)parameter;
    return (x - t) * (x - t);
}

static inline VEC V(mse_slope)(VEC x, VEC t, VEC p, T parameter)
{
    (void)p, (void)parameter;
    return V(set1)(2) * (x - t);
}

static inline VEC V(l1)(VEC x, VEC t, VEC p, T parameter)
{
    (void)p, (void)parameter;
    return V(abs)(x - t);
}

/* Of NaN 0, as sign is. */
static inline VEC V(l1_slope)(VEC x, VEC t, VEC p, T parameter)
{
    (void)p, (void)parameter;
    const VEC zero = V(set1)(0), d = x - t;
    VEC sign = V(select)(V(lt)(zero, d), V(set1)(1), zero);
    return V(select)(V(lt)(d, zero), V(set1)(-1), sign);
}

static inline VEC V(smooth_l1)(VEC x, VEC t, VEC p, T beta)
{
    (void)p;
    const VEC z = V(abs)(x - t), half = V(set1)((T)0.5), b = V(set1)(beta);
    return V(select)(V(lt)(z, b), half * z * z / b, z - half * b);
}

static inline VEC V(smooth_l1_slope)(VEC x, VEC t, VEC p, T beta)
{
    (void)p;
    const VEC d = x - t, b = V(set1)(beta);
    VEC slope = V(select)(V(ge)(d, b), V(set1)(1), d / b);
    return V(select)(V(ge)(V(neg)(b), d), V(set1)(-1), slope);
}

static inline VEC V(huber)(VEC x, VEC t, VEC p, T delta)
{
    (void)p;
    const VEC z = V(abs)(x - t), half = V(set1)((T)0.5), d = V(set1)(delta);
    return V(select)(V(ge)(d, z), half * z * z, d * (z - half * d));
}

static inline VEC V(huber_slope)(VEC x, VEC t, VEC p, T delta)
{
    (void)p;
    const VEC d = x - t, limit = V(set1)(delta);
    VEC slope = V(select)(V(ge)(d, limit), limit, d);
    return V(select)(V(ge)(V(neg)(limit), d), V(neg)(limit), slope);
}

static inline VEC V(bce)(VEC x, VEC t, VEC p, T parameter)
{
    (void)p, (void)parameter;
    const VEC least = V(set1)(-100);
    VEC log_x = V(max)(V(log)(x), least), log_rest = V(max)(V(log1p)(V(neg)(x)), least);
    return (t - V(set1)(1)) * log_rest - t * log_x;
}

static inline VEC V(bce_slope)(VEC x, VEC t, VEC p, T parameter)
{
    (void)p, (void)parameter;
    return (x - t) / V(max)((V(set1)(1) - x) * x, V(set1)((T)1e-12f));
}

static inline VEC V(bce_with_logits)(VEC x, VEC t, VEC p, T parameter)
{
    (void)parameter;
    const VEC one = V(set1)(1), zero = V(set1)(0);
    VEC log_sigmoid = V(select)(V(lt)(zero, x), zero, x) - V(log1p)(V(exp)(V(neg)(V(abs)(x))));
    return (one - t) * x - (one + (p - one) * t) * log_sigmoid;
}

static inline VEC V(bce_with_logits_slope)(VEC x, VEC t, VEC p, T parameter)
{
    (void)parameter;
    const VEC one = V(set1)(1);
    return (one + (p - one) * t) * V(sigmoid)(x) - p * t;
}

EACH(mse_each, V(mse))
SLOPE(mse_slope, V(mse_slope))
EACH(l1_each, V(l1))
SLOPE(l1_slope, V(l1_slope))
EACH(smooth_l1_each, V(smooth_l1))
SLOPE(smooth_l1_slope, V(smooth_l1_slope))
EACH(huber_each, V(huber))
SLOPE(huber_slope, V(huber_slope))
EACH(bce_each, V(bce))
SLOPE(bce_slope, V(bce_slope))
EACH(bce_with_logits_each, V(bce_with_logits))
SLOPE(bce_with_logits_slope, V(bce_with_logits_slope))

static void T_NAME(times)(void *y, const void *by, int64_t n)
{
    T *ys = y;
    const T *bys = by;
    for (int64_t i = 0; i < n; i++)
        ys[i] *= bys[i];
}

#undef EACH
#undef SLOPE
