/* tenon gradcheck: the derivatives of operators against differences, in both orders and both modes, as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "command.h"
#include "option_rows.h"
#include "options.h"
#include "report.h"

typedef struct settings {
    tn_gradcheck_options options;
    bool json;
} settings;

typedef struct counts {
    int of[4]; /* operators, by verdict */
    int cases;
    int64_t compared;
} counts;

static const char *const verdict_words[] = {[TN_OPERATOR_OK] = "ok",
                                            [TN_OPERATOR_FAULT] = "fault",
                                            [TN_OPERATOR_CONSTANT] = "constant",
                                            [TN_OPERATOR_NO_DERIVATIVE] = "no derivative"};

static int number_of(const char *name)
{
    int i = tn_operator_count() - 1;
    while (i >= 0 && strcmp(tn_operator_name(i), name) != 0)
        i--;
    return i;
}

static int refuse(const char *name)
{
    char shown[SHOWN_BYTES];
    int n = tn_operator_count();
    const char **names = malloc((size_t)n * sizeof *names), *close = NULL;
    for (int i = 0; names && i < n; i++)
        names[i] = tn_operator_name(i);
    if (names)
        close = nearest_name(name, names, n);
    if (tn_is_callable(name) && !close)
        report("gradcheck", "found '%s', which is made of operators, needed the name of one", name);
    else
        report("gradcheck", "found '%s', needed the name of an operator%s%s%s",
               utf8_shown(name, (int)strlen(name), shown), close ? ": did you mean '" : "", close ? close : "",
               close ? "'?" : "");
    report_hint("gradcheck");
    free(names);
    return EXIT_MISUSED;
}

static void write_line(const tn_operator_check *check)
{
    printf("%-20s ", check->name);
    if (check->verdict == TN_OPERATOR_OK || (check->verdict == TN_OPERATOR_FAULT && check->cases > 0))
        printf("%7d %6d %9" PRId64 "  %7.1e  %7.1e  %7.1e  ", check->samples, check->cases, check->compared,
               check->first, check->second, check->forward);
    else
        printf("%7s %6s %9s  %-7s  %-7s  %-7s  ", "-", "-", "-", "-", "-", "-");
    if (check->verdict == TN_OPERATOR_FAULT)
        printf("fault in %s %s (%s): %s\n", check->form, check->sample, check->layout, check->message);
    else
        puts(verdict_words[check->verdict]);
}

static void write_counts(const counts *all)
{
    int n = 0;
    for (int i = 0; i < 4; i++)
        n += all->of[i];
    printf("\n%d operator%s: %d ok, %d with a fault, %d constant, %d without a derivative; %d cases, %" PRId64
           " entries\n",
           n, n == 1 ? "" : "s", all->of[TN_OPERATOR_OK], all->of[TN_OPERATOR_FAULT], all->of[TN_OPERATOR_CONSTANT],
           all->of[TN_OPERATOR_NO_DERIVATIVE], all->cases, all->compared);
}

static void write_text_member(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    write_json_string(stdout, text, (int)strlen(text));
}

static void write_number_member(const char *name, double value)
{
    if (isfinite(value))
        printf(",\"%s\":%.17g", name, value);
    else
        printf(",\"%s\":null", name);
}

static void write_json(const tn_operator_check *check, bool first)
{
    const tn_gradcheck_result *at = &check->at;
    fputs(first ? "{\"name\":" : ",{\"name\":", stdout);
    write_json_string(stdout, check->name, (int)strlen(check->name));
    write_text_member("verdict", verdict_words[check->verdict]);
    printf(",\"samples\":%d,\"cases\":%d,\"entries\":%" PRId64, check->samples, check->cases, check->compared);
    write_number_member("first", check->first);
    write_number_member("second", check->second);
    write_number_member("forward", check->forward);
    fputs(",\"fault\":", stdout);
    if (check->verdict != TN_OPERATOR_FAULT) {
        fputs("null}", stdout);
        return;
    }
    printf("{\"input\":%d,\"element\":%" PRId64, at->input, at->element);
    write_number_member("analytic", at->analytic);
    write_number_member("numeric", at->numeric);
    write_text_member("form", check->form);
    write_text_member("sample", check->sample);
    write_text_member("layout", check->layout);
    write_text_member("message", check->message);
    fputs("}}", stdout);
}

