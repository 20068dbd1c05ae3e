/* Going on: a run that was stopped after any step, by on_step or a signal, ends in the bytes of one that was not, in
 * another process, for every optimizer and schedule; a process that is killed while it saves leaves a whole checkpoint.
 *
 * The other process is a child of one that was made before anything else was done here: it has seen no training. */
#include <sys/wait.h>
#include <time.h>

#include "fit_plan.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* a fork takes long there */
enum { EVERY = 7, KILLS = 50 };
#else
enum { EVERY = 1, KILLS = 200 };
#endif

typedef struct order {
    char folder[64];
    int kind, schedule, shuffle, save_every, resume;
    long kill_after; /* microseconds; 0: it isn't killed */
} order;

static char third[64];
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

static void ask(const char *where, order o)
{
    snprintf(o.folder, sizeof o.folder, "%s", where);
    assert_int_equal(write(orders[1], &o, sizeof o), sizeof o);
}

static int answer(void)
{
    int status = -1;
    assert_int_equal(read(answers[0], &status, sizeof status), sizeof status);
    return status;
}

static int in_another_process(const char *where, const order *o)
{
    ask(where, *o);
    return answer();
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

static void is_same_file(const char *where, const char *name, const char *what, const order *o, int at)
{
    static char a[1 << 17], b[1 << 17];
    size_t bytes = read_file(folder, name, a, sizeof a);
    if (bytes == 0 || bytes != read_file(where, name, b, sizeof b) || memcmp(a, b, bytes) != 0)
        fail_msg("%s: %s differs: optimizer %d, schedule %d, shuffle %d, step %d", what, name, o->kind, o->schedule,
                 o->shuffle, at);
}

static void ends_the_same(const order *o, int at, int status)
{
    const char *where = at & 1 ? other : third;
    assert_int_equal(status, 0);
    is_same_file(where, "last.safetensors", "resumed", o, at);
    is_same_file(where, "best.safetensors", "resumed", o, at);
}

/* every: odd, so that the two folders take turns. */
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
    int asked = 0; /* the step that the other process goes on from, while this one stops at the next */
    for (int at = 1; at <= STEPS; at += every) {
        scope = tn_scope_begin();
        p.folder = at & 1 ? other : third;
        p.stop_after = at;
        empty(p.folder);
        assert_int_equal(go(&p, &result), TN_OK);
        assert_int_equal(result.end, TN_FIT_STOPPED);
        assert_int_equal(result.progress.step, at);
        tn_scope_end(scope);
        if (asked)
            ends_the_same(o, asked, answer());
        asked = 0;
        if (program_too) {
            ends_the_same(o, at, in_another_program(p.folder, o));
        } else {
            ask(p.folder, *o);
            asked = at;
        }
    }
    if (asked)
        ends_the_same(o, asked, answer());
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
                &(order){.kind = kind, .schedule = schedules[kind][shuffle], .shuffle = shuffle, .resume = 1}, EVERY,
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
                                   EVERY > 1 ? 59 : schedule == NONE ? 9 : 29, false);
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
            nanosleep(&(struct timespec){.tv_nsec = 700000 * round}, NULL); /* before the first step, too */
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
        is_same_file(other, "last.safetensors", "after a signal", &o, (int)result.progress.step);
        is_same_file(other, "best.safetensors", "after a signal", &o, (int)result.progress.step);
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
    assert_int_equal(in_another_process(folder, &o), 0);
    int kills = 0;
    int64_t before = 0;
    for (int round = 0; round < 2000 && kills < KILLS; round++) {
        o.kill_after = 100 + rand() % 3000;
        const int status = in_another_process(other, &o);
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
            is_same_file(other, "last.safetensors", "killed", &o, round);
            is_same_file(other, "best.safetensors", "killed", &o, round);
            empty(other);
            before = 0;
        }
    }
    if (kills < KILLS)
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
    snprintf(third, sizeof third, "/tmp/tenon-test-XXXXXX");
    if (!mkdtemp(third))
        return 1;
    const int failures = cmocka_run_group_tests(tests, begin, end);
    empty(third);
    rmdir(third);
    close(orders[1]);
    waitpid(server, NULL, 0);
    return failures;
}
