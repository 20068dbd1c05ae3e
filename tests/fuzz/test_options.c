/* Command lines made from the option tables, then mutated: words cut, doubled, scratched, swapped, values of other
 * options. The parser of `tenon train` and commands that end soon (a folder that is not there) read them.
 *
 * Nothing crashes or leaks; exit codes are 0, 1 and 2; a complaint is one line and a hint, and has a word of the line;
 * what is accepted is written back as words that give the same. TENON_FUZZ_ROUNDS: how many (4000). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/capture.h"
#include "support/draw.h"
#include "train_options.h"

enum { MOST_WORDS = 24, WORD = 120 };

static uint64_t random_state;

static uint32_t draw(uint32_t n)
{
    return (uint32_t)draw_below(&random_state, n);
}

#define PICK(list) (list[draw(sizeof(list) / sizeof *(list))])

static char words[MOST_WORDS][WORD];
static int count;

static void add(const char *text)
{
    if (count < MOST_WORDS)
        snprintf(words[count++], WORD, "%s", text);
}

static const char *value_of(const option_row *row)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "2",
                                         "16,16",
                                         "none",
                                         "-1",
                                         "1e-3",
                                         "0.5",
                                         "1e400",
                                         "nan",
                                         "inf",
                                         "0x10",
                                         "",
                                         " 1",
                                         "1 ",
                                         "adam",
                                         "float",
                                         ",",
                                         "1,",
                                         "1,,",
                                         "--lr",
                                         "-",
                                         "--",
                                         "=",
                                         "a=b",
                                         "é",
                                         "\x80",
                                         "1e+2",
                                         "5.5.5",
                                         "+3",
                                         "-0",
                                         "1e",
                                         ".",
                                         "00012",
                                         "1_000",
                                         "1,000",
                                         "9223372036854775808",
                                         "sgd",
                                         "cosine",
                                         "yes",
                                         "tab",
                                         "4294967296",
                                         "1000000001",
                                         "\t",
                                         "%s%n",
                                         "no such thing"};
    static char text[32];
    if (row && draw(3) > 0 && row->words) {
        int n = 0;
        while (row->words[n])
            n++;
        return row->words[draw((uint32_t)n)];
    }
    if (row && draw(3) > 0) {
        snprintf(text, sizeof text, "%d", (int)(row->low + draw(9)));
        return text;
    }
    return PICK(values);
}

static void add_option(const option_row *rows, int n)
{
    const option_row *row = &rows[draw((uint32_t)n)];
    char text[WORD];
    snprintf(text, sizeof text, "--%s", row->name);
    if (draw(12) == 0)
        text[3 + draw((uint32_t)strlen(row->name))] = '\0'; /* shortened */
    if (!row->argument || draw(3)) {
        add(text);
        if (row->argument)
            add(value_of(draw(8) ? row : NULL));
        return;
    }
    snprintf(text, sizeof text, "--%s=%s", row->name, value_of(draw(8) ? row : NULL));
    add(text);
}

static void mutate(void)
{
    if (count < 2)
        return;
    const int at = 1 + (int)draw((uint32_t)count - 1), other = 1 + (int)draw((uint32_t)count - 1);
    char *word = words[at], copy[WORD];
    const size_t length = strlen(word);
    switch (draw(7)) {
    case 0:
        if (length > 0)
            word[draw((uint32_t)length)] = (char)(1 + draw(255));
        break;
    case 1:
        word[length ? draw((uint32_t)length) : 0] = '\0';
        break;
    case 2:
        memcpy(copy, word, WORD);
        memcpy(word, words[other], WORD);
        memcpy(words[other], copy, WORD);
        break;
    case 3:
        memcpy(words[other], word, WORD);
        break;
    case 4:
        if (length > 1 && length < WORD - 2) {
            const size_t i = draw((uint32_t)length);
            memmove(word + i + 1, word + i, length - i + 1);
        }
        break;
    case 5:
        memmove(words[at], words[at + 1 < MOST_WORDS ? at + 1 : at], (size_t)(count - at - 1) * WORD);
        count--;
        break;
    default:
        memset(word, draw(2) ? '-' : 'x', WORD - 1);
        word[draw(WORD - 1)] = '\0';
    }
}

/* The words as lines, to be freed. */
static char *lines_of(const train_words *of)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    for (int i = 0; i < of->count; i++)
        fprintf(to, "%s\n", of->word[i]);
    fclose(to);
    return text;
}

