/* hostile DIR: what must load or compute exactly, and what must fail cleanly.
 *
 * Reads DIR/cases.jsonl (calls without files) and DIR/manifest.jsonl (files), whichever are there. A line for each
 * failing and skipped one, a table by class, the totals as the last line. What is malformed has failed. Exit status: 0
 * when nothing failed, 1 when something did, 2 when nothing could be read. */
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <tenon/data.h>
#include <tenon/tenon.h>

#include "files.h"

enum { PASSED, FAILED, SKIPPED, OUTCOMES };
enum { CLASSES = 32, LIST = 128, TEXT = 128 };

typedef struct tally {
    struct {
        char name[32];
        int count[OUTCOMES];
    } classes[CLASSES];
    int n_classes, total[OUTCOMES];
} tally;

typedef struct integers {
    int64_t data[LIST];
    int n;
} integers;

static integers list_of(const json_t *test, const char *key)
{
    const json_t *list = json_object_get(test, key);
    integers to = {.n = 0};
    for (size_t i = 0; i < json_array_size(list) && i < LIST; i++)
        to.data[to.n++] = json_integer_value(json_array_get(list, i));
    return to;
}

static int64_t integer_of(const json_t *test, const char *key)
{
    return json_integer_value(json_object_get(test, key));
}

static double real_of(const json_t *number)
{
    const char *word = json_string_value(number);
    return !word                       ? json_number_value(number)
           : strcmp(word, "nan") == 0  ? NAN
           : strcmp(word, "-0.0") == 0 ? -0.0
                                       : (word[0] == '-' ? -INFINITY : INFINITY);
}

static tn_tensor *reals_of(const json_t *list)
{
    float data[LIST];
    int64_t n = 0;
    for (size_t i = 0; i < json_array_size(list) && i < LIST; i++)
        data[n++] = (float)real_of(json_array_get(list, i));
    return tn_from_array(data, &n, 1, TN_FLOAT32);
}

static tn_tensor *zeros_of(const json_t *test, const char *key)
{
    integers size = list_of(test, key);
    return tn_zeros(size.data, size.n, TN_FLOAT32);
}

static tn_value boxed_tensor(tn_tensor *x)
{
    return (tn_value){.kind = TN_VALUE_TENSOR, .as.tensor = x};
}

static tn_value boxed_ints(const integers *list)
{
    tn_value value = {.kind = TN_VALUE_INTS};
    value.as.ints.data = list->data;
    value.as.ints.n = list->n;
    return value;
}

static tn_value boxed_int(int64_t i)
{
    return (tn_value){.kind = TN_VALUE_SCALAR, .as.scalar = tn_int(i)};
}

/* Where this library follows PyTorch or its own rule, not the case. */
static const char zero_is_default[] = "the zero value of an option is its default, 1";
static const char beyond_and_empty[] =
    "PyTorch makes such a view (conformance case as_strided/empty_beyond); it reads nothing";

/* Each check makes its call; a wrong result is a text, an error stays pending, success is NULL. */
typedef const char *(*check)(const json_t *test);

static const char *check_empty(const json_t *test)
{
    integers size = list_of(test, "shape");
    tn_empty(size.data, size.n, TN_FLOAT32);
    return NULL;
}

/* Every element that is in the view is read. */
static const char *check_as_strided(const json_t *test)
{
    tn_tensor *x = tn_arange(tn_int(0), tn_int(integer_of(test, "storage")), tn_int(1), TN_FLOAT32);
    integers size = list_of(test, "size"), stride = list_of(test, "stride");
    const tn_value v[] = {boxed_tensor(x), boxed_ints(&size), boxed_ints(&stride),
                          boxed_int(integer_of(test, "offset"))};
    tn_tensor *y = tn_call("as_strided", v, 4);
    tn_tensor *sum = y ? tn_sum(y, NULL, 0, false, TN_DTYPE_NONE) : NULL;
    if (y && tn_numel(y) == 0 && integer_of(test, "offset") > integer_of(test, "storage"))
        return beyond_and_empty;
    return sum && !(tn_item(sum) >= 0) ? "a sum that is no number" : NULL;
}

static const char *check_reshape(const json_t *test)
{
    integers to = list_of(test, "to");
    tn_reshape(zeros_of(test, "shape"), to.data, to.n);
    return NULL;
}

static const char *check_permute(const json_t *test)
{
    integers dims = list_of(test, "dims");
    tn_permute(zeros_of(test, "shape"), dims.data, dims.n);
    return NULL;
}

