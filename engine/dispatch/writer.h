/* Who wrote last: for the message about a tensor that a derivative needs and that was written.
 *
 * Only counters that the tape watches (TNI_STORAGE_WATCHED: something was saved) are noted, in a small table of the
 * process: what is forgotten costs a name in a message. */
#ifndef TNI_DISPATCH_WRITER_H
#define TNI_DISPATCH_WRITER_H

#include "core/storage.h"

void tni_note_writer(const tni_storage *counter, const char *operator_name);

/* Counts a write by that operator, and notes it where the tape wants to know. */
static inline void tni_count_write(tni_storage *counter, const char *operator_name)
{
    tni_storage_written(counter);
    if (TNI_UNLIKELY(__atomic_load_n(&counter->flags, __ATOMIC_RELAXED) & TNI_STORAGE_WATCHED))
        tni_note_writer(counter, operator_name);
}

/* The operator that made the counter's version what it is; NULL: forgotten, or no operator. */
const char *tni_writer_of(const tni_storage *counter);

#endif
