/* The options of tenon train: from the command line, and, when a run is resumed, from its run.json below them. */
#ifndef TENON_TRAIN_OPTIONS_H
#define TENON_TRAIN_OPTIONS_H

#include "net.h"
#include "option_rows.h"
#include "options.h"

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAMW, OPTIMIZER_RMSPROP, OPTIMIZER_LBFGS };
extern const char *const optimizer_words[];

enum schedule_kind {
    SCHEDULE_NONE,
    SCHEDULE_STEP,
    SCHEDULE_EXPONENTIAL,
    SCHEDULE_COSINE,
    SCHEDULE_WARMUP,
    SCHEDULE_PLATEAU
};
extern const char *const schedule_words[];

/* A number below 0, or 0 of a whole one that is 1 or more, is not given. */
typedef struct train_options {
    data_options data;
    double validation;
    bool raw; /* inputs as they are */
    net_shape net;
    int dtype;
    int64_t epochs, batch_size;
    int optimizer, schedule;
    double lr, momentum, dampening, weight_decay, beta1, beta2, eps, alpha;
    bool nesterov, amsgrad, centered, strong_wolfe;
    int64_t max_iter, history_size;
    int64_t step_size, t_max, warmup, schedule_patience;
    double gamma, eta_min;
    double clip_norm, clip_value, min_delta;
    int64_t patience, save_every, threads;
    int monitor;
    const char *out, *resume;
    bool force, json;
} train_options;

enum { TRAIN_ROWS = 56, RUN_ROWS = 48 };

/* The first *run of the rows say what the run is; those behind them where it goes. */
int train_rows(option_row rows[TRAIN_ROWS], train_options *it, int *run);

typedef struct train_words {
    const char *word[OPTION_WORDS + 1];
    int count;
    char *text, *file; /* blocks that they point into */
} train_words;

/* The options as words, the data's name first: what repeats the run. */
bool train_write_words(train_options *it, train_words *words);
void train_words_free(train_words *words);

/* OPTIONS_GO_ON or an exit code. `kept` holds the text of a resumed run's options while they are used. */
int train_read(train_options *it, train_words *kept, int argc, char **argv);

/* The options of the run in a folder, by its run.json; `kept` as above, to be freed in any case. false: an error is
 * pending. */
bool train_read_run(const char *folder, train_options *it, train_words *kept);

extern const command_text train_text;

#endif
