/* `tenon inspect` and `tenon summary` from outside: every format, every range, wrong sums, wrong words. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/shell.h"
#include "support/test.h"

static void npy(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t wide[] = {-5, 9007199254740993, 0};
    assert_int_equal(tn_save_npy(tn_from_array(wide, (int64_t[]){3, 1}, 2, TN_INT64), shell_path("wide.npy")), TN_OK);
    const float odd[] = {0.1f, NAN, -INFINITY, 2.5f};
    assert_int_equal(tn_save_npy(tn_from_array(odd, (int64_t[]){4}, 1, TN_FLOAT32), shell_path("odd.npy")), TN_OK);
    const double none[1] = {0};
    assert_int_equal(tn_save_npy(tn_from_array(none, (int64_t[]){0, 2}, 2, TN_FLOAT64), shell_path("none")), TN_OK);
    tn_scope_end(scope);
    shell_expect(0, "wide.npy: npy, 152 bytes, 1 tensor, 3 elements|(array)|int64|[3, 1]|-5|9007199254740993|0|0\n",
                 "tenon inspect wide.npy");
    shell_expect(0, "float32|[4]|0.1|2.5|1.3|1|1\n", "tenon inspect odd.npy");
    shell_expect(
        0,
        "{\"file\":\"odd.npy\",\"format\":\"npy\",\"bytes\":144,\"checksum\":null,\"metadata\":{},\"tensors\":[{"
        "\"name\":\"\",\"dtype\":\"float32\",\"shape\":[4],\"min\":0.1,\"max\":2.5,\"mean\":1.3|,\"nan\":1,"
        "\"inf\":1}]}\n",
        "tenon inspect --json odd.npy");
    shell_expect(0, "npy, 128 bytes|float64|[0, 2]|-|-|-", "tenon inspect none");
    shell_expect(0, "standard input: npy", "tenon inspect - <none");
}

static void safetensors(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const tn_named_tensor tensors[] = {{"0.weight", tn_ones((int64_t[]){2, 3}, 2, TN_FLOAT32)},
                                       {"step", tn_zeros(NULL, 0, TN_INT64)}};
    const tn_metadata metadata[] = {{"kind", "a \"test\""}};
    const tn_safetensors_options summed = {.metadata = metadata, .n_metadata = 1, .sum = true};
    assert_int_equal(tn_save_safetensors(shell_path("plain.safetensors"), tensors, 2, NULL), TN_OK);
    assert_int_equal(tn_save_safetensors(shell_path("sum.safetensors"), tensors, 2, &summed), TN_OK);
    const tn_metadata checkpoint[] = {{"format", "checkpoint"}};
    const tn_safetensors_options bare = {.metadata = checkpoint, .n_metadata = 1};
    assert_int_equal(tn_save_safetensors(shell_path("bare.safetensors"), tensors, 2, &bare), TN_OK);
    const tn_metadata word[] = {{"sum", "total"}};
    const tn_safetensors_options worded = {.metadata = word, .n_metadata = 1};
    assert_int_equal(tn_save_safetensors(shell_path("worded.safetensors"), tensors, 2, &worded), TN_OK);
    tn_scope_end(scope);
    shell_expect(1, "'bare.safetensors': found no checksum, which a checkpoint has", "tenon inspect bare.safetensors");
    shell_expect(1, "'worded.safetensors': found a checksum that is not", "tenon inspect worded.safetensors");
    shell_expect(0, "safetensors, |2 tensors, 7 elements\n|0.weight|float32|[2, 3]|1|1|1|step|int64|[]",
                 "tenon inspect plain.safetensors");
    shell_expect(0, ", checksum right|metadata|kind|a \"test\"|sum", "tenon inspect sum.safetensors");
    shell_expect(0, "\"checksum\":\"right\",\"metadata\":{\"kind\":\"a \\\"test\\\"\",\"sum\":\"",
                 "tenon inspect --json sum.safetensors");
    shell("n=$(($(wc -c <sum.safetensors) - 1)); { head -c $n sum.safetensors; printf x; } >flipped");
    shell_expect(1, "tenon inspect: 'flipped': found a checksum that is not the file's", "tenon inspect flipped");
    assert_non_null(strstr(shell_last.out, "checksum WRONG"));
    shell("sed 's/\"sum\":\"./\"sum\":\"G/' sum.safetensors >digit");
    shell_expect(1, "'digit': found a checksum that is not the file's", "tenon inspect digit");
    assert_non_null(strstr(shell_last.out, "checksum WRONG"));
    shell_expect(1, "'digit': found a checksum that is not the file's", "tenon inspect --json digit");
    assert_non_null(strstr(shell_last.out, "\"checksum\":\"wrong\""));
    shell("head -c 100 sum.safetensors >cut.safetensors; gzip -c plain.safetensors >packed.safetensors");
    shell_expect(1, "'cut.safetensors' is truncated", "tenon inspect cut.safetensors");
    shell_expect(1, "gzip", "tenon inspect packed.safetensors");
}

static void csv(void **state)
{
    (void)state;
    shell_expect(0, "flats.csv: csv, |400 rows, 4 columns of numbers\n|area|20.6|199.9|price|6.0|722.3",
                 "tenon inspect $DATA/flats.csv");
    shell_write("kinds.csv", "size,kind\n1.5,cat\n2.5,dog\n4,cat\n");
    shell_expect(0,
                 "3 rows, 1 columns of numbers and one of labels|size|1.5|4.0|labels, column kind: 2 classes\n"
                 "  cat |2\n  dog |1\n",
                 "tenon inspect kinds.csv --label kind");
    shell_expect(0, "labels, column -1: 2 classes", "tenon inspect kinds.csv");
    shell_expect(0,
                 "\"columns\":[{\"name\":\"size\",|\"labels\":{\"column\":\"kind\",\"classes\":[{\"name\":\"cat\","
                 "\"count\":2},{\"name\":\"dog\",\"count\":1}]}}\n",
                 "tenon inspect --json --label kind kinds.csv");
    shell_expect(0, "standard input: csv", "printf '1;2\\n' | tenon inspect --delimiter semicolon -");
    shell_expect(1, "'standard input' line 2, column 1: the row ends after 1 fields",
                 "printf '1,2\\n3\\n' | tenon inspect -");
    shell_expect(1, "kinds.csv|no column 'nothing'|'size', 'kind'", "tenon inspect kinds.csv --label nothing");
    for (int i = 0; i < 5; i++) {
        static const char *const said[] = {"", "--delimiter ';'", "--delimiter semicolon", "--delimiter tab",
                                           "--delimiter \"$(printf '\\t')\""};
        const char *mark = i < 3 ? ";" : "\\t";
        shell_expect(0, "2 rows, 2 columns of numbers", "printf '1%s2\\n3%s4\\n' | tenon inspect - %s", mark, mark,
                     said[i]);
    }
    shell_expect(0, "2 rows, 2 columns", "printf 'a\\tb\\n1\\t2\\n3\\t4\\n' | tenon inspect -");
    shell_expect(1, "'red' is not a number: --label COLUMN says where words are",
                 "printf 'a,kind,b\\n1,red,2\\n' | tenon inspect -");
    shell_expect(0, "column kind", "printf 'a,kind,b\\n1,red,2\\n' | tenon inspect - --label kind");
    shell_expect(1, "'a' is not a number|--header yes", "printf 'a,2020,c\\n1,2,3\\n4,5,6\\n' | tenon inspect -");
    shell_expect(0, "2020", "printf 'a,2020,c\\n1,2,3\\n4,5,6\\n' | tenon inspect - --header yes");
    shell_write("run.json", "{\n  \"program\": \"tenon\"\n}\n");
    shell_expect(1, "'run.json'|it is JSON", "tenon inspect run.json");
}

static void refusals(void **state)
{
    (void)state;
    shell_expect(1, "tenon inspect: |'nowhere.npy'", "tenon inspect nowhere.npy");
    shell_expect(1, "tenon inspect: ", "tenon inspect .");
    shell_expect(1, "tenon inspect: csv_sniff: ", "tenon inspect - </dev/null");
    shell_expect(1, "{\"error\":{\"message\":\"", "tenon inspect --json nowhere.npy");
    shell_expect(2, "found nothing, needed a file's name", "tenon inspect");
    shell_expect(2, "found also 'b'", "tenon inspect a b");
    shell_expect(2, "did you mean '--label'?", "tenon inspect --lable x a");
    shell_expect(2, "needed 'comma' or 'semicolon' or 'tab'", "tenon inspect --delimiter '|' a");
    shell_expect(0, "Usage: tenon inspect|Examples:|Exit code", "tenon inspect --help");
}

static void summary(void **state)
{
    (void)state;
    shell_expect(0, "layer |0 |Linear |[1, 16]|float32|48|1 |ReLU|4 |Linear|[1, 1]|all |337|304|1348\n",
                 "tenon summary");
    shell_expect(0, "GELU|[8, 3]|float64",
                 "tenon summary --inputs 784 --hidden 5 --outputs 3 --activation gelu "
                 "--dtype float64 --batch 8");
    shell_expect(0, "Linear|[1, 1]|all  |3 ", "tenon summary --hidden none");
    static const char *const words[] = {"relu", "leaky_relu", "sigmoid", "tanh", "silu", "softplus"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        shell_expect(0, "337", "tenon summary --activation %s", words[i]);
    shell_expect(2, "needed 'relu' or ", "tenon summary --activation relo");
    shell_expect(2, "did you mean '--hidden'?", "tenon summary --hiden 4");
    shell_expect(2, "found also 'y', needed one folder", "tenon summary x y");
    shell_expect(2, "--hidden: found also 'x', a net that is there", "tenon summary x --hidden 4");
    shell_expect(1, "tenon summary: |'x'", "tenon summary x");
    shell("tenon train moons --samples 40 --hidden 5 --activation gelu --dtype float64 --epochs 1 --out run");
    shell_expect(0, "layer |0 |Linear |[3, 5]|float64|15|1 |GELU|2 |Linear|[3, 1]|all |21|45|168\n",
                 "tenon summary run --batch 3");
    shell_expect(0, "|all |21|15|168\n", "tenon summary run/model.safetensors");
    shell_expect(1, "tenon summary: |run.json", "tenon summary run/run.json");
    shell_expect(0, "Usage: tenon summary|Examples:", "tenon help summary");
}

TEST_MAIN(test(npy), test(safetensors), test(csv), test(refusals), test(summary))
