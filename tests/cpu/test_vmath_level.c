/* Asking for and setting the CPU level. */
#include "support/test.h"

#include <string.h>

#include "cpu/level.h"

static const char *const names[TNI_CPU_LEVELS] = {"default", "avx2", "avx512"};

static void detected_at_first(void **unused)
{
    (void)unused;
    assert_int_equal(tni_cpu_level(), tni_cpu_level_detected());
    assert_string_equal(tn_get_cpu_capability(), names[tni_cpu_level_detected()]);
}

static void lower_levels_can_be_set(void **unused)
{
    (void)unused;
    for (int level = 0; level <= tni_cpu_level_detected(); level++) {
        assert_int_equal(tn_set_cpu_capability(names[level]), TN_OK);
        assert_int_equal(tni_cpu_level(), level);
        assert_string_equal(tn_get_cpu_capability(), names[level]);
    }
    assert_int_equal(tn_set_cpu_capability("default"), TN_OK);
    assert_int_equal(tn_set_cpu_capability(""), TN_OK);
    assert_int_equal(tni_cpu_level(), tni_cpu_level_detected());
    assert_int_equal(tn_set_cpu_capability("default"), TN_OK);
    assert_int_equal(tn_set_cpu_capability(NULL), TN_OK);
    assert_int_equal(tni_cpu_level(), tni_cpu_level_detected());
}

static void refusals_change_nothing(void **unused)
{
    (void)unused;
    assert_int_equal(tn_set_cpu_capability("default"), TN_OK);
    assert_int_equal(tn_set_cpu_capability("sse9"), TN_ERROR_NAME);
    assert_non_null(strstr(tn_error_message(), "\"sse9\""));
    assert_non_null(strstr(tn_error_message(), names[tni_cpu_level_detected()]));
    assert_int_equal(tn_set_cpu_capability(NULL), TN_ERROR_NAME);
    assert_string_equal(tn_get_cpu_capability(), "default");
    tn_error_clear();
    for (int level = tni_cpu_level_detected() + 1; level < TNI_CPU_LEVELS; level++) {
        assert_int_equal(tn_set_cpu_capability(names[level]), TN_ERROR_ARGUMENT);
        assert_string_equal(tn_get_cpu_capability(), "default");
        tn_error_clear();
    }
    assert_int_equal(tn_set_cpu_capability(NULL), TN_OK);
}

TEST_MAIN(test(detected_at_first), test(lower_levels_can_be_set), test(refusals_change_nothing))
