/* Pieces of a dim, as PyTorch cuts them: split makes all but the last n long, chunk at most n equal ones, tensor_split
 * exactly n, the first ones longer by one. */
#include "explain_pieces.h"

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

int64_t pieces_split(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start, int64_t *length)
{
    if (!list) {
        if (n < 0 || (n == 0 && size > 0))
            return -1;
        *start = index * n;
        *length = n < size - *start ? n : size - *start;
        return size == 0 ? 1 : (size - 1) / n + 1;
    }
    int64_t sum = 0;
    *start = *length = 0;
    for (int64_t i = 0; i < n; i++) {
        if (list[i] < 0 || list[i] > size - sum)
            return -1;
        if (i == index) {
            *start = sum;
            *length = list[i];
        }
        sum += list[i];
    }
    return sum == size ? n : -1;
}

int64_t pieces_chunk(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start, int64_t *length)
{
    (void)list;
    if (n < 1)
        return -1;
    if (size == 0) {
        *start = *length = 0;
        return n;
    }
    return pieces_split(size, NULL, (size - 1) / n + 1, index, start, length);
}

int64_t pieces_tensor_split(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start,
                            int64_t *length)
{
    if (!list) {
        if (n < 1)
            return -1;
        int64_t each = size / n, longer = size % n;
        *start = index * each + (index < longer ? index : longer);
        *length = each + (index < longer);
        return n;
    }
    int64_t begin = index > 0 ? list[index - 1] : 0, end = index < n ? list[index] : size;
    begin = clamp(begin < 0 ? begin + size : begin, 0, size);
    end = clamp(end < 0 ? end + size : end, 0, size);
    *start = begin;
    *length = end > begin ? end - begin : 0;
    return n + 1;
}

int64_t pieces_unbind(int64_t size, const int64_t *list, int64_t n, int64_t index, int64_t *start, int64_t *length)
{
    (void)list;
    (void)n;
    *start = index;
    *length = 1;
    return size;
}
