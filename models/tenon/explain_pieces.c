/* chunk, split and their kin in one form: hsplit, vsplit and dsplit know their dim themselves. */
#include "explain_pieces.h"

static tn_list *hsplit(tn_tensor *x, int64_t n, int dim)
{
    (void)dim;
    return tn_hsplit(x, n);
}

static tn_list *hsplit_at(tn_tensor *x, const int64_t *list, int n, int dim)
{
    (void)dim;
    return tn_hsplit_at(x, list, n);
}

static tn_list *vsplit(tn_tensor *x, int64_t n, int dim)
{
    (void)dim;
    return tn_vsplit(x, n);
}

static tn_list *vsplit_at(tn_tensor *x, const int64_t *list, int n, int dim)
{
    (void)dim;
    return tn_vsplit_at(x, list, n);
}

static tn_list *dsplit(tn_tensor *x, int64_t n, int dim)
{
    (void)dim;
    return tn_dsplit(x, n);
}

static tn_list *dsplit_at(tn_tensor *x, const int64_t *list, int n, int dim)
{
    (void)dim;
    return tn_dsplit_at(x, list, n);
}

const explain_cut cut_chunk = {.by_number = tn_chunk};
const explain_cut cut_split = {.by_number = tn_split, .by_list = tn_split_sizes};
const explain_cut cut_tensor_split = {.by_number = tn_tensor_split, .by_list = tn_tensor_split_at};
const explain_cut cut_hsplit = {.by_number = hsplit, .by_list = hsplit_at};
const explain_cut cut_vsplit = {.by_number = vsplit, .by_list = vsplit_at};
const explain_cut cut_dsplit = {.by_number = dsplit, .by_list = dsplit_at};
const explain_cut cut_unbind = {.by_dim = tn_unbind};
