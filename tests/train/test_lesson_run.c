/* The lesson's net trained on the lesson's points, 20 steps of plain descent in float64: losses, the first gradients
 * and the last parameters are PyTorch's to 1e-12, through optimizer and loader and through the loop.
 * tests/data/lesson_training_torch.txt says what was recorded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { STEPS = 20, POINTS = 200, PARAMETERS = 337 };

static const double lr = 0.5, tolerance = 1e-12;

static struct recording {
    double losses[STEPS], first_gradients[PARAMETERS], final_parameters[PARAMETERS];
} recorded;

static void read_numbers(FILE *file, const char *name, double *to, int n)
{
    char word[64];
    int count = 0;
    assert_int_equal(fscanf(file, " %63s %d", word, &count), 2);
    assert_string_equal(word, name);
    assert_int_equal(count, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(fscanf(file, " %63s", word), 1);
        to[i] = strtod(word, NULL);
    }
}

static void read_recording(void)
{
    char line[256];
    FILE *file = fopen(TENON_TEST_DATA "/lesson_training_torch.txt", "r");
    assert_non_null(file);
    long begin = 0;
    while (fgets(line, sizeof line, file) && line[0] == '#')
        begin = ftell(file);
    fseek(file, begin, SEEK_SET);
    read_numbers(file, "losses", recorded.losses, STEPS);
    read_numbers(file, "first_gradients", recorded.first_gradients, PARAMETERS);
    read_numbers(file, "final_parameters", recorded.final_parameters, PARAMETERS);
    fclose(file);
}

static void check(const char *what, int i, double value, double wanted)
{
    if (!(fabs(value - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%s %d is %.17g, PyTorch has %.17g", what, i, value, wanted);
}

static void check_all(const char *what, const tn_module *net, bool gradients, const double *wanted)
{
    int at = 0;
    for (int64_t i = 0; i < tn_parameter_count(net); i++) {
        tn_tensor *p = tn_parameter(net, i), *shown = tn_contiguous(gradients ? tn_grad_of(p) : p);
        const double *values = tn_data_f64(shown);
        assert_non_null(values);
        for (int64_t k = 0; k < tn_numel(shown); k++, at++)
            check(what, at, values[k], wanted[at]);
    }
    assert_int_equal(at, PARAMETERS);
}

static tn_module *lesson_net(void)
{
    tn_default_rng rng;
    tn_default_rng_seed(&rng, 0);
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT64);
    assert_int_equal(tn_init_normal(net, &rng), TN_OK);
    return net;
}

static void own_loop(void **state)
{
    (void)state;
    read_recording();
    tn_scope scope = tn_scope_begin();
    tn_module *net = lesson_net();
    tn_optimizer *opt = tn_sgd(tn_parameters(net), &(tn_sgd_options){.lr = lr});
    tn_loader *all =
        tn_loader_new(tn_make_moons(POINTS, 0.2, 0, TN_FLOAT64), &(tn_loader_options){.batch_size = POINTS});
    for (int step = 0; step < STEPS; step++)
        for (tn_batch b; tn_loader_next(all, &b);) {
            tn_scope inner = tn_scope_begin();
            tn_tensor *y = tn_reshape(tn_to(b.y, TN_FLOAT64), (int64_t[]){POINTS, 1}, 2);
            tn_tensor *loss = tn_bce_with_logits(tn_forward(net, b.x), y, TN_MEAN);
            tn_zero_grad(opt);
            tn_backward(loss);
            check("loss", step, tn_item(loss), recorded.losses[step]);
            if (step == 0)
                check_all("gradient", net, true, recorded.first_gradients);
            tn_step(opt);
            assert_int_equal(tn_scope_end(inner), TN_OK);
        }
    check_all("parameter", net, false, recorded.final_parameters);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* The lesson's own words: sigmoid, then the mean of -(y log p + (1 - y) log(1 - p)), written out. */
static void written_out(void **state)
{
    (void)state;
    read_recording();
    tn_scope scope = tn_scope_begin();
    tn_module *net = lesson_net();
    tn_dataset *moons = tn_make_moons(POINTS, 0.2, 0, TN_FLOAT64);
    tn_optimizer *opt = tn_sgd(tn_parameters(net), &(tn_sgd_options){.lr = lr});
    tn_tensor *y = tn_reshape(tn_to(tn_dataset_y(moons), TN_FLOAT64), (int64_t[]){POINTS, 1}, 2);
    tn_tensor *not_y = tn_add_scalar(tn_neg(y), tn_int(1));
    for (int step = 0; step < STEPS; step++) {
        tn_scope inner = tn_scope_begin();
        tn_tensor *p = tn_sigmoid(tn_forward(net, tn_dataset_x(moons)));
        tn_tensor *likely = tn_add(tn_mul(y, tn_log(p)), tn_mul(not_y, tn_log(tn_add_scalar(tn_neg(p), tn_int(1)))));
        tn_tensor *loss = tn_neg(tn_mean(likely, NULL, 0, false, TN_DTYPE_NONE));
        tn_zero_grad(opt);
        tn_backward(loss);
        check("loss", step, tn_item(loss), recorded.losses[step]);
        tn_step(opt);
        assert_int_equal(tn_scope_end(inner), TN_OK);
    }
    check_all("parameter", net, false, recorded.final_parameters);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static void the_loop(void **state)
{
    (void)state;
    read_recording();
    tn_scope scope = tn_scope_begin();
    tn_module *net = lesson_net();
    tn_optimizer *opt = tn_sgd(tn_parameters(net), &(tn_sgd_options){.lr = lr});
    tn_loader *all =
        tn_loader_new(tn_make_moons(POINTS, 0.2, 0, TN_FLOAT64), &(tn_loader_options){.batch_size = POINTS});
    tn_fit_result result;
    assert_int_equal(
        tn_fit(&(tn_fit_options){.module = net, .optimizer = opt, .train = all, .loss = TN_FIT_BCE, .epochs = STEPS},
               &result),
        TN_OK);
    for (int i = 0; i < STEPS; i++)
        check("loss", i, tn_history_epoch(result.history, i).train_loss, recorded.losses[i]);
    check_all("parameter", net, false, recorded.final_parameters);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

TEST_MAIN(test(own_loop), test(written_out), test(the_loop))