static const char *check_slice(const json_t *test)
{
    tn_slice(zeros_of(test, "shape"), 0, integer_of(test, "start"), integer_of(test, "stop"), integer_of(test, "step"));
    return NULL;
}

static const char *check_select(const json_t *test)
{
    tn_select(zeros_of(test, "shape"), 0, integer_of(test, "index"));
    return NULL;
}

static const char *check_matmul(const json_t *test)
{
    tn_tensor *y = tn_matmul(zeros_of(test, "a"), zeros_of(test, "b"));
    tn_tensor *zeros = y ? tn_zeros(tn_sizes(y), tn_ndim(y), TN_FLOAT32) : NULL;
    return zeros && !tn_equal(y, zeros) ? "a product of nothing that is not 0" : NULL;
}

static const char *check_broadcast(const json_t *test)
{
    tn_tensor *y = tn_add(zeros_of(test, "a"), zeros_of(test, "b"));
    return y && (tn_ndim(y) != 2 || tn_size(y, 0) != 0 || tn_size(y, 1) != 3) ? "another shape than [0, 3]" : NULL;
}

static const char *check_unary(const json_t *test)
{
    static char text[128];
    const json_t *expected = json_object_get(test, "y");
    tn_value x = boxed_tensor(reals_of(json_object_get(test, "x")));
    tn_tensor *y = tn_call(json_string_value(json_object_get(test, "op")), &x, 1);
    for (int64_t i = 0; y && i < tn_numel(y); i++) {
        double need = real_of(json_array_get(expected, (size_t)i)), have = tn_data_f32(y)[i];
        bool good = isnan(need) ? isnan(have) : need == have || fabs(have - need) <= 1e-6 * fabs(need);
        /* 0 is asked for where the true value is denormal: PyTorch's exp overflows on the way there */
        if (good || (need == 0 && fabs(have) < FLT_MIN))
            continue;
        snprintf(text, sizeof text, "element %lld is %.9g, needed %.9g", (long long)i, have, need);
        return text;
    }
    return NULL;
}

static const char *check_empty_max(const json_t *test)
{
    (void)test;
    tn_value x = boxed_tensor(tn_zeros((int64_t[]){0}, 1, TN_FLOAT32));
    tn_call(tn_is_callable("max") ? "max" : "amax", &x, 1);
    return NULL;
}

static const char *check_empty_prod(const json_t *test)
{
    tn_value x = boxed_tensor(tn_zeros((int64_t[]){0}, 1, TN_FLOAT32));
    tn_tensor *y = tn_call("prod", &x, 1);
    return y && tn_item(y) != json_number_value(json_object_get(test, "value")) ? "another value" : NULL;
}

static const char *check_denormal(const json_t *test)
{
    const float tiny = 1e-40f;
    tn_tensor *y = tn_mul_scalar(tn_from_array(&tiny, NULL, 0, TN_FLOAT32), tn_float(0.5));
    volatile float mine = tiny;
    if (y && mine * 0.5f == 0)
        return "the thread flushes denormals";
    return y && fabs(tn_item(y) - json_number_value(json_object_get(test, "value"))) > 1e-45 ? "another value" : NULL;
}

static const char *check_batches(const json_t *test)
{
    int64_t n = integer_of(test, "n");
    integers sizes = list_of(test, "sizes");
    tn_tensor *x = tn_zeros((int64_t[]){n, 2}, 2, TN_FLOAT32), *y = tn_zeros(&n, 1, TN_FLOAT32);
    const tn_loader_options options = {.batch_size = integer_of(test, "batch"),
                                       .drop_last = integer_of(test, "drop_last")};
    if (options.batch_size == 0) /* the zero value of an option is its default, 1 */
        return zero_is_default;
    tn_loader *loader = tn_loader_new(tn_tensor_dataset(x, y), &options);
    int count = 0;
    for (tn_batch b; tn_loader_next(loader, &b); count++)
        if (count >= sizes.n || tn_size(b.x, 0) != sizes.data[count])
            return "batches of other sizes";
    return tn_error_code() == TN_OK && count != sizes.n ? "another number of batches" : NULL;
}

