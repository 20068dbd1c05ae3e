/* What a thread of the host owns in Tenon: its error, its masks, its scopes, its block cache.
 *
 * One thread-local struct, initial-exec, so that the front of an operator reads all of it through one register. The
 * struct must stay small: a library that is opened late gets its initial-exec storage from a reserve of about 1.5 KB.
 * Higher floors hang their part on it through pointers that base does not look into. */
#ifndef TNI_BASE_THREAD_H
#define TNI_BASE_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>

struct tni_block_cache;
struct tni_scope_stack;

typedef struct tni_thread {
    tn_error error;                /* error.code is the flag that every front tests */
    uint64_t include;              /* dispatch keys added to, and */
    uint64_t exclude;              /* taken from, those of the arguments */
    struct tni_block_cache *cache; /* NULL until the first allocation, and again while the thread ends */
    struct tni_scope_stack *scopes;
    bool inference;              /* inference mode: autograd/mode.c */
    bool grad_in_inference;      /* what is_grad_enabled says in it, though nothing is recorded */
    uint64_t sequence;           /* of the last node that the thread recorded */
    uint64_t dual_level;         /* of forward mode, open; 0: none: autograd/tangent.c */
    struct tn_node *dying;      /* nodes whose last reference went while another was being freed */
    struct tn_node *being_freed; /* that other; NULL: none */
} tni_thread;

extern _Thread_local tni_thread tni_this_thread __attribute__((tls_model("initial-exec")));

/* Runs `ended` on every thread that called this and ends; a floor calls it when it first hangs something on the
 * thread. The floors' functions run in the order scopes, then cache. `idle` (or NULL) gives back what the thread does
 * not need now. */
enum tni_thread_part { TNI_THREAD_SCOPES, TNI_THREAD_CACHE, TNI_THREAD_PARTS };
tn_status tni_thread_at_end(enum tni_thread_part part, void (*ended)(tni_thread *), void (*idle)(tni_thread *));

/* Runs the idle functions on this thread. */
void tni_thread_idle(void);

#define TNI_LIKELY(x) __builtin_expect(!!(x), 1)
#define TNI_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For what the common path leaves to a plain function that does it in full: kept out of line, so that the way there
 * needs no frame. */
#define TNI_ASIDE __attribute__((noinline))

#endif
