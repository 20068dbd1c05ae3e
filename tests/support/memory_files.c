/* See memory_files.h. */
#include "memory_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/file.h>

enum { FILES = 32, HANDLES = 16, PATH = 256 };

typedef struct content {
    char path[PATH]; /* "": free, or without a name */
    char *data;
    size_t bytes;
    int holders; /* its name and the handles on it */
} content;

static content files[FILES];
static struct {
    content *file;
    size_t position;
} handles[HANDLES];

static struct {
    int at, what, calls;
    bool for_good;
    const char *hit;
} fault = {.at = -1};

static tn_file_operations before;

/* 0, or what the call is to return. */
static int strike(const char *operation)
{
    const int call = fault.calls++;
    if (fault.at < 0 || (call != fault.at && !(fault.for_good && call > fault.at)))
        return 0;
    fault.hit = operation;
    return fault.what == MEMORY_FILES_SHORT ? fault.what : -fault.what;
}

static content *find(const char *path)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].holders > 0 && strcmp(files[i].path, path) == 0)
            return &files[i];
    return NULL;
}

static void let_go(content *file)
{
    if (--file->holders > 0)
        return;
    free(file->data);
    *file = (content){.holders = 0};
}

static content *create(const char *path)
{
    for (int i = 0; i < FILES && strlen(path) < PATH; i++)
        if (files[i].holders == 0) {
            files[i] = (content){.holders = 1};
            strcpy(files[i].path, path);
            return &files[i];
        }
    return NULL;
}

static int memory_open(void *context, const char *path, int flags, uint32_t mode)
{
    (void)context, (void)mode;
    const int struck = strike("open");
    content *file = find(path);
    int handle = 0;
    while (handle < HANDLES && handles[handle].file)
        handle++;
    if (struck < 0)
        return struck;
    if (handle == HANDLES || (file && (flags & O_EXCL)))
        return file ? -EEXIST : -EMFILE;
    if (!file && !(flags & O_CREAT))
        return -ENOENT;
    if (!file && !(file = create(path)))
        return -ENOSPC;
    file->holders++;
    handles[handle].file = file;
    handles[handle].position = 0;
    return handle;
}

static int64_t memory_pread(void *context, int handle, void *buffer, size_t bytes, int64_t offset)
{
    (void)context;
    const int struck = strike("read");
    const content *file = handles[handle].file;
    const size_t left = offset < (int64_t)file->bytes ? file->bytes - (size_t)offset : 0;
    if (struck < 0)
        return struck;
    bytes = bytes < left ? bytes : left;
    bytes = struck > 0 ? (bytes + 1) / 2 : bytes;
    if (bytes > 0)
        memcpy(buffer, file->data + offset, bytes);
    return (int64_t)bytes;
}

static int64_t memory_read(void *context, int handle, void *buffer, size_t bytes)
{
    const int64_t got = memory_pread(context, handle, buffer, bytes, (int64_t)handles[handle].position);
    handles[handle].position += got > 0 ? (size_t)got : 0;
    return got;
}

static int64_t memory_write(void *context, int handle, const void *data, size_t bytes)
{
    (void)context;
    const int struck = strike("write");
    content *file = handles[handle].file;
    if (struck < 0)
        return struck;
    bytes = struck > 0 ? (bytes + 1) / 2 : bytes;
    char *longer = realloc(file->data, file->bytes + bytes + 1);
    if (!longer)
        return -ENOSPC;
    memcpy(longer + file->bytes, data, bytes);
    file->data = longer;
    file->bytes += bytes;
    return (int64_t)bytes;
}

static int memory_fsync(void *context, int handle)
{
    (void)context, (void)handle;
    const int struck = strike("fsync");
    return struck < 0 ? struck : 0;
}

static int memory_close(void *context, int handle)
{
    (void)context;
    const int struck = strike("close");
    let_go(handles[handle].file);
    handles[handle].file = NULL;
    return struck < 0 ? struck : 0;
}

