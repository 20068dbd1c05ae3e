/* run.json: what a run is, for whoever wants to repeat it, and for --resume, which reads "arguments". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_words.h"
#include "report.h"
#include "run_folder.h"
#include "train_run.h"

/* A word as a shell takes it. */
static void write_shell_word(FILE *to, const char *word)
{
    if (word[0] && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,/:=@%")]) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    fputc('\'', to);
}

/* "tenon train moons ... --out DIR" */
static char *repeat_line(const train_words *words, size_t *length)
{
    char *line = NULL;
    FILE *to = open_memstream(&line, length);
    if (!to)
        return NULL;
    fputs("tenon train", to);
    for (int i = 0; i < words->count; i++) {
        fputc(' ', to);
        write_shell_word(to, words->word[i]);
    }
    fputs(" --out DIR", to);
    fclose(to);
    return line;
}

static void write_record(FILE *to, const train_run *it, const train_options *asked, const train_words *words)
{
    size_t length = 0;
    char *line = repeat_line(words, &length);
    const model *m = &it->model;
    fputs("{\n  \"program\": \"tenon " TENON_VERSION "\",\n  \"repeat\": ", to);
    write_json_string(to, line ? line : "", (int)length);
    fputs(",\n  \"arguments\": [", to);
    for (int i = 0; i < words->count; i++) {
        fputs(i ? ", " : "", to);
        write_json_string(to, words->word[i], (int)strlen(words->word[i]));
    }
    fprintf(to, "],\n  \"seed\": %" PRId64 ",\n", asked->data.seed);
    if (it->sums[0])
        fprintf(to, "  \"data_sums\": [\"%016" PRIx64 "\", \"%016" PRIx64 "\"],\n", it->sums[0], it->sums[1]);
    fprintf(to, "  \"task\": \"%s\",\n  \"inputs\": %" PRId64 ",\n  \"outputs\": %" PRId64 ",\n", task_words[m->task],
            m->shape.inputs, m->shape.outputs);
    fprintf(to, "  \"parameters\": %" PRId64 ",\n  \"dtype\": \"%s\",\n", tn_parameter_numel(m->net),
            tn_dtype_name(m->dtype));
    fprintf(to, "  \"train_samples\": %" PRId64 ",\n  \"validation_samples\": %" PRId64 "\n}\n",
            tn_dataset_size(it->train), it->validation ? tn_dataset_size(it->validation) : 0);
    free(line);
}

void train_run_check(const train_run *it, const train_options *asked)
{
    char *words[2], found[20];
    size_t length;
    char *text = it->sums[0] && !tn_error_code() ? run_folder_read(asked->resume, &length) : NULL;
    const int n = text ? json_words(text, length, "data_sums", words, 2) : 0;
    for (int i = 0; i < n && !tn_error_code(); i++) {
        snprintf(found, sizeof found, "%016" PRIx64, it->sums[i]);
        if (strcmp(found, words[i]) != 0)
            TN_FAIL(TN_ERROR_DATA, "resume", "'%s' has other %s than when the run in '%s' was begun on it",
                    i == 1 && asked->data.labels ? asked->data.labels : asked->data.name, i ? "labels" : "inputs",
                    asked->resume);
    }
    free(text);
}

void train_run_write(const train_run *it, train_options *asked, const char *folder)
{
    char path[PATH_SIZE], *text = NULL;
    size_t length = 0;
    train_words words;
    if (tn_error_code())
        return;
    bool made = train_write_words(asked, &words);
    FILE *to = made ? open_memstream(&text, &length) : NULL;
    if (to) {
        write_record(to, it, asked, &words);
        bool lost = ferror(to) != 0;
        if ((fclose(to) != 0) + lost == 0 && run_folder_path(path, folder, "run.json"))
            tn_file_replace(path, &(tn_file_piece){text, length}, 1, "--out");
    } else {
        TN_FAIL(TN_ERROR_MEMORY, "--out", "no memory for run.json");
    }
    free(text);
    train_words_free(&words);
}
