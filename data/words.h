/* A list of words in one block of memory: column names, class names. */
#ifndef TNI_DATA_WORDS_H
#define TNI_DATA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>

/* A word somewhere else. */
typedef struct tni_span {
    const char *text;
    size_t length;
} tni_span;

typedef struct tni_words {
    char **word; /* n pointers, then the text that they point into */
    int64_t n;
    size_t bytes;
} tni_words;

/* Copies n words; a doubled quote in spans becomes one. words->n is 0 on failure. */
tn_status tni_words_make(tni_words *words, const tni_span *spans, int64_t n, const char *function);
tn_status tni_words_from(tni_words *words, const char *const *strings, int64_t n, const char *function);
tn_status tni_words_copy(tni_words *words, const tni_words *from, const char *function);
void tni_words_free(tni_words *words);

/* Distinct words, at most TN_MAX_CLASSES, each with a number. */
typedef struct tni_table {
    tni_span *spans;
    uint32_t *slots; /* 1 + index of a span; 0: free */
    uint32_t *ranks; /* once sorted: the place of each span among the words */
    int64_t n, room;
    const char *function;
} tni_table;

/* The index of the word, which is added if it is not there and `add`; -1 if it is not there, the table is full or
 * memory is short (the last is an error). */
int64_t tni_table_find(tni_table *table, tni_span word, bool add);

/* Copies the words in the order of their bytes; table->ranks then lead from an index to the place there. */
tn_status tni_table_sort(tni_table *table, tni_words *words);
void tni_table_free(tni_table *table);

#endif
