/* One file in the system's folder for temporary files, there while a group of tests runs: setup and teardown of
 * cmocka_run_group_tests. */
#ifndef TENON_TESTS_SUPPORT_SCRATCH_H
#define TENON_TESTS_SUPPORT_SCRATCH_H

#include <stdlib.h>
#include <unistd.h>

static char scratch_path[] = "/tmp/tenon-test-XXXXXX";

static inline int scratch_begin(void **state)
{
    (void)state;
    int handle = mkstemp(scratch_path);
    return handle < 0 || close(handle);
}

static inline int scratch_end(void **state)
{
    (void)state;
    return unlink(scratch_path);
}

#endif
