/* Replays recorded programs through calls by name, and compares what came with what was recorded. */
#ifndef TENON_TESTS_CONFORMANCE_REPLAY_H
#define TENON_TESTS_CONFORMANCE_REPLAY_H

#include <jansson.h>
#include <stdbool.h>
#include <tenon/tenon.h>

enum { NAMES = 2048, TEXT = 1024, MODES = 16, HOOKS = 64, OPTIMIZERS = 16 };

/* How a part of a case is judged; the first that differs names the case's failure. */
typedef enum level { LEVEL_CORE, LEVEL_LAYOUT, LEVEL_SHARING, LEVEL_VERSION, LEVEL_TAPE, LEVEL_NAMES, LEVELS } level;
extern const char *const level_names[LEVELS];

/* A hook that the program registered. */
typedef struct replay_hook {
    struct replay *replay;
    const char *label;
    const json_t *action; /* what it makes of the gradient; NULL or null: nothing */
    tn_tensor *tensor;
    int64_t handle;
} replay_hook;

/* A program under way: its names, in the order of their binding, and what was recorded. */
typedef struct replay {
    const json_t *program;
    struct {
        const char *name;
        tn_tensor *tensor;
    } names[NAMES];
    int n_names;
    tn_grad_mode modes[MODES]; /* before each mode that is open */
    int n_modes;
    replay_hook hooks[HOOKS];
    struct {
        const char *name;
        tn_optimizer *optimizer;
    } optimizers[OPTIMIZERS];
    int n_optimizers;
    int n_hooks;
    json_t *observed, *attempts, *printed, *events, *error;
    char missing[128]; /* what is not there yet: the case is skipped */
} replay;

/* Whether a case can run and be compared, all of it; else *wrong says what is malformed. */
bool case_is_well_formed(const json_t *test, char *wrong, size_t size);

/* Runs the program of a well-formed case inside the innermost scope. With something missing nothing has run. */
void replay_run(replay *r, const json_t *program);
void replay_free(replay *r);
tn_tensor *replay_find(const replay *r, const char *name);
void replay_bind(replay *r, const char *name, tn_tensor *x);

/* Whether PyTorch has a dtype of this name and the library has none. */
bool is_foreign_dtype(const char *name);
/* The parameters of a call or a query (vocabulary.def), or whether it is one of a later family; and whether the library
 * has it. */
bool word_codes(const char *name, const char **codes);
bool query_codes(const char *name, const char **codes);
bool word_is_later(const char *name);
bool word_is_there(const json_t *call, char *missing, size_t size);
bool query_is_there(const json_t *query, char *missing, size_t size);

/* Runs a call; what it gives is bound to *one, or to *several for a call with several results (or none of both for an
 * effect). An error of the library stays pending. */
void word_call(const replay *r, const json_t *call, tn_tensor **one, tn_list **several);
/* The answer, or NULL with an error pending. */
json_t *query_answer(const replay *r, const json_t *query);

/* Boxing: JSON to what calls by name take. Memory is kept until boxes_free. */
typedef struct boxes {
    tn_value values[8];
    int n;
    struct block *blocks;
} boxes;
/* Boxes arguments from `first` on by codes; false with an error raised by the runner for what does not fit. */
bool box_all(boxes *b, const replay *r, const json_t *call, const char *codes);
void boxes_free(boxes *b);
tn_scalar number_of(const json_t *number);

/* Statements about the tape; false: it is another kind. tape_end ends the modes that are still open. */
bool tape_statement(replay *r, const json_t *statement);
/* The same about optimizers. */
bool optim_statement(replay *r, const json_t *statement);
void tape_end(replay *r);
/* Calls about the tape, run where boxes are given; false: it is another call. And queries; NULL: it is another. */
bool tape_call(const char *name, const boxes *b, tn_tensor **one, tn_list **several);
json_t *tape_answer(const char *name, tn_tensor *x);
/* requires_grad, retains_grad, is_leaf, grad, grad_fn, grad_fn_error, where they are not what a plain tensor has. */
json_t *describe_tape(tn_tensor *x);

/* Elements as JSON. */
json_t *nested_values(const tn_tensor *x);
json_t *scalar_json(tn_scalar value, tn_dtype dtype);
json_t *describe(const tn_tensor *x);
json_t *error_json(const tn_error *error);

/* Compares a case's expectation with the replay: the text of the first difference of each level, "" where there is
 * none. */
void compare_case(const replay *r, const json_t *test, char differences[LEVELS][TEXT]);

/* Reads a line of JSON; integers beyond 64 bits become strings "#digits". */
json_t *read_line(const char *line);

#endif
