/* The optimizer and the schedule that the options of tenon train ask for. */
#ifndef TENON_TRAIN_OPTIMIZER_H
#define TENON_TRAIN_OPTIMIZER_H

#include <stdbool.h>
#include <tenon/nn.h>
#include <tenon/optim.h>
#include <tenon/schedule.h>

#include "train_options.h"

/* What is wrong with the options is told on stderr, and false: an option that the optimizer does not have. What the
 * library refuses is pending afterwards. *schedule is NULL without one. */
bool train_optimizer(const train_options *asked, tn_module *net, tn_optimizer **optimizer, tn_schedule **schedule);

#endif
