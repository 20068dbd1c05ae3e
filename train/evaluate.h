/* What the loop and the evaluation share. */
#ifndef TNI_TRAIN_EVALUATE_H
#define TNI_TRAIN_EVALUATE_H

#include <stdbool.h>
#include <tenon/fit.h>

typedef struct tni_loss {
    tn_fit_loss kind;
    tn_loss_function function; /* instead, unless NULL */
    void *context;
} tni_loss;

tn_status tni_check_loss(const char *function, const tni_loss *loss);

/* The loss of a batch, 0-dim; NULL with an error. */
tn_tensor *tni_loss_of(const char *function, const tni_loss *loss, tn_tensor *output, tn_tensor *target);

/* The module's score over a dataset; the module's mode and the grad mode come back. */
tn_status tni_evaluate(const char *function, tn_module *module, tn_dataset *dataset, const tni_loss *loss,
                       int64_t batch_size, tn_score *score);

/* Whether all elements are finite; integers are. False with an error, too. */
bool tni_is_finite(tn_tensor *x);

#endif