static const struct kind {
    const char *op;
    check run;
    const char *needs;  /* a function by name without which the case is skipped */
    const char *fields; /* key:code each: L integers, I integer, N numbers, F number, ? or null */
} kinds[] = {
    {"empty_f32", check_empty, NULL, "shape:L"},
    {"as_strided", check_as_strided, NULL, "storage:I size:L stride:L offset:I"},
    {"reshape", check_reshape, NULL, "shape:L to:L"},
    {"permute", check_permute, NULL, "shape:L dims:L"},
    {"slice", check_slice, NULL, "shape:L start:I stop:I step:I"},
    {"select", check_select, NULL, "shape:L index:I"},
    {"matmul", check_matmul, NULL, "a:L b:L"},
    {"add_broadcast", check_broadcast, NULL, "a:L b:L"},
    {"sigmoid", check_unary, "sigmoid", "x:N y:N grad:N"},
    {"relu", check_unary, "relu", "x:N y:N grad:N"},
    {"softplus", check_unary, "softplus", "x:N y:N grad:N"},
    {"log", check_unary, "log", "x:N y:N grad:N"},
    {"sqrt", check_unary, "sqrt", "x:N y:N grad:N"},
    {"empty_max", check_empty_max, NULL, ""},
    {"empty_prod", check_empty_prod, "prod", "value:F"},
    {"denormal", check_denormal, NULL, "value:F"},
    {"batches", check_batches, NULL, "n:I batch:I drop_last:I sizes:L?"},
};

/* Cases of what is still to come; their fields are not read. */
static const char *const later[] = {"inplace_saved", "backward_twice",            "backward_nonscalar", "seed",
                                    "bce_with_logits", "log_softmax_cross_entropy", "var_offset",         "explode"};

static bool is_number(const json_t *x)
{
    const char *word = json_string_value(x);
    return json_is_number(x) || (word && (strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0 ||
                                          strcmp(word, "-inf") == 0 || strcmp(word, "-0.0") == 0));
}

static bool fits(char code, const json_t *x)
{
    if (code == 'I')
        return json_is_integer(x);
    if (code == 'F')
        return is_number(x);
    bool good = json_is_array(x) && json_array_size(x) <= LIST;
    for (size_t i = 0; good && i < json_array_size(x); i++)
        good = code == 'L' ? json_is_integer(json_array_get(x, i)) : is_number(json_array_get(x, i));
    return good;
}

/* Whether the case has its fields and no other: "" or what is wrong. */
static void check_fields(const json_t *test, const char *fields, char wrong[TEXT])
{
    size_t known = 4; /* class, op, expect, reason */
    for (const char *at = fields; *at; known++) {
        char key[32];
        size_t n = strcspn(at, ":");
        snprintf(key, sizeof key, "%.*s", (int)n, at);
        const json_t *x = json_object_get(test, key);
        at += n + 1;
        bool optional = at[1] == '?';
        if (!(optional && json_is_null(x)) && !fits(*at, x))
            snprintf(wrong, TEXT, "%s is missing or does not fit", key);
        at += 1 + optional;
        at += *at == ' ';
    }
    if (!wrong[0] && json_object_size(test) != known)
        snprintf(wrong, TEXT, "%zu keys, needed %zu: one is unknown", json_object_size(test), known);
}

/* What every case has. */
static void check_form(const json_t *test, const char *const *texts, char wrong[TEXT])
{
    static const char *const expectations[] = {"ok", "error", "ok_or_error"};
    const char *expect = json_string_value(json_object_get(test, "expect"));
    bool known = false;
    for (int i = 0; i < 3; i++)
        known = known || (expect && strcmp(expect, expectations[i]) == 0);
    if (!known)
        snprintf(wrong, TEXT, "expect is none of ok, error and ok_or_error");
    for (; *texts; texts++)
        if (!json_is_string(json_object_get(test, *texts)))
            snprintf(wrong, TEXT, "no %s", *texts);
}

static void count(tally *t, const char *class, int outcome)
{
    int i = 0;
    while (i < t->n_classes && strcmp(t->classes[i].name, class) != 0)
        i++;
    if (i == t->n_classes && i < CLASSES)
        snprintf(t->classes[t->n_classes++].name, sizeof t->classes->name, "%s", class);
    t->classes[i < CLASSES ? i : CLASSES - 1].count[outcome]++;
    t->total[outcome]++;
}

static const char *text_of(const json_t *test, const char *key)
{
    const char *text = json_string_value(json_object_get(test, key));
    return text ? text : "";
}

