/* The mode, training or evaluation, of each module of a net, to be put back after an evaluation. */
#ifndef TNI_TRAIN_MODES_H
#define TNI_TRAIN_MODES_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/nn.h>

typedef struct tni_mode {
    tn_module *module;
    bool training;
} tni_mode;

typedef struct tni_modes {
    tni_mode *mode; /* children before those that they belong to */
    int64_t n, room;
} tni_modes;

/* Notes them; an error leaves *modes empty. */
tn_status tni_modes_note(tni_modes *modes, tn_module *module);

/* Puts them back, even while an error is pending, and frees the list. */
void tni_modes_restore(tni_modes *modes);

#endif
