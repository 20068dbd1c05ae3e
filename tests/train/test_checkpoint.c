/* Checkpoints: every part comes back; every truncation and every flipped bit is refused; what does not fit is refused;
 * every allocation fails once. After each refusal all objects are as they were. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/scratch.h"

/* Everything that a checkpoint holds. */
typedef struct run {
    tn_dataset *data;
    tn_module *net;
    tn_optimizer *optimizer;
    tn_loader *loader;
    tn_torch_generator dropout;
    tn_default_rng noise;
    tn_random_state other;
    tn_progress progress;
    tn_tensor *history;
    tn_stream streams[3];
} run;

enum { ADAM, SGD, KINDS };

static tn_checkpoint all_of(run *r)
{
    return (tn_checkpoint){.module = r->net,
                           .optimizer = r->optimizer,
                           .loader = r->loader,
                           .streams = r->streams,
                           .n_streams = 3,
                           .progress = &r->progress,
                           .history = &r->history};
}

static void begin(run *r, int kind, uint64_t seed)
{
    *r = (run){.progress = {.epoch = 3, .step = 17, .loss_sum = 0.1, .samples = 12, .best = -0.5, .best_epoch = 2}};
    r->data = tn_make_moons(12, 0.2, 0, TN_FLOAT32);
    r->net = tn_sequential();
    tn_sequential_append(r->net, tn_linear_module(2, 3, true, TN_FLOAT32));
    tn_sequential_append(r->net, tn_batch_norm1d_module(3, NULL, TN_FLOAT32));
    tn_sequential_append(r->net, tn_linear_module(3, 1, false, TN_FLOAT32));
    tn_torch_manual_seed(&r->dropout, seed);
    tn_default_rng_seed(&r->noise, seed);
    tn_random_state_seed(&r->other, seed);
    tn_init_torch(r->net, &r->dropout, true);
    r->optimizer = kind == SGD ? tn_sgd(tn_parameters(r->net), &(tn_sgd_options){.lr = 0.1, .momentum = 0.9})
                               : tn_adam(tn_parameters(r->net), &(tn_adam_options){.lr = 0.1, .amsgrad = true});
    r->loader = tn_loader_new(r->data, &(tn_loader_options){.batch_size = 5, .shuffle = true, .seed = seed});
    r->streams[0] = (tn_stream){.name = "dropout", .torch_generator = &r->dropout};
    r->streams[1] = (tn_stream){.name = "noise", .default_rng = &r->noise};
    r->streams[2] = (tn_stream){.name = "other", .random_state = &r->other};
    r->history = tn_full((int64_t[]){3, 2}, 2, tn_float(1.0 + (double)seed), TN_FLOAT64);
    assert_int_equal(tn_error_code(), TN_OK);
}

static void steps(run *r, int n)
{
    for (int i = 0; i < n;) {
        tn_scope scope = tn_scope_begin();
        for (tn_batch b; i < n && tn_loader_next(r->loader, &b); i++) {
            tn_tensor *logits = tn_forward(r->net, b.x);
            tn_tensor *loss = tn_bce_with_logits(logits, tn_unsqueeze(tn_to(b.y, TN_FLOAT32), 1), TN_MEAN);
            tn_zero_grad(r->optimizer);
            tn_backward(loss);
            tn_step(r->optimizer);
            tn_torch_next_uint32(&r->dropout);
            tn_default_rng_next_uint32(&r->noise);
            tn_random_state_next_gauss(&r->other);
            r->progress.step++;
        }
        tn_scope_end(scope);
        assert_int_equal(tn_error_code(), TN_OK);
    }
}

/* The bytes that a checkpoint of it has. */
typedef struct content {
    char *data;
    size_t bytes;
} content;

static content read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    content c = {malloc(1 << 20), 0};
    assert_non_null(file);
    c.bytes = fread(c.data, 1, 1 << 20, file);
    fclose(file);
    return c;
}

static char state_path[64];

static content state_of(run *r)
{
    tn_checkpoint all = all_of(r);
    snprintf(state_path, sizeof state_path, "%s.state", scratch_path);
    assert_int_equal(tn_checkpoint_save(state_path, &all), TN_OK);
    content c = read_file(state_path);
    unlink(state_path);
    return c;
}

static bool same(content a, content b)
{
    return a.bytes == b.bytes && memcmp(a.data, b.data, a.bytes) == 0;
}

