/* Reading options by table. The locale is C's throughout the program, so strtod means the same everywhere. */
#include "options.h"
#include "command.h"
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/extend.h>

enum { ROWS_LIMIT = 64, FIRST_ROW = 256 };

/* A whole number at the start of text that ends where *end says; false unless it is one within low .. high. */
static bool read_whole(const char *text, char **end, int64_t low, int64_t high, int64_t *value)
{
    if (!isdigit((unsigned char)text[text[0] == '-']))
        return false;
    errno = 0;
    long long read = strtoll(text, end, 10);
    if (errno || read < low || read > high)
        return false;
    *value = read;
    return true;
}

static bool parse_flag(const option_row *row, const char *text)
{
    (void)text;
    *(bool *)row->value = true;
    return true;
}

static void needed_flag(const option_row *row, char *buf, size_t size)
{
    (void)row;
    snprintf(buf, size, "no value");
}

static bool parse_whole(const option_row *row, const char *text)
{
    char *end;
    int64_t value;
    if (!read_whole(text, &end, row->low, row->high, &value) || *end)
        return false;
    *(int64_t *)row->value = value;
    return true;
}

static void needed_whole(const option_row *row, char *buf, size_t size)
{
    snprintf(buf, size, "a whole number from %" PRId64 " to %" PRId64, row->low, row->high);
}

static bool parse_number(const option_row *row, const char *text)
{
    char *end;
    if (!text[0] || text[strspn(text, "0123456789+-.eE")]) /* strtod takes more: blanks, hexadecimal, words */
        return false;
    const double value = strtod(text, &end), low = (double)row->low, high = (double)row->high;
    if (end == text || *end || !(value >= low && value <= high) || (row->above_low && value == low) ||
        (row->below_high && value == high))
        return false;
    *(double *)row->value = fabs(value); /* "-0" is 0 */
    return true;
}

static void needed_number(const option_row *row, char *buf, size_t size)
{
    snprintf(buf, size, "a number %s %" PRId64 " %s %" PRId64, row->above_low ? "above" : "from", row->low,
             row->below_high ? "to below" : "to", row->high);
}

static bool parse_sizes(const option_row *row, const char *text)
{
    size_list list = {0};
    char *end = (char *)text;
    if (strcmp(text, "none") != 0)
        do {
            if (list.count == SIZES_LIMIT || !read_whole(text, &end, row->low, row->high, &list.size[list.count++]))
                return false;
            text = end + 1;
        } while (*end == ',');
    else
        end += strlen(text);
    if (*end)
        return false;
    *(size_list *)row->value = list;
    return true;
}

static void needed_sizes(const option_row *row, char *buf, size_t size)
{
    snprintf(buf, size, "up to %d whole numbers from %" PRId64 " to %" PRId64 " with commas between, or 'none'",
             SIZES_LIMIT, row->low, row->high);
}

static bool parse_choice(const option_row *row, const char *text)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(text, row->words[i]) == 0) {
            *(int *)row->value = i;
            return true;
        }
    return false;
}

