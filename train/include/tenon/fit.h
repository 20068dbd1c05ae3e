/* The training loop: epochs over a loader, validation, early stopping, checkpoints, and going on where a run was left.
 *
 *     tn_fit_options options = {.module = net, .optimizer = adam, .train = batches, .loss = TN_FIT_BCE, .epochs = 100,
 *                               .validation = held_out, .folder = "run"};
 *     tn_fit_result result;
 *     tn_fit(&options, &result);
 *
 * It prints nothing: on_step and on_epoch see how it goes. The same loop in a few lines of one's own is models/moons.c.
 */
#ifndef TENON_FIT_H
#define TENON_FIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <tenon/checkpoint.h>
#include <tenon/data.h>
#include <tenon/nn.h>
#include <tenon/optim.h>
#include <tenon/tensor.h>

TN_BEGIN

/* The loss of a batch, a mean over its samples. Labels come in the shape and dtype that the loss takes: for all but
 * cross-entropy they are converted to the dtype of the outputs and take their shape where the number of elements is the
 * same, so classes [n] meet logits [n, 1]. */
typedef enum tn_fit_loss {
    TN_FIT_BCE,           /* tn_bce_with_logits: classes 0 and 1, or probabilities */
    TN_FIT_CROSS_ENTROPY, /* tn_cross_entropy: classes int64, or probabilities */
    TN_FIT_MSE,           /* tn_mse_loss */
    TN_FIT_L1,            /* tn_l1_loss */
    TN_FIT_SMOOTH_L1      /* tn_smooth_l1_loss with beta 1 */
} tn_fit_loss;

/* A loss of your own: a 0-dim tensor, or NULL with an error. */
typedef tn_tensor *(*tn_loss_function)(tn_tensor *output, tn_tensor *target, void *context);

/* Such a function whose context is a loss module (tn_bce_with_logits_module and its kin, or one of your own): for
 * tn_evaluate; tn_fit takes the module itself. Labels that are as many as the outputs come in their shape and dtype,
 * others as they are.
 * errors  those of tn_forward_loss; then NULL */
TN_API tn_tensor *tn_module_loss(tn_tensor *output, tn_tensor *target, void *module);

/* What a net makes of a dataset. */
typedef struct tn_score {
    double loss;     /* the mean over all samples */
    double accuracy; /* the share that is classified right; NaN where the loss knows no classes */
    int64_t samples;
} tn_score;

/* Runs the module over the dataset in eval mode, without gradients, and puts the mode of every module in it back.
 * batch_size  samples at a time; 0: 1024
 * function    replaces loss; NULL: loss counts
 * errors      TN_ERROR_NULL, TN_ERROR_ARGUMENT (a negative batch_size, an empty dataset, no labels), and those of the
 *             module, the loss and the metric; then *score is as it was
 * cost        O(samples) */
TN_API tn_status tn_evaluate(tn_module *module, tn_dataset *dataset, tn_fit_loss loss, tn_loss_function function,
                             void *context, int64_t batch_size, tn_score *score);

/* One epoch that is complete. */
typedef struct tn_epoch {
    int64_t epoch;     /* counted from 1 */
    int64_t step;      /* steps so far */
    double lr;         /* of the first group, during the epoch */
    double train_loss; /* mean over the samples, as the steps saw them */
    double valid_loss, valid_accuracy; /* NaN without validation */
    bool best;
} tn_epoch;

/* After a step. */
typedef struct tn_fit_step {
    int64_t epoch;        /* the one that runs, counted from 1 */
    int64_t step;         /* steps so far, in all */
    int64_t batch;        /* this one's number in the epoch, counted from 0 */
    int64_t batches;      /* of an epoch */
    double loss;          /* of this batch */
    double mean_loss;     /* of the epoch so far */
} tn_fit_step;

/* What is watched for the best epoch: the loss (of validation where there is one), the accuracy in validation. */
typedef enum tn_fit_monitor { TN_MONITOR_LOSS, TN_MONITOR_ACCURACY } tn_fit_monitor;

