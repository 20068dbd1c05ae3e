/* equal, allclose and assert_close against PyTorch's answers and report texts. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

typedef struct side {
    tn_dtype dtype;
    int ndim;
    int64_t sizes[3];
    double values[8];
} side;

typedef struct recorded {
    side actual, expected;
    tn_assert_close_options options;
    int equal, allclose; /* with the options' tolerances or torch's defaults; -1: torch raises */
    const char *report;  /* "": close */
} recorded;

/* Recorded from PyTorch 2.15.0: torch.equal, torch.allclose, torch.testing.assert_close. */
static const recorded cases[] = {
    {{TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}}, {TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}}, {0}, 1, 1, ""},
    {{TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_FLOAT32, 1, {3}, {1.0, 2.5, 3.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 3 (33.3%)\n"
     "Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.20000000298023224 at index (1,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 2, {2, 2}, {1.0, 2.0, 3.0, 4.0}},
     {TN_FLOAT32, 2, {2, 2}, {1.0, 2.5, 3.0, 5.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 2 / 4 (50.0%)\n"
     "Greatest absolute difference: 1.0 at index (1, 1) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.20000000298023224 at index (0, 1) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 0, {0}, {1.0}},
     {TN_FLOAT32, 0, {0}, {1.5}},
     {0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected 1.5 but got 1.0.\n"
     "Absolute difference: 0.5 (up to 1e-05 allowed)\n"
     "Relative difference: 0.3333333333333333 (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_FLOAT32, 1, {2}, {1.0, 2.0}},
     {0},
     0,
     -1,
     "The values for attribute 'shape' do not match: torch.Size([3]) != torch.Size([2])."},
    {{TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_FLOAT32, 2, {1, 3}, {1.0, 2.0, 3.0}},
     {0},
     0,
     1,
     "The values for attribute 'shape' do not match: torch.Size([3]) != torch.Size([1, 3])."},
    {{TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_FLOAT64, 1, {3}, {1.0, 2.0, 3.0}},
     {0},
     1,
     -1,
     "The values for attribute 'dtype' do not match: torch.float32 != torch.float64."},
    {{TN_FLOAT32, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_FLOAT64, 1, {3}, {1.0, 2.0, 3.1}},
     {.ignore_dtype = true},
     0,
     -1,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 3 (33.3%)\n"
     "Greatest absolute difference: 0.10000000000000009 at index (2,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.03225806451612906 at index (2,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT64, 1, {3}, {1.0, 2.0, 3.0}}, {TN_FLOAT64, 1, {3}, {1.0, 2.0, 3.0000001}}, {0}, 0, 1, ""},
    {{TN_FLOAT64, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_FLOAT64, 1, {3}, {1.0, 2.0, 3.000001}},
     {0},
     0,
     1,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 3 (33.3%)\n"
     "Greatest absolute difference: 1.000000000139778e-06 at index (2,) (up to 1e-07 allowed)\n"
     "Greatest relative difference: 3.333332222688519e-07 at index (2,) (up to 1e-07 allowed)"},
    {{TN_FLOAT32, 1, {2}, {1.0, (double)NAN}},
     {TN_FLOAT32, 1, {2}, {1.0, (double)NAN}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: nan at index (1,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: nan at index (1,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {2}, {1.0, (double)NAN}}, {TN_FLOAT32, 1, {2}, {1.0, (double)NAN}}, {.equal_nan = true}, 0, 1, ""},
    {{TN_FLOAT32, 1, {3}, {1.0, (double)NAN, 5.0}},
     {TN_FLOAT32, 1, {3}, {1.0, 2.0, 6.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 2 / 3 (66.7%)\n"
     "Greatest absolute difference: nan at index (1,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: nan at index (1,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {2}, {(double)INFINITY, 1.0}}, {TN_FLOAT32, 1, {2}, {(double)INFINITY, 1.0}}, {0}, 1, 1, ""},
    {{TN_FLOAT32, 1, {2}, {(double)INFINITY, 1.0}},
     {TN_FLOAT32, 1, {2}, {-(double)INFINITY, 1.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: inf at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: nan at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {2}, {(double)INFINITY, 2.0}},
     {TN_FLOAT32, 1, {2}, {3.0, 1.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 2 / 2 (100.0%)\n"
     "Greatest absolute difference: inf at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: inf at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {2}, {3.0, 2.0}},
     {TN_FLOAT32, 1, {2}, {(double)INFINITY, 1.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 2 / 2 (100.0%)\n"
     "Greatest absolute difference: inf at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: nan at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_INT64, 1, {3}, {1.0, 2.0, 3.0}},
     {TN_INT64, 1, {3}, {1.0, 2.0, 4.0}},
     {0},
     0,
     0,
     "Tensor-likes are not equal!\n"
     "\n"
     "Mismatched elements: 1 / 3 (33.3%)\n"
     "Greatest absolute difference: 1 at index (2,)\n"
     "Greatest relative difference: 0.25 at index (2,)"},
    {{TN_INT64, 1, {3}, {1.0, 2.0, 300.0}},
     {TN_INT64, 1, {3}, {1.0, 2.0, 303.0}},
     {.tolerances_given = true, .rtol = 0.02, .atol = 0.0},
     0,
     1,
     ""},
    {{TN_INT64, 1, {3}, {1.0, 2.0, 300.0}},
     {TN_INT64, 1, {3}, {1.0, 2.0, 310.0}},
     {.tolerances_given = true, .rtol = 0.02, .atol = 0.0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 3 (33.3%)\n"
     "Greatest absolute difference: 10 at index (2,) (up to 0.0 allowed)\n"
     "Greatest relative difference: 0.032258063554763794 at index (2,) (up to 0.02 allowed)"},
    {{TN_BOOL, 1, {3}, {1.0, 0.0, 1.0}},
     {TN_BOOL, 1, {3}, {1.0, 1.0, 1.0}},
     {0},
     0,
     0,
     "Tensor-likes are not equal!\n"
     "\n"
     "Mismatched elements: 1 / 3 (33.3%)\n"
     "Greatest absolute difference: 1 at index (1,)\n"
     "Greatest relative difference: 1.0 at index (1,)"},
    {{TN_BOOL, 1, {3}, {1.0, 0.0, 1.0}}, {TN_BOOL, 1, {3}, {1.0, 0.0, 1.0}}, {0}, 1, 1, ""},
    {{TN_FLOAT32, 1, {2}, {0.0, 1.0}}, {TN_FLOAT32, 1, {2}, {1e-06, 1.0}}, {0}, 0, 0, ""},
    {{TN_FLOAT32, 1, {2}, {1.0, 2.0}},
     {TN_FLOAT32, 1, {2}, {0.0, 2.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: inf at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {2}, {1.0, 2.0}},
     {TN_FLOAT32, 1, {2}, {1.1, 2.0}},
     {.tolerances_given = true, .rtol = 0.0, .atol = 0.05},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: 0.10000002384185791 at index (0,) (up to 0.05 allowed)\n"
     "Greatest relative difference: 0.09090910851955414 at index (0,) (up to 0.0 allowed)"},
    {{TN_FLOAT32, 1, {2}, {1.0, 2.0}},
     {TN_FLOAT32, 1, {2}, {1.1, 2.0}},
     {.tolerances_given = true, .rtol = 0.2, .atol = 0.0},
     0,
     1,
     ""},
    {{TN_FLOAT32, 1, {0}, {0}}, {TN_FLOAT32, 1, {0}, {0}}, {0}, 1, 1, ""},
    {{TN_FLOAT32, 3, {1, 2, 3}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}},
     {TN_FLOAT32, 3, {1, 2, 3}, {1.0, 2.0, 3.0, 4.0, 5.0, 7.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 6 (16.7%)\n"
     "Greatest absolute difference: 1.0 at index (0, 1, 2) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.1428571492433548 at index (0, 1, 2) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {7}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}},
     {TN_FLOAT32, 1, {7}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 7 / 7 (100.0%)\n"
     "Greatest absolute difference: 7.0 at index (6,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: inf at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_INT64, 0, {0}, {5.0}},
     {TN_INT64, 0, {0}, {6.0}},
     {0},
     0,
     0,
     "Scalars are not equal!\n"
     "\n"
     "Expected 6 but got 5.\n"
     "Absolute difference: 1\n"
     "Relative difference: 0.16666666666666666"},
    {{TN_INT64, 1, {1}, {5.0}},
     {TN_FLOAT32, 1, {1}, {6.0}},
     {.ignore_dtype = true},
     0,
     -1,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.1666666716337204 at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_INT64, 1, {1}, {5.0}},
     {TN_FLOAT32, 1, {1}, {6.0}},
     {0},
     0,
     -1,
     "The values for attribute 'dtype' do not match: torch.int64 != torch.float32."},
    {{TN_FLOAT32, 1, {1}, {1e+30}},
     {TN_FLOAT32, 1, {1}, {-1e+30}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 2.0000000300949324e+30 at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 2.0 at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {1}, {3e+38}},
     {TN_FLOAT32, 1, {1}, {-3e+38}},
     {0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: inf at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: inf at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {1}, {1.0000013}},
     {TN_FLOAT32, 1, {1}, {1.0}},
     {.tolerances_given = true, .rtol = 1.3e-06, .atol = 0.0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 1.3113021850585938e-06 at index (0,) (up to 0.0 allowed)\n"
     "Greatest relative difference: 1.3113021850585938e-06 at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {1}, {1.0000014}},
     {TN_FLOAT32, 1, {1}, {1.0}},
     {.tolerances_given = true, .rtol = 1.3e-06, .atol = 0.0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 1.430511474609375e-06 at index (0,) (up to 0.0 allowed)\n"
     "Greatest relative difference: 1.430511474609375e-06 at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 1, {1}, {1.1}},
     {TN_FLOAT32, 1, {1}, {1.0}},
     {.tolerances_given = true, .rtol = 0.1, .atol = 0.0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 0.10000002384185791 at index (0,) (up to 0.0 allowed)\n"
     "Greatest relative difference: 0.10000002384185791 at index (0,) (up to 0.1 allowed)"},
    {{TN_FLOAT64, 1, {1}, {1.1}},
     {TN_FLOAT64, 1, {1}, {1.0}},
     {.tolerances_given = true, .rtol = 0.1, .atol = 0.0},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 0.10000000000000009 at index (0,) (up to 0.0 allowed)\n"
     "Greatest relative difference: 0.10000000000000009 at index (0,) (up to 0.1 allowed)"},
    {{TN_FLOAT64, 1, {1}, {0.3}},
     {TN_FLOAT64, 1, {1}, {0.1}},
     {.tolerances_given = true, .rtol = 0.0, .atol = 0.2},
     0,
     1,
     ""},
    {{TN_INT64, 1, {2}, {0x1p63, -0x1p62}},
     {TN_INT64, 1, {2}, {0x1p63, 4096.0}},
     {0},
     0,
     0,
     "Tensor-likes are not equal!\n"
     "\n"
     "Mismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: 4611686018427392000 at index (1,)\n"
     "Greatest relative difference: 1125899906842624.0 at index (1,)"},
    {{TN_FLOAT64, 1, {2}, {(double)NAN, (double)NAN}},
     {TN_FLOAT64, 1, {2}, {1.0, (double)NAN}},
     {.equal_nan = true},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: nan at index (0,) (up to 1e-07 allowed)\n"
     "Greatest relative difference: nan at index (0,) (up to 1e-07 allowed)"},
    {{TN_FLOAT32, 1, {1}, {1e-45}},
     {TN_FLOAT32, 1, {1}, {0.0}},
     {.tolerances_given = true, .rtol = 0.0, .atol = 0.0},
     0,
     0,
     "Tensor-likes are not equal!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 1.401298464324817e-45 at index (0,)\n"
     "Greatest relative difference: inf at index (0,)"},
    {{TN_FLOAT32, 2, {2, 2}, {1.0, 2.0, 3.0, 4.0}},
     {TN_FLOAT32, 2, {2, 2}, {1.0, 2.0, 3.0, 4.0}},
     {.check_stride = true},
     1,
     1,
     "The values for attribute 'stride()' do not match: (2, 1) != (1, 2)."},
    {{TN_FLOAT32, 1, {3}, {1.5, 2.0, 3.0}},
     {TN_FLOAT32, 1, {3}, {1.0, 2.0, 2.5}},
     {.tolerances_given = true, .rtol = 1e-05, .atol = 1e-08},
     0,
     0,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 2 / 3 (66.7%)\n"
     "Greatest absolute difference: 0.5 at index (0,) (up to 1e-08 allowed)\n"
     "Greatest relative difference: 0.5 at index (0,) (up to 1e-05 allowed)"},
    {{TN_BOOL, 1, {1}, {1.0}},
     {TN_FLOAT32, 1, {1}, {2.0}},
     {.ignore_dtype = true},
     0,
     -1,
     "Tensor-likes are not close!\n"
     "\n"
     "Mismatched elements: 1 / 1 (100.0%)\n"
     "Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: 0.5 at index (0,) (up to 1.3e-06 allowed)"},
    {{TN_BOOL, 0, {0}, {1.0}},
     {TN_BOOL, 0, {0}, {0.0}},
     {0},
     0,
     0,
     "Scalars are not equal!\n"
     "\n"
     "Expected False but got True.\n"
     "Absolute difference: 1\n"
     "Relative difference: inf"},
    {{TN_BOOL, 0, {0}, {1.0}},
     {TN_FLOAT32, 0, {0}, {2.5}},
     {.ignore_dtype = true},
     0,
     -1,
     "Scalars are not close!\n"
     "\n"
     "Expected 2.5 but got 1.0.\n"
     "Absolute difference: 1.5 (up to 1e-05 allowed)\n"
     "Relative difference: 0.6 (up to 1.3e-06 allowed)"},
    {{TN_INT64, 0, {0}, {-5.0}},
     {TN_INT64, 0, {0}, {0.0}},
     {0},
     0,
     0,
     "Scalars are not equal!\n"
     "\n"
     "Expected 0 but got -5.\n"
     "Absolute difference: 5\n"
     "Relative difference: inf"},
    {{TN_INT64, 0, {0}, {-0x1p63}},
     {TN_INT64, 0, {0}, {0x1p63}},
     {0},
     0,
     0,
     "Scalars are not equal!\n"
     "\n"
     "Expected 9223372036854775807 but got -9223372036854775808.\n"
     "Absolute difference: 18446744073709551615\n"
     "Relative difference: 2.0"},
    {{TN_INT64, 0, {0}, {5.0}},
     {TN_INT64, 0, {0}, {9.0}},
     {.tolerances_given = true, .rtol = 0.01, .atol = 0.0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected 9 but got 5.\n"
     "Absolute difference: 4 (up to 0.0 allowed)\n"
     "Relative difference: 0.4444444444444444 (up to 0.01 allowed)"},
    {{TN_FLOAT32, 0, {0}, {(double)NAN}},
     {TN_FLOAT32, 0, {0}, {1.0}},
     {0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected 1.0 but got nan.\n"
     "Absolute difference: nan (up to 1e-05 allowed)\n"
     "Relative difference: nan (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 0, {0}, {(double)INFINITY}},
     {TN_FLOAT32, 0, {0}, {-(double)INFINITY}},
     {0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected -inf but got inf.\n"
     "Absolute difference: inf (up to 1e-05 allowed)\n"
     "Relative difference: nan (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 0, {0}, {1e+38}},
     {TN_FLOAT32, 0, {0}, {-3e+38}},
     {0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected -3.0000000054977558e+38 but got 9.999999680285692e+37.\n"
     "Absolute difference: 3.999999973526325e+38 (up to 1e-05 allowed)\n"
     "Relative difference: 1.333333322065328 (up to 1.3e-06 allowed)"},
    {{TN_FLOAT32, 0, {0}, {1e-05}},
     {TN_FLOAT32, 0, {0}, {123456789012.0}},
     {0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected 123456790528.0 but got 9.999999747378752e-06.\n"
     "Absolute difference: 123456790527.99998 (up to 1e-05 allowed)\n"
     "Relative difference: 0.9999999999999999 (up to 1.3e-06 allowed)"},
    {{TN_FLOAT64, 0, {0}, {0.1}},
     {TN_FLOAT64, 0, {0}, {0.2}},
     {0},
     0,
     0,
     "Scalars are not close!\n"
     "\n"
     "Expected 0.2 but got 0.1.\n"
     "Absolute difference: 0.1 (up to 1e-07 allowed)\n"
     "Relative difference: 0.5 (up to 1e-07 allowed)"},
};

static tn_tensor *make(const side *s)
{
    tn_tensor *x = tn_empty(s->sizes, s->ndim, TN_FLOAT64);
    double *data = tn_data_f64_mut(x);
    for (int64_t i = 0; i < tn_numel(x); i++)
        data[i] = s->values[i];
    if (s->dtype != TN_INT64)
        return tn_to(x, s->dtype);
    tn_tensor *whole = tn_to(x, TN_INT64);
    for (int64_t i = 0; i < tn_numel(x); i++)
        if (s->values[i] >= 0x1p63)
            tn_data_i64_mut(whole)[i] = INT64_MAX;
    return whole;
}

static void against_torch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const recorded *c = &cases[i];
        tn_scope scope = tn_scope_begin();
        tn_tensor *actual = make(&c->actual), *expected = make(&c->expected);
        if (c->options.check_stride)
            expected = tn_t(tn_contiguous(tn_t(expected)));
        int64_t blocks = tn_get_memory_stats().live_blocks;
        tn_status status = tn_assert_close(actual, expected, &c->options);
        const char *text = tn_error_message();
        if (strcmp(text, c->report) != 0)
            fail_msg("case %d: the report is\n%s\nneeded\n%s", (int)i, text, c->report);
        assert_int_equal(status, c->report[0] ? TN_ERROR_NOT_CLOSE : TN_OK);
        assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
        tn_error_clear();
        bool equal = tn_equal(actual, expected);
        if (tn_error_code() != TN_OK || equal != (c->equal == 1))
            fail_msg("case %d: equal is %d: %s", (int)i, equal, tn_error_message());
        bool given = c->options.tolerances_given;
        bool close = tn_allclose(actual, expected, given ? c->options.rtol : 1e-5, given ? c->options.atol : 1e-8,
                                 c->options.equal_nan);
        if (close != (c->allclose == 1) || (tn_error_code() != TN_OK) != (c->allclose == -1))
            fail_msg("case %d: allclose is %d: %s", (int)i, close, tn_error_message());
        tn_error_clear();
        tn_scope_end(scope);
    }
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const tn_device meta = {TN_META, 0}, cpu = {TN_CPU, 0};
    tn_tensor *x = tn_ones(NULL, 0, TN_FLOAT32);
    assert_int_equal(tn_set_default_device(meta), TN_OK);
    tn_tensor *m = tn_ones(NULL, 0, TN_FLOAT32);
    assert_int_equal(tn_set_default_device(cpu), TN_OK);
    const struct {
        tn_tensor *a, *b;
        double rtol, atol;
        tn_status status;
    } bad[] = {{NULL, x, 0, 0, TN_ERROR_NULL},
               {x, NULL, 0, 0, TN_ERROR_NULL},
               {x, x, -1, 0, TN_ERROR_ARGUMENT},
               {x, x, 0, -1e-9, TN_ERROR_ARGUMENT},
               {x, x, (double)NAN, 0, TN_ERROR_ARGUMENT},
               {x, m, 0, 0, TN_ERROR_DEVICE}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(tn_allclose(bad[i].a, bad[i].b, bad[i].rtol, bad[i].atol, false));
        assert_int_equal(tn_error_code(), bad[i].status);
        tn_error_clear();
        const tn_assert_close_options options = {.tolerances_given = true, .rtol = bad[i].rtol, .atol = bad[i].atol};
        tn_status status = tn_assert_close(bad[i].a, bad[i].b, &options);
        assert_true(status == bad[i].status || (bad[i].b == m && status == TN_ERROR_NOT_CLOSE));
        tn_error_clear();
    }
    assert_false(tn_equal(x, m));
    assert_int_equal(tn_error_code(), TN_ERROR_DEVICE);
    assert_false(tn_equal(x, x)); /* an error is pending */
    tn_error_clear();
    assert_true(tn_equal(x, x));
    tn_tensor *nan = tn_full(NULL, 0, tn_float((double)NAN), TN_FLOAT64);
    assert_false(tn_equal(nan, nan));
    assert_int_equal(tn_assert_close(x, x, NULL), TN_OK);
    tn_scope_end(scope);
}

TEST_MAIN(test(against_torch), test(refusals))
