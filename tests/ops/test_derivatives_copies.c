/* What the tape says of views, copies, joins and writes: the names of their nodes as PyTorch prints them, what a second
 * walk needs, versions of positions, pieces of split and unbind, casts, values that are filled in. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

#define LIST(...)  (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INDEX(...) (const tn_index[]){__VA_ARGS__}, (int)(sizeof((const tn_index[]){__VA_ARGS__}) / sizeof(tn_index))

/* 0, 1, 2, ... which require a gradient. */
static tn_tensor *leaf(const int64_t *sizes, int ndim, tn_dtype dtype)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= sizes[d];
    tn_tensor *x = tn_to(tn_view(tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_FLOAT64), sizes, ndim), dtype);
    assert_int_equal(tn_requires_grad_(x, true), TN_OK);
    return x;
}

static tn_tensor *total(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static void check_name(tn_tensor *y, const char *needed, const char *what)
{
    char name[64] = "none";
    if (!y)
        fail_msg("%s: %s", what, tn_error_message());
    if (tn_grad_fn(y))
        tn_node_name(tn_grad_fn(y), name, sizeof name);
    if (strcmp(name, needed) != 0)
        fail_msg("%s is called %s, needed %s", what, name, needed);
}

#define NAMED(y, name) check_name(y, name, #y)

static void names_of_views(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_clone(leaf(LIST(2, 3, 4), TN_FLOAT32)), *m = tn_clone(leaf(LIST(3, 4), TN_FLOAT32));
    tn_tensor *c = tn_clone(leaf(LIST(3, 4), TN_COMPLEX64)), *s = tn_clone(leaf(NULL, 0, TN_FLOAT32));
    NAMED(tn_view(x, LIST(6, 4)), "ViewBackward0");
    NAMED(tn_reshape(x, LIST(24)), "ViewBackward0");
    NAMED(tn_reshape(tn_transpose(x, 0, 1), LIST(24)), "UnsafeViewBackward0");
    NAMED(tn_flatten(tn_mT(x), 0, -1), "UnsafeViewBackward0");
    NAMED(tn_flatten(x, 1, 1), "CloneBackward0"); /* itself */
    NAMED(tn_flatten(s, 0, -1), "ViewBackward0");
    NAMED(tn_unflatten(x, 2, LIST(2, 2)), "ViewBackward0");
    NAMED(tn_expand(x, LIST(5, 2, 3, 4)), "ExpandBackward0");
    NAMED(tn_broadcast_to(x, LIST(5, 2, 3, 4)), "ExpandBackward0");
    NAMED(tn_transpose(x, 0, 1), "TransposeBackward0");
    NAMED(tn_swapdims(x, 0, 1), "TransposeBackward0");
    NAMED(tn_t(m), "TBackward0");
    NAMED(tn_T(m), "PermuteBackward0");
    NAMED(tn_mT(m), "TransposeBackward0");
    NAMED(tn_H(m), "TransposeBackward0");
    NAMED(tn_H(c), "ConjBackward0");
    NAMED(tn_permute(x, LIST(2, 0, 1)), "PermuteBackward0");
    NAMED(tn_movedim(x, (const int64_t[]){0}, (const int64_t[]){1}, 1), "PermuteBackward0");
    NAMED(tn_squeeze(x), "SqueezeBackward0");
    NAMED(tn_squeeze_dim(x, 0), "SqueezeBackward1");
    NAMED(tn_squeeze_dims(x, LIST(0, 1)), "SqueezeBackward2");
    NAMED(tn_unsqueeze(x, 0), "UnsqueezeBackward0");
    NAMED(tn_narrow(x, 0, 0, 1), "SliceBackward0");
    NAMED(tn_select(x, 0, 1), "SelectBackward0");
    NAMED(tn_slice(x, 0, 0, 1, 1), "SliceBackward0");
    NAMED(tn_diagonal(m, 0, 0, 1), "DiagonalBackward0");
    NAMED(tn_unfold(x, 0, 2, 1), "UnfoldBackward0");
    NAMED(tn_as_strided(x, (const int64_t[]){2}, (const int64_t[]){1}, 1, 0), "AsStridedBackward0");
    NAMED(tn_view_as_real(c), "ViewAsRealBackward0");
    NAMED(tn_view_as_complex(tn_view_as_real(c)), "ViewAsComplexBackward0");
    NAMED(tn_real(c), "SelectBackward0");
    NAMED(tn_real(x), "CloneBackward0"); /* itself */
    NAMED(tn_conj(c), "ConjBackward0");
    NAMED(tn_alias(x), "AliasBackward0");
    NAMED(tn_list_get(tn_split(x, 1, 0), 1), "SplitBackward0");
    NAMED(tn_list_get(tn_split_sizes(x, (const int64_t[]){1, 1}, 2, 0), 1), "SplitWithSizesBackward0");
    NAMED(tn_list_get(tn_chunk(x, 2, 0), 1), "SplitBackward0");
    NAMED(tn_list_get(tn_unbind(x, 0), 1), "UnbindBackward0");
    NAMED(tn_list_get(tn_tensor_split(x, 2, 0), 1), "SliceBackward0");
    NAMED(tn_view_dtype(x, TN_INT32), "none");
    assert_false(tn_requires_grad(tn_view_dtype(x, TN_FLOAT32)));
    tn_scope_end(scope);
}

static void names_of_indices(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_clone(leaf(LIST(2, 3, 4), TN_FLOAT32)),
              *at = tn_arange(tn_int(0), tn_int(2), tn_int(1), TN_INT64);
    NAMED(tn_getitem(x, INDEX(tn_index_integer(0))), "SelectBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_all())), "SliceBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_ellipsis())), "AliasBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_new_axis())), "UnsqueezeBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_integer(0), tn_index_slice(0, 1))), "SliceBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_slice(0, 1), tn_index_integer(0))), "SelectBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_integer(0), tn_index_all())), "SelectBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_all(), tn_index_all())), "AliasBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_new_axis(), tn_index_all())), "UnsqueezeBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_tensor(at))), "IndexBackward0");
    NAMED(tn_getitem(x, INDEX(tn_index_bool(true))), "IndexBackward0");
    NAMED(tn_index_put(x, &at, 1, tn_ones(NULL, 0, TN_FLOAT32), false), "IndexPutBackward0");
    NAMED(tn_index_select(x, 0, at), "IndexSelectBackward0");
    NAMED(tn_index_add(x, 0, at, x, tn_int(1)), "IndexAddBackward0");
    NAMED(tn_gather(x, 0, tn_zeros(LIST(1, 3, 4), TN_INT64)), "GatherBackward0");
    NAMED(tn_scatter_add(x, 0, tn_zeros(LIST(1, 3, 4), TN_INT64), x), "ScatterAddBackward0");
    tn_scope_end(scope);
}

