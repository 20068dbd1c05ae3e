/* CSV: headers, columns of labels, classes, quotes, and what each message says. tests/hostile has more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "support/errors.h"
#include "support/scratch.h"


static tn_dataset *load(const char *text, const tn_csv_options *options)
{
    FILE *file = fopen(scratch_path, "wb");
    assert_non_null(file);
    fwrite(text, 1, strlen(text), file);
    fclose(file);
    return tn_load_csv(scratch_path, options);
}

static void header_and_words(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_csv_options options = {.label = "kind"};
    tn_dataset *d =
        load("\xef\xbb\xbfwidth,kind,\"he\"\"ight\"\r\n1.5,dog,2\r\n3,\"cat\",4\n5,\"a\"\"b\",6\n", &options);
    assert_int_equal(tn_error_code(), TN_OK);
    const float x[] = {1.5f, 2, 3, 4, 5, 6};
    const int64_t y[] = {2, 1, 0};
    assert_memory_equal(tn_data_f32(tn_dataset_x(d)), x, sizeof x);
    assert_memory_equal(tn_data_i64(tn_dataset_y(d)), y, sizeof y);
    assert_string_equal(tn_dataset_column_name(d, 0), "width");
    assert_string_equal(tn_dataset_column_name(d, 1), "he\"ight");
    assert_null(tn_dataset_column_name(d, 2));
    assert_int_equal(tn_dataset_class_count(d), 3);
    assert_string_equal(tn_dataset_class_name(d, 0), "a\"b");
    assert_string_equal(tn_dataset_class_name(d, 2), "dog");

    const char *names[] = {"dog", "a\"b", "cat"};
    options.class_names = names;
    options.classes = 3;
    d = load("width,kind,h\n1.5,dog,2\n3,\"a\"\"b\",4\n", &options);
    assert_int_equal(tn_data_i64(tn_dataset_y(d))[1], 1);
    assert_null(load("width,kind,h\n1.5,dog,2\n3,cow,4\n", &options));
    expect_error(TN_ERROR_DATA, "line 3, column 2: 'cow' is a label that is none of the classes");
    tn_scope_end(scope);
}

static void numbers_as_labels(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *d = load("1,2,0\n3,4,2\n", &(tn_csv_options){.label = "-1", .dtype = TN_FLOAT64});
    assert_int_equal(tn_dataset_class_count(d), 3);
    assert_null(tn_dataset_class_name(d, 0));
    assert_int_equal(tn_data_i64(tn_dataset_y(d))[1], 2);
    d = load("1,2,0.5\n3,4,2\n", &(tn_csv_options){.label = "2", .target = TN_CSV_NUMBERS});
    assert_int_equal(tn_dataset_class_count(d), 0);
    assert_true(tn_data_f32(tn_dataset_y(d))[0] == 0.5f);
    d = load("1;2\r3;4\r", &(tn_csv_options){.delimiter = ';'});
    assert_null(tn_dataset_y(d));
    assert_true(tn_data_f32(tn_dataset_x(d))[3] == 4.0f);
    /* rounded once: by way of a double it would be 1 */
    d = load("1.00000017881393432617187499,1\n", NULL);
    assert_true(tn_data_f32(tn_dataset_x(d))[0] == 0x1.000002p+0f);
    d = load("# made by hand\n\n1,2\n # more\n3,4", &(tn_csv_options){.comment = '#'});
    assert_int_equal(tn_dataset_size(d), 2);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

