/* The tests of simd.h for one dtype. Included by test_vmath_simd.c alone. */
static void T_NAME(memory)(void **unused)
{
    (void)unused;
    T source[9 * VLANES + 1], target[2 * VLANES] __attribute__((aligned(64)));
    for (int i = 0; i < 9 * VLANES + 1; i++)
        source[i] = (T)(i + 1);
    for (int n = 0; n <= VLANES; n++) {
        VEC part = V(load_part)(source, n, 99), strided = V(gather_part)(source + 1, 3, n, 99);
        for (int j = 0; j < VLANES; j++) {
            assert_true(part[j] == (j < n ? source[j] : 99));
            assert_true(strided[j] == (j < n ? source[1 + 3 * j] : 99));
        }
        memset(target, 0, sizeof target);
        V(store_part)(target + 1, n, V(load)(source));
        for (int j = 0; j < VLANES + 1; j++)
            assert_true(target[j] == (j >= 1 && j <= n ? source[j - 1] : 0));
        memset(target, 0, sizeof target);
        V(scatter_part)(target, 2, n, V(load)(source));
        for (int j = 0; j < 2 * VLANES; j++)
            assert_true(target[j] == (j % 2 == 0 && j / 2 < n ? source[j / 2] : 0));
    }
    for (int64_t stride = -9; stride <= 9; stride++) {
        const T *first = stride < 0 ? source + 9 * VLANES : source;
        VEC v = V(gather)(first, stride);
        for (int j = 0; j < VLANES; j++)
            assert_true(v[j] == first[j * stride]);
    }
    V(store_aligned)(target, V(load)(source + 1));
    V(stream)(target + VLANES, V(load)(source + 3));
    tni_simd_fence();
    for (int j = 0; j < VLANES; j++)
        assert_true(target[j] == source[1 + j] && target[VLANES + j] == source[3 + j]);
}

static int T_NAME(same)(T a, T b)
{
    return a != a ? b != b : a == b && !signbit(a) == !signbit(b);
}

static void T_NAME(arithmetic)(void **unused)
{
    (void)unused;
    for (int k = 0; k < VALUES * VALUES; k++) {
        T x = (T)values[k % VALUES], y = (T)values[k / VALUES];
        VEC a = V(set1)(x), b = V(set1)(y);
        int last = VLANES - 1;
        T wide = x != x ? x : y != y ? y : x > y ? x : y, narrow = x != x ? x : y != y ? y : x < y ? x : y;
        assert_true(V(max)(a, b)[last] == wide || (wide != wide && V(max)(a, b)[last] != V(max)(a, b)[last]));
        assert_true(V(min)(a, b)[last] == narrow || (narrow != narrow && V(min)(a, b)[last] != V(min)(a, b)[last]));
        assert_true(T_NAME(same)(V(max2)(a, b)[last], x > y ? x : y) &&
                    T_NAME(same)(V(min2)(a, b)[last], x < y ? x : y));
        assert_true(T_NAME(same)(V(copysign)(a, b)[last], T_PICK(copysignf, copysign)(x, y)));
        assert_int_equal(V(mask_all)(V(lt)(a, b)), x < y);
        assert_int_equal(V(mask_all)(V(le)(a, b)), x <= y);
        assert_int_equal(V(mask_any)(V(gt)(a, b)), x > y);
        assert_int_equal(V(mask_any)(V(ge)(a, b)), x >= y);
        assert_int_equal(V(mask_all)(V(eq)(a, b)), x == y);
        assert_int_equal(V(mask_all)(V(ne)(a, b)), x != y);
        assert_int_equal(V(mask_any)(V(isnan)(a)), x != x);
        assert_int_equal(V(mask_all)(V(mask_not)(V(lt)(a, b))), !(x < y));
        assert_true(T_NAME(same)(V(select)(V(lt)(a, b), a, b)[last], x < y ? x : y));
        assert_true(T_NAME(same)(V(abs)(a)[last], T_PICK(fabsf, fabs)(x)) && T_NAME(same)(V(neg)(a)[last], -x));
        assert_true(T_NAME(same)(V(round)(a)[last], T_PICK(rintf, rint)(x)));
        assert_true(T_NAME(same)(V(sqrt)(a)[last], T_PICK(sqrtf, sqrt)(x)));
        T product = TNI_SIMD_FMA ? T_PICK(fmaf, fma)(x, y, (T)0.3) : x * y + (T)0.3;
        assert_true(T_NAME(same)(V(mul_add)(a, b, V(set1)((T)0.3))[last], product));
        if (T_PICK(fabsf, fabs)(x) < 2e9f) {
            assert_true(V(to_int)(a)[last] == llrint((double)x));
            assert_true(V(from_int)(V(to_int)(a))[last] == T_PICK(rintf, rint)(x));
        }
        VEC again = V(of_bits)(V(bits)(a));
        assert_memory_equal(&a, &again, sizeof a);
    }
}

static void T_NAME(whole_vector)(void **unused)
{
    (void)unused;
    T x[VLANES], tree[VLANES];
    for (int j = 0; j < VLANES; j++) {
        x[j] = (T)1 / (T)(j + 3) * (j % 2 ? 1 : -1000);
        assert_true(V(iota)()[j] == (T)j);
    }
    memcpy(tree, x, sizeof x);
    for (int width = VLANES / 2; width > 0; width /= 2)
        for (int j = 0; j < width; j++)
            tree[j] += tree[j + width];
    assert_true(V(sum)(V(load)(x)) == tree[0]);
    for (int at = 0; at < VLANES; at++) {
        T saved = x[at];
        x[at] = 5000;
        assert_true(V(hmax)(V(load)(x)) == 5000);
        x[at] = -5000;
        assert_true(V(hmin)(V(load)(x)) == -5000);
        x[at] = (T)NAN;
        assert_true(isnan(V(hmax)(V(load)(x))) && isnan(V(hmin)(V(load)(x))));
        x[at] = saved;
    }
    for (int n = 0; n <= VLANES; n++) {
        VEC first = V(select)(V(mask_first)(n), V(set1)(1), V(set1)(0));
        assert_true(V(sum)(first) == (T)n);
        VMASK both = V(mask_and)(V(mask_first)(n), V(lt)(V(iota)(), V(set1)(2)));
        assert_int_equal(V(mask_any)(both), n > 0);
        assert_int_equal(V(mask_all)(V(mask_or)(V(mask_first)(n), V(ge)(V(iota)(), V(set1)((T)n)))), 1);
    }
}
