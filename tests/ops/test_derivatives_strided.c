/* Gradients of as_strided as PyTorch 2.15 gives them: of tensors with gaps or elements that share a place, for results
 * that overlap. The loss is the sum of the result's elements times 1, 2, 3, ... in their order. */
#include <math.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { RANK = 3, MOST = 18, STORAGE = 24 };

typedef struct recorded {
    int ndim;
    int64_t sizes[RANK], strides[RANK], offset; /* of the tensor, in a storage of 24 */
    int part_ndim;
    int64_t part_sizes[RANK], part_strides[RANK], part_offset;
    double grad[MOST];
} recorded;

static const recorded cases[] = {
    {2, {3, 2}, {5, 4}, 3, 3, {1, 2, 1}, {4, 0, 1}, 3, {3, 0, 0, 0, 0, 0}},
    {2, {2, 3}, {0, 3}, 0, 0, {0}, {0}, 0, {0.5, 0, 0, 0.5, 0, 0}},
    {2, {2, 1}, {5, 5}, 0, 1, {3}, {3}, 2, {0, 2}},
    {1, {1}, {1}, 0, 1, {1}, {1}, 1, {0}},
    {2, {1, 3}, {1, 2}, 1, 0, {0}, {0}, 1, {1, 0, 0}},
    {2, {2, 1}, {1, 1}, 3, 3, {1, 3, 3}, {4, 1, 0}, 1, {24, 0}},
    {2, {2, 3}, {1, 1}, 1, 2, {3, 1}, {0, 1}, 1, {6, 0, 0, 0, 0, 0}},
    {2, {2, 1}, {3, 5}, 1, 2, {2, 3}, {0, 2}, 1, {5, 0}},
    {2, {1, 1}, {5, 2}, 1, 3, {2, 3, 2}, {2, 0, 3}, 1, {9}},
    {1, {2}, {4}, 1, 2, {1, 1}, {4, 1}, 1, {1, 0}},
    {2, {3, 1}, {0, 3}, 3, 2, {1, 1}, {4, 3}, 1, {0, 0, 0}},
    {3, {3, 2, 1}, {0, 4, 0}, 1, 2, {1, 1}, {4, 3}, 0, {0, 0, 0, 0, 0, 0}},
    {3, {3, 3, 2}, {2, 1, 1}, 1, 2, {1, 1}, {2, 3}, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {3, {2, 1, 1}, {2, 1, 3}, 3, 3, {2, 1, 2}, {4, 3, 4}, 3, {1, 0}},
    {2, {3, 3}, {4, 1}, 1, 2, {3, 3}, {1, 1}, 0, {6, 15, 14, 0, 0, 0, 0, 0, 0}},
    {1, {2}, {3}, 1, 2, {3, 2}, {2, 1}, 5, {0, 0}},
    {2, {2, 2}, {4, 1}, 3, 2, {2, 1}, {4, 2}, 1, {0, 0, 0, 0}},
    {2, {3, 1}, {1, 5}, 1, 2, {2, 3}, {0, 4}, 2, {0, 5, 0}},
    {1, {1}, {1}, 3, 2, {3, 3}, {1, 1}, 0, {14}},
    {1, {2}, {1}, 0, 0, {0}, {0}, 0, {1, 0}},
    {2, {2, 1}, {3, 0}, 1, 2, {2, 2}, {4, 3}, 1, {1, 2}},
    {2,
     {3, 2},
     {0, 1},
     1,
     2,
     {2, 1},
     {4, 3},
     1,
     {0.33333333333333331, 0, 0.33333333333333331, 0, 0.33333333333333331, 0}},
    {2, {1, 3}, {2, 3}, 1, 1, {1}, {3}, 1, {1, 0, 0}},
    {2, {2, 2}, {2, 4}, 1, 2, {1, 3}, {3, 1}, 1, {1, 0, 3, 0}},
    {3, {1, 2, 2}, {2, 1, 1}, 1, 0, {0}, {0}, 1, {1, 0, 0, 0}},
    {3, {1, 2, 1}, {5, 1, 5}, 1, 0, {0}, {0}, 2, {0, 1}},
    {2,
     {3, 3},
     {0, 2},
     1,
     2,
     {3, 3},
     {3, 1},
     1,
     {0.33333333333333331, 1, 1.6666666666666667, 0.33333333333333331, 1, 1.6666666666666667, 0.33333333333333331, 1,
      1.6666666666666667}},
    {3, {3, 1, 3}, {3, 1, 0}, 1, 2, {3, 3}, {4, 4}, 2, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {3, {2, 2, 3}, {5, 4, 1}, 1, 2, {1, 2}, {0, 4}, 2, {0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}},
    {3, {2, 1, 1}, {2, 4, 3}, 1, 2, {3, 1}, {2, 3}, 5, {0, 0}},
    {1, {3}, {1}, 1, 0, {0}, {0}, 1, {1, 0, 0}},
    {1, {2}, {4}, 1, 0, {0}, {0}, 2, {0, 0}},
    {1, {1}, {5}, 0, 1, {3}, {4}, 0, {1}},
    {2, {2, 3}, {2, 1}, 0, 3, {1, 2, 1}, {0, 3, 1}, 0, {1, 0, 0, 0, 2, 0}},
    {3, {3, 1, 2}, {0, 3, 3}, 0, 2, {3, 1}, {0, 2}, 0, {2, 0, 2, 0, 2, 0}},
    {3, {2, 2, 3}, {1, 0, 1}, 3, 2, {1, 3}, {4, 4}, 5, {0, 0, 0.25, 0, 0, 0.25, 0, 0.25, 0, 0, 0.25, 0}},
    {2, {2, 1}, {3, 1}, 1, 2, {3, 1}, {1, 1}, 2, {0, 3}},
    {2, {1, 3}, {0, 4}, 1, 0, {0}, {0}, 5, {0, 1, 0}},
    {1, {1}, {3}, 3, 2, {1, 2}, {2, 2}, 1, {2}},
    {1, {3}, {4}, 1, 0, {0}, {0}, 0, {0, 0, 0}},
};
enum { CASES = sizeof cases / sizeof *cases };

static tn_tensor *weighted_sum(tn_tensor *y)
{
    tn_tensor *w = tn_arange(tn_int(1), tn_int(tn_numel(y) + 1), tn_int(1), TN_FLOAT64);
    return tn_sum(tn_mul(y, tn_view(w, tn_sizes(y), tn_ndim(y))), NULL, 0, false, TN_DTYPE_NONE);
}

static void gradients(void **state)
{
    const int64_t storage = STORAGE;
    (void)state;
    for (int c = 0; c < CASES; c++) {
        const recorded *r = &cases[c];
        tn_scope scope = tn_scope_begin();
        tn_tensor *base = tn_zeros(&storage, 1, TN_FLOAT64);
        tn_tensor *x = tn_detach(tn_as_strided(base, r->sizes, r->strides, r->ndim, r->offset));
        tn_requires_grad_(x, true);
        tn_tensor *y = tn_as_strided(x, r->part_sizes, r->part_strides, r->part_ndim, r->part_offset);
        tn_tensor *loss = weighted_sum(y);
        if (tn_backward_with(loss, NULL, &(tn_backward_options){.create_graph = c & 1}))
            fail_msg("case %d: %s", c, tn_error_message());
        tn_tensor *grad = tn_contiguous(tn_grad_of(x));
        const double *have = tn_data(grad);
        for (int64_t i = 0; i < tn_numel(x); i++)
            if (fabs(have[i] - r->grad[i]) > 1e-12)
                fail_msg("case %d: gradient %g of element %d, needed %g", c, have[i], (int)i, r->grad[i]);
        tn_scope_end(scope);
    }
}

TEST_MAIN(test(gradients))
