/* models/regression.c and models/classes.c from outside: they learn, and say what is wrong with a table. */
#include <stdio.h>
#include <string.h>

#include "support/shell.h"
#include "support/test.h"

static double number_after(const char *words)
{
    double value = -1;
    const char *at = strstr(shell_last.out, words);
    if (!at || sscanf(at + strlen(words), "%lf", &value) != 1)
        fail_msg("'%s' is not in\n%s", words, shell_last.out);
    return value;
}

static void regression_learns(void **state)
{
    (void)state;
    shell_expect(0, "epoch  50  error|epoch 200  error|on 100 rows unseen: error",
                 TENON_EXAMPLES "/regression $DATA/flats.csv price");
    assert_true(number_after("R^2 ") > 0.99);
}

static void regression_refuses(void **state)
{
    (void)state;
    shell_expect(2, "usage: regression FILE.csv COLUMN", TENON_EXAMPLES "/regression");
    shell_expect(1, "regression: load_csv: |rent", TENON_EXAMPLES "/regression $DATA/flats.csv rent");
    shell_expect(1, "regression: load_csv: opening 'none.csv' failed", TENON_EXAMPLES "/regression none.csv price");
    shell_write("bad.csv", "a,b\n1,2\n3,four\n");
    shell_expect(1, "regression: load_csv: 'bad.csv' line 3, column 2: 'four'", TENON_EXAMPLES "/regression bad.csv b");
    shell_write("small.csv", "a,b\n1,2\n");
    shell_expect(1, "regression: train_test_split: ", TENON_EXAMPLES "/regression small.csv b");
}

static void classes_learns(void **state)
{
    (void)state;
    shell_expect(0, "epoch 10  loss|epoch 30  loss|accuracy", TENON_EXAMPLES "/classes");
    assert_true(number_after("accuracy on fresh points ") > 0.9);
    int sum = 0, read = 0, n;
    for (const char *at = strchr(strstr(shell_last.out, "accuracy"), '\n'); sscanf(at, "%d%n", &n, &read) == 1;
         at += read)
        sum += n;
    assert_int_equal(sum, 1000);
}

TEST_MAIN(test(regression_learns), test(regression_refuses), test(classes_learns))