static int judge(const json_t *test, const struct kind *kind, const char *id)
{
    const char *expect = text_of(test, "expect");
    bool may_fail = strcmp(expect, "ok") != 0, may_pass = strcmp(expect, "error") != 0;
    const char *wrong = kind->run(test);
    tn_error error;
    tn_error_push(&error);
    if (wrong == zero_is_default || (wrong == beyond_and_empty && error.code == TN_OK)) {
        printf("skipped %s: %s\n", id, wrong);
        return SKIPPED;
    }
    if (error.code == TN_OK ? !may_pass : !may_fail)
        printf("FAILED %s: expected %s, came %s\n", id, expect, error.code == TN_OK ? "success" : error.message);
    else if (error.code == TN_OK && wrong)
        printf("FAILED %s: %s\n", id, wrong);
    else
        return PASSED;
    return FAILED;
}

static bool has_failed(tally *t, const char *file, int number, const char *wrong)
{
    if (wrong[0]) {
        printf("FAILED %s:%d: malformed: %s\n", file, number, wrong);
        count(t, "malformed", FAILED);
    }
    return wrong[0] != '\0';
}

static void run_case(tally *t, const json_t *test, int number)
{
    char id[160], wrong[TEXT] = "";
    const char *op = text_of(test, "op"), *class = text_of(test, "class");
    snprintf(id, sizeof id, "cases:%d %s/%s (%.80s)", number, class, op, text_of(test, "reason"));
    const struct kind *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].op, op) == 0)
            kind = &kinds[i];
    bool known = kind != NULL;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        known = known || strcmp(later[i], op) == 0;
    check_form(test, (const char *const[]){"reason", "op", "class", NULL}, wrong);
    if (!wrong[0] && !known)
        snprintf(wrong, sizeof wrong, "there is no op \"%.60s\"", op);
    if (!wrong[0] && kind)
        check_fields(test, kind->fields, wrong);
    if (has_failed(t, "cases.jsonl", number, wrong))
        return;
    if (!kind || (kind->needs && !tn_is_callable(kind->needs))) {
        printf("skipped %s: %s is not there yet\n", id, op);
        count(t, class, SKIPPED);
        return;
    }
    tn_scope scope = tn_scope_begin();
    count(t, class, judge(test, kind, id));
    tn_scope_end(scope);
}

static const char *folder_of_files;

static void run_file_case(tally *t, const json_t *test, int number)
{
    const char *format = text_of(test, "format");
    char wrong[TEXT] = "";
    check_form(test, (const char *const[]){"reason", "format", "file", NULL}, wrong);
    if (has_failed(t, "manifest.jsonl", number, wrong))
        return;
    if (!file_format_is_read(format)) {
        printf("skipped manifest:%d %s: format %s is not there yet\n", number, text_of(test, "file"), format);
        count(t, format, SKIPPED);
        return;
    }
    char why[WHY] = "";
    run_file(test, folder_of_files, why);
    if (why[0])
        printf("FAILED manifest:%d %s (%s): %s\n", number, text_of(test, "file"), text_of(test, "reason"), why);
    count(t, format, why[0] ? FAILED : PASSED);
}

static bool run_lines(tally *t, const char *folder, const char *name, void (*run)(tally *, const json_t *, int))
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    for (ssize_t length; file && (length = getline(&line, &room, file)) > 0;) {
        /* a NUL byte would hide the rest of the line */
        json_t *test = (size_t)length == strlen(line) ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
        if (test) {
            run(t, test, ++number);
        } else {
            printf("FAILED %s:%d: malformed: no JSON, or a key twice in one object\n", name, ++number);
            count(t, "malformed", FAILED);
        }
        json_decref(test);
    }
    free(line);
    if (file)
        fclose(file);
    return file != NULL;
}

int main(int argc, char **argv)
{
    static tally t;
    if (argc != 2) {
        fprintf(stderr, "usage: hostile DIR\n");
        return 2;
    }
    folder_of_files = argv[1];
    bool cases = run_lines(&t, argv[1], "cases.jsonl", run_case);
    bool files = run_lines(&t, argv[1], "manifest.jsonl", run_file_case);
    if (!cases && !files) {
        fprintf(stderr, "%s: neither cases.jsonl nor manifest.jsonl can be read\n", argv[1]);
        return 2;
    }
    printf("\n%-16s %6s %6s %7s\n", "class", "passed", "failed", "skipped");
    for (int i = 0; i < t.n_classes; i++)
        printf("%-16s %6d %6d %7d\n", t.classes[i].name, t.classes[i].count[PASSED], t.classes[i].count[FAILED],
               t.classes[i].count[SKIPPED]);
    printf("\n%d passed, %d failed, %d skipped\n", t.total[PASSED], t.total[FAILED], t.total[SKIPPED]);
    return t.total[FAILED] > 0;
}
