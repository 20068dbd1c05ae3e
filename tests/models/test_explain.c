/* tenon explain from outside: what it says of the lesson's views, and how it refuses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

enum { TEXT = 32768 };

static char said[TEXT];

/* Runs `tenon explain WORDS` with stderr after stdout in `said`; gives its exit code. */
static int run(const char *words)
{
    char command[1024];
    snprintf(command, sizeof command, "export NO_COLOR= TERM=xterm; exec 2>&1; '%s' explain %s", TENON_COMMAND, words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    said[fread(said, 1, TEXT - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char *words, int code, const char *const *parts)
{
    int got = run(words);
    if (got != code)
        fail_msg("explain %s: exit code %d, needed %d\n%s", words, got, code, said);
    for (; *parts; parts++)
        if (!strstr(said, *parts))
            fail_msg("explain %s: no \"%s\" in\n%s", words, *parts, said);
}

#define EXPECT(words, code, ...) expect(words, code, (const char *const[]){__VA_ARGS__, NULL})

/* The five views of figure 3, and the two parts of figure 4. */
static void test_the_lessons_views(void **unused)
{
    (void)unused;
    EXPECT("'arange(12).view(3, 4)'", 0, "shape        (3, 4), 12 elements", "stride       (4, 1)", "contiguous   yes",
           "view(-1)     works: shape (12,), stride (1,)", "12 of 12 cells are read");
    EXPECT("'arange(12).view(3, 4).T'", 0, "stride       (1, 4)",
           "fails: stride 1 of dim 0 should be 3 x 4 = 12 (size x stride of dim 1)", "0,  4,  8,\n",
           "jumps        +4, +4, -7, +4, +4, -7", "view of the memory that arange(12) made",
           "the last, [3, 2], is cell 0 + 1*3 + 4*2 = 11, which holds 11");
    EXPECT("'arange(12).view(3, 4)[:, 1::2]'", 0, "offset       1", "stride       (4, 2)",
           "element [i, j] is cell 1 + 4 i + 2 j", "is cell 1 + 4*2 + 2*1 = 11", "6 of 12 cells are read",
           "cell           0  [1]  2  [3]  4  [5]  6  [7]  8  [9] 10 [11]",
           "read as            1       2       3       4       5       6");
    EXPECT("'arange(12).view(3, 4).unsqueeze(0)'", 0, "shape        (1, 3, 4)", "stride       (12, 4, 1)",
           "contiguous   yes");
    EXPECT("'arange(12).view(3, 4)[:, :1].expand(3, 4)'", 0, "stride       (4, 0)", "3 of 12 cells are read, some more",
           "times          4", "fails: stride 4 of dim 0 should be 4 x 0 = 0");
    EXPECT("'x = arange(12).view(3, 4); x.T.reshape(12)'", 0, "made by .reshape(12): a copy", "copy\n",
           "holds          0   4   8   1");
    EXPECT("'arange(24).view(2, 3, 4)[:, 2]'", 0, "(2, 4)", "(12, 1)", "offset       8",
           "stride 12 of dim 0 should be");
}

static void test_odd_tensors(void **unused)
{
    (void)unused;
    EXPECT("'tensor(3.5)'", 0, "shape        ()", "element [] is cell 0", "float32");
    EXPECT("'ones(2, 2, dtype=torch.complex64).conj().T'", 0, "complex64", "bits         conj", "1.0-0.0j");
    EXPECT("'torch.view_as_real(ones(2, 2, dtype=torch.cfloat))[..., 1]'", 0, "float32", "(4, 2)", "offset       1");
    EXPECT("'arange(24).view(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)'", 0, "in channels_last it is");
    EXPECT("'zeros(0, 3)'", 0, "no cell is read", "works");
    EXPECT("'tensor([[True, False]]).T'", 0, "bool", "holds", "False");
    EXPECT("'arange(1000).view(10, 100)[5, 50:]'", 0, "offset       550", "... 548 cells before", "... 398 cells after",
           "... ");
    EXPECT("'zeros(1).expand(1000000, 1000000)'", 0, "1000000000000 elements", "the first 1048576 reads");
    EXPECT("'arange(10).tensor_split(3)[0]'", 0, "(4,)");
    EXPECT("'arange(10).chunk(3)[-1]'", 0, "(2,)", "offset       8");
    EXPECT("'arange(10).split([2, 3, 5])[1]'", 0, "(3,)", "offset       2");
    EXPECT("'torch.transpose(torch.zeros(2, 3, dtype=torch.float64), 0, dim1=1)'", 0, "float64", "stride       (1, 3)");
}

/* Numbers and indices in each way that Python has of writing them. */
static void test_spellings(void **unused)
{
    (void)unused;
    EXPECT("'tensor([1.5, 2j])'", 0, "complex64", "1.5+0.0j  0.0+2.0j");
    EXPECT("'tensor([1 - 2e-3j, -.5j, 3, True])'", 0, "complex64", "1.0-0.002j", "-0.0-0.5j", "3.0+0.0j");
    EXPECT("'tensor(nan)'", 0, "float32", "holds         nan");
    EXPECT("'tensor(((inf, -inf), [torch.inf, (+1.)]))'", 0, "(2, 2)", "inf  -inf   inf   1.0");
    EXPECT("'full(size=(2,), fill_value=-inf)'", 0, "-inf");
    EXPECT("'tensor(-9223372036854775808)'", 0, "holds         -9223372036854775808");
    EXPECT("'zeros(())'", 0, "shape        (), 1 element\n");
    EXPECT("'zeros((2), 3)'", 0, "(2, 3)");
    EXPECT("'arange(24).view(2, 3, 4)[..., None, ...]'", 0, "(2, 3, 4, 1)");
    EXPECT("'arange(12)[-9223372036854775808:99999999999999999999]'", 0, "(12,)");
    EXPECT("'arange(12).view(3, 4)[(None, +1, 1:None:2)]'", 0, "(1, 2)", "offset       5");
    EXPECT("'arange(end=7, start=2).short().reshape_as(zeros(5, 1))'", 0, "int16", "(5, 1)");
    EXPECT("'zeros(2, 3).to(zeros(1).double(), True, copy=True).cpu()'", 0, "float64", "the same tensor");
    EXPECT("'tensor((1, 2), dtype=None,)'", 0, "int64");
    EXPECT("'zeros(2, dtype=float)'", 0, "float64");
    EXPECT("'zeros(2, dtype=torch.float)'", 0, "float32");
    EXPECT("'ñ = arange(6); ñ.view(2, 3)'", 0, "(2, 3)", "a view of the memory that arange(6) made");
}

/* 2: it cannot be read; 1: the library refuses. */
static void test_refusals(void **unused)
{
    (void)unused;
    EXPECT("'arange(12).view(3, 4).T.view(12)'", 1, "column 24: view: ", "stride 1 of dim 0 should be 3 x 4 = 12",
           "\n  arange(12).view(3, 4).T.view(12)\n                         ^~~~~~~~~\n");
    EXPECT("'arange(12).transpse(0, 1)'", 2, "column 12: ", "did you mean 'transpose'?", "             ^~~~~~~~\n");
    EXPECT("'arange(12).view(3, 4'", 2, "column 21: found the end, needed ',' or ')'");
    EXPECT("'arnge(12)'", 2, "column 1: ", "did you mean 'arange'?");
    EXPECT("'arange(12)[::-1]'", 2, "column 14: found step -1, needed 1 or more");
    EXPECT("'arange(12).view(3, 4)[1, 2, 3]'", 2, "column 29: ");
    EXPECT("'arange(12)[12]'", 1, "column 12: index 12 in dim 0 of size 12");
    for (const char *const *none = (const char *const[]){"zeros", "ones", "empty", "zeros(1).view", "zeros(1).reshape",
                                                         "zeros(1).expand", "zeros(()).permute", NULL};
         *none; none++) {
        char words[40];
        snprintf(words, sizeof words, "'%s()'", *none);
        EXPECT(words, 2, ": found no ");
    }
    EXPECT("'arange(12).view(3, 4).T.view(-1)'", 1, "column 24: view: ", "; use reshape to copy");
    EXPECT("'zeros(3).view(torch.float64)'", 1, "column 9: view: size 3");
    EXPECT("'arange(6).split([1, 2])[0]'", 1, "column 10: split: ");
    EXPECT("'arange(6).chunk(2)[2]'", 1, "column 20: index 2 of a list of 2");
    EXPECT("'tensor([1], dtype=torch.qint8).double()'", 1, "column 1: tensor: ");
    EXPECT("'tensor([300], dtype=torch.uint8)'", 1, "tensor: uint8 does not hold the value 300");
    EXPECT("'tensor([1, 2j], dtype=torch.float32)'", 1, "needed a complex dtype");
    EXPECT("'tensor([1-2, 3j])'", 2, "column 10: found '-', needed ',' or ']'");
    EXPECT("'arange(12)[99999999999999999999]'", 1, "index 9223372036854775807");
    EXPECT("'full(2, 1)'", 2, "column 6: full: size: found '2', needed a list of whole numbers");
    EXPECT("'zeros(size=3)'", 2, "column 12: zeros: size: found '3', needed ");
    EXPECT("'zeros(2).zeros_like()'", 2, "the function torch.zeros_like");
    EXPECT("'torch.view(zeros(2), 2)'", 2, "this is a method, x.view");
    EXPECT("'zeros(2).×ñandú.x'", 2, "column 10: found '×ñandú', needed", "\n           ^~~~~~\n");
    EXPECT("'arange(“3”)'", 2, "column 8: found '“3”', needed", "\n         ^~~\n");
    EXPECT("'x = tensor([1]); éééé.T(ü)'", 2, "column 18: found 'éééé', needed");
    EXPECT("'zeros(2, größe=3)'", 2, "column 10: found 'größe=', needed");
    EXPECT("'arange(12).transpose(0)'", 2, "transpose: found no dim1, needed transpose(dim0, dim1)");
    EXPECT("'arange(12).transpose(0, 1, 2)'", 2, "column 28: found one argument too many");
    EXPECT("'arange(12).transpose(0, True)'", 2, "column 25: transpose: dim1: found 'True', needed a whole number");
    EXPECT("'arange(12).T()'", 2, "column 13: found '(', needed T without brackets");
    EXPECT("'arange(12).chunk(3)'", 2, "column 20: found the end, needed '['");
    EXPECT("'tensor([[1, 2], [3]])'", 2, "column 17: found a list of 1, needed one of 2");
    EXPECT("'zeros(100000, 100000)'", 1, "more than the 16 MiB");
    EXPECT("'ñ.T'", 2, "column 1: found 'ñ'");
    EXPECT("''", 2, "column 1: found the end");
    EXPECT("", 2, "needed an expression between quotes");
    EXPECT("a b", 2, "found also 'b'");
    EXPECT("--colour never x", 2, "did you mean '--color'?");
}

/* Operators between tensors and numbers, with Python's precedence, and methods that no table names. */
static void test_operators(void **unused)
{
    (void)unused;
    EXPECT("'2 - arange(3) * 2 + 1/4'", 0, "which holds -1.75");
    EXPECT("-- '-(arange(3) + 1) * 2'", 0, "which holds -6");
    EXPECT("'tensor([[1, 2], [3, 4]]) @ tensor([1, 10]) - 1'", 0, "which holds 42");
    EXPECT("'(1 + 2 * 3) * ones(2)'", 0, "which holds 7.0");
    EXPECT("'torch.add(arange(2), 2 * 3 - 1)'", 0, "add(arange(2), 2 * 3 - 1)", "which holds 6");
    EXPECT("'x = arange(3); x.add_(1); x.mul(x - 1)'", 0, "the same tensor", "which holds 6");
    EXPECT("'arange(4.).sqrt().sum()'", 0, "4.146");
    EXPECT("'arange(4).repeat((2,)).flip(0)'", 0, "(8,)");
    EXPECT("'ones(2) + ones(3)'", 1, "column 1: ", "^~~~~~~~~~~~~~~~~");
    EXPECT("'1 + 2'", 2, "column 1: found '1 + 2', needed a tensor");
    EXPECT("'ones(2) * (1 / 0)'", 2, "needed a divisor that is not 0");
    EXPECT("'ones(2) +'", 2, "column 10: found the end, needed a tensor");
    EXPECT("'ones(2) * 9223372036854775807 * (9223372036854775807 + 1)'", 2, "at most 63 bits");
    EXPECT("'ones(2).resize_(3)'", 2, "found 'resize_', needed a method");
    EXPECT("'ones(2).add(ones(2), x=1)'", 2, "needed an argument of add(other, alpha?)");
}

static void test_graph(void **unused)
{
    (void)unused;
    EXPECT("--graph 'w = ones(3, requires_grad=True); (w * 2).exp().sum()'", 0,
           "3 nodes, 1 leaf, 1 saved tensor (12 bytes)\nn0  SumBackward0  float32 []   0 self -> n1  (root)\n",
           "n2  MulBackward0  float32 [3]  0 self -> x0 w\n      saves other, a number\nx0  leaf ");
    EXPECT("--graph 'x = tensor([[1., 2.]], requires_grad=True); w = ones(2, 2).requires_grad_(); "
           "(x @ w).relu().mean().backward()'",
           0, "MmBackward0", "0 self -> x0 x, 1 other -> x1 w", "given up by a walk", "requires_grad, has grad: x");
    EXPECT("--graph 'x = ones(2, requires_grad=True); y = x.exp(); y.detach().add_(1); y'", 0,
           "version 0, now 1: written since", "1 written since");
    EXPECT("--graph --color always 'ones(2, requires_grad=True) * 2'", 0, "\033[32mx0\033[0m");
    EXPECT("--graph --dot - 'ones(2, requires_grad=True) * 2'", 0, "digraph tenon {", "x0 -> n0 [label=\"0\"];");
    EXPECT("--graph --svg - 'w = ones(2, requires_grad=True); w * 2'", 0, "<svg ", ">w</text>", "</svg>\n");
    assert_null(strstr(said, "digraph"));
    EXPECT("--graph 'arange(3)'", 1, "the result requires no gradient", "needed requires_grad=True");
    EXPECT("--graph 'arange(3, requires_grad=True)'", 1, "column 1: arange: the tensor is int64, needed a floating");
    EXPECT("--graph 'ones(2, requires_grad=1)'", 2, "requires_grad: found '1', needed True or False");
    EXPECT("--graph 'tensor(1., requires_grad=2)'", 2, "found '2', needed True or False");
    EXPECT("--graph 'x = ones(2, requires_grad=True); x.add_(1)'", 1, "column 35: add_: ");
    EXPECT("--graph --svg /nowhere/x.svg 'ones(2, requires_grad=True) * 2'", 1, "/nowhere/x.svg");
    EXPECT("--dot - 'arange(3)'", 2, "--dot: found no --graph");
    EXPECT("--graph --json 'w = ones(2, requires_grad=True); w.exp()'", 0,
           "{\"n_nodes\":1,\"n_leaves\":1,\"saved_bytes\":8,\"nodes\":[{\"id\":\"n0\",\"name\":\"ExpBackward0\"",
           "\"inputs\":[{\"input\":0,\"from\":\"x0\"}]", "\"leaves\":[{\"id\":\"x0\",\"name\":\"w\",");
    EXPECT("--graph --json 'arange(3)'", 1, "{\"error\":{\"message\":\"", "requires no gradient");
    EXPECT("--help", 0, "--graph ", "--dot FILE", "requires_grad=True");
}

static void test_options(void **unused)
{
    (void)unused;
    EXPECT("--help", 0, "Examples:", "--svg FILE");
    EXPECT("--color always 'arange(3)'", 0, "\033[");
    assert_int_equal(run("--color never 'arange(3)'"), 0);
    assert_null(strchr(said, '\033'));
    assert_int_equal(run("'arange(3)'"), 0);
    assert_null(strchr(said, '\033'));
    EXPECT("--json 'arange(12).view(3, 4).T'", 0, "\"shape\":[4,3]", "\"stride\":[1,4]",
           "\"view_flat\":{\"works\":false,\"outer\":0,\"inner\":1,\"found\":1,\"needed\":12}",
           "\"order\":[0,4,8,1,5,9,2,6,10,3,7,11]");
    EXPECT("--svg - 'arange(12).view(3, 4).T'", 0, "<svg ", ">-7</text>", "</svg>\n");
    assert_null(strstr(said, "contiguous   "));
    EXPECT("--svg /nowhere/x.svg 'arange(12)'", 1, "/nowhere/x.svg");
    EXPECT("--svg - 'x = arange(2); x[..., None] ; x'", 0, "x[..., None] ; x</text>");
}

/* The picture into what cannot be replaced, through links, and into nothing. */
static void test_places(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/tenon-explain-XXXXXX", words[256];
    assert_non_null(mkdtemp(folder));
    EXPECT("--svg /dev/stdout 'arange(12)' | cat", 0, "<svg ", "</svg>\n");
    assert_null(strstr(said, "contiguous   "));
    EXPECT("--svg /dev/stderr 'arange(12)' 2>&1 >/dev/null | cat", 0, "<svg ");
    EXPECT("--svg /dev/null 'arange(12)'", 0, "contiguous   yes");
    snprintf(words, sizeof words, "--svg %s/a 'arange(12)' >%s/a; cat %s/a", folder, folder, folder);
    EXPECT(words, 0, "<svg ");
    snprintf(words, sizeof words,
             "'arange(2)'; cd %s; ln -s a b; '%s' explain --svg b 'arange(34)'; test -h b && cat a", folder,
             TENON_COMMAND);
    EXPECT(words, 0, ">arange(34)</text>");
    snprintf(words, sizeof words,
             "'arange(2)'; cd %s; mkfifo p; cat p & '%s' explain --svg p 'arange(56)'; wait; test -p p", folder,
             TENON_COMMAND);
    EXPECT(words, 0, ">arange(56)</text>", "contiguous   yes");
    snprintf(words, sizeof words, "--svg %s 'arange(12)'", folder);
    EXPECT(words, 1, "tenon explain: --svg: ", "irectory");
    EXPECT("--svg /nowhere/x.svg 'arange(12)'", 1, "tenon explain: --svg: ", "'/nowhere/x.svg' failed: no such file");
    assert_null(strstr(said, "explain: explain"));
    snprintf(words, sizeof words, "'arange(2)'; rm -r %s", folder);
    assert_int_equal(run(words), 0);
    if (access("/dev/full", W_OK) != 0)
        return;
    EXPECT("--svg /dev/full 'arange(12)'", 1, "tenon explain: --svg: writing '/dev/full' failed: ", strerror(ENOSPC));
    static const char *const forms[] = {"", "--json", "--svg -", "--svg /dev/stdout"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(words, sizeof words, "%s 'arange(120).view(2, 60)' 2>&1 >/dev/full", forms[i]);
        EXPECT(words, 1, strerror(ENOSPC));
        char *text = strstr(said, "writing to standard output: ");
        assert_ptr_equal(text, said + (i == 1 ? strlen("{\"error\":{\"message\":\"") : strlen("tenon: ")));
    }
}

static void test_json_errors(void **unused)
{
    (void)unused;
    static const struct {
        const char *words, *message, *column;
        int code;
    } all[] = {
        {"explain --json 'arange(12)[12]'", "index 12 in dim 0 of size 12, needed -12 .. 11", "12", 1},
        {"explain 'ü.\"\\' --js", "found 'ü', needed a function that makes a tensor, such as arange(12)", "1", 2},
        {"explain --json", "found nothing, needed an expression between quotes", "null", 2},
        {"explain --frob --json", "found '--frob', needed an option that there is", "null", 2},
        {"explain --json --svg /nowhere/x 'arange(3)'", "--svg: ", "null", 1},
        {"compare --json --samples 0", "--samples: found '0', needed a whole number", "null", 2},
        {"compare --json --samples 1000000000000", "--samples: make_moons: ", "null", 1},
        {"compare moons --json", "found 'moons', needed options only", "null", 2},
        {"compar --json", "found the word 'compar', needed a command: did you mean 'compare'?", "null", 2},
        {"version 2 --json", "found '2', needed nothing more", "null", 2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char words[256], begin[256], end[64];
        snprintf(words, sizeof words, "'arange(2)' >/dev/null; '%s' %s", TENON_COMMAND, all[i].words);
        snprintf(begin, sizeof begin, "{\"error\":{\"message\":\"%s", all[i].message);
        snprintf(end, sizeof end, "\",\"column\":%s}}\n", all[i].column);
        EXPECT(words, all[i].code, begin, end);
        assert_int_equal(strncmp(said, begin, strlen(begin)), 0);
        assert_string_equal(said + strlen(said) - strlen(end), end);
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    }
}

TEST_MAIN(test(test_the_lessons_views), test(test_odd_tensors), test(test_spellings), test(test_refusals),
          test(test_operators), test(test_graph), test(test_options), test(test_places), test(test_json_errors))
