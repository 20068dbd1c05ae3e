/* tenon eval: how well a trained net does on other data. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "command.h"
#include "data_options.h"
#include "number_text.h"
#include "option_rows.h"
#include "options.h"
#include "report.h"
#include "run_data.h"
#include "run_folder.h"
#include "train_options.h"

typedef struct settings {
    data_options data;
    const char *run;
    bool json;
} settings;

typedef struct judgement {
    tn_score score;
    double rmse, r2;      /* of numbers, in their own unit; NaN of classes */
    double auc;           /* of two classes that are both there; else NaN */
    tn_tensor *confusion; /* of classes; else NULL */
} judgement;

/* 1 - the share of the variance that the net does not explain. */
static void judge_numbers(const model *m, tn_dataset *raw, judgement *it)
{
    tn_tensor *said = tn_squeeze_dim(model_outputs(m, tn_dataset_x(raw)), 1), *is = tn_dataset_y(raw);
    if (m->y_mean)
        said = tn_add(tn_mul(said, m->y_scale), m->y_mean);
    double error = tn_item(tn_mse_loss(tn_to(said, TN_FLOAT64), tn_to(is, TN_FLOAT64), TN_MEAN));
    double variance = tn_item(tn_var(tn_to(is, TN_FLOAT64), NULL, 0, false, false));
    it->rmse = sqrt(error);
    it->r2 = variance > 0 ? 1 - error / variance : (double)NAN;
}

static void judge_classes(const model *m, tn_dataset *raw, judgement *it)
{
    tn_tensor *logits = model_outputs(m, tn_dataset_x(raw)), *is = tn_dataset_y(raw);
    it->confusion = tn_confusion_matrix(logits, is);
    const int64_t *count = it->confusion ? tn_data_i64(it->confusion) : NULL;
    if (m->task == TASK_BINARY && count && count[0] + count[1] > 0 && count[2] + count[3] > 0)
        it->auc = tn_roc_auc(logits, is);
}

static void judge(const model *m, tn_dataset *raw, judgement *it)
{
    tn_evaluate(m->net, model_dataset(m, raw), task_losses[m->task], NULL, NULL, 0, &it->score);
    if (!tn_error_code())
        (m->task == TASK_REGRESSION ? judge_numbers : judge_classes)(m, raw, it);
}

/* A name from a file is cut, and its control characters are masked. */
static const char *class_word(const model *m, int64_t number, char buf[SHOWN_BYTES])
{
    if (m->class_names)
        return utf8_shown(m->class_names[number], (int)strlen(m->class_names[number]), buf);
    snprintf(buf, SHOWN_BYTES, "%" PRId64, number);
    return buf;
}

enum { SHOWN_CLASSES = 16 };

static void write_confusion(const model *m, const int64_t *count)
{
    char word[SHOWN_BYTES];
    if (m->classes > SHOWN_CLASSES)
        return;
    printf("\nrows: what samples are; columns: what the net says\n%-12s", "");
    for (int64_t i = 0; i < m->classes; i++)
        printf(" %9s", class_word(m, i, word));
    for (int64_t i = 0; i < m->classes; i++) {
        printf("\n%-12s", class_word(m, i, word));
        for (int64_t k = 0; k < m->classes; k++)
            printf(" %9" PRId64, *count++);
    }
    putchar('\n');
}

static void write_confusion_json(const model *m, const int64_t *count)
{
    fputs(",\"confusion\":[", stdout);
    for (int64_t i = 0; i < m->classes; i++)
        for (int64_t k = 0; k < m->classes; k++)
            printf("%s%" PRId64 "%s", k ? "," : i ? ",[" : "[", *count++, k == m->classes - 1 ? "]" : "");
    putchar(']');
}

static void write_json(const settings *asked, const model *m, const judgement *it)
{
    char text[5][NUMBER_SIZE];
    fputs("{\"data\":", stdout);
    write_json_string(stdout, asked->data.name, (int)strlen(asked->data.name));
    printf(",\"samples\":%" PRId64 ",\"accuracy\":%s,\"loss\":%s", it->score.samples,
           number_json(text[0], it->score.accuracy), number_json(text[1], it->score.loss));
    if (!isnan(it->rmse))
        printf(",\"rmse\":%s,\"r2\":%s", number_json(text[2], it->rmse), number_json(text[3], it->r2));
    if (!isnan(it->auc))
        printf(",\"auc\":%s", number_json(text[4], it->auc));
    if (it->confusion)
        write_confusion_json(m, tn_data_i64(it->confusion));
    puts("}");
}

