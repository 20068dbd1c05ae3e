/* Graphs that two threads record and one walks, graphs that two threads walk at once, modes that are a thread's own. */
#include <pthread.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { ROUNDS = 50, DEPTH = 40 };

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static tn_tensor *leaf(double value)
{
    tn_tensor *x = tn_full((int64_t[]){3}, 1, tn_float(value), TN_FLOAT64);
    tn_requires_grad_(x, true);
    return x;
}

static double first(const tn_tensor *x)
{
    return x ? *(const double *)tn_data(x) : -1;
}

typedef struct part {
    tn_tensor *shared, *own; /* leaves */
    tn_tensor *result;       /* retained for the other thread */
    double gradient;
} part;

/* shared * own, DEPTH times shared added. */
static void *record(void *context)
{
    part *p = context;
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = tn_mul(p->shared, p->own);
    for (int i = 0; i < DEPTH; i++)
        y = tn_add(y, p->shared);
    p->result = tn_retain(y);
    tn_scope_end(scope);
    return NULL;
}

static void joined(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *shared = leaf(2);
        part parts[2] = {{shared, leaf(3), NULL, 0}, {shared, leaf(5), NULL, 0}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, record, &parts[i]), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        tn_tensor *a = tn_adopt(parts[0].result), *b = tn_adopt(parts[1].result);
        assert_int_equal(tn_backward(sum(tn_mul(a, b))), TN_OK);
        double va = 2 * 3 + DEPTH * 2, vb = 2 * 5 + DEPTH * 2;
        assert_true(first(tn_grad_of(parts[0].own)) == 2 * vb);
        assert_true(first(tn_grad_of(parts[1].own)) == 2 * va);
        assert_true(first(tn_grad_of(shared)) == (3 + DEPTH) * vb + (5 + DEPTH) * va);
        tn_scope_end(scope);
    }
}

/* Each thread asks for the gradient of its own leaf in a graph that both share. */
static void *walk(void *context)
{
    part *p = context;
    tn_scope scope = tn_scope_begin();
    for (int i = 0; i < ROUNDS; i++) {
        tn_tensor *const outputs[] = {p->result}, *const inputs[] = {p->own};
        tn_list *list = tn_grad(outputs, NULL, 1, inputs, 1, &(tn_grad_options){.retain_graph = true});
        p->gradient = first(list ? tn_list_get(list, 0) : NULL);
    }
    if (tn_error_code())
        p->gradient = -1;
    tn_scope_end(scope);
    return NULL;
}

static void shared_graph(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3), *w = leaf(5), *y = sum(tn_mul(tn_mul(x, w), w));
    part parts[2] = {{NULL, x, y, 0}, {NULL, w, y, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walk, &parts[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(parts[0].gradient == 25 && parts[1].gradient == 30);
    assert_null(tn_grad_of(x));
    tn_scope_end(scope);
}

/* What one thread recorded ends on another, and a mode is the thread's own. */
static void *ends(void *context)
{
    part *p = context;
    tn_scope scope = tn_scope_begin();
    p->gradient = tn_is_grad_enabled() ? 1 : 0;
    tn_adopt(p->result);
    tn_scope_end(scope);
    return NULL;
}

static void ended_elsewhere(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    part p = {leaf(2), leaf(3), NULL, 0};
    record(&p);
    tn_grad_mode mode = tn_no_grad();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ends, &p), 0);
    pthread_join(thread, NULL);
    tn_grad_mode_restore(mode);
    assert_true(p.gradient == 1);
    tn_scope_end(scope);
}

TEST_MAIN(test(joined), test(shared_graph), test(ended_elsewhere))
