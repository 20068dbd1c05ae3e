/* Reads tests/data/golden.txt once a section is asked for. */
#include "support/golden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { SECTIONS = 64, NAME = 64 };

typedef struct section {
    char name[NAME], type[4];
    long long count;
    void *values;
} section;

static section sections[SECTIONS];
static int section_count;

static size_t width_of(const char *type)
{
    return strcmp(type + 1, "32") == 0 ? 4 : 8;
}

static void parse(const char *type, const char *text, void *to)
{
    if (strcmp(type, "f64") == 0)
        *(double *)to = strtod(text, NULL);
    else if (strcmp(type, "f32") == 0)
        *(float *)to = strtof(text, NULL);
    else if (strcmp(type, "i64") == 0)
        *(int64_t *)to = strtoll(text, NULL, 10);
    else if (strcmp(type, "u64") == 0)
        *(uint64_t *)to = strtoull(text, NULL, 10);
    else
        *(uint32_t *)to = (uint32_t)strtoul(text, NULL, 10);
}

static void load(void)
{
    char word[64];
    FILE *file = fopen(TENON_TEST_DATA "/golden.txt", "r");
    if (!file)
        fail_msg("%s/golden.txt cannot be opened", TENON_TEST_DATA);
    section *s = sections;
    while (s < sections + SECTIONS && fscanf(file, "%63s %3s %lld %*s", s->name, s->type, &s->count) == 3) {
        size_t width = width_of(s->type);
        s->values = calloc((size_t)s->count, width);
        assert_non_null(s->values);
        for (long long i = 0; i < s->count; i++) {
            if (fscanf(file, "%63s", word) != 1)
                fail_msg("golden.txt ends inside %s", s->name);
            parse(s->type, word, (char *)s->values + (size_t)i * width);
        }
        s++;
    }
    section_count = (int)(s - sections);
    fclose(file);
}

const void *golden_values(const char *name, const char *type, int64_t count)
{
    if (section_count == 0)
        load();
    for (int i = 0; i < section_count; i++) {
        const section *s = &sections[i];
        if (strcmp(s->name, name) != 0)
            continue;
        if (strcmp(s->type, type) != 0 || s->count != count)
            fail_msg("golden.txt has %s as %s x %lld, asked for %s x %" PRId64, name, s->type, s->count, type, count);
        return s->values;
    }
    fail_msg("golden.txt has no section %s", name);
    return NULL;
}

static void describe(const char *type, const void *value, char *text, size_t size)
{
    if (strcmp(type, "f64") == 0)
        snprintf(text, size, "%a (%.17g)", *(const double *)value, *(const double *)value);
    else if (strcmp(type, "f32") == 0)
        snprintf(text, size, "%a (%.9g)", (double)*(const float *)value, (double)*(const float *)value);
    else if (strcmp(type, "i64") == 0)
        snprintf(text, size, "%" PRId64, *(const int64_t *)value);
    else if (strcmp(type, "u64") == 0)
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)value);
    else
        snprintf(text, size, "%" PRIu32, *(const uint32_t *)value);
}

void golden_compare(const char *what, const char *type, const void *expected, const void *actual, int64_t count)
{
    size_t width = width_of(type);
    const char *want = expected, *got = actual;
    int64_t different = 0, first = -1;
    for (int64_t i = 0; i < count; i++) {
        if (memcmp(want + (size_t)i * width, got + (size_t)i * width, width) == 0)
            continue;
        first = different++ ? first : i;
    }
    if (different) {
        char a[64], b[64];
        describe(type, want + (size_t)first * width, a, sizeof a);
        describe(type, got + (size_t)first * width, b, sizeof b);
        fail_msg("%s: %" PRId64 " of %" PRId64 " differ, first [%" PRId64 "]: expected %s, got %s", what, different,
                 count, first, a, b);
    }
}

void golden_check(const char *name, const char *type, const void *actual, int64_t count)
{
    golden_compare(name, type, golden_values(name, type, count), actual, count);
}
