/* `tenon train`, `eval` and `predict` from outside: the files of a run, resuming byte for byte, Ctrl-C, what is refused
 * with which exit code, and that nothing is overwritten then. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/shell.h"
#include "support/test.h"

static bool is_same_file(const char *a, const char *b)
{
    size_t bytes[2];
    char *x = shell_content(a, &bytes[0]), *y = shell_content(b, &bytes[1]);
    bool same = bytes[0] == bytes[1] && memcmp(x, y, bytes[0]) == 0;
    free(x);
    free(y);
    return same;
}

static void same_runs(const char *a, const char *b)
{
    static const char *const files[] = {"model.safetensors", "last.safetensors", "best.safetensors", "history.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char x[64], y[64];
        snprintf(x, sizeof x, "%s/%s", a, files[i]);
        snprintf(y, sizeof y, "%s/%s", b, files[i]);
        if (!is_same_file(x, y))
            fail_msg("%s and %s differ", x, y);
    }
}

static int lines_of(const char *name)
{
    size_t bytes;
    char *text = shell_content(name, &bytes);
    int lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

static void moons(void **state)
{
    (void)state;
    shell_expect(0, "epoch   1  loss|epoch  30  loss|trained 30 epochs, 750 steps|weights in whole/model.safetensors",
                 "tenon train moons --samples 1000 --noise 0.2 --hidden 16,16 --epochs 30 --seed 0 --out whole");
    assert_string_equal(shell_last.err, "");
    assert_int_equal(lines_of("whole/history.csv"), 31);
    shell_expect(0, "\"samples\":1000,\"accuracy\":0.9|\"loss\":0.", "tenon eval whole moons --seed 1 --json");
    shell_expect(0, "accuracy  0.9", "tenon eval whole/model.safetensors moons --seed 1");
    shell_expect(0, "", "tenon eval whole moons >next; tenon eval whole moons --seed 1 | cmp - next");
    shell_expect(0, "accuracy  0.9", "tenon train blobs --seed 4 --epochs 9 --out blobs >said; tenon eval blobs blobs");
    shell_expect(2, "--seed: found 1, needed 4", "tenon eval blobs blobs --seed 1");
    shell_expect(0, "lr 0.01|lr 0.01", "tenon train moons --schedule plateau --lr-patience 2 --monitor accuracy "
                                       "--epochs 4 | tail -5 | head -2; ! grep -q 'lr 0.001' said");
    shell_write("points.csv", "x,y\n0.1,0.2\n1,0\n");
    shell_expect(0, "class,p_0,p_1\n", "tenon predict whole points.csv");
    shell_expect(0, "class,p_0,p_1\n", "tenon predict whole - <points.csv");
    shell_expect(0, "0.weight|float32|[16, 2]", "tenon inspect whole/model.safetensors");
    shell_expect(0, "checksum right", "tenon inspect whole/last.safetensors");
    shell_expect(0, "checksum right", "tenon inspect whole/model.safetensors");
    shell_expect(1, "'whole/last.safetensors' is a checkpoint|model.safetensors beside it, or the folder of the run",
                 "tenon eval whole/last.safetensors moons");
}

/* Points to judge by are made as the run's unless it is asked otherwise, or there is no run.json to say how. */
static void judged_by_its_own_kind(void **state)
{
    (void)state;
    shell_expect(0, "trained", "tenon train moons --samples 300 --noise 0.45 --epochs 5 --out noisy");
    shell_expect(0, "\"samples\":300,", "tenon eval noisy moons --seed 7 --json");
    char *own = strdup(shell_last.out);
    shell_expect(0, "{", "tenon eval noisy moons --seed 7 --samples 300 --noise 0.45 --json");
    assert_string_equal(shell_last.out, own);
    shell_expect(0, "\"samples\":300,", "tenon eval noisy moons --seed 7 --noise 0.1 --json");
    char *asked = strdup(shell_last.out);
    assert_string_not_equal(asked, own);
    shell_expect(0, "{", "tenon eval noisy/model.safetensors moons --samples 300 --noise 0.1 --seed 7 --json");
    assert_string_equal(shell_last.out, asked);
    shell_expect(0, "\"samples\":1000,", "tenon eval noisy/model.safetensors moons --seed 7 --json");
    shell_expect(0, "\"samples\":1000,", "tenon eval noisy circles --json");
    shell_expect(1, "noisy/run.json", "echo '{}' >noisy/run.json; tenon eval noisy moons");
    free(own);
    free(asked);
}

