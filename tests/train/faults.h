/* What the tests of failing allocations share: a small training in a scope, a picture of all its bytes, and the loop
 * that lets allocation after allocation fail under a piece of work. */
#ifndef TENON_TESTS_TRAIN_FAULTS_H
#define TENON_TESTS_TRAIN_FAULTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/memory_files.h"

enum { SGD, ADAM, ADAMW, RMSPROP, CENTERED, LBFGS, WOLFE, KINDS };

/* What a training has; all of it but the net may be missing. */
typedef struct world {
    tn_dataset *data;
    tn_module *net, *extra;
    tn_list *parameters;
    tn_optimizer *optimizer;
    tn_schedule *schedule;
    tn_loader *loader;
    tn_torch_generator dropout;
    tn_progress progress;
    tn_tensor *history;
    int number;
} world;

typedef struct piece {
    const char *name;
    int kind; /* of the optimizer */
    void (*prepare)(world *w);
    bool (*run)(world *w);
    bool forgets; /* a failure may change the state: the header says how */
    int number;   /* of the schedule */
} piece;

static tn_optimizer *make_optimizer(int kind, tn_list *parameters)
{
    switch (kind) {
    case SGD:
        return tn_sgd(parameters, &(tn_sgd_options){.lr = 0.1, .momentum = 0.9, .nesterov = true});
    case ADAM:
        return tn_adam(parameters, &(tn_adam_options){.lr = 0.1, .amsgrad = true});
    case ADAMW:
        return tn_adamw(parameters, NULL);
    case RMSPROP:
        return tn_rmsprop(parameters, NULL);
    case CENTERED:
        return tn_rmsprop(parameters, &(tn_rmsprop_options){.centered = true, .momentum = 0.5});
    default:
        return tn_lbfgs(parameters, &(tn_lbfgs_options){.max_iter = 3, .strong_wolfe = kind == WOLFE});
    }
}

static inline tn_schedule *make_schedule(int which, tn_optimizer *optimizer)
{
    switch (which) {
    case 0:
        return tn_step_lr(optimizer, 2, 0.5);
    case 1:
        return tn_multi_step_lr(optimizer, (int64_t[]){1, 3}, 2, 0.5);
    case 2:
        return tn_exponential_lr(optimizer, 0.9);
    case 3:
        return tn_cosine_annealing_lr(optimizer, 10, 0.01);
    case 4:
        return tn_linear_lr(optimizer, 0.1, 1, 5);
    case 5:
        return tn_reduce_lr_on_plateau(optimizer, NULL);
    default:
        return tn_sequential_lr(
            (tn_schedule *[]){tn_linear_lr(optimizer, 0.1, 1, 2), tn_exponential_lr(optimizer, 0.9)}, 2,
            (int64_t[]){2});
    }
}

static inline tn_tensor *closure(void *context)
{
    world *w = context;
    tn_zero_grad(w->optimizer);
    tn_tensor *logits = tn_forward(w->net, tn_dataset_x(w->data));
    tn_tensor *labels = tn_unsqueeze(tn_to(tn_dataset_y(w->data), TN_FLOAT32), 1);
    tn_tensor *loss = tn_bce_with_logits(logits, labels, TN_MEAN);
    tn_backward(loss);
    return tn_error_code() ? NULL : loss;
}

static void begin(world *w, int kind, int number)
{
    *w = (world){.number = number, .progress = {.epoch = 1, .step = 2, .best = 0.5}};
    w->data = tn_make_moons(10, 0.2, 0, TN_FLOAT32);
    w->net = tn_mlp((int64_t[]){2, 3, 1}, 3, TN_FLOAT32);
    w->extra = tn_linear_module(2, 2, true, TN_FLOAT32);
    tn_torch_manual_seed(&w->dropout, 3);
    tn_init_torch(w->net, &w->dropout, true);
    w->parameters = tn_parameters(w->net);
    w->optimizer = make_optimizer(kind, w->parameters);
    w->loader = tn_loader_new(w->data, &(tn_loader_options){.batch_size = 4, .shuffle = true, .seed = 3});
    w->history = tn_ones((int64_t[]){2, 2}, 2, TN_FLOAT64);
    tn_scope scope = tn_scope_begin();
    closure(w);
    tn_scope_end(scope);
    assert_int_equal(tn_error_code(), TN_OK);
}

static tn_checkpoint all_of(world *w, tn_stream *stream)
{
    *stream = (tn_stream){.name = "dropout", .torch_generator = &w->dropout};
    return (tn_checkpoint){.module = w->net,
                           .optimizer = w->optimizer,
                           .schedule = w->schedule,
                           .loader = w->loader,
                           .streams = stream,
                           .n_streams = 1,
                           .progress = &w->progress,
                           .history = &w->history};
}

