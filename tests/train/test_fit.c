/* The loop: what is not finite is named and written nowhere; early stopping, validation, weighted means, losses. */
#include <math.h>

#include "fit_plan.h"

static void not_finite(void **state)
{
    (void)state;
    static char a[1 << 17], b[1 << 17];
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    empty(folder);
    plan p = {.kind = SGD, .epochs = 2, .seed = 1, .folder = folder, .save_every = 1};
    assert_int_equal(go(&p, NULL), TN_OK);
    size_t bytes = read_file(folder, "last.safetensors", a, sizeof a);
    p.poison = 1e30;
    p.save_every = 0;
    assert_int_equal(go(&p, &result), TN_ERROR_ANOMALY);
    assert_non_null(strstr(tn_error_message(), "step "));
    expect_error(TN_ERROR_ANOMALY, "fit: ");
    tn_tensor *x = tn_clone(tn_dataset_x(tn_make_moons(SAMPLES, 0.2, 0, TN_FLOAT32)));
    ((float *)tn_data_mut(x))[2 * 9] = NAN;
    p.poison = 0;
    p.data = tn_tensor_dataset(x, tn_dataset_y(tn_make_moons(SAMPLES, 0.2, 0, TN_FLOAT32)));
    assert_int_equal(go(&p, &result), TN_ERROR_ANOMALY);
    expect_error(TN_ERROR_ANOMALY, "fit: epoch 1, step 3: the loss is nan");
    p.validation = p.data;
    p.data = NULL;
    assert_int_equal(go(&p, &result), TN_ERROR_ANOMALY);
    expect_error(TN_ERROR_ANOMALY, "fit: epoch 1: the validation loss is nan");
    assert_true(bytes > 0 && bytes == read_file(folder, "last.safetensors", b, sizeof b));
    assert_memory_equal(a, b, bytes);
    tn_scope_end(scope);
}

static int64_t epochs_seen;

static bool see_epoch(const tn_epoch *history, int64_t n, void *context)
{
    (void)context;
    assert_int_equal(history[n - 1].epoch, n);
    epochs_seen++;
    return true;
}

static void stops_early(void **state)
{
    (void)state;
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    plan p = {.kind = ADAM, .epochs = 500, .seed = 1, .shuffle = true, .patience = 3, .on_epoch = see_epoch};
    epochs_seen = 0;
    assert_int_equal(go(&p, &result), TN_OK);
    assert_int_equal(result.end, TN_FIT_EARLY);
    assert_int_equal(result.progress.epoch, epochs_seen);
    assert_int_equal(result.progress.epoch, result.progress.best_epoch + 3);
    assert_int_equal(tn_size(result.history, 0), epochs_seen);
    const double *row = tn_data_f64(result.history) + 7 * (result.progress.best_epoch - 1);
    assert_true(row[4] == result.progress.best && row[6] == 1);
    tn_scope_end(scope);
}

/* Batches of 4, 4 and 2 count by their samples. */
static void means_are_weighted(void **state)
{
    (void)state;
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    float y[10];
    for (int i = 0; i < 10; i++)
        y[i] = (float)i;
    tn_tensor *x = tn_zeros((int64_t[]){10, 1}, 2, TN_FLOAT32), *t = tn_from_array(y, (int64_t[]){10}, 1, TN_FLOAT32);
    tn_dataset *data = tn_tensor_dataset(x, t);
    tn_module *net = tn_linear_module(1, 1, false, TN_FLOAT32);
    tn_optimizer *optimizer = tn_sgd(tn_parameters(net), NULL);
    tn_loader *loader = tn_loader_new(data, &(tn_loader_options){.batch_size = 4});
    tn_fit_options options = {.module = net, .optimizer = optimizer, .train = loader, .epochs = 1, .loss = TN_FIT_MSE,
                              .validation = data, .validation_batch_size = 3};
    assert_int_equal(tn_fit(&options, &result), TN_OK);
    assert_true(fabs(tn_data_f64(result.history)[3] - 28.5) < 1e-12); /* the mean of i^2 */
    assert_true(fabs(tn_data_f64(result.history)[4] - 28.5) < 1e-5);
    tn_score score;
    assert_int_equal(tn_evaluate(net, data, TN_FIT_L1, NULL, NULL, 4, &score), TN_OK);
    assert_true(score.loss == 4.5 && score.samples == 10 && isnan(score.accuracy));
    tn_dataset *moons = tn_make_moons(10, 0.1, 0, TN_FLOAT32);
    tn_module *logits = tn_linear_module(2, 1, true, TN_FLOAT32), *two = tn_linear_module(2, 2, true, TN_FLOAT32);
    assert_int_equal(tn_evaluate(logits, moons, TN_FIT_BCE, NULL, NULL, 4, &score), TN_OK);
    assert_true(fabs(score.loss - log(2)) < 1e-7 && score.accuracy == 0.5);
    assert_int_equal(tn_evaluate(two, moons, TN_FIT_CROSS_ENTROPY, NULL, NULL, 4, &score), TN_OK);
    assert_true(fabs(score.loss - log(2)) < 1e-7 && score.accuracy == 0.5);
    tn_scope_end(scope);
}

