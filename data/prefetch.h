/* Batches that worker threads make before they are asked for.
 *
 * Invariant: a batch depends on its number and its samples alone, and is handed out by number; so the number of workers
 * changes no result. Threads are started by the first job; a forked child, in which they are gone, starts its own and
 * makes the batches again that were being made. */
#ifndef TNI_DATA_PREFETCH_H
#define TNI_DATA_PREFETCH_H

#include <stdint.h>
#include <tenon/data.h>

typedef struct tni_prefetch tni_prefetch;

/* Up to `depth` batches of up to batch_size samples at a time. Holds no reference on the dataset. NULL: an error. */
tni_prefetch *tni_prefetch_new(tn_dataset *dataset, int workers, int depth, int64_t batch_size);

/* Ends the threads, after what they are doing, and frees. */
void tni_prefetch_free(tni_prefetch *p);

/* Asks for batch `number` unless that was done: samples index[0 .. n), or with index NULL those from start on. Numbers
 * asked for and not taken span less than the depth. */
tn_status tni_prefetch_ask(tni_prefetch *p, int64_t number, const int64_t *index, int64_t start, int64_t n);

/* Waits for the batch, which was asked for, and gives it as references; or raises the error that its worker met, after
 * which it has to be asked for again. */
tn_status tni_prefetch_take(tni_prefetch *p, int64_t number, tn_tensor **x, tn_tensor **y);

/* Drops what was asked for and not taken, after what the threads are doing. */
void tni_prefetch_cancel(tni_prefetch *p);

#endif
