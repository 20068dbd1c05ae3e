/* Training has the same bits for every number of threads: the benchmark's 784-256-128-10, whose products, losses and
 * steps are shared among threads. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { POINTS = 128, STEPS = 3, PARAMETERS = 6, NUMEL = 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10 };

static float first[NUMEL], now[NUMEL];

static void train(int threads, float *weights)
{
    tn_scope scope = tn_scope_begin();
    tn_torch_generator generator;
    int64_t classes[POINTS];
    assert_int_equal(tn_set_num_threads(threads), TN_OK);
    tn_torch_manual_seed(&generator, 1);
    tn_module *net = tn_mlp((int64_t[]){784, 256, 128, 10}, 4, TN_FLOAT32);
    tn_init_torch(net, &generator, true);
    tn_tensor *x = tn_empty((int64_t[]){POINTS, 784}, 2, TN_FLOAT32);
    tn_init_normal_(x, 0, 1, &generator);
    tn_torch_randint(&generator, 0, 10, classes, POINTS);
    tn_tensor *y = tn_from_array(classes, (int64_t[]){POINTS}, 1, TN_INT64);
    tn_optimizer *adam = tn_adam(tn_parameters(net), NULL);
    for (int i = 0; i < STEPS; i++) {
        tn_scope step = tn_scope_begin();
        tn_zero_grad(adam);
        tn_backward(tn_cross_entropy(tn_forward(net, x), y, TN_MEAN));
        tn_step(adam);
        tn_scope_end(step);
    }
    assert_int_equal(tn_error_code(), TN_OK);
    for (int i = 0; i < PARAMETERS; i++) {
        tn_tensor *p = tn_parameter(net, i);
        memcpy(weights, tn_data(p), (size_t)tn_numel(p) * sizeof *weights);
        weights += tn_numel(p);
    }
    tn_scope_end(scope);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    train(1, first);
    for (int threads = 2; threads <= 8; threads++) {
        train(threads, now);
        if (memcmp(first, now, sizeof now) != 0)
            fail_msg("%d threads give other weights than one", threads);
    }
    assert_int_equal(tn_set_num_threads(1), TN_OK);
}

TEST_MAIN(test(bits_do_not_depend_on_threads))
