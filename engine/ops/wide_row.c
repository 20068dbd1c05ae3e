/* See wide_row.h. */
#include "ops/wide_row.h"

tni_wide_rows tni_wide_rows_of(const tn_tensor *x, const tn_tensor *out)
{
    const tn_dtype from = (tn_dtype)x->dtype, to = (tn_dtype)out->dtype;
    const tni_kind kind = tni_dtype_kind(to);
    const tn_dtype lane = kind == TNI_COMPLEX ? TN_COMPLEX128 : kind == TNI_FLOAT ? TN_FLOAT64 : TN_INT64;
    return (tni_wide_rows){
        .lane = lane, .first = from == to ? NULL : tni_converter_of(from, to), .widen = tni_converter_of(to, lane),
        .narrow = tni_converter_of(lane, to), .itemsize = tni_itemsize(from), .out_itemsize = tni_itemsize(to),
        .lane_itemsize = tni_itemsize(lane)};
}

void tni_wide_load(const tni_wide_rows *w, void *row, const char *x, int64_t stride, int64_t n)
{
    char between[TNI_WIDE_ROW * 16];
    stride *= w->itemsize;
    if (w->first) {
        w->first(between, w->out_itemsize, x, stride, n);
        x = between;
        stride = w->out_itemsize;
    }
    w->widen(row, w->lane_itemsize, x, stride, n);
}

void tni_wide_store(const tni_wide_rows *w, char *out, int64_t stride, const void *row, int64_t n)
{
    w->narrow(out, stride * w->out_itemsize, row, w->lane_itemsize, n);
}