/* All that a call may have changed, as bytes: a checkpoint of the objects, gradients, files. */
typedef struct picture {
    char bytes[1 << 16];
    size_t n;
} picture;

static void put(picture *p, const void *bytes, size_t n)
{
    assert_true(p->n + n <= sizeof p->bytes);
    memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
}

static void take_picture(world *w, picture *p)
{
    tn_stream stream;
    const tn_checkpoint all = all_of(w, &stream);
    const char *path, *bytes;
    size_t n;
    tn_scope scope = tn_scope_begin();
    p->n = 0;
    if (tn_checkpoint_save("/picture", &all))
        fail_msg("%s", tn_error_message());
    for (int i = 0; (bytes = memory_file_at(i, &path, &n)); i++) {
        put(p, path, strlen(path));
        put(p, bytes, n);
    }
    memory_file_remove("/picture");
    for (int64_t i = 0; i < tn_parameter_count(w->net); i++) {
        tn_tensor *grad = tn_grad_of(tn_parameter(w->net, i));
        put(p, grad ? "yes" : "no!", 3);
        if (grad)
            put(p, tn_data(grad), (size_t)tn_numel(grad) * sizeof(float));
    }
    const double lr = tn_optimizer_get(w->optimizer, 0, "lr");
    put(p, &lr, sizeof lr);
    put(p, tn_module_is_training(w->net) ? "t" : "e", 1);
    tn_scope_end(scope);
    assert_int_equal(tn_error_code(), TN_OK);
}

/* The piece in a scope of its own. */
static bool run_piece(const piece *it, world *w)
{
    tn_scope scope = tn_scope_begin();
    const tn_tensor *history = w->history;
    const bool done = it->run(w);
    const tn_status status = tn_error_code();
    if (w->history != history)
        w->history = tn_scope_escape(scope, w->history);
    tn_scope_end(scope);
    return done && status == TN_OK;
}

/* One try in a fresh world; false once the k-th allocation isn't reached. */
static bool try_piece(const piece *it, int64_t k, bool for_good, const picture *right)
{
    static picture before, after;
    world w;
    const int64_t blocks = tn_get_memory_stats().live_blocks;
    tn_scope scope = tn_scope_begin();
    begin(&w, it->kind, it->number);
    if (it->prepare)
        it->prepare(&w);
    take_picture(&w, &before);
    tn_fail_allocation(k, for_good);
    bool done = run_piece(it, &w);
    const bool failed = tn_allocation_failed();
    tn_fail_allocation(-1, false);
    if (done == failed || (failed && tn_error_code() != TN_ERROR_MEMORY))
        fail_msg("%s, allocation %d%s: %s, '%s'", it->name, (int)k, failed ? " failed" : "", done ? "done" : "refused",
                 tn_error_message());
    tn_error_clear();
    take_picture(&w, &after);
    if (failed && !it->forgets && (before.n != after.n || memcmp(before.bytes, after.bytes, after.n) != 0))
        fail_msg("%s, allocation %d failed%s: something changed", it->name, (int)k, for_good ? " for good" : "");
    if (failed && !run_piece(it, &w))
        fail_msg("%s, allocation %d had failed: '%s' afterwards", it->name, (int)k, tn_error_message());
    take_picture(&w, &after);
    if (!it->forgets && (right->n != after.n || memcmp(right->bytes, after.bytes, after.n) != 0))
        fail_msg("%s, allocation %d had failed: another result afterwards", it->name, (int)k);
    tn_scope_end(scope);
    for (const char *path; memory_files_count() > 0;)
        if (memory_file_at(0, &path, &(size_t){0}))
            memory_file_remove(path);
    if (tn_get_memory_stats().live_blocks != blocks || memory_files_open() != 0)
        fail_msg("%s, allocation %d: %d blocks leaked, %d files open", it->name, (int)k,
                 (int)(tn_get_memory_stats().live_blocks - blocks), memory_files_open());
    return failed;
}

static inline void every_allocation(const piece *pieces, size_t n)
{
    static picture right;
    memory_files_begin();
    for (size_t i = 0; i < n; i++) {
        world w;
        tn_scope scope = tn_scope_begin();
        begin(&w, pieces[i].kind, pieces[i].number);
        if (pieces[i].prepare)
            pieces[i].prepare(&w);
        if (!run_piece(&pieces[i], &w))
            fail_msg("%s: '%s'", pieces[i].name, tn_error_message());
        take_picture(&w, &right);
        tn_scope_end(scope);
        memory_files_end();
        memory_files_begin();
        for (int for_good = 0; for_good < 2; for_good++) {
            int64_t k = 0;
            while (try_piece(&pieces[i], k, for_good, &right))
                assert_true(++k < 5000);
        }
    }
    memory_files_end();
}

#endif
