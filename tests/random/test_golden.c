/* Every random stream of golden.txt, bit for bit. */
#include <math.h>
#include <string.h>
#include <tenon/random.h>

#include "random/ziggurat.h"
#include "support/golden.h"
#include "support/test.h"

static void random_state_words(void **unused)
{
    (void)unused;
    tn_random_state state;
    uint32_t words[16];
    assert_int_equal(tn_random_state_seed(&state, 0), TN_OK);
    for (int i = 0; i < 16; i++)
        words[i] = tn_random_state_next_uint32(&state);
    golden_check("randomstate_0.u32", "u32", words, 16);
}

static void seed_sequence_words(void **unused)
{
    (void)unused;
    tn_seed_sequence sequence;
    uint32_t zero = 0, words[8];
    uint64_t pairs[4];
    assert_int_equal(tn_seed_sequence_init(&sequence, &zero, 1, NULL, 0), TN_OK);
    assert_int_equal(tn_seed_sequence_generate_state(&sequence, words, 8), TN_OK);
    golden_check("seedsequence_0.u32", "u32", words, 8);
    assert_int_equal(tn_seed_sequence_generate_state64(&sequence, pairs, 4), TN_OK);
    for (int i = 0; i < 4; i++)
        assert_true(pairs[i] == ((uint64_t)words[2 * i + 1] << 32 | words[2 * i]));
}

static void default_rng_words_and_normals(void **unused)
{
    (void)unused;
    tn_default_rng rng;
    uint64_t words[16];
    double normals[64];
    assert_int_equal(tn_default_rng_seed(&rng, 0), TN_OK);
    for (int i = 0; i < 16; i++)
        words[i] = tn_default_rng_next_uint64(&rng);
    golden_check("default_rng_0.raw", "u64", words, 16);
    assert_int_equal(tn_default_rng_seed(&rng, 0), TN_OK);
    assert_int_equal(tn_default_rng_normal(&rng, 0.0, 1.0, normals, 64), TN_OK);
    golden_check("default_rng_0.normal", "f64", normals, 64);
}

static void default_rng_tail(void **unused)
{
    (void)unused;
    tn_default_rng rng;
    int64_t at[8];
    double values[8];
    assert_int_equal(tn_default_rng_seed(&rng, 0), TN_OK);
    for (int64_t i = 0, found = 0; found < 8; i++) {
        double z = tn_default_rng_next_normal(&rng);
        assert_true(i < 30000);
        if (fabs(z) > TNI_ZIGGURAT_R) {
            at[found] = i;
            values[found++] = z;
        }
    }
    golden_check("default_rng_0.tail_index", "i64", at, 8);
    golden_check("default_rng_0.tail_value", "f64", values, 8);
}

static void ziggurat_tables(void **unused)
{
    (void)unused;
    golden_check("zig.ki", "u64", tni_ziggurat_ki, 256);
    golden_check("zig.wi", "f64", tni_ziggurat_wi, 256);
    golden_check("zig.fi", "f64", tni_ziggurat_fi, 256);
}

/* The lesson's init(sizes, 0): W [in, out] ~ normal(0, 1 / sqrt(in)), layer by layer. */
static void lesson_weights(void **unused)
{
    (void)unused;
    static const char *const names[] = {"lesson_init_0.W0", "lesson_init_0.W1", "lesson_init_0.W2"};
    static const int64_t sizes[] = {2, 16, 16, 1};
    tn_default_rng rng;
    double weights[256];
    assert_int_equal(tn_default_rng_seed(&rng, 0), TN_OK);
    for (int i = 0; i < 3; i++) {
        int64_t n = sizes[i] * sizes[i + 1];
        assert_int_equal(tn_default_rng_normal(&rng, 0.0, 1.0 / sqrt((double)sizes[i]), weights, n), TN_OK);
        golden_check(names[i], "f64", weights, n);
    }
}

static void torch_linear(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {2, 16, 16, 1};
    tn_torch_generator generator;
    float single[337];
    double wide[337];
    for (int fused = 0; fused < 2; fused++) {
        assert_int_equal(tn_torch_manual_seed(&generator, 0), TN_OK);
        for (int64_t i = 0, at = 0; i < 3; at += sizes[i + 1] * (sizes[i] + 1), i++)
            assert_int_equal(tn_torch_linear_float32(&generator, sizes[i], sizes[i + 1], fused, single + at,
                                                     single + at + sizes[i] * sizes[i + 1]), TN_OK);
        golden_check(fused ? "torch_linear_0.f32.fma" : "torch_linear_0.f32.nofma", "f32", single, 337);
        assert_int_equal(tn_torch_manual_seed(&generator, 0), TN_OK);
        for (int64_t i = 0, at = 0; i < 3; at += sizes[i + 1] * (sizes[i] + 1), i++)
            assert_int_equal(tn_torch_linear_float64(&generator, sizes[i], sizes[i + 1], fused, wide + at,
                                                     wide + at + sizes[i] * sizes[i + 1]), TN_OK);
        golden_check(fused ? "torch_linear_0.f64.fma" : "torch_linear_0.f64.nofma", "f64", wide, 337);
    }
}

static void torch_randn(void **unused)
{
    (void)unused;
    tn_torch_generator generator;
    float single[37];
    double wide[37];
    tn_torch_manual_seed(&generator, 3);
    assert_int_equal(tn_torch_normal_float32(&generator, 0.0, 1.0, single, 15), TN_OK);
    golden_check("torch_randn_3.n15.f32", "f32", single, 15);
    tn_torch_manual_seed(&generator, 4);
    assert_int_equal(tn_torch_normal_float32(&generator, 0.0, 1.0, single, 37), TN_OK);
    golden_check("torch_randn_4.n37.f32", "f32", single, 37);
    tn_torch_manual_seed(&generator, 4);
    assert_int_equal(tn_torch_normal_float64(&generator, 0.0, 1.0, wide, 37), TN_OK);
    golden_check("torch_randn_4.n37.f64", "f64", wide, 37);
}

static void torch_orders(void **unused)
{
    (void)unused;
    tn_torch_generator generator;
    int64_t order[200];
    tn_torch_manual_seed(&generator, 6);
    assert_int_equal(tn_torch_randperm(&generator, order, 200), TN_OK);
    golden_check("torch_randperm_6.200", "i64", order, 200);
    tn_torch_manual_seed(&generator, 11);
    for (int epoch = 0; epoch < 2; epoch++)
        assert_int_equal(tn_torch_loader_epoch(&generator, order + 50 * epoch, 50), TN_OK);
    golden_check("torch_dataloader_11.50x2", "i64", order, 100);
}

TEST_MAIN(test(random_state_words), test(seed_sequence_words), test(default_rng_words_and_normals),
          test(default_rng_tail), test(ziggurat_tables), test(lesson_weights), test(torch_linear), test(torch_randn),
          test(torch_orders))
