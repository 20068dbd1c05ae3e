/* The option table of tenon train, and its help. */
#include <stdio.h>

#include "train_options.h"

const char *const optimizer_words[] = {"sgd", "adam", "adamw", "rmsprop", "lbfgs", NULL};
const char *const schedule_words[] = {"none", "step", "exponential", "cosine", "warmup", "plateau", NULL};
static const char *const monitor_words[] = {"loss", "accuracy", NULL}; /* tn_fit_monitor's order */

enum { MANY = 1000000000 };

static int add_optimizer_rows(option_row *rows, train_options *it)
{
    const option_row all[] = {
        row_choice("optimizer", "NAME", &it->optimizer, optimizer_words,
                   "sgd, adam, adamw, rmsprop or lbfgs, all as PyTorch's (adam)"),
        row_number("lr", &it->lr, 0, 1000, "learning rate (sgd 0.1, lbfgs 1, the others 0.01)"),
        row_number("momentum", &it->momentum, 0, 1000, "sgd, rmsprop (0)"),
        row_number("dampening", &it->dampening, 0, 1000, "sgd: of the momentum (0)"),
        row_flag("nesterov", &it->nesterov, "sgd: Nesterov's momentum"),
        row_number("weight-decay", &it->weight_decay, 0, 1000, "all but lbfgs (0; adamw 0.01)"),
        row_share("beta1", &it->beta1, "adam, adamw (0.9)"),
        row_share("beta2", &it->beta2, "adam, adamw (0.999)"),
        row_number("eps", &it->eps, 0, 1000, "adam, adamw, rmsprop (1e-8)"),
        row_flag("amsgrad", &it->amsgrad, "adam, adamw: by the largest second moment so far"),
        row_number("alpha", &it->alpha, 0, 1, "rmsprop: how the mean of squares fades (0.99)"),
        row_flag("centered", &it->centered, "rmsprop: by the variance of the gradient"),
        row_whole("max-iter", "N", &it->max_iter, 1, MANY, "lbfgs: iterations a step (20)"),
        row_whole("history-size", "N", &it->history_size, 1, 10000, "lbfgs: steps that it remembers (100)"),
        row_flag("strong-wolfe", &it->strong_wolfe, "lbfgs: search along the line"),
    };
    enum { N = sizeof all / sizeof *all };
    for (int i = 0; i < N; i++)
        rows[i] = all[i];
    return N;
}

static int add_schedule_rows(option_row *rows, train_options *it)
{
    const option_row all[] = {
        row_choice("schedule", "NAME", &it->schedule, schedule_words,
                   "of the rate, by epochs: none, step, exponential, cosine, warmup or plateau (none)"),
        row_whole("step-size", "N", &it->step_size, 1, MANY, "step: epochs between cuts (30)"),
        row_number("gamma", &it->gamma, 0, 1, "step, plateau (0.1), exponential (0.95): each cut's factor"),
        row_whole("t-max", "N", &it->t_max, 1, MANY, "cosine: epochs until the rate is lowest (those of the run)"),
        row_number("eta-min", &it->eta_min, 0, 1000, "cosine, plateau: the lowest rate (0)"),
        row_whole("warmup", "N", &it->warmup, 1, MANY, "warmup: epochs in which the rate grows from a tenth (5)"),
        row_whole("lr-patience", "N", &it->schedule_patience, 1, MANY,
                  "plateau: epochs without a better --monitor before a cut (10)"),
    };
    enum { N = sizeof all / sizeof *all };
    for (int i = 0; i < N; i++)
        rows[i] = all[i];
    return N;
}

static int add_loop_rows(option_row *rows, train_options *it)
{
    const option_row all[] = {
        row_share("validation", &it->validation, "share of the samples kept to judge by (0.2), 0: none"),
        row_flag("raw", &it->raw, "files: inputs, and numbers to learn, as they are; else mean 0 and deviation 1"),
        row_whole("batch-size", "N", &it->batch_size, 1, MANY, "samples a step (32; lbfgs: all of them)"),
        row_positive("clip-norm", &it->clip_norm, 1000000, "scale gradients to this norm at most"),
        row_positive("clip-value", &it->clip_value, 1000000, "cut elements of gradients to this"),
        row_choice("monitor", "WHAT", &it->monitor, monitor_words,
                   "what says which epoch is best: loss or accuracy (loss)"),
        row_number("min-delta", &it->min_delta, 0, 1000000, "what is better by less is not better (0)"),
        /* from here on a resumed run may have others */
        row_whole("epochs", "N", &it->epochs, 0, MANY, "in all, with those of a resumed run (100)"),
        row_whole("patience", "N", &it->patience, 1, MANY, "stop after so many epochs without a better one"),
        row_whole("save-every", "N", &it->save_every, 1, MANY, "steps between checkpoints (those of an epoch)"),
        row_whole("threads", "N", &it->threads, 1, 1024, "never changes a result (as many as there are cores)"),
    };
    enum { N = sizeof all / sizeof *all };
    for (int i = 0; i < N; i++)
        rows[i] = all[i];
    return N;
}

int train_rows(option_row rows[TRAIN_ROWS], train_options *it, int *run)
{
    int n = add_data_rows(rows, &it->data);
    n += add_net_rows(rows + n, &it->net, &it->dtype);
    n += add_optimizer_rows(rows + n, it);
    n += add_schedule_rows(rows + n, it);
    n += add_loop_rows(rows + n, it);
    *run = n;
    rows[n++] = row_text("out", "DIR", &it->out, "folder for weights, checkpoints, history.csv and run.json");
    rows[n++] = row_flag("force", &it->force, "a run that is in the folder may be overwritten");
    rows[n++] = row_text("resume", "DIR", &it->resume, "go on with the run in this folder");
    rows[n++] = row_json(&it->json);
    return n;
}

const command_text train_text = {
    .name = "train",
    .usage =
        "Usage: tenon train moons|circles|blobs|FILE [OPTION]...\n"
        "       tenon train --resume DIR [--epochs N]\n\n"
        "Trains a small net: on points that are made, on a table (CSV), or on arrays (.npy with --labels,\n"
        "safetensors with tensors x and y). Two classes end in one logit, more in one each, numbers\n"
        "(--regression) in one output. DIR gets\n"
        "  model.safetensors   the weights of the best epoch, for 'tenon eval', 'tenon predict' and PyTorch\n"
        "  last.safetensors    the checkpoint to go on from; best.safetensors that of the best epoch\n"
        "  history.csv         losses, accuracy and rate of each epoch\n"
        "  run.json            all options, version and seed: how to repeat the run\n"
        "Ctrl-C finishes the step that runs, saves, and ends with 130 (once more: ends at once); --resume goes on\n"
        "as if nothing had been.",
    .examples = "Examples:\n"
                "  tenon train moons                                          two moons, 16,16 hidden, 100 epochs\n"
                "  tenon train moons --samples 1000 --noise 0.2 --hidden 16,16 --epochs 100 --seed 0 --out run\n"
                "  tenon train --resume run --epochs 200                      a hundred more\n"
                "  tenon train iris.csv --label species --patience 10 --out iris\n"
                "  tenon train flats.csv --label price --regression --hidden 32,32 --out flats\n"
                "  tenon train blobs --centers 5 --optimizer sgd --momentum 0.9 --schedule cosine\n\n"
                "Exit code: 0 done, 1 failed, 2 called wrongly, 3 the training diverged (a loss or weight that is no\n"
                "finite number), 130 stopped by Ctrl-C. The last good checkpoint is kept in all cases.",
};
