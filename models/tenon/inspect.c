/* tenon inspect: what a file of numbers holds: names, dtypes, shapes, metadata, ranges of values, its checksum. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "command.h"
#include "input_file.h"
#include "inspect.h"
#include "option_rows.h"
#include "options.h"
#include "report.h"

static void inspect_npy(inspection *found, const char *path)
{
    found->array = tn_load_npy(path);
}

/* The sum is checked last: a file with a wrong one is still shown, if its structure holds. A checkpoint has one. */
static void inspect_safetensors(inspection *found, const char *path)
{
    tn_safetensors *file = tn_load_safetensors(path, NULL);
    const char *sum = tn_safetensors_metadata_find(file, "sum");
    const char *format = tn_safetensors_metadata_find(file, "format");
    found->file = file;
    if (!sum && !(format && strcmp(format, "checkpoint") == 0))
        return;
    tn_load_safetensors(path, &(tn_safetensors_options){.sum = true});
    found->sum = tn_error_code() == TN_ERROR_DATA ? SUM_WRONG : SUM_RIGHT;
    if (found->sum == SUM_WRONG)
        tn_error_clear();
}

/* Without --label a column of words is refused; then the last and the first one are tried as that of the labels. */
static void inspect_csv(inspection *found, const char *path, const inspect_settings *asked)
{
    tn_csv_options options = {.dtype = TN_FLOAT64,
                              .delimiter = asked->delimiter < 0 ? '\0' : ",;\t"[asked->delimiter],
                              .target = TN_CSV_LABELS,
                              .header = asked->header < 0 ? TN_CSV_HEADER_AUTO : (tn_csv_header)asked->header};
    tn_csv_form form = {.columns = 0};
    if (tn_csv_sniff(path, &options, &form))
        return;
    options.delimiter = form.delimiter;
    const char *tried[] = {asked->label, "-1", "0"};
    tn_error first;
    for (int i = 0; i < (asked->label ? 1 : 3); i++) {
        options.label = tried[i];
        found->table = tn_load_csv(path, &options);
        found->label = tried[i];
        if (i == 0)
            first = *tn_error_get();
        if (tn_error_code() != TN_ERROR_DATA)
            break;
        if (i < 2 && !asked->label)
            tn_error_clear();
    }
    if (!tn_error_code())
        return;
    if (!asked->label && strstr(first.message, "is not a number")) {
        const size_t length = strlen(first.message);
        snprintf(first.message + length, sizeof first.message - length,
                 ": --label COLUMN says where words are%s",
                 form.header || asked->header >= 0 ? "" : ", --header yes that the first row is a header");
    }
    tn_error_pop(&first);
}

static int inspect(const inspect_settings *asked)
{
    input_file file;
    input_file_open(&file, asked->path, "inspect");
    inspection found = {.name = file.name, .kind = file.kind};
    const char *path = input_file_path(&file);
    tn_file opened;
    if (!tn_error_code() && tn_file_open(&opened, path, "inspect") == TN_OK) {
        found.bytes = opened.size;
        tn_file_close(&opened);
    }
    if (file.kind == FILE_NPY)
        inspect_npy(&found, path);
    else if (file.kind == FILE_SAFETENSORS)
        inspect_safetensors(&found, path);
    else
        inspect_csv(&found, path, asked);
    if (!tn_error_code())
        (asked->json ? inspect_write_json : inspect_write_text)(&found);
    int code = EXIT_DONE;
    if (!tn_error_code() && found.sum == SUM_WRONG) {
        report("inspect", "'%s': found %s: it was changed or damaged", file.name,
               tn_safetensors_metadata_find(found.file, "sum") ? "a checksum that is not the file's"
                                                               : "no checksum, which a checkpoint has");
        code = EXIT_FAILED;
    }
    input_file_close(&file);
    return code;
}

static const command_text text = {
    .name = "inspect",
    .usage = "Usage: tenon inspect [OPTION]... FILE\n\n"
             "Shows what a file holds: of .npy, safetensors (weights, checkpoints) and CSV the names, dtypes\n"
             "and shapes, the range of the values, how many are nan or infinite; of safetensors the metadata\n"
             "and whether the checksum is right. FILE may be '-', standard input.",
    .examples = "Examples:\n"
                "  tenon inspect run/model.safetensors          the weights of a trained net\n"
                "  tenon inspect iris.csv --label species       columns, classes and how often each stands there\n"
                "  tenon inspect x.npy --json                   one line for another program\n\n"
                "Exit code: 0 done, 1 failed (no such file, damaged, a wrong checksum), 2 called wrongly.",
};

int command_inspect(int argc, char **argv)
{
    inspect_settings asked = {.delimiter = -1, .header = -1};
    const option_row rows[] = {
        row_text("label", "COLUMN", &asked.label,
                 "CSV: the column of labels, by name, or by number from 0 or from -1 backwards"),
        row_delimiter(&asked.delimiter),
        row_header(&asked.header),
        row_json(&asked.json),
    };
    int n = sizeof rows / sizeof *rows;
    int code = options_read_operand(&text, rows, n, argc, argv, &asked.path, "a file's name");
    if (code != OPTIONS_GO_ON)
        return code;
    return inspect(&asked);
}
