/* Going on: a run that was stopped after any step, by on_step or a signal, ends in the bytes of one that was not, in
 * another process, for every optimizer and schedule; a process that is killed while it saves leaves a whole checkpoint.
 *
 * The other process is a child of one that was made before anything else was done here: it has seen no training. */
#include <sys/wait.h>
#include <time.h>

#include "fit_plan.h"

typedef struct order {
    char folder[64];
    int kind, schedule, shuffle, save_every, resume;
    long kill_after; /* microseconds; 0: it isn't killed */
} order;

static int orders[2], answers[2];
static const char *program;

static int carry_out(const order *o)
{
    const plan p = {.folder = o->folder,
                    .kind = o->kind,
                    .schedule = o->schedule,
                    .shuffle = o->shuffle,
                    .epochs = STEPS / 6,
                    .save_every = o->save_every,
                    .resume = o->resume,
                    .seed = o->resume ? 77 : 1};
    if (go(&p, NULL))
        fprintf(stderr, "%s\n", tn_error_message());
    return tn_error_code() != TN_OK;
}

/* Carries out each order in a child and answers with its status, until there are no more. */
static void serve(void)
{
    order o;
    int status = 0;
    while (read(orders[0], &o, sizeof o) == (ssize_t)sizeof o) {
        const pid_t child = fork();
        if (child == 0)
            _exit(carry_out(&o));
        if (o.kill_after > 0) {
            nanosleep(&(struct timespec){.tv_nsec = o.kill_after * 1000}, NULL);
            kill(child, SIGKILL);
        }
        if (waitpid(child, &status, 0) != child || write(answers[1], &status, sizeof status) != sizeof status)
            break;
    }
    _exit(0);
}

static int in_another_process(const char *where, order o)
{
    int status = -1;
    snprintf(o.folder, sizeof o.folder, "%s", where);
    assert_int_equal(write(orders[1], &o, sizeof o), sizeof o);
    assert_int_equal(read(answers[0], &status, sizeof status), sizeof status);
    return status;
}

/* The same in a program that is started for it. */
static int in_another_program(const char *where, const order *o)
{
    int status = -1;
    char text[3][16];
    const int numbers[] = {o->kind, o->schedule, o->shuffle};
    for (int i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%d", numbers[i]);
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, where, text[0], text[1], text[2], (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void is_same_file(const char *name, const char *what, const order *o, int at)
{
    static char a[1 << 17], b[1 << 17];
    size_t bytes = read_file(folder, name, a, sizeof a);
    if (bytes == 0 || bytes != read_file(other, name, b, sizeof b) || memcmp(a, b, bytes) != 0)
        fail_msg("%s: %s differs: optimizer %d, schedule %d, shuffle %d, step %d", what, name, o->kind, o->schedule,
                 o->shuffle, at);
}

static void stop_and_go_on(const order *o, int every, bool program_too)
{
    tn_scope scope = tn_scope_begin();
    tn_fit_result result;
    plan p = {.kind = o->kind,
              .schedule = o->schedule,
              .shuffle = o->shuffle,
              .epochs = STEPS / 6,
              .seed = 1,
              .folder = folder};
    empty(folder);
    assert_int_equal(go(&p, &result), TN_OK);
    assert_int_equal(result.end, TN_FIT_COMPLETE);
    assert_int_equal(result.progress.step, STEPS);
    tn_scope_end(scope);
    p.folder = other;
    for (p.stop_after = 1; p.stop_after <= STEPS; p.stop_after += every) {
        scope = tn_scope_begin();
        empty(other);
        assert_int_equal(go(&p, &result), TN_OK);
        assert_int_equal(result.end, TN_FIT_STOPPED);
        assert_int_equal(result.progress.step, p.stop_after);
        tn_scope_end(scope);
        assert_int_equal(program_too ? in_another_program(other, o) : in_another_process(other, *o), 0);
        is_same_file("last.safetensors", "resumed", o, (int)p.stop_after);
        is_same_file("best.safetensors", "resumed", o, (int)p.stop_after);
    }
}

static void stopped_after_every_step(void **state)
{
    static const int schedules[KINDS][2] = {[SGD] = {STEP, MULTI_STEP},
                                            [ADAM] = {COSINE, SEQUENTIAL},
                                            [ADAMW] = {PLATEAU, WARMUP},
                                            [RMSPROP] = {EXPONENTIAL, PLATEAU},
                                            [LBFGS] = {WARMUP, COSINE}};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int shuffle = 0; shuffle < 2; shuffle++)
            stop_and_go_on(
                &(order){.kind = kind, .schedule = schedules[kind][shuffle], .shuffle = shuffle, .resume = 1}, 1,
                false);
}

/* Every optimizer with every schedule and none, at steps in the middle of epochs and at their ends. */
static void every_schedule(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int schedule = 0; schedule <= NONE; schedule++)
            for (int shuffle = 0; shuffle < 2; shuffle++)
                if (schedule == NONE || (kind + schedule) % 2 == shuffle)
                    stop_and_go_on(&(order){.kind = kind, .schedule = schedule, .shuffle = shuffle, .resume = 1},
                                   schedule == NONE ? 9 : 29, false);
    stop_and_go_on(&(order){.kind = ADAM, .schedule = COSINE, .shuffle = 1, .resume = 1}, 7, true);
}

static volatile sig_atomic_t stop;

static void note(int number)
{
    stop = number;
}

/* A signal from outside, at any moment: the step is finished, all is written, and it goes on from there. */
static void stopped_by_a_signal(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = note}, before;
    sigaction(SIGUSR1, &action, &before);
    for (int round = 0; round < 10; round++) {
        tn_scope scope = tn_scope_begin();
        tn_fit_result result;
        plan p = {.kind = round % KINDS,
                  .schedule = EXPONENTIAL,
                  .shuffle = true,
                  .epochs = 1000000,
                  .seed = 1,
                  .folder = other,
                  .stop = &stop};
        empty(folder);
        empty(other);
        stop = 0;
        const pid_t parent = getpid(), child = fork();
        if (child == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000 + 700000 * round}, NULL);
            _exit(kill(parent, SIGUSR1));
        }
        assert_int_equal(go(&p, &result), TN_OK);
        assert_int_equal(waitpid(child, &(int){0}, 0), child);
        assert_int_equal(result.end, TN_FIT_STOPPED);
        assert_int_equal(stop, SIGUSR1);
        stop = 0;
        p.epochs = result.progress.epoch + 2;
        p.resume = true;
        assert_int_equal(go(&p, &result), TN_OK);
        assert_int_equal(result.end, TN_FIT_COMPLETE);
        p.resume = false;
        p.folder = folder;
        assert_int_equal(go(&p, NULL), TN_OK);
        const order o = {.kind = p.kind, .schedule = p.schedule, .shuffle = 1};
        is_same_file("last.safetensors", "after a signal", &o, (int)result.progress.step);
        is_same_file("best.safetensors", "after a signal", &o, (int)result.progress.step);
        tn_scope_end(scope);
    }
    sigaction(SIGUSR1, &before, NULL);
}

