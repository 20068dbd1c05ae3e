/* Scopes: who holds what, when it dies, across threads; and that misuse is an error and nothing else. */
#include <pthread.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "core/scope.h"
#include "support/test.h"

/* An object that counts its deaths. */
typedef struct thing {
    tn_object object;
    int number;
} thing;

static int alive, last_dead;

static void thing_destroy(void *object)
{
    alive--;
    last_dead = ((thing *)object)->number;
}

static const tn_object_class thing_class = {"thing", sizeof(thing), thing_destroy};

static thing *make(int number)
{
    thing *t = tn_object_new(&thing_class);
    assert_non_null(t);
    t->number = number;
    alive++;
    return t;
}

static uint32_t slots(void)
{
    return tni_this_thread.scopes->used - tni_this_thread.scopes->empty;
}

static void ends_newest_first(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    for (int i = 0; i < 10; i++)
        make(i);
    assert_int_equal(alive, 10);
    assert_int_equal(tn_scope_end(scope), TN_OK);
    assert_int_equal(alive, 0);
    assert_int_equal(last_dead, 0);
}

static void forgotten_inner_scopes(void **state)
{
    (void)state;
    tn_scope outer = tn_scope_begin();
    make(1);
    tn_scope inner = tn_scope_begin();
    make(2);
    tn_scope_begin();
    make(3);
    assert_int_equal(tn_scope_end(outer), TN_OK);
    assert_int_equal(alive, 0);
    assert_int_equal(tn_scope_end(inner), TN_ERROR_STATE); /* ended with the outer one */
    tn_error_clear();
    assert_int_equal(tn_scope_end(outer), TN_ERROR_STATE);
    tn_error_clear();
    tn_scope again = tn_scope_begin(); /* the same depth, another serial */
    assert_int_equal(again.depth, outer.depth);
    assert_int_equal(tn_scope_end(outer), TN_ERROR_STATE);
    tn_error_clear();
    assert_int_equal(tn_scope_end(again), TN_OK);
    assert_int_equal(tn_scope_end((tn_scope){0, 0}), TN_OK);
    assert_int_equal(tn_scope_end((tn_scope){4000000000u, 7}), TN_ERROR_STATE);
    tn_error_clear();
}

static void escapes(void **state)
{
    (void)state;
    tn_scope a = tn_scope_begin();
    make(10);
    tn_scope b = tn_scope_begin();
    thing *keep = make(1), *lose = make(2), *deep;
    tn_scope c = tn_scope_begin();
    deep = make(3);
    make(4);
    assert_ptr_equal(tn_scope_escape(b, deep), deep); /* from c past b, into a */
    assert_ptr_equal(tn_scope_escape(b, keep), keep);
    assert_null(tn_scope_escape(c, lose)); /* it belongs to b */
    assert_int_equal(tn_error_code(), TN_ERROR_STATE);
    tn_error_clear();
    assert_null(tn_scope_escape(c, NULL));
    assert_int_equal(tn_error_code(), TN_OK);
    assert_int_equal(tn_scope_end(c), TN_OK);
    assert_int_equal(alive, 4);
    assert_int_equal(tn_scope_end(b), TN_OK);
    assert_int_equal(alive, 3);
    assert_int_equal(keep->number + deep->number, 4);
    assert_null(tn_scope_escape(b, keep)); /* b is over */
    tn_error_clear();
    assert_int_equal(tn_drop(&deep), TN_OK);
    assert_null(deep);
    assert_int_equal(alive, 2);
    assert_int_equal(tn_scope_end(a), TN_OK);
    assert_int_equal(alive, 0);
}

