/* W8, straight C: two half circles with noise, 2-16-16-1 by the yardstick's loops and OpenBLAS, N steps of Adam.
 *
 *     train_c N [peak]     prints the last loss, and with `peak` the most memory that it held */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../yardstick.h"
#include "peak.h"

enum { POINTS = 200, HIDDEN = 16, WEIGHTS = 337 };

static float uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (float)(state >> 40) / (float)(1 << 24);
}

static void make_moons(float *x, float *y)
{
    for (int i = 0; i < POINTS; i++) {
        const double angle = 3.14159265358979323846 * (i / 2) / (POINTS / 2 - 1);
        const double radius = 0.2 * sqrt(-2 * log(1 - uniform())), turn = 6.28318530717958647692 * uniform();
        x[2 * i] = (float)((i % 2 ? 1 - cos(angle) : cos(angle)) + radius * cos(turn));
        x[2 * i + 1] = (float)((i % 2 ? 0.5 - sin(angle) : sin(angle)) + radius * sin(turn));
        y[i] = (float)(i % 2);
    }
}

int main(int argc, char **argv)
{
    static float x[2 * POINTS], y[POINTS], h[2][TRAIN_LAYERS][POINTS * HIDDEN], room[4 * WEIGHTS];
    const int steps = argc > 1 ? atoi(argv[1]) : 1;
    train_job j = {.sizes = {2, HIDDEN, HIDDEN, 1}, .kind = TRAIN_BCE, .x = x, .y = y, .points = POINTS};
    float *at = room;
    for (int i = 0; i < TRAIN_PARAMETERS; i++) {
        const int in = j.sizes[i / 2], n = i % 2 ? j.sizes[i / 2 + 1] : j.sizes[i / 2 + 1] * in;
        j.parameter[i] = (train_parameter){at, at + n, at + 2 * n, at + 3 * n, n};
        for (int k = 0; k < n; k++)
            at[k] = (2 * uniform() - 1) / sqrtf((float)in);
        at += 4 * n;
    }
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        j.h[i] = h[0][i];
        j.g[i] = h[1][i];
    }
    make_moons(x, y);
    const train_functions *train = &yardstick_pick()->train;
    for (int i = 0; i < steps; i++) {
        train->gradients(&j);
        train->adam(&j, 1e-2);
    }
    printf("%.6f %lld\n", (double)j.loss, argc > 2 ? peak_bytes() : 0);
    return EXIT_SUCCESS;
}