typedef struct tn_fit_options {
    tn_module *module;
    tn_optimizer *optimizer; /* of the module's parameters, or some of them */
    tn_schedule *schedule; /* stepped after each epoch, with the score that is watched; NULL: none */
    tn_loader *train;
    int64_t epochs; /* in all, those of a resumed run included; at least 1 */

    tn_fit_loss loss;
    tn_loss_function loss_function; /* replaces loss, unless NULL */
    void *loss_context;
    tn_module *loss_module; /* the same, as a module: see tn_module_loss. Its weights are not in checkpoints */

    tn_dataset *validation; /* NULL: none */
    int64_t validation_batch_size; /* 0: 1024 */

    double clip_norm;  /* gradients are scaled to this norm of all together at most; 0: they are not */
    double clip_value; /* their elements are cut to -clip_value .. clip_value; 0: they are not */

    tn_fit_monitor monitor;
    int64_t patience; /* epochs without a better score after which it stops; 0: it does not */
    double min_delta; /* by so much a score must be better, to be better */

    const char *folder;       /* of the checkpoints last.safetensors and best.safetensors, which exists; NULL: none */
    double save_seconds;      /* at least so long between two writes at epochs' ends, but at the last; 0: at each */
    int64_t save_every;       /* steps between writes of last.safetensors; 0: each epoch, and when it is stopped */
    const tn_stream *streams; /* that belong to the run, such as Dropout's generator */
    int64_t n_streams;
    const char *resume; /* a checkpoint to go on from; NULL: a new run */

    /* Not 0: the step that runs is finished, last.safetensors written, and tn_fit returns. A signal's handler may set
     * it. A step of L-BFGS is up to max_iter iterations, and a state between them can't be resumed: max_iter says how
     * long it may take to stop. */
    const volatile sig_atomic_t *stop;
    /* After each step and each epoch (`history` has all epochs of the run, n of them, the last one is new); false stops
     * the run as `stop` does. NULL: nothing. */
    bool (*on_step)(const tn_fit_step *step, void *context);
    bool (*on_epoch)(const tn_epoch *history, int64_t n, void *context);
    void *context;
} tn_fit_options;

typedef enum tn_fit_end {
    TN_FIT_COMPLETE, /* all epochs were run */
    TN_FIT_EARLY,    /* patience ran out */
    TN_FIT_STOPPED   /* by `stop`, on_step or on_epoch: resume goes on */
} tn_fit_end;

typedef struct tn_fit_result {
    tn_fit_end end;
    tn_progress progress;
    tn_tensor *history; /* [epochs, 7] float64, in the innermost scope: the fields of tn_epoch, in their order */
} tn_fit_result;

/* Trains: a module in eval mode goes to training mode, all of it; in one that is in training mode, a part that is in
 * eval mode stays so (a frozen BatchNorm). A run that is stopped after any step, even in the middle of an epoch, and
 * resumed, in another process too, gives the same bits as one that was not; the module, the optimizer, the loader and
 * the streams are then made with the same options as before. Labels may be int64 for every loss.
 * result  may be NULL
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (epochs below 1, a negative option, accuracy watched where there is none, an
 *         optimizer that holds none of the module's parameters),
 *         TN_ERROR_ANOMALY (a loss, a gradient or a weight that is not finite: the message names epoch, step and
 *         tensor), those of the module, the loss, the optimizer, the loader and of tn_checkpoint_save and _load. Then
 *         the files in the folder stay as they were last written: the last good ones. What was trained so far stays in
 *         the objects
 * cost    of the steps; one pass more over the gradients, to see that they are finite */
TN_API tn_status tn_fit(const tn_fit_options *options, tn_fit_result *result);

/* Row i of such a history, from 0.
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE (not a history), TN_ERROR_INDEX (no such row); all zeros then
 * cost    O(1) */
TN_API tn_epoch tn_history_epoch(tn_tensor *history, int64_t i);

TN_END

#endif