static void drop_and_retain(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    thing *first = make(1), *second = make(2), *held = tn_retain(second);
    assert_int_equal(tn_use_count(second), 2);
    assert_int_equal(tn_drop(&second), TN_OK);
    assert_null(second);
    assert_int_equal(alive, 2);
    second = held;
    assert_int_equal(tn_drop(&second), TN_ERROR_STATE); /* no scope holds it */
    assert_ptr_equal(second, held);
    tn_error_clear();
    assert_ptr_equal(tn_adopt(held), held);
    assert_int_equal(tn_use_count(held), 1);
    assert_int_equal(tn_drop(&first), TN_OK);
    assert_int_equal(alive, 1);
    assert_int_equal(tn_drop(&first), TN_OK); /* NULL is nothing */
    assert_int_equal(tn_drop(NULL), TN_OK);
    tn_release(NULL);
    first = NULL;
    tn_release(&first);
    assert_null(tn_retain(NULL));
    assert_null(tn_adopt(NULL));
    assert_int_equal(tn_use_count(NULL), 0);
    TN_FAIL(TN_ERROR_STATE, "earlier", "pending"); /* ending, dropping and releasing work all the same */
    assert_int_equal(tn_scope_end(scope), TN_OK);
    assert_int_equal(alive, 0);
    assert_int_equal(tn_error_code(), TN_ERROR_STATE);
    tn_error_clear();
}

/* What an object keeps of what it has just made outlives the scope, errors or none. */
static void keep(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    thing *x = make(1), *y = make(2);
    assert_ptr_equal(tn_object_keep(x), x);
    assert_int_equal(tn_use_count(x), 1);
    assert_null(tn_object_keep(x));
    assert_int_equal(tn_error_code(), TN_ERROR_STATE); /* no scope holds it any more */
    assert_ptr_equal(tn_object_keep(y), y);
    assert_null(tn_object_keep(NULL));
    assert_int_equal(tn_scope_end(scope), TN_OK);
    assert_int_equal(alive, 2);
    assert_int_equal(tn_use_count(x), 1);
    tn_release(&x);
    tn_release(&y);
    assert_int_equal(alive, 0);
    tn_error_clear();
}

/* Dropping the newest object of the outer scope from an empty inner one must not move the inner scope's first slot. */
static void drop_from_an_inner_scope(void **state)
{
    (void)state;
    tn_scope outer = tn_scope_begin();
    thing *x = make(1);
    tn_scope inner = tn_scope_begin();
    assert_int_equal(tn_drop(&x), TN_OK);
    assert_int_equal(alive, 0);
    make(2);
    make(3);
    assert_int_equal(tn_scope_end(inner), TN_OK);
    assert_int_equal(alive, 0);
    make(4);
    assert_int_equal(tn_scope_end(outer), TN_OK);
    assert_int_equal(alive, 0);
}

/* One object in several slots: each hold is one of its own. */
static void held_twice(void **state)
{
    (void)state;
    tn_scope outer = tn_scope_begin();
    const int64_t sizes[] = {2, 3};
    tn_tensor *x = tn_zeros(sizes, 2, TN_FLOAT32);
    tn_scope inner = tn_scope_begin();
    tn_tensor *same = tn_contiguous(x);
    assert_ptr_equal(same, x);
    assert_int_equal(tn_use_count(x), 2);
    assert_int_equal(tn_scope_end(inner), TN_OK);
    assert_int_equal(tn_use_count(x), 1);
    same = tn_to(x, TN_FLOAT32);
    tn_tensor *third = tn_contiguous(x);
    assert_int_equal(tn_drop(&same), TN_OK);
    assert_int_equal(tn_drop(&third), TN_OK);
    assert_int_equal(tn_use_count(x), 1);
    assert_int_equal(tn_drop(&x), TN_OK);
    assert_int_equal(tn_scope_end(outer), TN_OK);
}

/* A million objects made and dropped in one scope, in three orders: the stack stays small. */
static void bounded(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    thing *window[100] = {NULL}, *kept = make(1);
    for (int i = 0; i < 1000000; i++) {
        thing *x = make(i);
        if (i % 3 == 0) {
            assert_int_equal(tn_drop(&x), TN_OK);
        } else { /* the oldest of a window goes */
            thing **place = &window[i % 100];
            if (*place)
                assert_int_equal(tn_drop(place), TN_OK);
            *place = x;
        }
    }
    assert_int_equal(kept->number, 1);
    assert_true(tni_this_thread.scopes->capacity <= 4096);
    assert_true(alive <= 101);
    assert_int_equal(tn_scope_end(scope), TN_OK);
    assert_int_equal(alive, 0);
}

