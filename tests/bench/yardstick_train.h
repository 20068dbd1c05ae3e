/* Straight C that trains three layers with ReLU inside in float32: products by OpenBLAS where it can be opened, loops
 * for the rest, compiled for each CPU level (yardstick.h). */
#ifndef TENON_BENCH_YARDSTICK_TRAIN_H
#define TENON_BENCH_YARDSTICK_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

enum { TRAIN_LAYERS = 3, TRAIN_PARAMETERS = 2 * TRAIN_LAYERS };

/* All means over the points: binary cross-entropy of logits with y [points], cross-entropy with classes [points],
 * squared error with y [points, out]. */
typedef enum train_loss { TRAIN_BCE, TRAIN_CROSS_ENTROPY, TRAIN_MSE } train_loss;

/* n values, their gradient, and Adam's moments. */
typedef struct train_parameter {
    float *value, *grad, *first, *second;
    int n;
} train_parameter;

/* Weights [out, in]; h and g hold each layer's result and its gradient, [points, out]. */
typedef struct train_job {
    int sizes[TRAIN_LAYERS + 1];
    train_loss kind;
    const float *x, *y;
    const int64_t *classes;
    float *h[TRAIN_LAYERS], *g[TRAIN_LAYERS];
    train_parameter parameter[TRAIN_PARAMETERS]; /* weight, bias of each layer */
    int points;
    float loss;
    int64_t steps; /* that Adam made */
} train_job;

typedef struct train_functions {
    void (*gradients)(train_job *j);
    void (*sgd)(train_job *j, float rate);
    void (*adam)(train_job *j, double rate);
} train_functions;

/* C [m, n] = op A op B + keep C; a transposed operand is stored the other way round. */
void train_product(bool a_turned, bool b_turned, int m, int n, int k, const float *a, const float *b, float keep,
                   float *c);

#endif
