/* Strides of results on permuted, gappy and broadcast operands against PyTorch's record. */
#include <stdio.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "support/test.h"

static int read_list(const char *text, int64_t *numbers)
{
    int n = 0;
    if (text[0] == '-')
        return 0;
    for (const char *at = text; at; at = strchr(at, ',')) {
        at += *at == ',';
        numbers[n] = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            numbers[n] = numbers[n] * 10 + (*at - '0');
        n++;
        if (*at != ',')
            break;
    }
    return n;
}

static void against_torch(void **state)
{
    char line[512], op[16], part[6][64];
    int cases = 0, failures = 0;
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/strides_torch_2.15.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int64_t sizes[2][8], strides[2][8], out_sizes[8], out_strides[8];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%15s %63s %63s %63s %63s %63s %63s", op, part[0], part[1], part[2], part[3],
                                part[4], part[5]),
                         7);
        tn_scope scope = tn_scope_begin();
        tn_tensor *x[2];
        for (int k = 0; k < 2; k++) {
            int ndim = read_list(part[2 * k], sizes[k]);
            read_list(part[2 * k + 1], strides[k]);
            x[k] = tn_empty_strided(sizes[k], strides[k], ndim, TN_FLOAT32);
            if (tn_data_mut(x[k]))
                memset(tn_data_mut(x[k]), 0, tn_storage_nbytes(x[k]));
        }
        tn_value values[2];
        memset(values, 0, sizeof values);
        bool binary =
            strcmp(op, "add") == 0 || strcmp(op, "mul") == 0 || strcmp(op, "eq") == 0 || strcmp(op, "maximum") == 0;
        for (int k = 0; k < 2; k++) {
            values[k].kind = TN_VALUE_TENSOR;
            values[k].as.tensor = x[k];
        }
        if (strcmp(op, "to") == 0) {
            values[1].kind = TN_VALUE_DTYPE;
            values[1].as.dtype = TN_FLOAT64;
        }
        tn_tensor *y = tn_call(op, values, binary || values[1].kind == TN_VALUE_DTYPE ? 2 : 1);
        int ndim = read_list(part[4], out_sizes);
        read_list(part[5], out_strides);
        bool same = y && tn_ndim(y) == ndim;
        for (int d = 0; same && d < ndim; d++)
            same = tn_sizes(y)[d] == out_sizes[d] && tn_strides(y)[d] == out_strides[d];
        if (!same) {
            char got[160] = "nothing";
            if (y)
                tn_format_shape(got, sizeof got, tn_strides(y), tn_ndim(y));
            print_message("%s  has strides %s\n", line, got), failures++;
        }
        tn_scope_end(scope);
        cases++;
    }
    fclose(file);
    assert_int_equal(failures, 0);
    assert_true(cases >= 300);
}

TEST_MAIN(test(against_torch))
