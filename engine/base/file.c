/* Files over a table of operations; replacement that leaves the old or the new content whatever happens.
 *
 * The order is that of Pillai et al., "All file systems are not created equal" (OSDI 2014): write, fsync, close,
 * rename, fsync of the directory. Each step is checked, close too, since network file systems report a full disk there.
 */
#define _FILE_OFFSET_BITS 64
#include <tenon/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

enum { MOST_NAMES = 1000, SHOWN_PATH = 160 };

static int system_open(void *context, const char *path, int flags, uint32_t mode)
{
    (void)context;
    int file = open(path, flags | O_CLOEXEC, (mode_t)mode);
    return file < 0 ? -errno : file;
}

static int64_t system_read(void *context, int file, void *buffer, size_t bytes)
{
    (void)context;
    ssize_t got = read(file, buffer, bytes);
    return got < 0 ? -errno : got;
}

static int64_t system_pread(void *context, int file, void *buffer, size_t bytes, int64_t offset)
{
    (void)context;
    ssize_t got = pread(file, buffer, bytes, (off_t)offset);
    return got < 0 ? -errno : got;
}

static int64_t system_write(void *context, int file, const void *data, size_t bytes)
{
    (void)context;
    ssize_t put = write(file, data, bytes);
    return put < 0 ? -errno : put;
}

static int system_fsync(void *context, int file)
{
    (void)context;
    return fsync(file) < 0 ? -errno : 0;
}

static int system_close(void *context, int file)
{
    (void)context;
    return close(file) < 0 ? -errno : 0;
}

static int fill_info(int failed, const struct stat *from, tn_file_info *info)
{
    if (failed)
        return -errno;
    info->size = from->st_size;
    info->mode = (uint32_t)from->st_mode;
    return 0;
}

static int system_fstat(void *context, int file, tn_file_info *info)
{
    (void)context;
    struct stat found;
    return fill_info(fstat(file, &found), &found, info);
}

static int system_stat(void *context, const char *path, tn_file_info *info)
{
    (void)context;
    struct stat found;
    return fill_info(stat(path, &found), &found, info);
}

static int system_fchmod(void *context, int file, uint32_t mode)
{
    (void)context;
    return fchmod(file, (mode_t)mode) < 0 ? -errno : 0;
}

static int system_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return rename(from, to) < 0 ? -errno : 0;
}

static int system_unlink(void *context, const char *path)
{
    (void)context;
    return unlink(path) < 0 ? -errno : 0;
}

static int system_sync_directory(void *context, const char *path)
{
    (void)context;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    int result = fsync(directory) < 0 ? -errno : 0;
    close(directory);
    return result;
}

#define SYSTEM_OPERATIONS                                                                                              \
    {                                                                                                                  \
        .open = system_open, .read = system_read, .pread = system_pread, .write = system_write, .fsync = system_fsync, \
        .close = system_close, .fstat = system_fstat, .stat = system_stat, .fchmod = system_fchmod,                    \
        .rename = system_rename, .unlink = system_unlink, .sync_directory = system_sync_directory,                     \
    }
static const tn_file_operations system_operations = SYSTEM_OPERATIONS;
static tn_file_operations operations = SYSTEM_OPERATIONS;

static const struct {
    int number;
    const char *text;
} errno_texts[] = {
    {EACCES, "permission denied"},
    {EAGAIN, "not ready"},
    {EBADF, "not an open file"},
    {EBUSY, "in use"},
    {EDQUOT, "disk quota used up"},
    {EEXIST, "it exists already"},
    {EFBIG, "file too large"},
    {EINTR, "interrupted"},
    {EINVAL, "not possible with this file"},
    {EIO, "input or output failed"},
    {EISDIR, "it is a directory"},
    {ELOOP, "too many symbolic links"},
    {EMFILE, "too many files open in this process"},
    {ENAMETOOLONG, "name too long"},
    {ENFILE, "too many files open in the system"},
    {ENODEV, "no such device"},
    {ENOENT, "no such file or directory"},
    {ENOMEM, "the system is out of memory"},
    {ENOSPC, "no space left on the device"},
    {ENOTDIR, "a part of the path is not a directory"},
    {ENXIO, "no such device"},
    {EPERM, "not permitted"},
    {EPIPE, "nobody reads the pipe"},
    {EROFS, "the file system is read-only"},
    {ETXTBSY, "the program is running"},
    {EXDEV, "on another file system"},
};

