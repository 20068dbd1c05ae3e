/* Causal self-attention as in nanoGPT, down to the line that needs strides understood:
 *
 *     y = y.transpose(1, 2).contiguous().view(B, T, C)
 *
 *     q, k, v [B, heads, T, D]      y = softmax(q k^T / sqrt(D), the future masked) v
 *
 * The heads are dim 1 while attention runs and must become neighbours of D again: transpose only swaps strides, so that
 * view has none to merge the two by, and contiguous copies in between. The result is compared with plain loops. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

enum { B = 2, T = 4, HEADS = 2, D = 3, C = HEADS * D, TEXT = 80 };

/* Numbers between -1 and 1 that every language can make again: ((a i + b) mod 13 - 6) / 6. */
static tn_tensor *pattern(const int64_t *size, int ndim, int64_t a, int64_t b)
{
    double row[C * C * 3];
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= size[d];
    for (int64_t i = 0; i < n; i++)
        row[i] = (double)((a * i + b) % 13 - 6) / 6;
    return tn_from_array(row, size, ndim, TN_FLOAT64);
}

static void show(const char *step, const tn_tensor *x)
{
    char shape[TEXT], stride[TEXT];
    tn_format_shape(shape, TEXT, tn_sizes(x), tn_ndim(x));
    tn_format_shape(stride, TEXT, tn_strides(x), tn_ndim(x));
    printf("%-36s %-13s %-15s %s\n", step, shape, stride, tn_is_contiguous(x) ? "yes" : "no");
}

/* softmax over the last dim:  exp(x - max) / sum exp(x - max) */
static tn_tensor *softmax(tn_tensor *x)
{
    tn_tensor *e = tn_exp(tn_sub(x, tn_amax(x, (int[]){-1}, 1, true)));
    return tn_div(e, tn_sum(e, (int[]){-1}, 1, true, TN_DTYPE_NONE));
}

/* 0 where position j is not after i, -inf where it is: [T, T]. */
static tn_tensor *future(void)
{
    double row[T][T];
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++)
            row[i][j] = j <= i ? 0 : -(double)INFINITY;
    return tn_from_array(row, (int64_t[]){T, T}, 2, TN_FLOAT64);
}

/* Part `which` (q, k, v) of [B, T, 3C] as [B, heads, T, D]. */
static tn_tensor *heads(tn_tensor *qkv, int which)
{
    tn_tensor *part = tn_narrow(qkv, 2, which * C, C);
    return tn_transpose(tn_view(part, (int64_t[]){B, T, HEADS, D}, 4), 1, 2);
}

static tn_tensor *attention(tn_tensor *x, tn_tensor *weight)
{
    const int64_t merged[] = {B, T, C};
    tn_tensor *qkv = tn_linear(x, weight, NULL);
    tn_tensor *q = heads(qkv, 0), *k = heads(qkv, 1), *v = heads(qkv, 2);
    show("q, k, v: view(B, T, H, D), transpose", q);
    tn_tensor *scores = tn_mul_scalar(tn_matmul(q, tn_transpose(k, -2, -1)), tn_float(1 / sqrt(D)));
    tn_tensor *y = tn_matmul(softmax(tn_add(scores, future())), v);
    show("y = softmax(q k^T / sqrt(D)) v", y);
    tn_tensor *turned = tn_transpose(y, 1, 2);
    show("y.transpose(1, 2)", turned);
    if (!tn_view(turned, merged, 3) && tn_error_code() == TN_ERROR_VIEW) {
        printf("  .view(B, T, C) here is refused: %s\n", tn_error_message());
        tn_error_clear();
    }
    tn_tensor *packed = tn_contiguous(turned);
    show("y.transpose(1, 2).contiguous()", packed);
    y = tn_view(packed, merged, 3);
    show("y.transpose(1, 2).contiguous().view", y);
    printf("  contiguous has copied: %s; view has not: %s\n", tn_is_same_storage(turned, packed) ? "no" : "yes",
           tn_is_same_storage(packed, y) ? "yes" : "no");
    return y;
}

/* Weights of the positions 0 .. i for the query q, and their mix of the values; rows are 3C apart. */
static void attend(const double *q, const double *k, const double *v, int i, double *out)
{
    double weight[T], sum = 0;
    for (int j = 0; j <= i; j++) {
        double score = 0;
        for (int d = 0; d < D; d++)
            score += q[d] * k[j * 3 * C + d];
        sum += weight[j] = exp(score / sqrt(D));
    }
    for (int d = 0; d < D; d++) {
        out[d] = 0;
        for (int j = 0; j <= i; j++)
            out[d] += weight[j] / sum * v[j * 3 * C + d];
    }
}

/* The same by plain loops over the rows of qkv. */
static tn_tensor *attention_by_loops(tn_tensor *x, tn_tensor *weight)
{
    double out[B * T * C];
    const double *qkv = tn_data_f64(tn_linear(x, weight, NULL));
    for (int b = 0; qkv && b < B; b++)
        for (int i = 0; i < T; i++)
            for (int h = 0; h < HEADS; h++) {
                const double *sequence = qkv + b * T * 3 * C + h * D;
                attend(sequence + i * 3 * C, sequence + C, sequence + 2 * C, i, out + (b * T + i) * C + h * D);
            }
    return qkv ? tn_from_array(out, (int64_t[]){B, T, C}, 3, TN_FLOAT64) : NULL;
}

int main(void)
{
    tn_scope scope = tn_scope_begin();
    printf("%-36s %-13s %-15s %s\n", "step", "shape", "stride", "contiguous");
    tn_tensor *x = pattern((int64_t[]){B, T, C}, 3, 5, 3), *weight = pattern((int64_t[]){3 * C, C}, 2, 7, 1);
    tn_tensor *y = attention(x, weight);
    tn_gap gap = {0};
    tn_measure_gap(y, attention_by_loops(x, weight), &gap);
    printf("against plain loops: largest difference %s 1e-15\n", gap.abs <= 1e-15 ? "at most" : "more than");
    printf("%s\n", tn_repr(tn_select(y, 0, 0)));
    if (tn_error_code() != TN_OK)
        fprintf(stderr, "attention: %s\n", tn_error_message());
    int failed = tn_error_code() != TN_OK;
    tn_scope_end(scope);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