/* As scikit-learn's LabelEncoder. */
static void distinct_labels(void **state)
{
    static const struct {
        const char *text;
        int64_t y[4], n;
        const char *names[4]; /* NULL: none */
    } cases[] = {{"1,10\n1,9\n1,10.0\n1,-3\n", {2, 1, 2, 0}, 3, {"-3", "9", "10"}},
                 {"1,0\n1,2\n1,1\n1,2\n", {0, 2, 1, 2}, 3, {NULL}},
                 {"1,60000\n1,1\n1,1\n1,1\n", {1, 0, 0, 0}, 2, {"1", "60000"}},
                 {"1,10\n1,9\n1,b\n1,9\n", {0, 1, 2, 1}, 3, {"10", "9", "b"}},
                 {"1,nan\n1,b\n1,0.5\n1,b\n", {2, 1, 0, 1}, 3, {"0.5", "b", "nan"}}};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_csv_options options = {.label = "1", .target = TN_CSV_LABELS};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_dataset *d = load(cases[i].text, &options);
        assert_int_equal(tn_error_code(), TN_OK);
        assert_int_equal(tn_dataset_class_count(d), cases[i].n);
        assert_memory_equal(tn_data_i64(tn_dataset_y(d)), cases[i].y, sizeof cases[i].y);
        for (int64_t k = 0; k < cases[i].n; k++)
            if (cases[i].names[0])
                assert_string_equal(tn_dataset_class_name(d, k), cases[i].names[k]);
            else
                assert_null(tn_dataset_class_name(d, k));
    }
    assert_null(load("1,2\n1,0.5\n1,nan\n", &options));
    expect_error(TN_ERROR_DATA, "line 2, column 2: '0.5' is a label that is no class, needed a whole number or a word");
    const char *const names[] = {"7", "9"};
    options.class_names = names;
    options.classes = 2;
    tn_dataset *d = load("1,9.0\n1,07\n1,9\n", &options);
    assert_memory_equal(tn_data_i64(tn_dataset_y(d)), ((int64_t[]){1, 0, 1}), 24);
    assert_null(load("1,9\n1,8\n", &options));
    expect_error(TN_ERROR_DATA, "line 2, column 2: '8' is a label that is none of the classes");
    tn_scope_end(scope);
}

static void named_classes(void **state)
{
    static const char *const names[] = {"no", "\"\"", NULL};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *d = load("a,k\n1,x\n2,y\n", &(tn_csv_options){.label = "k"});
    assert_int_equal(tn_dataset_name_classes(d, names, 2), TN_OK);
    assert_string_equal(tn_dataset_class_name(d, 1), "\"\"");
    assert_int_equal(tn_dataset_name_classes(d, names, 3), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_dataset_name_classes(d, names, 0), TN_ERROR_ARGUMENT);
    EXPECT(TN_ERROR_ARGUMENT);
    assert_int_equal(tn_dataset_name_classes(NULL, names, 1), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_dataset_class_count(d), 2);
    assert_string_equal(tn_dataset_class_name(d, 0), "no");
    tn_scope_end(scope);
}

/* pandas' usecols, but in the order in which they are asked for. */
static void some_columns(void **state)
{
    static const char text[] = "id,b,a,kind,\"x,y\"\r\nP1,2,1,,\r\nP2,4,3,7,z\r\n";
    static const char *const columns[] = {"a", "b"}, *const numbers[] = {"2", "-4"}, *const missing[] = {"a", "c"},
                             *const twice[] = {"a", "2"};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_csv_options options = {.usecols = columns, .n_usecols = 2};
    for (int i = 0; i < 2; i++) {
        tn_dataset *d = load(text, &options);
        assert_int_equal(tn_error_code(), TN_OK);
        assert_memory_equal(tn_data_f32(tn_dataset_x(d)), ((float[]){1, 2, 3, 4}), 16);
        assert_string_equal(tn_dataset_column_name(d, 0), "a");
        assert_string_equal(tn_dataset_column_name(d, 1), "b");
        assert_null(tn_dataset_column_name(d, 2));
        assert_null(tn_dataset_y(d));
        options.usecols = numbers;
    }
    options = (tn_csv_options){.usecols = columns, .n_usecols = 2, .label = "kind", .target = TN_CSV_SKIPPED};
    tn_dataset *d = load(text, &options);
    assert_null(tn_dataset_y(d));
    assert_string_equal(tn_dataset_label_name(d), "kind");
    options.usecols = missing;
    assert_null(load(text, &options));
    expect_error(TN_ERROR_NAME, "has no column 'c' among its 5: 'id', 'b', 'a', 'kind', 'x,y'");
    options.usecols = twice;
    assert_null(load(text, &options));
    expect_error(TN_ERROR_NAME, "column '2' twice");
    options.label = "a";
    assert_null(load(text, &options));
    expect_error(TN_ERROR_NAME, "column 'a' among the features, and for the labels");
    options.n_usecols = 0;
    assert_null(load(text, &options));
    expect_error(TN_ERROR_ARGUMENT, "n_usecols is 0");
    tn_scope_end(scope);
}