static void names_of_copies(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_clone(leaf(LIST(2, 3), TN_FLOAT32)), *c = tn_clone(leaf(LIST(2, 3), TN_COMPLEX64));
    NAMED(tn_clone(x), "CloneBackward0");
    NAMED(tn_contiguous(tn_t(x)), "CloneBackward0");
    NAMED(tn_resolve_conj(tn_conj(c)), "CloneBackward0");
    NAMED(tn_to(x, TN_FLOAT64), "ToCopyBackward0");
    NAMED(tn_to(x, TN_COMPLEX64), "ToCopyBackward0");
    NAMED(tn_to(x, TN_INT32), "none");
    NAMED(tn_zeros_like(x, TN_DTYPE_NONE, TN_PRESERVE_FORMAT), "none");
    NAMED(tn_tril(x, 0), "TrilBackward0");
    NAMED(tn_triu(x, 0), "TriuBackward0");
    NAMED(tn_cat((tn_tensor *[]){x, x}, 2, 0), "CatBackward0");
    NAMED(tn_stack((tn_tensor *[]){x, x}, 2, 0), "StackBackward0");
    tn_scope_end(scope);
}

static void names_of_writes(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *w = leaf(LIST(2, 3), TN_FLOAT32), *one = tn_ones(NULL, 0, TN_FLOAT32);
#define WRITTEN(call, name)                                                                                            \
    do {                                                                                                               \
        tn_tensor *y = tn_clone(w);                                                                                    \
        assert_int_equal(call, TN_OK);                                                                                 \
        check_name(y, name, #call);                                                                                    \
    } while (0)
    WRITTEN(tn_t_(y), "TBackward1");
    WRITTEN(tn_transpose_(y, 0, 1), "TransposeBackward1");
    WRITTEN(tn_squeeze_(y), "SqueezeBackward3");
    WRITTEN(tn_squeeze_dim_(y, 0), "SqueezeBackward4");
    WRITTEN(tn_unsqueeze_(y, 0), "UnsqueezeBackward1");
    WRITTEN(tn_as_strided_(y, (const int64_t[]){2}, (const int64_t[]){1}, 1, 0), "AsStridedBackward1");
    WRITTEN(tn_set_(y, one), "NotImplemented");
    WRITTEN(tn_set_empty_(y), "NotImplemented");
    WRITTEN(tn_fill_(y, tn_int(2)), "FillBackward2");
    WRITTEN(tn_fill_tensor_(y, one), "FillBackward3");
    WRITTEN(tn_zero_(y), "ZeroBackward0");
    WRITTEN(tn_copy_(y, one), "CopyBackwards");
    WRITTEN(tn_copy_(y, w), "CopyBackwards");
    WRITTEN(tn_tril_(y, 0), "TrilBackward0");
    WRITTEN(tn_setitem(y, INDEX(tn_index_integer(0)), one), "CopySlices");
    WRITTEN(tn_setitem_scalar(y, INDEX(tn_index_ellipsis()), tn_int(1)), "FillBackward2");
    WRITTEN(tn_setitem(y, INDEX(tn_index_list((const int64_t[]){0}, 1)), one), "IndexPutBackward0");
    WRITTEN(tn_setitem(y, INDEX(tn_index_all(), tn_index_slice(0, 3)), w), "CopyBackwards");
    WRITTEN(tn_setitem(y, INDEX(tn_index_all(), tn_index_slice(0, 2)), one), "CopySlices");
    tn_tensor *plain = tn_zeros(LIST(2, 3), TN_FLOAT32);
    assert_int_equal(tn_copy_(plain, w), TN_OK);
    check_name(plain, "CopyBackwards", "a plain tensor");
    plain = tn_zeros(LIST(2, 3), TN_FLOAT32);
    assert_int_equal(tn_zero_(plain), TN_OK);
    check_name(plain, "none", "a plain tensor");
    tn_scope_end(scope);
}

/* Walks the graph of total(y) twice; the status of the second walk. */
static tn_status walked_twice(tn_tensor *y)
{
    tn_tensor *loss = total(y);
    assert_int_equal(tn_backward(loss), TN_OK);
    tn_status status = tn_backward(loss);
    tn_error_clear();
    return status;
}

/* What keeps no tensor can be walked again; positions are kept, and a write into a view is walked once. */
static void second_walks(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = leaf(LIST(2, 3), TN_FLOAT64), *at = tn_arange(tn_int(0), tn_int(2), tn_int(1), TN_INT64);
    tn_tensor *y = tn_clone(x);
    assert_int_equal(tn_copy_(tn_select(y, 0, 0), tn_select(x, 0, 1)), TN_OK);
    tn_tensor *again[] = {tn_view(x, LIST(6)),
                          tn_tril(x, 0),
                          tn_to(x, TN_FLOAT32),
                          tn_cat((tn_tensor *[]){x, x}, 2, 0),
                          tn_stack((tn_tensor *[]){x, x}, 2, 0),
                          tn_unfold(x, 1, 2, 1),
                          tn_as_strided(x, (const int64_t[]){3}, (const int64_t[]){1}, 1, 0)};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        assert_int_equal(walked_twice(again[i]), TN_OK);
    tn_tensor *once[] = {tn_getitem(x, INDEX(tn_index_tensor(at))), tn_index_select(x, 0, at),
                         tn_gather(x, 0, tn_zeros(LIST(1, 3), TN_INT64)), tn_index_put(x, &at, 1, tn_clone(x), true),
                         tn_index_add(tn_clone(x), 0, at, x, tn_int(1)), y};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        assert_int_equal(walked_twice(once[i]), TN_ERROR_GRAPH_FREED);
    tn_scope_end(scope);
}

/* Positions that were written since they were kept are refused, those of a list of indices, too. */
static void written_positions(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = leaf(LIST(2, 3), TN_FLOAT64), *at = tn_zeros(LIST(2), TN_INT64);
        tn_tensor *y = i == 0   ? tn_getitem(x, INDEX(tn_index_tensor(at)))
                       : i == 1 ? tn_index_select(x, 0, at)
                       : i == 2 ? tn_index_put(x, &at, 1, tn_clone(x), false)
                                : tn_getitem(x, INDEX(tn_index_all(), tn_index_tensor(at)));
        assert_int_equal(tn_fill_(at, tn_int(1)), TN_OK);
        assert_int_equal(tn_backward(total(y)), TN_ERROR_SAVED_VERSION);
        assert_non_null(strstr(tn_error_message(), "by \"fill_\""));
        tn_error_clear();
        tn_scope_end(scope);
    }
}

