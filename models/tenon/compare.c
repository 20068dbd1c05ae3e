/* tenon compare: the lesson's forward pass in float64 and in float32, and how far they part.
 *
 * Points of make_moons(samples, noise, random_state = seed), weights of the lesson's init from default_rng(seed), ReLU
 * inside and a sigmoid at the end. Both runs see the same points and weights, drawn in float64; the second has them
 * rounded to float32. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "command.h"
#include "lesson.h"
#include "option_rows.h"
#include "options.h"
#include "report.h"

enum like { LIKE_TENON, LIKE_TORCH };
static const char *const like_words[] = {"tenon", "torch", NULL};

typedef struct settings {
    int64_t samples, seed;
    double noise;
    size_list hidden;
    int like;
    bool json;
} settings;

/* One run: everything in one dtype. */
typedef struct run {
    tn_tensor *x;
    tn_module *net;
    tn_tensor *logits, *out;
} run;

/* The net layer by layer in the arithmetic of PyTorch's wheel, for `--like torch`. */
static tn_tensor *forward_like_torch(tn_module *net, tn_tensor *x)
{
    for (int64_t i = 0; i < tn_child_count(net); i++) {
        tn_module *layer = tn_child(net, i);
        if (tn_parameter_count(layer) == 0)
            x = tn_forward(layer, x);
        else
            x = tn_linear_reference(x, tn_named_parameter(layer, "weight"), tn_named_parameter(layer, "bias"),
                                    TN_ORDER_MKL);
    }
    return x;
}

static void run_plain(run *it)
{
    it->logits = tn_forward(it->net, it->x);
    it->out = tn_sigmoid(it->logits);
}

static void run_like_torch(run *it)
{
    it->logits = forward_like_torch(it->net, it->x);
    it->out = tn_sigmoid_reference(it->logits, TN_ORDER_MKL);
}

/* Draws points and weights and does both runs; an error, if any, is pending afterwards. */
static void do_runs(const settings *asked, run *wide, run *single)
{
    int64_t sizes[SIZES_LIMIT + 2] = {2};
    int n = 1;
    for (int i = 0; i < asked->hidden.count; i++)
        sizes[n++] = asked->hidden.size[i];
    sizes[n++] = 1;

    tn_default_rng rng;
    tn_default_rng_seed(&rng, (uint64_t)asked->seed);
    wide->x = tn_dataset_x(tn_make_moons(asked->samples, asked->noise, (uint64_t)asked->seed, TN_FLOAT64));
    tn_error_context("--samples");
    if (tn_error_code() != TN_OK)
        return;
    wide->net = tn_mlp(sizes, n, TN_FLOAT64);
    tn_error_context("--hidden");
    tn_init_normal(wide->net, &rng);
    run_plain(wide);

    single->x = tn_to(wide->x, TN_FLOAT32);
    single->net = tn_module_to(wide->net, TN_FLOAT32);
    if (asked->like == LIKE_TORCH)
        run_like_torch(single);
    else
        run_plain(single);
}

/* "null" for what JSON has no number for. */
static const char *json_number(double value, char *buf, size_t size)
{
    tn_format_double(buf, size, value);
    return strchr("in", buf[buf[0] == '-']) ? "null" : buf;
}

static void write_json(const settings *asked, int64_t parameters, const tn_gap *gap)
{
    char text[4][40];
    printf("{\"samples\":%" PRId64 ",\"noise\":%s,\"seed\":%" PRId64 ",\"hidden\":[", asked->samples,
           json_number(asked->noise, text[0], sizeof text[0]), asked->seed);
    for (int i = 0; i < asked->hidden.count; i++)
        printf("%s%" PRId64, i ? "," : "", asked->hidden.size[i]);
    printf("],\"parameters\":%" PRId64 ",\"like\":\"%s\",\"gap\":{\"abs\":%s,\"rel\":%s,\"ulp\":%s,\"index\":%" PRId64
           "}}\n",
           parameters, like_words[asked->like], json_number(gap->abs, text[1], sizeof text[1]),
           json_number(gap->rel, text[2], sizeof text[2]), json_number(gap->ulp, text[3], sizeof text[3]), gap->index);
}

