/* Raising errors: the first failure of a thread is recorded, later ones are not. */
#ifndef TNI_BASE_ERROR_H
#define TNI_BASE_ERROR_H

#include <tenon/error.h>
#include <tenon/extend.h>

#include "base/thread.h"

/* tn_fail of tenon/extend.h. Floating-point numbers go in as text (base/text.h), since printf's depend on the locale.
 * Does not allocate. Text: lower case, "found ..., needed ...", no full stop. */
#define TNI_FAIL(code, function, ...) TN_FAIL(code, function, __VA_ARGS__)

/* "matmul: argument 2 (other) is NULL" */
#define TNI_FAIL_NULL(function, number, name) TN_FAIL_NULL(function, number, name)

/* The same for a report that stands alone: the message is the formatted text. */
tn_status tni_fail_report(tn_status code, const char *function, const char *file, int line, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));

/* The pending code: TN_OK when calls may go on. */
static inline tn_status tni_pending(void)
{
    return tni_this_thread.error.code;
}

/* Puts an error that another thread of the library raised on this one, unless one is pending. */
void tni_error_adopt(const tn_error *error);

#endif