/* Random traffic against a plain account of who holds what. */
static void random_traffic(void **state)
{
    enum { DEPTH = 6, MOST = 400 };
    (void)state;
    uint64_t random = 99;
    for (int round = 0; round < 40; round++) {
        tn_scope scopes[DEPTH + 1];
        thing *held[MOST];
        int level[MOST], n = 0, depth = 0;
        uint32_t before = slots();
        scopes[1] = tn_scope_begin();
        depth = 1;
        for (int step = 0; step < 4000; step++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            unsigned r = (unsigned)(random >> 33) % 100;
            int which = n > 0 ? (int)((random >> 20) % (unsigned)n) : 0;
            if (r < 45 && n < MOST) {
                level[n] = depth;
                held[n] = make(step);
                n++;
            } else if (r < 75 && n > 0) {
                assert_int_equal(tn_drop(&held[which]), TN_OK);
                held[which] = held[--n];
                level[which] = level[n];
            } else if (r < 82 && depth < DEPTH) {
                scopes[++depth] = tn_scope_begin();
            } else if (r < 90 && n > 0 && level[which] > 1) {
                int target = 2 + (int)((random >> 12) % (unsigned)(level[which] - 1));
                assert_ptr_equal(tn_scope_escape(scopes[target], held[which]), held[which]);
                level[which] = target - 1;
            } else if (r < 93 && depth > 1) {
                int target = 2 + (int)((random >> 12) % (unsigned)(depth - 1));
                assert_int_equal(tn_scope_end(scopes[target]), TN_OK);
                depth = target - 1;
                for (int i = 0; i < n;) {
                    if (level[i] < target) {
                        i++;
                        continue;
                    }
                    held[i] = held[--n];
                    level[i] = level[n];
                }
            }
            if (alive != n || slots() != before + (uint32_t)n)
                fail_msg("round %d, step %d: %d alive and %u slots, needed %d", round, step, alive, slots() - before,
                         n);
        }
        assert_int_equal(tn_scope_end(scopes[1]), TN_OK);
        assert_int_equal(alive, 0);
    }
}

typedef struct parcel {
    tn_tensor *tensor;
    tn_scope foreign;
    bool good;
} parcel;

static void *other_thread(void *context)
{
    parcel *p = context;
    const int64_t sizes[] = {1000};
    p->good = tn_scope_end(p->foreign) == TN_ERROR_STATE; /* another thread's scope */
    tn_error_clear();
    p->good = p->good && tn_adopt(p->tensor) == p->tensor && tn_data_f32(p->tensor)[3] == 1;
    for (int i = 0; i < 1000; i++)
        p->good = p->good && tn_zeros(sizes, 1, TN_FLOAT64) != NULL;
    tn_scope_begin(); /* left open: the thread's end closes it */
    for (int i = 0; i < 1000; i++)
        tn_ones(sizes, 1, TN_FLOAT32);
    tn_fill_(p->tensor, tn_int(2));
    p->tensor = tn_retain(tn_clone(p->tensor)); /* handed back */
    return NULL;
}