static void write_heading(const settings *asked, int64_t parameters)
{
    char noise[40];
    tn_format_double(noise, sizeof noise, asked->noise);
    printf("Two moons through a 2-");
    for (int i = 0; i < asked->hidden.count; i++)
        printf("%" PRId64 "-", asked->hidden.size[i]);
    puts("1 net, once in float64 and once in float32");
    printf("  points      %" PRId64 " of scikit-learn's make_moons, noise %s, random_state %" PRId64 "\n",
           asked->samples, noise, asked->seed);
    printf("  net         %s at the end, %" PRId64 " parameters\n",
           asked->hidden.count ? "ReLU inside, sigmoid" : "sigmoid", parameters);
    printf("  weights     normal with deviation 1/sqrt(inputs), from NumPy's default_rng(%" PRId64 "); biases zero\n",
           asked->seed);
    printf("  float32     the same points and weights rounded; then %s\n\n",
           asked->like == LIKE_TORCH ? "the arithmetic of PyTorch 2.15's wheel" : "Tenon's own kernels");
}

/* One line of the table: a tensor of the float64 run and its twin of the float32 run. */
static void write_tensor(const char *name, tn_tensor *wide, tn_tensor *single)
{
    char text[4][60];
    tn_tensor *both[] = {wide, single};
    for (int i = 0; i < 2; i++) {
        tn_format_shape(text[i], sizeof text[i], tn_sizes(both[i]), tn_ndim(both[i]));
        tn_format_shape(text[2 + i], sizeof text[2 + i], tn_strides(both[i]), tn_ndim(both[i]));
    }
    printf("  %-12s%-16s%-9s %-12s%-9s %s\n", name, text[0], tn_dtype_name(tn_tensor_dtype(wide)), text[2],
           tn_dtype_name(tn_tensor_dtype(single)), text[3]);
}

static void write_tensors(const run *wide, const run *single)
{
    printf("  %-12s%-16s%-9s %-12s%-9s %s\n", "tensor", "shape", "dtype", "strides", "dtype", "strides");
    write_tensor("X", wide->x, single->x);
    for (int64_t i = 0; i < tn_parameter_count(wide->net); i++) {
        char name[40];
        tn_parameter_name(wide->net, i, name, sizeof name);
        write_tensor(name, tn_parameter(wide->net, i), tn_parameter(single->net, i));
    }
    write_tensor("logits", wide->logits, single->logits);
    write_tensor("outputs", wide->out, single->out);
    putchar('\n');
}

static bool is_lesson(const settings *asked)
{
    return asked->samples == LESSON_SAMPLES && asked->noise == 0.2 && asked->seed == 0 && asked->hidden.count == 2 &&
           asked->hidden.size[0] == 16 && asked->hidden.size[1] == 16;
}

static void write_lesson(const run *wide)
{
    tn_gap gap;
    tn_tensor *lesson = tn_from_array(lesson_output, (int64_t[]){LESSON_SAMPLES, 1}, 2, TN_FLOAT64);
    if (tn_measure_gap(wide->out, lesson, &gap))
        return;
    printf("The float64 outputs against the lesson's, by NumPy: largest difference %.1e%s\n\n", gap.abs,
           gap.abs <= 1e-15 ? ", equal to rounding" : "");
}

static void write_gap(const run *wide, const run *single, const tn_gap *gap)
{
    const double *a = tn_data_f64(wide->out);
    const float *b = tn_data_f32(single->out);
    char text[2][40];
    if (!a || !b)
        return;
    tn_format_double(text[0], sizeof text[0], b[gap->index]);
    tn_format_double(text[1], sizeof text[1], a[gap->index]);
    printf("The largest float32 gap: what four bytes a number cost, on outputs between 0 and 1\n");
    printf("  absolute    %.1e at point %" PRId64 ": %s in float32, %s in float64\n", gap->abs, gap->index, text[0],
           text[1]);
    printf("  relative    %.1e at point %" PRId64 ", as a share of the float64 value\n", gap->rel, gap->rel_index);
    printf("  ulp         %.2f at point %" PRId64 ", in steps between neighbouring float32 numbers there\n\n", gap->ulp,
           gap->ulp_index);
}

