/* `tenon gradcheck` from outside: its table, its JSON, and what it says to wrong words. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "support/test.h"

static char said[1 << 16];

static int run(const char *words)
{
    char command[400];
    snprintf(command, sizeof command, "'%s' gradcheck %s 2>&1", TENON_COMMAND, words);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    said[fread(said, 1, sizeof said - 1, program)] = '\0';
    return WEXITSTATUS(pclose(program));
}

static void assert_says(const char *words, int code, const char *what)
{
    assert_int_equal(run(words), code);
    if (!strstr(said, what))
        fail_msg("tenon gradcheck %s\n%s\nneeded: %s", words, said, what);
}

static void tables(void **state)
{
    (void)state;
    assert_says("mul eq set_", 0, "operator             samples  cases   entries  first    second   forward\nmul  ");
    const char *line = strchr(said, '\n') + 1;
    assert_memory_equal(strchr(line, '\n') - 3, " ok\n", 4);
    assert_non_null(
        strstr(said, "\neq                         -      -         -  -        -        -        constant\n"));
    assert_non_null(
        strstr(said, "\nset_                       -      -         -  -        -        -        no derivative\n"));
    assert_non_null(strstr(said, "\n\n3 operators: 1 ok, 0 with a fault, 1 constant, 1 without a derivative; "));
    assert_says("--eps 0.1 tanh", 1,
                "  fault in tanh [3,4] (contiguous float64): gradcheck: input 0, element 0: the "
                "derivative of element 0 of the result is 0.0");
    assert_says("--json eq", 0,
                "{\"operators\":[{\"name\":\"eq\",\"verdict\":\"constant\",\"samples\":0,\"cases\":0,\"entries\":0,"
                "\"first\":0,\"second\":0,\"forward\":0,\"fault\":null}],\"ok\":0,\"faults\":0,\"constant\":1,"
                "\"no_derivative\":0,\"cases\":0,\"entries\":0}\n");
    assert_says("--json --eps 0.1 tanh", 1, "\"fault\":{\"input\":0,\"element\":0,\"analytic\":0.0");
}

static void wrong_words(void **state)
{
    (void)state;
    assert_says("matmull", 2,
                "tenon gradcheck: found 'matmull', needed the name of an operator: did you mean 'matmul'?");
    assert_says("mul zzzzzzz", 2, "tenon gradcheck: found 'zzzzzzz', needed the name of an operator\n");
    assert_null(strstr(said, "samples"));
    assert_says("--json addd", 2,
                "{\"error\":{\"message\":\"found 'addd', needed the name of an operator: did you mean 'add'?\",");
    assert_says("cross_entropy", 2, "found 'cross_entropy', which is made of operators, needed the name of one");
    assert_says("--eps 2", 2, "--eps: found '2', needed a number from 0 to 1");
    assert_says("--help", 0, "Usage: tenon gradcheck [OPTION]... [OPERATOR]...");
}

TEST_MAIN(test(tables), test(wrong_words))