static void check_values(const tn_tensor *x, const double *needed, const char *what)
{
    tn_tensor *row = tn_contiguous((tn_tensor *)(uintptr_t)x);
    if (!row)
        fail_msg("%s: %s", what, tn_error_message());
    const double *have = tn_data(row);
    for (int64_t i = 0; i < tn_numel(row); i++)
        if (have[i] != needed[i])
            fail_msg("%s: element %d is %g, needed %g", what, (int)i, have[i], needed[i]);
}

/* Gradients that add up: positions that come again, and what scatter_add does not read. */
static void sums(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = leaf(LIST(3), TN_FLOAT64), *src = leaf(LIST(4), TN_FLOAT64);
    tn_tensor *at = tn_from_array((const int64_t[]){2, 0, 2}, LIST(3), TN_INT64);
    tn_tensor *w = tn_from_array((const double[]){1, 10, 100}, LIST(3), TN_FLOAT64);
    assert_int_equal(tn_backward(total(tn_mul(w, tn_index_select(x, 0, at)))), TN_OK);
    check_values(tn_grad_of(x), (const double[]){10, 0, 101}, "index_select");
    tn_set_grad(x, NULL);
    assert_int_equal(tn_backward(total(tn_mul(w, tn_scatter_add(x, 0, at, src)))), TN_OK);
    check_values(tn_grad_of(x), (const double[]){1, 10, 100}, "scatter_add, self");
    check_values(tn_grad_of(src), (const double[]){100, 1, 100, 0}, "scatter_add, src");
    tn_set_grad(x, NULL);
    tn_tensor *part = tn_narrow(src, 0, 0, 3);
    tn_set_grad(src, NULL);
    assert_int_equal(tn_backward(total(tn_mul(w, tn_index_add(x, 0, at, part, tn_int(3))))), TN_OK);
    check_values(tn_grad_of(src), (const double[]){300, 3, 300, 0}, "index_add, src");
    tn_set_grad(x, NULL);
    tn_set_grad(src, NULL);
    tn_tensor *y = tn_index_put(x, &at, 1, part, false); /* the last of those that share a place stays, as said */
    assert_int_equal(tn_backward(total(tn_mul(w, y))), TN_OK);
    check_values(tn_grad_of(x), (const double[]){0, 10, 0}, "index_put, self");
    check_values(tn_grad_of(src), (const double[]){100, 1, 100, 0}, "index_put, values");
    tn_scope_end(scope);
}