static int memory_fstat(void *context, int handle, tn_file_info *info)
{
    (void)context;
    const int struck = strike("fstat");
    *info = (tn_file_info){.size = (int64_t)handles[handle].file->bytes, .mode = S_IFREG | 0644};
    return struck < 0 ? struck : 0;
}

static int memory_stat(void *context, const char *path, tn_file_info *info)
{
    (void)context;
    const int struck = strike("stat");
    const content *file = find(path);
    *info = (tn_file_info){.size = file ? (int64_t)file->bytes : 0, .mode = S_IFREG | 0644};
    return struck < 0 ? struck : file ? 0 : -ENOENT;
}

static int memory_fchmod(void *context, int handle, uint32_t mode)
{
    (void)context, (void)handle, (void)mode;
    const int struck = strike("fchmod");
    return struck < 0 ? struck : 0;
}

static int memory_rename(void *context, const char *from, const char *to)
{
    (void)context;
    const int struck = strike("rename");
    content *file = find(from), *old = find(to);
    if (struck < 0)
        return struck;
    if (!file)
        return -ENOENT;
    if (old) {
        old->path[0] = '\0';
        let_go(old);
    }
    strcpy(file->path, to);
    return 0;
}

static int memory_unlink(void *context, const char *path)
{
    (void)context;
    const int struck = strike("unlink");
    if (struck < 0)
        return struck;
    if (!find(path))
        return -ENOENT;
    memory_file_remove(path);
    return 0;
}

static int memory_sync_directory(void *context, const char *path)
{
    (void)context, (void)path;
    const int struck = strike("sync_directory");
    return struck < 0 ? struck : 0;
}

void memory_files_begin(void)
{
    static const tn_file_operations table = {.open = memory_open,
                                             .read = memory_read,
                                             .pread = memory_pread,
                                             .write = memory_write,
                                             .fsync = memory_fsync,
                                             .close = memory_close,
                                             .fstat = memory_fstat,
                                             .stat = memory_stat,
                                             .fchmod = memory_fchmod,
                                             .rename = memory_rename,
                                             .unlink = memory_unlink,
                                             .sync_directory = memory_sync_directory};
    before = tn_get_file_operations();
    tn_set_file_operations(&table);
    memory_files_fault(-1, 0, false);
}

void memory_files_end(void)
{
    for (int i = 0; i < FILES; i++) {
        free(files[i].data);
        files[i] = (content){.holders = 0};
    }
    tn_set_file_operations(&before);
}

void memory_files_fault(int at, int what, bool for_good)
{
    fault.at = at;
    fault.what = what;
    fault.for_good = for_good;
    fault.calls = 0;
    fault.hit = NULL;
}

const char *memory_files_hit(void)
{
    return fault.hit;
}

int memory_files_calls(void)
{
    return fault.calls;
}

int memory_files_count(void)
{
    int n = 0;
    for (int i = 0; i < FILES; i++)
        n += files[i].path[0] != '\0';
    return n;
}

int memory_files_open(void)
{
    int n = 0;
    for (int i = 0; i < HANDLES; i++)
        n += handles[i].file != NULL;
    return n;
}

const char *memory_file(const char *path, size_t *bytes)
{
    const content *file = find(path);
    *bytes = file ? file->bytes : 0;
    return !file ? NULL : file->data ? file->data : "";
}

const char *memory_file_at(int i, const char **path, size_t *bytes)
{
    for (int at = 0; at < FILES; at++)
        if (files[at].path[0] && i-- == 0) {
            *path = files[at].path;
            return memory_file(*path, bytes);
        }
    return NULL;
}

void memory_file_put(const char *path, const void *data, size_t bytes)
{
    memory_file_remove(path);
    content *file = create(path);
    file->data = malloc(bytes + 1);
    memcpy(file->data, data, bytes);
    file->bytes = bytes;
}

void memory_file_remove(const char *path)
{
    content *file = find(path);
    if (!file)
        return;
    file->path[0] = '\0';
    let_go(file);
}
