/* tenon: finds the subcommand, runs it, and sees to it that what it wrote arrived. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tenon/alloc.h>
#include <tenon/error.h>
#include <tenon/scope.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "report.h"

typedef struct command {
    const char *name, *summary;
    command_function run;
} command;

static int command_help(int argc, char **argv);
static int command_version(int argc, char **argv);

static const command commands[] = {
    {"compare", "run a net on the two moons in float32 and float64, and say how far they part", command_compare},
    {"eval", "judge a trained net on other data: loss and accuracy", command_eval},
    {"explain", "show which memory a tensor reads: strides, order, the address formula, as text or a picture",
     command_explain},
    {"gradcheck", "check the derivatives of operators against differences, in both orders and both modes",
     command_gradcheck},
    {"help", "say this, or 'tenon help COMMAND' what a command does", command_help},
    {"inspect", "show what a file holds: names, dtypes, shapes, ranges of values, whether its checksum is right",
     command_inspect},
    {"predict", "write what a trained net says of each row of a file, as CSV", command_predict},
    {"summary", "show the layers of a net: output shapes, parameters, multiply-adds, bytes", command_summary},
    {"train", "train a net on points or on a file, with checkpoints to go on from", command_train},
    {"version", "say which version this is", command_version},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void write_usage(FILE *stream)
{
    fputs("Usage: tenon COMMAND [OPTION]...\n\nTensors and small neural nets, reproducible to the bit.\n\nCommands:\n",
          stream);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-10s%s\n", commands[i].name, commands[i].summary);
    fputs("\n'tenon COMMAND --help' explains a command and shows examples.\n"
          "Exit code: 0 done, 1 failed, 2 called wrongly, 3 a training diverged, 130 stopped by Ctrl-C.\n",
          stream);
}

static int refuse(const char *what, const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    static const char *const options[] = {"--help", "--version"};
    const char *close = name[0] == '-' ? nearest_name(name, options, 2) : nearest_name(name, names, COMMANDS);
    report(NULL, "found %s '%s', needed a command%s%s%s", what, name, close ? ": did you mean '" : "",
           close ? close : "", close ? "'?" : "");
    report_hint(NULL);
    return EXIT_MISUSED;
}

/* What a command makes dies behind it; an error that it leaves is said in its name. */
static int run_command(const command *it, int argc, char **argv)
{
    tn_scope scope = tn_scope_begin();
    int code = it->run(argc, argv);
    if (tn_error_code()) {
        report(it->name, "%s", tn_error_message());
        code = code == EXIT_DONE ? EXIT_FAILED : code;
    }
    tn_error_clear();
    tn_scope_end(scope);
    return code;
}

static int command_help(int argc, char **argv)
{
    if (argc < 2) {
        write_usage(stdout);
        return EXIT_DONE;
    }
    const command *about = find_command(argv[1]);
    if (argc > 2 || !about)
        return refuse("the word", argv[argc > 2 ? 2 : 1]);
    if (about->run == command_help || about->run == command_version) {
        printf("tenon %s: %s\n", about->name, about->summary);
        return EXIT_DONE;
    }
    char help[] = "--help", *asked[] = {argv[1], help, NULL};
    return run_command(about, 2, asked);
}

static int command_version(int argc, char **argv)
{
    if (argc > 1) {
        report("version", "found '%s', needed nothing more", argv[1]);
        return EXIT_MISUSED;
    }
    puts("tenon " TENON_VERSION);
    return EXIT_DONE;
}

/* A run that needs more than the machine's memory ends with a message instead of being killed half way. */
static void limit_memory(void)
{
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        tn_set_memory_limit((size_t)pages * (size_t)bytes);
#endif
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        report(NULL, "found no command, needed one");
        fputc('\n', stderr);
        write_usage(stderr);
        return EXIT_MISUSED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return command_help(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0)
        return command_version(argc - 1, argv + 1);
    const command *found = find_command(argv[1]);
    if (!found)
        return refuse(argv[1][0] == '-' ? "the option" : "the word", argv[1]);
    return run_command(found, argc - 1, argv + 1);
}

/* --json or the beginning of it that getopt takes, wherever it stands: complaints of what is before it are JSON too. */
static bool asks_for_json(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--j", 3) == 0 && strncmp(argv[i], "--json", strlen(argv[i])) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a limit of a file's size is an error of writing, which has a message */
    static char buffer[1 << 20]; /* room for all that a command says: if it is lost, the reason is known below */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error like that of a full disk */
    limit_memory();
    report_as_json(asks_for_json(argc, argv));
    int code = run(argc, argv);
    bool earlier = ferror(stdout);
    errno = 0;
    if (fflush(stdout) || earlier) {
        report(NULL, "writing to standard output: %s", errno ? strerror(errno) : "output was lost");
        return code ? code : EXIT_FAILED;
    }
    return code;
}