/* Values that are written: a number in a tensor gets the sum, a view of its own the part; the rest is cleared. */
static void values(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = leaf(LIST(2, 2), TN_FLOAT64), *one = leaf(NULL, 0, TN_FLOAT64), *y = tn_clone(x);
    assert_int_equal(tn_fill_tensor_(tn_select(y, 0, 0), one), TN_OK);
    assert_int_equal(tn_backward(total(y)), TN_OK);
    check_values(tn_grad_of(one), (const double[]){2}, "fill_, value");
    check_values(tn_grad_of(x), (const double[]){0, 0, 1, 1}, "fill_, self");
    tn_set_grad(x, NULL);
    y = tn_clone(x);
    assert_int_equal(tn_fill_tensor_(y, tn_select(tn_select(y, 0, 1), 0, 0)), TN_OK); /* an element of itself */
    check_values(tn_detach(y), (const double[]){2, 2, 2, 2}, "fill_ with an element");
    assert_int_equal(tn_backward(total(y)), TN_OK);
    check_values(tn_grad_of(x), (const double[]){0, 0, 4, 0}, "fill_ with an element");
    tn_set_grad(x, NULL);
    y = tn_clone(x);
    assert_int_equal(tn_zero_(y), TN_OK); /* a gradient of zeros, not none */
    assert_int_equal(tn_backward(total(y)), TN_OK);
    check_values(tn_grad_of(x), (const double[]){0, 0, 0, 0}, "zero_");
    assert_int_equal(tn_fill_tensor_(y, x), TN_ERROR_DIM);
    tn_error_clear();
    y = tn_clone(x);
    assert_int_equal(tn_set_(y, tn_detach(x)), TN_OK);
    assert_int_equal(tn_backward(total(y)), TN_ERROR_NOT_IMPLEMENTED);
    tn_error_clear();
    tn_scope_end(scope);
}

