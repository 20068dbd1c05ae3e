/* See run_folder.h. Files are written by tn_file_replace: whole or not at all. */
#include "run_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "number_text.h"

static const char function[] = "--out";
static const char *const files[] = {"run.json", "last.safetensors", "best.safetensors", "model.safetensors",
                                    "history.csv"};

bool run_folder_path(char path[PATH_SIZE], const char *folder, const char *name)
{
    if (snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE)
        return true;
    TN_FAIL(TN_ERROR_FILE, function, "the path of the folder has %zu bytes, needed at most 4096", strlen(folder));
    return false;
}

void run_folder_begin(const char *folder, bool force)
{
    char path[PATH_SIZE];
    struct stat info;
    if (tn_error_code())
        return;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        TN_FAIL(TN_ERROR_FILE, function, "making the folder '%s' failed: %s", folder, strerror(errno));
        return;
    }
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        TN_FAIL(TN_ERROR_FILE, function, "'%s' is no folder, needed one, or a name that is free", folder);
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files && !force && !tn_error_code(); i++)
        if (run_folder_path(path, folder, files[i]) && lstat(path, &info) == 0)
            TN_FAIL(TN_ERROR_FILE, function,
                    "'%s' holds a run: needed another folder, --resume '%s' to go on, or --force to overwrite it",
                    folder, folder);
}

void run_folder_clear(const char *folder)
{
    char path[PATH_SIZE];
    for (size_t i = 1; i < sizeof files / sizeof *files && !tn_error_code(); i++)
        if (run_folder_path(path, folder, files[i]) && unlink(path) != 0 && errno != ENOENT)
            TN_FAIL(TN_ERROR_FILE, function, "removing '%s' failed: %s", path, strerror(errno));
}

char *run_folder_read(const char *folder, size_t *length)
{
    enum { LIMIT = 1 << 20 };
    char path[PATH_SIZE], *text = NULL;
    tn_file file;
    if (!run_folder_path(path, folder, "run.json") || tn_file_open(&file, path, "resume") != TN_OK)
        return NULL;
    text = malloc(LIMIT + 1);
    if (!text)
        TN_FAIL(TN_ERROR_MEMORY, "resume", "no memory for run.json");
    else if (tn_file_read(&file, text, LIMIT, length) == TN_OK)
        text[*length] = '\0';
    tn_file_close(&file);
    if (tn_error_code()) {
        free(text);
        return NULL;
    }
    return text;
}

static const char *cell(char buf[NUMBER_SIZE], double value)
{
    return value == value ? number_text(buf, value, false) : "";
}

void run_folder_write_history(const char *folder, const tn_epoch *history, int64_t n)
{
    static const char heading[] = "epoch,step,lr,train_loss,valid_loss,valid_accuracy,best\n";
    char path[PATH_SIZE], number[4][NUMBER_SIZE];
    size_t room = sizeof heading + (size_t)n * (4 * NUMBER_SIZE + 48);
    char *text = malloc(room), *at = text;
    if (!text) {
        TN_FAIL(TN_ERROR_MEMORY, function, "no memory for history.csv");
        return;
    }
    at += sprintf(at, "%s", heading);
    for (int64_t i = 0; i < n; i++) {
        const tn_epoch *e = &history[i];
        at += sprintf(at, "%" PRId64 ",%" PRId64 ",%s,%s,%s,%s,%d\n", e->epoch, e->step, cell(number[0], e->lr),
                      cell(number[1], e->train_loss), cell(number[2], e->valid_loss),
                      cell(number[3], e->valid_accuracy), e->best);
    }
    if (run_folder_path(path, folder, "history.csv"))
        tn_file_replace(path, &(tn_file_piece){text, (size_t)(at - text)}, 1, function);
    free(text);
}
