/* A subcommand of `tenon`: one file with its function, one line in main.c's table. */
#ifndef TENON_COMMAND_H
#define TENON_COMMAND_H

/* What the process says when it ends. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSED = 2, EXIT_DIVERGED = 3 };

/* argv[0] is the subcommand's name. Writes its result on stdout, complaints on stderr; returns an exit code. main gives
 * it a scope, flushes, and reports the error that is still pending when it returns, which makes EXIT_FAILED of
 * EXIT_DONE. */
typedef int (*command_function)(int argc, char **argv);

int command_compare(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_gradcheck(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_summary(int argc, char **argv);
int command_train(int argc, char **argv);

#endif
