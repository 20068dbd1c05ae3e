/* The iterator. See its header for what it promises. */
#include "core/iterator.h"

#include <string.h>

#include "base/pool.h"
#include "core/geometry.h"

void tni_iter_begin(tni_iter *it, const int64_t *sizes, int ndim)
{
    it->ndim = ndim;
    it->operands = 0;
    it->numel = 1;
    it->converts = false;
    for (int d = 0; d < ndim; d++) {
        it->sizes[d] = sizes[d];
        it->numel *= sizes[d];
    }
}

bool tni_iter_operand(tni_iter *it, char *data, const int64_t *sizes, const int64_t *strides, int ndim, tn_dtype dtype,
                      tn_dtype compute)
{
    int k = it->operands++;
    it->data[k] = data;
    it->dtype[k] = dtype;
    it->compute[k] = compute;
    it->convert[k] = it->again[k] = NULL;
    if (dtype != compute) {
        it->converts = true;
        it->convert[k] = k == 0 ? tni_converter_of(compute, dtype) : tni_converter_of(dtype, compute);
        if (!it->convert[k])
            return false;
    }
    int64_t itemsize = tni_itemsize(dtype);
    int lead = it->ndim - ndim; /* missing leading dims are broadcast */
    for (int d = 0; d < it->ndim; d++) {
        bool repeated = d < lead || sizes[d - lead] == 1; /* the stride of one element may be anything */
        it->strides[k][d] = repeated ? 0 : strides[d - lead] * itemsize;
    }
    return true;
}

bool tni_iter_operand_via(tni_iter *it, char *data, const int64_t *sizes, const int64_t *strides, int ndim,
                          tn_dtype dtype, tn_dtype via, tn_dtype compute)
{
    int k = it->operands;
    if (!tni_iter_operand(it, data, sizes, strides, ndim, dtype, compute))
        return false;
    if (via == dtype || via == compute)
        return true;
    it->converts = true;
    it->convert[k] = tni_converter_of(k == 0 ? compute : dtype, via);
    it->again[k] = tni_converter_of(via, k == 0 ? dtype : compute);
    it->between[k] = (uint8_t)tni_itemsize(via);
    return it->convert[k] && it->again[k];
}

/* Whether dim `outer` continues dim `inner` in every operand. */
static bool continues(const tni_iter *it, int inner, int outer)
{
    for (int k = 0; k < it->operands; k++)
        if (it->strides[k][outer] != it->strides[k][inner] * it->sizes[inner])
            return false;
    return true;
}

void tni_iter_prepare(tni_iter *it)
{
    const int64_t *strides[TNI_MAX_OPERANDS];
    int perm[TN_MAX_NDIM], kept = 0;
    int64_t old_sizes[TN_MAX_NDIM], old_strides[TNI_MAX_OPERANDS][TN_MAX_NDIM];
    for (int k = 0; k < it->operands; k++) {
        strides[k] = it->strides[k];
        memcpy(old_strides[k], it->strides[k], (size_t)it->ndim * sizeof(int64_t));
    }
    memcpy(old_sizes, it->sizes, (size_t)it->ndim * sizeof(int64_t));
    tni_dim_order(it->sizes, it->ndim, strides, it->operands, perm);
    for (int i = 0; i < it->ndim; i++) {
        int d = perm[i];
        if (old_sizes[d] == 1)
            continue;
        it->sizes[kept] = old_sizes[d];
        for (int k = 0; k < it->operands; k++)
            it->strides[k][kept] = old_strides[k][d];
        if (kept > 0 && continues(it, kept - 1, kept))
            it->sizes[kept - 1] *= it->sizes[kept];
        else
            kept++;
    }
    if (kept == 0) {
        it->sizes[0] = 1;
        for (int k = 0; k < it->operands; k++)
            it->strides[k][0] = it->compute[k] == it->dtype[k] ? tni_itemsize(it->dtype[k]) : 0;
        kept = 1;
    }
    it->ndim = kept;
}

typedef struct work {
    const tni_iter *it;
    tni_loop loop;
    const void *context;
    int64_t piece; /* elements in a chunk */
    bool stream;
} work;

