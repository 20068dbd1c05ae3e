/* The example models/memory.c from outside: what it prints. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static const char expected[] = "the tensor doubled the last column:\n"
                               "   11.0  12.0  15.0  26.0\n"
                               "   10.0  14.0  18.0  24.0\n"
                               "    9.0  13.0  16.0  22.0\n"
                               "shared 3 x 2, strides 4 and 1, at the tensor's address: yes\n"
                               "the consumer added 0.5 to two columns:\n"
                               "   11.0  12.0  15.5  26.5\n"
                               "   10.0  14.0  18.5  24.5\n"
                               "    9.0  13.0  16.5  22.5\n"
                               "the tensor sees 100.0 in the corner\n"
                               "the scope has ended, the consumer still reads 15.5\n"
                               "let go of the array, as it was given: yes\n";

static void prints(void **state)
{
    (void)state;
    char said[4096];
    FILE *program = popen(TENON_EXAMPLES "/memory", "r");
    assert_non_null(program);
    said[fread(said, 1, sizeof said - 1, program)] = '\0';
    assert_int_equal(pclose(program), 0);
    assert_string_equal(said, expected);
}

TEST_MAIN(test(prints))
