/* The example models/custom_op.c from outside: what it prints. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static const char expected[] = "gradcheck          ok, 36 entries, worst difference below 1e-7: yes\n"
                               "gradgradcheck      ok, 72 entries, worst difference below 1e-7: yes\n"
                               "gradcheck_forward  ok, 1 entries, worst difference below 1e-7: yes\n"
                               "grad_fn            SoftplusBackward\n"
                               "step   0  loss 1.0635  w 0.0000  b 0.0000\n"
                               "step  50  loss 0.0105  w 2.5742  b -0.0091\n"
                               "step 100  loss 0.0052  w 2.9342  b -0.0050\n";

static void prints(void **state)
{
    (void)state;
    char said[4096];
    FILE *program = popen(TENON_EXAMPLES "/custom_op", "r");
    assert_non_null(program);
    said[fread(said, 1, sizeof said - 1, program)] = '\0';
    assert_int_equal(pclose(program), 0);
    assert_string_equal(said, expected);
}

TEST_MAIN(test(prints))
