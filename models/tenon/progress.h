/* How a training goes: one line that changes on a terminal, else a line an epoch. */
#ifndef TENON_PROGRESS_H
#define TENON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/fit.h>

typedef struct progress {
    bool line, lines, color; /* the line on stderr; lines on stdout; colors in either */
    int64_t epochs;
    double began, shown;  /* seconds */
    int64_t first_step;   /* of this process; -1: none yet */
    double valid_loss;    /* of the last epoch; NaN */
} progress;

double seconds_now(void);

/* With json nothing goes to stdout. */
progress progress_begin(int64_t epochs, bool json);

void progress_step(progress *it, const tn_fit_step *step);
void progress_epoch(progress *it, const tn_epoch *epoch);

/* Takes the changing line away. */
void progress_end(progress *it);

#endif