/* Checks one operator and writes what came of it. */
static int check_one(const settings *asked, int number, counts *all, bool first)
{
    tn_operator_check check;
    if (tn_gradcheck_operator(number, &asked->options, &check)) {
        report("gradcheck", "%s", tn_error_message());
        tn_error_clear();
        return EXIT_FAILED;
    }
    all->of[check.verdict]++;
    all->cases += check.cases;
    all->compared += check.compared;
    if (asked->json)
        write_json(&check, first);
    else
        write_line(&check);
    return check.verdict == TN_OPERATOR_FAULT ? EXIT_FAILED : EXIT_DONE;
}

static int check_all(const settings *asked, char **names, int n)
{
    counts all = {{0}, 0, 0};
    int code = EXIT_DONE, last = n > 0 ? n : tn_operator_count();
    for (int i = 0; i < n; i++)
        if (number_of(names[i]) < 0)
            return refuse(names[i]);
    if (asked->json)
        fputs("{\"operators\":[", stdout);
    else
        printf("%-20s %7s %6s %9s  %-7s  %-7s  %-7s\n", "operator", "samples", "cases", "entries", "first", "second",
               "forward");
    for (int i = 0; i < last; i++)
        if (check_one(asked, n > 0 ? number_of(names[i]) : i, &all, i == 0) != EXIT_DONE)
            code = EXIT_FAILED;
    if (asked->json)
        printf("],\"ok\":%d,\"faults\":%d,\"constant\":%d,\"no_derivative\":%d,\"cases\":%d,\"entries\":%" PRId64 "}\n",
               all.of[TN_OPERATOR_OK], all.of[TN_OPERATOR_FAULT], all.of[TN_OPERATOR_CONSTANT],
               all.of[TN_OPERATOR_NO_DERIVATIVE], all.cases, all.compared);
    else
        write_counts(&all);
    return code;
}

static const command_text text = {
    .name = "gradcheck",
    .usage = "Usage: tenon gradcheck [OPTION]... [OPERATOR]...\n\n"
             "Checks the derivatives of operators (all, unless some are named) in float64 and complex128:\n"
             "the Jacobian against central differences, that of the gradient too, and forward mode against\n"
             "the walk back. Each operator's samples run with operands contiguous, transposed, sliced and\n"
             "expanded, and in place.",
    .examples = "The table: samples; cases (samples times layouts and dtypes); entries of Jacobians; the worst\n"
                "error of the first and second derivative and of forward mode, over the value where it is\n"
                "above 1. A line ends in\n"
                "  ok             all agree\n"
                "  fault ...      the call, and where the two values part: input, element, both values\n"
                "  constant       nothing to differentiate: eq, argmax, zeros_like\n"
                "  no derivative  recording a call of it is refused, or walking back through it is\n"
                "\nExamples:\n"
                "  tenon gradcheck                      all of them\n"
                "  tenon gradcheck mul matmul tanh      these\n"
                "  tenon gradcheck --json linear        one line for another program\n\n"
                "Exit code: 0 done, 1 a fault (or no memory, output lost), 2 called wrongly.",
};

int command_gradcheck(int argc, char **argv)
{
    settings asked = {.json = false};
    int first = argc;
    const option_row rows[] = {
        row_number("eps", &asked.options.eps, 0, 1, "half the distance of a difference (1e-6)"),
        row_number("atol", &asked.options.atol, 0, 1, "a difference may be this (1e-5) ..."),
        row_number("rtol", &asked.options.rtol, 0, 1, "... and this times the value more (1e-3)"),
        row_json(&asked.json),
    };
    int n = sizeof rows / sizeof *rows;
    int code = options_read_operands(&text, rows, n, argc, argv, &first);
    if (code != OPTIONS_GO_ON)
        return code;
    return check_all(&asked, argv + first, argc - first);
}
