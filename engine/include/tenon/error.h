/* Errors: the first one of a thread stays until it is cleared, and while it is pending nothing happens.
 *
 * A function that makes something returns it or NULL; one that does something returns a tn_status. The first failure is
 * kept with the operator, one line of what was found and what was needed, and the place in the library. While it is
 * pending, makers return NULL, doers return that status and change nothing, tn_item gives NaN and loops end; releasing,
 * dropping and ending scopes still work. So a program may check once, at the end:
 *
 *     if (tn_error_code() != TN_OK)
 *         fprintf(stderr, "%s\n", tn_error_message());
 *
 * Threads  each thread has its own error. Nothing here allocates, prints or ends the process. */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

#include <tenon/export.h>

TN_BEGIN

typedef enum tn_status {
#define TN_STATUS(name, text) TN_##name,
#include <tenon/status.def>
#undef TN_STATUS
    TN_STATUS_COUNT
} tn_status;

#define TN_ERROR_MESSAGE_SIZE 384

/* An error, or the absence of one (code TN_OK, message ""). Plain data: copy it freely. */
typedef struct tn_error {
    tn_status code;
    int line;             /* in file */
    const char *file;     /* of the library, such as "engine/core/tensor.c"; NULL when there is no error */
    const char *function; /* what the user called, such as "matmul"; NULL when there is no error */
    char message[TN_ERROR_MESSAGE_SIZE]; /* "matmul: ...", one line unless assert_close reports; cut at the end */
} tn_error;

/* The pending error's code, or TN_OK.
 * errors  none */
TN_API tn_status tn_error_code(void);

/* The pending error's message, "" when there is none. Valid until the error is cleared, popped or pushed.
 * errors  none */
TN_API const char *tn_error_message(void);

/* The whole pending error; code TN_OK when there is none. Valid as tn_error_message.
 * errors  none */
TN_API const tn_error *tn_error_get(void);

/* Forgets the pending error; calls work again.
 * errors  none */
TN_API void tn_error_clear(void);

/* For a component that must not see its caller's error nor leave its own:
 * push moves the pending error (or its absence) into *saved and clears it; pop puts it back over whatever came since.
 * With saved NULL push clears alone and pop does nothing.
 * errors  none of their own */
TN_API void tn_error_push(tn_error *saved);
TN_API void tn_error_pop(const tn_error *saved);

/* "dtype" for TN_ERROR_DTYPE and so on; "unknown" for a number that is no status. Never NULL.
 * errors  none */
TN_API const char *tn_status_name(tn_status status);

TN_END

#endif