/* The path for a message: its end if it is long, control characters as '?'. */
static const char *shown(char text[SHOWN_PATH], const char *path)
{
    size_t length = strlen(path), used = 0;
    if (length >= SHOWN_PATH) {
        path += length - (SHOWN_PATH - 4);
        memcpy(text, "...", used = 3);
    }
    for (; *path; path++)
        text[used++] = (unsigned char)*path < ' ' || *path == 127 ? '?' : *path;
    text[used] = '\0';
    return text;
}

/* number: as the operations give it, negative. detail: "" or what more there is to say, from ": " on. */
static tn_status fail(const tn_file *file, const char *operation, int64_t number, const char *detail)
{
    char path[SHOWN_PATH];
    for (size_t i = 0; i < sizeof errno_texts / sizeof *errno_texts; i++)
        if (errno_texts[i].number == -number)
            return TNI_FAIL(TN_ERROR_FILE, file->function, "%s '%s' failed: %s%s", operation, shown(path, file->path),
                            errno_texts[i].text, detail);
    return TNI_FAIL(TN_ERROR_FILE, file->function, "%s '%s' failed: error %lld of the operating system%s", operation,
                    shown(path, file->path), (long long)-number, detail);
}

static int open_file(const char *path, int flags, uint32_t mode)
{
    int handle;
    do
        handle = operations.open(operations.context, path, flags, mode);
    while (handle == -EINTR);
    return handle;
}

/* After EINTR the handle is gone on Linux and may not be closed again; what was written was synced before. */
static int close_handle(tn_file *file)
{
    int result = operations.close(operations.context, file->handle);
    file->handle = -1;
    return result == -EINTR ? 0 : result;
}

static void free_temporary(tn_file *file)
{
    tni_free(file->temporary, file->temporary_bytes);
    file->temporary = NULL;
}

tn_status tn_set_file_operations(const tn_file_operations *new_operations)
{
    if (tni_pending() != TN_OK)
        return tni_pending();
    const tn_file_operations *o = new_operations ? new_operations : &system_operations;
    if (!o->open || !o->read || !o->pread || !o->write || !o->fsync || !o->close || !o->fstat || !o->stat ||
        !o->fchmod || !o->rename || !o->unlink || !o->sync_directory)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "set_file_operations", "a function is NULL, needed all of them");
    operations = *o;
    return TN_OK;
}

tn_file_operations tn_get_file_operations(void)
{
    return operations;
}

/* `caller` is the function of this page, `function` what the user called. */
static tn_status begin(const char *caller, tn_file *file, const char *path, const char *function)
{
    if (file)
        *file = (tn_file){.path = path, .function = function, .handle = -1};
    if (tni_pending() != TN_OK)
        return tni_pending();
    if (!file || !function)
        return TNI_FAIL_NULL(caller, file ? 3 : 1, file ? "function" : "file");
    if (!path)
        return TNI_FAIL(TN_ERROR_NULL, function, "the path is NULL");
    return TN_OK;
}

/* Whether a function of this page that goes on with a file may: it is there and open, and so is the memory. */
static tn_status check(const char *caller, const tn_file *file, const void *memory, const char *name, size_t bytes)
{
    if (tni_pending() != TN_OK)
        return tni_pending();
    if (!file || (!memory && bytes > 0))
        return TNI_FAIL_NULL(caller, file ? 2 : 1, file ? name : "file");
    if (file->handle < 0 || !file->path)
        return TNI_FAIL(TN_ERROR_STATE, file->function ? file->function : caller, "the file is not open");
    return TN_OK;
}

tn_status tn_file_open(tn_file *file, const char *path, const char *function)
{
    tn_status status = begin("file_open", file, path, function);
    if (status != TN_OK)
        return status;
    int handle = open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
    if (handle < 0)
        return fail(file, "opening", handle, "");
    file->handle = handle;
    tn_file_info info;
    int result;
    do
        result = operations.fstat(operations.context, handle, &info);
    while (result == -EINTR);
    if (result >= 0 && S_ISDIR(info.mode))
        result = -EISDIR;
    if (result < 0) {
        close_handle(file);
        return fail(file, "opening", result, "");
    }
    file->size = S_ISREG(info.mode) ? info.size : -1;
    return TN_OK;
}

