/* Tens of thousands of expressions for tenon explain: grown from its grammar, then cut, doubled, swapped and scratched.
 *
 * Nothing crashes or leaves an error pending; each refused text has a column within it and a message; of each that is
 * read all writers write, and what is said of view(-1) and of contiguity is what the tensor says. The seed and the text
 * are told on failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "report.h"
#include "support/test.h"

enum { ROUNDS = 40000, TEXT = 2048 };

static uint64_t state;

/* splitmix64 */
static uint32_t draw(uint32_t n)
{
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

static char text[TEXT + 64];
static size_t used;

static void add(const char *piece)
{
    size_t length = strlen(piece);
    if (used + length < TEXT) {
        memcpy(text + used, piece, length + 1);
        used += length;
    }
}

#define PICK(list) (list[draw(sizeof(list) / sizeof *(list))])

static void add_number(void)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "4",
                                          "12",
                                          "24",
                                          "-1",
                                          "-2",
                                          "7",
                                          "99",
                                          "1e3",
                                          ".5",
                                          "True",
                                          "None",
                                          "9223372036854775807",
                                          "-9223372036854775807",
                                          "9223372036854775808",
                                          "1000000",
                                          "-9223372036854775808",
                                          "2j",
                                          "1 - .5j",
                                          "-inf",
                                          "torch.nan",
                                          "(3)",
                                          "ü",
                                          "torch.float64",
                                          "torch.complex64",
                                          "torch.channels_last",
                                          "bool"};
    add(numbers[draw(4) ? draw(9) : draw(sizeof numbers / sizeof *numbers)]);
}

static void add_arguments(int n)
{
    add("(");
    for (int i = 0; i < n; i++) {
        static const char *const words[] = {"dim=", "size=", "dtype=", "dim0=", "step =", "x="};
        if (i)
            add(", ");
        if (draw(12) == 0)
            add(PICK(words));
        if (draw(8) == 0)
            add_arguments((int)draw(4));
        else
            add_number();
    }
    add(")");
}

static void add_index(void)
{
    int n = 1 + (int)draw(3);
    add("[");
    for (int i = 0; i < n; i++) {
        if (i)
            add(",");
        switch (draw(6)) {
        case 0:
            add("...");
            break;
        case 1:
            add("None");
            break;
        case 2:
            add_number();
            break;
        default:
            if (draw(2))
                add_number();
            add(":");
            if (draw(2))
                add_number();
            if (draw(2)) {
                add(":");
                add_number();
            }
        }
    }
    add("]");
}

static void add_numbers(int depth)
{
    bool tuple = draw(3) == 0;
    add(tuple ? "(" : "[");
    for (int i = 0; i < 2; i++) {
        add(i ? ", " : "");
        if (depth)
            add_numbers(depth - 1);
        else
            add_number();
    }
    add(tuple ? ")" : "]");
}

