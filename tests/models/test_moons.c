/* models/moons.c trains: its loss falls, and it is nearly as often right on fresh moons as can be (97.1 %). */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static void trains(void **state)
{
    (void)state;
    char line[200];
    double accuracy = 0;
    int epochs = 0;
    FILE *run = popen(TENON_EXAMPLES "/moons", "r");
    assert_non_null(run);
    while (fgets(line, sizeof line, run)) {
        epochs += strncmp(line, "epoch ", 6) == 0;
        sscanf(line, "accuracy on fresh moons %lf", &accuracy);
    }
    assert_int_equal(pclose(run), 0);
    assert_int_equal(epochs, 5);
    if (!(accuracy >= 0.96 && accuracy <= 1))
        fail_msg("accuracy %g", accuracy);
}

TEST_MAIN(test(trains))
