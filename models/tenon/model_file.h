/* A trained net with what is needed to use it, and its file: safetensors that PyTorch reads, with the rest among the
 * metadata: shape, activation, what it was trained to say, names of columns and classes, how inputs are scaled. */
#ifndef TENON_MODEL_FILE_H
#define TENON_MODEL_FILE_H

#include <stdint.h>
#include <tenon/tenon.h>

#include "net.h"

/* One logit; one for each class; one number. */
enum task { TASK_BINARY, TASK_CLASSES, TASK_REGRESSION };
extern const tn_fit_loss task_losses[];
extern const char *const task_words[]; /* "binary", "classes", "regression"; ends in NULL */

typedef struct model {
    net_shape shape;
    tn_dtype dtype;
    tn_module *net;
    int task;
    const char *label;         /* of the column, as it was asked for; NULL: none */
    const char *label_name;    /* of the column in the header; NULL: it had none */
    tn_tensor *mean, *scale;   /* of the inputs [inputs]; NULL: as they are */
    tn_tensor *y_mean, *y_scale; /* of the target, 0-dim; NULL: as it is */
    int64_t classes;
    const char **class_names; /* `classes` of them, or NULL */
    const char **columns;     /* inputs of them, or NULL */
} model;

/* The two lists are the model's, their strings are not: a dataset's, or those of the file in the innermost scope. */
void model_free(model *it);

/* The names that came with a table. false: no memory. */
bool model_names_of(model *it, tn_dataset *table);

void model_save(const model *it, const char *path);

/* Reads net and all from the file. An error is pending afterwards if it is none of model_save's. */
void model_load(model *it, const char *path);

/* The same of the run in a folder, or of the file itself. */
void model_load_from(model *it, const char *operand);

/* What the net makes of x, its inputs standardised; gradients are not recorded. [n, outputs] */
tn_tensor *model_outputs(const model *it, tn_tensor *x);

/* x and y in the terms that the net was trained on. */
tn_dataset *model_dataset(const model *it, tn_dataset *raw);

#endif
