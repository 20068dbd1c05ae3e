/* The tests of simd.h for one dtype. Included by test_vmath_simd.c alone. */
static void T_NAME(memory)(void **unused)
{
    (void)unused;
    T source[VLANES + 4], target[VLANES + 2], aligned[VLANES] __attribute__((aligned(TNI_SIMD_BYTES)));
    for (int i = 0; i < VLANES + 4; i++)
        source[i] = (T)(i + 1);
    for (int n = 0; n <= VLANES; n++) {
        VEC part = V(load_part)(source, n, 99);
        for (int j = 0; j < VLANES; j++)
            assert_true(part[j] == (j < n ? source[j] : 99));
        memset(target, 0, sizeof target);
        V(store_part)(target + 1, n, V(load)(source));
        for (int j = 0; j < VLANES + 2; j++)
            assert_true(target[j] == (j >= 1 && j <= n ? source[j - 1] : 0));
    }
    V(store)(target + 1, V(load)(source + 1));
    V(stream)(aligned, V(load)(source + 3));
    tni_simd_fence();
    for (int j = 0; j < VLANES; j++)
        assert_true(target[1 + j] == source[1 + j] && aligned[j] == source[3 + j]);
}

static int T_NAME(same)(T a, T b)
{
    return a != a ? b != b : a == b && !signbit(a) == !signbit(b);
}

/* Whether every lane of v is x, in the sense of same(). */
static int T_NAME(all)(VEC v, T x)
{
    int all = 1;
    for (int j = 0; j < VLANES; j++)
        all &= T_NAME(same)(v[j], x);
    return all;
}

static void T_NAME(arithmetic)(void **unused)
{
    (void)unused;
    const VEC yes = V(set1)(1), no = V(set1)(0);
    for (int k = 0; k < VALUES * VALUES; k++) {
        T x = (T)values[k % VALUES], y = (T)values[k / VALUES];
        VEC a = V(set1)(x), b = V(set1)(y);
        T most = y != y ? y : x != x ? x : y > x ? y : x; /* of two zeros the first */
        assert_true(T_NAME(all)(V(max)(a, b), most));
        assert_true(T_NAME(all)(V(max2)(a, b), x > y ? x : y));
        assert_true(T_NAME(all)(V(min2)(a, b), x < y ? x : y));
        assert_true(T_NAME(all)(V(copysign)(a, b), T_PICK(copysignf, copysign)(x, y)));
        assert_true(T_NAME(all)(V(select)(V(lt)(a, b), yes, no), x < y));
        assert_true(T_NAME(all)(V(select)(V(ge)(a, b), yes, no), x >= y));
        assert_true(T_NAME(all)(V(select)(V(eq)(a, b), yes, no), x == y));
        assert_true(T_NAME(all)(V(select)(V(ne)(a, b), yes, no), x != y));
        assert_true(T_NAME(all)(V(abs)(a), T_PICK(fabsf, fabs)(x)) && T_NAME(all)(V(neg)(a), -x));
        T product = TNI_SIMD_LEVEL >= TNI_SIMD_AVX2 ? T_PICK(fmaf, fma)(x, y, (T)0.3) : x * y + (T)0.3;
        assert_true(T_NAME(all)(V(mul_add)(a, b, V(set1)((T)0.3)), product));
    }
}

static void T_NAME(bits)(void **unused)
{
    (void)unused;
    for (int k = 0; k < VALUES; k++) {
        T x = (T)values[k];
        VEC v = V(set1)(x), back = V(of_bits)(V(bits)(v));
        assert_memory_equal(&v, &back, sizeof v);
        T_BITS bits;
        memcpy(&bits, &x, sizeof bits);
        VUINT right = V(srl)(V(bits)(v), 3), left = V(sll)(V(set1_bits)(bits), 5);
        for (int j = 0; j < VLANES; j++)
            assert_true(right[j] == bits >> 3 && left[j] == bits << 5);
    }
}
