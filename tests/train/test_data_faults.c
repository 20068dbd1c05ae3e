/* Every allocation failing in turn over files, datasets, loaders, metrics: as in test_faults.c. */
#include "faults.h"

/* Files */

static bool save_weights(world *w)
{
    return tn_save(w->net, "/run/model.safetensors") == TN_OK;
}

static bool load_weights(world *w)
{
    return tn_load(w->net, "/run/model.safetensors") == TN_OK;
}

static bool save_checkpoint(world *w)
{
    tn_stream stream;
    const tn_checkpoint all = all_of(w, &stream);
    return tn_checkpoint_save("/run/last.safetensors", &all) == TN_OK;
}

static bool load_checkpoint(world *w)
{
    tn_stream stream;
    const tn_checkpoint all = all_of(w, &stream);
    return tn_checkpoint_load("/run/last.safetensors", &all) == TN_OK;
}

static bool save_array(world *w)
{
    return tn_save_npy(tn_dataset_x(w->data), "/run/x.npy") == TN_OK;
}

static bool load_array(world *w)
{
    (void)w;
    return tn_load_npy("/run/x.npy") != NULL;
}

static bool save_arrays(world *w)
{
    const tn_named_tensor both[] = {{"y", tn_dataset_y(w->data)}, {"x", tn_dataset_x(w->data)}};
    const tn_metadata metadata = {"made", "here"};
    return tn_save_safetensors("/run/data.safetensors", both, 2,
                               &(tn_safetensors_options){.metadata = &metadata, .n_metadata = 1, .sum = true}) == TN_OK;
}

static bool load_arrays(world *w)
{
    (void)w;
    return tn_load_safetensors("/run/data.safetensors", &(tn_safetensors_options){.sum = true}) != NULL;
}

static bool load_words(world *w)
{
    (void)w;
    return tn_load_csv("/run/words.csv", &(tn_csv_options){.label = "kind"}) != NULL;
}

static bool load_numbers(world *w)
{
    (void)w;
    return tn_load_csv("/run/words.csv", &(tn_csv_options){.header = TN_CSV_NO_HEADER, .dtype = TN_FLOAT64}) == NULL &&
           tn_error_code() != TN_ERROR_MEMORY && (tn_error_clear(), true) &&
           tn_load_csv("/run/numbers.csv", &(tn_csv_options){.label = "-1", .target = TN_CSV_NUMBERS}) != NULL;
}

/* Steps on the way, other files in the folder. */
static void with_files(world *w)
{
    static const char words[] = "a,b,kind\n1,2,dog\n3,4,cat\n5,6,\"a \"\"bird\"\"\"\n", numbers[] = "1,2,3\n4,5,6\n";
    tn_scope scope = tn_scope_begin();
    w->schedule = make_schedule(6, w->optimizer);
    tn_retain(w->schedule);
    save_weights(w);
    save_checkpoint(w);
    save_array(w);
    save_arrays(w);
    memory_file_put("/run/words.csv", words, sizeof words - 1);
    memory_file_put("/run/numbers.csv", numbers, sizeof numbers - 1);
    if (w->optimizer && strcmp(tn_optimizer_name(w->optimizer), "lbfgs") == 0)
        tn_step_closure(w->optimizer, closure, w);
    else
        tn_step(w->optimizer);
    tn_schedule_step(w->schedule);
    tn_batch batch;
    tn_loader_next(w->loader, &batch);
    tn_torch_next_uint32(&w->dropout);
    w->progress.step++;
    tn_scope_end(scope);
    tn_adopt(w->schedule);
    assert_int_equal(tn_error_code(), TN_OK);
}

static const piece files[] = {
    {"save", SGD, with_files, save_weights, false, 0},
    {"load", SGD, with_files, load_weights, false, 0},
    {"checkpoint_save of sgd", SGD, with_files, save_checkpoint, false, 0},
    {"checkpoint_save of adam", ADAM, with_files, save_checkpoint, false, 0},
    {"checkpoint_save of rmsprop", CENTERED, with_files, save_checkpoint, false, 0},
    {"checkpoint_save of lbfgs", LBFGS, with_files, save_checkpoint, false, 0},
    {"checkpoint_load of sgd", SGD, with_files, load_checkpoint, false, 0},
    {"checkpoint_load of adam", ADAM, with_files, load_checkpoint, false, 0},
    {"checkpoint_load of rmsprop", CENTERED, with_files, load_checkpoint, false, 0},
    {"checkpoint_load of lbfgs", LBFGS, with_files, load_checkpoint, false, 0},
    {"save_npy", SGD, with_files, save_array, false, 0},
    {"load_npy", SGD, with_files, load_array, false, 0},
    {"save_safetensors", SGD, with_files, save_arrays, false, 0},
    {"load_safetensors", SGD, with_files, load_arrays, false, 0},
    {"load_csv, words", SGD, with_files, load_words, false, 0},
    {"load_csv, numbers", SGD, with_files, load_numbers, false, 0},
};

