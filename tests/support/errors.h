/* The pending error is the one that was meant, and says why; it is cleared. expect_error asks for a part of the
 * message, EXPECT for its form alone (TN_OK: that there is none), REFUSED also that a maker made nothing. */
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

static inline void expect_status_at(const char *file, int line, tn_status status)
{
    const char *message = tn_error_message();
    if (tn_error_code() != status)
        fail_msg("%s:%d: %s (%s), needed %s", file, line, tn_status_name(tn_error_code()), message,
                 tn_status_name(status));
    if (status != TN_OK && (!strstr(message, ": ") || strchr(message, '\n')))
        fail_msg("%s:%d: not a proper message: %s", file, line, message);
    tn_error_clear();
}

/* A test that failed leaves its error: as a setup this lets the next one start afresh. */
static inline int forget_error(void **state)
{
    (void)state;
    tn_error_clear();
    return 0;
}

#define fresh(function) cmocka_unit_test_setup(function, forget_error)

#define EXPECT(status) expect_status_at(__FILE__, __LINE__, (status))
#define REFUSED(call, status)                                                                                          \
    do {                                                                                                               \
        assert_null(call);                                                                                             \
        EXPECT(status);                                                                                                \
    } while (0)

#endif
