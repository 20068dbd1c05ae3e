/* The thread-local struct and what happens when a thread ends. */
#include "base/thread.h"

#include <pthread.h>
#include <stddef.h>

#include "base/error.h"

_Thread_local tni_thread tni_this_thread __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static int end_key_error;
static void (*end_functions[TNI_THREAD_PARTS])(tni_thread *);
static void (*idle_functions[TNI_THREAD_PARTS])(tni_thread *);

static void run_all(void (**functions)(tni_thread *), tni_thread *thread)
{
    for (int part = 0; part < TNI_THREAD_PARTS; part++) {
        void (*function)(tni_thread *) = __atomic_load_n(&functions[part], __ATOMIC_ACQUIRE);
        if (function)
            function(thread);
    }
}

static void thread_ended(void *value)
{
    run_all(end_functions, value);
}

void tni_thread_idle(void)
{
    run_all(idle_functions, &tni_this_thread);
}

static void make_end_key(void)
{
    end_key_error = pthread_key_create(&end_key, thread_ended);
}

tn_status tni_thread_at_end(enum tni_thread_part part, void (*ended)(tni_thread *), void (*idle)(tni_thread *))
{
    pthread_once(&end_once, make_end_key);
    if (end_key_error != 0 || pthread_setspecific(end_key, &tni_this_thread) != 0)
        return TNI_FAIL(TN_ERROR_MEMORY, "thread", "the system has no thread-specific key left");
    __atomic_store_n(&end_functions[part], ended, __ATOMIC_RELEASE);
    __atomic_store_n(&idle_functions[part], idle, __ATOMIC_RELEASE);
    return TN_OK;
}
