/* tenon explain: which memory a tensor reads, for an expression of views. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "explain.h"
#include "option_rows.h"
#include "options.h"
#include "report.h"

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
static const char *const colour_words[] = {"auto", "always", "never", NULL};

typedef struct settings {
    const char *expression, *svg, *dot;
    int colour;
    bool json, graph;
} settings;

static bool use_colour(const settings *asked, FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (asked->colour != COLOUR_AUTO)
        return asked->colour == COLOUR_ALWAYS;
    return !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0) && isatty(fileno(stream));
}

/* Whether the path leads to what stdout is: "/dev/stdout", or the file that it goes to. */
static bool is_stdout(const char *path)
{
    struct stat there, here;
    return strcmp(path, "-") == 0 || (stat(path, &there) == 0 && fstat(fileno(stdout), &here) == 0 &&
                                      there.st_dev == here.st_dev && there.st_ino == here.st_ino);
}

static int refuse(const char *option, const char *path)
{
    report("explain", "%s: writing '%s' failed: %s", option, path, strerror(errno));
    return EXIT_FAILED;
}

/* Into a device or pipe, which cannot be replaced. */
static int write_through(const char *option, const char *path, const char *text, size_t size)
{
    FILE *stream = fopen(path, "w");
    if (!stream)
        return refuse(option, path);
    bool written = fwrite(text, 1, size, stream) == size && fflush(stream) == 0;
    int number = errno;
    if (fclose(stream) == 0 && written)
        return EXIT_DONE;
    errno = written ? errno : number;
    return refuse(option, path);
}

/* What goes into a file: the memory of the result, or (facts NULL) its graph. */
typedef struct picture {
    const explain_expression *it;
    const explain_facts *facts;
    tn_graph_format format;
} picture;

static bool draw(FILE *stream, const picture *p)
{
    if (!p->facts)
        return explain_write_graph(stream, p->it, p->format, false);
    explain_write_svg(stream, p->it, p->facts);
    return true;
}

/* A regular file is replaced as a whole; what a symbolic link leads to is written, so that the link stays one. */
static int write_picture(const char *option, const char *path, const picture *p)
{
    char *text = NULL;
    size_t size = 0;
    struct stat there;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return refuse(option, path);
    bool drawn = draw(stream, p);
    if (fclose(stream))
        return refuse(option, path);
    int code = EXIT_DONE;
    if (!drawn)
        code = EXIT_FAILED;
    else if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode))
        code = write_through(option, path, text, size);
    else if (tn_file_replace(path, &(tn_file_piece){text, size}, 1, option))
        code = EXIT_FAILED;
    free(text);
    return code;
}

/* Shows what was read: pictures into their files, and text or JSON unless a picture goes to standard output. */
static int show(const settings *asked, const explain_expression *it, const explain_facts *facts)
{
    const struct {
        const char *option, *path;
        tn_graph_format format;
    } pictures[] = {{"--svg", asked->svg, TN_GRAPH_SVG}, {"--dot", asked->dot, TN_GRAPH_DOT}};
    bool drawn = false;
    for (int i = 0; i < 2; i++) {
        const picture p = {it, facts, pictures[i].format};
        if (!pictures[i].path)
            continue;
        bool here = is_stdout(pictures[i].path);
        if (here ? !draw(stdout, &p) : write_picture(pictures[i].option, pictures[i].path, &p) != EXIT_DONE)
            return EXIT_FAILED;
        drawn = drawn || here;
    }
    if (drawn)
        return EXIT_DONE;
    if (!facts) {
        tn_graph_format format = asked->json ? TN_GRAPH_JSON : TN_GRAPH_TEXT;
        return explain_write_graph(stdout, it, format, use_colour(asked, stdout)) ? EXIT_DONE : EXIT_FAILED;
    }
    if (asked->json)
        explain_write_json(stdout, it, facts);
    else
        explain_write_text(stdout, it, facts, use_colour(asked, stdout));
    return EXIT_DONE;
}

