/* Each line is one operation of torch.optim's formula for a single tensor, in its order and with its roundings: where
 * PyTorch's loop has a fused multiply-add, so has this one. */
typedef struct T_NAME(sgd_numbers) {
    VEC decay, momentum, share, step;
    bool decays, negates, first, nesterov;
} T_NAME(sgd_numbers);

static inline __attribute__((always_inline)) VEC V(sgd)(const T_NAME(sgd_numbers) *s, VEC param, VEC grad, VEC *buffer)
{
    if (s->negates)
        grad = V(neg)(grad);
    if (s->decays)
        grad = V(mul_add)(param, s->decay, grad);
    if (buffer) {
        *buffer = s->first ? grad : V(mul_add)(grad, s->share, *buffer * s->momentum);
        grad = s->nesterov ? V(mul_add)(*buffer, s->momentum, grad) : *buffer;
    }
    return V(mul_add)(grad, s->step, param);
}

static void T_NAME(sgd_step)(const void *numbers, void *const *data, int64_t n)
{
    const tni_sgd *sgd = numbers;
    const T_NAME(sgd_numbers) s = {.decay = V(set1)((T)sgd->weight_decay),
                                   .momentum = V(set1)((T)sgd->momentum),
                                   .share = V(set1)((T)(1 - sgd->dampening)),
                                   .step = V(set1)((T)-sgd->lr),
                                   .decays = sgd->weight_decay != 0,
                                   .negates = sgd->maximize,
                                   .first = sgd->first,
                                   .nesterov = sgd->nesterov};
    T *p = data[TNI_STEP_PARAM], *b = data[TNI_STEP_STATE];
    const T *g = data[TNI_STEP_GRAD];
    int64_t i = 0;
    if (!b && !s.decays && !s.negates) {
        for (; i + VLANES <= n; i += VLANES)
            V(store)(p + i, V(mul_add)(V(load)(g + i), s.step, V(load)(p + i)));
    }
    for (; i + VLANES <= n; i += VLANES) {
        VEC state = b ? V(load)(b + i) : V(set1)(0);
        V(store)(p + i, V(sgd)(&s, V(load)(p + i), V(load)(g + i), b ? &state : NULL));
        if (b)
            V(store)(b + i, state);
    }
    const int rest = (int)(n - i);
    if (rest > 0) {
        VEC state = b ? V(load_part)(b + i, rest, 0) : V(set1)(0);
        V(store_part)(p + i, rest,
                      V(sgd)(&s, V(load_part)(p + i, rest, 0), V(load_part)(g + i, rest, 0), b ? &state : NULL));
        if (b)
            V(store_part)(b + i, rest, state);
    }
}

typedef struct T_NAME(adam_numbers) {
    VEC decay, shrink, near, beta2, rest2, root, eps, step;
    bool decays, shrinks, negates, from_grad;
} T_NAME(adam_numbers);

static inline VEC V(root)(VEC v)
{
#if TNI_SIMD_LEVEL >= TNI_SIMD_AVX512
    return T_PICK(_mm512_sqrt_ps, _mm512_sqrt_pd)(v);
#elif TNI_SIMD_LEVEL >= TNI_SIMD_AVX2
    return T_PICK(_mm256_sqrt_ps, _mm256_sqrt_pd)(v);
#elif defined(__SSE2__)
    return T_PICK(_mm_sqrt_ps, _mm_sqrt_pd)(v);
#else
    for (int i = 0; i < VLANES; i++)
        v[i] = T_PICK(sqrtf, sqrt)(v[i]);
    return v;
#endif
}

/* first and second are the moments, written; most the largest second one, or NULL. */
static inline __attribute__((always_inline)) VEC V(adam)(const T_NAME(adam_numbers) *a, VEC param, VEC grad, VEC *first,
                                                         VEC *second, VEC *most)
{
    if (a->negates)
        grad = V(neg)(grad);
    if (a->shrinks)
        param = param * a->shrink;
    if (a->decays)
        grad = V(mul_add)(param, a->decay, grad);
    const VEC way = grad - *first;
    *first = a->from_grad ? V(mul_add)(a->near, way, grad) : V(mul_add)(a->near, way, *first);
    *second = V(mul_add)(a->rest2 * grad, grad, *second * a->beta2);
    VEC square = *second;
    if (most)
        square = *most = V(max)(*most, square);
    return param + a->step * *first / (V(root)(square) / a->root + a->eps);
}