/* Reads from the stream (offset -1) or from offset on until `bytes` are there or the file ends. */
static tn_status read_all(tn_file *file, void *buffer, size_t bytes, int64_t offset, size_t *got)
{
    *got = 0;
    while (*got < bytes) {
        char *to = (char *)buffer + *got;
        size_t left = bytes - *got;
        int64_t now = offset < 0 ? operations.read(operations.context, file->handle, to, left)
                                 : operations.pread(operations.context, file->handle, to, left, offset + (int64_t)*got);
        if (now == -EINTR)
            continue;
        if (now > 0 && (uint64_t)now > left)
            now = -EIO;
        if (now < 0) {
            char detail[96];
            snprintf(detail, sizeof detail, ": at byte %lld, %zu of %zu bytes read",
                     (long long)(offset < 0 ? file->position : offset) + (long long)*got, *got, bytes);
            return fail(file, "reading", now, detail);
        }
        if (now == 0)
            break;
        *got += (size_t)now;
    }
    return TN_OK;
}

tn_status tn_file_read(tn_file *file, void *buffer, size_t bytes, size_t *got)
{
    if (got)
        *got = 0;
    tn_status status = check("file_read", file, buffer, "buffer", bytes);
    if (status != TN_OK)
        return status;
    if (!got)
        return TNI_FAIL_NULL("file_read", 4, "got");
    status = read_all(file, buffer, bytes, -1, got);
    file->position += (int64_t)*got;
    return status;
}

tn_status tn_file_read_exact(tn_file *file, void *buffer, size_t bytes, int64_t offset)
{
    size_t got;
    int64_t end;
    char path[SHOWN_PATH];
    tn_status status = check("file_read_exact", file, buffer, "buffer", bytes);
    if (status != TN_OK)
        return status;
    if (offset < 0 || bytes > INT64_MAX || !tni_add_i64(offset, (int64_t)bytes, &end))
        return TNI_FAIL(TN_ERROR_OVERFLOW, file->function, "'%s': no file has %zu bytes at byte %lld",
                        shown(path, file->path), bytes, (long long)offset);
    status = read_all(file, buffer, bytes, offset, &got);
    if (status == TN_OK && got < bytes)
        return TNI_FAIL(TN_ERROR_FILE, file->function, "'%s' ends at byte %lld, needed %zu bytes at byte %lld",
                        shown(path, file->path), (long long)(offset + (int64_t)got), bytes, (long long)offset);
    return status;
}

/* The length of the directory's part of path, with the slash. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Makes file->temporary, a file that was not there. mode -1: as the umask has it. */
static tn_status open_temporary(tn_file *file, int64_t mode)
{
    size_t directory = directory_length(file->path);
    file->temporary_bytes = directory + 64;
    file->temporary = tni_alloc(file->temporary_bytes);
    if (!file->temporary)
        return TNI_FAIL_MEMORY(file->function, file->temporary_bytes);
    memcpy(file->temporary, file->path, directory);
    int handle = -EEXIST;
    for (int i = 0; i < MOST_NAMES && handle == -EEXIST; i++) {
        snprintf(file->temporary + directory, 64, ".tenon-%ld-%d.tmp", (long)getpid(), i);
        handle = open_file(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode < 0 ? 0666 : 0600);
    }
    if (handle < 0) {
        free_temporary(file);
        return fail(file, "making a new file beside", handle, "");
    }
    file->handle = handle;
    int result = 0;
    do
        if (mode >= 0)
            result = operations.fchmod(operations.context, handle, (uint32_t)mode);
    while (result == -EINTR);
    if (result < 0) {
        tn_file_close(file);
        return fail(file, "setting the permissions of the new file for", result, "");
    }
    return TN_OK;
}

