/* Every writer of the library while each call of the file system fails in turn, and before real folders that will not
 * have the file: the old file stays whole, nothing temporary is left, the message has the path and the reason. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "support/errors.h"
#include "support/memory_files.h"

static tn_module *net;
static tn_optimizer *optimizer;

static tn_status save_weights(const char *path)
{
    return tn_save(net, path);
}

static tn_status save_array(const char *path)
{
    return tn_save_npy(tn_parameter(net, 0), path);
}

static tn_status save_arrays(const char *path)
{
    const tn_named_tensor both[] = {{"w", tn_parameter(net, 0)}, {"b", tn_parameter(net, 1)}};
    return tn_save_safetensors(path, both, 2, &(tn_safetensors_options){.sum = true});
}

static tn_status save_checkpoint(const char *path)
{
    return tn_checkpoint_save(path, &(tn_checkpoint){.module = net, .optimizer = optimizer});
}

static const struct {
    const char *name;
    tn_status (*run)(const char *path);
} writers[] = {{"save", save_weights},
               {"save_npy", save_array},
               {"save_safetensors", save_arrays},
               {"checkpoint_save", save_checkpoint}};

enum { WRITERS = sizeof writers / sizeof *writers, MOST = 1 << 16 };

static const char old[] = "what stood here before";

static void each_call_fails(void **state)
{
    static const struct {
        int number;
        const char *reason;
    } kinds[] = {{EIO, "input or output failed"},
                 {ENOSPC, "no space left on the device"},
                 {EDQUOT, "disk quota used up"},
                 {EACCES, "permission denied"},
                 {EROFS, "read-only"},
                 {EINTR, NULL},
                 {MEMORY_FILES_SHORT, NULL}};
    static char right[MOST];
    (void)state;
    memory_files_begin();
    for (int w = 0; w < WRITERS; w++) {
        size_t right_bytes, bytes;
        assert_int_equal(writers[w].run("/run/file"), TN_OK);
        const char *first = memory_file("/run/file", &right_bytes);
        memcpy(right, first, right_bytes);
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            for (int at = 0;; at++) {
                memory_file_put("/run/file", old, sizeof old);
                memory_files_fault(at, kinds[kind].number, false);
                const tn_status status = writers[w].run("/run/file");
                const char *hit = memory_files_hit(), *content = memory_file("/run/file", &bytes);
                const char *said = tn_error_message();
                const bool harmless = !hit || !kinds[kind].reason;
                const bool late = hit && strcmp(hit, "sync_directory") == 0; /* the new file is in place then */
                memory_files_fault(-1, 0, false);
                if (status != (harmless ? TN_OK : TN_ERROR_FILE) || memory_files_count() != 1 || memory_files_open() ||
                    (harmless || late ? bytes != right_bytes || memcmp(content, right, bytes) != 0
                                      : bytes != sizeof old || memcmp(content, old, bytes) != 0))
                    fail_msg("%s, call %d (%s) failed with %d: %d files, %d open, '%s'", writers[w].name, at,
                             hit ? hit : "none", kinds[kind].number, memory_files_count(), memory_files_open(), said);
                if (!harmless && (!strstr(said, writers[w].name) || !strstr(said, "'/run/file'") ||
                                  !strstr(said, kinds[kind].reason)))
                    fail_msg("%s, call %d (%s): no name, path or reason '%s' in '%s'", writers[w].name, at, hit,
                             kinds[kind].reason, said);
                tn_error_clear();
                if (!hit)
                    break;
            }
        memory_file_remove("/run/file");
    }
    memory_files_end();
}

static char folder[] = "/tmp/tenon-test-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static int entries(void)
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static void put_old(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(old, 1, sizeof old, file);
    fclose(file);
}

static bool has_old(const char *path)
{
    char found[sizeof old + 1];
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(found, 1, sizeof found, file) : 0;
    if (file)
        fclose(file);
    return n == sizeof old && memcmp(found, old, n) == 0;
}

/* Places that no file can be written to, whoever asks: the tests may run as root. */
static void real_places(void **state)
{
    (void)state;
    put_old(path_of("file"));
    assert_int_equal(mkdir(path_of("folder"), 0700), 0);
    const struct {
        const char *path, *reason;
    } places[] = {{path_of("none/file"), "no such file or directory"},
                  {path_of("file/below"), "is not a directory"},
                  {path_of("folder"), "is a directory"},
                  {"/dev/full", "is a device"}};
    for (int w = 0; w < WRITERS; w++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            assert_int_equal(writers[w].run(places[i].path), TN_ERROR_FILE);
            assert_non_null(strstr(tn_error_message(), places[i].path));
            expect_error(TN_ERROR_FILE, places[i].reason);
        }
    assert_true(has_old(path_of("file")));
    assert_int_equal(entries(), 2);
    /* a link is replaced, not what it points to */
    for (int w = 0; w < WRITERS; w++) {
        struct stat info;
        assert_int_equal(symlink(path_of("file"), path_of("link")), 0);
        assert_int_equal(writers[w].run(path_of("link")), TN_OK);
        assert_true(has_old(path_of("file")));
        assert_int_equal(lstat(path_of("link"), &info), 0);
        assert_true(S_ISREG(info.st_mode));
        unlink(path_of("link"));
    }
    unlink(path_of("file"));
    rmdir(path_of("folder"));
    assert_int_equal(entries(), 0);
}

/* A limit of 64 bytes for a file, as a disk that is full at that place. */
static void real_limit(void **state)
{
    (void)state;
    struct rlimit before, small;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, signal_before;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 64;
    sigaction(SIGXFSZ, &ignore, &signal_before);
    for (int w = 0; w < WRITERS; w++) {
        put_old(path_of("file"));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const tn_status status = writers[w].run(path_of("file"));
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, TN_ERROR_FILE);
        assert_non_null(strstr(tn_error_message(), path_of("file")));
        expect_error(TN_ERROR_FILE, "file too large");
        assert_true(has_old(path_of("file")));
        assert_int_equal(entries(), 1);
    }
    sigaction(SIGXFSZ, &signal_before, NULL);
    unlink(path_of("file"));
}

static int begin(void **state)
{
    (void)state;
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 0);
    net = tn_mlp((int64_t[]){2, 16, 1}, 3, TN_FLOAT32);
    tn_init_torch(net, &generator, true);
    optimizer = tn_sgd(tn_parameters(net), NULL);
    return tn_error_code() || !mkdtemp(folder);
}

static int end(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {fresh(each_call_fails), fresh(real_places), fresh(real_limit)};
    return cmocka_run_group_tests(tests, begin, end);
}