static void T_NAME(adam_step)(const void *numbers, void *const *data, int64_t n)
{
    const tni_adam *adam = numbers;
    const T way = (T)(1 - adam->beta1);
    const T_NAME(adam_numbers) a = {.decay = V(set1)((T)adam->weight_decay),
                                    .shrink = V(set1)((T)adam->shrink),
                                    .near = V(set1)(way < (T)0.5 ? way : way - 1),
                                    .beta2 = V(set1)((T)adam->beta2),
                                    .rest2 = V(set1)((T)(1 - adam->beta2)),
                                    .root = V(set1)((T)adam->root),
                                    .eps = V(set1)((T)adam->eps),
                                    .step = V(set1)((T)-adam->step_size),
                                    .decays = adam->weight_decay != 0,
                                    .shrinks = adam->shrink != 1,
                                    .negates = adam->maximize,
                                    .from_grad = !(way < (T)0.5)};
    T *p = data[TNI_STEP_PARAM], *first = data[TNI_STEP_STATE], *second = data[TNI_STEP_STATE + 1];
    T *most = data[TNI_STEP_STATE + 2];
    const T *g = data[TNI_STEP_GRAD];
    int64_t i = 0;
    for (; i + VLANES <= n; i += VLANES) {
        VEC m = V(load)(first + i), v = V(load)(second + i), x = most ? V(load)(most + i) : v;
        V(store)(p + i, V(adam)(&a, V(load)(p + i), V(load)(g + i), &m, &v, most ? &x : NULL));
        V(store)(first + i, m);
        V(store)(second + i, v);
        if (most)
            V(store)(most + i, x);
    }
    const int rest = (int)(n - i);
    if (rest > 0) {
        VEC m = V(load_part)(first + i, rest, 0), v = V(load_part)(second + i, rest, 0);
        VEC x = most ? V(load_part)(most + i, rest, 0) : v;
        V(store_part)(p + i, rest, V(adam)(&a, V(load_part)(p + i, rest, 0), V(load_part)(g + i, rest, 0), &m, &v,
                                           most ? &x : NULL));
        V(store_part)(first + i, rest, m);
        V(store_part)(second + i, rest, v);
        if (most)
            V(store_part)(most + i, rest, x);
    }
}

typedef struct T_NAME(rmsprop_numbers) {
    VEC decay, near, alpha, rest, eps, momentum, step;
    bool decays, negates, from_grad;
} T_NAME(rmsprop_numbers);

/* square is the mean square; mean the mean gradient of a centered step, buffer that of momentum, or NULL. All are
 * written. */
static inline __attribute__((always_inline)) VEC V(rmsprop)(const T_NAME(rmsprop_numbers) *r, VEC param, VEC grad,
                                                            VEC *square, VEC *mean, VEC *buffer)
{
    if (r->negates)
        grad = V(neg)(grad);
    if (r->decays)
        grad = V(mul_add)(param, r->decay, grad);
    *square = V(mul_add)(r->rest * grad, grad, *square * r->alpha);
    VEC spread = *square;
    if (mean) {
        *mean = V(mul_add)(r->near, grad - *mean, r->from_grad ? grad : *mean);
        spread = V(mul_add)(V(neg)(*mean), *mean, spread);
    }
    const VEC root = V(root)(spread) + r->eps;
    if (!buffer)
        return param + r->step * grad / root;
    *buffer = *buffer * r->momentum + grad / root;
    return V(mul_add)(*buffer, r->step, param);
}

static void T_NAME(rmsprop_step)(const void *numbers, void *const *data, int64_t n)
{
    const tni_rmsprop *rmsprop = numbers;
    const T way = (T)(1 - rmsprop->alpha);
    const T_NAME(rmsprop_numbers) r = {.decay = V(set1)((T)rmsprop->weight_decay),
                                       .near = V(set1)(way < (T)0.5 ? way : way - 1),
                                       .alpha = V(set1)((T)rmsprop->alpha),
                                       .rest = V(set1)(way),
                                       .eps = V(set1)((T)rmsprop->eps),
                                       .momentum = V(set1)((T)rmsprop->momentum),
                                       .step = V(set1)((T)-rmsprop->lr),
                                       .decays = rmsprop->weight_decay != 0,
                                       .negates = rmsprop->maximize,
                                       .from_grad = !(way < (T)0.5)};
    T *p = data[TNI_STEP_PARAM], *square = data[TNI_STEP_STATE], *mean = data[TNI_STEP_STATE + 1];
    T *buffer = data[TNI_STEP_STATE + 2];
    const T *g = data[TNI_STEP_GRAD];
    int64_t i = 0;
    for (; i + VLANES <= n; i += VLANES) {
        VEC v = V(load)(square + i), m = mean ? V(load)(mean + i) : v, b = buffer ? V(load)(buffer + i) : v;
        V(store)(p + i, V(rmsprop)(&r, V(load)(p + i), V(load)(g + i), &v, mean ? &m : NULL, buffer ? &b : NULL));
        V(store)(square + i, v);
        if (mean)
            V(store)(mean + i, m);
        if (buffer)
            V(store)(buffer + i, b);
    }
    const int rest = (int)(n - i);
    if (rest > 0) {
        VEC v = V(load_part)(square + i, rest, 0), m = mean ? V(load_part)(mean + i, rest, 0) : v;
        VEC b = buffer ? V(load_part)(buffer + i, rest, 0) : v;
        V(store_part)(p + i, rest, V(rmsprop)(&r, V(load_part)(p + i, rest, 0), V(load_part)(g + i, rest, 0), &v,
                                              mean ? &m : NULL, buffer ? &b : NULL));
        V(store_part)(square + i, rest, v);
        if (mean)
            V(store_part)(mean + i, rest, m);
        if (buffer)
            V(store_part)(buffer + i, rest, b);
    }
}
