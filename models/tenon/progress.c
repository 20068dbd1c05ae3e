/* See progress.h. Colors unless NO_COLOR is set (no-color.org); no line at all on a terminal that calls itself dumb. */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_begin(int64_t epochs, bool json)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool smart = term && *term && strcmp(term, "dumb") != 0;
    bool line = smart && isatty(STDERR_FILENO);
    return (progress){.line = line,
                      .lines = !json && !(line && isatty(STDOUT_FILENO)),
                      .color = line && !(no_color && *no_color),
                      .epochs = epochs,
                      .began = seconds_now(),
                      .first_step = -1,
                      .valid_loss = (double)NAN};
}

/* "1:05:09", "4:07" */
static void format_time(char *text, size_t size, double seconds)
{
    int64_t s = seconds < 1e9 ? (int64_t)(seconds + 0.5) : 1000000000;
    if (s >= 3600)
        snprintf(text, size, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* In so many columns and a blank; nothing in fewer than six. */
static void write_bar(const progress *it, double share, int width)
{
    width = width > 20 ? 20 : width;
    int full = (int)(share * width);
    if (width < 6)
        return;
    fputs(it->color ? "\033[32m" : "[", stderr);
    for (int i = 0; i < width; i++)
        fputc(i < full ? '#' : '-', stderr);
    fputs(it->color ? "\033[0m " : "] ", stderr);
}

/* Columns that a line may have; one that is longer would go on below, and stay there. */
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : 79;
}

void progress_step(progress *it, const tn_fit_step *step)
{
    double now = seconds_now();
    if (it->first_step < 0)
        it->first_step = step->step - 1;
    if (!it->line || now - it->shown < 0.1)
        return;
    it->shown = now;
    double all = (double)(it->epochs * step->batches);
    double done = (double)((step->epoch - 1) * step->batches + step->batch + 1);
    double rate = (double)(step->step - it->first_step) / (now - it->began);
    char head[64], losses[64], eta[32], rest[160];
    int width = columns();
    format_time(eta, sizeof eta, (all - done) / rate);
    int used = snprintf(head, sizeof head, "epoch %" PRId64 "/%" PRId64 " ", step->epoch, it->epochs);
    snprintf(losses, sizeof losses, isfinite(it->valid_loss) ? "loss %.4g  valid %.4g" : "loss %.4g", step->mean_loss,
             it->valid_loss);
    int more = snprintf(rest, sizeof rest, "%s  %.0f steps/s  eta %s", losses, rate, eta);
    fprintf(stderr, "\r\033[K%.*s", width, head);
    write_bar(it, done / all, width - used - more - 3);
    fprintf(stderr, "%.*s", width > used ? width - used : 0, rest);
    fflush(stderr);
}

void progress_epoch(progress *it, const tn_epoch *epoch)
{
    it->valid_loss = epoch->valid_loss;
    if (!it->lines)
        return;
    printf("epoch %3" PRId64 "  loss %-10.6g", epoch->epoch, epoch->train_loss);
    if (!isnan(epoch->valid_loss))
        printf("  valid %-10.6g", epoch->valid_loss);
    if (!isnan(epoch->valid_accuracy))
        printf("  accuracy %.4f", epoch->valid_accuracy);
    printf(epoch->best ? "  lr %-8.4g best\n" : "  lr %.4g\n", epoch->lr);
    fflush(stdout);
}

void progress_end(progress *it)
{
    if (it->line)
        fputs("\r\033[K", stderr);
    it->line = false;
}
