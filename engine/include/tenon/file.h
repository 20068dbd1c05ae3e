/* Files: one replaceable table of operations under everything that Tenon reads and writes, and the few ways to use it.
 *
 * A file is written by replacing it: the new content goes to a temporary file in the same directory, is synced, and is
 * renamed over the old one, so that at every moment, through crashes and power loss, the path holds all of the old or
 * all of the new content. Whoever adds a format reads and writes through tn_file and gets that, the error messages, and
 * the fault injection of the tests. */
#ifndef TENON_FILE_H
#define TENON_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>

TN_BEGIN

typedef struct tn_file_info {
    int64_t size;
    uint32_t mode; /* st_mode: kind and permissions */
} tn_file_info;

/* The operations. Each returns what the POSIX function of its name does, but -errno where that gives -1. read, pread
 * and write may do less than they are asked to, and may give -EINTR; Tenon then goes on. flags are O_ constants. All
 * may be called from any thread. */
typedef struct tn_file_operations {
    int (*open)(void *context, const char *path, int flags, uint32_t mode); /* the file's handle, 0 or more */
    int64_t (*read)(void *context, int file, void *buffer, size_t bytes);
    int64_t (*pread)(void *context, int file, void *buffer, size_t bytes, int64_t offset);
    int64_t (*write)(void *context, int file, const void *data, size_t bytes);
    int (*fsync)(void *context, int file);
    int (*close)(void *context, int file); /* the handle is gone even when this fails */
    int (*fstat)(void *context, int file, tn_file_info *info);
    int (*stat)(void *context, const char *path, tn_file_info *info); /* follows links */
    int (*fchmod)(void *context, int file, uint32_t mode);
    int (*rename)(void *context, const char *from, const char *to);
    int (*unlink)(void *context, const char *path);
    int (*sync_directory)(void *context, const char *path); /* makes renames in it last */
    void *context;
} tn_file_operations;

/* Replaces the table; it is copied. NULL brings the operating system's back. Not to be called while files are open or
 * another thread uses Tenon.
 * errors  TN_ERROR_ARGUMENT (a function is missing); then nothing changes */
TN_API tn_status tn_set_file_operations(const tn_file_operations *operations);

/* The table in force, for a table that wraps it.
 * errors  none */
TN_API tn_file_operations tn_get_file_operations(void);

/* An open file. Lives where the caller puts it; the fields are the library's, to be read only. */
typedef struct tn_file {
    const char *path;     /* the caller's string: it must outlive the tn_file */
    const char *function; /* what the user called, for messages: a constant */
    int64_t size;         /* bytes when it was opened; -1 for what has no size, such as a pipe. Writing: 0 */
    int64_t position;     /* bytes that tn_file_read has given, or tn_file_write has written */
    char *temporary;      /* writing: the path written to until it is committed */
    size_t temporary_bytes;
    int handle; /* -1: closed */
} tn_file;

/* Opens for reading. `function` names the caller in messages.
 * errors  TN_ERROR_NULL, TN_ERROR_FILE (it cannot be opened, or is a directory); then *file is closed */
TN_API tn_status tn_file_open(tn_file *file, const char *path, const char *function);

/* The next bytes, as from a stream: as many as there are up to `bytes`, fewer only at the end; *got says how many.
 * errors  TN_ERROR_NULL (an argument; buffer may be NULL if bytes is 0), TN_ERROR_STATE (it is not open),
 *         TN_ERROR_FILE; *got then says how many were read before that */
TN_API tn_status tn_file_read(tn_file *file, void *buffer, size_t bytes, size_t *got);

/* All of the bytes offset .. offset + bytes - 1; does not move the stream.
 * errors  TN_ERROR_NULL, TN_ERROR_STATE (it is not open), TN_ERROR_OVERFLOW (no file has such bytes), TN_ERROR_FILE,
 *         also if the file is shorter; buffer is then undefined */
TN_API tn_status tn_file_read_exact(tn_file *file, void *buffer, size_t bytes, int64_t offset);

/* Starts to replace the file at path, or to make it. The new file has the old one's permissions, or 0666 less the
 * umask. A symbolic link is itself replaced; what is neither a regular file nor missing is refused.
 * errors  TN_ERROR_NULL, TN_ERROR_FILE, TN_ERROR_MEMORY; then *file is closed */
TN_API tn_status tn_file_create(tn_file *file, const char *path, const char *function);

/* Appends to the new content.
 * errors  TN_ERROR_NULL (an argument; data may be NULL if bytes is 0), TN_ERROR_STATE (it is not open), TN_ERROR_FILE;
 *         then the file is to be closed */
TN_API tn_status tn_file_write(tn_file *file, const void *data, size_t bytes);

/* Puts the new content in place, synced, and closes. If an error is pending, or this fails, the temporary file is
 * removed and the old one is as it was; only a directory that cannot be synced is reported with the new file in place.
 * errors  TN_ERROR_NULL, TN_ERROR_STATE (it is not open for writing), TN_ERROR_FILE */
TN_API tn_status tn_file_commit(tn_file *file);

/* Closes; new content that was not committed is dropped. Works while an error is pending, and on a closed file.
 * errors  TN_ERROR_NULL */
TN_API void tn_file_close(tn_file *file);

typedef struct tn_file_piece {
    const void *data;
    size_t bytes;
} tn_file_piece;

/* tn_file_create, tn_file_write of each piece, tn_file_commit. pieces may be NULL if count is 0: an empty file.
 * errors  theirs; TN_ERROR_ARGUMENT (a negative count). What stood at path stays then */
TN_API tn_status tn_file_replace(const char *path, const tn_file_piece *pieces, int count, const char *function);

TN_END

#endif
