/* The search of a step length along a direction that meets the strong Wolfe conditions. */
#ifndef TNI_TRAIN_LINE_SEARCH_H
#define TNI_TRAIN_LINE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/tensor.h>

/* A place on the line: the step length t from the start, the function's value and its slope along the direction there,
 * and its whole gradient. */
typedef struct tni_place {
    double t, value, slope;
    tn_tensor *gradient;
} tni_place;

typedef struct tni_line {
    bool (*evaluate)(void *context, double t, tni_place *place); /* false with an error pending */
    void *context;
    tni_place start;         /* t = 0 */
    double longest;          /* the largest |element| of the direction */
    int64_t most;            /* evaluations beyond the first one, at most */
} tni_line;

/* Begins at step length t and fills *best; returns how often it evaluated, or -1 with an error. */
int64_t tni_strong_wolfe(const tni_line *line, double t, tni_place *best);

#endif
