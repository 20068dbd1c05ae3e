/* Ownership: reference counts below, scopes above.
 *
 * Every object that the library returns (tensor, module, dataset, loader) belongs to the innermost open scope of the
 * calling thread, which holds one reference and gives it up when it ends. A root scope always exists; it ends with the
 * thread (that of the main thread does not when the process exits: what it holds is left to the operating system). So a
 * program needs no release calls:
 *
 *     tn_scope step = tn_scope_begin();
 *     ...                                   everything made here
 *     tn_scope_end(step);                   dies here, unless something else holds it
 *
 * The functions of this page work while an error is pending. Those that take an object take any object of the library;
 * NULL is ignored.
 *
 * Threads  a scope belongs to its thread. An object may be retained, handed to another thread, and adopted there. */
#ifndef TENON_SCOPE_H
#define TENON_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>

TN_BEGIN

/* A handle on an open scope; plain data. {0} is no scope: ending it does nothing. */
typedef struct tn_scope {
    uint32_t depth;  /* 1 for the first scope inside the root */
    uint64_t serial; /* tells it from every other scope of the process */
} tn_scope;

/* Opens a scope inside the innermost one.
 * errors  TN_ERROR_MEMORY; then {0}: what is made goes to the scope outside
 * cost    O(1) */
TN_API tn_scope tn_scope_begin(void);

/* Ends the scope and those inside it that were forgotten, newest object first.
 * errors  TN_ERROR_STATE if it is not open on this thread (ended before, or another thread's); then nothing is done
 * cost    O(objects) */
TN_API tn_status tn_scope_end(tn_scope scope);

/* Hands the object that belongs to `scope`, or to a scope inside it, to the scope around `scope`. Returns the object.
 * errors  TN_ERROR_STATE if the scope is not open, or the object does not belong to it; then NULL
 * cost    O(depth) for an object that only one scope holds, else O(objects) */
TN_API void *tn_scope_escape(tn_scope scope, void *object);

/* Takes a reference beyond the scope: the caller must release it, or adopt it. Returns the object.
 * errors  none
 * cost    O(1) */
TN_API void *tn_retain(void *object);

/* Gives back a reference of tn_retain; an object that nothing else holds dies at once.
 * address  that of the caller's pointer, which becomes NULL: tn_release(&x)
 * errors   none */
TN_API void tn_release(void *address);

/* Gives the hold of a scope up early, that of the innermost scope that holds the object; an object that nothing else
 * holds dies at once.
 * address  that of the caller's pointer, which becomes NULL: tn_drop(&x)
 * errors   TN_ERROR_STATE if no scope of this thread holds the object; then the pointer stays
 * cost     O(1), unless the object sits in several scopes or places: then O(objects) */
TN_API tn_status tn_drop(void *address);

/* Turns a reference of tn_retain into one that the innermost scope of this thread holds. Returns the object.
 * errors  TN_ERROR_MEMORY; then NULL, and the caller still has its reference
 * cost    O(1) */
TN_API void *tn_adopt(void *object);

/* References now held on the object; 0 for NULL.
 * errors  none */
TN_API int64_t tn_use_count(const void *object);

TN_END

#endif
