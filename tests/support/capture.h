/* A command of `tenon` run within this process as its main runs it, what it writes taken aside. */
#ifndef TENON_TESTS_SUPPORT_CAPTURE_H
#define TENON_TESTS_SUPPORT_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "command.h"
#include "report.h"
#include "support/test.h"

static int capture_handles[4] = {-1, -1, -1, -1}; /* the files of both streams, then their own places */

static inline void capture_begin(void)
{
    for (int i = 0; i < 2; i++) {
        char name[] = "/tmp/tenon-test-XXXXXX";
        capture_handles[i] = mkstemp(name);
        unlink(name);
    }
}

static inline void capture_end(void)
{
    close(capture_handles[0]);
    close(capture_handles[1]);
}

static inline void capture_on(void)
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        capture_handles[2 + i] = dup(1 + i);
        assert_int_equal(ftruncate(capture_handles[i], 0), 0);
        lseek(capture_handles[i], 0, SEEK_SET);
        dup2(capture_handles[i], 1 + i);
    }
}

/* Standard error's text since capture_on; both streams are back. */
static inline void capture_off(char *text, size_t room)
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(capture_handles[2 + i], 1 + i);
        close(capture_handles[2 + i]);
    }
    const ssize_t n = pread(capture_handles[1], text, room - 1, 0);
    text[n > 0 ? n : 0] = '\0';
}

static inline int run_command(command_function run, int argc, char **argv, char *said, size_t room)
{
    capture_on();
    tn_scope scope = tn_scope_begin();
    int code = run(argc, argv);
    if (tn_error_code()) {
        report(argv[0], "%s", tn_error_message());
        code = code == EXIT_DONE ? EXIT_FAILED : code;
    }
    tn_error_clear();
    tn_scope_end(scope);
    capture_off(said, room);
    return code;
}

#endif
