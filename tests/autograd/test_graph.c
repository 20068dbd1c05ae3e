/* The graph written as text, DOT, SVG and JSON, and walked by hand: numbers, edges, saved tensors and versions, leaves,
 * text from outside, what is too large, deep graphs, refusals, every allocation failing in turn. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

typedef struct text {
    char bytes[1 << 17];
    size_t n, room; /* room: what is taken before it is refused; 0: all */
} text;

static int take(void *context, const char *bytes, size_t n)
{
    text *to = context;
    if (to->room && to->n + n > to->room)
        return 1;
    if (to->n + n < sizeof to->bytes) {
        memcpy(to->bytes + to->n, bytes, n);
        to->bytes[to->n + n] = '\0';
    }
    to->n += n;
    return 0;
}

static text written, again;

static const char *write_in(tn_tensor *x, tn_graph_format format, const tn_graph_options *options)
{
    written = (text){.n = 0};
    assert_int_equal(tn_graph_write_many(&x, 1, format, options, take, &written), TN_OK);
    assert_true(written.n < sizeof written.bytes);
    return written.bytes;
}

static void check_has(const char *where, const char *what)
{
    if (!strstr(where, what))
        fail_msg("expected '%s' in:\n%s", what, where);
}

static tn_tensor *leaf(int64_t n, double value)
{
    tn_tensor *x = tn_full((int64_t[]){n}, 1, tn_float(value), TN_FLOAT32);
    assert_int_equal(tn_requires_grad_(x, true), TN_OK);
    return x;
}

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static void as_text(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = leaf(3, 2), *b = leaf(3, 1), *y = sum(tn_mul(tn_exp(tn_add(w, b)), w));
    tn_tensor *const named[] = {w};
    const char *const names[] = {"weight"};
    const tn_graph_options options = {.named = named, .names = names, .n_names = 1};
    assert_string_equal(write_in(y, TN_GRAPH_TEXT, &options),
                        "4 nodes, 2 leaves, 3 saved tensors (24 bytes)\n"
                        "n0  SumBackward0  float32 []   0 self -> n1  (root)\n"
                        "n1  MulBackward0  float32 [3]  0 self -> n2, 1 other -> x0 weight\n"
                        "      saves self float32 [3] version 0\n"
                        "      saves other float32 [3] version 0\n"
                        "n2  ExpBackward0  float32 [3]  0 self -> n3\n"
                        "      saves result float32 [3] version 0\n"
                        "n3  AddBackward0  float32 [3]  0 self -> x0 weight, 1 other -> x1\n"
                        "x0  leaf          float32 [3]  requires_grad, no grad yet: weight\n"
                        "x1  leaf          float32 [3]  requires_grad, no grad yet\n");
    tn_scope_end(scope);
}

static void versions(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = leaf(2, 2), *e = tn_exp(w), *y = sum(tn_add(e, w));
    tn_grad_mode mode = tn_no_grad();
    assert_int_equal(tn_add_(e, e), TN_OK);
    tn_grad_mode_restore(mode);
    check_has(write_in(y, TN_GRAPH_TEXT, NULL), "saves result float32 [2] version 0, now 1: written since\n");
    check_has(written.bytes, "1 saved tensor (8 bytes), 1 written since\n");
    check_has(write_in(y, TN_GRAPH_DOT, NULL), "#d55e00");
    tn_tensor *z = sum(tn_mul(w, w));
    assert_int_equal(tn_backward(z), TN_OK);
    check_has(write_in(z, TN_GRAPH_TEXT, NULL), "saved self, given up by a walk\n");
    check_has(written.bytes, "requires_grad, has grad\n");
    tn_scope_end(scope);
}

