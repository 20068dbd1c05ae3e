/* tenon: finds the subcommand, runs it, and sees to it that what it wrote arrived. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tenon/alloc.h>
#include <unistd.h>

#include "command.h"
#include "options.h"

typedef struct command {
    const char *name, *summary;
    command_function run;
} command;

static int command_help(int argc, char **argv);
static int command_version(int argc, char **argv);

static const command commands[] = {
    {"compare", "run a net on the two moons in float32 and float64, and say how far they part", command_compare},
    {"explain", "show which memory a tensor reads: strides, order, the address formula, as text or a picture",
     command_explain},
    {"help", "say this, or 'tenon help COMMAND' what a command does", command_help},
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
          "Exit code: 0 done, 1 failed, 2 called wrongly.\n",
          stream);
}

static int refuse(const char *what, const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *close = nearest_name(name, names, COMMANDS);
    fprintf(stderr, "tenon: found %s '%s', needed a command", what, name);
    if (close)
        fprintf(stderr, ": did you mean '%s'?", close);
    fputs("\nTry 'tenon --help'.\n", stderr);
    return EXIT_MISUSED;
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
    return about->run(2, asked);
}

static int command_version(int argc, char **argv)
{
    if (argc > 1) {
        fprintf(stderr, "tenon version: found '%s', needed nothing more\n", argv[1]);
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
        fputs("tenon: found no command, needed one\n\n", stderr);
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
    return found->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    limit_memory();
    int code = run(argc, argv);
    bool earlier = ferror(stdout);
    errno = 0;
    if (fflush(stdout) || earlier) {
        fprintf(stderr, "tenon: writing to standard output: %s\n", errno ? strerror(errno) : "output was lost");
        return code ? code : EXIT_FAILED;
    }
    return code;
}
