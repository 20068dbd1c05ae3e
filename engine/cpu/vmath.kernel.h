/* The functions of vmath.h for one dtype. Included by vmath.h alone.
 *
 * LN2_HIGH has so few bits that its product with an exponent is exact without fused multiply-add; it is below ln 2, so
 * that LN2_LOW is positive (an infinite exponent then gives no inf - inf). SHIFT = 1.5 * 2^(mantissa bits): x + SHIFT
 * rounds x to an integer and shows it in the low bits. */
#define MANTISSA T_PICK(23, 52)
#define BIAS     T_PICK(127, 1023)
#define SHIFT    T_PICK(0x1.8p23f, 0x1.8p52)
#define LN2_HIGH T_PICK(0x1.62e4p-1f, 0x1.62e42fefa38p-1)
#define LN2_LOW  T_PICK(0x1.7f7d1cp-20f, 0x1.ef35793c7673p-45)
#define LOG2E    T_PICK(0x1.715476p+0f, 0x1.71547652b82fep+0)

/* c[0] + c[1] x + ... in two chains, the even and the odd powers. */
static inline __attribute__((always_inline)) VEC V(polynomial)(VEC x, const T *c, int count)
{
    const VEC square = x * x;
    VEC last = V(set1)(c[count - 1]), other = V(set1)(c[count - 2]);
#pragma GCC unroll 32
    for (int i = count - 3; i >= 0; i--) {
        VEC next = V(mul_add)(last, square, V(set1)(c[i]));
        last = other;
        other = next;
    }
    return V(mul_add)(last, x, other);
}

/* x = n ln 2 + r with |r| <= ln 2 / 2 (a little more), n an integer, *shifted = n + SHIFT. */
static inline VEC V(exp_reduce)(VEC x, VEC *n, VEC *shifted)
{
    *shifted = V(mul_add)(x, V(set1)(LOG2E), V(set1)(SHIFT));
    *n = *shifted - V(set1)(SHIFT);
    VEC r = V(mul_add)(*n, V(set1)(-LN2_HIGH), x);
    return V(mul_add)(*n, V(set1)(-LN2_LOW), r);
}

/* p 2^n with one rounding (gradual underflow, overflow to infinity), |n| < 2 BIAS, p of about 1. Below AVX-512 in two
 * steps, of which the first is exact: n = floor(n / 2) + the rest. */
static inline VEC V(exp_scale)(VEC p, VEC n, VEC shifted)
{
#if TNI_SIMD_LEVEL >= TNI_SIMD_AVX512
    (void)shifted;
    return T_PICK(_mm512_scalef_ps, _mm512_scalef_pd)(p, n);
#else
    (void)n;
    const VUINT one = V(set1_bits)(1);
    VUINT biased = V(bits)(shifted) - (V(bits)(V(set1)(SHIFT)) - V(set1_bits)(2 * (BIAS + 1)));
    VUINT half = V(srl)(biased, 1), rest = biased - half;
    return p * V(of_bits)(V(sll)(half - one, MANTISSA)) * V(of_bits)(V(sll)(rest - one, MANTISSA));
#endif
}

/* 2^n of shifted = n + SHIFT, for n from 1 - BIAS to BIAS. */
static inline VEC V(power_of_two)(VEC shifted)
{
    return V(of_bits)(V(sll)(V(bits)(shifted), MANTISSA) + V(bits)(V(set1)(1)));
}

/* e^x for x between the clamps of exp, or NaN. */
static inline VEC V(exp_clamped)(VEC x)
{
    VEC n, shifted;
    VEC r = V(exp_reduce)(x, &n, &shifted);
    VEC q = V(polynomial)(r, T_NAME(exp_q), TNI_COUNT(T_NAME(exp_q)));
    return V(exp_scale)(V(mul_add)(r * r, q, r) + V(set1)(1), n, shifted);
}

/* The clamps lie where the result is 0 or infinity for certain; a NaN passes them. */
static inline VEC V(exp)(VEC x)
{
    x = V(max2)(V(set1)(T_PICK(-104.0f, -746.0)), x);
    return V(exp_clamped)(V(min2)(V(set1)(T_PICK(89.0f, 710.0)), x));
}

/* e^x - 1 = 2^n (e^r - 1) + (2^n - 1). For n = 1 the terms have opposite signs, so r takes along what its rounding
 * lost. The scale is halved so that it stays finite; that would cost small results their last bit, but there e^x - 1
 * rounds to x. */
static inline VEC V(expm1)(VEC x)
{
    VEC n, shifted;
    VEC clamped = V(max2)(V(set1)(T_PICK(-25.0f, -50.0)), x);
    clamped = V(min2)(V(set1)(T_PICK(89.0f, 710.0)), clamped);
    VEC r = V(exp_reduce)(clamped, &n, &shifted);
    VEC lost = V(mul_add)(n, V(set1)(-LN2_LOW), V(mul_add)(n, V(set1)(-LN2_HIGH), clamped) - r);
    VEC q = V(polynomial)(r, T_NAME(exp_q), TNI_COUNT(T_NAME(exp_q)));
    VEC m = V(mul_add)(r * r, q, lost) + r;
    VEC half = V(power_of_two)(shifted - V(set1)(1));
    VEC y = V(mul_add)(half, m, half - V(set1)((T)0.5)) * V(set1)(2);
    return V(select)(V(lt)(V(abs)(x), V(set1)(T_PICK(0x1p-25f, 0x1p-54))), x, y);
}

#if T_IS_DOUBLE || TNI_SIMD_LEVEL < TNI_SIMD_AVX512
/* Below 0.55 x + x^3 p(x^2); above 1 - 2 / (e^(2 |x|) + 1), whose fraction is then below 1/2 and so are its errors.
 * Both are computed. Beyond the clamp tanh rounds to 1. */
