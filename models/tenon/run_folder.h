/* The folder of a run: what lies there, and writing it so that nothing is lost. */
#ifndef TENON_RUN_FOLDER_H
#define TENON_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <tenon/fit.h>

enum { PATH_SIZE = 4200 };

/* "DIR/name" into path. false: it is too long, and an error is pending. */
bool run_folder_path(char path[PATH_SIZE], const char *folder, const char *name);

/* Makes the folder for a new run, or refuses one that holds a run unless force. An error is pending afterwards if that
 * fails. */
void run_folder_begin(const char *folder, bool force);

/* Removes what an earlier run left, but for run.json, which is to be replaced before: if that fails all is there. */
void run_folder_clear(const char *folder);

/* The text of run.json, to be freed; NULL with an error. */
char *run_folder_read(const char *folder, size_t *length);

/* Replaces history.csv: a line for each epoch. */
void run_folder_write_history(const char *folder, const tn_epoch *history, int64_t n);

#endif
