/* Long graphs in little stack, and many steps without growth. */
#include <pthread.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK = 512 * 1024, NODES = 200000, STEPS = 2000 }; /* their frames are larger, and every step is slower */
#else
enum { STACK = 64 * 1024, NODES = 1000000, STEPS = 10000 };
#endif

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

/* A chain of NODES additions; `walk`: it is walked, else only ended. The gradient is 1 all along. */
static tn_tensor *chain(tn_tensor *x, const tn_tensor *one)
{
    tn_tensor *y = tn_add(x, (tn_tensor *)one);
    for (int i = 1; i < NODES; i++) {
        tn_tensor *next = tn_add(y, (tn_tensor *)one);
        tn_drop(&y);
        y = next;
    }
    return y;
}

static void *in_little_stack(void *result)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones((int64_t[]){1}, 1, TN_FLOAT32), *one = tn_ones((int64_t[]){1}, 1, TN_FLOAT32);
    tn_requires_grad_(x, true);
    tn_tensor *walked = sum(chain(x, one));
    bool good = tn_item(walked) == NODES + 1 && tn_backward(walked) == TN_OK && tn_item(tn_grad_of(x)) == 1;
    tn_drop(&walked);
    tn_tensor *ended = chain(x, one);
    tn_drop(&ended);
    /* the same through saved tensors: each node holds the tensor before, which holds the node before */
    tn_tensor *y = tn_mul(x, one);
    for (int i = 1; i < NODES; i++) {
        tn_tensor *next = tn_mul(y, x);
        tn_drop(&y);
        y = next;
    }
    tn_tensor *const outputs[] = {y}, *const inputs[] = {x};
    tn_list *list = tn_grad(outputs, NULL, 1, inputs, 1, &(tn_grad_options){.retain_graph = true});
    good = good && tn_item(tn_list_get(list, 0)) == NODES;
    tn_drop(&y);
    tn_scope_end(scope);
    *(bool *)result = good && tn_error_code() == TN_OK;
    return NULL;
}

static void little_stack(void **state)
{
    pthread_attr_t attr;
    pthread_t thread;
    bool good = false;
    (void)state;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, in_little_stack, &good), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_true(good);
}

static tn_tensor *seen(void *context, tn_tensor *grad)
{
    (void)grad;
    ++*(int *)context;
    return NULL;
}

/* One step of everything that hangs on graphs: hooks, writes, views, gradients of gradients, kept gradients. */
static void step(tn_tensor *w, tn_tensor *x)
{
    int calls = 0;
    tn_scope scope = tn_scope_begin();
    tn_tensor *h = tn_mul(x, w), *part = tn_narrow(h, 0, 1, 2);
    int64_t handle = tn_register_hook(w, seen, &calls);
    tn_retain_grad(h);
    tn_retain_grad(h); /* once more changes nothing */
    tn_mul_(part, tn_narrow(x, 0, 0, 2));
    tn_tensor *ring = tn_mul(x, w); /* what it saved of itself must not hold it */
    tn_add_(ring, tn_mul(ring, ring));
    tn_mul_(ring, ring);
    tn_tensor *loss = sum(tn_mul(h, h)), *const outputs[] = {loss}, *const inputs[] = {w};
    tn_list *grads = tn_grad(outputs, NULL, 1, inputs, 1, &(tn_grad_options){.create_graph = true});
    tn_backward(tn_add(loss, sum(tn_list_get(grads, 0))));
    tn_hook_remove(w, handle);
    tn_grad_mode mode = tn_no_grad();
    tn_sub_(w, tn_mul_scalar(tn_grad_of(w), tn_float(1e-6)));
    tn_grad_mode_restore(mode);
    tn_set_grad(w, NULL);
    tn_scope_end(scope);
    assert_int_equal(calls, 2);
}

static void no_growth(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *w = tn_ones((int64_t[]){4}, 1, TN_FLOAT64), *x = tn_ones((int64_t[]){4}, 1, TN_FLOAT64);
    tn_requires_grad_(w, true);
    tn_memory_stats after_two = {0}, now;
    for (int i = 0; i < STEPS; i++) {
        step(w, x);
        assert_int_equal(tn_error_code(), TN_OK);
        if (i == 1)
            after_two = tn_get_memory_stats();
    }
    now = tn_get_memory_stats();
    assert_int_equal(now.live_blocks, after_two.live_blocks);
    assert_int_equal(now.live_bytes, after_two.live_bytes);
    tn_scope_end(scope);
}

TEST_MAIN(test(little_stack), test(no_growth))
