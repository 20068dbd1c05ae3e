/* The folder of a run: what lies there, who works in it, and that nothing is lost.
 *
 * A run that takes another's place lays the other's files aside, as .previous-NAME, and drops them when it has a
 * model.safetensors of its own. If it ends without a checkpoint they come back, and if it is killed before one, they do
 * when the folder is opened next; later they stay until it has gone on to its end, or another takes its place. */
#ifndef TENON_RUN_FOLDER_H
#define TENON_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <tenon/fit.h>

enum { PATH_SIZE = 4200 };

typedef struct run_folder {
    const char *path; /* NULL: nothing is saved */
    int lock;         /* descriptor that holds the lock; -1 without */
    bool is_made;     /* it was not there before */
    bool is_begun;    /* for a new run */
    bool laid_aside;  /* another run's files are */
} run_folder;

/* "DIR/name" into path. false: it is too long, and an error is pending. */
bool run_folder_path(char path[PATH_SIZE], const char *folder, const char *name);

/* For a new run: makes the folder, or refuses one that holds a run unless force, whose files are then laid aside. An
 * error is pending afterwards if that fails, or if another process trains in it. */
void run_folder_begin(run_folder *it, const char *path, bool force);

/* For a run that goes on. */
void run_folder_resume(run_folder *it, const char *path);

/* Drops what was laid aside if the run has its model; puts it back, and takes away what is of no use, if it has no
 * checkpoint; gives the folder free. Works while an error is pending too. */
void run_folder_end(run_folder *it);

bool run_folder_has(const char *folder, const char *name);

/* The text of run.json, to be freed; NULL with an error. */
char *run_folder_read(const char *folder, size_t *length);

/* Replaces history.csv: a line for each epoch. */
void run_folder_write_history(const char *folder, const tn_epoch *history, int64_t n);

#endif