static void grow(void)
{
    static const char *const roots[] = {"arange(12)",
                                        "arange(12).view(3,4)",
                                        "arange(24).view(2,3,4)",
                                        "zeros(2, 3)",
                                        "ones((4,))",
                                        "full((2,2), 7)",
                                        "empty(0, 3)",
                                        "tensor(3)",
                                        "torch.arange(2,10,2)",
                                        "x = arange(6); x",
                                        "empty_strided((2,3),(1,2))",
                                        "ones(2, 2, dtype=torch.complex64)",
                                        "w = ones(2, 3, requires_grad=True); w",
                                        "tensor([[1., 2.], [3., 4.]], requires_grad=True)",
                                        "x = ones(3, requires_grad=True).exp(); x",
                                        "-arange(3.)",
                                        "(2 * ones(2, 2) + 1/4)"};
    static const char *const signs[] = {" + ", " - ", " * ", " / ", " @ ", "*-", "+", "; "};
    static const char *const methods[] = {
        "exp",          "relu",         "add_",       "mul",          "sum",             "mean",   "backward",
        "matmul",       "sqrt_",        "zero_",      "requires_grad_", "repeat",        "flip",   "masked_fill",
        "view",         "reshape",      "flatten",    "ravel",        "transpose",       "t",      "T",
        "mT",           "permute",      "movedim",    "squeeze",      "unsqueeze",       "expand", "narrow",
        "select",       "diagonal",     "unfold",     "as_strided",   "contiguous",      "clone",  "chunk",
        "split",        "tensor_split", "unbind",     "view_as",      "expand_as",       "to",     "type",
        "short",        "data",         "reshape_as", "double",       "swapaxes",        "H",      "real",
        "unflatten",    "conj",         "imag",       "view_as_real", "view_as_complex", "hsplit", "zeros_like",
        "broadcast_to", "detach",       "mH"};
    used = 0;
    text[0] = '\0';
    if (draw(8) == 0) {
        add("tensor(");
        add_numbers((int)draw(3));
        add(")");
    } else {
        add(PICK(roots));
    }
    for (int n = (int)draw(6); n > 0; n--) {
        if (draw(4) == 0) {
            add_index();
            continue;
        }
        if (draw(6) == 0) {
            add(PICK(signs));
            if (draw(3))
                add(PICK(roots));
            else
                add_number();
            continue;
        }
        const char *method = PICK(methods);
        add(".");
        add(method);
        if (strlen(method) < 3 && draw(8))
            continue;
        if (draw(10) == 0)
            add("(x)");
        else
            add_arguments((int)draw(4));
        if (strstr("chunk split tensor_split unbind", method) && draw(4))
            add("[0]");
    }
}

static void mutate(void)
{
    for (int n = (int)draw(4); n > 0 && used; n--) {
        size_t at = draw((uint32_t)used), length = 1 + draw(6);
        if (length > used - at)
            length = used - at;
        switch (draw(5)) {
        case 0:
            memmove(text + at, text + at + length, used - at - length + 1);
            used -= length;
            break;
        case 1:
            if (used + length < TEXT) {
                memmove(text + at + length, text + at, used - at + 1);
                used += length;
            }
            break;
        case 2:
            text[at] = "()[],.:=;-+ 0123456789eTxé\t\"<&\n"[draw(32)];
            break;
        case 3:
            text[at] = (char)(1 + draw(255));
            break;
        default:
            text[at] = '\0';
            used = at;
        }
    }
    used = strlen(text);
}

static int columns(void)
{
    return utf8_count(text, (int)used);
}

/* Where a text of the picture stands: width from its characters, in a face of which each is 0.6 of the size wide. */
typedef struct place {
    double left, right, top, bottom;
} place;

/* The texts of the picture are within it and do not touch each other. */
static void check_picture(char *svg, unsigned seed)
{
    enum { PLACES = 2048 };
    static place all[PLACES];
    int n = 0, width = 0;
    char *at = strstr(svg, "width=");
    assert_non_null(at);
    width = atoi(at + 7);
    while ((at = strstr(at, "<text "))) {
        double x, y, size;
        char anchor[16];
        assert_int_equal(
            sscanf(at, "<text x=\"%lf\" y=\"%lf\" font-size=\"%lf\" text-anchor=\"%15[a-z]", &x, &y, &size, anchor), 4);
        at = strchr(at, '>') + 1;
        int characters = 0;
        for (; *at != '<'; at += utf8_step(at, 4, 0), characters++)
            if (*at == '&')
                at = strchr(at, ';');
        double wide = 0.6 * size * characters, left = anchor[0] == 'e' ? x - wide : anchor[0] == 'm' ? x - wide / 2 : x;
        assert_true(n < PLACES);
        all[n++] = (place){left, left + wide, y - 0.73 * size, y};
    }
    for (int i = 0; i < n; i++) {
        if (all[i].left < 0 || all[i].right > width)
            fail_msg("seed %u: %s\ntext %d of the picture is outside", seed, text, i);
        for (int k = 0; k < i; k++)
            if (all[i].left < all[k].right && all[k].left < all[i].right && all[i].top < all[k].bottom &&
                all[k].top < all[i].bottom)
                fail_msg("seed %u: %s\ntexts %d and %d of the picture overlap", seed, text, k, i);
    }
}

