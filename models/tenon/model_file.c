/* See model_file.h. */
#include "model_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tn_fit_loss task_losses[] = {
    [TASK_BINARY] = TN_FIT_BCE, [TASK_CLASSES] = TN_FIT_CROSS_ENTROPY, [TASK_REGRESSION] = TN_FIT_MSE};

const char *const task_words[] = {
    [TASK_BINARY] = "binary", [TASK_CLASSES] = "classes", [TASK_REGRESSION] = "regression", NULL};

void model_free(model *it)
{
    free(it->class_names);
    free(it->columns);
    it->class_names = it->columns = NULL;
}

bool model_names_of(model *it, tn_dataset *table)
{
    it->label_name = tn_dataset_label_name(table);
    if (tn_dataset_column_name(table, 0)) {
        it->columns = malloc((size_t)it->shape.inputs * sizeof *it->columns);
        if (!it->columns)
            return false;
        for (int64_t i = 0; i < it->shape.inputs; i++)
            it->columns[i] = tn_dataset_column_name(table, i);
    }
    if (it->classes && tn_dataset_class_name(table, 0)) {
        it->class_names = malloc((size_t)it->classes * sizeof *it->class_names);
        if (!it->class_names)
            return false;
        for (int64_t i = 0; i < it->classes; i++)
            it->class_names[i] = tn_dataset_class_name(table, i);
    }
    return true;
}

tn_tensor *model_outputs(const model *it, tn_tensor *x)
{
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *y = tn_forward(it->net, it->mean ? tn_standardise(x, it->mean, it->scale) : x);
    tn_grad_mode_restore(mode);
    return y;
}

tn_dataset *model_dataset(const model *it, tn_dataset *raw)
{
    tn_tensor *x = tn_dataset_x(raw), *y = tn_dataset_y(raw);
    if (it->mean)
        x = tn_standardise(x, it->mean, it->scale);
    if (it->y_mean)
        y = tn_standardise(y, it->y_mean, it->y_scale);
    return tn_tensor_dataset(x, y);
}
