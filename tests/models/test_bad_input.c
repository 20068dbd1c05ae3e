/* What a user may give `tenon train` that it cannot take: exit code 1 or 3, a message with the place, nothing
 * overwritten, the last good checkpoint kept. Wrong words on the command line: exit code 2 and what was meant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/shell.h"

static void write_table(const char *name, int rows, const char *line_5)
{
    char text[4096] = "a,b,kind\n";
    for (int i = 0; i < rows; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                 i == 3 && line_5 ? line_5
                 : i % 2          ? "1.5,2,red\n"
                                  : "3,4.25,blue\n");
    shell_write(name, text);
}

static void save_array(const char *name, const double *values, int64_t rows, int64_t columns)
{
    tn_scope scope = tn_scope_begin();
    const int64_t size[] = {rows, columns};
    assert_int_equal(tn_save_npy(tn_from_array(values, size, columns ? 2 : 1, TN_FLOAT64), shell_path(name)), TN_OK);
    tn_scope_end(scope);
}

/* Arrays: place by index. */
static void arrays(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, bad_x[] = {1, 2, 3, 4, 5, INFINITY, 7, 8};
    static const double y[] = {0, 1, 0, 1, 0, 1}, low[] = {0, 1, -1, 1, 0, 1}, half[] = {0, 1, 0, 0.5, 0, 1},
                        high[] = {0, 70000, 0, 1, 0, 1};
    (void)state;
    save_array("x.npy", x, 6, 2);
    save_array("bad_x.npy", bad_x, 4, 2);
    save_array("y.npy", y, 6, 0);
    save_array("y4.npy", y, 4, 0);
    save_array("low.npy", low, 6, 0);
    save_array("half.npy", half, 6, 0);
    save_array("high.npy", high, 6, 0);
    shell_expect(0, "trained 1 epoch,", "tenon train x.npy --labels y.npy --epochs 1");
    shell_expect(1, "'low.npy'|y[2] is -1|a class, 0 to 65535", "tenon train x.npy --labels low.npy --out bad");
    shell_expect(1, "'half.npy'|y[3] is 0.5", "tenon train x.npy --labels half.npy --out bad");
    shell_expect(1, "'high.npy'|y[1] is 70000", "tenon train x.npy --labels high.npy --out bad");
    shell_expect(1, "'bad_x.npy'|[2, 1] is inf", "tenon train bad_x.npy --labels y4.npy --out bad");
    shell_expect(1, "6|4", "tenon train x.npy --labels y4.npy --out bad");
    shell_expect(1, "head.npy", "head -c 100 x.npy >head.npy; tenon train head.npy --labels y.npy --out bad");
    shell_expect(1, "none.npy", ": >none.npy; tenon train none.npy --labels y.npy --out bad");
    shell_expect(1, "none.safetensors", ": >none.safetensors; tenon train none.safetensors --out bad");
    shell_expect(0, "", "test ! -e bad");
}

static void settings_that_do_not_fit(void **state)
{
    (void)state;
    write_table("table.csv", 10, NULL);
    shell_expect(1, "--batch-size: found 9, needed at most the 8 samples",
                 "tenon train table.csv --label kind --batch-size 9 --out bad");
    shell_expect(1, "--epochs: found 0, needed 1 or more", "tenon train moons --epochs 0 --out bad");
    shell_expect(1, "--epochs: found 0, needed 1 or more", "tenon train table.csv --label kind --epochs 0 --out bad");
    shell_expect(0, "", "test ! -e bad");
}

/* A run goes on with the data that it was begun on alone. */
static void data_that_changed(void **state)
{
    (void)state;
    write_table("data.csv", 10, NULL);
    shell_expect(0, "trained 2 epochs", "tenon train data.csv --label kind --epochs 2 --out run && cp -r run before");
    write_table("data.csv", 10, "1.5,2.5,red\n");
    shell_expect(1, "'data.csv' has other inputs than when the run in 'run' was begun",
                 "tenon train --resume run --epochs 4");
    write_table("data.csv", 10, "1.5,2,blue\n");
    shell_expect(1, "'data.csv' has other labels than when the run in 'run' was begun",
                 "tenon train --resume run --epochs 4");
    shell_expect(0, "", "sed s/red/rot/ data.csv >x; mv x data.csv");
    shell_expect(1, "other labels", "tenon train --resume run --epochs 4");
    write_table("data.csv", 11, NULL);
    shell_expect(1, "other inputs", "tenon train --resume run --epochs 4");
    shell_expect(0, "", "rm data.csv");
    shell_expect(1, "data.csv", "tenon train --resume run --epochs 4");
    shell_expect(0, "", "diff -r run before");
    write_table("data.csv", 10, NULL);
    shell_expect(0, "trained 4 epochs", "tenon train --resume run --epochs 4");
}

/* Checkpoints that are another run's, or damaged. */
static void checkpoints_of_others(void **state)
{
    static const char *const others[] = {"--hidden 5", "--optimizer sgd", "--schedule cosine", "--dtype float64",
                                         "--samples 300"};
    (void)state;
    shell_expect(0, "trained 2 epochs", "tenon train moons --samples 100 --epochs 2 --out mine");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        shell_expect(0, "trained 2 epochs", "rm -rf its; tenon train moons --samples 100 %s --epochs 2 --out its",
                     others[i]);
        shell_expect(0, "", "cp mine/last.safetensors its; rm -rf before; cp -r its before");
        shell_expect(1, "its/last.safetensors'", "tenon train --resume its --epochs 4");
        shell_expect(0, "", "diff -r its before");
    }
    shell_expect(1, "mine/last.safetensors",
                 "head -c 2000 mine/last.safetensors >x; mv x mine/last.safetensors; "
                 "tenon train --resume mine --epochs 4");
    shell_expect(1, "mine/run.json", "echo '{' >mine/run.json; tenon train --resume mine --epochs 4");
}

/* A file may have 1024 bytes, as where a disk is full: what was there stays, and no other file. */
static void full_disk(void **state)
{
    (void)state;
    shell_expect(0, "trained 2 epochs", "tenon train moons --samples 100 --epochs 2 --out full; cp -r full before2");
    shell_expect(1, "full/|failed: file too large", "(ulimit -f 2; tenon train --resume full --epochs 9)");
    shell_expect(0, "",
                 "test -z \"$(ls -A full | grep tmp)\"; cmp full/last.safetensors before2/last.safetensors && "
                 "cmp full/model.safetensors before2/model.safetensors");
    shell_expect(0, "trained 9 epochs", "tenon train --resume full --epochs 9");
    shell_expect(1, "below", "tenon train moons --epochs 1 --out full/run.json/below");
}

static void words_that_were_meant(void **state)
{
    (void)state;
    shell_expect(1, "did you mean 'moons'?", "tenon train moon");
    shell_expect(2, "found '-epochs'|did you mean '--epochs'?", "tenon train moons -epochs 5");
    shell_expect(2, "found '-lr'|did you mean '--lr'?", "tenon train --regression moons -lr 5");
    shell_expect(2, "found '-x'", "tenon train moons -x -xy");
    shell_expect(2, "--momentum|--optimizer adam, needed --optimizer sgd or rmsprop", "tenon train moons --momentum 1");
    shell_expect(2, "--gamma|needed --schedule step or exponential or plateau", "tenon train moons --gamma 0.5");
    shell_expect(2, "did you mean '--version'?", "tenon --versoin");
}

TEST_MAIN(fresh(arrays), fresh(settings_that_do_not_fit), fresh(data_that_changed), fresh(checkpoints_of_others),
          fresh(full_disk), fresh(words_that_were_meant))