static void killed_while_saving(void **state)
{
    (void)state;
    order o = {.kind = ADAM, .schedule = COSINE, .shuffle = 1, .save_every = 1};
    srand(7);
    empty(folder);
    empty(other);
    assert_int_equal(in_another_process(folder, o), 0);
    int kills = 0;
    int64_t before = 0;
    for (int round = 0; round < 2000 && kills < 200; round++) {
        o.kill_after = 100 + rand() % 3000;
        const int status = in_another_process(other, o);
        kills += WIFSIGNALED(status);
        if (!WIFSIGNALED(status))
            assert_int_equal(status, 0);
        char path[128];
        struct stat info;
        snprintf(path, sizeof path, "%s/last.safetensors", other);
        if (stat(path, &info) != 0)
            continue;
        o.resume = 1;
        tn_progress progress;
        if (tn_checkpoint_load(path, &(tn_checkpoint){.progress = &progress}))
            fail_msg("killed after %ld us (round %d): %s", o.kill_after, round, tn_error_message());
        assert_true(progress.step >= before);
        before = progress.step;
        if (progress.epoch == STEPS / 6) {
            o.resume = 0;
            is_same_file("last.safetensors", "killed", &o, round);
            is_same_file("best.safetensors", "killed", &o, round);
            empty(other);
            before = 0;
        }
    }
    if (kills < 200)
        fail_msg("only %d processes were killed", kills);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {fresh(stopped_after_every_step), fresh(every_schedule),
                                       fresh(stopped_by_a_signal), fresh(killed_while_saving)};
    program = arguments[0];
    without_syncs();
    if (count == 5) {
        order o = {
            .kind = atoi(arguments[2]), .schedule = atoi(arguments[3]), .shuffle = atoi(arguments[4]), .resume = 1};
        snprintf(o.folder, sizeof o.folder, "%s", arguments[1]);
        return carry_out(&o);
    }
    if (pipe(orders) || pipe(answers))
        return 1;
    const pid_t server = fork();
    if (server == 0) {
        close(orders[1]);
        serve();
    }
    const int failures = cmocka_run_group_tests(tests, begin, end);
    close(orders[1]);
    waitpid(server, NULL, 0);
    return failures;
}