/* What a thread made dies with it; what it was handed lives as long as anybody holds it. */
static void threads(void **state)
{
    (void)state;
    const int64_t sizes[] = {5};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones(sizes, 1, TN_FLOAT32);
    pthread_t id;
    parcel first = {.tensor = tn_retain(x), .foreign = scope}; /* warms up */
    pthread_create(&id, NULL, other_thread, &first);
    pthread_join(id, NULL);
    tn_release(&first.tensor);
    tn_fill_(x, tn_int(1));
    int64_t blocks = tn_get_memory_stats().live_blocks;
    for (int round = 0; round < 5; round++) {
        parcel p = {.tensor = tn_retain(x), .foreign = scope};
        pthread_create(&id, NULL, other_thread, &p);
        pthread_join(id, NULL);
        assert_true(p.good);
        assert_int_equal(tn_use_count(x), 1);
        assert_true(tn_data_f32(x)[0] == 2);
        tn_tensor *back = tn_adopt(p.tensor);
        assert_true(tn_data_f32(back)[4] == 2);
        assert_int_equal(tn_drop(&back), TN_OK);
        tn_fill_(x, tn_int(1));
        assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
    }
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static void *churn(void *context)
{
    tn_tensor *shared = context;
    for (int i = 0; i < 2000; i++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *held = tn_retain(shared), *view = tn_narrow(shared, 0, 1, 3), *sum = tn_add(view, view);
        tn_contiguous(shared);
        if (!sum || tn_data_f32(sum)[0] != 2)
            return (void *)1;
        tn_release(&held);
        tn_scope_end(scope);
    }
    return NULL;
}

/* Reading, viewing and holding one tensor from several threads at once. */
static void shared_reading(void **state)
{
    (void)state;
    const int64_t sizes[] = {5};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones(sizes, 1, TN_FLOAT32);
    pthread_t ids[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, churn, x);
    for (int i = 0; i < 3; i++) {
        void *failed;
        pthread_join(ids[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(tn_use_count(x), 1);
    tn_scope_end(scope);
}

static void no_memory(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    for (int depth = 0; depth < 100; depth++) { /* some of these need more room */
        tn_fail_allocation(0, false);
        tn_scope inner = tn_scope_begin();
        bool failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        assert_int_equal(inner.depth == 0, failed);
        assert_int_equal(tn_error_code(), failed ? TN_ERROR_MEMORY : TN_OK);
        tn_error_clear();
        if (failed)
            assert_true(tn_scope_begin().depth > 0);
    }
    int made = alive;
    for (int i = 0; i < 5000; i++) {
        tn_fail_allocation(0, false);
        thing *x = tn_object_new(&thing_class);
        tn_fail_allocation(-1, false);
        assert_null(x);
        assert_int_equal(tn_error_code(), TN_ERROR_MEMORY);
        tn_error_clear();
        make(i);
        made++;
    }
    assert_int_equal(alive, made);
    assert_int_equal(tn_scope_end(scope), TN_OK);
    assert_int_equal(alive, 0);
    assert_null(tn_object_new(NULL));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    static const tn_object_class small = {"small", 3, NULL};
    assert_null(tn_object_new(&small));
    tn_error_clear();
}

/* A tensor held twice in one scope: what is handed outwards outlives the drop of the other hold. */
static void escape_then_drop(void **state)
{
    (void)state;
    tn_scope outer = tn_scope_begin(), inner = tn_scope_begin();
    tn_tensor *x = tn_zeros((const int64_t[]){3}, 1, TN_FLOAT32), *again = tn_contiguous(x);
    assert_ptr_equal(again, x);
    tn_tensor *out = tn_scope_escape(inner, x);
    assert_int_equal(tn_drop(&again), TN_OK);
    assert_int_equal(tn_scope_end(inner), TN_OK);
    assert_int_equal(tn_use_count(out), 1);
    assert_true(tn_item(tn_sum(out, NULL, 0, false, TN_DTYPE_NONE)) == 0);
    assert_int_equal(tn_scope_end(outer), TN_OK);
}

static void *end_foreign(void *scope)
{
    tn_scope mine = tn_scope_begin();
    tn_status status = tn_scope_end(*(tn_scope *)scope);
    tn_error_clear();
    return status == TN_ERROR_STATE && tn_scope_end(mine) == TN_OK ? scope : NULL;
}

/* Handles of one thread mean nothing on another, though depths and counts are the same. */
static void foreign_scope(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    pthread_t id;
    void *refused;
    pthread_create(&id, NULL, end_foreign, &scope);
    pthread_join(id, &refused);
    assert_non_null(refused);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

TEST_MAIN(test(escape_then_drop), test(foreign_scope), test(ends_newest_first), test(forgotten_inner_scopes),
          test(escapes), test(drop_and_retain), test(keep), test(drop_from_an_inner_scope), test(held_twice),
          test(bounded), test(random_traffic), test(threads), test(shared_reading), test(no_memory))