static void write_text(const model *m, const judgement *it)
{
    printf("samples   %" PRId64 "\nloss      %.6g\n", it->score.samples, it->score.loss);
    if (!isnan(it->score.accuracy))
        printf("accuracy  %.4f\n", it->score.accuracy);
    if (!isnan(it->auc))
        printf("AUC       %.4f\n", it->auc);
    if (!isnan(it->rmse))
        printf("rmse      %.6g\nR^2       %.4f\n", it->rmse, it->r2);
    if (it->confusion)
        write_confusion(m, tn_data_i64(it->confusion));
}

/* Points are made as those that the run was trained on, where it has a run.json that says so and nothing else is asked
 * for. false: that is wrong, and has been told of. */
static bool take_over_from_run(settings *asked)
{
    train_options run;
    train_words kept;
    char path[PATH_SIZE];
    if (data_kind(&asked->data) == DATA_FILE ||
        snprintf(path, sizeof path, "%s/run.json", asked->run) >= (int)sizeof path || access(path, F_OK) != 0)
        return true;
    const bool same = train_read_run(asked->run, &run, &kept) && strcmp(run.data.name, asked->data.name) == 0;
    const bool moved = same && data_kind(&asked->data) == DATA_BLOBS && asked->data.seed >= 0 &&
                       asked->data.seed != run.data.seed;
    if (moved)
        report("eval", "--seed: found %" PRId64 ", needed %" PRId64 ", the run's: another puts the centers elsewhere",
               asked->data.seed, run.data.seed);
    else if (same)
        data_take_over(&asked->data, &run.data);
    train_words_free(&kept);
    return !moved;
}

static int evaluate(settings *asked)
{
    model m;
    input_file file = {.copy = -1};
    judgement found = {.rmse = (double)NAN, .r2 = (double)NAN, .auc = (double)NAN};
    model_load_from(&m, asked->run);
    asked->data.regression = m.task == TASK_REGRESSION;
    if (!tn_error_code() && (m.columns || m.class_names) && data_kind(&asked->data) != DATA_FILE)
        TN_FAIL(TN_ERROR_DATA, "eval", "the net was trained on a table, needed a file such as that, not %s",
                asked->data.name);
    tn_dataset *raw = tn_error_code() ? NULL : data_load(&asked->data, m.dtype, &m, &file);
    if (raw)
        judge(&m, raw, &found);
    if (!tn_error_code() && !isfinite(found.score.loss))
        TN_FAIL(TN_ERROR_ANOMALY, "eval", "the loss is no finite number: the net does not fit such data");
    if (!tn_error_code() && asked->json)
        write_json(asked, &m, &found);
    else if (!tn_error_code())
        write_text(&m, &found);
    model_free(&m);
    input_file_close(&file);
    return file.misused ? EXIT_MISUSED : EXIT_DONE;
}

static const command_text text = {
    .name = "eval",
    .usage = "Usage: tenon eval DIR moons|circles|blobs|FILE [OPTION]...\n\n"
             "Judges the net that 'tenon train --out DIR' saved. Of classes: loss, accuracy, area under the ROC\n"
             "curve of two, and how often which was taken for which. Of numbers: loss as in training, of\n"
             "standardised ones, the root of the mean squared error in their own unit, and R^2. DIR may be a\n"
             "model.safetensors, FILE '-', standard input. Columns must be those that the net was trained on.\n"
             "What is not given of points that are made (--noise, ...) is that of the run, but for --seed, which\n"
             "is one more, so that points are new (of blobs the same: it puts the centers); or, without a\n"
             "run.json, what is in brackets.",
    .examples = "Examples:\n"
                "  tenon eval run moons --seed 1               points that it has not seen\n"
                "  tenon eval iris more.csv --json             one line for another program\n\n"
                "Exit code: 0 done, 1 failed (no such net, data that do not fit it), 2 called wrongly.",
};

int command_eval(int argc, char **argv)
{
    settings asked = {.data = data_not_given()};
    option_row rows[DATA_ROWS + 1];
    int n = add_data_rows(rows, &asked.data), first = argc;
    rows[n - 1] = row_json(&asked.json); /* in the place of --regression: the net knows */
    int code = options_read_operands(&text, rows, n, argc, argv, &first);
    if (code != OPTIONS_GO_ON)
        return code;
    if (argc - first != 2) {
        report("eval", "found %d words, needed two: the folder of a run, and moons, circles, blobs or a file",
               argc - first);
        report_hint("eval");
        return EXIT_MISUSED;
    }
    asked.run = argv[first];
    asked.data.name = argv[first + 1];
    if (!take_over_from_run(&asked) || !data_complete("eval", &asked.data))
        return EXIT_MISUSED;
    return evaluate(&asked);
}
