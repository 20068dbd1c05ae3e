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
    double rmse, r2; /* of numbers, in their own unit; NaN of classes */
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

static void judge(const model *m, tn_dataset *raw, judgement *it)
{
    static const tn_fit_loss losses[] = {
        [TASK_BINARY] = TN_FIT_BCE, [TASK_CLASSES] = TN_FIT_CROSS_ENTROPY, [TASK_REGRESSION] = TN_FIT_MSE};
    tn_evaluate(m->net, model_dataset(m, raw), losses[m->task], NULL, NULL, 0, &it->score);
    if (m->task == TASK_REGRESSION && !tn_error_code())
        judge_numbers(m, raw, it);
}

static void write_json(const settings *asked, const judgement *it)
{
    char text[4][NUMBER_SIZE];
    fputs("{\"data\":", stdout);
    write_json_string(stdout, asked->data.name, (int)strlen(asked->data.name));
    printf(",\"samples\":%" PRId64 ",\"accuracy\":%s,\"loss\":%s", it->score.samples,
           number_json(text[0], it->score.accuracy), number_json(text[1], it->score.loss));
    if (!isnan(it->rmse))
        printf(",\"rmse\":%s,\"r2\":%s", number_json(text[2], it->rmse), number_json(text[3], it->r2));
    puts("}");
}

static void write_text(const judgement *it)
{
    printf("samples   %" PRId64 "\nloss      %.6g\n", it->score.samples, it->score.loss);
    if (!isnan(it->score.accuracy))
        printf("accuracy  %.4f\n", it->score.accuracy);
    if (!isnan(it->rmse))
        printf("rmse      %.6g\nR^2       %.4f\n", it->rmse, it->r2);
}

/* Points are made as those that the run was trained on, where it has a run.json that says so and nothing else is asked
 * for. */
static void take_over_from_run(settings *asked)
{
    train_options run;
    train_words kept;
    char path[PATH_SIZE];
    if (data_kind(&asked->data) == DATA_FILE ||
        snprintf(path, sizeof path, "%s/run.json", asked->run) >= (int)sizeof path || access(path, F_OK) != 0)
        return;
    if (train_read_run(asked->run, &run, &kept) && strcmp(run.data.name, asked->data.name) == 0)
        data_take_over(&asked->data, &run.data);
    train_words_free(&kept);
}

static int evaluate(settings *asked)
{
    model m;
    input_file file = {.copy = -1};
    judgement found = {.rmse = (double)NAN, .r2 = (double)NAN};
    model_load_from(&m, asked->run);
    asked->data.regression = m.task == TASK_REGRESSION;
    if (!asked->data.label)
        asked->data.label = m.label;
    tn_dataset *raw = tn_error_code() ? NULL : data_load(&asked->data, m.dtype, &m, &file);
    if (raw)
        judge(&m, raw, &found);
    if (!tn_error_code() && !isfinite(found.score.loss))
        TN_FAIL(TN_ERROR_ANOMALY, "eval", "the loss is no finite number: the net does not fit such data");
    if (!tn_error_code() && asked->json)
        write_json(asked, &found);
    else if (!tn_error_code())
        write_text(&found);
    model_free(&m);
    input_file_close(&file);
    return EXIT_DONE;
}

static void write_help(const option_row *rows, int n)
{
    puts("Usage: tenon eval DIR moons|circles|blobs|FILE [OPTION]...\n\n"
         "Judges the net that 'tenon train --out DIR' saved: loss and accuracy, of numbers the root of the\n"
         "mean squared error and R^2. DIR may be a model.safetensors, FILE '-', standard input. Columns must\n"
         "be those that the net was trained on. What is not given of points that are made (--noise, ...) is\n"
         "that of the run, or, without its run.json, what is in brackets.\n\n"
         "Options:");
    options_write_help(rows, n);
    puts("\nExamples:\n"
         "  tenon eval run moons --seed 1               points that it has not seen\n"
         "  tenon eval iris more.csv --json             one line for another program\n\n"
         "Exit code: 0 done, 1 failed (no such net, data that do not fit it), 2 called wrongly.");
}

int command_eval(int argc, char **argv)
{
    settings asked = {.data = data_not_given()};
    option_row rows[DATA_ROWS + 1];
    int n = add_data_rows(rows, &asked.data), first = argc;
    rows[n - 1] = row_json(&asked.json); /* in the place of --regression: the net knows */
    switch (options_read_operands("eval", rows, n, argc, argv, &first)) {
    case OPTIONS_HELP:
        write_help(rows, n);
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_MISUSED;
    case OPTIONS_GO_ON:
        break;
    }
    if (argc - first != 2) {
        report("eval", "found %d words, needed two: the folder of a run, and moons, circles, blobs or a file",
               argc - first);
        report_hint("eval");
        return EXIT_MISUSED;
    }
    asked.run = argv[first];
    asked.data.name = argv[first + 1];
    take_over_from_run(&asked);
    if (!data_complete("eval", &asked.data))
        return EXIT_MISUSED;
    return evaluate(&asked);
}
