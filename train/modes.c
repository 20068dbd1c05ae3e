/* See modes.h. */
#include "modes.h"

#include <tenon/extend.h>

static const char function[] = "evaluate";

static bool count(tn_module *module, void *context)
{
    (void)module;
    ((tni_modes *)context)->room++;
    return true;
}

static bool note(tn_module *module, void *context)
{
    tni_modes *modes = context;
    modes->mode[modes->n++] = (tni_mode){module, tn_module_is_training(module)};
    return true;
}

tn_status tni_modes_note(tni_modes *modes, tn_module *module)
{
    *modes = (tni_modes){.n = 0};
    if (tn_module_apply(module, count, modes))
        return tn_error_code();
    modes->mode = tn_allocate((size_t)modes->room * sizeof *modes->mode, function);
    return modes->mode ? tn_module_apply(module, note, modes) : tn_error_code();
}

void tni_modes_restore(tni_modes *modes)
{
    tn_error pending;
    tn_error_push(&pending);
    while (modes->n > 0) { /* a module first, then its children, since setting one sets what is below it */
        const tni_mode *mode = &modes->mode[--modes->n];
        tn_module_train(mode->module, mode->training);
    }
    tn_deallocate(modes->mode, (size_t)modes->room * sizeof *modes->mode);
    *modes = (tni_modes){.n = 0};
    tn_error_pop(&pending);
}