static int explain(const settings *asked)
{
    explain_expression *it = malloc(sizeof *it);
    explain_trouble why;
    explain_facts facts;
    int code = EXIT_FAILED;
    if (!it) {
        report("explain", "%s", strerror(errno));
        return code;
    }
    tn_set_memory_limit(EXPLAIN_MEMORY);
    const bool read = explain_read(asked->expression, it, &why);
    tn_no_grad(); /* looking at it is not recorded */
    if (!read) {
        if (report_is_json())
            report_json(why.message, why.column);
        else
            explain_write_trouble(stderr, asked->expression, &why, use_colour(asked, stderr));
        code = why.by_library ? EXIT_FAILED : EXIT_MISUSED;
    } else if (asked->graph || explain_look(it->step[it->last].result, &facts)) {
        code = show(asked, it, asked->graph ? NULL : &facts);
    }
    free(it);
    return code;
}

static const command_text text = {
    .name = "explain",
    .usage = "Usage: tenon explain [OPTION]... EXPRESSION\n\n"
             "Shows how a tensor reads its memory: shape, strides and offset, which cells are read and in\n"
             "which order, the address formula worked out, and whether view(-1) would work. The expression\n"
             "is written as in PyTorch and stands between quotes.",
    .examples =
        "Expressions:\n"
        "  arange zeros ones full empty empty_strided eye linspace tensor          make one\n"
        "  .view .reshape .T .t() .transpose .permute .unsqueeze .squeeze .expand .narrow .select\n"
        "  .flatten .diagonal .unfold .as_strided .contiguous .clone .chunk(3)[0] ...    chains of them\n"
        "  [1]  [:, 1::2]  [..., None]                         basic indices\n"
        "  x = arange(12).view(3, 4); x.T                      names\n"
        "  x @ w + b   -x / 2   .relu() .exp() .sum() .mean()  operators, and what else the library has\n"
        "  requires_grad=True  .requires_grad_()  .detach()  .add_(1)  .backward()    for --graph\n\n"
        "Examples:\n"
        "  tenon explain \"arange(12).view(3, 4)[:, 1::2]\"      a slice: offset 1, stride (4, 2)\n"
        "  tenon explain \"arange(12).view(3, 4).T\"             which pair of strides stops view(-1)?\n"
        "  tenon explain \"arange(3).view(3, 1).expand(3, 4)\"   stride 0 reads a cell four times\n"
        "  tenon explain --svg t.svg \"arange(24).view(2, 3, 4).permute(2, 0, 1)\"\n"
        "  tenon explain --graph \"w = ones(3, requires_grad=True); (w * 2).exp().sum()\"\n"
        "  tenon explain --json \"tensor([[1, 2], [3, 4]]).T.contiguous()\"\n\n"
        "Exit code: 0 done, 1 failed (the expression asks for what cannot be, such as a view that does\n"
        "not exist), 2 called wrongly (it cannot be read). With --json an error is one line on standard error:\n"
        "{\"error\":{\"message\":\"...\",\"column\":8}}, with null where there is no column.",
};

int command_explain(int argc, char **argv)
{
    settings asked = {0};
    const option_row rows[] = {
        row_text("svg", "FILE", &asked.svg,
                 "draw the picture into FILE, device or pipe; '-': on standard output, instead of text"),
        row_flag("graph", &asked.graph,
                 "show the graph that is recorded for the gradient instead; --svg and --dot draw it"),
        row_text("dot", "FILE", &asked.dot, "with --graph: write it for Graphviz, where --svg would write the picture"),
        row_choice("color", "WHEN", &asked.colour, colour_words,
                   "'auto' (on a terminal, unless NO_COLOR is set), 'always' or 'never'"),
        row_json(&asked.json),
    };
    int n = sizeof rows / sizeof *rows;
    int code = options_read_operand(&text, rows, n, argc, argv, &asked.expression, "an expression between quotes");
    if (code != OPTIONS_GO_ON)
        return code;
    if (asked.dot && !asked.graph) {
        report("explain", "--dot: found no --graph, needed both");
        return EXIT_MISUSED;
    }
    return explain(&asked);
}