/* Casts come back in the dtype of what was cast; complex gradients lose their imaginary part. */
static void casts(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = leaf(LIST(2), TN_FLOAT32), *z = leaf(LIST(2), TN_COMPLEX128);
    assert_int_equal(tn_backward(total(tn_real(tn_to(x, TN_COMPLEX128)))), TN_OK);
    assert_int_equal(tn_tensor_dtype(tn_grad_of(x)), TN_FLOAT32);
    check_values(tn_to((tn_tensor *)tn_grad_of(x), TN_FLOAT64), (const double[]){1, 1}, "to");
    assert_int_equal(tn_backward(total(tn_imag(tn_conj(z)))), TN_OK);
    check_values(tn_view_as_real(tn_resolve_conj((tn_tensor *)tn_grad_of(z))), (const double[]){0, -1, 0, -1}, "imag");
    tn_tensor *both = tn_cat((tn_tensor *[]){x, tn_ones(LIST(1), TN_FLOAT64)}, 2, 0);
    tn_set_grad(x, NULL);
    assert_int_equal(tn_tensor_dtype(both), TN_FLOAT64);
    assert_int_equal(tn_backward(total(both)), TN_OK);
    assert_int_equal(tn_tensor_dtype(tn_grad_of(x)), TN_FLOAT32);
    tn_scope_end(scope);
}

/* Writes through views of another dtype, or with lazy bits: what PyTorch gives. */
static void parts_of_complex_numbers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const tn_index imaginary[] = {tn_index_ellipsis(), tn_index_integer(1)};
    tn_tensor *z = leaf(LIST(2), TN_COMPLEX128), *w = tn_full(NULL, 0, tn_complex(2, 1), TN_COMPLEX128);
