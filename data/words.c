/* Lists and tables of words. */
#include "words.h"

#include <stdbool.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/formats.h>

#include "safetensors.h"

/* Whether a quote at i is the first of two, which stand for one. */
static bool is_doubled(tni_span word, size_t i)
{
    return word.text[i] == '"' && i + 1 < word.length && word.text[i + 1] == '"';
}

tn_status tni_words_make(tni_words *words, const tni_span *spans, int64_t n, const char *function)
{
    size_t bytes = (size_t)n * sizeof(char *);
    for (int64_t i = 0; i < n; i++)
        bytes += spans[i].length + 1;
    *words = (tni_words){0};
    if (n == 0)
        return TN_OK;
    char **word = tn_allocate(bytes, function);
    if (!word)
        return tn_error_code();
    char *to = (char *)(word + n);
    for (int64_t i = 0; i < n; i++) {
        word[i] = to;
        for (size_t j = 0; j < spans[i].length; j++) {
            *to++ = spans[i].text[j];
            j += is_doubled(spans[i], j);
        }
        *to++ = '\0';
    }
    *words = (tni_words){word, n, bytes};
    return TN_OK;
}

tn_status tni_words_from(tni_words *words, const char *const *strings, int64_t n, const char *function)
{
    size_t bytes = (size_t)n * sizeof(char *);
    *words = (tni_words){0};
    for (int64_t i = 0; i < n; i++) {
        if (!strings[i])
            return TN_FAIL(TN_ERROR_NULL, function, "a name is NULL");
        bytes += strlen(strings[i]) + 1;
    }
    char **word = tn_allocate(bytes, function), *to = (char *)(word + n);
    if (!word)
        return tn_error_code();
    for (int64_t i = 0; i < n; i++) {
        const size_t length = strlen(strings[i]) + 1;
        memcpy(to, strings[i], length);
        word[i] = to;
        to += length;
    }
    *words = (tni_words){word, n, bytes};
    return TN_OK;
}

tn_status tni_words_copy(tni_words *words, const tni_words *from, const char *function)
{
    *words = (tni_words){0};
    if (from->n == 0)
        return TN_OK;
    char **word = tn_allocate(from->bytes, function);
    if (!word)
        return tn_error_code();
    memcpy(word, from->word, from->bytes);
    for (int64_t i = 0; i < from->n; i++)
        word[i] = (char *)word + (from->word[i] - (const char *)from->word);
    *words = (tni_words){word, from->n, from->bytes};
    return TN_OK;
}

void tni_words_free(tni_words *words)
{
    tn_deallocate(words->word, words->bytes);
    *words = (tni_words){0};
}

/* A quote is the same as two. */
static bool same(tni_span a, tni_span b)
{
    size_t i = 0, j = 0;
    for (; i < a.length && j < b.length; i++, j++) {
        if (a.text[i] != b.text[j])
            return false;
        i += is_doubled(a, i);
        j += is_doubled(b, j);
    }
    return i == a.length && j == b.length;
}

/* FNV-1a from a start that is another in each run, so that no file can be made for collisions; numbers that are given
 * out do not depend on it. */
static uint64_t hash_of(const tni_table *table, tni_span word)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)table >> 4;
    for (size_t i = 0; i < word.length; i++) {
        hash = (hash ^ (unsigned char)word.text[i]) * UINT64_C(0x100000001b3);
        i += is_doubled(word, i);
    }
    return hash ^ hash >> 29;
}

/* The slot that holds the word, or the free one where it would go. Slots are twice the room, a power of two. */
static uint32_t *slot_of(const tni_table *table, tni_span word)
{
    uint64_t mask = (uint64_t)table->room * 2 - 1;
    uint64_t at = hash_of(table, word) & mask;
    while (table->slots[at] && !same(table->spans[table->slots[at] - 1], word))
        at = (at + 1) & mask;
    return &table->slots[at];
}

static tn_status grow(tni_table *table)
{
    tni_table larger = {.n = table->n, .room = table->room ? 2 * table->room : 16, .function = table->function};
    larger.spans = tn_allocate((size_t)larger.room * sizeof *larger.spans, table->function);
    larger.slots = tn_allocate((size_t)larger.room * 2 * sizeof *larger.slots, table->function);
    if (!larger.spans || !larger.slots) {
        tni_table_free(&larger);
        return tn_error_code();
    }
    if (table->n > 0)
        memcpy(larger.spans, table->spans, (size_t)table->n * sizeof *table->spans);
    tni_table_free(table);
    *table = larger;
    for (int64_t i = 0; i < table->n; i++)
        *slot_of(table, table->spans[i]) = (uint32_t)i + 1;
    return TN_OK;
}

int64_t tni_table_find(tni_table *table, tni_span word, bool add)
{
    uint32_t *slot = table->room ? slot_of(table, word) : NULL;
    if (slot && *slot)
        return (int64_t)*slot - 1;
    if (!add || table->n == TN_MAX_CLASSES)
        return -1;
    if (table->n == table->room) {
        if (grow(table))
            return -1;
        slot = slot_of(table, word);
    }
    table->spans[table->n] = word;
    *slot = (uint32_t)++table->n;
    return table->n - 1;
}

static int compare(const void *a, const void *b, void *context)
{
    const tni_table *table = context;
    tni_span p = table->spans[*(const uint32_t *)a], q = table->spans[*(const uint32_t *)b];
    size_t length = p.length < q.length ? p.length : q.length;
    int order = memcmp(p.text, q.text, length);
    return order ? order : (p.length > q.length) - (p.length < q.length);
}

tn_status tni_table_sort(tni_table *table, tni_words *words)
{
    size_t bytes = (size_t)table->room * sizeof(uint32_t), span_bytes = (size_t)table->room * sizeof(tni_span);
    uint32_t *order = tn_allocate(bytes, table->function);
    tni_span *spans = tn_allocate(span_bytes, table->function);
    table->ranks = tn_allocate(bytes, table->function);
    if (order && spans && table->ranks) {
        for (int64_t i = 0; i < table->n; i++)
            order[i] = (uint32_t)i;
        tni_sort(order, table->n, sizeof *order, compare, table);
        for (int64_t i = 0; i < table->n; i++) {
            table->ranks[order[i]] = (uint32_t)i;
            spans[i] = table->spans[order[i]];
        }
        tni_words_make(words, spans, table->n, table->function);
    }
    tn_deallocate(order, bytes);
    tn_deallocate(spans, span_bytes);
    return tn_error_code();
}

void tni_table_free(tni_table *table)
{
    tn_deallocate(table->spans, (size_t)table->room * sizeof *table->spans);
    tn_deallocate(table->slots, (size_t)table->room * 2 * sizeof *table->slots);
    tn_deallocate(table->ranks, (size_t)table->room * sizeof *table->ranks);
    *table = (tni_table){.function = table->function};
}
