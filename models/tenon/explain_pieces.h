/* Methods that give several tensors: how many pieces there are, and where along the dim one lies. */
#ifndef TENON_EXPLAIN_PIECES_H
#define TENON_EXPLAIN_PIECES_H

#include <stddef.h>
#include <stdint.h>

/* size   of the dim that is cut
 * list   n numbers, or NULL: the number n
 * index  of the piece whose start and length are given, 0 .. result-1; 0 may be asked for in any case
 * result how many pieces; -1: the numbers do not make up the dim */
typedef int64_t (*explain_pieces)(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start,
                                  int64_t *length);

int64_t pieces_chunk(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start, int64_t *length);
int64_t pieces_split(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start, int64_t *length);
int64_t pieces_tensor_split(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start,
                            int64_t *length);
int64_t pieces_unbind(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start, int64_t *length);

#endif
