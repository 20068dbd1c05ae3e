/* What the random floor refuses, and that a refused call leaves generator and array as they were. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/random.h>

#include "support/test.h"

static tn_random_state s, s_before;
static tn_default_rng r, r_before;
static tn_torch_generator g, g_before;
static double d[4];
static float f[4];
static int64_t l[4];

static int setup(void **unused)
{
    (void)unused;
    tn_error_clear();
    tn_random_state_seed(&s, 1);
    tn_default_rng_seed(&r, 1);
    tn_torch_manual_seed(&g, 1);
    s_before = s;
    r_before = r;
    g_before = g;
    for (int i = 0; i < 4; i++) {
        d[i] = 7.0;
        f[i] = 7.0f;
        l[i] = 7;
    }
    return 0;
}

static void untouched(void)
{
    assert_memory_equal(&s, &s_before, sizeof s);
    assert_memory_equal(&r, &r_before, sizeof r);
    assert_memory_equal(&g, &g_before, sizeof g);
    for (int i = 0; i < 4; i++)
        assert_true(d[i] == 7.0 && f[i] == 7.0f && l[i] == 7);
}

/* The call returns and records that status, and changes nothing. */
#define REFUSED(status, call)                                                                            \
    do {                                                                                                 \
        if ((call) != (status) || tn_error_code() != (status))                                           \
            fail_msg("%s: got %s, needed %s", #call, tn_status_name(tn_error_code()), tn_status_name(status)); \
        tn_error_clear();                                                                                \
        untouched();                                                                                     \
    } while (0)

static void null_arguments(void **unused)
{
    (void)unused;
    REFUSED(TN_ERROR_NULL, tn_random_state_seed(NULL, 0));
    REFUSED(TN_ERROR_NULL, tn_random_state_random_sample(NULL, d, 4));
    REFUSED(TN_ERROR_NULL, tn_random_state_random_sample(&s, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_random_state_uniform(&s, 0.0, 1.0, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_random_state_normal(&s, 0.0, 1.0, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_random_state_randint(&s, 0, 2, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_random_state_shuffle(&s, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_random_state_permutation(&s, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_seed_sequence_init(NULL, NULL, 0, NULL, 0));
    REFUSED(TN_ERROR_NULL, tn_seed_sequence_generate_state(NULL, NULL, 0));
    REFUSED(TN_ERROR_NULL, tn_seed_sequence_generate_state64(NULL, NULL, 0));
    REFUSED(TN_ERROR_NULL, tn_default_rng_seed(NULL, 0));
    REFUSED(TN_ERROR_NULL, tn_default_rng_from_seed_sequence(&r, NULL));
    REFUSED(TN_ERROR_NULL, tn_default_rng_random(&r, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_default_rng_random_float32(NULL, f, 4));
    REFUSED(TN_ERROR_NULL, tn_default_rng_uniform(&r, 0.0, 1.0, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_default_rng_normal(NULL, 0.0, 1.0, d, 4));
    REFUSED(TN_ERROR_NULL, tn_default_rng_integers(&r, 0, 1, false, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_default_rng_shuffle(&r, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_default_rng_permutation(NULL, l, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_manual_seed(NULL, 0));
    REFUSED(TN_ERROR_NULL, tn_torch_uniform_float32(&g, 0.0, 1.0, true, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_uniform_float64(NULL, 0.0, 1.0, true, d, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_normal_float32(&g, 0.0, 1.0, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_normal_float64(&g, 0.0, 1.0, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_randint(&g, 0, 1, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_randperm(&g, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_loader_begin_epoch(&g, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_loader_end_epoch(NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_loader_epoch(&g, NULL, 4));
    REFUSED(TN_ERROR_NULL, tn_torch_linear_float32(&g, 2, 2, true, NULL, NULL));
    REFUSED(TN_ERROR_NULL, tn_torch_linear_float64(NULL, 2, 2, true, d, NULL));
}

static void negative_lengths(void **unused)
{
    (void)unused;
    uint32_t word = 0;
    tn_seed_sequence sequence;
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_random_sample(&s, d, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_uniform(&s, 0.0, 1.0, d, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_normal(&s, 0.0, 1.0, d, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_randint(&s, 0, 2, l, INT64_MIN));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_shuffle(&s, l, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_permutation(&s, l, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_seed_sequence_init(&sequence, &word, -1, NULL, 0));
    REFUSED(TN_ERROR_ARGUMENT, tn_seed_sequence_init(&sequence, &word, 1, NULL, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_random(&r, d, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_normal(&r, 0.0, 1.0, d, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_integers(&r, 0, 1, false, l, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_uniform_float32(&g, 0.0, 1.0, true, f, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_normal_float64(&g, 0.0, 1.0, d, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_randint(&g, 0, 1, l, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_randperm(&g, l, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_loader_end_epoch(&g, -1));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_linear_float32(&g, -2, 2, true, f, f));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_linear_float64(&g, 2, -2, true, d, d));
    REFUSED(TN_ERROR_OVERFLOW, tn_torch_linear_float32(&g, INT64_C(1) << 32, INT64_C(1) << 32, true, f, f));
}

static void bad_parameters(void **unused)
{
    (void)unused;
    const double nan = (double)NAN, inf = (double)INFINITY;
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_seed(&s, UINT64_C(1) << 32));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_normal(&s, 0.0, -1.0, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_normal(&s, 0.0, nan, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_uniform(&s, 1.0, 0.0, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_uniform(&s, nan, 0.0, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_uniform(&s, -DBL_MAX, DBL_MAX, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_random_state_randint(&s, 3, 3, l, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_normal(&r, 0.0, -1e-300, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_uniform(&r, 0.0, inf, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_integers(&r, 3, 3, false, l, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_default_rng_integers(&r, 3, 2, true, l, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_uniform_float32(&g, 0.0, 1e39, true, f, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_uniform_float32(&g, -3e38, 3e38, true, f, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_uniform_float64(&g, 1.0, 0.5, false, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_normal_float32(&g, 0.0, -1.0, f, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_normal_float64(&g, 0.0, nan, d, 4));
    REFUSED(TN_ERROR_ARGUMENT, tn_torch_randint(&g, 5, -5, l, 4));
}

/* {0}, and states that no seed leads to: on an all-zero Mersenne Twister the polar method would never end. */
static void unseeded(void **unused)
{
    (void)unused;
    static const tn_random_state zero_state;
    static const tn_default_rng zero_rng;
    static const tn_torch_generator zero_generator;
    tn_random_state state = zero_state;
    tn_default_rng rng = zero_rng;
    tn_torch_generator generator = zero_generator;
    REFUSED(TN_ERROR_STATE, tn_random_state_normal(&state, 0.0, 1.0, d, 4));
    REFUSED(TN_ERROR_STATE, tn_default_rng_normal(&rng, 0.0, 1.0, d, 4));
    REFUSED(TN_ERROR_STATE, tn_torch_randperm(&generator, l, 4));
    state.mt.key[0] = 1;
    REFUSED(TN_ERROR_STATE, tn_random_state_shuffle(&state, l, 4));
    state = s;
    state.mt.position = 625;
    REFUSED(TN_ERROR_STATE, tn_random_state_shuffle(&state, l, 4));
    state.mt.position = -1;
    REFUSED(TN_ERROR_STATE, tn_random_state_shuffle(&state, l, 4));
}

static void single_draws(void **unused)
{
    (void)unused;
    assert_true(isnan(tn_random_state_next_double(NULL)));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    assert_true(isnan(tn_random_state_next_double(&s)));
    assert_true(isnan(tn_random_state_next_gauss(&s)));
    assert_true(isnan(tn_default_rng_next_double(&r)));
    assert_true(isnan(tn_default_rng_next_normal(&r)));
    assert_int_equal(tn_random_state_next_uint32(&s), 0);
    assert_true(tn_random_state_next_uint64(&s) == 0);
    assert_true(tn_random_state_interval(&s, 10) == 0);
    assert_int_equal(tn_default_rng_next_uint32(&r), 0);
    assert_true(tn_default_rng_next_uint64(&r) == 0);
    assert_int_equal(tn_torch_next_uint32(&g), 0);
    assert_true(tn_torch_next_uint64(&g) == 0);
    assert_true(tn_torch_next_random(&g) == 0);
    tn_error_clear();
    untouched();
    assert_true(tn_random_state_interval(&s, 0) == 0);
    untouched();
}

static void nothing_happens_while_pending(void **unused)
{
    (void)unused;
    assert_int_equal(tn_random_state_seed(NULL, 0), TN_ERROR_NULL);
    assert_int_equal(tn_random_state_seed(&s, 9), TN_ERROR_NULL);
    assert_int_equal(tn_default_rng_seed(&r, 9), TN_ERROR_NULL);
    assert_int_equal(tn_torch_manual_seed(&g, 9), TN_ERROR_NULL);
    assert_int_equal(tn_random_state_normal(&s, 0.0, 1.0, d, 4), TN_ERROR_NULL);
    assert_int_equal(tn_default_rng_integers(&r, 9, 1, false, l, 4), TN_ERROR_NULL);
    assert_int_equal(tn_torch_linear_float32(&g, 2, 2, true, f, NULL), TN_ERROR_NULL);
    assert_string_equal(tn_error_message(), "random_state_seed: argument 1 (state) is NULL");
    tn_error_clear();
    untouched();
}

static void empty_arrays_are_fine(void **unused)
{
    (void)unused;
    assert_int_equal(tn_random_state_normal(&s, 0.0, 0.0, NULL, 0), TN_OK);
    assert_int_equal(tn_default_rng_permutation(&r, NULL, 0), TN_OK);
    assert_int_equal(tn_torch_normal_float32(&g, 0.0, 1.0, NULL, 0), TN_OK);
    assert_int_equal(tn_torch_linear_float32(&g, 0, 0, true, NULL, NULL), TN_OK);
    assert_int_equal(tn_torch_loader_end_epoch(&g, 0), TN_OK);
    untouched();
    assert_int_equal(tn_torch_linear_float32(&g, 0, 4, true, NULL, f), TN_OK);
    for (int i = 0; i < 4; i++)
        assert_true(f[i] == 0.0f);
}

#define with_setup(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_setup(null_arguments), with_setup(negative_lengths), with_setup(bad_parameters),
        with_setup(unseeded),       with_setup(single_draws),     with_setup(nothing_happens_while_pending),
        with_setup(empty_arrays_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
