/* The loss of a batch by its kind, and the score of a net over a dataset: means weighted by samples. */
#include "evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/extend.h>
#include <tenon/losses.h>
#include <tenon/ops.h>
#include <tenon/train.h>
#include <tenon/views.h>

#include "modes.h"
#include "shapes.h"

enum { EVALUATION_BATCH = 1024 };

tn_status tni_check_loss(const char *function, const tni_loss *loss)
{
    if (!loss->function && (loss->kind < TN_FIT_BCE || loss->kind > TN_FIT_SMOOTH_L1))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "loss is %d, which is none", (int)loss->kind);
    return TN_OK;
}

/* Labels in the dtype and shape of the output. */
static tn_tensor *like_output(const char *function, tn_tensor *output, tn_tensor *target)
{
    char found[2][80];
    if (tn_numel(output) != tn_numel(target)) {
        tn_format_shape(found[0], sizeof found[0], tn_sizes(output), tn_ndim(output));
        tn_format_shape(found[1], sizeof found[1], tn_sizes(target), tn_ndim(target));
        TN_FAIL(TN_ERROR_SHAPE, function, "the outputs have shape %s, the labels %s: needed one label an output",
                found[0], found[1]);
        return NULL;
    }
    if (tn_tensor_dtype(target) != tn_tensor_dtype(output))
        target = tn_to(target, tn_tensor_dtype(output));
    return target && !tni_same_shape(output, target) ? tn_reshape(target, tn_sizes(output), tn_ndim(output)) : target;
}

tn_tensor *tn_module_loss(tn_tensor *output, tn_tensor *target, void *module)
{
    if (output && target && tn_numel(output) == tn_numel(target))
        target = like_output("module_loss", output, target);
    return tn_forward_loss(module, output, target);
}

tn_tensor *tni_loss_of(const char *function, const tni_loss *loss, tn_tensor *output, tn_tensor *target)
{
    if (!output || tn_error_code())
        return NULL;
    if (!target) {
        TN_FAIL(TN_ERROR_ARGUMENT, function, "the dataset has no labels");
        return NULL;
    }
    if (loss->function)
        return loss->function(output, target, loss->context);
    if (loss->kind != TN_FIT_CROSS_ENTROPY && !(target = like_output(function, output, target)))
        return NULL;
    switch (loss->kind) {
    case TN_FIT_CROSS_ENTROPY:
        return tn_cross_entropy(output, target, TN_MEAN);
    case TN_FIT_MSE:
        return tn_mse_loss(output, target, TN_MEAN);
    case TN_FIT_L1:
        return tn_l1_loss(output, target, TN_MEAN);
    case TN_FIT_SMOOTH_L1:
        return tn_smooth_l1_loss(output, target, 1.0, TN_MEAN);
    default:
        return tn_bce_with_logits(output, target, TN_MEAN);
    }
}

/* Whether its outputs are logits of classes. */
static bool knows_classes(const tni_loss *loss)
{
    static const char *const names[] = {"BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss"};
    if (!loss->function)
        return loss->kind == TN_FIT_BCE || loss->kind == TN_FIT_CROSS_ENTROPY;
    const char *name = loss->function == tn_module_loss ? tn_module_name(loss->context) : NULL;
    for (int i = 0; name && i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The share of a batch that is right; NaN where there are no classes. */
static double accuracy_of(const tni_loss *loss, tn_tensor *output, tn_tensor *target)
{
    const bool classes = target && !tn_is_floating_point(tn_tensor_dtype(target));
    if (!classes || tn_ndim(target) != 1 || tn_error_code() || !knows_classes(loss))
        return (double)NAN;
    return tn_accuracy(output, target);
}

static tn_status sum_up(const char *function, tn_module *module, tn_loader *batches, const tni_loss *loss,
                        tn_score *sum)
{
    *sum = (tn_score){0};
    for (tn_batch b; tn_loader_next(batches, &b);) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *output = tn_forward(module, b.x), *value = tni_loss_of(function, loss, output, b.y);
        const double n = (double)tn_size(b.x, 0);
        sum->loss += value ? tn_item(value) * n : 0.0;
        sum->accuracy += output ? round(accuracy_of(loss, output, b.y) * n) : 0.0;
        sum->samples += (int64_t)n;
        tn_scope_end(scope);
    }
    return tn_error_code();
}

tn_status tni_evaluate(const char *function, tn_module *module, tn_dataset *dataset, const tni_loss *loss,
                       int64_t batch_size, tn_score *score)
{
    const tn_loader_options options = {.batch_size = batch_size ? batch_size : EVALUATION_BATCH};
    tn_score sum;
    if (batch_size < 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "batch_size is %" PRId64 ", needed 0 or more", batch_size);
    if (tni_check_loss(function, loss))
        return tn_error_code();
    tn_scope scope = tn_scope_begin();
    tn_loader *batches = tn_loader_new(dataset, &options);
    tni_modes modes = {.n = 0};
    tn_grad_mode mode = tn_no_grad();
    if (batches && !tni_modes_note(&modes, module) && !tn_module_eval(module) &&
        !sum_up(function, module, batches, loss, &sum))
        *score = (tn_score){.loss = sum.loss / (double)sum.samples,
                            .accuracy = sum.accuracy / (double)sum.samples,
                            .samples = sum.samples};
    tni_modes_restore(&modes);
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    return tn_error_code();
}

tn_status tn_evaluate(tn_module *module, tn_dataset *dataset, tn_fit_loss loss, tn_loss_function function,
                      void *context, int64_t batch_size, tn_score *score)
{
    if (tn_error_code())
        return tn_error_code();
    if (!module || !dataset)
        return TN_FAIL_NULL("evaluate", module ? 2 : 1, module ? "dataset" : "module");
    if (!score)
        return TN_FAIL_NULL("evaluate", 7, "score");
    return tni_evaluate("evaluate", module, dataset, &(tni_loss){loss, function, context}, batch_size, score);
}
