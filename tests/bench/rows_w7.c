/* W7: overhead of one operation, on tensors of a few elements. */
#include "bench.h"
#include "yardstick_tape.h"
#include "yardstick_tensor.h"
#include <string.h>

static int plain_dtype(const fixture *f)
{
    return f->dtype == TN_FLOAT32 ? PLAIN_F32 : PLAIN_F64;
}

/* The yardstick's operands. */
static plain *x_plain, *y_plain;

/* Fills an operand with cx's or cy's values, in place of the one of the row before. */
static bool replace(plain **operand, const fixture *f, const void *values, const int64_t *size, int ndim)
{
    plain_release(*operand);
    *operand = plain_empty(size, ndim, plain_dtype(f));
    if (*operand)
        memcpy(plain_data(*operand), values, (size_t)f->numel * tn_itemsize(f->dtype));
    return *operand != NULL;
}

/* Two tensors of 1 element. */

static bool setup_tiny(fixture *f)
{
    const int64_t one[] = {1};
    f->cx = bench_values(f, 1, 1, 1, 0);
    f->cy = bench_values(f, 1, 2, 1, 0);
    f->cout = bench_block(f, sizeof(double));
    f->numel = f->result_numel = 1;
    if (!f->cx || !f->cy || !f->cout || !replace(&x_plain, f, f->cx, one, 1) || !replace(&y_plain, f, f->cy, one, 1))
        return false;
    f->x = tn_from_array(f->cx, one, 1, f->dtype);
    f->y = tn_from_array(f->cy, one, 1, f->dtype);
    return f->x && f->y;
}

static bool setup_create(fixture *f)
{
    bool ok = setup_tiny(f);
    f->result_numel = 0;
    return ok;
}

/* One tensor of 2 x 3. */
static bool setup_small(fixture *f)
{
    const int64_t size[] = {2, 3};
    f->rows = 2;
    f->cols = 3;
    f->numel = f->result_numel = 6;
    f->cx = bench_values(f, 6, 1, 1, 0);
    f->cout = bench_block(f, 6 * sizeof(double));
    if (!f->cx || !f->cout || !replace(&x_plain, f, f->cx, size, 2))
        return false;
    f->x = tn_from_array(f->cx, size, 2, f->dtype);
    return f->x != NULL;
}

/* The same, of which one row is taken. */
static bool setup_row(fixture *f)
{
    bool ok = setup_small(f);
    f->result_numel = 3;
    return ok;
}

static tn_tensor *tenon_add(fixture *f, int64_t n)
{
    for (; n > 1; n--) {
        tn_tensor *z = tn_add(f->x, f->y);
        tn_drop(&z);
    }
    return tn_add(f->x, f->y);
}

static tn_tensor *tenon_create(fixture *f, int64_t n)
{
    const int64_t one[] = {1};
    for (; n > 1; n--) {
        tn_tensor *z = tn_empty(one, 1, f->dtype);
        tn_drop(&z);
    }
    return tn_empty(one, 1, f->dtype);
}

static tn_tensor *tenon_view(fixture *f, int64_t n)
{
    for (; n > 1; n--) {
        tn_tensor *z = tn_t(f->x);
        tn_drop(&z);
    }
    return tn_t(f->x);
}

/* x[1:2]: one slice. */
static tn_tensor *tenon_getitem(fixture *f, int64_t n)
{
    const tn_index rows = tn_index_slice(1, 2);
    for (; n > 1; n--) {
        tn_tensor *z = tn_getitem(f->x, &rows, 1);
        tn_drop(&z);
    }
    return tn_getitem(f->x, &rows, 1);
}

static tn_tensor *tenon_transpose(fixture *f, int64_t n)
{
    for (; n > 1; n--) {
        tn_tensor *z = tn_transpose(f->x, 0, 1);
        tn_drop(&z);
    }
    return tn_transpose(f->x, 0, 1);
}

static void c_add(fixture *f, int64_t n)
{
    for (; n > 1; n--)
        plain_release(plain_add(x_plain, y_plain));
    plain *z = plain_add(x_plain, y_plain);
    memcpy(f->cout, plain_data(z), tn_itemsize(f->dtype));
    plain_release(z);
}

static void c_create(fixture *f, int64_t n)
{
    const int64_t one[] = {1};
    for (; n > 0; n--)
        plain_release(plain_empty(one, 1, plain_dtype(f)));
}