static void needed_choice(const option_row *row, char *buf, size_t size)
{
    size_t used = 0;
    for (int i = 0; row->words[i] && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s'%s'", i ? " or " : "", row->words[i]);
}

static bool parse_text(const option_row *row, const char *text)
{
    *(const char **)row->value = text;
    return *text != '\0';
}

static void needed_text(const option_row *row, char *buf, size_t size)
{
    snprintf(buf, size, "%s", row->argument);
}

static bool format_flag(const option_row *row, char *buf, size_t size)
{
    (void)buf, (void)size;
    return *(const bool *)row->value;
}

static bool format_whole(const option_row *row, char *buf, size_t size)
{
    snprintf(buf, size, "%" PRId64, *(const int64_t *)row->value);
    return *(const int64_t *)row->value >= row->low;
}

static bool format_number(const option_row *row, char *buf, size_t size)
{
    double value = *(const double *)row->value;
    tn_format_double(buf, size, value);
    return value >= (double)row->low;
}

static bool format_sizes(const option_row *row, char *buf, size_t size)
{
    const size_list *list = row->value;
    snprintf(buf, size, "none");
    for (size_t i = 0, used = 0; i < (size_t)list->count && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%" PRId64, i ? "," : "", list->size[i]);
    return true;
}

static bool format_text(const option_row *row, char *buf, size_t size)
{
    const char *text = *(const char *const *)row->value;
    snprintf(buf, size, "%s", text ? text : "");
    return text != NULL;
}

static bool format_choice(const option_row *row, char *buf, size_t size)
{
    int value = *(const int *)row->value;
    snprintf(buf, size, "%s", value >= 0 ? row->words[value] : "");
    return value >= 0;
}

const option_kind option_flag = {parse_flag, needed_flag, format_flag};
const option_kind option_whole = {parse_whole, needed_whole, format_whole};
const option_kind option_number = {parse_number, needed_number, format_number};
const option_kind option_sizes = {parse_sizes, needed_sizes, format_sizes};
const option_kind option_text = {parse_text, needed_text, format_text};
const option_kind option_choice = {parse_choice, needed_choice, format_choice};

/* Texts have the length of a path at most; the other kinds are shorter. */
enum { WORD_SIZE = 4352 };

int options_write_words(const option_row *rows, int n, const char *words[OPTION_WORDS], char **text)
{
    int count = 0;
    char *at = malloc((size_t)n * (WORD_SIZE + 64));
    *text = at;
    for (int i = 0; at && i < n && count + 2 <= OPTION_WORDS; i++) {
        char value[WORD_SIZE];
        if (!rows[i].kind->format(&rows[i], value, sizeof value))
            continue;
        words[count++] = at;
        at += sprintf(at, "--%.60s", rows[i].name) + 1;
        if (rows[i].argument) {
            words[count++] = at;
            at += sprintf(at, "%s", value) + 1;
        }
    }
    return at ? count : -1;
}

/* Letters to change, add, drop, or swap with the next to make b of a; anything over `limit` is limit + 1. */
static int slips(const char *a, const char *b, int limit)
{
    if (!*a || !*b) {
        size_t rest = strlen(a) + strlen(b);
        return rest > (size_t)limit ? limit + 1 : (int)rest;
    }
    if (*a == *b)
        return slips(a + 1, b + 1, limit);
    if (limit == 0)
        return 1;
    int best = slips(a + 1, b + 1, limit - 1), other = slips(a + 1, b, limit - 1);
    best = other < best ? other : best;
    other = slips(a, b + 1, limit - 1);
    best = other < best ? other : best;
    if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
        other = slips(a + 2, b + 2, limit - 1);
        best = other < best ? other : best;
    }
    return best + 1;
}

const char *nearest_name(const char *word, const char *const *names, int n)
{
    const char *best = NULL;
    int limit = strlen(word) < 4 ? 1 : 2, least = limit + 1;
    for (int i = 0; i < n; i++) {
        int distance = slips(word, names[i], limit);
        if (distance < least) {
            least = distance;
            best = names[i];
        }
    }
    return best;
}

static void complain_unknown(const char *command, const char *found, const option_row *rows, int n)
{
    const char *names[ROWS_LIMIT + 1];
    char word[64];
    const size_t dashes = strncmp(found, "--", 2) == 0 ? 2 : 1;
    size_t length = dashes == 2 || strlen(found) > 2 ? strcspn(found + dashes, "=") : 0; /* "-epochs" too */
    int begun = 0;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             found + (length ? dashes : 0));
    for (int i = 0; i < n; i++) {
        names[i] = rows[i].name;
        begun += length && strncmp(rows[i].name, word, strlen(word)) == 0;
    }
    names[n] = "help";
    const char *close = length ? nearest_name(word, names, n + 1) : NULL;
    if (close && strcmp(close, word) == 0)
        begun = 0; /* right but for a dash */
    report(command, "found '%s', needed an option that there is%s%s%s", found,
           begun > 1 ? ": it is short for more than one"
           : close   ? ": did you mean '--"
                     : "",
           begun < 2 && close ? close : "", begun < 2 && close ? "'?" : "");
    report_hint(command);
}

