/* What the loop refuses before its first step: an optimizer of other parameters, a run of another loader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "support/errors.h"

typedef struct run {
    tn_module *net;
    tn_optimizer *optimizer;
    tn_fit_options options;
} run;

static tn_tensor *copy_of(const tn_module *net)
{
    tn_list *all = tn_parameters(net);
    tn_tensor *flat[8];
    int n = 0;
    for (; n < tn_list_size(all); n++)
        flat[n] = tn_flatten(tn_detach(tn_list_get(all, n)), 0, -1);
    return tn_cat(flat, n, 0);
}

static void begin(run *r)
{
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 1);
    r->net = tn_mlp((int64_t[]){2, 8, 1}, 3, TN_FLOAT32);
    tn_init_torch(r->net, &generator, true);
    r->optimizer = tn_sgd(tn_parameters(r->net), &(tn_sgd_options){.lr = 0.1});
    r->options = (tn_fit_options){.module = r->net, .optimizer = r->optimizer, .loss = TN_FIT_BCE, .epochs = 2};
    r->options.train = tn_loader_new(tn_make_moons(20, 0.2, 0, TN_FLOAT32), &(tn_loader_options){.batch_size = 5});
}

static void parameters_of_another_net(void **state)
{
    (void)state;
    run r;
    tn_scope scope = tn_scope_begin();
    begin(&r);
    tn_tensor *before = copy_of(r.net);
    tn_module *other = tn_mlp((int64_t[]){2, 8, 1}, 3, TN_FLOAT32);
    r.options.optimizer = tn_sgd(tn_parameters(other), NULL);
    assert_int_equal(tn_fit(&r.options, NULL), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT,
                 "fit: the optimizer holds none of the module's 4 parameters, needed at least one");
    assert_true(tn_equal(copy_of(r.net), before));
    tn_scope_end(scope);
}

/* The first layer frozen; and a loss that learns beside a net that doesn't. */
static void some_parameters(void **state)
{
    (void)state;
    run r;
    tn_scope scope = tn_scope_begin();
    begin(&r);
    tn_tensor *last[] = {tn_named_parameter(r.net, "2.weight"), tn_named_parameter(r.net, "2.bias")};
    r.options.optimizer = tn_sgd(tn_list_of(last, 2), &(tn_sgd_options){.lr = 0.1});
    tn_tensor *first = tn_clone(tn_detach(tn_named_parameter(r.net, "0.weight"))), *before = copy_of(r.net);
    assert_int_equal(tn_fit(&r.options, NULL), TN_OK);
    assert_true(tn_equal(tn_named_parameter(r.net, "0.weight"), first));
    assert_false(tn_equal(copy_of(r.net), before));
    tn_scope_end(scope);
}

static bool stop_at_six(const tn_fit_step *step, void *context)
{
    (void)context;
    return step->step < 6;
}

static char folder[] = "/tmp/tenon-fit-checks-XXXXXX";

/* Four batches an epoch, each of these. */
static void another_loader(void **state)
{
    (void)state;
    static const struct {
        tn_loader_options options;
        int64_t samples;
        const char *message;
    } cases[] = {
        {{.batch_size = 30, .shuffle = true}, 100, "is of a loader with batch_size 32, this one has 30"},
        {{.batch_size = 32}, 100, "is of a loader with shuffle 1, this one has 0"},
        {{.batch_size = 32, .shuffle = true}, 98, "is of a loader with samples 100, this one has 98"},
        {{.batch_size = 32, .shuffle = true, .drop_last = true}, 100, "with drop_last 0, this one has 1"},
        {{.batch_size = 32, .shuffle = true, .seed = 7, .workers = 2}, 100, NULL},
    };
    run r;
    char path[96];
    tn_scope scope = tn_scope_begin();
    begin(&r);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/last.safetensors", folder);
    r.options.folder = folder;
    r.options.on_step = stop_at_six;
    r.options.train = tn_loader_new(tn_make_moons(100, 0.2, 0, TN_FLOAT32),
                                    &(tn_loader_options){.batch_size = 32, .shuffle = true});
    assert_int_equal(tn_fit(&r.options, NULL), TN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&r);
        r.options.resume = path;
        r.options.train = tn_loader_new(tn_make_moons(cases[i].samples, 0.2, 0, TN_FLOAT32), &cases[i].options);
        tn_tensor *before = copy_of(r.net);
        tn_status status = tn_fit(&r.options, NULL);
        if (cases[i].message)
            expect_error(TN_ERROR_ARGUMENT, cases[i].message);
        else
            assert_int_equal(status, TN_OK);
        assert_int_equal(tn_equal(copy_of(r.net), before), cases[i].message != NULL);
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/best.safetensors", folder);
    unlink(path);
    rmdir(folder);
    tn_scope_end(scope);
}

/* A part that is in eval mode stays so, through training and through evaluation. */
static void frozen_part(void **state)
{
    (void)state;
    run r;
    tn_scope scope = tn_scope_begin();
    begin(&r);
    r.options.validation = tn_make_moons(20, 0.2, 1, TN_FLOAT32);
    tn_module *frozen = tn_child(r.net, 1);
    tn_module_eval(frozen);
    assert_int_equal(tn_fit(&r.options, NULL), TN_OK);
    assert_true(tn_module_is_training(r.net) && tn_module_is_training(tn_child(r.net, 0)));
    assert_false(tn_module_is_training(frozen));
    tn_module_eval(r.net);
    tn_module_train(frozen, true);
    tn_score score;
    assert_int_equal(tn_evaluate(r.net, r.options.validation, TN_FIT_BCE, NULL, NULL, 0, &score), TN_OK);
    assert_true(tn_module_is_training(frozen) && !tn_module_is_training(r.net));
    assert_int_equal(tn_fit(&r.options, NULL), TN_OK);
    assert_true(tn_module_is_training(r.net) && tn_module_is_training(tn_child(r.net, 0)));
    tn_scope_end(scope);
}

/* The rows of a history, also of one that is a transposed view, and what is none. */
static void history(void **state)
{
    (void)state;
    run r;
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    begin(&r);
    assert_int_equal(tn_fit(&r.options, &result), TN_OK);
    const tn_epoch last = tn_history_epoch(result.history, 1);
    assert_true(last.epoch == 2 && last.step == 8 && last.lr == 0.1 && last.train_loss > 0);
    tn_tensor *view = tn_t(tn_contiguous(tn_t(result.history)));
    assert_true(tn_history_epoch(view, 1).train_loss == last.train_loss);
    assert_int_equal(tn_history_epoch(result.history, 2).epoch, 0);
    expect_error(TN_ERROR_INDEX, "history_epoch: row 2 of a history of 2 epochs");
    tn_history_epoch(tn_t(result.history), 0);
    expect_error(TN_ERROR_SHAPE, "history_epoch: history is [7, 2], needed [epochs, 7]");
    tn_history_epoch(tn_to(result.history, TN_FLOAT32), 0);
    expect_error(TN_ERROR_DTYPE, "float32");
    tn_scope_end(scope);
}

TEST_MAIN(test(frozen_part), test(history), test(parameters_of_another_net), test(some_parameters),
          test(another_loader))
