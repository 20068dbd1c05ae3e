/* `tenon train`, `eval` and `predict` on tables as people have them: columns by name, in any order, more of them, a
 * label anywhere, other delimiters, class labels that are any numbers; options that do not belong. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/shell.h"

/* price = 2 a - b, with the label where `form` has it. */
static void write_table(const char *name, const char *header, const char *form, int rows)
{
    char text[8192];
    int used = snprintf(text, sizeof text, "%s", header);
    for (int i = 0; i < rows; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, form, i % 7, i % 5, 2 * (i % 7) - i % 5);
    shell_write(name, text);
}

static char said[SHELL_TEXT];

static void same_as_before(const char *line)
{
    shell("%s", line);
    if (shell_last.code != 0 || strcmp(shell_last.out, said) != 0)
        fail_msg("%s: exit code %d, said\n%s%s, needed\n%s", line, shell_last.code, shell_last.out, shell_last.err,
                 said);
}

static void by_name(void **state)
{
    (void)state;
    write_table("prices.csv", "a,b,price\n", "%d,%d,%d\n", 60);
    shell_expect(0, "trained 3 epochs", "tenon train prices.csv --regression --epochs 3 --out prices");
    shell_expect(0, "prediction\n", "printf 'a,b\\n1,2\\n5,3\\n' | tenon predict prices -");
    strcpy(said, shell_last.out);
    same_as_before("printf 'a,b,extra\\n1,2,9\\n5,3,9\\n' | tenon predict prices -");
    same_as_before("printf 'a,b,price\\n1,2,\\n5,3,\\n' | tenon predict prices -");
    same_as_before("printf 'id,b,price,a\\nP1,2,7,1\\nP2,3,?,5\\n' | tenon predict prices -");
    same_as_before("printf 'b;a;x\\n2;1;\\n3;5;\\n' | tenon predict prices -");
    same_as_before("printf '\\357\\273\\277\"b\"\\ta\\r\\n2\\t1\\r\\n3\\t5\\r\\n' | tenon predict prices -");
    same_as_before("printf '1,2\\n5,3\\n' | tenon predict prices -");
    same_as_before("printf '1,2,\\n5,3,\\n' | tenon predict prices -");
    same_as_before("printf '1,,2\\n5,,3\\n' | tenon predict prices - --label 1");
    shell_expect(1, "no column 'b' among its 2: 'a', 'cost'", "printf 'a,cost\\n1,2\\n' | tenon predict prices -");
    shell_expect(1, "no column 'price' for the labels among its 3: 'a', 'b', 'cost'",
                 "printf 'a,b,cost\\n1,2,0\\n' | tenon eval prices -");
    shell_expect(0, "rmse", "printf 'a,b,cost\\n1,2,0\\n' | tenon eval prices - --label cost");
    shell_expect(0, "rmse", "tenon eval prices prices.csv");
    strcpy(said, shell_last.out);
    write_table("moved.csv", "a,b,price,name\n", "%d,%d,%d,x\n", 60);
    same_as_before("tenon eval prices moved.csv");
    same_as_before("tr , '\\t' <moved.csv | tenon eval prices -");
    write_table("middle.csv", "", "%d,%d,%d\n", 60);
    shell_expect(0, "trained 2 epochs", "tenon train middle.csv --label 1 --regression --epochs 2 --out middle");
    shell_expect(0, "prediction\n", "printf '1,2\\n' | tenon predict middle -");
    strcpy(said, shell_last.out);
    same_as_before("printf '1,7,2\\n' | tenon predict middle -");
    same_as_before("printf '1,2,7\\n' | tenon predict middle - --label -1");
}

static void classes(void **state)
{
    char text[4096] = "";
    (void)state;
    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d;%d;%d\n", i % 2 ? 8 : -8, i % 3, i % 2 ? 10 : 9);
    shell_write("numbers.csv", text);
    shell_expect(0, "trained 20 epochs", "tenon train numbers.csv --epochs 20 --out numbers");
    shell_expect(0, "class,p_9,p_10\n9,|\n10,", "printf '%%s8,0\\n8,1\\n' - | tenon predict numbers -");
    shell_expect(0, "\"accuracy\":1.0,", "tenon eval numbers numbers.csv --json");
    shell_expect(1, "'11' is a label that is none of the classes", "printf '8,0,11\\n' | tenon eval numbers -");
    text[0] = 0;
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d\n", i, i);
    shell_write("many.csv", text);
    shell_expect(1, "'many.csv' has labels of 30 classes in 30 rows|--regression", "tenon train many.csv --out bad");
    shell_write("half.csv", "1,2\n1,2.5\n");
    shell_expect(1, "'2.5' is a label that is no class|--regression", "tenon train half.csv --out bad");
    shell_write("year.csv", "a,2020,c\n1,2,0\n3,4,1\n");
    shell_expect(1, "'a' is not a number|--header yes", "tenon train year.csv --out bad");
}

