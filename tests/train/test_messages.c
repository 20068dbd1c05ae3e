/* Whose name an error has: the function's that was called, once, whatever it calls itself; here of makers and doers of
 * nn, data and train without memory at every place in turn, and with arguments that something below refuses. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"

static tn_torch_generator generator;
static tn_tensor *x, *y, *labels, *narrow;
static tn_module *net;
static tn_dataset *points;
static tn_list *all;
static tn_optimizer *adam;
static tn_schedule *rate;
static tn_loader *loader;

static void split_at(int64_t n)
{
    tn_dataset *parts[2];
    tn_random_split(points, (int64_t[]){n, 10 - n}, 2, &generator, parts);
}

/* A name and what is called. */
#define CALLS(ROW)                                                                                                     \
    ROW("linear_module", tn_linear_module(2, 3, true, TN_FLOAT64))                                                     \
    ROW("batch_norm1d_module", tn_batch_norm1d_module(3, NULL, TN_FLOAT32))                                            \
    ROW("layer_norm_module", tn_layer_norm_module((int64_t[]){3}, 1, NULL, TN_FLOAT32))                                \
    ROW("embedding_module", tn_embedding_module(3, 2, NULL, TN_FLOAT32))                                               \
    ROW("mlp", tn_mlp((int64_t[]){2, 3, 1}, 3, TN_FLOAT32))                                                            \
    ROW("mlp", tn_mlp((int64_t[]){2, 3, 1}, 3, TN_INT64))                                                              \
    ROW("relu_module", tn_relu_module())                                                                               \
    ROW("dropout_module", tn_dropout_module(0.5, &generator))                                                          \
    ROW("sequential", tn_sequential())                                                                                 \
    ROW("parameters", tn_parameters(net))                                                                              \
    ROW("module_to", tn_module_to(net, TN_FLOAT64))                                                                    \
    ROW("module_to_", tn_module_to_(net, TN_FLOAT64))                                                                  \
    ROW("module_to_device", tn_module_to_device(net, (tn_device){TN_META, 0}))                                         \
    ROW("module_to_device", tn_module_to_device(net, (tn_device){TN_CUDA, 0}))                                         \
    ROW("module_to_empty_", tn_module_to_empty_(net, (tn_device){TN_CUDA, 0}))                                         \
    ROW("init_uniform_", tn_init_uniform_(x, 0, 1, NULL))                                                              \
    ROW("tensor_dataset", tn_tensor_dataset(x, y))                                                                     \
    ROW("make_moons", tn_make_moons(5, 0, 0, TN_FLOAT32))                                                              \
    ROW("make_circles", tn_make_circles(5, 0, 0.5, 0, TN_FLOAT32))                                                     \
    ROW("random_split", split_at(4))                                                                                 \
    ROW("one_hot", tn_one_hot(labels, 2, TN_FLOAT32))                                                                  \
    ROW("one_hot", tn_one_hot(labels, -1, TN_FLOAT32))                                                                 \
    ROW("standardise", tn_standardise(x, narrow, narrow))                                                              \
    ROW("loader_new", tn_loader_new(points, &(tn_loader_options){.weights = x}))                                       \
    ROW("loader_new", tn_loader_new(points, &(tn_loader_options){.shuffle = true, .workers = 2}))                      \
    ROW("sgd", tn_sgd(all, NULL))                                                                                      \
    ROW("lbfgs", tn_lbfgs(all, NULL))                                                                                  \
    ROW("step_lr", tn_step_lr(adam, 1, 0.5))                                                                           \
    ROW("sequential_lr", tn_sequential_lr(&rate, 1, NULL))                                                             \
    ROW("step", tn_step(adam))                                                                                         \
    ROW("binary_accuracy", tn_binary_accuracy(y, y))                                                                   \
    ROW("roc_auc", tn_roc_auc(y, labels))                                                                              \
    ROW("measure_gap", tn_measure_gap(x, x, &(tn_gap){0}))                                                             \
    ROW("loader_new", tn_loader_new(points, &(tn_loader_options){.weights = y}))                                       \
    ROW("loader_next", tn_loader_next(loader, &(tn_batch){0}))                                                         \
    ROW("save", tn_save(net, "/nowhere/x"))                                                                            \
    ROW("checkpoint_save", tn_checkpoint_save("/nowhere/x", &(tn_checkpoint){.module = net, .optimizer = adam}))       \
    ROW("accuracy", tn_accuracy(x, labels))                                                                            \
    ROW("confusion_matrix", tn_confusion_matrix(x, labels))                                                            \
    ROW("summary", tn_summary_write(net, (int64_t[]){1, 2}, 2, TN_FLOAT32, write_nowhere, NULL))                       \
    ROW("summary", tn_summary_write(net, (int64_t[]){-1, 2}, 2, TN_FLOAT32, write_nowhere, NULL))                      \
    ROW("load", tn_load(net, "/nowhere"))                                                                              \
    ROW("checkpoint_load", tn_checkpoint_load("/nowhere", &(tn_checkpoint){.module = net}))

static int write_nowhere(void *context, const char *text, size_t bytes)
{
    (void)context, (void)text, (void)bytes;
    return 0;
}

#define NAME(name, call) name,
static const char *const names[] = {CALLS(NAME)};
#undef NAME

static void run(int which)
{
    int at = 0;
#define RUN(name, call)                                                                                                \
    if (which == at++)                                                                                                 \
        call;
    CALLS(RUN)
#undef RUN
}

static size_t word(const char *text)
{
    size_t n = 0;
    while (islower((unsigned char)text[n]) || isdigit((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

/* "name: what", "Class: what", "name: weight: what" with a parameter's name, or a layer's "0: linear: what". */
static void judge(const char *name)
{
    const char *message = tn_error_message(), *function = tn_error_get()->function;
    const size_t length = strlen(function);
    if (isdigit((unsigned char)message[0]))
        return;
    if ((!isupper((unsigned char)function[0]) && strcmp(function, name) != 0) ||
        strncmp(message, function, length) != 0 || strncmp(message + length, ": ", 2) != 0)
        fail_msg("%s: '%s' says: %s", name, function, message);
    const char *rest = message + length + 2;
    const size_t next = word(rest);
    if (next > 0 && rest[next] == ':' && strncmp(rest, "weight", 6) != 0 && strncmp(rest, "bias", 4) != 0)
        fail_msg("%s: more than one name: %s", name, message);
}

static void each(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        for (int at = 0, hit = 1; hit; at++) {
            tn_scope scope = tn_scope_begin();
            tn_torch_manual_seed(&generator, 1);
            x = tn_ones((int64_t[]){10, 2}, 2, TN_FLOAT32);
            y = tn_zeros((int64_t[]){10}, 1, TN_FLOAT32);
            labels = tn_full((int64_t[]){10}, 1, tn_int(3), TN_INT64);
            narrow = tn_ones((int64_t[]){3}, 1, TN_FLOAT32);
            net = tn_mlp((int64_t[]){2, 3, 1}, 3, TN_FLOAT32);
            points = tn_tensor_dataset(x, y);
            all = tn_parameters(net);
            adam = tn_adam(all, NULL);
            rate = tn_exponential_lr(adam, 0.5);
            loader = tn_loader_new(points, &(tn_loader_options){.batch_size = 4, .shuffle = true});
            tn_backward(tn_mse_loss(tn_forward(net, x), tn_unsqueeze(y, 1), TN_MEAN));
            tn_fail_allocation(at, false);
            run(i);
            hit = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            if (tn_error_code())
                judge(names[i]);
            tn_error_clear();
            tn_scope_end(scope);
        }
}

TEST_MAIN(test(each))
