/* The pending error of a thread: first one stays, push and pop, cut messages, one a thread. */
#include "support/test.h"

#include <pthread.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/extend.h>

#include "base/error.h"

static void first_error_stays(void **state)
{
    (void)state;
    tn_error_clear();
    assert_int_equal(tn_error_code(), TN_OK);
    assert_string_equal(tn_error_message(), "");
    assert_null(tn_error_get()->file);

    assert_int_equal(TNI_FAIL(TN_ERROR_SHAPE, "matmul", "found %d, needed %d", 3, 4), TN_ERROR_SHAPE);
    int line = __LINE__ - 1;
    assert_int_equal(TNI_FAIL(TN_ERROR_DTYPE, "add", "later"), TN_ERROR_SHAPE);
    const tn_error *error = tn_error_get();
    assert_int_equal(error->code, TN_ERROR_SHAPE);
    assert_string_equal(error->message, "matmul: found 3, needed 4");
    assert_string_equal(error->function, "matmul");
    assert_string_equal(error->file, __FILE__);
    assert_int_equal(error->line, line);
    assert_int_equal(tni_pending(), TN_ERROR_SHAPE);

    tn_error_clear();
    assert_int_equal(TNI_FAIL_NULL("add", 2, "other"), TN_ERROR_NULL);
    assert_string_equal(tn_error_message(), "add: argument 2 (other) is NULL");
    tn_error_clear();
    assert_int_equal(tni_pending(), TN_OK);
    assert_string_equal(tn_error_message(), "");
}

/* What a component gets wrong in raising is an error all the same. */
static void raised_wrongly(void **state)
{
    (void)state;
    tn_error_clear();
    assert_int_equal(TN_FAIL(TN_OK, "load", "found %d", 3), TN_ERROR_STATE);
    assert_int_equal(tn_error_code(), TN_ERROR_STATE);
    assert_string_equal(tn_error_message(), "load: found 3");
    tn_error_clear();
    assert_int_equal(TN_FAIL(TN_ERROR_FILE, NULL, "found %d", 3), TN_ERROR_FILE);
    assert_string_equal(tn_error_message(), "tenon: found 3");
    assert_string_equal(tn_error_get()->function, "tenon");
    tn_error_clear();
    assert_int_equal(tni_fail_report(TN_OK, NULL, __FILE__, __LINE__, "alone"), TN_ERROR_STATE);
    assert_string_equal(tn_error_message(), "alone");
    tn_error_clear();
}

static void push_and_pop(void **state)
{
    (void)state;
    tn_error outer, none;
    tn_error_clear();
    TNI_FAIL(TN_ERROR_INDEX, "select", "outer");
    tn_error_push(&outer);
    assert_int_equal(tn_error_code(), TN_OK);
    TNI_FAIL(TN_ERROR_FILE, "load", "inner");
    tn_error_pop(&outer);
    assert_int_equal(tn_error_code(), TN_ERROR_INDEX);
    assert_string_equal(tn_error_message(), "select: outer");

    tn_error_clear();
    tn_error_push(&none);
    TNI_FAIL(TN_ERROR_FILE, "load", "inner");
    tn_error_pop(&none);
    assert_int_equal(tn_error_code(), TN_OK);
    assert_string_equal(tn_error_message(), "");
    tn_error_push(NULL);
    tn_error_pop(NULL);
}

static void messages_are_cut(void **state)
{
    (void)state;
    static char text[2 * TN_ERROR_MESSAGE_SIZE + 1];
    for (size_t length = 0; length < sizeof text; length++) {
        memset(text, 'x', sizeof text);
        text[length] = '\0';
        size_t as_message = strlen("f: ") + length, as_function = length + strlen(": m");
        size_t most = TN_ERROR_MESSAGE_SIZE - 1;

        tn_error_clear();
        TNI_FAIL(TN_ERROR_ARGUMENT, "f", "%s", text);
        assert_int_equal(strlen(tn_error_message()), as_message < most ? as_message : most);
        assert_memory_equal(tn_error_message(), "f: ", 3);

        tn_error_clear();
        TNI_FAIL(TN_ERROR_ARGUMENT, text, "m");
        assert_int_equal(strlen(tn_error_message()), as_function < most ? as_function : most);
    }
    tn_error_clear();
}

static void *raise_here(void *message)
{
    if (tn_error_code() != TN_OK)
        return "the thread was born with an error";
    TNI_FAIL(TN_ERROR_DEVICE, "to", "%s", (char *)message);
    return strcmp(tn_error_message(), "to: other") == 0 ? NULL : "the thread's own error is not there";
}

static void each_thread_has_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    void *wrong;
    tn_error_clear();
    TNI_FAIL(TN_ERROR_SHAPE, "add", "mine");
    assert_int_equal(pthread_create(&thread, NULL, raise_here, "other"), 0);
    pthread_join(thread, &wrong);
    if (wrong)
        fail_msg("%s", (char *)wrong);
    assert_string_equal(tn_error_message(), "add: mine");
    tn_error_clear();
}

static void adopt(void **state)
{
    (void)state;
    tn_error given;
    tn_error_clear();
    TNI_FAIL(TN_ERROR_SHAPE, "add", "given");
    tn_error_push(&given);
    tni_error_adopt(&given);
    assert_string_equal(tn_error_message(), "add: given");
    given.code = TN_ERROR_FILE;
    tni_error_adopt(&given);
    assert_int_equal(tn_error_code(), TN_ERROR_SHAPE);
    tn_error_clear();
}

static void status_names(void **state)
{
    (void)state;
    assert_string_equal(tn_status_name(TN_OK), "ok");
    assert_string_equal(tn_status_name(TN_ERROR_SHAPE), "shape_mismatch");
    assert_string_equal(tn_status_name(TN_ERROR_STATE), "state");
    assert_string_equal(tn_status_name(TN_STATUS_COUNT), "unknown");
    assert_string_equal(tn_status_name((tn_status)-1), "unknown");
    for (int status = 0; status < TN_STATUS_COUNT; status++)
        for (int other = 0; other < status; other++)
            assert_string_not_equal(tn_status_name((tn_status)status), tn_status_name((tn_status)other));
}

/* The callee's name gives way to the caller's, once; what stands before it stays. */
static void renamed(void **state)
{
    (void)state;
    tn_error_rename("outer", NULL);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_fail(TN_ERROR_SHAPE, "inner", __FILE__, 1, "too long");
    tn_error_rename("outer", NULL);
    assert_string_equal(tn_error_message(), "outer: too long");
    assert_string_equal(tn_error_get()->function, "outer");
    tn_error_rename("outer", "place");
    assert_string_equal(tn_error_message(), "outer: too long");
    tn_error_rename("outermost", "bias");
    assert_string_equal(tn_error_message(), "outermost: bias: too long");
    tn_error_context("0.1");
    tn_error_rename("fit", NULL);
    assert_string_equal(tn_error_message(), "fit: 0.1: outermost: bias: too long");
    tn_error_clear();
}

TEST_MAIN(test(first_error_stays), test(raised_wrongly), test(push_and_pop), test(messages_are_cut),
          test(each_thread_has_its_own), test(adopt), test(status_names), test(renamed))