/* What assert_close(float32, float64) says, word for word; its refusal is a result here, not a failure. */
static void write_verdict(const char *label, const run *wide, const run *single, bool ignore_dtype)
{
    if (tn_error_code())
        return;
    tn_status status =
        tn_assert_close(single->out, wide->out, &(tn_assert_close_options){.ignore_dtype = ignore_dtype});
    if (status == TN_OK) {
        printf("  %-12spasses: all within 1e-05 + 1.3e-06 |float64|\n", label);
        return;
    }
    if (status != TN_ERROR_NOT_CLOSE)
        return;
    const char *report = tn_error_message(), *prefix = "assert_close: ";
    if (strncmp(report, prefix, strlen(prefix)) == 0)
        report += strlen(prefix);
    while (*report) {
        int length = (int)strcspn(report, "\n");
        if (length)
            printf("  %-12s%.*s\n", label, length, report);
        label = "";
        report += length + (report[length] == '\n');
    }
    tn_error_clear();
}

static void write_text(const settings *asked, const run *wide, const run *single, const tn_gap *gap)
{
    write_heading(asked, tn_parameter_numel(wide->net));
    write_tensors(wide, single);
    if (is_lesson(asked))
        write_lesson(wide);
    write_gap(wide, single, gap);
    printf("torch.testing.assert_close(float32 outputs, float64 outputs) would say\n");
    write_verdict("by default", wide, single, false);
    write_verdict("any dtype", wide, single, true);
}

static int compare(const settings *asked)
{
    run wide = {0}, single = {0};
    tn_gap gap = {0};
    do_runs(asked, &wide, &single);
    if (tn_measure_gap(single.out, wide.out, &gap) == TN_OK) {
        if (asked->json)
            write_json(asked, tn_parameter_numel(wide.net), &gap);
        else
            write_text(asked, &wide, &single, &gap);
    }
    return EXIT_DONE;
}

static const command_text text = {
    .name = "compare",
    .usage = "Usage: tenon compare [OPTION]...\n\n"
             "Sends the two moons through a small net in float64 and in float32 and reports how far the\n"
             "outputs part. Without options it is the lesson's run: 200 points, a 2-16-16-1 net, seed 0.",
    .examples = "Examples:\n"
                "  tenon compare                        the lesson's run; the gap is about 5e-08\n"
                "  tenon compare --like torch           with the bits of PyTorch 2.15: 5.9e-08 at point 80\n"
                "  tenon compare --hidden 64,64,64      a deeper net: what do more layers cost?\n"
                "  tenon compare --hidden none          no hidden layer: logistic regression\n"
                "  tenon compare --seed 7 --json        one line for another program\n\n"
                "Exit code: 0 done, 1 failed (no memory, output lost), 2 called wrongly.",
};

int command_compare(int argc, char **argv)
{
    settings asked = {.samples = 200, .noise = 0.2, .hidden = {.size = {16, 16}, .count = 2}};
    const option_row rows[] = {
        row_whole("samples", "N", &asked.samples, 1, 1000000000000000, "points to draw (200)"),
        row_number("noise", &asked.noise, 0, 1000, "standard deviation of the noise on them (0.2)"),
        row_whole("seed", "S", &asked.seed, 0, UINT32_MAX, "of points and weights (0)"),
        row_sizes("hidden", "N,N,...", &asked.hidden, 1, 1000000, "widths of the hidden layers (16,16), or 'none'"),
        row_choice("like", "WHOSE", &asked.like, like_words,
                   "float32 arithmetic: 'tenon', or 'torch': PyTorch 2.15's, its bits on the lesson's net"),
        row_json(&asked.json),
    };
    int n = sizeof rows / sizeof *rows;
    int code = options_read(&text, rows, n, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    return compare(&asked);
}
