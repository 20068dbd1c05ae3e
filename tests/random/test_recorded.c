/* Longer sessions against hashes of what the originals gave: NumPy 2.4.6, and PyTorch 2.15 at its AVX2 and AVX-512
 * levels (which agree), x86-64, glibc. Every hash is FNV-1a over the bytes of one call's result; calls follow one
 * another on one generator, so that a wrong count of draws fails the next. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/random.h>

#include "support/test.h"

enum { N = 1001, MANY = 100000 };

static double wide[MANY];
static float single[MANY];
static int64_t integers[N];

static void check(const char *what, const void *data, size_t bytes, uint64_t expected)
{
    const unsigned char *p = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    assert_int_equal(tn_error_code(), TN_OK);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    if (hash != expected)
        fail_msg("%s: hash %016" PRIx64 ", recorded %016" PRIx64, what, hash, expected);
}

#define CHECK(what, array, n, expected) check((what), (array), (size_t)(n) * sizeof *(array), UINT64_C(expected))

static void random_state_7(void **unused)
{
    (void)unused;
    tn_random_state s;
    tn_random_state_seed(&s, 7);
    tn_random_state_random_sample(&s, wide, N);
    CHECK("random_sample", wide, N, 0xefd00db1c534442c);
    tn_random_state_normal(&s, 1.5, 0.3, wide, N);
    CHECK("normal", wide, N, 0x1b689e24497e4d5b);
    tn_random_state_uniform(&s, -2.5, 7.25, wide, N);
    CHECK("uniform", wide, N, 0x2437511da102910e);
    tn_random_state_randint(&s, 0, 1, integers, N);
    CHECK("randint(0, 1)", integers, N, 0xa56e1ecc3b7e2ac5);
    tn_random_state_randint(&s, -5, 1000, integers, N);
    CHECK("randint(-5, 1000)", integers, N, 0x949ea48bc993cbcd);
    tn_random_state_randint(&s, 0, INT64_C(1) << 32, integers, N);
    CHECK("randint(0, 2^32)", integers, N, 0x067bc63510055115);
    tn_random_state_randint(&s, -(INT64_C(1) << 40), (INT64_C(1) << 41) + 3, integers, N);
    CHECK("randint(-2^40, 2^41 + 3)", integers, N, 0x38efc9cc460c5173);
    tn_random_state_permutation(&s, integers, N);
    CHECK("permutation", integers, N, 0xf9e1d9a6e1fa1598);
    for (int64_t i = 0; i < N; i++)
        integers[i] = 3 * i;
    tn_random_state_shuffle(&s, integers, N);
    CHECK("shuffle", integers, N, 0x8fe782b7e936bdc4);
    tn_random_state_random_sample(&s, wide, N);
    CHECK("random_sample at the end", wide, N, 0xc5b37e6d25004b5f);
}

static void seed_sequences(void **unused)
{
    (void)unused;
    tn_seed_sequence s;
    uint32_t words[9];
    uint64_t pairs[9];
    const uint32_t huge[7] = {12345, 0, 0, 0, 0, 0, 256}, seven = 7, key[2] = {1, 2}, child = 3;
    tn_seed_sequence_init(&s, huge, 7, key, 2);
    tn_seed_sequence_generate_state(&s, words, 9);
    CHECK("2^200 + 12345, key (1, 2)", words, 9, 0x7dad5278d17deedb);
    tn_seed_sequence_init(&s, &seven, 1, &child, 1);
    tn_seed_sequence_generate_state(&s, words, 9);
    CHECK("7, key (3,)", words, 9, 0x42f7b114f62a13d1);
    tn_seed_sequence_init(&s, NULL, 0, NULL, 0);
    tn_seed_sequence_generate_state64(&s, pairs, 9);
    CHECK("empty", pairs, 9, 0x9d207c32253b652d);
}

static void default_rng_largest_seed(void **unused)
{
    (void)unused;
    static const struct {
        int64_t low, high;
        bool endpoint;
        uint64_t hash;
    } ranges[] = {
        {5, 6, false, UINT64_C(0xd6096cb040a487a0)},
        {-5, 1000, false, UINT64_C(0xff30198291e474f0)},
        {0, INT64_C(3) << 30, false, UINT64_C(0xe4a6faba1b059f9c)},
        {0, UINT32_MAX, true, UINT64_C(0xb7e81112d58fe3f9)},
        {-(INT64_C(1) << 40), (INT64_C(1) << 41) + 3, false, UINT64_C(0xf30d997f8b851631)},
        {INT64_MIN, INT64_C(1) << 62, false, UINT64_C(0xef60c8d1499c23cc)},
        {INT64_MIN, INT64_MAX, true, UINT64_C(0xd11d1f20873b86a5)},
    };
    tn_default_rng r;
    tn_default_rng_seed(&r, UINT64_MAX);
    tn_default_rng_normal(&r, 0.5, 2.0, wide, MANY);
    CHECK("normal", wide, MANY, 0x880098bc15658e8a);
    tn_default_rng_random(&r, wide, N);
    CHECK("random", wide, N, 0x0692981cc4424233);
    tn_default_rng_random_float32(&r, single, N);
    CHECK("random float32", single, N, 0x8a8ee8b154de0817);
    tn_default_rng_uniform(&r, -3.0, 2.5, wide, N);
    CHECK("uniform", wide, N, 0x59972b216dd4d39b);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        tn_default_rng_integers(&r, ranges[i].low, ranges[i].high, ranges[i].endpoint, integers, N);
        check("integers", integers, sizeof integers, ranges[i].hash);
    }
    tn_default_rng_permutation(&r, integers, N);
    CHECK("permutation", integers, N, 0xbb4f164d76f37614);
    for (int64_t i = 0; i < N; i++)
        integers[i] = 3 * i;
    tn_default_rng_shuffle(&r, integers, N);
    CHECK("shuffle", integers, N, 0x9ab97da12e6e72b0);
    tn_default_rng_random(&r, wide, N);
    CHECK("random at the end", wide, N, 0x12e1cae5b4d4fe77);
}

static void torch_42(void **unused)
{
    (void)unused;
    static const struct {
        int64_t low, high;
        uint64_t hash;
    } ranges[] = {
        {0, 1, UINT64_C(0xa56e1ecc3b7e2ac5)},
        {-7, 1 << 20, UINT64_C(0x016e4d55eceea5d7)},
        {0, (1 << 28) - 1, UINT64_C(0x812571ee04efedf6)},
        {0, 1 << 28, UINT64_C(0x6dcb48491f3f634c)},
        {INT64_MIN, INT64_MAX, UINT64_C(0xb73936ebf445289b)},
    };
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 42);
    tn_torch_uniform_float32(&g, -0.3, 1.9, true, single, N);
    CHECK("uniform_ float32", single, N, 0x9f8a65f78f4cffc2);
    tn_torch_uniform_float64(&g, -0.3, 1.9, true, wide, N);
    CHECK("uniform_ float64", wide, N, 0xeb5077671956bc49);
    tn_torch_normal_float32(&g, 0.3, 1.7, single, 15);
    CHECK("normal_ float32, 15", single, 15, 0x824fa68c7ddc02b3);
    tn_torch_normal_float64(&g, 0.3, 1.7, wide, 15);
    CHECK("normal_ float64, 15", wide, 15, 0xfd58de0cdfbe2cb9);
    tn_torch_normal_float32(&g, 0.3, 1.7, single, N);
    CHECK("normal_ float32, 1001", single, N, 0xc37d95c4df3a9223);
    tn_torch_normal_float64(&g, 0.3, 1.7, wide, N);
    CHECK("normal_ float64, 1001", wide, N, 0x8628ff8b8a8ec526);
    tn_torch_normal_float32(&g, 0.0, 1.0, single, MANY);
    CHECK("randn, 100000", single, MANY, 0x5c5084392edf5221);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        tn_torch_randint(&g, ranges[i].low, ranges[i].high, integers, N);
        check("randint", integers, sizeof integers, ranges[i].hash);
    }
    tn_torch_randperm(&g, integers, N);
    CHECK("randperm", integers, N, 0x220fd6a9cb2a9ecc);
}

static void torch_unfused_42(void **unused)
{
    (void)unused;
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 42);
    tn_torch_uniform_float32(&g, -0.3, 1.9, false, single, N);
    CHECK("uniform_ float32, default level", single, N, 0xf79b9de730f6981d);
    tn_torch_uniform_float64(&g, -0.3, 1.9, false, wide, N);
    CHECK("uniform_ float64, default level", wide, N, 0xf404002f44c52451);
}

static void torch_modules(void **unused)
{
    (void)unused;
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 11);
    for (int epoch = 0; epoch < 3; epoch++) {
        tn_torch_loader_begin_epoch(&g, integers + 50 * epoch, 50);
        tn_torch_loader_end_epoch(&g, 50);
    }
    CHECK("DataLoader with a generator, 3 epochs of 50", integers, 150, 0xe6a3deb2788b1d84);
    tn_torch_uniform_float32(&g, 0.0, 1.0, true, single, 5);
    CHECK("rand after them", single, 5, 0x3f1d92ee2da55c6a);
    tn_torch_manual_seed(&g, 42);
    tn_torch_linear_float32(&g, 7, 300, true, single, single + 2100);
    CHECK("Linear(7, 300).weight", single, 2100, 0x386b1a2bd5835c85);
    CHECK("Linear(7, 300).bias", single + 2100, 300, 0xcc7085a16a2b888f);
}

TEST_MAIN(test(random_state_7), test(seed_sequences), test(default_rng_largest_seed), test(torch_42),
          test(torch_unfused_42), test(torch_modules))
