/* What `tenon train` shows on a terminal: one line that is written over, as wide as the terminal, with colors unless
 * NO_COLOR is set; and nothing of that where there is no terminal. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static char said[1 << 20];

/* Runs it with both streams on a new terminal of that width; false: there are no terminals here. */
static bool run(unsigned short columns, const char *term, bool no_color)
{
    const int main_side = posix_openpt(O_RDWR | O_NOCTTY);
    if (main_side < 0 || grantpt(main_side) || unlockpt(main_side))
        return false;
    const int side = open(ptsname(main_side), O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_true(side >= 0);
    assert_int_equal(ioctl(side, TIOCSWINSZ, &size), 0);
    const pid_t child = fork();
    if (child == 0) {
        setenv("TERM", term, 1);
        if (no_color)
            setenv("NO_COLOR", "1", 1);
        else
            unsetenv("NO_COLOR");
        dup2(side, 1);
        dup2(side, 2);
        close(main_side);
        execl(TENON_COMMAND, "tenon", "train", "moons", "--epochs", "1500", (char *)NULL);
        _exit(127);
    }
    close(side);
    size_t used = 0;
    for (ssize_t n; used < sizeof said - 1 && (n = read(main_side, said + used, sizeof said - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = '\0';
    int status;
    waitpid(child, &status, 0);
    close(main_side);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return true;
}

/* The longest line between carriage returns and line feeds, without escape sequences. */
static size_t widest(void)
{
    size_t most = 0, now = 0;
    for (const char *c = said; *c; c++) {
        if (*c == '\033')
            c += strcspn(c, "mK");
        else
            now = *c == '\r' || *c == '\n' ? 0 : now + 1;
        most = now > most ? now : most;
    }
    return most;
}

static void on_a_terminal(void **state)
{
    (void)state;
    if (!run(120, "xterm", false))
        skip();
    assert_non_null(strstr(said, "\r\033[Kepoch 1/1500"));
    assert_non_null(strstr(said, "steps/s  eta "));
    assert_non_null(strstr(said, "\033[32m"));
    assert_null(strstr(said, "epoch   1  loss")); /* no line an epoch */
    assert_non_null(strstr(said, "trained 1500 epochs"));
}

static void plain(void **state)
{
    (void)state;
    if (!run(120, "xterm", true))
        skip();
    assert_non_null(strstr(said, "epoch 1/1500 [-"));
    assert_null(strstr(said, "\033[32m"));
    if (run(120, "dumb", false)) {
        assert_null(strchr(said, '\033'));
        assert_non_null(strstr(said, "epoch   1  loss"));
    }
}

static void narrow(void **state)
{
    (void)state;
    if (!run(64, "xterm", false))
        skip();
    assert_non_null(strstr(said, "epoch 1/1500"));
    said[strstr(said, "trained 1500") - said] = '\0'; /* what comes behind may be longer */
    assert_in_range(widest(), 20, 63);
}

TEST_MAIN(test(on_a_terminal), test(plain), test(narrow))
