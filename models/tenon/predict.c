/* tenon predict: what a trained net says of each row of a file, as CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "command.h"
#include "data_options.h"
#include "number_text.h"
#include "option_rows.h"
#include "options.h"
#include "report.h"
#include "run_data.h"

typedef struct settings {
    data_options data; /* delimiter, header and label alone count */
    const char *run;
} settings;

/* A field of CSV, in quotes where it needs them. */
static void write_field(const char *prefix, const char *text)
{
    bool plain = !text[strcspn(text, ",\"\r\n")] && text[0] != ' ';
    fputs(plain ? "" : "\"", stdout);
    fputs(prefix, stdout);
    for (; *text; text++) {
        putchar(*text);
        if (*text == '"')
            putchar('"');
    }
    fputs(plain ? "" : "\"", stdout);
}

static void write_class(const model *m, const char *prefix, int64_t class)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, class);
    write_field(prefix, m->class_names ? m->class_names[class] : number);
}

/* Probabilities [n, classes]. */
static tn_tensor *probabilities(const model *m, tn_tensor *logits)
{
    if (m->task == TASK_CLASSES)
        return tn_softmax(logits, 1);
    tn_tensor *one = tn_sigmoid(logits), *zero = tn_sigmoid(tn_neg(logits));
    return tn_cat((tn_tensor *[]){zero, one}, 2, 1);
}

static void write_classes(const model *m, tn_tensor *logits)
{
    char number[NUMBER_SIZE];
    tn_tensor *all = tn_contiguous(tn_to(probabilities(m, logits), TN_FLOAT64));
    const double *p = tn_data_f64(all);
    if (!p)
        return;
    fputs("class", stdout);
    for (int64_t c = 0; c < m->classes; c++) {
        putchar(',');
        write_class(m, "p_", c);
    }
    putchar('\n');
    for (int64_t i = 0; i < tn_size(all, 0); i++, p += m->classes) {
        int64_t best = 0;
        for (int64_t c = 1; c < m->classes; c++)
            best = p[c] > p[best] ? c : best;
        write_class(m, "", best);
        for (int64_t c = 0; c < m->classes; c++)
            printf(",%s", number_text(number, p[c], m->dtype == TN_FLOAT32));
        putchar('\n');
    }
}

static void write_numbers(const model *m, tn_tensor *outputs)
{
    char number[NUMBER_SIZE];
    if (m->y_mean)
        outputs = tn_add(tn_mul(outputs, m->y_scale), m->y_mean);
    tn_tensor *wide = tn_contiguous(tn_to(outputs, TN_FLOAT64));
    const double *value = tn_data_f64(wide);
    if (!value)
        return;
    puts("prediction");
    for (int64_t i = 0; i < tn_numel(wide); i++)
        puts(number_text(number, value[i], m->dtype == TN_FLOAT32));
}

static int predict(const settings *asked)
{
    model m;
    input_file file = {.copy = -1};
    model_load_from(&m, asked->run);
    if (!tn_error_code())
        input_file_open(&file, asked->data.name, "predict");
    tn_tensor *x = tn_error_code() ? NULL : data_load_inputs(&file, &asked->data, &m);
    tn_tensor *outputs = x ? model_outputs(&m, x) : NULL;
    if (outputs && m.task == TASK_REGRESSION)
        write_numbers(&m, outputs);
    else if (outputs)
        write_classes(&m, outputs);
    model_free(&m);
    input_file_close(&file);
    return file.misused ? EXIT_MISUSED : EXIT_DONE;
}

static const command_text text = {
    .name = "predict",
    .usage = "Usage: tenon predict DIR FILE [OPTION]...\n\n"
             "Writes as CSV what the net that 'tenon train --out DIR' saved says of each row of FILE: the class\n"
             "and the probability of each, or the number. FILE is CSV, .npy or safetensors (tensor x), or '-',\n"
             "standard input. Columns are found by their names, whatever others there are; without a header all\n"
             "count but that of the labels, if it is there. DIR may be a model.safetensors.",
    .examples = "Examples:\n"
                "  tenon predict iris new.csv >said.csv\n"
                "  echo 0.5,0.25 | tenon predict run -\n\n"
                "Exit code: 0 done, 1 failed (no such net, data that do not fit it, output lost), 2 called wrongly.",
};

int command_predict(int argc, char **argv)
{
    settings asked = {.data = data_not_given()};
    option_row rows[DATA_ROWS];
    int n = add_csv_rows(rows, &asked.data), first = argc;
    rows[n++] = row_text("label", "COLUMN", &asked.data.label,
                         "CSV: the column to leave out, by name or number, where names do not say which the net takes");
    int code = options_read_operands(&text, rows, n, argc, argv, &first);
    if (code != OPTIONS_GO_ON)
        return code;
    if (argc - first != 2) {
        report("predict", "found %d words, needed two: the folder of a run and a file", argc - first);
        report_hint("predict");
        return EXIT_MISUSED;
    }
    asked.run = argv[first];
    asked.data.name = argv[first + 1];
    return predict(&asked);
}
