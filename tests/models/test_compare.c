/* The built `tenon` command from outside: exit codes, what stands on stdout and what on stderr. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if TENON_HAVE_JANSSON
#include <jansson.h>
#endif

#include "support/test.h"

enum { TEXT = 16384, WORDS = 16 };

typedef struct outcome {
    int code; /* -1: ended by a signal */
    char out[TEXT], err[TEXT];
} outcome;

static outcome last;

static void read_back(FILE *file, char *text)
{
    rewind(file);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
}

/* Runs `tenon` with the words of `line`; '' is an empty word. out: where stdout goes instead of last.out, "" for
 * closed. */
static void run_to(const char *line, const char *out)
{
    extern char **environ;
    char copy[512], command[] = TENON_COMMAND, *argv[WORDS + 2] = {command};
    int argc = 1, status;
    pid_t child;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *at = copy; (at += strspn(at, " ")), *at;) {
        assert_true(argc <= WORDS);
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
        if (strcmp(argv[argc - 1], "''") == 0)
            *argv[argc - 1] = '\0';
    }
    FILE *files[] = {tmpfile(), tmpfile()};
    assert_non_null(files[0]);
    assert_non_null(files[1]);
    posix_spawn_file_actions_t actions;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    if (!out)
        posix_spawn_file_actions_adddup2(&actions, fileno(files[0]), 1);
    else if (*out)
        posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY, 0);
    else
        posix_spawn_file_actions_addclose(&actions, 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(files[1]), 2);
    int failed = posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        fail_msg("%s: %s", argv[0], strerror(failed));
    assert_int_equal(waitpid(child, &status, 0), child);
    last.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_back(files[0], last.out);
    read_back(files[1], last.err);
}

static void run(const char *line)
{
    run_to(line, NULL);
}

static void expect_code(const char *line, int code)
{
    if (last.code != code)
        fail_msg("tenon %s: exit code %d, expected %d\nstdout: %s\nstderr: %s", line, last.code, code, last.out,
                 last.err);
}

static void expect_text(const char *line, const char *text, const char *said)
{
    if (!strstr(text, said))
        fail_msg("tenon %s: '%s' is not in\n%s", line, said, text);
}

/* Exit code 0, nothing on stderr, all of `said` (separated by '|') on stdout, in order. */
static void succeeds(const char *line, const char *said)
{
    char copy[1024], *at = last.out, *save = NULL;
    run(line);
    expect_code(line, 0);
    assert_string_equal(last.err, "");
    snprintf(copy, sizeof copy, "%s", said);
    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
        at = strstr(at, word);
        if (!at)
            fail_msg("tenon %s: '%s' is missing, or not in its place, in\n%s", line, word, last.out);
        at += strlen(word);
    }
}

/* The code, nothing on stdout, and `said` on stderr. */
static void fails(const char *line, int code, const char *said)
{
    run(line);
    expect_code(line, code);
    assert_string_equal(last.out, "");
    expect_text(line, last.err, said);
}

static void the_lesson(void **state)
{
    (void)state;
    succeeds(
        "compare",
        "2-16-16-1|200|noise 0.2|337 parameters|X|[200, 2]|float64|[2, 1]|float32|[2, 1]|0.weight|[16, 2]|"
        "4.bias|outputs|[200, 1]|[1, 1]|against the lesson's|equal to rounding|absolute|e-08 at point|relative|ulp|"
        "The values for attribute 'dtype' do not match: torch.float32 != torch.float64.|passes");
    for (char *at = strtok(last.out, "\n"); at; at = strtok(NULL, "\n"))
        if (strlen(at) > 100)
            fail_msg("a line of %d columns: %s", (int)strlen(at), at);
    succeeds("compare --like torch", "PyTorch 2.15|absolute    5.9e-08 at point 80");
    succeeds("compare --samples 10 --hidden none --noise 0", "2-1 net|noise 0.0|3 parameters");
    assert_null(strstr(last.out, "lesson's"));
}

static void help_and_version(void **state)
{
    (void)state;
    succeeds("--help", "Usage: tenon|compare|help|version|Exit code");
    succeeds("-h", "Usage: tenon");
    succeeds("help", "Usage: tenon");
    succeeds(
        "compare --help",
        "Usage: tenon compare|--samples N|--noise|--seed|--hidden|--like|--json|Examples:|tenon compare --like torch");
    succeeds("compare -h", "Usage: tenon compare");
    succeeds("help compare", "Usage: tenon compare");
    succeeds("compare --samples 5 --help", "Usage: tenon compare");
    succeeds("help help", "help");
    succeeds("--version", "tenon 0");
    succeeds("version", "tenon 0");
}

static void called_wrongly(void **state)
{
    (void)state;
    fails("", 2, "needed one");
    fails("comparr", 2, "did you mean 'compare'?");
    fails("--compare", 2, "'--compare'");
    fails("help nothing", 2, "'nothing'");
    fails("version 2", 2, "'2'");
    fails("compare --sample5", 2, "did you mean '--samples'?");
    fails("compare --frobnicate", 2, "'--frobnicate'");
    fails("compare --s 5", 2, "short for more than one");
    fails("compare -x", 2, "'-x'");
    fails("compare -xy --json", 2, "'-xy'");
    fails("compare --json -xy", 2, "'-xy'");
    fails("compare --json=5", 2, "without a value");
    fails("compare --help=5", 2, "without a value");
    fails("compare --samples", 2, "--samples: found nothing after it, needed a whole number from 1");
    fails("compare moons", 2, "found 'moons'");
    fails("compare --json -- moons", 2, "found 'moons'");
    fails("compare ''", 2, "found ''");
}

