/* conformance [--groups a,b,...] FILE.jsonl...: replays recorded programs through calls by name and compares.
 *
 * A line for each failing case (id, level, what was expected, what came), one for each skipped one (id, what is
 * missing), a table by group, and the totals as the last line. A malformed case has failed, under its id or, where it
 * has none, its line; the next ones run. Exit status: 0 when nothing failed, 1 when something did, 2 for a file that
 * cannot be read. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "conformance/replay.h"

enum { GROUPS = 128 };
enum { PASSED, FAILED, SKIPPED, OUTCOMES };

typedef struct group {
    char name[64];
    int count[OUTCOMES], levels[LEVELS];
} group;

typedef struct tally {
    group groups[GROUPS];
    int n_groups, total[OUTCOMES];
    const char *wanted; /* "a,b": these groups alone; NULL: all */
} tally;

json_t *read_line(const char *line)
{
    size_t length = strlen(line), used = 0;
    char *copy = malloc(2 * length + 8);
    bool quoted = false;
    for (size_t i = 0; copy && i < length;) {
        if (quoted || !strchr("-0123456789", line[i])) {
            quoted = line[i] == '"' ? !quoted : quoted;
            if (quoted && line[i] == '\\' && line[i + 1])
                copy[used++] = line[i++];
            copy[used++] = line[i++];
            continue;
        }
        size_t n = strspn(line + i, "-+.eE0123456789");
        char text[32] = "";
        snprintf(text, sizeof text, "%.*s", (int)(n < 31 ? n : 31), line + i);
        bool whole = strcspn(text, ".eE") == n;
        bool beyond =
            whole &&
            (n > 20 || (n >= 19 && (text[0] == '-' ? n > 20 || (n == 20 && strcmp(text, "-9223372036854775808") > 0)
                                                   : n > 19 || strcmp(text, "9223372036854775807") > 0)));
        used += (size_t)sprintf(copy + used, beyond ? "\"#%.*s\"" : "%.*s", (int)n, line + i);
        i += n;
    }
    if (!copy)
        return NULL;
    copy[used] = '\0';
    json_t *value = json_loads(copy, JSON_REJECT_DUPLICATES, NULL);
    free(copy);
    return value;
}

static group *group_of(tally *t, const char *name)
{
    for (int i = 0; i < t->n_groups; i++)
        if (strcmp(t->groups[i].name, name) == 0)
            return &t->groups[i];
    group *g = &t->groups[t->n_groups < GROUPS ? t->n_groups++ : GROUPS - 1];
    snprintf(g->name, sizeof g->name, "%s", name);
    return g;
}

static bool is_wanted(const tally *t, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = t->wanted; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    return !t->wanted;
}

static void count(tally *t, group *g, int outcome)
{
    g->count[outcome]++;
    t->total[outcome]++;
}

/* False: the case was malformed and has failed. */
static bool is_case(tally *t, const json_t *test, const char *path, int number)
{
    char wrong[256];
    const char *id = json_string_value(json_object_get(test, "id"));
    const char *name = json_string_value(json_object_get(test, "group"));
    if (case_is_well_formed(test, wrong, sizeof wrong))
        return true;
    if (name && !is_wanted(t, name))
        return false;
    if (id)
        printf("FAILED %s [malformed] %s:%d: %s\n", id, path, number, wrong);
    else
        printf("FAILED %s:%d [malformed] %s\n", path, number, wrong);
    count(t, group_of(t, name ? name : "malformed"), FAILED);
    return false;
}

static void run_case(tally *t, const json_t *test)
{
    static replay r;
    static char differences[LEVELS][TEXT];
    const char *id = json_string_value(json_object_get(test, "id"));
    const char *name = json_string_value(json_object_get(test, "group"));
    if (!is_wanted(t, name))
        return;
    group *g = group_of(t, name);
    int outcome = PASSED;
    tn_scope scope = tn_scope_begin();
    replay_run(&r, json_object_get(test, "program"));
    if (r.missing[0]) {
        outcome = SKIPPED;
        printf("skipped %s: %s\n", id, r.missing);
    } else {
        compare_case(&r, test, differences);
        for (int l = 0; l < LEVELS; l++) {
            if (!differences[l][0])
                continue;
            g->levels[l]++;
            outcome = FAILED;
            printf("FAILED %s [%s] %s\n", id, level_names[l], differences[l]);
        }
    }
    replay_free(&r);
    tn_scope_end(scope);
    count(t, g, outcome);
}

static bool run_file(tally *t, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    bool good = file != NULL;
    if (!file)
        fprintf(stderr, "%s: cannot be opened\n", path);
    for (ssize_t length; file && (length = getline(&line, &room, file)) > 0;) {
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0' && (size_t)length == strlen(line))
            continue;
        json_t *test = (size_t)length == strlen(line) ? read_line(line) : NULL; /* a NUL byte would hide the rest */
        if (!test) {
            printf("FAILED %s:%d [malformed] no JSON, or a key twice in one object\n", path, number);
            count(t, group_of(t, "malformed"), FAILED);
        } else if (is_case(t, test, path, number)) {
            run_case(t, test);
        }
        json_decref(test);
    }
    if (file && ferror(file)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        good = false;
    }
    free(line);
    if (file)
        fclose(file);
    return good;
}

static void report(const tally *t)
{
    printf("\n%-16s %6s %6s %7s ", "group", "passed", "failed", "skipped");
    for (int l = 0; l < LEVELS; l++)
        printf(" %7s", level_names[l]);
    printf("\n");
    for (int i = 0; i < t->n_groups; i++) {
        const group *g = &t->groups[i];
        printf("%-16s %6d %6d %7d ", g->name, g->count[PASSED], g->count[FAILED], g->count[SKIPPED]);
        for (int l = 0; l < LEVELS; l++)
            printf(" %7d", g->levels[l]);
        printf("\n");
    }
    printf("\n%d passed, %d failed, %d skipped\n", t->total[PASSED], t->total[FAILED], t->total[SKIPPED]);
}

int main(int argc, char **argv)
{
    static tally t;
    bool good = argc > 1;
    if (!good)
        fprintf(stderr, "usage: conformance [--groups a,b,...] FILE.jsonl...\n");
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--groups") == 0 && i + 1 < argc)
            t.wanted = argv[++i];
        else
            good = run_file(&t, argv[i]) && good;
    report(&t);
    if (good && t.total[PASSED] + t.total[FAILED] + t.total[SKIPPED] == 0) {
        fprintf(stderr, "no case was there to run\n");
        good = false;
    }
    return !good ? 2 : t.total[FAILED] > 0;
}
