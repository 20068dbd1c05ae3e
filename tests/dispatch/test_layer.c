/* Layers: what they see, that they can refuse, that calls of their own are not seen, order, threads, and misuse. */
#include <pthread.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

typedef struct log {
    int calls;
    char names[512];
    bool refuse, calls_itself, silent, mute;
} log_book;

static tn_status look(void *context, tn_op_call *call)
{
    log_book *book = context;
    book->calls++;
    strncat(book->names, tn_op_call_name(call), sizeof book->names - strlen(book->names) - 2);
    strcat(book->names, " ");
    assert_null(tn_op_call_input(call, -1));
    assert_null(tn_op_call_input(call, tn_op_call_input_count(call)));
    assert_int_equal(tn_op_call_output_count(call), 1);
    if (book->refuse)
        return TN_FAIL(TN_ERROR_STATE, tn_op_call_name(call), "refused by a layer");
    if (book->silent)
        return TN_OK;
    if (book->mute)
        return TN_ERROR_ARGUMENT;
    if (book->calls_itself && tn_op_call_input_count(call) > 0)
        assert_non_null(tn_neg(tn_op_call_input(call, 0)));
    tn_status status = tn_layer_next(call);
    if (status == TN_OK)
        assert_non_null(tn_op_call_output(call, 0));
    return status;
}

static void sees_every_call_once(void **state)
{
    (void)state;
    log_book book = {0};
    int layer = tn_layer_register("log", look, &book);
    assert_true(layer >= 0);
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones(LIST(2, 2), 2, TN_FLOAT32);
    assert_int_equal(book.calls, 0); /* registered, but not on */
    assert_int_equal(tn_layer_enable(layer, true), TN_OK);
    tn_tensor *y = tn_add(x, tn_t(x));
    tn_add_(y, x);
    tn_mul_out(y, x, x);
    tn_zeros(LIST(1), 1, TN_FLOAT32);
    assert_string_equal(book.names, "t add add_ mul_out zeros ");
    book.calls_itself = true;
    assert_non_null(tn_exp(x));
    assert_int_equal(book.calls, 6);
    assert_null(tn_add(x, NULL)); /* arguments are checked before layers see them */
    tn_error_clear();
    assert_int_equal(book.calls, 6);
    assert_int_equal(tn_layer_enable(layer, false), TN_OK);
    tn_exp(x);
    assert_int_equal(book.calls, 6);
    assert_int_equal(tn_layer_unregister(layer), TN_OK);
    assert_int_equal(tn_layer_enable(layer, true), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_int_equal(tn_layer_unregister(layer), TN_ERROR_ARGUMENT);
    tn_error_clear();
    tn_scope_end(scope);
}

static void refuses(void **state)
{
    (void)state;
    log_book book = {.refuse = true};
    int layer = tn_layer_register("refuse", look, &book);
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones(LIST(2), 1, TN_FLOAT32);
    tn_layer_enable(layer, true);
    assert_null(tn_add(x, x));
    assert_string_equal(tn_error_message(), "add: refused by a layer");
    tn_error_clear();
    assert_int_equal(tn_add_(x, x), TN_ERROR_STATE);
    assert_int_equal(tn_version(x), 0);
    tn_error_clear();
    book.refuse = false;
    assert_non_null(tn_add(x, x)); /* the masks are as before */
    /* a layer that says "fine" and made nothing: a NULL without an error must not come out */
    book.silent = true;
    assert_null(tn_add(x, x));
    assert_int_equal(tn_error_code(), TN_ERROR_STATE);
    tn_error_clear();
    /* one that gives a status and raises nothing: the library does */
    book.silent = false;
    book.mute = true;
    assert_null(tn_add(x, x));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    tn_layer_enable(layer, false);
    tn_layer_unregister(layer);
    tn_scope_end(scope);
}

static void order_and_number(void **state)
{
    (void)state;
    log_book books[TN_MAX_LAYERS] = {{0}};
    int layers[TN_MAX_LAYERS];
    for (int i = 0; i < TN_MAX_LAYERS; i++) {
        layers[i] = tn_layer_register("many", look, &books[i]);
        assert_int_equal(layers[i], i);
        assert_int_equal(tn_layer_enable(layers[i], true), TN_OK);
    }
    assert_int_equal(tn_layer_register("one too many", look, NULL), -1);
    assert_int_equal(tn_error_code(), TN_ERROR_STATE);
    tn_error_clear();
    tn_scope scope = tn_scope_begin();
    assert_non_null(tn_ones(LIST(2), 1, TN_FLOAT32));
    for (int i = 0; i < TN_MAX_LAYERS; i++)
        assert_int_equal(books[i].calls, 1);
    books[5].refuse = true; /* later registrations come first */
    assert_null(tn_ones(LIST(2), 1, TN_FLOAT32));
    tn_error_clear();
    for (int i = 0; i < TN_MAX_LAYERS; i++)
        assert_int_equal(books[i].calls, i >= 5 ? 2 : 1);
    tn_scope_end(scope);
    for (int i = 0; i < TN_MAX_LAYERS; i++)
        assert_int_equal(tn_layer_unregister(layers[i]), TN_OK); /* enabled ones are switched off here */
    assert_non_null(tn_ones(LIST(2), 1, TN_FLOAT32));
    assert_int_equal(tn_layer_register(NULL, look, NULL), -1);
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    assert_int_equal(tn_layer_register("none", NULL, NULL), -1);
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    const int bad[] = {-1, TN_MAX_LAYERS, INT32_MAX, INT32_MIN, 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tn_layer_enable(bad[i], true), TN_ERROR_ARGUMENT);
        tn_error_clear();
    }
    assert_int_equal(tn_layer_next(NULL), TN_ERROR_NULL);
    tn_error_clear();
    assert_string_equal(tn_op_call_name(NULL), "");
    assert_int_equal(tn_op_call_input_count(NULL) + tn_op_call_output_count(NULL), 0);
    assert_null(tn_op_call_input(NULL, 0));
    assert_null(tn_op_call_output(NULL, 0));
}

static void *elsewhere(void *context)
{
    (void)context;
    return tn_neg(tn_ones(LIST(3), 1, TN_FLOAT32)) ? NULL : (void *)1;
}

static void of_one_thread(void **state)
{
    (void)state;
    log_book book = {0};
    pthread_t id;
    void *failed;
    int layer = tn_layer_register("mine", look, &book);
    tn_layer_enable(layer, true);
    pthread_create(&id, NULL, elsewhere, NULL);
    pthread_join(id, &failed);
    assert_null(failed);
    assert_int_equal(book.calls, 0);
    tn_layer_unregister(layer);
}

TEST_MAIN(test(sees_every_call_once), test(refuses), test(order_and_number), test(of_one_thread))