static void sniffed(void **state)
{
    static const struct {
        const char *text;
        tn_csv_form form;
    } cases[] = {{"1,2;3\n", {',', false, 2}},
                 {"\xef\xbb\xbf\n \r\n\"a,b\";c;d\r\n1;2;3\r\n", {';', true, 3}},
                 {"a\tb\n1\t2\n", {'\t', true, 2}},
                 {"1 \n", {',', false, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_csv_form form = {.columns = -1};
        load(cases[i].text, NULL);
        tn_error_clear();
        assert_int_equal(tn_csv_sniff(scratch_path, NULL, &form), TN_OK);
        assert_int_equal(form.delimiter, cases[i].form.delimiter);
        assert_int_equal(form.header, cases[i].form.header);
        assert_int_equal(form.columns, cases[i].form.columns);
    }
    load("", NULL);
    tn_error_clear();
    assert_int_equal(tn_csv_sniff(scratch_path, NULL, &(tn_csv_form){.columns = 0}), TN_ERROR_DATA);
    expect_error(TN_ERROR_DATA, "is empty");
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tn_csv_options options;
        tn_status status;
        const char *message;
    } cases[] = {
        {"", {0}, TN_ERROR_DATA, "is empty"},
        {"a,b\n\n", {0}, TN_ERROR_DATA, "there is a header and no row"},
        {"1,2\n3\n", {0}, TN_ERROR_DATA, "line 2, column 1: the row ends after 1 fields, needed 2"},
        {"1,2\n3,4,5\n", {0}, TN_ERROR_DATA, "line 2, column 3: '5' is one field too many"},
        {"1,2\n3,\n", {0}, TN_ERROR_DATA, "line 2, column 2: '' is an empty field"},
        {"a,b\n3,x y\n", {0}, TN_ERROR_DATA, "line 2, column 2: 'x y' is not a number"},
        {"1,nan\n", {.finite = true}, TN_ERROR_DATA, "line 1, column 2: 'nan' is not finite"},
        {"1,1e39\n", {0}, TN_ERROR_DATA, "column 2: '1e39' is out of range for float32"},
        {"1,2\n3,4\n", {.label = "kind"}, TN_ERROR_NAME, "no column 'kind'"},
        {"a,a\n3,4\n", {.label = "a"}, TN_ERROR_NAME, "two columns 'a'"},
        {"1,2\n3,4\n", {.label = "2"}, TN_ERROR_NAME, "no column '2'"},
        {"7\n", {.label = "0"}, TN_ERROR_DATA, "the only column"},
        {"1,2\n3,9\n", {.label = "1", .classes = 3}, TN_ERROR_DATA, "'9' is a label that is no class, needed a whole"},
        {"1,\n", {.label = "1"}, TN_ERROR_DATA, "'' is an empty label"},
        {"1,2\n3,\"4\n", {0}, TN_ERROR_DATA, "line 2, column 2: '4\\x0a' begins with a quote that is not closed"},
        {"1,2\n", {.delimiter = '.'}, TN_ERROR_ARGUMENT, "delimiter"},
        {"1,2\n", {.comment = ','}, TN_ERROR_ARGUMENT, "comment"},
        {"# 1\n2\n3,4\n", {.comment = '#'}, TN_ERROR_DATA, "line 3, column 2"},
        {"1,2\n", {.dtype = TN_INT32}, TN_ERROR_DTYPE, "int32"},
        {"1,2\n", {.classes = TN_MAX_CLASSES + 1}, TN_ERROR_ARGUMENT, "classes is 65537"},
        {"\x1f\x8b"
         "1",
         {0},
         TN_ERROR_DATA,
         "gunzip"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(load(cases[i].text, &cases[i].options));
        expect_error(cases[i].status, cases[i].message);
    }
    assert_null(tn_load_csv("/nowhere/at/all.csv", NULL));
    expect_error(TN_ERROR_FILE, "all.csv");
    assert_null(tn_load_csv(NULL, NULL));
    expect_error(TN_ERROR_NULL, "path");
}

static void many_classes(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    static char text[1 << 20];
    size_t used = 0;
    for (int i = 0; i < 5000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,c%04d\n", i, (i * 7919) % 5000);
    tn_dataset *d = load(text, &(tn_csv_options){.label = "1"});
    assert_int_equal(tn_dataset_class_count(d), 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(tn_data_i64(tn_dataset_y(d))[i], (i * 7919) % 5000);
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(header_and_words), test(numbers_as_labels), test(distinct_labels),
                                       test(named_classes),    test(some_columns),      test(sniffed),
                                       test(messages),         test(many_classes)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