static inline VEC V(tanh)(VEC x)
{
    VEC n, shifted, magnitude = V(abs)(x), square = x * x;
    VEC p = V(polynomial)(square, T_NAME(tanh_p), TNI_COUNT(T_NAME(tanh_p)));
    VEC near = V(mul_add)(square * magnitude, p, magnitude);

    VEC r = V(exp_reduce)(V(min2)(V(set1)(T_PICK(20.0f, 44.0)), magnitude + magnitude), &n, &shifted);
    VEC q = V(polynomial)(r, T_NAME(exp_q), TNI_COUNT(T_NAME(exp_q)));
    VEC power = (V(mul_add)(r * r, q, r) + V(set1)(1)) * V(power_of_two)(shifted);
    VEC far = V(set1)(1) - V(set1)(2) / (power + V(set1)(1));
    return V(copysign)(V(select)(V(lt)(magnitude, V(set1)((T)0.55)), near, far), x);
}
#endif

/* 1 / (1 + e^-x) with t = e^-|x| <= 1 and q = t / (1 + t): 1 - q, and below zero t - t q. */
static inline VEC V(sigmoid)(VEC x)
{
    const VEC one = V(set1)(1);
    VEC t = V(exp_clamped)(V(max2)(V(set1)(T_PICK(-104.0f, -746.0)), V(neg)(V(abs)(x))));
    VEC q = t / (t + one);
    VEC scale = V(select)(V(lt)(x, V(set1)(0)), t, one);
    return V(mul_add)(V(neg)(scale), q, scale);
}

/* x = m 2^e with 3/4 <= m < 3/2; returns m. For positive x, denormal ones too. AVX-512 also takes 0 and infinity (e is
 * -inf, inf; m is 1, -1 for -0) and negative x and NaN (m is NaN); the others leave those to log_specials. */
static inline VEC V(log_reduce)(VEC x, VEC *e)
{
#if TNI_SIMD_LEVEL >= TNI_SIMD_AVX512
    VEC m = T_PICK(_mm512_getmant_ps, _mm512_getmant_pd)(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    VEC floor = T_PICK(_mm512_getexp_ps, _mm512_getexp_pd)(x);
    *e = T_PICK(_mm512_mask_add_ps, _mm512_mask_add_pd)(floor, V(lt)(m, V(set1)(1)), floor, V(set1)(1));
    return m;
#else
    const T lift = T_PICK(0x1p24f, 0x1p53), integer = T_PICK(0x1p23f, 0x1p52); /* integer + k has k in its low bits */
    VMASK denormal = V(lt)(x, V(set1)(T_PICK(0x1p-126f, 0x1p-1022)));
    VUINT bits = V(bits)(V(select)(denormal, x * V(set1)(lift), x));
    VUINT exponent = V(srl)(bits + V(set1_bits)((T_BITS)1 << (MANTISSA - 1)), MANTISSA);
    VEC bias = V(select)(denormal, V(set1)(integer + BIAS + MANTISSA + 1), V(set1)(integer + BIAS));
    *e = V(of_bits)(exponent | V(bits)(V(set1)(integer))) - bias;
    return V(of_bits)(bits - V(sll)(exponent - V(set1_bits)(BIAS), MANTISSA));
#endif
}

/* log((1 + f) 2^e). */
static inline VEC V(log_sum)(VEC f, VEC e)
{
    VEC q = V(polynomial)(f, T_NAME(log_q), TNI_COUNT(T_NAME(log_q)));
    VEC tail = V(mul_add)(f * f, V(mul_add)(f, q, V(set1)((T)-0.5)), e * V(set1)(LN2_LOW));
    return V(mul_add)(e, V(set1)(LN2_HIGH), f + tail);
}

/* y = log(x), mended where x is zero, infinite, negative or NaN. */
static inline VEC V(log_specials)(VEC x, VEC y)
{
#if TNI_SIMD_LEVEL >= TNI_SIMD_AVX512
    (void)x;
    return y;
#else
    const VEC infinity = V(set1)((T)INFINITY);
    y = V(select)(V(eq)(x, infinity), infinity, y);
    y = V(select)(V(eq)(x, V(set1)(0)), V(neg)(infinity), y);
    return V(select)(V(ge)(x, V(set1)(0)), y, V(set1)((T)NAN));
#endif
}

static inline VEC V(log)(VEC x)
{
    VEC e;
    VEC m = V(log_reduce)(x, &e);
    return V(log_specials)(x, V(log_sum)(m - V(set1)(1), e));
}

/* log(1 + x) = log(u) with u + c = 1 + x exactly: u = m 2^e, f = (m - 1) + c 2^-e. Where u is beyond 2^60, c no longer
 * matters. */
static inline VEC V(log1p)(VEC x)
{
    const VEC one = V(set1)(1);
    VEC u = one + x, e;
    VEC back = u - one;
    VEC c = (one - (u - back)) + (x - back);
    VEC m = V(log_reduce)(u, &e);
    VEC scale = V(power_of_two)(V(set1)(SHIFT) - V(min2)(V(set1)(60), e));
    VEC y = V(log_specials)(u, V(log_sum)(V(mul_add)(c, scale, m - one), e));
    y = V(select)(V(eq)(x, V(set1)((T)INFINITY)), x, y);
    return V(select)(V(eq)(x, V(set1)(0)), x, y);
}

#undef MANTISSA
#undef BIAS
#undef SHIFT
#undef LN2_HIGH
#undef LN2_LOW
#undef LOG2E