/* run.json's line gives the same run again. */
static void repeated(void **state)
{
    (void)state;
    shell_expect(0, "trained 4 epochs",
                 "tenon train circles --samples 300 --factor 0.3 --noise 0.05 --hidden 8 --activation tanh --dtype "
                 "float64 --optimizer sgd --momentum 0.9 --nesterov --schedule step --step-size 2 --gamma 0.5 "
                 "--clip-norm 1 --validation 0.25 --monitor accuracy --seed 7 --epochs 4 --out once");
    shell_expect(0, "trained 4 epochs",
                 "eval \"$(sed -n 's/^  \"repeat\": \"\\(.*\\) --out DIR\",$/\\1 --out twice/p' once/run.json)\"");
    same_runs("once", "twice");
    assert_true(is_same_file("once/run.json", "twice/run.json"));
}

/* Every optimizer, shuffled, with each schedule: what was cut in two ends in the bytes of what was not. */
static void resumed(void **state)
{
    static const char *const optimizers[] = {"sgd --momentum 0.9", "adam --amsgrad", "adamw", "rmsprop --centered",
                                             "lbfgs --strong-wolfe"};
    static const char *const schedules[] = {"step --step-size 2", "cosine --t-max 6", "warmup",
                                            "plateau --lr-patience 1", "exponential"};
    (void)state;
    for (int i = 0; i < 5; i++) {
        char line[200], a[8], b[8];
        snprintf(line, sizeof line, "tenon train moons --samples 200 --optimizer %s --schedule %s", optimizers[i],
                 schedules[i]);
        snprintf(a, sizeof a, "a%d", i);
        snprintf(b, sizeof b, "b%d", i);
        shell_expect(0, "trained 6 epochs", "%s --epochs 6 --out %s", line, a);
        shell_expect(0, "trained 3 epochs", "%s --epochs 3 --out %s", line, b);
        shell_expect(0, "trained 6 epochs", "tenon train --resume %s --epochs 6", b);
        same_runs(a, b);
    }
    shell_expect(0, "nothing to do: the run has its 6 epochs", "tenon train --resume b0");
    shell_expect(2, "--epochs: found 2|has 6 already", "tenon train --resume b0 --epochs 2");
    shell_expect(2, "--lr: found '0.5', but the run in 'b0' was begun with 0.1",
                 "tenon train --resume b0 --epochs 9 --lr 0.5");
    shell_expect(2, "--out: found 'c' beside --resume 'b0'", "tenon train --resume b0 --out c");
    same_runs("a0", "b0");
}

/* Ctrl-C: the step that runs is finished, all is saved, and the run goes on to where it would have come. */
static void interrupted(void **state)
{
    static const char begin[] = "begin() { \"$TENON\" train moons --samples 100 --epochs $1 --out \"$2\" >said 2>&1 & "
                                "p=$!; i=0; while [ ! -s \"$2/last.safetensors\" ] && [ $i -lt 200 ]; do "
                                "sleep 0.05; i=$((i+1)); done; }; ";
    (void)state;
    for (int i = 0; i < 2; i++) {
        shell("%s begin 1000000 stopped%d; kill -%s $p; wait $p", begin, i, i ? "TERM" : "INT");
        assert_int_equal(shell_last.code, i ? 128 + 15 : 128 + 2);
        shell_expect(0, "stopped after|'tenon train --resume' goes on", "tail -3 said");
        shell_expect(0, "checksum right", "tenon inspect stopped%d/last.safetensors", i);
        shell_expect(0, "\"accuracy\":", "tenon eval stopped%d moons --json", i);
    }
    shell_expect(0, "trained", "n=$(wc -l <stopped0/history.csv); tenon train --resume stopped0 --epochs $((n+20)); "
                               "tenon train moons --samples 100 --epochs $((n+20)) --out straight >/dev/null");
    same_runs("stopped0", "straight");
}

