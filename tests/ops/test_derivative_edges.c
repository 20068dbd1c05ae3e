/* Gradients where slopes jump: ties, zeros of both signs, infinities, NaN; against what PyTorch gives
 * (tests/data/derivative_edges_torch_2.15.txt). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { MOST = 64 };

/* The same number, or NaN as well, or close. */
static bool same(double a, double b)
{
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return (isnan(a) && isnan(b)) || a == b;
    return fabs(a - b) <= 1e-14 * fabs(b) + 1e-15; /* 1 - y of a y near 1 is as good as y */
}

static void check_line(const char *name, int operands, int n, char *numbers)
{
    double values[2][MOST];
    tn_tensor *leaves[2];
    tn_value arguments[2];
    tn_scope scope = tn_scope_begin();
    for (int k = 0; k < operands; k++) {
        for (int i = 0; i < n; i++)
            values[k][i] = strtod(numbers, &numbers);
        leaves[k] = tn_from_array(values[k], (int64_t[]){n}, 1, TN_FLOAT64);
        tn_requires_grad_(leaves[k], true);
        arguments[k] = (tn_value){.kind = TN_VALUE_TENSOR, .as.tensor = leaves[k]};
    }
    tn_tensor *y = tn_sum(tn_call(name, arguments, operands), NULL, 0, false, TN_DTYPE_NONE);
    tn_list *grads = tn_grad(&y, NULL, 1, leaves, operands, NULL);
    if (!grads)
        fail_msg("%s: %s", name, tn_error_message());
    for (int k = 0; k < operands; k++) {
        const double *got = tn_data_f64(tn_contiguous(tn_list_get(grads, k)));
        for (int i = 0; i < n; i++) {
            double wanted = strtod(numbers, &numbers);
            if (!same(got[i], wanted))
                fail_msg("%s at (%g, %g), operand %d: %.17g, PyTorch gives %.17g", name, values[0][i],
                         operands > 1 ? values[1][i] : 0, k, got[i], wanted);
        }
    }
    tn_scope_end(scope);
}

static void recorded(void **state)
{
    static char line[1 << 16];
    int lines = 0;
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/derivative_edges_torch_2.15.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char name[40];
        int operands, n, at;
        if (line[0] == '#' || sscanf(line, "%39s %d %d%n", name, &operands, &n, &at) != 3)
            continue;
        assert_true(operands <= 2 && n <= MOST);
        check_line(name, operands, n, line + at);
        lines++;
    }
    fclose(file);
    assert_true(lines > 30);
}

TEST_MAIN(test(recorded))
