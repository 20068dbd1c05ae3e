/* The example models/count_calls.c from outside: what it prints. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static const char expected[] = "operator   calls  elements\n"
                               "linear         3      6600\n"
                               "relu           2      6400\n";

static void prints(void **state)
{
    (void)state;
    char said[4096];
    FILE *program = popen(TENON_EXAMPLES "/count_calls", "r");
    assert_non_null(program);
    said[fread(said, 1, sizeof said - 1, program)] = '\0';
    assert_int_equal(pclose(program), 0);
    assert_string_equal(said, expected);
}

TEST_MAIN(test(prints))
