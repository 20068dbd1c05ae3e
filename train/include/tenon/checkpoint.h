/* Weights and whole training runs in files. Both kinds are safetensors, written by tn_file_replace: at every moment,
 * through crashes and power loss, the path holds all of the old or all of the new content. A file is checked whole
 * before anything is given to the objects: a call that fails leaves them as they were.
 *
 * Common   what every function may raise, and its own lines do not repeat: TN_ERROR_NULL, TN_ERROR_FILE (the operating
 *          system refused), TN_ERROR_MEMORY. Reading: TN_ERROR_DATA (the content is not what it must be; the message
 *          says where), TN_ERROR_NAME (a tensor is missing, or one too many), TN_ERROR_SHAPE and TN_ERROR_DTYPE (one
 *          does not fit; the message has its name, what was found and what is needed), TN_ERROR_DEVICE (on meta).
 *
 * Threads  a call reads or writes its objects: no other thread may write them meanwhile. */
#ifndef TENON_CHECKPOINT_H
#define TENON_CHECKPOINT_H

#include <stdint.h>
#include <tenon/data.h>
#include <tenon/error.h>
#include <tenon/nn.h>
#include <tenon/optim.h>
#include <tenon/random.h>
#include <tenon/schedule.h>

TN_BEGIN

/* Writes parameters and buffers by the names of PyTorch's state_dict ("0.weight", "1.running_mean"): a file that
 * safetensors.torch.load_file reads and load_state_dict takes. Its metadata hold "format", "pt", and "sum", the
 * checksum of tn_safetensors_options.
 * errors  common; TN_ERROR_DTYPE (one that safetensors do not have), TN_ERROR_DEVICE (on meta)
 * cost    O(bytes)
 * source  torch.nn.Module.state_dict, safetensors' save_file */
TN_API tn_status tn_save(const tn_module *module, const char *path);

/* Reads them back, from such a file, whoever wrote it, or from a checkpoint. The file has each tensor of the module, of
 * its shape and dtype, and no other; of a checkpoint that holds for the part of the model. Where its metadata
 * have a "sum" that must be right: a file that was damaged since is refused.
 * errors  common
 * cost    O(bytes), twice the memory of the weights on the way
 * source  torch.nn.Module.load_state_dict(strict=True) */
TN_API tn_status tn_load(tn_module *module, const char *path);

/* A random stream by name; one of the pointers is set. */
typedef struct tn_stream {
    const char *name; /* "dropout" */
    tn_torch_generator *torch_generator;
    tn_default_rng *default_rng;
    tn_random_state *random_state;
} tn_stream;

/* How far a run is. The loop (tenon/fit.h) keeps it; a loop of your own uses what it likes. */
typedef struct tn_progress {
    int64_t epoch; /* epochs that are complete */
    int64_t step;  /* steps of the optimizer so far */
    /* Of the epoch that runs: the sum of each batch's loss times its samples, and the samples. */
    double loss_sum;
    int64_t samples;
    /* Early stopping: the best score so far, the epoch (counted from 1) that had it, 0 for none yet, and the epochs
     * without a better one since. */
    double best;
    int64_t best_epoch;
    int64_t bad_epochs;
} tn_progress;

/* What a checkpoint holds; what is NULL is left out. Plain data that points to the caller's objects. */
typedef struct tn_checkpoint {
    tn_module *module;       /* parameters and buffers */
    tn_optimizer *optimizer; /* its kind, options of the groups, states and steps */
    tn_schedule *schedule;   /* its kind, settings and state */
    tn_loader *loader;       /* what it is (tn_loader_state), where in which epoch, and its generator; a global one
                                goes among the streams */
    const tn_stream *streams;
    int64_t n_streams;
    tn_progress *progress;
    tn_tensor **history; /* float64, two dims; loading puts a new tensor there, or NULL if there is none */
} tn_checkpoint;

/* Writes a checkpoint: one safetensors file, whose metadata have format "checkpoint", its version, and as `sum` the
 * CRC-32 over all of the file with the sum's own eight digits as zeros. Tensors are named "model.0.weight",
 * "optim.exp_avg.0" (by the parameter's number), "stream.dropout.torch", "loader.position", and so on. Equal states
 * give equal bytes.
 * errors  common; TN_ERROR_ARGUMENT (a stream without a name or with two pointers, two of one name), TN_ERROR_STATE (a
 *         stream without a seed), TN_ERROR_DTYPE, TN_ERROR_DEVICE (on meta)
 * cost    O(bytes) */
TN_API tn_status tn_checkpoint_save(const char *path, const tn_checkpoint *checkpoint);

/* Reads a checkpoint into the objects. All that is not NULL must be in the file and fit; what the file holds beyond
 * that is checked for damage alone. So with the module alone it gives the weights. Whatever is cut, or differs in a
 * single bit from what was written, is refused.
 * errors  common; as tn_checkpoint_save; TN_ERROR_ARGUMENT (an optimizer or schedule of another
 *         kind, with other groups or options out of range; a loader with other samples, batch_size, shuffle, drop_last,
 *         draws, weights or global_generator: the message has both values)
 * cost    O(bytes), O(n) more for a shuffling loader of n samples; twice the memory of what is loaded on the way */
TN_API tn_status tn_checkpoint_load(const char *path, const tn_checkpoint *checkpoint);

TN_END

#endif