#define PARTS(what, loss, ...)                                                                                         \
    do {                                                                                                               \
        tn_set_grad(z, NULL);                                                                                          \
        if (tn_backward(loss))                                                                                         \
            fail_msg("%s: %s", what, tn_error_message());                                                              \
        check_values(tn_view_as_real((tn_tensor *)tn_grad_of(z)), (const double[]){__VA_ARGS__}, what);                \
    } while (0)
    tn_tensor *y = tn_clone(z), *older = tn_real(y), *pairs = tn_view_as_real(y);
    assert_int_equal(tn_mul_scalar_(tn_real(y), tn_int(3)), TN_OK);
    assert_int_equal(tn_mul_scalar_(tn_getitem(pairs, imaginary, 2), tn_int(5)), TN_OK);
    PARTS("parts", tn_add(total(older), total(tn_getitem(pairs, imaginary, 2))), 3, 5, 3, 5);
    y = tn_clone(z);
    assert_int_equal(tn_mul_(tn_conj(y), w), TN_OK);
    PARTS("a conjugate", total(tn_real(y)), 2, 1, 2, 1);
    y = tn_clone(z);
    tn_tensor *negated = tn_imag(tn_conj(y));
    assert_int_equal(tn_mul_scalar_(negated, tn_int(3)), TN_OK);
    PARTS("a negated part", tn_add(total(tn_imag(y)), tn_mul_scalar(total(negated), tn_int(10))), 0, -27, 0, -27);
    tn_tensor *x = leaf(LIST(2, 2), TN_FLOAT64), *real = tn_clone(x);
    tn_tensor *weights = tn_view(tn_from_array((const double[]){1, 10, 100, 1000}, LIST(4), TN_FLOAT64), LIST(2, 2));
    assert_int_equal(tn_mul_(tn_view_as_complex(real), tn_full(NULL, 0, tn_complex(0, 1), TN_COMPLEX128)), TN_OK);
    assert_int_equal(tn_backward(total(tn_mul(real, weights))), TN_OK);
    check_values(tn_grad_of(x), (const double[]){10, -1, 1000, -100}, "complex numbers of parts");
    tn_scope_end(scope);
}

static void rearranged(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_view(tn_from_array((const double[]){1, 2, 3, 4}, LIST(4), TN_FLOAT64), LIST(2, 2));
    check_values(tn_repeat(x, LIST(1, 2)), (const double[]){1, 2, 1, 2, 3, 4, 3, 4}, "repeat");
    check_values(tn_repeat(x, LIST(2, 1, 1)), (const double[]){1, 2, 3, 4, 1, 2, 3, 4}, "repeat, a new dim");
    assert_int_equal(tn_ndim(tn_repeat(x, LIST(2, 1, 1))), 3);
    assert_int_equal(tn_numel(tn_repeat(x, LIST(0, 2))), 0);
    check_values(tn_flip(x, LIST(0, -1)), (const double[]){4, 3, 2, 1}, "flip");
    check_values(tn_flip(x, LIST(1)), (const double[]){2, 1, 4, 3}, "flip");
    check_values(tn_roll(x, LIST(1), LIST(0)), (const double[]){3, 4, 1, 2}, "roll");
    check_values(tn_roll(x, LIST(-1, 1), LIST(0, 1)), (const double[]){4, 3, 2, 1}, "roll");
    check_values(tn_roll(x, LIST(1), NULL, 0), (const double[]){4, 1, 2, 3}, "roll");
    assert_false(tn_storage_data(tn_flip(x, NULL, 0)) == tn_storage_data(x));
    assert_null(tn_repeat(x, LIST(2)));
    assert_int_equal(tn_error_code(), TN_ERROR_DIM);
    tn_error_clear();
    assert_null(tn_flip(x, LIST(0, -2)));
    assert_int_equal(tn_error_code(), TN_ERROR_DIM);
    tn_error_clear();
    assert_null(tn_roll(x, LIST(1, 1), LIST(0)));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_null(tn_repeat(x, LIST(-1, 1)));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    tn_scope_end(scope);
}

/* What counts inputs sees those of a list. */
static tn_status count_inputs(void *context, tn_op_call *call)
{
    if (strcmp(tn_op_call_name(call), "cat") == 0)
        *(int *)context = tn_op_call_input_count(call) + (tn_op_call_input(call, 2) ? 0 : 100);
    return tn_layer_next(call);
}

