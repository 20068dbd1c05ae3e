/* The checkpoints of a run: when they are written, and how a run is taken up. */
#ifndef TNI_TRAIN_FIT_FILES_H
#define TNI_TRAIN_FIT_FILES_H

#include <stdbool.h>
#include <tenon/fit.h>

#include "state_file.h"

/* A run: what tn_fit was given, and where it is. */
typedef struct tni_run {
    const tn_fit_options *options;
    tn_progress progress;
    tn_epoch *epochs; /* the history */
    int64_t n_epochs, room;
    char *last, *best; /* paths; NULL: no files */
    size_t last_bytes, best_bytes;
    double saved_at;      /* seconds of a monotonic clock */
    bool dirty;           /* it moved since last.safetensors was written */
    tni_saving best_kept; /* the best state that has no file yet; n 0: there is none */
} tni_run;

/* Paths, and whether a file can be made in the folder. */
tn_status tni_run_open(tni_run *run);

/* Takes up options->resume. */
tn_status tni_run_resume(tni_run *run);

/* Adds an epoch to the history. */
tn_status tni_run_push(tni_run *run, const tn_epoch *epoch);

/* The history as a tensor in the innermost scope. */
tn_tensor *tni_run_history(const tni_run *run);

/* At the end of an epoch: writes or lays aside the best state, writes the last one if it is time. */
tn_status tni_run_save_epoch(tni_run *run, bool is_best);

/* Writes what there is, best first: a run that goes on from `last` finds the best one that it knows of. Refuses weights
 * that are not finite. */
tn_status tni_run_save(tni_run *run);

void tni_run_free(tni_run *run);

#endif
