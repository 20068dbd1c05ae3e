/* See run_folder.h. Files are written by tn_file_replace: whole or not at all. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "number_text.h"

static const char function[] = "--out";
static const char checkpoint[] = "last.safetensors", weights[] = "model.safetensors", record[] = "run.json";
static const char *const files[] = {checkpoint, record, "best.safetensors", weights, "history.csv"};

enum { FILES = sizeof files / sizeof *files };

static const char aside[] = ".previous-";

static bool join(char path[PATH_SIZE], const char *folder, const char *before, const char *name)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return snprintf(path, PATH_SIZE, "%.*s/%s%s", (int)length, folder, before, name) < PATH_SIZE;
}

bool run_folder_path(char path[PATH_SIZE], const char *folder, const char *name)
{
    if (join(path, folder, "", name))
        return true;
    TN_FAIL(TN_ERROR_FILE, function, "the path of the folder has %zu bytes, needed at most 4096", strlen(folder));
    return false;
}

static bool is_there(const char *folder, const char *before, const char *name)
{
    char path[PATH_SIZE];
    struct stat info;
    return join(path, folder, before, name) && lstat(path, &info) == 0;
}

bool run_folder_has(const char *folder, const char *name)
{
    return is_there(folder, "", name);
}

/* Moves each file that is there aside, or back; 0, or errno. The checkpoint goes first and comes last, so that a kill
 * half way looks like a folder without one, which tidy mends. */
static int move_files(const char *folder, bool back)
{
    const char *from = back ? aside : "", *to = back ? "" : aside;
    char path[PATH_SIZE], moved[PATH_SIZE];
    int why = 0;
    for (int k = 0; k < FILES; k++) {
        const char *name = files[back ? FILES - 1 - k : k];
        if (is_there(folder, from, name) && join(path, folder, from, name) && join(moved, folder, to, name) &&
            rename(path, moved) != 0)
            why = errno;
    }
    return why;
}

static void remove_files(const char *folder, const char *before)
{
    char path[PATH_SIZE];
    for (int i = 0; i < FILES; i++)
        if (join(path, folder, before, files[i]))
            unlink(path);
}

/* What a run that was killed left: files half written, and the run that it was to take the place of. */
static void tidy(const char *folder)
{
    char path[PATH_SIZE];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        const char *name = entry->d_name;
        const size_t digits = strncmp(name, ".tenon-", 7) == 0 ? strspn(name + 7, "0123456789-") : 0;
        if (digits > 0 && strcmp(name + 7 + digits, ".tmp") == 0 && join(path, folder, "", name))
            unlink(path);
    }
    if (open)
        closedir(open);
    if (!run_folder_has(folder, checkpoint))
        move_files(folder, true);
}

/* One process at a time; the lock goes with the process. */
static void lock(run_folder *it)
{
    it->lock = open(it->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (it->lock < 0)
        TN_FAIL(TN_ERROR_FILE, function, "opening the folder '%s' failed: %s", it->path, strerror(errno));
    if (it->lock >= 0 && flock(it->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        TN_FAIL(TN_ERROR_FILE, function, "'%s' is in use: another process trains in it", it->path);
        close(it->lock); /* so that the end does not touch what is the other's */
        it->lock = -1;
    }
    if (!tn_error_code())
        tidy(it->path);
}

/* Our run.json alone is of a run that was killed before it had a checkpoint, and of no use; another's is another's. */
static bool holds_run(const char *folder)
{
    static const char begin[] = "{\n  \"program\": \"tenon ";
    char path[PATH_SIZE], found[sizeof begin - 1] = "";
    bool holds = false;
    for (int i = 0; i < FILES; i++)
        holds = holds || (files[i] != record && is_there(folder, "", files[i]));
    if (holds || !is_there(folder, "", record) || !join(path, folder, "", record))
        return holds;
    FILE *file = fopen(path, "rb");
    const bool ours = file && fread(found, sizeof found, 1, file) == 1 && memcmp(found, begin, sizeof found) == 0;
    if (file)
        fclose(file);
    return !ours;
}

/* The run that is there gives way; 0, or errno. What an unfinished one had laid aside stays the one that is kept. */
static int lay_aside(const char *folder)
{
    for (int i = 0; i < FILES; i++)
        if (is_there(folder, aside, files[i])) {
            remove_files(folder, "");
            return 0;
        }
    return move_files(folder, false);
}

void run_folder_begin(run_folder *it, const char *path, bool force)
{
    struct stat info;
    if (tn_error_code())
        return;
    *it = (run_folder){.path = path, .lock = -1, .is_made = mkdir(path, 0777) == 0};
    if (!it->is_made && errno != EEXIST)
        TN_FAIL(TN_ERROR_FILE, function, "making the folder '%s' failed: %s", path, strerror(errno));
    else if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        TN_FAIL(TN_ERROR_FILE, function, "'%s' is no folder, needed one, or a name that is free", path);
    else
        lock(it);
    const bool taken = !tn_error_code() && holds_run(path);
    int why = taken && force ? lay_aside(path) : 0;
    if (taken && !force)
        TN_FAIL(TN_ERROR_FILE, function,
                "'%s' holds a run: needed another folder, --resume '%s' to go on, or --force to overwrite it", path,
                path);
    if (why) {
        move_files(path, true);
        TN_FAIL(TN_ERROR_FILE, function, "moving the files of the run in '%s' failed: %s", path, strerror(why));
    }
    it->is_begun = !tn_error_code();
    it->laid_aside = it->is_begun && taken;
}

void run_folder_resume(run_folder *it, const char *path)
{
    if (tn_error_code())
        return;
    *it = (run_folder){.path = path, .lock = -1};
    lock(it);
}

void run_folder_end(run_folder *it)
{
    if (it->lock < 0)
        return;
    if (run_folder_has(it->path, weights))
        remove_files(it->path, aside);
    if (it->is_begun && !run_folder_has(it->path, checkpoint)) {
        remove_files(it->path, "");
        move_files(it->path, true);
        if (it->is_made)
            rmdir(it->path);
    }
    close(it->lock);
    it->lock = -1;
}

char *run_folder_read(const char *folder, size_t *length)
{
    enum { LIMIT = 1 << 20 };
    char path[PATH_SIZE], *text = NULL;
    tn_file file;
    if (!run_folder_path(path, folder, record) || tn_file_open(&file, path, "resume") != TN_OK)
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
