/* A run: data, net, optimizer, schedule, loader, made from the options alone, so that a resumed run makes the same. */
#ifndef TENON_TRAIN_RUN_H
#define TENON_TRAIN_RUN_H

#include <tenon/tenon.h>

#include "input_file.h"
#include "model_file.h"
#include "train_options.h"

typedef struct train_run {
    model model;
    input_file file;
    tn_dataset *train, *validation; /* in the net's terms; the latter NULL without */
    tn_optimizer *optimizer;
    tn_schedule *schedule; /* NULL: none */
    tn_loader *loader;
    uint64_t sums[2]; /* of x and y of a file; 0 of data that are made */
} train_run;

/* An exit code: EXIT_MISUSED has been told of; otherwise an error may be pending. */
int train_run_make(train_run *it, train_options *asked);
void train_run_free(train_run *it);

/* Refuses data that are not those that the run in the folder was begun on, by its run.json. */
void train_run_check(const train_run *it, const train_options *asked);

/* Writes run.json. */
void train_run_write(const train_run *it, train_options *asked, const char *folder);

#endif
