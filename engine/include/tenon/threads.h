/* How many threads share the work of one operator. */
#ifndef TENON_THREADS_H
#define TENON_THREADS_H

#include <tenon/error.h>

TN_BEGIN

/* Sets the number of threads that one operator may use, the calling one included.
 * The threads are started when the first operator is large enough to need them; 1 ends those that run, and so does any
 * change. Results do not depend on the number, bit for bit. One number for the process; waits while an operator of
 * another thread uses the threads.
 * n       1 or more; more than 1024 count as 1024
 * errors  TN_ERROR_ARGUMENT (n below 1), TN_ERROR_STATE (called from within parallel work)
 * source  torch.set_num_threads */
TN_API tn_status tn_set_num_threads(int n);

/* The number in force. Before it is set: the CPUs that the process may run on.
 * errors  none */
TN_API int tn_get_num_threads(void);

TN_END

#endif
