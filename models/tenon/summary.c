/* tenon summary: the layers of a net as a table. */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "command.h"
#include "net.h"
#include "options.h"
#include "report.h"

typedef struct settings {
    net_shape shape;
    int64_t batch;
    int dtype;
} settings;

static int put(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) != bytes;
}

static int summary(const settings *asked)
{
    tn_scope scope = tn_scope_begin();
    tn_dtype dtype = dtype_of_word(asked->dtype);
    tn_module *net = net_build(&asked->shape, dtype);
    tn_summary_write(net, (int64_t[]){asked->batch, asked->shape.inputs}, 2, dtype, put, stdout);
    int code = EXIT_DONE;
    if (tn_error_code()) {
        report("summary", "%s", tn_error_message());
        code = EXIT_FAILED;
    }
    tn_error_clear();
    tn_scope_end(scope);
    return code;
}

static void write_help(const option_row *rows, int n)
{
    puts("Usage: tenon summary [OPTION]...\n\n"
         "Shows the layers of a net: name, class, output shape, dtype, parameters, multiply-adds, bytes.\n"
         "No weights are made.\n\n"
         "Options:");
    options_write_help(rows, n);
    puts("\nExamples:\n"
         "  tenon summary                                            the net that 'tenon train moons' trains\n"
         "  tenon summary --inputs 784 --hidden 128 --outputs 10     one for images of 28 x 28, ten classes\n"
         "  tenon summary --hidden 64,64,64 --batch 32               what a batch of 32 costs\n\n"
         "Exit code: 0 done, 1 failed (sizes that 64 bits do not hold, output lost), 2 called wrongly.");
}

int command_summary(int argc, char **argv)
{
    settings asked = {
        .shape = {.inputs = 2, .outputs = 1, .hidden = {.size = {16, 16}, .count = 2}}, .batch = 1, .dtype = 0};
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
        {.name = "batch",
         .argument = "N",
         .help = "samples that go through at once (1)",
         .kind = &option_whole,
         .value = &asked.batch,
         .low = 1,
         .high = 1000000000},
        {.name = "dtype",
         .argument = "DTYPE",
         .help = "float32 or float64 (float32)",
         .kind = &option_choice,
         .value = &asked.dtype,
         .words = dtype_words},
    };
    int n = sizeof rows / sizeof *rows;
    switch (options_read("summary", rows, n, argc, argv)) {
    case OPTIONS_HELP:
        write_help(rows, n);
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_MISUSED;
    case OPTIONS_GO_ON:
        break;
    }
    return summary(&asked);
}
