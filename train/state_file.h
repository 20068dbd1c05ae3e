/* What weights and checkpoints share: a list of tensors to write, a file that was read, and the plan of what it will
 * change. Writing collects, then writes once. Reading checks all, then puts all: putting can't fail. */
#ifndef TNI_TRAIN_STATE_FILE_H
#define TNI_TRAIN_STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/formats.h>
#include <tenon/nn.h>

enum { TNI_SHOWN_NAME = 64 };

#define TNI_MODEL_PREFIX "model."

typedef struct tni_saving {
    const char *function; /* what the user called */
    tn_named_tensor *tensors; /* names are the list's own, tensors references */
    int64_t n, room;
} tni_saving;

/* Adds a reference on a tensor under the name "format". NULL with an error pending is no tensor. */
tn_status tni_saving_add(tni_saving *saving, tn_tensor *tensor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts copies in place of the tensors, which may then change. */
tn_status tni_saving_copy(tni_saving *saving);
void tni_saving_free(tni_saving *saving); /* the list is empty then */

/* New tensors on the CPU in the innermost scope. */
tn_tensor *tni_tensor_of(const void *data, const int64_t *size, int ndim, tn_dtype dtype);
tn_tensor *tni_row_of(const void *data, int64_t n, tn_dtype dtype);

/* A file that is read. */
typedef struct tni_reading {
    const char *function;
    const char *path;
    const tn_safetensors *file;
} tni_reading;

/* Text of a file for a message: cut, control characters as '?'. */
const char *tni_shown_name(char text[TNI_SHOWN_NAME], const char *name);

/* Raises "function: 'path' ..." */
tn_status tni_reading_fail(const tni_reading *reading, tn_status code, const char *source, int line,
                           const char *format, ...) __attribute__((cold, format(printf, 5, 6)));
#define READING_FAIL(reading, code, ...) tni_reading_fail((reading), (code), __FILE__, __LINE__, __VA_ARGS__)

/* The tensor of that name, whose shape and dtype are these; NULL with an error. */
tn_tensor *tni_reading_take(const tni_reading *reading, const char *name, const int64_t *size, int ndim,
                            tn_dtype dtype);

/* The n elements of the row of that name; NULL with an error. */
const void *tni_reading_row(const tni_reading *reading, const char *name, int64_t n, tn_dtype dtype);

/* The weights of a module: added to a list as prefix + name. */
tn_status tni_weights_add(tni_saving *saving, const tn_module *module, const char *prefix);

/* Tensors that will be overwritten, with what. */
typedef struct tni_weights_plan {
    struct tni_weight *weights;
    int64_t n, room;
} tni_weights_plan;

tn_status tni_weights_check(tni_weights_plan *plan, const tni_reading *reading, tn_module *module,
                            const char *prefix);
void tni_weights_put(const tni_weights_plan *plan);
void tni_weights_free(tni_weights_plan *plan);

/* Whether the metadata say that it is a checkpoint. */
bool tni_is_checkpoint(const tn_safetensors *file);

#endif
