/* See progress.h. Colors unless NO_COLOR is set (no-color.org); no line at all on a terminal that calls itself dumb. */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void write_time(double seconds)
{
    int64_t s = seconds < 1e9 ? (int64_t)(seconds + 0.5) : 1000000000;
    if (s >= 3600)
        fprintf(stderr, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else
        fprintf(stderr, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void write_bar(const progress *it, double share)
{
    enum { WIDTH = 20 };
    int full = (int)(share * WIDTH);
    fputs(it->color ? "\033[32m" : "[", stderr);
    for (int i = 0; i < WIDTH; i++)
        fputc(i < full ? '#' : '-', stderr);
    fputs(it->color ? "\033[0m" : "]", stderr);
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
    fprintf(stderr, "\r\033[Kepoch %" PRId64 "/%" PRId64 " ", step->epoch, it->epochs);
    write_bar(it, done / all);
    fprintf(stderr, " loss %.4g", step->mean_loss);
    if (isfinite(it->valid_loss))
        fprintf(stderr, "  valid %.4g", it->valid_loss);
    fprintf(stderr, "  %.0f steps/s  eta ", rate);
    write_time((all - done) / rate);
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
