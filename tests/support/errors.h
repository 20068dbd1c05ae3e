/* The pending error is the one that was meant, and says why; it is cleared. */
#ifndef TENON_TESTS_SUPPORT_ERRORS_H
#define TENON_TESTS_SUPPORT_ERRORS_H

#include <string.h>
#include <tenon/error.h>

#include "support/test.h"

static inline void expect_error_at(const char *file, int line, tn_status status, const char *part)
{
    if (tn_error_code() != status || !strstr(tn_error_message(), part))
        fail_msg("%s:%d: %s (%s), needed %s with \"%s\"", file, line, tn_status_name(tn_error_code()),
                 tn_error_message(), tn_status_name(status), part);
    tn_error_clear();
}

#define expect_error(status, part) expect_error_at(__FILE__, __LINE__, (status), (part))

#endif