static void tables(void **state)
{
    char text[4096] = "a,b,kind\n";
    (void)state;
    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d.5,%d,%s\n", i % 7, i % 3 * 4,
                 i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue");
    shell_write("kinds.csv", text);
    shell_expect(0, "trained 20 epochs", "tenon train kinds.csv --label kind --epochs 20 --out kinds");
    shell_expect(0, "\"accuracy\":1", "tenon eval kinds kinds.csv --json");
    shell_write("rows.csv", "a,b\n1,4\n2,8\n");
    shell_expect(0, "class,p_blue,p_green,p_red\ngreen,|\nblue,", "tenon predict kinds rows.csv");
    shell_write("unknown.csv", "a,b,kind\n1,4,green\n2,8,mauve\n");
    shell_expect(1, "unknown.csv|line 3|mauve", "tenon eval kinds unknown.csv");
    shell_write("narrow.csv", "a\n1\n");
    shell_expect(1, "trained on a table", "tenon eval kinds blobs");
    shell_expect(1, "narrow.csv|no column 'b' among its 1: 'a'", "tenon predict kinds narrow.csv");
    shell_write("other.csv", "a,c\n1,4\n");
    shell_expect(1, "other.csv|no column 'b' among its 2: 'a', 'c'", "tenon predict kinds other.csv");
    shell_expect(0, "trained 5 epochs",
                 "cut -d, -f1,2 kinds.csv >two.csv; tenon train two.csv --label a --regression --epochs 5 "
                 "--out numbers");
    shell_expect(0, "rmse|R^2", "tenon eval numbers two.csv");
    shell_expect(0, "prediction\n", "tenon predict numbers two.csv");
}