/* Trains a linear classifier of moons; the history's last row. */
static const double *trained(tn_fit_options options, int64_t outputs)
{
    tn_fit_result result;
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 4);
    options.module = tn_linear_module(2, outputs, true, TN_FLOAT32);
    options.validation = tn_make_moons(40, 0.1, 0, TN_FLOAT32);
    tn_init_torch(options.module, &g, true);
    options.optimizer = tn_sgd(tn_parameters(options.module), &(tn_sgd_options){.lr = 0.1});
    options.train = tn_loader_new(options.validation, &(tn_loader_options){.batch_size = 16});
    options.epochs = 3;
    if (tn_fit(&options, &result))
        fail_msg("%s", tn_error_message());
    return tn_data_f64(result.history) + 14;
}

/* A loss as a module trains and scores as the kind of that name, labels being classes [n]. */
static void loss_modules(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const struct {
        tn_fit_loss kind;
        tn_module *module;
        int64_t outputs;
    } cases[] = {{TN_FIT_BCE, tn_bce_with_logits_module(NULL, NULL, TN_MEAN), 1},
                 {TN_FIT_CROSS_ENTROPY, tn_cross_entropy_module(NULL), 2},
                 {TN_FIT_MSE, tn_mse_loss_module(TN_MEAN), 1},
                 {TN_FIT_L1, tn_l1_loss_module(TN_MEAN), 1},
                 {TN_FIT_SMOOTH_L1, tn_smooth_l1_loss_module(1, TN_MEAN), 1}};
    for (int i = 0; i < 5; i++) {
        const double *one = trained((tn_fit_options){.loss = cases[i].kind}, cases[i].outputs);
        const double *two = trained((tn_fit_options){.loss_module = cases[i].module}, cases[i].outputs);
        for (int k = 0; k < 7; k++)
            if (!(one[k] == two[k] || (isnan(one[k]) && isnan(two[k]))))
                fail_msg("%s, column %d: %g with the module, %g with its kind", tn_module_name(cases[i].module), k,
                         two[k], one[k]);
        assert_true(isnan(one[5]) == (i > 1));
    }
    tn_score score;
    tn_dataset *moons = tn_make_moons(10, 0.1, 0, TN_FLOAT32);
    tn_module *net = tn_linear_module(2, 1, true, TN_FLOAT32);
    assert_int_equal(tn_evaluate(net, moons, 0, tn_module_loss, cases[0].module, 4, &score), TN_OK);
    assert_true(fabs(score.loss - log(2)) < 1e-7 && score.accuracy == 0.5);
    assert_int_equal(tn_evaluate(net, moons, 0, tn_module_loss, net, 4, &score), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "forward_loss: Linear is no loss");
    const tn_fit_options both = {.module = net, .optimizer = tn_sgd(tn_parameters(net), NULL), .epochs = 1,
                                 .train = tn_loader_new(moons, NULL), .loss_module = cases[0].module,
                                 .loss_function = tn_module_loss};
    assert_int_equal(tn_fit(&both, NULL), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "fit: there are a loss_module and a loss_function");
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    plan p = {.kind = SGD, .epochs = 0, .seed = 1};
    assert_int_equal(go(&p, NULL), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "fit: epochs is 0, needed 1 or more");
    p.epochs = 1;
    p.folder = "/tmp/tenon-test-none";
    assert_int_equal(go(&p, NULL), TN_ERROR_FILE);
    expect_error(TN_ERROR_FILE, "/tenon-test-none");
    p.folder = folder;
    empty(folder);
    p.resume = true;
    assert_int_equal(go(&p, NULL), TN_ERROR_FILE);
    expect_error(TN_ERROR_FILE, "last.safetensors");
    assert_int_equal(tn_fit(NULL, NULL), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_fit(&(tn_fit_options){.epochs = 1}, NULL), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(not_finite), test(stops_early), test(means_are_weighted),
                                       test(loss_modules), test(refusals)};
    return cmocka_run_group_tests(tests, begin, end);
}