static void check_read(const explain_expression *it, unsigned seed, FILE *sink)
{
    explain_facts facts;
    tn_tensor *x = it->step[it->last].result;
    const tn_grad_mode mode = tn_no_grad();
    if (!explain_look(x, &facts))
        fail_msg("seed %u: %s\nlook: %s", seed, text, tn_error_message());
    bool flat = tn_view(x, &facts.numel, 1) != NULL;
    tn_error_clear();
    if (flat != facts.flat || tn_is_contiguous(x) != facts.contiguous)
        fail_msg("seed %u: %s\nview(-1) %d, said %d; contiguous %d, said %d", seed, text, flat, facts.flat,
                 tn_is_contiguous(x), facts.contiguous);
    if (facts.high >= facts.cells)
        fail_msg("seed %u: %s\nreads cell %ld of %ld", seed, text, (long)facts.high, (long)facts.cells);
    rewind(sink);
    explain_write_text(sink, it, &facts, draw(2));
    if (seed % 8 == 0) {
        char *svg = NULL;
        size_t size = 0;
        FILE *memory = open_memstream(&svg, &size);
        assert_non_null(memory);
        explain_write_svg(memory, it, &facts);
        fclose(memory);
        check_picture(svg, seed);
        free(svg);
    }
    explain_write_json(sink, it, &facts);
    for (int format = TN_GRAPH_TEXT; format <= TN_GRAPH_JSON; format++)
        if (!explain_write_graph(sink, it, (tn_graph_format)format, draw(2)) && !tn_requires_grad(x))
            tn_error_clear();
    if (tn_error_code())
        fail_msg("seed %u: %s\nleft an error: %s", seed, text, tn_error_message());
    tn_grad_mode_restore(mode);
}

static void test_no_text_harms(void **unused)
{
    (void)unused;
    static explain_expression it;
    explain_trouble why;
    FILE *sink = tmpfile();
    int read = 0, by_library = 0;
    assert_non_null(sink);
    tn_set_memory_limit(EXPLAIN_MEMORY);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        tn_scope scope = tn_scope_begin();
        state = seed;
        grow();
        if (draw(3))
            mutate();
        if (explain_read(text, &it, &why)) {
            read++;
            check_read(&it, seed, sink);
        } else {
            by_library += why.by_library;
            if (why.column < 1 || why.column > columns() + 1 || !why.message[0] || tn_error_code())
                fail_msg("seed %u: %s\ncolumn %d of %d, message '%s', error %d", seed, text, why.column, columns(),
                         why.message, tn_error_code());
            rewind(sink);
            explain_write_trouble(sink, text, &why, draw(2));
        }
        tn_scope_end(scope);
    }
    fclose(sink);
    tn_set_memory_limit(SIZE_MAX);
    if (read < ROUNDS / 10 || by_library < ROUNDS / 20)
        fail_msg("of %d texts %d were read and %d refused by the library: the generator is worth nothing", ROUNDS, read,
                 by_library);
}

/* Every prefix of a long expression is refused or read, and no nesting or length is too much. */
static void test_extremes(void **unused)
{
    (void)unused;
    static const char whole[] =
        "x = torch.arange(24).view(2, 3, 4); y=x.T[..., None, ::2,1].reshape((3,-1)); y.chunk(2, "
        "dim=1)[0].as_strided((2, 2), (1, 0), 3).to(dtype=torch.float64)";
    static explain_expression it;
    static char deep[3 * EXPLAIN_LENGTH];
    explain_trouble why;
    tn_scope scope = tn_scope_begin();
    for (size_t n = 0; n <= sizeof whole - 1; n++) {
        memcpy(text, whole, n);
        text[n] = '\0';
        if (!explain_read(text, &it, &why) && (why.column < 1 || why.column > (int)n + 1))
            fail_msg("%s: column %d", text, why.column);
    }
    static const char *const fills[] = {
        "(", "[", "tensor([", "arange(12)", "x=", "-", ".T", "view(", "arange(1)[None]."};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        size_t length = strlen(fills[i]);
        for (size_t n = 0; n + length < 4000; n += length)
            memcpy(deep + n, fills[i], length + 1);
        assert_false(explain_read(deep, &it, &why));
        assert_in_range(why.column, 1, 4001);
    }
    memset(deep, ' ', sizeof deep - 1);
    memcpy(deep, "arange(12)", 10);
    assert_false(explain_read(deep, &it, &why));
    assert_int_equal(why.column, EXPLAIN_LENGTH + 1);
    tn_set_memory_limit(EXPLAIN_MEMORY);
    assert_false(explain_read("zeros(100000, 100000)", &it, &why));
    assert_true(why.by_library);
    assert_true(explain_read("zeros(1).expand(1000000000, 1000000000)", &it, &why));
    assert_false(explain_read("zeros(1).expand(1000000000, 1000000000).clone()", &it, &why));
    tn_set_memory_limit(SIZE_MAX);
    tn_scope_end(scope);
}