/* The labels of arrays are as those of tables. */
static void array_classes(void **state)
{
    enum { N = 40 };
    float x[N][2], y[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i][0] = i % 2 ? 8 : -8;
        x[i][1] = (float)(i % 3);
        y[i] = i % 2 ? 60000 : 3;
    }
    tn_scope scope = tn_scope_begin();
    const int64_t size[] = {N, 2};
    assert_int_equal(tn_save_npy(tn_from_array(x, size, 2, TN_FLOAT32), shell_path("xs.npy")), TN_OK);
    assert_int_equal(tn_save_npy(tn_from_array(y, size, 1, TN_FLOAT32), shell_path("ys.npy")), TN_OK);
    y[5] = 4;
    assert_int_equal(tn_save_npy(tn_from_array(y, size, 1, TN_FLOAT32), shell_path("four.npy")), TN_OK);
    for (int i = 0; i < N; i++)
        y[i] = (float)(2 * i);
    assert_int_equal(tn_save_npy(tn_from_array(y, size, 1, TN_FLOAT32), shell_path("row.npy")), TN_OK);
    tn_scope_end(scope);
    shell_expect(0, "trained 20 epochs", "tenon train xs.npy --labels ys.npy --epochs 20 --out gap");
    shell_expect(0, "class,p_3,p_60000\n3,|\n60000,", "tenon predict gap xs.npy");
    shell_expect(0, "\"accuracy\":1.0,", "tenon eval gap xs.npy --labels ys.npy --json");
    shell_expect(1, "y[5] is 4, which is none of the net's classes", "tenon eval gap xs.npy --labels four.npy");
    shell_expect(1, "40 classes in 40 rows|--regression", "tenon train xs.npy --labels row.npy --out bad");
}

static void options_that_do_not_belong(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones((int64_t[]){6, 2}, 2, TN_FLOAT32), *y = tn_zeros((int64_t[]){6}, 1, TN_FLOAT32);
    const tn_named_tensor both[] = {{"x", x}, {"y", y}};
    assert_int_equal(tn_save_npy(x, shell_path("x.npy")), TN_OK);
    assert_int_equal(tn_save_npy(y, shell_path("y.npy")), TN_OK);
    assert_int_equal(tn_save_safetensors(shell_path("ok.safetensors"), both, 2, NULL), TN_OK);
    tn_scope_end(scope);
    shell_write("q.csv", "1,0\n2,1\n3,0\n4,1\n5,0\n");
    shell_expect(2, "--header: found it beside 'x.npy'", "tenon train x.npy --labels y.npy --header yes");
    shell_expect(2, "--delimiter: found it beside 'x.npy'", "tenon train x.npy --labels y.npy --delimiter ,");
    shell_expect(2, "--label: found it beside 'x.npy'", "tenon train x.npy --labels y.npy --label 0");
    shell_expect(2, "--labels: found it beside 'q.csv'", "tenon train q.csv --labels y.npy");
    shell_expect(2, "--labels: found it beside 'ok.safetensors'", "tenon train ok.safetensors --labels y.npy");
    shell_expect(0, "trained 1 epoch", "tenon train x.npy --labels y.npy --regression --epochs 1 --out arrays");
    shell_expect(2, "--label: found it beside 'x.npy'", "tenon predict arrays x.npy --label 0");
    shell_expect(2, "--labels: found it beside 'q.csv'", "tenon eval arrays q.csv --labels y.npy");
    shell_expect(0, "trained 1 epoch", "tenon train - --epochs 1 --out piped <q.csv");
    shell_expect(1, "the run in 'piped' was begun on 'standard input', which cannot be read again",
                 "tenon train --resume piped --epochs 2 </dev/null");
    shell_expect(0, "trained 2 epochs", "tenon train --resume piped --epochs 2 <q.csv");
}

TEST_MAIN(fresh(by_name), fresh(classes), fresh(array_classes),
          fresh(options_that_do_not_belong))
