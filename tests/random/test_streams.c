/* Invariants of the streams: a call split in two gives the same values, fills equal single draws, both builds of the
 * PyTorch loops agree in bits, permutations are permutations, copies of a generator go the same way. */
#include <stdlib.h>
#include <string.h>
#include <tenon/random.h>

#include "random/mt19937.h"
#include "random/torch_kernels.h"
#include "support/golden.h"
#include "support/test.h"

enum { N = 3000 };

static double one[N], two[N];
static float single_one[N], single_two[N];
static int64_t whole[N], parts[N];

static const int64_t cuts[] = {0, 1, 311, 312, 313, 623, 624, 625, 1999, N};

static void fills_equal_single_draws(void **unused)
{
    (void)unused;
    tn_random_state a, b;
    tn_default_rng c, d;
    tn_random_state_seed(&a, 5);
    b = a;
    tn_random_state_next_uint32(&a); /* an odd position, so that pairs of words straddle the renewal */
    tn_random_state_next_uint32(&b);
    tn_random_state_random_sample(&a, one, N);
    for (int i = 0; i < N; i++)
        two[i] = tn_random_state_next_double(&b);
    golden_compare("random_sample, seed 5", "f64", two, one, N);
    tn_random_state_normal(&a, 0.0, 1.0, one, N - 1);
    for (int i = 0; i < N - 1; i++)
        two[i] = 0.0 + tn_random_state_next_gauss(&b);
    golden_compare("RandomState.normal, seed 5", "f64", two, one, N - 1);
    assert_memory_equal(&a, &b, sizeof a);
    tn_default_rng_seed(&c, 5);
    d = c;
    tn_default_rng_normal(&c, 0.0, 1.0, one, N);
    for (int i = 0; i < N; i++)
        two[i] = 0.0 + tn_default_rng_next_normal(&d);
    golden_compare("default_rng.normal, seed 5", "f64", two, one, N);
    tn_default_rng_integers(&c, 0, UINT32_MAX, true, whole, N - 1);
    for (int i = 0; i < N - 1; i++)
        parts[i] = tn_default_rng_next_uint32(&d);
    golden_compare("default_rng.integers, seed 5", "i64", parts, whole, N - 1);
    assert_memory_equal(&c, &d, sizeof c);
}

static void splits_do_not_matter(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        int64_t cut = cuts[k], rest = N - cut;
        tn_torch_generator a, b;
        tn_default_rng c, d;
        tn_torch_manual_seed(&a, 9);
        b = a;
        tn_torch_uniform_float32(&a, -1.0, 2.0, true, single_one, N);
        tn_torch_uniform_float32(&b, -1.0, 2.0, true, single_two, cut);
        tn_torch_uniform_float32(&b, -1.0, 2.0, true, single_two + cut, rest);
        golden_compare("uniform_ float32, seed 9", "f32", single_one, single_two, N);
        tn_torch_uniform_float64(&a, -1.0, 2.0, true, one, N);
        tn_torch_uniform_float64(&b, -1.0, 2.0, true, two, cut);
        tn_torch_uniform_float64(&b, -1.0, 2.0, true, two + cut, rest);
        golden_compare("uniform_ float64, seed 9", "f64", one, two, N);
        assert_memory_equal(&a, &b, sizeof a);
        tn_default_rng_seed(&c, 9);
        d = c;
        tn_default_rng_integers(&c, 0, 1000, false, whole, N);
        tn_default_rng_integers(&d, 0, 1000, false, parts, cut);
        tn_default_rng_integers(&d, 0, 1000, false, parts + cut, rest);
        golden_compare("integers, seed 9", "i64", whole, parts, N);
        assert_memory_equal(&c, &d, sizeof c);
    }
}

static void skipped_words(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        tn_mt19937 a, b;
        tni_mt19937_seed(&a, 1);
        tni_mt19937_seed(&b, 1);
        for (int64_t i = 0; i < cuts[k]; i++)
            tni_mt19937_next(&a);
        tni_mt19937_skip(&b, cuts[k]);
        assert_int_equal(tni_mt19937_next(&a), tni_mt19937_next(&b));
    }
}

