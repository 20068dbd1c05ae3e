/* Devices and layouts: names, refusals by name, and the way to meta. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static void layouts_parse_and_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr",
                                        "sparse_bsc", "mkldnn",     "jagged"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tn_layout layout = tn_layout_from_name(names[i]);
        assert_string_equal(tn_layout_name(layout), names[i]);
        assert_null(tn_empty_with(LIST(2), 1, &(tn_tensor_options){.layout = layout}));
        expect_error(TN_ERROR_NOT_IMPLEMENTED, names[i]);
    }
    assert_int_equal(tn_layout_from_name("strided"), TN_STRIDED);
    assert_int_equal(tn_layout_from_name("sparse"), TN_STRIDED);
    expect_error(TN_ERROR_NAME, "\"sparse\"");
    tn_layout_from_name(NULL);
    expect_error(TN_ERROR_NULL, "layout_from_name");
    assert_string_equal(tn_layout_name((tn_layout)99), "invalid");
}

static void options_ask_for_all_at_once(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_empty_with(LIST(2, 3), 2, NULL);
    assert_int_equal(tn_tensor_dtype(x), TN_FLOAT32);
    x = tn_empty_with(LIST(2, 3), 2, &(tn_tensor_options){.dtype = TN_INT8, .device = tn_device_from_name("meta")});
    assert_int_equal(tn_tensor_dtype(x), TN_INT8);
    assert_int_equal(tn_tensor_device(x).type, TN_META);
    assert_null(tn_empty_with(LIST(2), 1, &(tn_tensor_options){.device = tn_device_from_name("cuda:1")}));
    expect_error(TN_ERROR_DEVICE, "cuda:1");
    tn_scope_end(scope);
}

static void meta_keeps_the_record_alone(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_device cpu = {TN_CPU, 0}, meta = {TN_META, 0};
    tn_tensor *x = tn_t(tn_ones(LIST(2, 3), 2, TN_FLOAT64)), *y = tn_to_device(x, meta);
    assert_int_equal(tn_tensor_device(y).type, TN_META);
    assert_int_equal(tn_stride(y, 0), 1);
    assert_int_equal(tn_stride(y, 1), 3);
    assert_ptr_equal(tn_to_device(x, cpu), x);
    assert_ptr_equal(tn_to_device(y, meta), y);
    assert_null(tn_to_device(y, cpu));
    expect_error(TN_ERROR_DEVICE, "meta");
    assert_null(tn_to_device(x, tn_device_from_name("cuda:0")));
    expect_error(TN_ERROR_DEVICE, "cuda:0");
    tn_scope_end(scope);
}

TEST_MAIN(test(layouts_parse_and_are_refused_by_name), test(options_ask_for_all_at_once),
          test(meta_keeps_the_record_alone))
