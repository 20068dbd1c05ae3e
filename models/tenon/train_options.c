/* See train_options.h. A resumed run begins with the words that its run.json has; those of the command line go over
 * them, but may not make another run of it. */
#include "train_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "command.h"
#include "data_options.h"
#include "json_words.h"
#include "report.h"
#include "run_folder.h"

static const double default_rates[] = {[OPTIMIZER_SGD] = 0.1,
                                       [OPTIMIZER_ADAM] = 0.01,
                                       [OPTIMIZER_ADAMW] = 0.01,
                                       [OPTIMIZER_RMSPROP] = 0.01,
                                       [OPTIMIZER_LBFGS] = 1};

static train_options defaults(void)
{
    return (train_options){.data = data_not_given(),
                           .validation = 0.2,
                           .net = {.hidden = {.size = {16, 16}, .count = 2}},
                           .epochs = 100,
                           .optimizer = OPTIMIZER_ADAM,
                           .lr = -1,
                           .momentum = -1,
                           .dampening = -1,
                           .weight_decay = -1,
                           .beta1 = -1,
                           .beta2 = -1,
                           .eps = -1,
                           .alpha = -1,
                           .gamma = -1,
                           .eta_min = -1,
                           .clip_norm = -1,
                           .clip_value = -1,
                           .min_delta = -1};
}

void train_words_free(train_words *words)
{
    free(words->text);
    free(words->file);
    *words = (train_words){.count = 0};
}

bool train_write_words(train_options *it, train_words *words)
{
    option_row rows[TRAIN_ROWS];
    int run;
    train_rows(rows, it, &run);
    *words = (train_words){.count = 1};
    words->word[0] = it->data.name;
    int n = options_write_words(rows, run, words->word + 1, &words->text);
    words->count += n;
    return n >= 0;
}

/* The data's name and the options of one list of words. */
static int read_words(train_options *it, int argc, char **argv)
{
    option_row rows[TRAIN_ROWS];
    int run, first = argc, n = train_rows(rows, it, &run);
    int code = options_read_operands(&train_text, rows, n, argc, argv, &first);
    if (code != OPTIONS_GO_ON)
        return code;
    if (first + 1 < argc) {
        report("train", "found also '%s', needed moons, circles, blobs or one file", argv[first + 1]);
        report_hint("train");
        return EXIT_MISUSED;
    }
    if (first < argc)
        it->data.name = argv[first];
    return OPTIONS_GO_ON;
}

/* The words of run.json into `kept`. */
static bool read_run(const char *folder, train_words *kept)
{
    char *argv[OPTION_WORDS];
    size_t length;
    kept->file = run_folder_read(folder, &length);
    if (!kept->file)
        return false;
    kept->count = json_words(kept->file, length, "arguments", argv, OPTION_WORDS);
    for (int i = 0; i < kept->count; i++)
        kept->word[i] = argv[i];
    if (kept->count < 1)
        TN_FAIL(TN_ERROR_DATA, "resume", "'%s/run.json' is not what 'tenon train' wrote: it has no list \"arguments\"",
                folder);
    return kept->count >= 1;
}

/* What of a run may not change when it goes on: the first option that did, and from what to what. */
static bool same_run(train_options *before, train_options *after)
{
    static const char *const free_rows[] = {"epochs", "patience", "save-every", "threads"};
    option_row old[TRAIN_ROWS], new[TRAIN_ROWS];
    char text[2][4352];
    int run;
    train_rows(old, before, &run);
    train_rows(new, after, &run);
    if (strcmp(before->data.name, after->data.name) != 0) {
        report("train", "found '%s', needed '%s', on which the run in '%s' was begun", after->data.name,
               before->data.name, after->resume);
        return false;
    }
    for (int i = 0; i < run; i++) {
        bool may = false;
        for (size_t k = 0; k < sizeof free_rows / sizeof *free_rows; k++)
            may = may || strcmp(new[i].name, free_rows[k]) == 0;
        bool had = old[i].kind->format(&old[i], text[0], sizeof text[0]);
        bool has = new[i].kind->format(&new[i], text[1], sizeof text[1]);
        if (may || (had == has && (!old[i].argument || !had || strcmp(text[0], text[1]) == 0)))
            continue;
        report("train", "--%s: found %s%s%s, but the run in '%s' was begun with %s: it goes on with what it has, "
                        "or is to be begun anew with --out",
               new[i].name, new[i].argument ? "'" : "it", new[i].argument ? text[1] : "", new[i].argument ? "'" : "",
               after->resume, !had ? "none" : old[i].argument ? text[0] : "it");
        return false;
    }
    return true;
}

bool train_read_run(const char *folder, train_options *it, train_words *kept)
{
    char name[] = "train", *words[OPTION_WORDS + 2] = {name};
    *it = defaults();
    *kept = (train_words){.count = 0};
    if (!read_run(folder, kept))
        return false;
    for (int i = 0; i < kept->count; i++)
        words[i + 1] = (char *)kept->word[i];
    if (read_words(it, kept->count + 1, words) == OPTIONS_GO_ON && it->data.name)
        return true;
    TN_FAIL(TN_ERROR_DATA, "resume", "'%s/run.json' has options that there are not", folder);
    return false;
}

static int read_resumed(train_options *it, train_words *kept, int argc, char **argv)
{
    train_options before;
    if (!train_read_run(it->resume, &before, kept))
        return OPTIONS_GO_ON; /* with an error, which the caller reports */
    *it = before;
    if (read_words(it, argc, argv) != OPTIONS_GO_ON)
        return EXIT_MISUSED;
    if (it->out && strcmp(it->out, it->resume) != 0) {
        report("train", "--out: found '%s' beside --resume '%s', needed one of them: a resumed run stays where it is",
               it->out, it->resume);
        return EXIT_MISUSED;
    }
    it->out = it->resume;
    return same_run(&before, it) ? OPTIONS_GO_ON : EXIT_MISUSED;
}

int train_read(train_options *it, train_words *kept, int argc, char **argv)
{
    char *copy[OPTION_WORDS + 64]; /* getopt moves operands to the end */
    *it = defaults();
    *kept = (train_words){.count = 0};
    if (argc > (int)(sizeof copy / sizeof *copy) - 1) {
        report("train", "found %d words, needed fewer", argc);
        return EXIT_MISUSED;
    }
    memcpy(copy, argv, (size_t)(argc + 1) * sizeof *copy);
    int code = read_words(it, argc, copy);
    if (code != OPTIONS_GO_ON)
        return code;
    if (it->resume)
        return read_resumed(it, kept, argc, argv);
    if (!it->data.name) {
        report("train", "found no data, needed moons, circles, blobs or a file");
        report_hint("train");
        return EXIT_MISUSED;
    }
    if (!data_complete("train", &it->data))
        return EXIT_MISUSED;
    if (it->monitor == TN_MONITOR_ACCURACY && (it->validation == 0 || it->data.regression)) {
        report("train", "--monitor: found accuracy %s, which has none",
               it->data.regression ? "beside --regression" : "without validation");
        return EXIT_MISUSED;
    }
    if (it->lr < 0)
        it->lr = default_rates[it->optimizer];
    if (it->schedule == SCHEDULE_COSINE && it->t_max == 0)
        it->t_max = it->epochs; /* and stays so when the run is given more of them */
    return OPTIONS_GO_ON;
}
