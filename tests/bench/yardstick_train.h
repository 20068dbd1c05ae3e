/* Straight C that trains 2-16-16-1 in float32: products by OpenBLAS where it can be opened, loops for the rest. */
#ifndef TENON_BENCH_YARDSTICK_TRAIN_H
#define TENON_BENCH_YARDSTICK_TRAIN_H

#include <stdint.h>

/* n values, their gradient, and Adam's moments. */
typedef struct train_parameter {
    float *value, *grad, *first, *second;
    int n;
} train_parameter;

/* Weights [out, in]; h and g hold each layer's result and its gradient, [points, out]. */
typedef struct train_job {
    const float *x, *y;
    float *h[3], *g[3];
    train_parameter parameter[6]; /* weight, bias of each layer */
    int points;
    float loss;
    int64_t steps; /* that Adam made */
} train_job;

void train_gradients(train_job *j);
void train_sgd(train_job *j, float rate);
void train_adam(train_job *j, double rate);

#endif