/* n elements from memory to the loop's dtype (operand 0: back), in one step or two. */
static void convert_block(const tni_iter *it, int k, char *to, int64_t to_stride, const char *from, int64_t from_stride,
                          int64_t n)
{
    _Alignas(64) char middle[TNI_BLOCK * 16];
    if (!it->again[k]) {
        it->convert[k](to, to_stride, from, from_stride, n);
        return;
    }
    it->convert[k](middle, it->between[k], from, from_stride, n);
    it->again[k](to, to_stride, middle, it->between[k], n);
}

/* One row in which some operand is converted: block by block through the stack. */
static void run_converted(const work *w, tni_row *row)
{
    const tni_iter *it = w->it;
    _Alignas(64) char blocks[TNI_MAX_OPERANDS][TNI_BLOCK * 16];
    tni_row part = {.context = w->context, .stream = false};
    for (int64_t done = 0; done < row->n; done += TNI_BLOCK) {
        part.n = row->n - done < TNI_BLOCK ? row->n - done : TNI_BLOCK;
        for (int k = 0; k < it->operands; k++) {
            char *here = row->data[k] + done * row->strides[k];
            int64_t itemsize = tni_itemsize(it->compute[k]);
            part.data[k] = it->convert[k] ? blocks[k] : here;
            part.strides[k] = it->convert[k] ? itemsize : row->strides[k];
            if (it->convert[k] && k > 0) {
                bool repeated = row->strides[k] == 0;
                convert_block(it, k, blocks[k], itemsize, here, row->strides[k], repeated ? 1 : part.n);
                part.strides[k] = repeated ? 0 : itemsize;
            }
        }
        w->loop(&part);
        if (it->convert[0])
            convert_block(it, 0, row->data[0] + done * row->strides[0], row->strides[0], blocks[0],
                          tni_itemsize(it->compute[0]), part.n);
    }
}

/* Elements begin .. end-1 in the iterator's order, as rows along dim 0. */
static void run_range(const work *w, int64_t begin, int64_t end)
{
    const tni_iter *it = w->it;
    int64_t index[TN_MAX_NDIM];
    tni_row row = {.context = w->context, .stream = w->stream};
    int64_t rest = begin;
    for (int d = 0; d < it->ndim; d++) {
        index[d] = rest % it->sizes[d];
        rest /= it->sizes[d];
    }
    for (int k = 0; k < it->operands; k++) {
        row.strides[k] = it->strides[k][0];
        row.data[k] = it->data[k];
        for (int d = 0; d < it->ndim; d++)
            row.data[k] += index[d] * it->strides[k][d];
    }
    while (begin < end) {
        row.n = it->sizes[0] - index[0];
        if (row.n > end - begin)
            row.n = end - begin;
        if (it->converts)
            run_converted(w, &row);
        else
            w->loop(&row);
        begin += row.n;
        for (int k = 0; k < it->operands; k++)
            row.data[k] -= index[0] * it->strides[k][0];
        index[0] = 0;
        for (int d = 1; d < it->ndim; d++) {
            for (int k = 0; k < it->operands; k++)
                row.data[k] += it->strides[k][d];
            if (++index[d] < it->sizes[d])
                break;
            for (int k = 0; k < it->operands; k++)
                row.data[k] -= it->sizes[d] * it->strides[k][d];
            index[d] = 0;
        }
    }
}

static void run_piece(void *context, int64_t chunk)
{
    const work *w = context;
    int64_t begin = chunk * w->piece, end = begin + w->piece;
    run_range(w, begin, end < w->it->numel ? end : w->it->numel);
}

void tni_iter_run(tni_iter *it, tni_loop loop, const void *context)
{
    if (it->numel == 0)
        return;
    tni_iter_prepare(it);
    int64_t itemsize = tni_itemsize(it->dtype[0]);
    work w = {.it = it, .loop = loop, .context = context, .piece = it->numel};
    w.stream = !it->converts && it->strides[0][0] == itemsize && it->numel * itemsize >= TNI_STREAM_BYTES;
    if (it->numel < 2 * TNI_GRAIN || tni_num_threads() == 1) {
        run_range(&w, 0, it->numel);
        return;
    }
    /* at most 64 pieces of whole rows where rows are short, of whole vectors where they are long */
    int64_t pieces = it->numel / TNI_GRAIN < 64 ? it->numel / TNI_GRAIN : 64;
    int64_t unit = it->sizes[0] < TNI_GRAIN / 4 ? it->sizes[0] : 64;
    w.piece = (it->numel / pieces + unit - 1) / unit * unit;
    tni_parallel_for((it->numel + w.piece - 1) / w.piece, run_piece, &w);
}
