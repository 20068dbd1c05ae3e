/* A net of three Linear layers with ReLU between them that both sides train from equal weights. */
#ifndef TENON_BENCH_TRAINING_H
#define TENON_BENCH_TRAINING_H

#include "bench.h"
#include "yardstick_train.h"

/* One of `models` nets: the weights of all stand one after another. */
typedef struct training {
    train_job c;
    tn_module *net;
    tn_optimizer *optimizer;
    tn_tensor *parameter[TRAIN_PARAMETERS];
} training;

/* Fills models trainings over the same points: nets, weights and the yardstick's room, but for x, y and classes. False
 * as setup functions. Each weight is in [-0.5, 0.5), where 16 or fewer come in, else in 1 / sqrt(in) times [-1, 1). */
bool training_begin(fixture *f, training *t, int models, const int64_t *sizes, int points, train_loss kind);

/* n steps of the yardstick, with f's threads in its products. */
void training_c(fixture *f, training *t, int64_t n, void (*step)(train_job *));
void training_c_sgd(train_job *j);
void training_c_adam(train_job *j);

/* Both optimizers' rate, so small that the weights stay: every step gives the same gradients, which are compared. */
extern const double training_rate;

#endif
