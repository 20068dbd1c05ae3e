/* Every allocation failing in turn over what `tenon compare` does: a clean error, nothing leaked, weights unchanged. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

typedef bool (*piece)(tn_module *net, tn_dataset *moons);

static bool build(tn_module *net, tn_dataset *moons)
{
    (void)net;
    (void)moons;
    return tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT64) != NULL;
}

static bool convert(tn_module *net, tn_dataset *moons)
{
    (void)moons;
    return tn_module_to(net, TN_FLOAT32) && tn_module_to(net, TN_FLOAT64);
}

static bool forward(tn_module *net, tn_dataset *moons)
{
    return tn_sigmoid(tn_forward(net, tn_dataset_x(moons))) != NULL;
}

static bool make_moons(tn_module *net, tn_dataset *moons)
{
    (void)net;
    (void)moons;
    return tn_make_moons(200, 0.2, 0, TN_FLOAT32) != NULL;
}

static bool load(tn_module *net, tn_dataset *moons)
{
    (void)net;
    tn_loader *loader = tn_loader_new(moons, &(tn_loader_options){.batch_size = 64, .shuffle = true, .seed = 1});
    int64_t count = 0;
    for (tn_batch b; tn_loader_next(loader, &b);)
        count += tn_size(b.x, 0);
    return count == 200;
}

static bool append_many(tn_module *net, tn_dataset *moons)
{
    (void)net;
    (void)moons;
    tn_module *many = tn_sequential();
    for (int i = 0; i < 20 && !tn_error_code(); i++) {
        int64_t before = tn_child_count(many);
        if (tn_sequential_append(many, tn_linear_module(2, 2, true, TN_FLOAT32))) {
            tn_error saved;
            tn_error_push(&saved);
            if (many)
                assert_int_equal(tn_child_count(many), before);
            tn_error_pop(&saved);
        }
    }
    return tn_child_count(many) == 20;
}

static bool compare(tn_module *net, tn_dataset *moons)
{
    tn_tensor *x = tn_dataset_x(moons);
    tn_tensor *wide = tn_sigmoid(tn_forward(net, x));
    tn_tensor *single = tn_sigmoid(tn_forward(tn_module_to(net, TN_FLOAT32), tn_to(x, TN_FLOAT32)));
    tn_gap gap;
    return tn_measure_gap(single, wide, &gap) == TN_OK && tn_binary_accuracy(wide, tn_dataset_y(moons)) > 0.0 &&
           tn_assert_close(single, wide, &(tn_assert_close_options){.ignore_dtype = true}) == TN_OK;
}

static const struct {
    const char *name;
    piece run;
} pieces[] = {{"mlp", build},       {"module_to", convert},
              {"forward", forward}, {"make_moons", make_moons},
              {"loader", load},     {"sequential_append", append_many},
              {"compare", compare}};

static void copy_weights(tn_module *net, double *to)
{
    for (int64_t i = 0; i < tn_parameter_count(net); i++) {
        tn_tensor *p = tn_parameter(net, i);
        memcpy(to, tn_data_f64(p), (size_t)tn_numel(p) * sizeof *to);
        to += tn_numel(p);
    }
}

static void every_allocation(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(200, 0.2, 0, TN_FLOAT64);
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT64);
    tn_default_rng rng;
    tn_default_rng_seed(&rng, 0);
    tn_init_normal(net, &rng);
    double before[337], after[337];
    copy_weights(net, before);
    int64_t version = tn_version(tn_parameter(net, 0)), held = tn_use_count(tn_dataset_x(moons));
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        bool failed = true;
        for (int64_t k = 0; failed; k++) {
            int64_t live = tn_get_memory_stats().live_blocks;
            tn_scope inner = tn_scope_begin();
            tn_fail_allocation(k, false);
            bool done = pieces[i].run(net, moons);
            failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            if (failed && (done || tn_error_code() != TN_ERROR_MEMORY))
                fail_msg("%s, allocation %d failed: %s, error '%s'", pieces[i].name, (int)k, done ? "done" : "refused",
                         tn_error_message());
            if (!failed && (!done || tn_error_code()))
                fail_msg("%s without a failure: error '%s'", pieces[i].name, tn_error_message());
            if (!failed && k < 2)
                fail_msg("%s allocates only %d times: nothing was tried", pieces[i].name, (int)k);
            tn_error_clear();
            assert_int_equal(tn_scope_end(inner), TN_OK);
            int64_t left = tn_get_memory_stats().live_blocks - live;
            if (left)
                fail_msg("%s, allocation %d: %d blocks leaked", pieces[i].name, (int)k, (int)left);
        }
    }
    copy_weights(net, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(tn_version(tn_parameter(net, 0)), version);
    assert_int_equal(tn_use_count(tn_dataset_x(moons)), held);
    tn_scope_end(scope);
}

/* Initialisations allocate nothing. */
static void init_takes_no_memory(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 16, 1}, 3, TN_FLOAT32);
    tn_default_rng rng;
    tn_torch_generator generator;
    tn_default_rng_seed(&rng, 0);
    tn_torch_manual_seed(&generator, 0);
    int64_t before = tn_get_memory_stats().allocations;
    tn_init_normal(net, &rng);
    tn_init_torch(net, &generator, true);
    assert_int_equal(tn_get_memory_stats().allocations, before);
    tn_scope_end(scope);
}

TEST_MAIN(test(every_allocation), test(init_takes_no_memory))
