/* W8: the whole process that makes 200 moons and trains 2-16-16-1 on them in N full-batch steps of Adam: the time from
 * its start to its end, and the most memory that it held. process/ has the programs; their last loss is looked at. */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs argv with its output in text. False if it can't be started or fails. */
static bool run(char **argv, char *text, size_t size)
{
    int ends[2], status = -1;
    pid_t pid;
    size_t have = 0;
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    bool ok = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t n; ok && have + 1 < size && (n = read(ends[0], text + have, size - 1 - have)) > 0;)
        have += (size_t)n;
    text[have] = '\0';
    ok = ok && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    close(ends[0]);
    return ok;
}

/* ns, or bytes of memory, of one process; negative if it fails or has not learned. */
static double measure(int side, const char *steps, bool memory)
{
    char text[64], *argv[] = {side == SIDE_TENON ? TENON_BENCH_PROCESS_TENON : TENON_BENCH_PROCESS_C, (char *)steps,
                              memory ? "peak" : NULL, NULL};
    int64_t start = bench_now();
    bool ok = run(argv, text, sizeof text);
    int64_t spent = bench_now() - start;
    char *end;
    double loss = ok ? strtod(text, &end) : 1;
    if (!(loss < (strcmp(steps, "1") == 0 ? 1 : 0.2)))
        return -1;
    return memory ? strtod(end, NULL) : (double)spent;
}

static double time_one(int side)
{
    return measure(side, "1", false);
}

static double time_thousand(int side)
{
    return measure(side, "1000", false);
}

static double memory_one(int side)
{
    return measure(side, "1", true);
}

static double memory_thousand(int side)
{
    return measure(side, "1000", true);
}

const row rows_w8[] = {
    {.work = "W8", .name = "1 step", .unit = UNIT_MS, .dtypes = DTYPE_F32, .measure = time_one, .peer_blocks = 3},
    {.work = "W8",
     .name = "1000 steps",
     .unit = UNIT_MS,
     .dtypes = DTYPE_F32,
     .measure = time_thousand,
     .peer_blocks = 3},
    {.work = "W8",
     .name = "1 step, memory",
     .unit = UNIT_MIB,
     .dtypes = DTYPE_F32,
     .measure = memory_one,
     .peer_blocks = 1},
    {.work = "W8",
     .name = "1000, memory",
     .unit = UNIT_MIB,
     .dtypes = DTYPE_F32,
     .measure = memory_thousand,
     .peer_blocks = 1},
};
const int rows_w8_count = sizeof rows_w8 / sizeof *rows_w8;
