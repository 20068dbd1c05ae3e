/* See input_file.h. What looks like nothing goes by its name, so that its reader says what is wrong with it. */
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/extend.h>
#include <tenon/file.h>
#include <unistd.h>

const char *const file_kind_words[] = {
    [FILE_CSV] = "csv", [FILE_NPY] = "npy", [FILE_SAFETENSORS] = "safetensors", NULL};

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), n = strlen(end);
    return length > n && strcmp(path + length - n, end) == 0;
}

static bool write_all(int to, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(to, data, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The copy has no name in a folder any more, only that of its descriptor. */
static void copy_stream(input_file *file, int from, const char *function)
{
    char name[] = "/tmp/tenon-XXXXXX", buffer[65536];
    ssize_t n = 0;
    file->copy = mkstemp(name);
    bool done = file->copy >= 0 && unlink(name) == 0;
    while (done && (n = read(from, buffer, sizeof buffer)) != 0)
        done = n > 0 ? write_all(file->copy, buffer, (size_t)n) : errno == EINTR;
    if (!done)
        TN_FAIL(TN_ERROR_FILE, function, "copying '%s': %s", file->name, strerror(errno));
    snprintf(file->path, sizeof file->path, "/dev/fd/%d", file->copy);
}

static enum file_kind kind_of(const input_file *file, const char *function)
{
    unsigned char start[9] = {0};
    tn_file opened;
    if (tn_file_open(&opened, input_file_path(file), function))
        return FILE_CSV;
    if (opened.size >= (int64_t)sizeof start)
        tn_file_read_exact(&opened, start, sizeof start, 0);
    tn_file_close(&opened);
    if (memcmp(start, "\x93NUMPY", 6) == 0)
        return FILE_NPY;
    if (start[8] == '{' && start[5] == 0 && start[6] == 0 && start[7] == 0) /* behind a header's length below 2^40 */
        return FILE_SAFETENSORS;
    return ends_in(file->name, ".npy") ? FILE_NPY : ends_in(file->name, ".safetensors") ? FILE_SAFETENSORS : FILE_CSV;
}

void input_file_open(input_file *file, const char *operand, const char *function)
{
    struct stat info;
    *file = (input_file){.name = operand, .copy = -1};
    if (strcmp(operand, "-") == 0 || strcmp(operand, "/dev/stdin") == 0) {
        file->name = "standard input";
        copy_stream(file, STDIN_FILENO, function);
    } else if (stat(operand, &info) == 0 && S_ISFIFO(info.st_mode)) {
        const int from = open(operand, O_RDONLY);
        copy_stream(file, from, function);
        close(from);
    }
    file->kind = kind_of(file, function);
}

const char *input_file_path(const input_file *file)
{
    return file->path[0] ? file->path : file->name;
}

static void name_the_file(const input_file *file)
{
    tn_error pending;
    char text[2 * TN_ERROR_MESSAGE_SIZE];
    tn_error_push(&pending);
    const char *at = file->path[0] ? strstr(pending.message, file->path) : NULL;
    if (at) {
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - pending.message), pending.message, file->name,
                 at + strlen(file->path));
        text[TN_ERROR_MESSAGE_SIZE - 1] = '\0';
        strcpy(pending.message, text);
    }
    tn_error_pop(&pending);
}

void input_file_close(input_file *file)
{
    name_the_file(file);
    if (file->copy >= 0)
        close(file->copy);
    file->copy = -1;
}
