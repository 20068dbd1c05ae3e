/* The tensors of a checkpoint, by name and layout; the writer and the reader share it.
 *
 *     model.NAME            parameters and buffers
 *     optim.options         float64 [groups, options], in the order of metadata `optimizer.options`
 *     optim.groups          int64 [parameters]: the group of each; optim.steps likewise: its steps
 *     optim.STATE.NUMBER    of parameter NUMBER, where the optimizer has come to need it
 *     schedule.numbers      float64 [n], named by tn_schedule_state_name; the names are in metadata `schedule.names`
 *     loader.position       int64 [2]: epochs begun, next batch
 *     loader.options        int64 [7]: samples, draws, batch_size, shuffle, drop_last, global_generator, weights of
 *                           tn_loader_state
 *     loader.generator      a torch generator
 *     stream.NAME.KIND      KIND torch, default_rng or random_state
 *     progress.counts       int64, progress.numbers float64: the fields of tn_progress
 *     history               float64, two dims
 *
 * Metadata: format "checkpoint", version, optimizer (its kind), optimizer.options (names), schedule (its kind),
 * schedule.names, sum.
 *
 *     torch         uint32 [630]: 624 words, position, has_normal, normal (2), initial_seed (2); low words first
 *     random_state  uint32 [628]: 624 words, position, has_gauss, gauss (2)
 *     default_rng   uint64 [6]: state (high, low), inc (high, low), has_uint32, uinteger
 */
#ifndef TNI_TRAIN_CHECKPOINT_FORMAT_H
#define TNI_TRAIN_CHECKPOINT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/checkpoint.h>

#include "optimizer.h"
#include "state_file.h"

#define TNI_CHECKPOINT_VERSION "1"

enum { TNI_TORCH_WORDS = 630, TNI_RANDOM_STATE_WORDS = 628, TNI_DEFAULT_RNG_WORDS = 6 };
enum { TNI_STREAM_BYTES = 630 * 4 }; /* of the longest */
enum { TNI_PROGRESS_COUNTS = 5, TNI_PROGRESS_NUMBERS = 2 };
enum { TNI_OPTION_NAMES = 256 };
enum { TNI_LOADER_OPTIONS = 7 };

typedef enum tni_stream_kind {
    TNI_TORCH_STREAM,
    TNI_DEFAULT_RNG_STREAM,
    TNI_RANDOM_STATE_STREAM,
    TNI_STREAM_KINDS
} tni_stream_kind;

/* How a kind of stream is stored. pack and unpack go between a generator and its words; unpack refuses (false) what no
 * generator can be. */
typedef struct tni_stream_format {
    const char *name;
    tn_dtype dtype;
    int64_t words;
    size_t bytes; /* of the generator */
    void (*pack)(const void *generator, void *words);
    bool (*unpack)(void *generator, const void *words);
} tni_stream_format;

extern const tni_stream_format tni_stream_formats[TNI_STREAM_KINDS];

/* The generator of a stream and its kind; NULL with an error if it is not one with a name. */
void *tni_stream_of(const char *function, const tn_stream *stream, int64_t number, tni_stream_kind *kind);

/* Refuses a generator without a seed. */
tn_status tni_check_seeded(const char *function, const tn_stream *stream, const void *generator, tni_stream_kind kind);

/* The names of all streams differ, and each is one. */
tn_status tni_check_streams(const char *function, const tn_checkpoint *checkpoint);

/* "lr momentum ..." */
void tni_option_names(char text[TNI_OPTION_NAMES], const tni_optimizer_kind *kind);

/* What the loader is. */
void tni_pack_loader(const tn_loader_state *state, int64_t options[TNI_LOADER_OPTIONS]);

void tni_pack_progress(const tn_progress *progress, int64_t counts[TNI_PROGRESS_COUNTS],
                       double numbers[TNI_PROGRESS_NUMBERS]);
bool tni_unpack_progress(tn_progress *progress, const int64_t counts[TNI_PROGRESS_COUNTS],
                         const double numbers[TNI_PROGRESS_NUMBERS]);

/* The names of a schedule's numbers, a space between them, as a block of *bytes; NULL with an error. */
char *tni_schedule_names(const char *function, const tn_schedule *schedule, size_t *bytes);

/* The two halves of saving. */
tn_status tni_checkpoint_collect(tni_saving *saving, const tn_checkpoint *checkpoint);
tn_status tni_checkpoint_write(const char *path, const tni_saving *saving, const tn_checkpoint *checkpoint);

#endif