tn_status tn_file_create(tn_file *file, const char *path, const char *function)
{
    tn_status status = begin("file_create", file, path, function);
    if (status != TN_OK)
        return status;
    tn_file_info old;
    int result;
    do
        result = operations.stat(operations.context, path, &old);
    while (result == -EINTR);
    if (result < 0 && result != -ENOENT)
        return fail(file, "looking for", result, "");
    if (result >= 0 && !S_ISREG(old.mode)) {
        char text[SHOWN_PATH];
        return TNI_FAIL(TN_ERROR_FILE, function, "'%s' is %s, needed a regular file or none", shown(text, path),
                        S_ISDIR(old.mode) ? "a directory" : "a device, pipe or socket");
    }
    return open_temporary(file, result < 0 ? -1 : (int64_t)(old.mode & 0777));
}

tn_status tn_file_write(tn_file *file, const void *data, size_t bytes)
{
    tn_status status = check("file_write", file, data, "data", bytes);
    if (status != TN_OK)
        return status;
    size_t done = 0;
    while (done < bytes) {
        int64_t now = operations.write(operations.context, file->handle, (const char *)data + done, bytes - done);
        if (now == -EINTR)
            continue;
        if (now == 0 || (now > 0 && (uint64_t)now > bytes - done))
            now = -EIO;
        if (now < 0) {
            char detail[96];
            snprintf(detail, sizeof detail, ": at byte %lld, %zu of %zu bytes written", (long long)file->position, done,
                     bytes);
            return fail(file, "writing", now, detail);
        }
        done += (size_t)now;
        file->position += now;
    }
    return TN_OK;
}

/* Some file systems cannot sync a directory and say so: their renames are as lasting as they get. */
static tn_status sync_directory_of(tn_file *file)
{
    size_t length = directory_length(file->path);
    file->temporary[length] = '\0';
    const char *directory = length > 0 ? file->temporary : ".";
    int result;
    do
        result = operations.sync_directory(operations.context, directory);
    while (result == -EINTR);
    if (result >= 0 || result == -EINVAL || result == -ENOSYS || result == -ENOTSUP)
        return TN_OK;
    return fail(file, "syncing the directory of", result, ": the new file is in place, but a power loss may undo it");
}

/* The temporary file: complete, synced, closed and renamed. Returns what failed, or NULL. */
static const char *put_in_place(tn_file *file, int *result)
{
    do
        *result = operations.fsync(operations.context, file->handle);
    while (*result == -EINTR);
    if (*result < 0)
        return "syncing the new file for";
    *result = close_handle(file);
    if (*result < 0)
        return "closing the new file for";
    do
        *result = operations.rename(operations.context, file->temporary, file->path);
    while (*result == -EINTR);
    return *result < 0 ? "replacing" : NULL;
}

tn_status tn_file_commit(tn_file *file)
{
    int result;
    if (tni_pending() != TN_OK) {
        tn_file_close(file);
        return tni_pending();
    }
    tn_status status = check("file_commit", file, NULL, NULL, 0);
    if (status != TN_OK)
        return status;
    if (!file->temporary)
        return TNI_FAIL(TN_ERROR_STATE, file->function, "the file is open for reading, needed one open for writing");
    const char *failed = put_in_place(file, &result);
    if (failed) {
        tn_file_close(file);
        return fail(file, failed, result, "");
    }
    status = sync_directory_of(file);
    free_temporary(file);
    return status;
}

void tn_file_close(tn_file *file)
{
    if (!file) {
        TNI_FAIL_NULL("file_close", 1, "file");
        return;
    }
    if (file->handle >= 0)
        close_handle(file);
    if (!file->temporary)
        return;
    int result;
    do
        result = operations.unlink(operations.context, file->temporary);
    while (result == -EINTR);
    free_temporary(file);
}

tn_status tn_file_replace(const char *path, const tn_file_piece *pieces, int count, const char *function)
{
    tn_file file;
    if (tni_pending() != TN_OK)
        return tni_pending();
    if (!function || (!pieces && count > 0))
        return TNI_FAIL_NULL("file_replace", function ? 2 : 4, function ? "pieces" : "function");
    if (count < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "file_replace", "count is %d, needed 0 or more", count);
    for (int i = 0; i < count; i++)
        if (!pieces[i].data && pieces[i].bytes > 0)
            return TNI_FAIL(TN_ERROR_NULL, "file_replace", "the data of piece %d is NULL", i);
    if (tn_file_create(&file, path, function) != TN_OK)
        return tni_pending();
    for (int i = 0; i < count; i++)
        tn_file_write(&file, pieces[i].data, pieces[i].bytes);
    return tn_file_commit(&file);
}