static void c_view(fixture *f, int64_t n)
{
    for (; n > 1; n--)
        plain_release(plain_t(x_plain));
    plain *view = plain_t(x_plain);
    size_t bytes = tn_itemsize(f->dtype);
    for (int64_t i = 0; i < f->numel; i++) {
        int64_t at = i / f->rows * plain_stride(view, 0) + i % f->rows * plain_stride(view, 1);
        memcpy((char *)f->cout + (size_t)i * bytes, (char *)plain_data(view) + (size_t)at * bytes, bytes);
    }
    plain_release(view);
}

static void c_getitem(fixture *f, int64_t n)
{
    for (; n > 1; n--)
        plain_release(plain_slice(x_plain, 1, 2));
    plain *view = plain_slice(x_plain, 1, 2);
    memcpy(f->cout, plain_data(view), 3 * tn_itemsize(f->dtype));
    plain_release(view);
}

/* A sum that is recorded: x requires a gradient. */

static taped *x_taped, *y_taped;

static bool replace_taped(taped **operand, const fixture *f, const void *values, bool requires_grad)
{
    const int64_t one[] = {1};
    plain *value = plain_empty(one, 1, plain_dtype(f));
    taped_release(*operand);
    if (value)
        memcpy(plain_data(value), values, tn_itemsize(f->dtype));
    *operand = taped_leaf(value, requires_grad);
    return *operand != NULL;
}

static bool setup_recorded(fixture *f)
{
    return setup_tiny(f) && replace_taped(&x_taped, f, f->cx, true) && replace_taped(&y_taped, f, f->cy, false) &&
           tn_requires_grad_(f->x, true) == TN_OK;
}

static void c_recorded(fixture *f, int64_t n)
{
    for (; n > 1; n--)
        taped_release(taped_add(x_taped, y_taped));
    taped *z = taped_add(x_taped, y_taped);
    memcpy(f->cout, plain_data(taped_value(z)), tn_itemsize(f->dtype));
    taped_release(z);
}

/* A chain of products by y, close to 1, and the walk back to x: time by node. */

enum { CHAIN = 1000 };

static bool setup_chain(fixture *f)
{
    if (!setup_tiny(f))
        return false;
    const int64_t one[] = {1};
    f->cy = bench_values(f, 1, 2, 0.001, 1);
    f->y = f->cy ? tn_from_array(f->cy, one, 1, f->dtype) : NULL;
    return f->y && replace_taped(&x_taped, f, f->cx, true) && replace_taped(&y_taped, f, f->cy, false) &&
           tn_requires_grad_(f->x, true) == TN_OK;
}

static tn_tensor *tenon_chain(fixture *f, int64_t n)
{
    for (; n > 0; n--) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *z = f->x;
        for (int i = 0; i < CHAIN; i++)
            z = tn_mul(z, f->y);
        tn_set_grad(f->x, NULL);
        tn_backward(z);
        tn_scope_end(scope);
    }
    return tn_grad_of(f->x);
}

static void c_chain(fixture *f, int64_t n)
{
    static taped *held[CHAIN];
    for (; n > 0; n--) {
        taped *z = x_taped;
        for (int i = 0; i < CHAIN; i++)
            z = held[i] = taped_mul(z, y_taped);
        taped_clear_grad(x_taped);
        taped_backward(z);
        for (int i = CHAIN - 1; i >= 0; i--)
            taped_release(held[i]);
    }
    memcpy(f->cout, plain_data(taped_grad(x_taped)), tn_itemsize(f->dtype));
}

#define W7(text, types, ...)                                                                                           \
    {                                                                                                                  \
        .work = "W7", .name = text, .unit = UNIT_NS, .dtypes = types, __VA_ARGS__                                      \
    }

const row rows_w7[] = {
    W7("add, no grad", DTYPE_F32 | DTYPE_F64, .setup = setup_tiny, .tenon = tenon_add, .c = c_add),
    W7("add, grad recorded", DTYPE_F32, .setup = setup_recorded, .tenon = tenon_add, .c = c_recorded),
    W7("chain", DTYPE_F32, .per = CHAIN, .setup = setup_chain, .tenon = tenon_chain, .c = c_chain),
    W7("create", DTYPE_F32, .setup = setup_create, .tenon = tenon_create, .c = c_create),
    W7("view", DTYPE_F32, .setup = setup_small, .tenon = tenon_view, .c = c_view),
    W7("transpose", DTYPE_F32, .setup = setup_small, .tenon = tenon_transpose, .c = c_view),
    W7("getitem", DTYPE_F32, .setup = setup_row, .tenon = tenon_getitem, .c = c_getitem),
};
const int rows_w7_count = sizeof rows_w7 / sizeof *rows_w7;