static void files_without_memory(void **state)
{
    (void)state;
    every_allocation(files, sizeof files / sizeof *files);
}

/* Data and judging */

static bool split(world *w)
{
    tn_dataset *parts[] = {NULL, NULL};
    const bool done = tn_random_split(w->data, (int64_t[]){7, 3}, 2, &w->dropout, parts) == TN_OK;
    return done == (parts[0] && parts[1]) && done;
}

static bool split_to_test(world *w)
{
    tn_dataset *train = NULL, *held_out = NULL;
    const bool done = tn_train_test_split(w->data, 0.3, 1, &train, &held_out) == TN_OK;
    return done == (train && held_out) && done;
}

static bool transform(world *w)
{
    tn_tensor *mean = NULL, *scale = NULL;
    tn_standardise_fit(tn_dataset_x(w->data), &mean, &scale);
    return tn_standardise(tn_dataset_x(w->data), mean, scale) && tn_one_hot(tn_dataset_y(w->data), -1, TN_FLOAT32);
}

static bool make_loaders(world *w)
{
    tn_tensor *weights = tn_ones((int64_t[]){10}, 1, TN_FLOAT64);
    return tn_loader_new(w->data, NULL) &&
           tn_loader_new(w->data, &(tn_loader_options){.batch_size = 3, .shuffle = true}) &&
           tn_loader_new(w->data, &(tn_loader_options){.weights = weights, .draws = 4}) &&
           tn_loader_new(w->data, &(tn_loader_options){.batch_size = 3, .workers = 2});
}

/* The loader stands at the beginning of an epoch, which a failed call may begin. */
static bool next_batch(world *w)
{
    tn_batch batch;
    return tn_loader_next(w->loader, &batch) && batch.index == 0 && tn_size(batch.x, 0) == 4;
}

static bool evaluate(world *w)
{
    tn_score score;
    return tn_evaluate(w->net, w->data, TN_FIT_BCE, NULL, NULL, 4, &score) == TN_OK && score.samples == 10;
}

static bool judge(world *w)
{
    tn_tensor *logits = tn_forward(w->net, tn_dataset_x(w->data)), *y = tn_dataset_y(w->data);
    tn_class_score score;
    tn_gap gap;
    tn_tensor *confusion = tn_confusion_matrix(logits, y);
    return confusion && tn_accuracy(logits, y) >= 0 && tn_binary_accuracy(logits, y) >= 0 &&
           tn_roc_auc(logits, y) >= 0 && tn_class_score_of(confusion, 1, &score) == TN_OK &&
           tn_measure_gap(logits, tn_to(logits, TN_FLOAT64), &gap) == TN_OK;
}

static int write_nowhere(void *context, const char *text, size_t bytes)
{
    (void)context, (void)text, (void)bytes;
    return 0;
}

static bool summarise(world *w)
{
    return tn_summary_write(w->net, (int64_t[]){1, 2}, 2, TN_FLOAT32, write_nowhere, NULL) == TN_OK;
}

static const piece data[] = {
    {"random_split", SGD, NULL, split, false, 0},
    {"train_test_split", SGD, NULL, split_to_test, false, 0},
    {"standardise, one_hot", SGD, NULL, transform, false, 0},
    {"loader_new", SGD, NULL, make_loaders, false, 0},
    {"loader_next", SGD, NULL, next_batch, true, 0},
    {"evaluate", SGD, NULL, evaluate, false, 0},
    {"metrics", SGD, NULL, judge, false, 0},
    {"summary", SGD, NULL, summarise, false, 0},
};

static void data_without_memory(void **state)
{
    (void)state;
    every_allocation(data, sizeof data / sizeof *data);
}

TEST_MAIN(fresh(files_without_memory), fresh(data_without_memory))
