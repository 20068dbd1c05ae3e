/* What the reader and the writer of safetensors share.
 *
 *     u64 length   little-endian
 *     JSON         {"__metadata__":{"k":"v"},"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}, spaces
 *     elements     row-major, little-endian; the tensors' [begin, end) tile all of it
 *
 * Source: the README of the safetensors project. */
#ifndef TNI_DATA_SAFETENSORS_H
#define TNI_DATA_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/formats.h>

#include "input.h"

enum { TNI_SUM_DIGITS = 8 };

/* One tensor of a header. Positions are in the text. */
typedef struct tni_entry {
    uint32_t name, shape; /* of the name (unescaped in place, with a zero byte behind it), and of the shape's '[' */
    int32_t ndim;
    tn_dtype dtype;
    int64_t begin, end;
    tn_tensor *tensor; /* a reference, once it is read */
} tni_entry;

typedef struct tni_pair {
    uint32_t key, value;
} tni_pair;

/* A header that was read. Names point into the text. */
typedef struct tni_manifest {
    const tni_input *input;
    char *text;
    size_t bytes; /* of the text; a zero byte follows */
    tni_entry *entries;
    int64_t n_entries, room_entries;
    tni_pair *pairs;
    int64_t n_pairs, room_pairs;
    size_t sum_at; /* of the eight digits of __metadata__.sum in the text as it came; 0: there are none */
} tni_manifest;

/* Reads the JSON in m->text. Afterwards every entry fits its shape, names and keys are unique and in the order of their
 * bytes. The tables have room for what bytes can hold. */
tn_status tni_manifest_read(tni_manifest *m);

/* Reads the sizes at an entry's shape. */
void tni_entry_sizes(const tni_manifest *m, const tni_entry *entry, int64_t *size);

/* Of a dtype: "F32" and so on, or NULL; and where it stands in a file, widest first. */
const char *tni_safetensors_dtype(tn_dtype dtype, int *rank);
tn_dtype tni_safetensors_dtype_from(const char *name);

/* Sorts n items in place, without memory and without a worst case. */
void tni_sort(void *items, int64_t n, size_t itemsize, int (*compare)(const void *a, const void *b, void *context),
              void *context);

#endif
