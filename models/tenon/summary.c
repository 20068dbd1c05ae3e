/* tenon summary: the layers of a net, of one that was trained or of one that is described, as a table. */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "command.h"
#include "model_file.h"
#include "net.h"
#include "options.h"
#include "report.h"

typedef struct settings {
    const char *run; /* NULL: the rest says what the net is */
    net_shape shape; /* numbers below 0 while they are not given */
    int64_t batch;
    int dtype;
} settings;

static int put(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) != bytes;
}

static int summary(const settings *asked)
{
    model m = {.shape = asked->shape, .dtype = dtype_of_word(asked->dtype)};
    if (asked->run)
        model_load_from(&m, asked->run);
    else
        m.net = net_build(&m.shape, m.dtype);
    tn_summary_write(m.net, (int64_t[]){asked->batch, m.shape.inputs}, 2, m.dtype, put, stdout);
    model_free(&m);
    return EXIT_DONE;
}

static const command_text text = {
    .name = "summary",
    .usage = "Usage: tenon summary [DIR] [OPTION]...\n\n"
             "Shows the layers of a net: name, class, output shape, dtype, parameters, multiply-adds, bytes.\n"
             "DIR is the folder of a run of 'tenon train --out DIR', or a model.safetensors; without it the\n"
             "options say what the net is, and no weights are made.",
    .examples = "Examples:\n"
                "  tenon summary                                            the net that 'tenon train moons' trains\n"
                "  tenon summary run --batch 32                             what 32 samples cost the net in run/\n"
                "  tenon summary --inputs 784 --hidden 128 --outputs 10     one for images of 28 x 28, ten classes\n\n"
                "Exit code: 0 done, 1 failed (no such net, sizes that 64 bits do not hold, output lost), 2 called\n"
                "wrongly.",
};

/* The rows before --batch describe a net, which the one in the folder does itself. */
static bool check(settings *asked, const option_row *rows)
{
    const bool given[] = {asked->shape.inputs > 0, asked->shape.hidden.count >= 0, asked->shape.outputs > 0,
                          asked->shape.activation >= 0, asked->dtype >= 0};
    for (int i = 0; asked->run && i < 5; i++)
        if (given[i]) {
            report("summary", "--%s: found also '%s', a net that is there: needed one of them", rows[i].name,
                   asked->run);
            report_hint("summary");
            return false;
        }
    if (!given[0])
        asked->shape.inputs = 2;
    if (!given[1])
        asked->shape.hidden = (size_list){.size = {16, 16}, .count = 2};
    if (!given[2])
        asked->shape.outputs = 1;
    if (!given[3])
        asked->shape.activation = 0;
    if (!given[4])
        asked->dtype = 0;
    return true;
}

int command_summary(int argc, char **argv)
{
    settings asked = {
        .shape = {.inputs = -1, .outputs = -1, .hidden.count = -1, .activation = -1}, .batch = 1, .dtype = -1};
    const option_row rows[] = {
        {.name = "inputs",
         .argument = "N",
         .help = "features of a sample (2)",
         .kind = &option_whole,
         .value = &asked.shape.inputs,
         .low = 1,
         .high = 1000000000},
        {.name = "hidden",
         .argument = "N,N,...",
         .help = "widths of the hidden layers (16,16), or 'none'",
         .kind = &option_sizes,
         .value = &asked.shape.hidden,
         .low = 1,
         .high = 1000000},
        {.name = "outputs",
         .argument = "N",
         .help = "outputs (1)",
         .kind = &option_whole,
         .value = &asked.shape.outputs,
         .low = 1,
         .high = 1000000000},
        {.name = "activation",
         .argument = "NAME",
         .help = "between the layers: relu, leaky_relu, sigmoid, tanh, gelu, silu, softplus (relu)",
         .kind = &option_choice,
         .value = &asked.shape.activation,
         .words = activation_words},
        {.name = "dtype",
         .argument = "DTYPE",
         .help = "float32 or float64 (float32)",
         .kind = &option_choice,
         .value = &asked.dtype,
         .words = dtype_words},
        {.name = "batch",
         .argument = "N",
         .help = "samples that go through at once (1)",
         .kind = &option_whole,
         .value = &asked.batch,
         .low = 1,
         .high = 1000000000},
    };
    int n = sizeof rows / sizeof *rows, first = argc;
    int code = options_read_operands(&text, rows, n, argc, argv, &first);
    if (code != OPTIONS_GO_ON)
        return code;
    if (argc - first > 1) {
        report("summary", "found also '%s', needed one folder of a run at most", argv[first + 1]);
        report_hint("summary");
        return EXIT_MISUSED;
    }
    asked.run = first < argc ? argv[first] : NULL;
    return check(&asked, rows) ? summary(&asked) : EXIT_MISUSED;
}
