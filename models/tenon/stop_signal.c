/* See stop_signal.h. A second signal within a quarter of a second is the same Ctrl-C, sent on by a wrapper. */
#include "stop_signal.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t stop_signal;

static struct timespec first; /* when it came */
static bool told_of;

static void note(int number)
{
    static const char text[] = "\nfinishing this step, then saving; Ctrl-C once more ends at once\n";
    const int before = errno;
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!stop_signal) {
        stop_signal = number;
        first = now;
        if (told_of && write(STDERR_FILENO, text, sizeof text - 1) < 0)
            told_of = false;
    } else if ((double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) >= 0.25) {
        struct sigaction end = {.sa_handler = SIG_DFL};
        sigaction(number, &end, NULL);
        raise(number); /* which comes when this returns */
    }
    errno = before;
}

void stop_signals_catch(bool tell)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, ignore = {.sa_handler = SIG_IGN}, before;
    told_of = tell;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != SIGHUP || (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)) /* nohup */
            sigaction(numbers[i], &action, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}
