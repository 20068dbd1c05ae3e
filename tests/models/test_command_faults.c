/* `tenon train` within this process while every call of the file system, and every allocation of the library, fails in
 * turn: exit code 1, a message that names the file or the memory, no temporary file, whole checkpoints only, and a run
 * that goes on from there, or begins anew, ends well. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "support/capture.h"
#include "support/errors.h"
#include "support/memory_files.h"

static char folder[] = "/tmp/tenon-test-XXXXXX"; /* there but empty: files are in memory */
static char said[4096];

static const char *path_of(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Runs it with `more` words behind --out or --resume FOLDER. */
static int train(bool resume, const char *epochs)
{
    char words[12][64] = {"train"}, *argv[13];
    const char *const begin[] = {"moons", "--samples", "20", "--hidden", "2", "--optimizer", "sgd", "--out"};
    int n = 1;
    for (int i = 0; !resume && i < 8; i++)
        strcpy(words[n++], begin[i]);
    if (resume)
        strcpy(words[n++], "--resume");
    strcpy(words[n++], folder);
    snprintf(words[n++], sizeof words[0], "--epochs=%s", epochs);
    snprintf(words[n++], sizeof words[0], "--threads=1");
    for (int i = 0; i < n; i++)
        argv[i] = words[i];
    argv[n] = NULL;
    return run_command(command_train, n, argv, said, sizeof said);
}

static void remove_files(void)
{
    static const char *const names[] = {"run.json", "last.safetensors", "best.safetensors", "model.safetensors",
                                        "history.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        memory_file_remove(path_of(names[i]));
}

/* Each file is one of a run's and whole. */
static void files_are_whole(const char *what, int at)
{
    const char *path, *content;
    size_t bytes;
    for (int i = 0; (content = memory_file_at(i, &path, &bytes)); i++) {
        const char *name = strrchr(path, '/') + 1;
        bool whole = bytes > 0 && content[bytes - 1] == (strcmp(name, "run.json") == 0 ? '\n' : content[bytes - 1]);
        if (strcmp(name, "last.safetensors") == 0 || strcmp(name, "best.safetensors") == 0)
            whole = tn_checkpoint_load(path, &(tn_checkpoint){.module = NULL}) == TN_OK;
        else if (strcmp(name, "model.safetensors") == 0) {
            tn_scope scope = tn_scope_begin();
            whole = tn_load_safetensors(path, NULL) != NULL;
            tn_scope_end(scope);
        } else if (strcmp(name, "history.csv") != 0 && strcmp(name, "run.json") != 0) {
            whole = false;
        }
        if (!whole)
            fail_msg("%s %d failed and left '%s': %s", what, at, path, tn_error_message());
    }
    if (memory_files_open() != 0)
        fail_msg("%s %d failed: %d files are open", what, at, memory_files_open());
}

/* What a user does next: goes on where there is a checkpoint, else begins again. */
static void goes_on(const char *what, int at)
{
    size_t bytes;
    const bool resume = memory_file(path_of("last.safetensors"), &bytes) != NULL;
    if (!resume)
        remove_files();
    if (train(resume, "3") != EXIT_DONE)
        fail_msg("%s %d had failed, and %s: %s", what, at, resume ? "going on" : "beginning again", said);
    remove_files();
}

static void every_file_call(void **state)
{
    static const int kinds[] = {EIO, ENOSPC, EACCES, EINTR, MEMORY_FILES_SHORT};
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int at = 0;; at++) {
            memory_files_fault(at, kinds[kind], false);
            const int code = train(false, "2");
            const char *hit = memory_files_hit();
            memory_files_fault(-1, 0, false);
            const bool harmless = !hit || kind >= 3, tidying = hit && (!strcmp(hit, "close") || !strcmp(hit, "unlink"));
            if (code != (harmless ? EXIT_DONE : EXIT_FAILED) && !(tidying && code == EXIT_DONE))
                fail_msg("call %d (%s) failed with %d: exit code %d, %s", at, hit ? hit : "none", kinds[kind], code,
                         said);
            if (code == EXIT_FAILED && (!strstr(said, folder) || !strstr(said, " failed")))
                fail_msg("call %d (%s) failed with %d: no file or reason in '%s'", at, hit, kinds[kind], said);
            if (hit && strcmp(hit, "unlink") == 0)
                memory_files_end(), memory_files_begin();
            files_are_whole(hit ? hit : "", at);
            goes_on(hit ? hit : "", at);
            if (!hit)
                break;
        }
}

static void every_allocation(void **state)
{
    (void)state;
    for (int64_t k = 0, failed = 1; failed; k += k < 200 ? 1 : 13) {
        const int64_t blocks = tn_get_memory_stats().live_blocks;
        tn_fail_allocation(k, false);
        const int code = train(false, "2");
        failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (code != (failed ? EXIT_FAILED : EXIT_DONE) || (failed && !strstr(said, "no memory")))
            fail_msg("allocation %d%s: exit code %d, '%s'", (int)k, failed ? " failed" : "", code, said);
        if (tn_error_code() || tn_get_memory_stats().live_blocks != blocks)
            fail_msg("allocation %d: %d blocks leaked, '%s'", (int)k, (int)(tn_get_memory_stats().live_blocks - blocks),
                     tn_error_message());
        files_are_whole("allocation", (int)k);
        goes_on("allocation", (int)k);
    }
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    capture_begin();
    memory_files_begin();
    train(false, "1"); /* what is made once is there */
    remove_files();
    return 0;
}

static int end(void **state)
{
    (void)state;
    memory_files_end();
    capture_end();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {fresh(every_file_call), fresh(every_allocation)};
    return cmocka_run_group_tests(tests, begin, end);
}