/* What getopt_long could not take; `found` is the word it looked at. */
static void complain(const char *command, int said, const char *found, const option_row *rows, int n)
{
    char needed[128];
    if (said == ':') {
        const option_row *row = &rows[optopt - FIRST_ROW];
        row->kind->needed(row, needed, sizeof needed);
        report(command, "--%s: found nothing after it, needed %s", row->name, needed);
    } else if (optopt >= FIRST_ROW || optopt == 'h') {
        report(command, "found '%s', needed the option without a value", found);
    } else {
        complain_unknown(command, found, rows, n);
    }
}

/* The word that getopt_long could not take: among letters behind one dash it goes on only after the last. */
static const char *looked_at(int argc, char **argv, int said)
{
    const char *now = optind < argc ? argv[optind] : "", *before = argv[optind - 1];
    if (said != '?' || optopt == 0 || optopt >= FIRST_ROW || now[0] != '-' || now[1] == '-' || !strchr(now + 1, optopt))
        return before;
    const bool was_last = before[0] == '-' && before[1] != '-' && before[strlen(before) - 1] == (char)optopt;
    return was_last ? before : now;
}

static int write_help(const command_text *text, const option_row *rows, int n)
{
    char left[64];
    printf("%s\n\nOptions:\n", text->usage);
    for (int i = 0; i < n; i++) {
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                 rows[i].argument ? rows[i].argument : "");
        printf("  %-18s%s\n", left, rows[i].help);
    }
    printf("  %-18s%s\n\n%s\n", "-h, --help", "this text", text->examples);
    return EXIT_DONE;
}

int options_read_operands(const command_text *text, const option_row *rows, int n, int argc, char **argv, int *first)
{
    const char *command = text->name;
    struct option known[ROWS_LIMIT + 2] = {{"help", no_argument, NULL, 'h'}};
    if (n > ROWS_LIMIT)
        n = ROWS_LIMIT;
    for (int i = 0; i < n; i++)
        known[i + 1] =
            (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument, NULL, FIRST_ROW + i};
    opterr = 0;
    optind = 0; /* to begin anew, where getopt_long comes from, and in the C libraries that took it over */
    for (int said; (said = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (said == 'h')
            return write_help(text, rows, n);
        if (said == '?' || said == ':') {
            complain(command, said, looked_at(argc, argv, said), rows, n);
            return EXIT_MISUSED;
        }
        const option_row *row = &rows[said - FIRST_ROW];
        if (!row->kind->parse(row, optarg)) {
            char needed[128];
            row->kind->needed(row, needed, sizeof needed);
            report(command, "--%s: found '%s', needed %s", row->name, optarg, needed);
            return EXIT_MISUSED;
        }
    }
    *first = optind;
    return OPTIONS_GO_ON;
}

int options_read(const command_text *text, const option_row *rows, int n, int argc, char **argv)
{
    int first, code = options_read_operands(text, rows, n, argc, argv, &first);
    if (code == OPTIONS_GO_ON && first < argc) {
        report(text->name, "found '%s', needed options only", argv[first]);
        report_hint(text->name);
        return EXIT_MISUSED;
    }
    return code;
}

int options_read_operand(const command_text *text, const option_row *rows, int n, int argc, char **argv,
                         const char **operand, const char *what)
{
    int first, code = options_read_operands(text, rows, n, argc, argv, &first);
    if (code != OPTIONS_GO_ON)
        return code;
    if (argc - first != 1) {
        report(text->name, "found %s%s%s, needed %s", first < argc ? "also '" : "nothing",
               first < argc ? argv[first + 1] : "", first < argc ? "'" : "", what);
        report_hint(text->name);
        return EXIT_MISUSED;
    }
    *operand = argv[first];
    return code;
}