/* A list goes through layers, lazy bits, META and the tape as other inputs do. */
static void lists(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    int inputs = 0, layer = tn_layer_register("inputs", count_inputs, &inputs);
    tn_tensor *z = leaf(LIST(2), TN_COMPLEX128), *four[4] = {z, tn_conj(z), z, z};
    tn_layer_enable(layer, true);
    tn_tensor *y = tn_cat(four, 4, 0);
    assert_int_equal(tn_layer_unregister(layer), TN_OK);
    assert_int_equal(inputs, 4);
    assert_int_equal(tn_backward(total(tn_imag(y))), TN_OK);
    check_values(tn_view_as_real((tn_tensor *)tn_grad_of(z)), (const double[]){0, 2, 0, 2}, "cat with a conjugate");
    tn_tensor *many[70];
    for (int i = 0; i < 70; i++)
        many[i] = i == 69 ? z : tn_detach(z);
    tn_set_grad(z, NULL);
    assert_int_equal(tn_backward(total(tn_real(tn_stack(many, 70, 1)))), TN_OK);
    check_values(tn_view_as_real((tn_tensor *)tn_grad_of(z)), (const double[]){1, 0, 1, 0}, "the last of 70");
    many[68] = NULL;
    assert_null(tn_stack(many, 70, 1));
    assert_string_equal(tn_error_message(), "stack: argument 1 (tensors) is NULL at tensor 68");
    tn_error_clear();
    tn_device before = tn_get_default_device();
    tn_set_default_device((tn_device){TN_META, 0});
    tn_tensor *m = tn_zeros(LIST(2, 3), TN_FLOAT32);
    tn_set_default_device(before);
    tn_tensor *joined = tn_cat((tn_tensor *[]){m, m}, 2, 1);
    assert_int_equal(tn_tensor_device(joined).type, TN_META);
    assert_int_equal(tn_size(joined, 1), 6);
    assert_null(tn_cat((tn_tensor *[]){m, tn_zeros(LIST(2, 3), TN_FLOAT32)}, 2, 1));
    assert_int_equal(tn_error_code(), TN_ERROR_DEVICE);
    tn_error_clear();
    tn_scope_end(scope);
}

/* Lists, positions, overlapping parts, and parts of complex numbers, recorded and walked. */
static tn_status long_way(tn_tensor *z, tn_tensor *at)
{
    tn_tensor *twelve[12], *y;
    for (int i = 0; i < 12; i++)
        twelve[i] = z;
    y = tn_clone(tn_cat(twelve, 12, 0));
    tn_mul_scalar_(tn_imag(tn_conj(y)), tn_int(3));
    y = tn_getitem(tn_real(y), INDEX(tn_index_tensor(at)));
    y = tn_index_put(y, &at, 1, tn_clone(y), true);
    y = tn_unfold(tn_as_strided(y, (const int64_t[]){2, 2}, (const int64_t[]){1, 1}, 2, 0), 0, 2, 1);
    return tn_backward(total(tn_reshape(tn_mT(y), LIST(-1))));
}

/* When allocation k fails: an error, and nothing leaks. */
static void every_allocation(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *z = leaf(LIST(2), TN_COMPLEX128), *at = tn_from_array((const int64_t[]){0, 2, 1}, LIST(3), TN_INT64);
    assert_int_equal(long_way(z, at), TN_OK); /* what z keeps for its gradients is there from now on */
    tn_set_grad(z, NULL);
    for (int k = 0;; k++) {
        int64_t blocks = tn_get_memory_stats().live_blocks;
        tn_scope inner = tn_scope_begin();
        tn_fail_allocation(k, true);
        tn_status status = long_way(z, at);
        bool failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (status != (failed ? TN_ERROR_MEMORY : TN_OK))
            fail_msg("allocation %d: %s", k, tn_error_message());
        tn_error_clear();
        tn_scope_end(inner);
        tn_set_grad(z, NULL);
        if (tn_get_memory_stats().live_blocks != blocks)
            fail_msg("allocation %d: %d blocks more", k, (int)(tn_get_memory_stats().live_blocks - blocks));
        if (!failed)
            break;
    }
    tn_scope_end(scope);
}

TEST_MAIN(test(names_of_views), test(names_of_indices), test(names_of_copies), test(names_of_writes),
          test(second_walks), test(written_positions), test(sums), test(values), test(casts), test(lists),
          test(parts_of_complex_numbers), test(rearranged), test(every_allocation))