/* The text of what is compared, as explain_torch.py writes it. */
static void describe(const explain_expression *it, char *buf, size_t size)
{
    char shape[200], stride[200];
    explain_facts facts;
    if (!explain_look(it->step[it->last].result, &facts))
        fail_msg("%s: %s", it->text, tn_error_message());
    explain_tuple(facts.size, facts.ndim, shape, sizeof shape);
    explain_tuple(facts.stride, facts.ndim, stride, sizeof stride);
    bool shared = tn_is_same_storage(facts.x, it->step[0].result) || facts.cells == 0;
    snprintf(buf, size, "%s\t%s\t%ld\t%ld\t%d\t%d\t%d", shape, stride, (long)facts.offset, (long)facts.cells,
             facts.contiguous, facts.flat, shared);
}

static void test_pytorch_agrees(void **unused)
{
    (void)unused;
    static explain_expression it;
    explain_trouble why;
    char line[1024], got[512];
    int lines = 0, wrong = 0;
    FILE *file = fopen(TENON_TEST_DATA "/explain_torch_2.15.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || !tab)
            continue;
        *tab++ = '\0';
        tn_scope scope = tn_scope_begin();
        bool read = explain_read(line, &it, &why), refused = strcmp(tab, "refused") == 0;
        if (read)
            describe(&it, got, sizeof got);
        else
            snprintf(got, sizeof got, "refused");
        if (strcmp(got, tab) != 0) {
            wrong++;
            print_message("%s\n  needed %s\n  found  %s %s\n", line, tab, got, read || refused ? "" : why.message);
        }
        tn_scope_end(scope);
        lines++;
    }
    fclose(file);
    assert_true(lines >= 1000);
    if (wrong)
        fail_msg("%d of %d differ", wrong, lines);
}

/* Each allocation fails once: the text is refused or read, everything is given back, and the next reading works. */
static void test_no_memory(void **unused)
{
    (void)unused;
    static const char whole[] =
        "x = arange(12).view(3, 4); x.T.contiguous().chunk(2)[1].reshape(2, 3)[:, None, 1:].double()";
    static explain_expression it;
    explain_trouble why;
    explain_facts facts;
    FILE *sink = tmpfile();
    int failures = 0;
    assert_non_null(sink);
    for (int k = 0;; k++) {
        tn_scope scope = tn_scope_begin();
        int64_t live = tn_get_memory_stats().live_blocks;
        tn_fail_allocation(k, false);
        bool read = explain_read(whole, &it, &why);
        if (read && explain_look(it.step[it.last].result, &facts)) {
            rewind(sink);
            explain_write_text(sink, &it, &facts, false);
            explain_write_svg(sink, &it, &facts);
            explain_write_json(sink, &it, &facts);
        }
        bool failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        tn_error_clear();
        if (!read && (!why.by_library || why.column < 1 || !failed))
            fail_msg("allocation %d: %s", k, why.message);
        tn_scope_end(scope);
        if (tn_get_memory_stats().live_blocks > live)
            fail_msg("allocation %d: blocks are lost", k);
        if (!failed)
            break;
        failures++;
    }
    fclose(sink);
    assert_true(failures > 10);
}

TEST_MAIN(test(test_no_memory), test(test_pytorch_agrees), test(test_no_text_harms), test(test_extremes))
