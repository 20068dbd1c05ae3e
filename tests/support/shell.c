/* See shell.h. */
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

shell_outcome shell_last;

static char folder[64];

static void remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", folder, folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", folder);
}

const char *shell_path(const char *name)
{
    static char path[4][256];
    static int turn;
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/tenon-test-XXXXXX");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void read_text(const char *name, char *text)
{
    FILE *file = fopen(shell_path(name), "rb");
    assert_non_null(file);
    text[fread(text, 1, SHELL_TEXT - 1, file)] = '\0';
    fclose(file);
}

static void run(const char *line)
{
    static char command[8192];
    snprintf(command, sizeof command,
             "cd '%s' && DATA='" TENON_TEST_DATA "' && TENON='" TENON_COMMAND "' && tenon() { \"$TENON\" \"$@\"; } && "
             "{ %s\n} >'%s' 2>'%s'",
             shell_path(""), line, shell_path(".out"), shell_path(".err"));
    int status = system(command);
    shell_last.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_text(".out", shell_last.out);
    read_text(".err", shell_last.err);
}

void shell(const char *format, ...)
{
    char line[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    run(line);
}

void shell_expect(int code, const char *said, const char *format, ...)
{
    char line[4096], copy[2048], *save = NULL;
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    run(line);
    if (shell_last.code != code)
        fail_msg("%s: exit code %d, expected %d\nstdout: %s\nstderr: %s", line, shell_last.code, code, shell_last.out,
                 shell_last.err);
    char *at = code == 0 ? shell_last.out : shell_last.err;
    snprintf(copy, sizeof copy, "%s", said);
    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
        at = strstr(at, word);
        if (!at)
            fail_msg("%s: '%s' is missing, or not in its place, in\n%s%s", line, word, shell_last.out, shell_last.err);
        at += strlen(word);
    }
}

char *shell_content(const char *name, size_t *bytes)
{
    enum { MOST = 1 << 22 };
    FILE *file = fopen(shell_path(name), "rb");
    if (!file)
        fail_msg("%s is not there", name);
    char *text = malloc(MOST);
    assert_non_null(text);
    *bytes = fread(text, 1, MOST - 1, file);
    text[*bytes] = '\0';
    fclose(file);
    return text;
}

void shell_write(const char *name, const char *text)
{
    FILE *file = fopen(shell_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}
