/* Peers as child processes. Only what this file started is ever signalled. */
#include "peer.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 120000, BUFFER = 8192 };

struct peer {
    pid_t pid; /* 0 when it is gone */
    int to, from;
    size_t have; /* bytes in buffer */
    char about[256], buffer[BUFFER];
};

extern char **environ;

static const char *const thread_variables[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"};
enum { N_VARIABLES = sizeof thread_variables / sizeof *thread_variables };

/* The environment with the thread counts replaced; one block to free, the strings in `text`. */
static char **child_environment(int threads, char text[N_VARIABLES][64])
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **env = malloc((n + N_VARIABLES + 1) * sizeof *env);
    if (!env)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (int v = 0; v < N_VARIABLES; v++) {
            size_t length = strlen(thread_variables[v]);
            replaced |= strncmp(environ[i], thread_variables[v], length) == 0 && environ[i][length] == '=';
        }
        if (!replaced)
            env[kept++] = environ[i];
    }
    for (int v = 0; v < N_VARIABLES; v++) {
        snprintf(text[v], sizeof text[v], "%s=%d", thread_variables[v], threads);
        env[kept++] = text[v];
    }
    env[kept] = NULL;
    return env;
}

static void close_on_exec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int spawn(peer *p, char **argv, char **env, int in, int out)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    int failed = posix_spawn_file_actions_adddup2(&actions, in, 0) ||
                 posix_spawn_file_actions_adddup2(&actions, out, 1) ||
                 posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
                 posix_spawnp(&p->pid, argv[0], &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : 0;
}

peer *peer_start(const char *python, const char *script, const char *library, int threads)
{
    char count[16], text[N_VARIABLES][64];
    snprintf(count, sizeof count, "%d", threads);
    char *argv[] = {(char *)python, (char *)script, (char *)library, count, NULL};
    char **env = child_environment(threads, text);
    peer *p = calloc(1, sizeof *p);
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    bool ok = env && p && pipe(down) == 0 && pipe(up) == 0;
    if (ok) {
        for (int i = 0; i < 2; i++) {
            close_on_exec(down[i]);
            close_on_exec(up[i]);
        }
        p->to = down[1];
        p->from = up[0];
        ok = spawn(p, argv, env, down[0], up[1]) == 0;
    }
    int unused[] = {down[0], up[1], ok ? -1 : down[1], ok ? -1 : up[0]};
    for (int i = 0; i < 4; i++)
        if (unused[i] >= 0)
            close(unused[i]);
    free(env);
    if (!ok) {
        free(p);
        return NULL;
    }
    return p;
}

static void bury(peer *p)
{
    if (!p->pid)
        return;
    close(p->to);
    close(p->from);
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    p->pid = 0;
}

/* One line from the peer, without its end. */
static bool read_line(peer *p, char *answer, size_t size)
{
    for (;;) {
        char *end = memchr(p->buffer, '\n', p->have);
        if (end) {
            size_t length = (size_t)(end - p->buffer), kept = length < size ? length : size - 1;
            memcpy(answer, p->buffer, kept);
            answer[kept] = '\0';
            p->have -= length + 1;
            memmove(p->buffer, end + 1, p->have);
            return true;
        }
        struct pollfd wait = {.fd = p->from, .events = POLLIN};
        int ready = poll(&wait, 1, PATIENCE_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 && p->have < BUFFER ? read(p->from, p->buffer + p->have, BUFFER - p->have) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p->have += (size_t)got;
    }
}

static bool write_line(peer *p, const char *line)
{
    char text[256];
    int length = snprintf(text, sizeof text, "%s\n", line);
    if (length < 0 || (size_t)length >= sizeof text)
        return false;
    for (int sent = 0; sent < length;) {
        ssize_t n = write(p->to, text + sent, (size_t)(length - sent));
        if (n < 0 && errno != EINTR)
            return false;
        sent += n > 0 ? (int)n : 0;
    }
    return true;
}

bool peer_ask(peer *p, const char *line, char *answer, size_t size)
{
    if (!p->pid)
        return false;
    if (write_line(p, line) && read_line(p, answer, size))
        return true;
    bury(p);
    return false;
}

bool peer_ready(peer *p)
{
    char line[256];
    if (p->pid && read_line(p, line, sizeof line) && strncmp(line, "hello\t", 6) == 0) {
        snprintf(p->about, sizeof p->about, "%s", line + 6);
        return true;
    }
    snprintf(p->about, sizeof p->about, "not found by the interpreter");
    bury(p);
    return false;
}

const char *peer_about(const peer *p)
{
    return p->about;
}

void peer_stop(peer *p)
{
    if (!p)
        return;
    bury(p);
    free(p);
}
