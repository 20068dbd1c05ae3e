/* What every reader of a format begins with: a file whose size is known, its messages, and sizes that cannot wrap.
 *
 * A pipe has no size, so it is read to its end first, and is then a block of memory; what a reader allocates can in
 * both cases be held against what is there. Nothing is mapped: a mapped file that somebody cuts ends the process. */
#ifndef TNI_DATA_INPUT_H
#define TNI_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/file.h>
#include <tenon/tensor.h>

typedef struct tni_input {
    tn_file file;
    int64_t size;          /* bytes that there are */
    unsigned char *memory; /* all of them, or NULL */
    size_t memory_bytes;   /* of the block */
} tni_input;

/* Opens for reading; `function` names the caller in messages. On failure *input is closed. */
tn_status tni_input_open(tni_input *input, const char *path, const char *function);

/* Bytes offset .. offset + bytes - 1, which must be within the size. */
tn_status tni_input_read(tni_input *input, void *buffer, size_t bytes, int64_t offset);

/* Has all of it in input->memory, followed by a zero byte. */
tn_status tni_input_slurp(tni_input *input);

/* Works while an error is pending, and on a closed input. */
void tni_input_close(tni_input *input);

/* "function: 'path' formatted" */
tn_status tni_input_fail(const tni_input *input, tn_status code, const char *source, int line, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));
#define INPUT_FAIL(input, ...) tni_input_fail((input), TN_ERROR_DATA, __FILE__, __LINE__, __VA_ARGS__)

enum { TNI_SHOWN = 96 };

/* Bytes for a message: at most 40 of them, what is not printable ASCII as \xNN, "..." where more follows. */
const char *tni_shown(char text[TNI_SHOWN], const void *bytes, size_t count);

/* Says of a file that is not of its format what it looks like: " (gzipped: gunzip it)" and so on, else "". */
const char *tni_looks_like(const tni_input *input);

/* Bytes of a dense array; false if product(max(1, size)) * itemsize is 2^62 or more. */
bool tni_array_bytes(const int64_t *size, int ndim, size_t itemsize, int64_t *bytes);

/* Whether all bytes are UTF-8 without surrogates; *bad is the first that is not. */
bool tni_is_utf8(const unsigned char *text, size_t bytes, size_t *bad);

/* Files are little-endian where they do not say otherwise. */
void tni_swap_bytes(void *data, size_t itemsize, int64_t count);
static inline bool tni_is_big_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Bytes other than 0 become 1. */
void tni_normalise_bools(void *data, int64_t count);

#endif
