/* See train_run.h. */
#include "train_run.h"

#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "run_data.h"
#include "train_optimizer.h"

/* What the net is to say, by the labels. */
static void choose_task(train_run *it, const train_options *asked, tn_dataset *all)
{
    model *m = &it->model;
    m->dtype = dtype_of_word(asked->dtype);
    m->shape = asked->net;
    m->shape.inputs = tn_size(tn_dataset_x(all), 1);
    m->shape.outputs = 1;
    if (data_kind(&asked->data) == DATA_FILE)
        m->label = asked->data.label ? asked->data.label : "-1";
    if (asked->data.regression) {
        m->task = TASK_REGRESSION;
        return;
    }
    m->classes = data_classes(all);
    if (m->classes < 2 && !tn_error_code())
        TN_FAIL(TN_ERROR_DATA, "train", "'%s' has labels of one class alone, needed two or more, or --regression",
                asked->data.name);
    m->task = m->classes == 2 ? TASK_BINARY : TASK_CLASSES;
    if (m->task == TASK_CLASSES)
        m->shape.outputs = m->classes;
}

static void standardise(train_run *it)
{
    model *m = &it->model;
    tn_standardise_fit(tn_dataset_x(it->train), &m->mean, &m->scale);
    if (m->task == TASK_REGRESSION)
        tn_standardise_fit(tn_dataset_y(it->train), &m->y_mean, &m->y_scale);
}

static void make_data(train_run *it, const train_options *asked)
{
    tn_dataset *all = data_load(&asked->data, dtype_of_word(asked->dtype), NULL, &it->file);
    if (!all) {
        if (asked->resume && it->file.copy >= 0) {
            tn_error_clear();
            TN_FAIL(TN_ERROR_DATA, "resume",
                    "the run in '%s' was begun on '%s', which cannot be read again: needed the same on it once more",
                    asked->resume, it->file.name);
        }
        return;
    }
    choose_task(it, asked, all);
    if (!model_names_of(&it->model, all))
        TN_FAIL(TN_ERROR_MEMORY, "train", "no memory for names");
    if (data_kind(&asked->data) == DATA_FILE) {
        it->sums[0] = data_sum(tn_dataset_x(all), NULL, 0);
        it->sums[1] = data_sum(tn_dataset_y(all), it->model.class_names, it->model.classes);
    }
    it->train = all;
    if (asked->validation > 0 && !tn_error_code() &&
        tn_train_test_split(all, asked->validation, (uint64_t)asked->data.seed, &it->train, &it->validation))
        tn_error_context("--validation");
    if (tn_error_code())
        return;
    if (!asked->raw && data_kind(&asked->data) == DATA_FILE)
        standardise(it);
    it->train = model_dataset(&it->model, it->train);
    if (it->validation)
        it->validation = model_dataset(&it->model, it->validation);
}

/* The size of a batch is part of the record of the run. */
static void make_loader(train_run *it, train_options *asked)
{
    int64_t n = tn_dataset_size(it->train), size = asked->batch_size;
    if (size > n)
        TN_FAIL(TN_ERROR_ARGUMENT, "--batch-size",
                "found %" PRId64 ", needed at most the %" PRId64 " samples to train on", size, n);
    if (size == 0)
        asked->batch_size = size = asked->optimizer == OPTIMIZER_LBFGS || n < 32 ? n : 32;
    it->loader = tn_loader_new(it->train, &(tn_loader_options){.batch_size = size,
                                                               .shuffle = true,
                                                               .seed = (uint64_t)asked->data.seed});
}

int train_run_make(train_run *it, train_options *asked)
{
    tn_torch_generator generator;
    *it = (train_run){.file = {.copy = -1}};
    if (asked->epochs < 1)
        TN_FAIL(TN_ERROR_ARGUMENT, "--epochs", "found %" PRId64 ", needed 1 or more", asked->epochs);
    if (asked->threads)
        tn_set_num_threads((int)asked->threads);
    make_data(it, asked);
    if (tn_error_code())
        return it->file.misused ? EXIT_MISUSED : EXIT_FAILED;
    it->model.net = net_build(&it->model.shape, it->model.dtype);
    tn_torch_manual_seed(&generator, (uint64_t)asked->data.seed);
    tn_init_torch(it->model.net, &generator, true);
    if (!train_optimizer(asked, it->model.net, &it->optimizer, &it->schedule))
        return EXIT_MISUSED;
    make_loader(it, asked);
    return tn_error_code() ? EXIT_FAILED : EXIT_DONE;
}

void train_run_free(train_run *it)
{
    model_free(&it->model);
    input_file_close(&it->file);
}
