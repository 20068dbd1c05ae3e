/* Walks over some of a tensor's dims, and rows that are converted on the way. */
#include "ops/walk.h"

#include "core/geometry.h"

void tni_walk_make(tni_walk *w, const tn_tensor *x, uint64_t mask, bool take, const int64_t *out_strides)
{
    const int64_t *operands[2] = {x->strides, NULL};
    int perm[TN_MAX_NDIM];
    tni_dim_order(x->sizes, x->ndim, operands, 2, perm);
    w->ndim = 0;
    w->numel = 1;
    for (int i = 0; i < x->ndim; i++) {
        int d = perm[i], last = w->ndim - 1;
        if (((mask >> d) & 1) != take)
            continue;
        w->numel *= x->sizes[d];
        if (x->sizes[d] == 1)
            continue;
        if (last >= 0 && x->strides[d] == w->strides[last] * w->sizes[last] &&
            out_strides[d] == w->out_strides[last] * w->sizes[last]) {
            w->sizes[last] *= x->sizes[d];
            continue;
        }
        w->sizes[w->ndim] = x->sizes[d];
        w->strides[w->ndim] = x->strides[d];
        w->out_strides[w->ndim++] = out_strides[d];
    }
    if (w->ndim == 0) {
        w->sizes[0] = 1;
        w->strides[0] = w->out_strides[0] = 0;
        w->ndim = 1;
    }
}

int64_t tni_walk_at(const tni_walk *w, int64_t i, int64_t *out)
{
    int64_t at = 0;
    *out = 0;
    for (int d = 0; d < w->ndim; d++) {
        int64_t index = i % w->sizes[d];
        i /= w->sizes[d];
        at += index * w->strides[d];
        *out += index * w->out_strides[d];
    }
    return at;
}

void tni_walk_lengthen(tni_walk *w, int64_t enough)
{
    int longest = 0;
    for (int d = 1; d < w->ndim && w->sizes[0] < enough; d++)
        if (w->sizes[d] > w->sizes[longest])
            longest = d;
    const int64_t size = w->sizes[0], stride = w->strides[0], out_stride = w->out_strides[0];
    w->sizes[0] = w->sizes[longest];
    w->strides[0] = w->strides[longest];
    w->out_strides[0] = w->out_strides[longest];
    w->sizes[longest] = size;
    w->strides[longest] = stride;
    w->out_strides[longest] = out_stride;
}

void tni_widen(const tni_widening *w, void *to, const char *x, int64_t stride, int64_t n)
{
    char truth[TNI_WIDENED];
    if (w->truth) {
        w->truth(truth, 1, x, stride, n);
        x = truth;
        stride = 1;
    }
    w->convert(to, w->wide, x, stride, n);
}

int64_t tni_widen_rows(const tni_widening *w, void *to, int64_t *to_stride, const char *x, int64_t row_stride,
                       int64_t stride, int64_t rows, int64_t n)
{
    char *y = to;
    *to_stride = 1;
    if (stride == 1 && row_stride == n) {
        tni_widen(w, y, x, w->from, rows * n);
        return n;
    }
    if (n >= rows) {
        for (int64_t r = 0; r < rows; r++)
            tni_widen(w, y + r * n * w->wide, x + r * row_stride * w->from, stride * w->from, n);
        return n;
    }
    for (int64_t i = 0; i < n; i++)
        tni_widen(w, y + i * rows * w->wide, x + i * stride * w->from, row_stride * w->from, rows);
    *to_stride = rows;
    return 1;
}
