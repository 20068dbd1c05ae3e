/* What every test includes: cmocka in the right order, and the table of a test program. */
#ifndef TENON_TESTS_SUPPORT_TEST_H
#define TENON_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define test(function) cmocka_unit_test(function)

#define TEST_MAIN(...)                                            \
    int main(void)                                                \
    {                                                             \
        const struct CMUnitTest tests[] = {__VA_ARGS__};          \
        return cmocka_run_group_tests(tests, NULL, NULL);         \
    }

#endif