static void is_as_before(run *r, content before)
{
    content now = state_of(r);
    if (!same(now, before))
        fail_msg("a refused checkpoint changed something");
    free(now.data);
}

static void comes_back(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int at = 0; at < 8; at++) {
            run one, two;
            tn_scope scope = tn_scope_begin();
            begin(&one, kind, 1);
            begin(&two, kind, 2);
            steps(&one, at);
            steps(&two, 3);
            tn_checkpoint from = all_of(&one), to = all_of(&two);
            assert_int_equal(tn_checkpoint_save(scratch_path, &from), TN_OK);
            assert_int_equal(tn_checkpoint_load(scratch_path, &to), TN_OK);
            content a = state_of(&one), b = state_of(&two);
            assert_true(same(a, b));
            free(a.data);
            free(b.data);
            steps(&one, 5);
            steps(&two, 5);
            a = state_of(&one);
            b = state_of(&two);
            if (!same(a, b))
                fail_msg("optimizer %d, saved after %d steps: five steps later they differ", kind, at);
            free(a.data);
            free(b.data);
            tn_scope_end(scope);
        }
}

/* The weights alone, by either function, and what PyTorch and NumPy see. */
static void weights_alone(void **state)
{
    (void)state;
    run one, two;
    tn_scope scope = tn_scope_begin();
    begin(&one, ADAM, 1);
    steps(&one, 4);
    tn_checkpoint from = all_of(&one);
    for (int way = 0; way < 2; way++) {
        begin(&two, ADAM, 2);
        assert_int_equal(tn_checkpoint_save(scratch_path, &from), TN_OK);
        assert_int_equal(way ? tn_load(two.net, scratch_path)
                             : tn_checkpoint_load(scratch_path, &(tn_checkpoint){.module = two.net}),
                         TN_OK);
        for (int64_t i = 0; i < tn_parameter_count(one.net); i++)
            assert_true(tn_equal(tn_parameter(one.net, i), tn_parameter(two.net, i)));
        assert_true(tn_equal(tn_buffer(one.net, 2), tn_buffer(two.net, 2)));
    }
    tn_safetensors *file = tn_load_safetensors(scratch_path, NULL);
    assert_string_equal(tn_safetensors_metadata_find(file, "format"), "checkpoint");
    assert_string_equal(tn_safetensors_metadata_find(file, "optimizer.options"),
                        "lr beta1 beta2 eps weight_decay amsgrad maximize");
    assert_non_null(tn_safetensors_find(file, "optim.exp_avg.0"));
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

/* The file in memory: a checkpoint is read from there, with what a test did to it. */
static content served;
static tn_file_operations real;

static int serve_open(void *context, const char *path, int flags, uint32_t mode)
{
    (void)context, (void)path, (void)flags, (void)mode;
    return 7;
}

static int64_t serve_pread(void *context, int file, void *buffer, size_t bytes, int64_t offset)
{
    (void)context, (void)file;
    size_t left = offset < (int64_t)served.bytes ? served.bytes - (size_t)offset : 0;
    bytes = bytes < left ? bytes : left;
    memcpy(buffer, served.data + offset, bytes);
    return (int64_t)bytes;
}

static int serve_close(void *context, int file)
{
    (void)context, (void)file;
    return 0;
}

static int serve_fstat(void *context, int file, tn_file_info *info)
{
    (void)context, (void)file;
    *info = (tn_file_info){.size = (int64_t)served.bytes, .mode = S_IFREG};
    return 0;
}

static void serve(content c)
{
    served = c;
    real = tn_get_file_operations();
    tn_file_operations table = real;
    table.open = serve_open;
    table.pread = serve_pread;
    table.close = serve_close;
    table.fstat = serve_fstat;
    tn_set_file_operations(&table);
}

/* A small checkpoint: net, optimizer, progress. Streams are long and all alike. */
static void damage_is_seen(void **state)
{
    (void)state;
    run one;
    tn_scope scope = tn_scope_begin();
    begin(&one, ADAM, 1);
    steps(&one, 4);
    content before = state_of(&one);
    tn_checkpoint few = {.module = one.net, .optimizer = one.optimizer, .progress = &one.progress};
    assert_int_equal(tn_checkpoint_save(scratch_path, &few), TN_OK);
    content good = read_file(scratch_path);
    assert_true(good.bytes < 4096);
    serve(good);
    assert_int_equal(tn_checkpoint_load("memory", &few), TN_OK);
    for (size_t bit = 0; bit < good.bytes * 8; bit++) {
        served.data[bit / 8] ^= (char)(1 << bit % 8);
        if (tn_checkpoint_load("memory", &few) == TN_OK || tn_error_code() == TN_ERROR_MEMORY)
            fail_msg("bit %zu flipped, and: %s", bit, tn_error_message());
        tn_error_clear();
        if (tn_load(one.net, "memory") == TN_OK)
            fail_msg("bit %zu flipped, and tn_load took it", bit);
        tn_error_clear();
        served.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t bytes = 0; bytes < good.bytes; bytes++) {
        served.bytes = bytes;
        if (tn_checkpoint_load("memory", &few) == TN_OK)
            fail_msg("cut after %zu bytes, and it was taken", bytes);
        tn_error_clear();
    }
    tn_set_file_operations(&real);
    is_as_before(&one, before);
    free(before.data);
    free(good.data);
    tn_scope_end(scope);
}

static void refuses(run *r, const tn_checkpoint *checkpoint, tn_status status, const char *part)
{
    content before = state_of(r);
    assert_int_equal(tn_checkpoint_load(scratch_path, checkpoint), status);
    expect_error(status, part);
    is_as_before(r, before);
    free(before.data);
}

static void what_does_not_fit(void **state)
{
    (void)state;
    run one, two;
    tn_scope scope = tn_scope_begin();
    begin(&one, ADAM, 1);
    steps(&one, 4);
    tn_checkpoint from = all_of(&one);
    assert_int_equal(tn_checkpoint_save(scratch_path, &from), TN_OK);

    begin(&two, SGD, 2);
    tn_checkpoint to = all_of(&two);
    refuses(&two, &to, TN_ERROR_ARGUMENT, "holds the state of optimizer adam, needed sgd");
    begin(&two, ADAM, 2);
    two.net = tn_mlp((int64_t[]){2, 3, 1}, 3, TN_FLOAT32);
    to = all_of(&two);
    refuses(&two, &to, TN_ERROR_NAME, "'model.2.bias', which is needed");
    begin(&two, ADAM, 2);
    two.streams[1].name = "elsewhere";
    to = all_of(&two);
    refuses(&two, &to, TN_ERROR_NAME, "has no tensor 'stream.elsewhere.default_rng', which is needed");
    two.streams[1].name = "dropout";
    refuses(&one, &to, TN_ERROR_ARGUMENT, "two streams are named 'dropout'");

    begin(&two, ADAM, 2);
    tn_optimizer_add_group(two.optimizer, tn_parameters(tn_linear_module(2, 2, true, TN_FLOAT32)));
    to = all_of(&two);
    refuses(&two, &to, TN_ERROR_SHAPE, "has tensor 'optim.options' as float64 [1, 7], needed float64 [2, 7]");

    begin(&two, ADAM, 2);
    two.noise = (tn_default_rng){0};
    to = all_of(&two);
    assert_int_equal(tn_checkpoint_save(scratch_path, &to), TN_ERROR_STATE);
    expect_error(TN_ERROR_STATE, "checkpoint_save: stream 'noise'");

    assert_int_equal(tn_save(one.net, scratch_path), TN_OK);
    to = all_of(&one);
    refuses(&one, &to, TN_ERROR_DATA, "is no checkpoint: its metadata have no format");
    const tn_metadata newer[] = {{"format", "checkpoint"}, {"version", "2"}}, none = {"format", "pt"};
    tn_save_safetensors(scratch_path, NULL, 0, &(tn_safetensors_options){.metadata = newer, .n_metadata = 2, .sum = 1});
    refuses(&one, &to, TN_ERROR_DATA, "is a checkpoint of version 2, needed 1");
    tn_save_safetensors(scratch_path, NULL, 0, &(tn_safetensors_options){.metadata = &none, .n_metadata = 1, .sum = 1});
    refuses(&one, &to, TN_ERROR_DATA, "is no checkpoint");
    tn_scope_end(scope);
}

/* A loader that would go on with other batches; three batches an epoch, most of them. */
static void another_loader(void **state)
{
    (void)state;
    run one, two;
    tn_torch_generator global;
    tn_scope scope = tn_scope_begin();
    tn_torch_manual_seed(&global, 1);
    tn_tensor *even = tn_full((int64_t[]){12}, 1, tn_float(1), TN_FLOAT64);
    tn_tensor *other = tn_arange(tn_int(1), tn_int(13), tn_int(1), TN_FLOAT64);
    const struct {
        tn_loader_options options;
        int64_t samples;
        const char *message;
    } cases[] = {
        {{.batch_size = 5, .shuffle = true}, 11, "samples 12, this one has 11"},
        {{.batch_size = 4, .shuffle = true}, 12, "batch_size 5, this one has 4"},
        {{.batch_size = 3, .shuffle = true}, 12, "batch_size 5, this one has 3"},
        {{.batch_size = 5}, 12, "shuffle 1, this one has 0"},
        {{.batch_size = 5, .shuffle = true, .drop_last = true}, 12, "drop_last 0, this one has 1"},
        {{.batch_size = 5, .shuffle = true, .global_generator = &global}, 12, "global_generator 0, this one has 1"},
        {{.batch_size = 5, .weights = even}, 12, "shuffle 1, this one has 0"},
        {{.batch_size = 5, .weights = even, .draws = 13}, 12, "draws 12, this one has 13"},
    };
    begin(&one, SGD, 1);
    steps(&one, 4);
    tn_checkpoint from = all_of(&one);
    assert_int_equal(tn_checkpoint_save(scratch_path, &from), TN_OK);
    tn_loader_state where;
    assert_int_equal(tn_loader_get_state(one.loader, &where), TN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[80];
        begin(&two, SGD, 2);
        two.loader = tn_loader_new(tn_make_moons(cases[i].samples, 0.2, 0, TN_FLOAT32), &cases[i].options);
        const tn_checkpoint to = all_of(&two);
        snprintf(message, sizeof message, "' is of a loader with %s", cases[i].message);
        refuses(&two, &to, TN_ERROR_ARGUMENT, message);
        snprintf(message, sizeof message, "loader_set_state: the state is of a loader with %s", cases[i].message);
        content before = state_of(&two);
        assert_int_equal(tn_loader_set_state(two.loader, &where), TN_ERROR_ARGUMENT);
        expect_error(TN_ERROR_ARGUMENT, message);
        is_as_before(&two, before);
        free(before.data);
    }
    one.loader = tn_loader_new(one.data, &(tn_loader_options){.batch_size = 5, .weights = even});
    from = all_of(&one);
    assert_int_equal(tn_checkpoint_save(scratch_path, &from), TN_OK);
    two.loader = tn_loader_new(one.data, &(tn_loader_options){.batch_size = 5, .weights = other});
    const tn_checkpoint to = all_of(&two);
    refuses(&two, &to, TN_ERROR_ARGUMENT, "' is of a loader with weights of checksum ");
    tn_scope_end(scope);
}

static void without_memory(void **state)
{
    (void)state;
    run one, two;
    tn_scope scope = tn_scope_begin();
    begin(&one, ADAM, 1);
    begin(&two, ADAM, 2);
    steps(&one, 4);
    steps(&two, 2);
    tn_checkpoint from = all_of(&one), to = all_of(&two);
    assert_int_equal(tn_checkpoint_save(scratch_path, &from), TN_OK);
    content good = read_file(scratch_path), before = state_of(&two);
    for (int loading = 0; loading < 2; loading++)
        for (int at = 0, hit = 1; hit; at++) {
            tn_tensor *history = two.history;
            int64_t blocks = tn_get_memory_stats().live_blocks;
            tn_fail_allocation(at, false);
            tn_status status =
                loading ? tn_checkpoint_load(scratch_path, &to) : tn_checkpoint_save(scratch_path, &to);
            hit = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(status, hit ? TN_ERROR_MEMORY : TN_OK);
            EXPECT(status);
            if (!hit)
                break;
            assert_ptr_equal(two.history, history);
            if (tn_get_memory_stats().live_blocks != blocks)
                fail_msg("allocation %d failed, and memory leaked", at);
            content now = read_file(scratch_path);
            assert_true(same(now, loading ? before : good));
            free(now.data);
            is_as_before(&two, before);
        }
    free(good.data);
    free(before.data);
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(comes_back), test(weights_alone), test(damage_is_seen),
                                       test(what_does_not_fit), test(another_loader),
                                       test(without_memory)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