static void by_hand(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = leaf(3, 2), *y = tn_mul(tn_exp(w), w);
    tn_node *mul = tn_grad_fn(y), *exp = tn_node_next(mul, 0);
    const int64_t *sizes;
    tn_dtype dtype;
    assert_string_equal(tn_node_operator(mul), "mul");
    assert_string_equal(tn_node_operator(exp), "exp");
    assert_int_equal(tn_node_input_count(mul), 2);
    assert_null(tn_node_next(mul, 1));
    assert_ptr_equal(tn_node_leaf(mul, 1), w);
    assert_null(tn_node_leaf(mul, 0));
    assert_null(tn_node_leaf(mul, 2));
    assert_null(tn_node_next(mul, -1));
    assert_true(tn_node_sequence(mul) > tn_node_sequence(exp));
    assert_int_equal(tn_node_shape(mul, &sizes, &dtype), 1);
    assert_int_equal(sizes[0], 3);
    assert_int_equal(dtype, TN_FLOAT32);
    assert_int_equal(tn_node_saved_count(mul), 2);
    assert_int_equal(tn_node_saved(mul, 1).input, 1);
    assert_ptr_equal(tn_node_saved(mul, 1).tensor, w);
    assert_int_equal(tn_node_saved(exp, 0).input, -1);
    assert_non_null(tn_node_saved(exp, 0).tensor);
    assert_null(tn_node_saved(exp, 1).tensor);
    assert_false(tn_node_is_freed(mul));
    assert_int_equal(tn_backward(sum(y)), TN_OK);
    assert_true(tn_node_is_freed(mul));
    assert_null(tn_node_saved(mul, 1).tensor);
    assert_int_equal(tn_node_input_count(NULL) + tn_node_saved_count(NULL) + tn_node_shape(NULL, NULL, NULL), 0);
    assert_string_equal(tn_node_operator(NULL), "");
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

/* A name may be any text: in DOT and SVG it stays one. */
static void hostile_names(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = leaf(2, 1), *y = sum(w);
    const char *names[] = {"a\"];\n\\<b>&'\x01\xC3\xB1\xFF"};
    const tn_graph_options options = {.named = &w, .names = names, .n_names = 1};
    check_has(write_in(y, TN_GRAPH_DOT, &options), "label=\"a\\\"]; \\\\<b>&' \xC3\xB1?\\nfloat32 [2]");
    check_has(write_in(y, TN_GRAPH_SVG, &options), ">a&#34;]; \\&#60;b&#62;&#38;&#39; \xC3\xB1?</text>");
    check_has(write_in(y, TN_GRAPH_TEXT, &options), ": a\"]; \\<b>&' \xC3\xB1?\n");
    check_has(write_in(y, TN_GRAPH_JSON, &options), "\"name\":\"a\\\"]; \\\\<b>&' \xC3\xB1?\",\"dtype\":\"float32\",");
    tn_scope_end(scope);
}

static tn_tensor *double_forward(tn_function_call *call, tn_tensor *const *inputs, int n)
{
    tn_tensor *y = tn_mul_scalar(inputs[0], tn_float(2)), *const kept[] = {inputs[n - 1], NULL, y};
    tn_save_for_backward(call, kept, 3);
    return y;
}

static tn_status double_backward(tn_function_call *call, tn_tensor *gradient, tn_tensor **grads)
{
    (void)call;
    grads[0] = tn_mul_scalar(gradient, tn_float(2));
    return tn_error_code();
}

/* A node of a user's function has no parameters' names, and may be called anything. */
static void user_function(void **state)
{
    static const tn_function function = {.name = "A<\"\xFF>", .forward = double_forward, .backward = double_backward};
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *inputs[] = {leaf(2, 1), leaf(2, 2)}, *y = tn_apply(&function, inputs, 2, NULL);
    assert_non_null(y);
    check_has(write_in(y, TN_GRAPH_TEXT, NULL), "n0  A<\"?>Backward  float32 [2]  0 -> x0, 1 -> x1  (root)\n"
                                                "      saves tensor 0 float32 [2] version 0\n");
    check_has(write_in(y, TN_GRAPH_SVG, NULL), ">A&#60;&#34;?&#62;Backward</text>");
    check_has(write_in(y, TN_GRAPH_DOT, NULL), "n0 [label=\"A<\\\"?>Backward\\n");
    check_has(write_in(y, TN_GRAPH_JSON, NULL), "\"name\":\"A<\\\"?>Backward\"");
    assert_int_equal(tn_backward(sum(y)), TN_OK);
    check_has(write_in(y, TN_GRAPH_TEXT, NULL), "given up by a walk\n");
    tn_scope_end(scope);
}

static void several_roots(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = leaf(2, 1), *e = tn_exp(w), *roots[] = {sum(e), tn_mul(e, e), w};
    written = (text){.n = 0};
    assert_int_equal(tn_graph_write_many(roots, 3, TN_GRAPH_TEXT, NULL, take, &written), TN_OK);
    check_has(written.bytes,
              "3 nodes, 1 leaf, 3 saved tensors (8 bytes)\nn0  MulBackward0  float32 [2]  0 self -> n2,");
    check_has(written.bytes, "\nn1  SumBackward0  float32 []   0 self -> n2  (root)\n");
    tn_scope_end(scope);
}

/* A chain of many nodes: what is shown is bounded, the rest is counted, the stack does not grow. */
static void deep(void **state)
{
    enum { NODES = 100000 };
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *y = leaf(1, 1);
    for (int i = 0; i < NODES; i++) {
        tn_tensor *next = i % 2 ? tn_neg(y) : tn_add_scalar(y, tn_float(1));
        tn_drop(&y);
        y = next;
    }
    for (int format = TN_GRAPH_TEXT; format <= TN_GRAPH_DOT; format++) {
        const tn_graph_options options = {.max_nodes = 5};
        write_in(y, (tn_graph_format)format, &options);
        check_has(written.bytes, "99995 more nodes, 1 more leaf: 49998 AddBackward0, 49997 NegBackward0");
        assert_true(written.n < 2000);
    }
    check_has(write_in(y, TN_GRAPH_SVG, &(tn_graph_options){.max_nodes = 5}), ">... 99995 more nodes</text>");
    assert_true(written.n < 8000);
    check_has(write_in(y, TN_GRAPH_TEXT, NULL), "\nn199  ");
    assert_null(strstr(written.bytes, "\nn200  "));
    tn_scope_end(scope);
}

/* Boxes of the picture do not touch and are within it. */
static void check_boxes(const char *svg, unsigned seed)
{
    enum { BOXES = 512 };
    static int box[BOXES][4];
    int n = 0, width = 0, height = 0;
    const char *at = svg;
    sscanf(strstr(svg, "width="), "width=\"%d\" height=\"%d\"", &width, &height);
    while ((at = strstr(at, "<rect x=")) && n < BOXES) {
        int *b = box[n++];
        assert_int_equal(sscanf(at, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", b, b + 1, b + 2, b + 3), 4);
        at++;
        if (b[0] < 0 || b[1] < 0 || b[0] + b[2] > width || b[1] + b[3] > height)
            fail_msg("seed %u: box %d is outside", seed, n - 1);
        for (int k = 0; k < n - 1; k++)
            if (b[0] < box[k][0] + box[k][2] && box[k][0] < b[0] + b[2] && b[1] < box[k][1] + box[k][3] &&
                box[k][1] < b[1] + b[3])
                fail_msg("seed %u: boxes %d and %d overlap", seed, k, n - 1);
    }
    assert_true(n > 1);
}

/* Random graphs: whatever their form, boxes keep apart, and the same graph gives the same picture. */
static void pictures(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *made[40];
        uint32_t random = seed * 2654435761u;
        int n = 3 + (int)(seed % 37);
        for (int i = 0; i < n; i++) {
            random = random * 1664525u + 1013904223u;
            int a = i ? (int)(random >> 8) % i : 0, b = i ? (int)(random >> 16) % i : 0;
            made[i] = i == 0 || random >> 29 == 0 ? leaf(2, 1)
                      : random >> 31              ? tn_exp(made[a])
                                                  : tn_mul(made[a], made[b]);
        }
        tn_tensor *y = sum(tn_cat(made, n, 0));
        check_boxes(write_in(y, TN_GRAPH_SVG, NULL), seed);
        memcpy(&again, &written, sizeof again);
        assert_string_equal(write_in(y, TN_GRAPH_SVG, NULL), again.bytes);
        write_in(y, TN_GRAPH_SVG, &(tn_graph_options){.max_nodes = 6});
        check_boxes(written.bytes, seed);
        tn_scope_end(scope);
    }
}

static void check_refused(tn_tensor *const *x, int n, tn_graph_format format, const tn_graph_options *options,
                          tn_text_writer write, tn_status status)
{
    written = (text){.n = 0};
    assert_int_equal(tn_graph_write_many(x, n, format, options, write, &written), status);
    assert_int_equal(tn_error_code(), status);
    assert_int_equal(written.n, 0);
    tn_error_clear();
}

static void refused(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = leaf(2, 1), *y = sum(w), *plain = tn_ones((int64_t[]){2}, 1, TN_FLOAT32), *none = NULL;
    check_refused(NULL, 1, TN_GRAPH_TEXT, NULL, take, TN_ERROR_NULL);
    check_refused(&y, 1, TN_GRAPH_TEXT, NULL, NULL, TN_ERROR_NULL);
    check_refused(&none, 1, TN_GRAPH_TEXT, NULL, take, TN_ERROR_NULL);
    check_refused(&y, 0, TN_GRAPH_TEXT, NULL, take, TN_ERROR_ARGUMENT);
    check_refused(&y, 1, (tn_graph_format)7, NULL, take, TN_ERROR_ARGUMENT);
    check_refused(&y, 1, TN_GRAPH_TEXT, &(tn_graph_options){.max_nodes = -1}, take, TN_ERROR_ARGUMENT);
    check_refused(&y, 1, TN_GRAPH_TEXT, &(tn_graph_options){.max_nodes = 1001}, take, TN_ERROR_ARGUMENT);
    check_refused(&y, 1, TN_GRAPH_TEXT, &(tn_graph_options){.n_names = 1}, take, TN_ERROR_ARGUMENT);
    check_refused(&plain, 1, TN_GRAPH_TEXT, NULL, take, TN_ERROR_NO_GRAPH);
    written = (text){.room = 1};
    assert_int_equal(tn_graph_write(y, TN_GRAPH_DOT, take, &written), TN_ERROR_FILE);
    tn_error_clear();
    tn_scope_end(scope);
}

/* Every allocation fails once: the error is told, and the next try gives the same text. */
static void out_of_memory(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *y = leaf(2, 1);
    for (int i = 0; i < 40; i++)
        y = tn_add(tn_exp(y), leaf(2, 1));
    for (int format = TN_GRAPH_TEXT; format <= TN_GRAPH_JSON; format++) {
        write_in(y, (tn_graph_format)format, NULL);
        memcpy(&again, &written, sizeof again);
        int64_t k = 0;
        for (bool failed = true; failed; k++) {
            tn_fail_allocation(k, false);
            written = (text){.n = 0};
            tn_status status = tn_graph_write(y, (tn_graph_format)format, take, &written);
            failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            if (status != (failed ? TN_ERROR_MEMORY : TN_OK))
                fail_msg("format %d, allocation %d: %s", format, (int)k, tn_error_message());
            tn_error_clear();
        }
        assert_true(k > 4);
        assert_string_equal(written.bytes, again.bytes);
    }
    tn_scope_end(scope);
}

TEST_MAIN(test(as_text), test(versions), test(by_hand), test(hostile_names), test(user_function), test(several_roots),
          test(deep), test(pictures), test(refused), test(out_of_memory))
