/* Methods that give several tensors, by what they take. */
#ifndef TENON_EXPLAIN_PIECES_H
#define TENON_EXPLAIN_PIECES_H

#include <tenon/tenon.h>

typedef struct explain_cut {
    tn_list *(*by_number)(tn_tensor *x, int64_t n, int dim);
    tn_list *(*by_list)(tn_tensor *x, const int64_t *list, int n, int dim); /* NULL: a number alone will do */
    tn_list *(*by_dim)(tn_tensor *x, int dim);                              /* takes neither, but the dim first */
} explain_cut;

extern const explain_cut cut_chunk, cut_split, cut_tensor_split, cut_hsplit, cut_vsplit, cut_dsplit, cut_unbind;

#endif