/* What options are written as is read back as the same. */
static void write_and_read(train_options *asked)
{
    train_options again;
    train_words written, none, twice;
    char name[] = "train", *back[OPTION_WORDS + 2] = {name};
    assert_true(train_write_words(asked, &written));
    for (int i = 0; i < written.count; i++)
        back[i + 1] = (char *)(uintptr_t)written.word[i];
    if (asked->data.name[0] != '-') { /* a name like an option needs "--" before it */
        assert_int_equal(train_read(&again, &none, written.count + 1, back), OPTIONS_GO_ON);
        assert_true(train_write_words(&again, &twice));
        char *first = lines_of(&written), *second = lines_of(&twice);
        assert_string_equal(first, second);
        free(first);
        free(second);
        train_words_free(&twice);
    }
    train_words_free(&written);
}

static int run_train(int argc, char **argv)
{
    train_options asked;
    train_words kept;
    int code = train_read(&asked, &kept, argc, argv);
    if (code == OPTIONS_GO_ON) {
        code = tn_error_code() ? EXIT_FAILED : EXIT_DONE;
        if (code == EXIT_DONE)
            write_and_read(&asked);
    }
    train_words_free(&kept);
    return code;
}

static const struct {
    const char *name;
    command_function run;
    const char *operands[2];
} commands[] = {{"train", run_train, {"moons", NULL}},
                {"train", run_train, {"data.csv", NULL}},
                {"train", run_train, {NULL, NULL}},
                {"eval", command_eval, {"no-run", "moons"}},
                {"predict", command_predict, {"no-run", "no-file.csv"}},
                {"inspect", command_inspect, {"no-file", NULL}}};

/* Whether the complaint has a word of the line, or what stands in one before '='. */
static bool names_a_word(const char *said)
{
    for (int i = 1; i < count; i++) {
        char part[WORD];
        snprintf(part, sizeof part, "%s", words[i]);
        if (part[0] == '\0' ? strstr(said, "''") != NULL : strstr(said, part) != NULL)
            return true;
        if (part[0] == '-' && part[1] && part[1] != '-' && strchr(said, part[1]))
            return true; /* letters together: one of them is told */
        part[strcspn(part, "=")] = '\0';
        if (strlen(part) > 3 && strstr(said, part))
            return true;
    }
    return strstr(said, "found no") || strstr(said, "there is no file") || strstr(said, "found 0 words") ||
           strstr(said, "found 1 words") || strstr(said, " words, needed");
}

static void command_lines(void **state)
{
    static char said[1 << 14];
    const char *rounds = getenv("TENON_FUZZ_ROUNDS");
    int outcomes[4] = {0};
    train_options it = {.epochs = 0};
    option_row rows[TRAIN_ROWS];
    int own, n = train_rows(rows, &it, &own);
    (void)state;
    tn_set_memory_limit((size_t)1 << 26);
    for (uint64_t seed = 0; seed < (rounds ? strtoull(rounds, NULL, 10) : 4000); seed++) {
        random_state = (seed + 1) * 0x9E3779B97F4A7C15u; /* not 0 */
        const int which = (int)draw(sizeof commands / sizeof *commands);
        char *argv[MOST_WORDS + 1] = {NULL};
        count = 0;
        add(commands[which].name);
        for (int i = 0; i < 2; i++)
            if (commands[which].operands[i])
                add(commands[which].operands[i]);
        for (uint32_t i = draw(6); i > 0; i--)
            add_option(rows, n);
        for (uint32_t i = draw(2) ? draw(5) : 0; i > 0; i--)
            mutate();
        const int given = count;
        char *copies[MOST_WORDS];
        for (int i = 0; i < given; i++) /* blocks of their own, so that a step beyond one is seen */
            argv[i] = copies[i] = strdup(words[i]);
        const int64_t blocks = tn_get_memory_stats().live_blocks;
        const int code = run_command(commands[which].run, given, argv, said, sizeof said);
        if (code < 0 || code > 2 || tn_error_code() || tn_get_memory_stats().live_blocks != blocks)
            fail_msg("seed %llu: exit code %d, '%s'; said %s", (unsigned long long)seed, code, tn_error_message(),
                     said);
        if (code == EXIT_MISUSED && (strncmp(said, "tenon ", 6) != 0 || !strchr(said, '\n') || !names_a_word(said)))
            if (strncmp(said, "{\"error\"", 8) != 0)
                fail_msg("seed %llu: a complaint without a word of the line: %s", (unsigned long long)seed, said);
        outcomes[code]++;
        for (int i = 0; i < given; i++)
            free(copies[i]);
    }
    tn_set_memory_limit(SIZE_MAX);
    assert_true(outcomes[0] > 100 && outcomes[1] > 100 && outcomes[2] > 100);
}

static int begin(void **state)
{
    (void)state;
    char name[] = "eval", run[] = "no-run", data[] = "moons", *argv[] = {name, run, data, NULL}, said[200];
    capture_begin();
    run_command(command_eval, 3, argv, said, sizeof said); /* what is made once is there */
    return 0;
}

static int end(void **state)
{
    (void)state;
    capture_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(command_lines)};
    return cmocka_run_group_tests(tests, begin, end);
}