/* Each value of each option: refused in the words "found ..., needed ...". */
static void bad_values(void **state)
{
    (void)state;
    static const struct {
        const char *option, *needed, *values[24];
    } bad[] = {
        {"--samples",
         "needed a whole number from 1 to ",
         {"0", "-1", "+5", "1e3", "5.0", "0x10", "five", "''", "-", "5x", "9223372036854775808", "99999999999999999999",
          "nan"}},
        {"--noise",
         "needed a number from 0 to ",
         {"nan", "inf", "-inf", "-1", "abc", "0.2x", "''", "1e999", "0.2,", "-nan", "1001"}},
        {"--seed",
         "needed a whole number from 0 to 4294967295",
         {"-1", "4294967296", "zero", "0.5", "''", "18446744073709551616"}},
        {"--hidden",
         "with commas between",
         {"16,,16", "''", "0", "-3", "1e3", "99999999999", ",16", "16,", ",", "16;16", "16,none", "nonesuch", "16,0",
          "16.5", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"}},
        {"--like", "needed 'tenon' or 'torch'", {"Torch", "''", "numpy", "tenon,torch"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int j = 0; bad[i].values[j]; j++) {
            char line[256], said[256];
            const char *value = strcmp(bad[i].values[j], "''") ? bad[i].values[j] : "";
            snprintf(line, sizeof line, "compare %s %s", bad[i].option, bad[i].values[j]);
            snprintf(said, sizeof said, "tenon compare: %s: found '%s', needed ", bad[i].option, value);
            fails(line, 2, said);
            expect_text(line, last.err, bad[i].needed);
        }
}

static void good_values(void **state)
{
    (void)state;
    succeeds("compare --samples 1 --hidden 1", "2-1-1");
    succeeds("compare --samples=17 --noise=0.25 --seed=4294967295 --hidden=3 --like=tenon",
             "17 of|noise 0.25, random_state 4294967295");
    succeeds("compare --sam 5 --hid 2,2", "2-2-2-1");
    succeeds("compare --samples 5 --samples 6", "[6, 2]");
    succeeds("compare --noise 1000 --samples 1000 --hidden 64,64,64", "ulp");
    succeeds("compare --like torch --hidden none --samples 33", "2-1 net");
}

static void too_large(void **state)
{
    (void)state;
    fails("compare --samples 1000000000000", 1, "tenon compare: --samples: make_moons: ");
    fails("compare --samples 1000000000000000", 1, "tenon compare: ");
    fails("compare --hidden 1000000,1000000", 1, "tenon compare: ");
}

static void output_lost(void **state)
{
    (void)state;
    static const char *const lines[] = {"compare", "compare --json", "--help", "compare --help", "version"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        run_to(lines[i], "");
        expect_code(lines[i], 1);
        expect_text(lines[i], last.err, "standard output");
        if (access("/dev/full", W_OK) == 0) {
            run_to(lines[i], "/dev/full");
            expect_code(lines[i], 1);
            expect_text(lines[i], last.err, strerror(ENOSPC));
        }
    }
    run_to("compare --nonsense", "");
    expect_code("compare --nonsense", 2);
}

static void one_json_line(void **state)
{
    (void)state;
    succeeds("compare --json", "{\"samples\":200,\"noise\":0.2,\"seed\":0,\"hidden\":[16,16],\"parameters\":337,"
                               "\"like\":\"tenon\",\"gap\":{\"abs\":");
    assert_ptr_equal(strchr(last.out, '\n'), last.out + strlen(last.out) - 1);
    succeeds("compare --json --like torch", "\"like\":\"torch\"|\"abs\":5.9|e-08,|\"index\":80}}");
    succeeds("compare --json --hidden none --noise 0 --samples 3",
             "\"noise\":0.0,\"seed\":0,\"hidden\":[],\"parameters\":3,");
}

#if TENON_HAVE_JANSSON
static double number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void json_values(void **state)
{
    (void)state;
    json_error_t error;
    succeeds("compare --json --samples 50 --noise 1e-3 --seed 7 --hidden 4,5,6", "");
    json_t *object = json_loads(last.out, 0, &error);
    assert_true(json_is_object(object));
    assert_int_equal(json_object_size(object), 7);
    assert_true(number(object, "samples") == 50 && number(object, "noise") == 1e-3 && number(object, "seed") == 7);
    json_t *hidden = json_object_get(object, "hidden"), *gap = json_object_get(object, "gap");
    assert_int_equal(json_array_size(hidden), 3);
    assert_int_equal(json_integer_value(json_array_get(hidden, 2)), 6);
    assert_true(number(object, "parameters") == 2 * 4 + 4 + 4 * 5 + 5 + 5 * 6 + 6 + 6 + 1);
    assert_int_equal(json_object_size(gap), 4);
    assert_true(json_is_integer(json_object_get(gap, "index")));
    assert_true(number(gap, "abs") > 0 && number(gap, "abs") < 1e-6);
    assert_true(number(gap, "rel") > number(gap, "abs") && number(gap, "ulp") > 0.5);
    json_decref(object);

    succeeds("compare --json", "");
    object = json_loads(last.out, 0, &error);
    gap = json_object_get(object, "gap");
    assert_true(number(gap, "abs") >= 4e-8 && number(gap, "abs") <= 7e-8);
    json_decref(object);
}
#define JSON_TESTS , test(json_values)
#else
#define JSON_TESTS
#endif

TEST_MAIN(test(the_lesson), test(help_and_version), test(called_wrongly), test(bad_values), test(good_values),
          test(too_large), test(output_lost), test(one_json_line) JSON_TESTS)
