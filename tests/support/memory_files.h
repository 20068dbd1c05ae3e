/* Files in memory under Tenon's table of file operations, and faults among its calls: no disk, no syncs, and all that a
 * call did to files can be looked at. Every folder is there. */
#ifndef TENON_TESTS_SUPPORT_MEMORY_FILES_H
#define TENON_TESTS_SUPPORT_MEMORY_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Instead of an errno: the call does half of what it is asked to. */
enum { MEMORY_FILES_SHORT = 1000000 };

/* Empties the files and puts the table in force; takes it away. */
void memory_files_begin(void);
void memory_files_end(void);

/* Call number `at` of the table from now on does `what`, an errno or MEMORY_FILES_SHORT, and those behind it too when
 * for_good; at -1: none. */
void memory_files_fault(int at, int what, bool for_good);

/* The operation that the fault happened to, "write"; NULL: it has not. Calls since memory_files_fault. */
const char *memory_files_hit(void);
int memory_files_calls(void);

int memory_files_count(void);
int memory_files_open(void); /* handles that were not closed */

/* A file's content, NULL if it is not there; number i of all (i < count), with its name. */
const char *memory_file(const char *path, size_t *bytes);
const char *memory_file_at(int i, const char **path, size_t *bytes);
void memory_file_put(const char *path, const void *data, size_t bytes);
void memory_file_remove(const char *path);

#endif