static void bad_data(void **state)
{
    static const struct {
        const char *file, *text, *said;
    } cases[] = {{"word.csv", "a,b,kind\n1,2,red\n1,x,blue\n", "word.csv|line 3|'x'"},
                 {"ragged.csv", "a,b,kind\n1,2,red\n1,blue\n", "ragged.csv|line 3"},
                 {"empty.csv", "", "empty.csv"},
                 {"heading.csv", "a,b,kind\n", "heading.csv"},
                 {"nan.csv", "a,b,kind\n1,2,red\n1,nan,blue\n", "nan.csv|line 3"},
                 {"huge.csv", "a,b,kind\n1,2,red\n1,1e999,blue\n", "huge.csv|line 3"},
                 {"one.csv", "a,b,kind\n1,2,red\n3,4,red\n", "one.csv|one class"},
                 {"packed.csv", "\x1f\x8b\x08", "packed.csv|gzip"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shell_write(cases[i].file, cases[i].text);
        shell_expect(1, cases[i].said, "tenon train %s --label kind --out bad", cases[i].file);
        shell_expect(0, "", "test ! -e bad");
    }
    shell_write("good.csv", "a,b,kind\n1,2,red\n3,4,blue\n5,6,red\n7,8,blue\n1,1,red\n");
    shell_expect(1, "good.csv|colour", "tenon train good.csv --label colour --out bad");
    shell_expect(1, "nofile.csv", "tenon train nofile.csv --label x --out bad");
    shell_expect(0, "", "test ! -e bad");
}

static void refused(void **state)
{
    static const struct {
        const char *options, *said;
    } cases[] = {{"moons --sampels 3", "did you mean '--samples'"},
                 {"moons --nesterov", "--nesterov|adam"},
                 {"moons --optimizer sgd --nesterov", "--nesterov|--momentum"},
                 {"moons --optimizer sgd --nesterov --momentum 0.9 --dampening 0.1", "--nesterov|--dampening"},
                 {"blobs --noise 0.1", "--noise|blobs"},
                 {"moons --label x", "--label|moons"},
                 {"moons --validation 1", "--validation|from 0 to below 1"},
                 {"circles --factor 1", "--factor|from 0 to below 1"},
                 {"moons --beta1 1", "--beta1|from 0 to below 1"},
                 {"moons --clip-norm 0", "--clip-norm|above 0"},
                 {"moons --validation 0 --monitor accuracy", "--monitor|without validation"},
                 {"x.csv --regression --monitor accuracy", "--monitor|--regression"},
                 {"moons --schedule cosine --eta-min 100", "--eta-min|--lr"},
                 {"moons circles", "found also 'circles'"},
                 {"", "found no data"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        shell_expect(2, cases[i].said, "tenon train %s --out no", cases[i].options);
    shell_expect(1, "--epochs: found 0", "tenon train moons --epochs 0 --out no");
    shell_expect(1, "--batch-size: found 5000", "tenon train moons --batch-size 5000 --out no");
    shell_expect(1, "nodir", "tenon eval nodir moons");
    shell_expect(1, "nodir", "tenon train --resume nodir --epochs 3");
    shell_expect(0, "", "test ! -e no");
}

/* What fails before the first checkpoint leaves what another run left, or nothing. */
static void kept(void **state)
{
    static const char away[] = "--optimizer sgd --lr 1000 --momentum 0.99";
    (void)state;
    shell_expect(0, "trained 2 epochs", "tenon train moons --samples 100 --epochs 2 --out kept && cp -r kept before");
    shell_expect(1, "'kept' holds a run|--resume 'kept'|--force", "tenon train moons --out kept");
    shell_expect(1, "nofile.csv", "tenon train nofile.csv --out kept --force");
    shell_expect(2, "--monitor", "tenon train moons --validation 0 --monitor accuracy --out kept --force");
    shell_expect(3, "epoch 1, step|the loss is|the run that was there is kept",
                 "tenon train moons %s --out kept --force", away);
    shell_expect(0, "", "diff -r kept before");
    shell_expect(3, "before the first checkpoint", "tenon train moons %s --out away", away);
    shell_expect(0, "", "test ! -e away");
    shell_expect(3, "is kept", "tenon train moons %s --save-every 1 --out kept --force", away);
    shell_expect(0, "checksum right", "tenon inspect kept/last.safetensors && ! ls -A kept | grep previous");
    shell_expect(0, "checksum right", "tenon inspect kept/model.safetensors");
    shell_expect(1, "file too large", "rm -r kept && cp -r before kept && "
                                      "(ulimit -f 9; tenon train moons --epochs 9000 --out kept --force)");
    shell_expect(0, "samples", "tenon eval kept moons");
    shell_expect(1, "'theirs' holds a run",
                 "mkdir theirs && echo x >theirs/run.json && tenon train moons --out theirs");
    shell_expect(0, "x\n", "cat theirs/run.json");
    shell_expect(0, "trained 1 epoch, 3 steps", "tenon train moons --samples 100 --epochs 1 --out kept/ --force");
    assert_non_null(strstr(shell_last.out, "in kept/model.safetensors"));
    shell_write("file", "");
    shell_expect(1, "'file' is no folder", "tenon train moons --out file");
    shell_expect(1, "file/run", "tenon train moons --out file/run");
    shell_expect(1, "writing|file too large", "ulimit -f 1; tenon train moons --hidden 100,100 --out large");
    shell_expect(0, "", "test ! -e large");
}

/* A run is one process's; what killed ones left goes, and the run that they were to take the place of comes back. */
static void shared(void **state)
{
    (void)state;
    shell_expect(0, "trained", "tenon train moons --samples 100 --epochs 2 --out ours && cp -r ours was");
    shell_expect(0, "", "cd ours && for f in *; do mv $f .previous-$f; done; touch .tenon-12-0.tmp run.json");
    shell_expect(1, "holds a run", "tenon train moons --out ours");
    shell_expect(0, "", "diff -r ours was");
    shell_expect(1, "holds a run", "mv ours/last.safetensors ours/.previous-last.safetensors; "
                                   "tenon train moons --out ours");
    shell_expect(0, "", "diff -r ours was");
    shell("\"$TENON\" train moons --samples 100 --epochs 1000000 --out busy >/dev/null 2>&1 & p=$!; i=0; "
          "while [ ! -s busy/last.safetensors ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; "
          "tenon train --resume busy; echo $?; tenon train moons --out busy --force; echo $?; kill -9 $p; wait $p");
    assert_non_null(strstr(shell_last.err, "'busy' is in use"));
    assert_string_equal(shell_last.out, "1\n1\n");
    shell_expect(0, "trained", "n=$(tenon inspect busy/last.safetensors --json | "
                               "sed 's/.*\"history\",[^[]*\\[\\([0-9]*\\).*/\\1/'); "
                               "tenon train --resume busy --epochs $((n+1)) | tail -3");
    shell_expect(0, "nothing to do", "tenon train --resume busy");
}

/* The weights of the best epoch are this run's, or it says that they are not. */
static void best(void **state)
{
    (void)state;
    shell_expect(0, "trained", "tenon train moons --samples 100 --epochs 5 --seed 1 --out mine; "
                               "tenon train moons --samples 100 --epochs 5 --seed 2 --out other; "
                               "cp other/best.safetensors mine/; tenon train --resume mine --epochs 5 2>said; "
                               "grep \"'mine/best.safetensors' is not that of this run\" said");
    shell_expect(0, "lost", "rm mine/best.safetensors; "
                            "tenon train --resume mine 2>&1 | grep -q 'not that of' && echo lost");
}

TEST_MAIN(test(moons), test(judged_by_its_own_kind), test(repeated), test(resumed), test(interrupted), test(tables),
          test(bad_data), test(refused), test(kept), test(shared), test(best))