static void kernels_agree(void **unused)
{
    (void)unused;
    const tni_torch_kernels *base = &tni_torch_kernels_base, *fast = tni_torch_kernels_pick();
    enum { COUNT = 96000 };
    static uint32_t words[COUNT];
    static float a[COUNT], b[COUNT];
    static double c[COUNT / 2], d[COUNT / 2];
    tn_mt19937 mt;
    tni_mt19937_seed(&mt, 77);
    tni_mt19937_fill(&mt, words, COUNT);
    base->uniform_fused(words, COUNT, 2.2f, -0.3f, 1.9f, a);
    fast->uniform_fused(words, COUNT, 2.2f, -0.3f, 1.9f, b);
    golden_compare("uniform_fused", "f32", a, b, COUNT);
    base->uniform_fused64(words, COUNT / 2, 2.2, -0.3, 1.9, c);
    fast->uniform_fused64(words, COUNT / 2, 2.2, -0.3, 1.9, d);
    golden_compare("uniform_fused64", "f64", c, d, COUNT / 2);
    for (int i = 0; i < COUNT; i++)
        a[i] = b[i] = (float)(words[i] >> 8) * 0x1p-24f;
    a[0] = b[0] = a[8] = b[8] = 0.0f; /* log 1, angle 0 */
    a[1] = b[1] = a[9] = b[9] = 1.0f - 0x1p-24f;
    base->normal_blocks(a, COUNT / 16, 0.25f, 1.5f);
    fast->normal_blocks(b, COUNT / 16, 0.25f, 1.5f);
    golden_compare("normal_blocks", "f32", a, b, COUNT);
}

/* high is outside, although low + u (high - low) may round up to it. */
static void uniform_stays_below_high(void **unused)
{
    (void)unused;
    tn_torch_generator g;
    float high = 1.0f + 0x1p-23f;
    int at_low = 0;
    for (int fused = 0; fused < 2; fused++) {
        tn_torch_manual_seed(&g, 2);
        tn_torch_uniform_float32(&g, 1.0, (double)high, fused, single_one, N);
        for (int i = 0; i < N; i++) {
            assert_true(single_one[i] >= 1.0f && single_one[i] < high);
            at_low += single_one[i] == 1.0f;
        }
    }
    assert_int_equal(at_low, 2 * N); /* nothing lies between */
}

static void is_permutation(const int64_t *values, int64_t n)
{
    static unsigned char seen[N];
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(values[i], 0, n - 1);
        assert_int_equal(seen[values[i]]++, 0);
    }
}

static void permutations(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {0, 1, 2, 3, 255, 256, 257, N};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        tn_random_state s;
        tn_default_rng r;
        tn_torch_generator g;
        int64_t n = sizes[k];
        tn_random_state_seed(&s, 3);
        tn_default_rng_seed(&r, 3);
        tn_torch_manual_seed(&g, 3);
        assert_int_equal(tn_random_state_permutation(&s, whole, n), TN_OK);
        is_permutation(whole, n);
        assert_int_equal(tn_default_rng_permutation(&r, whole, n), TN_OK);
        is_permutation(whole, n);
        assert_int_equal(tn_torch_randperm(&g, whole, n), TN_OK);
        is_permutation(whole, n);
        assert_int_equal(tn_torch_loader_begin_epoch(&g, whole, n), TN_OK);
        is_permutation(whole, n);
        assert_int_equal(tn_torch_loader_end_epoch(&g, n), TN_OK);
    }
}

/* PyTorch seeds with the low 32 bits; the seed itself is kept whole. */
static void torch_seed_width(void **unused)
{
    (void)unused;
    tn_torch_generator a, b;
    tn_torch_manual_seed(&a, 5);
    tn_torch_manual_seed(&b, UINT64_C(7) << 32 | 5);
    assert_true(b.initial_seed == (UINT64_C(7) << 32 | 5));
    assert_int_equal(tn_torch_next_uint32(&a), tn_torch_next_uint32(&b));
}

TEST_MAIN(test(fills_equal_single_draws), test(splits_do_not_matter), test(skipped_words), test(kernels_agree),
          test(uniform_stays_below_high), test(permutations), test(torch_seed_width))
