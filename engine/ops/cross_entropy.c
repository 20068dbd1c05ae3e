/* cross_entropy: log_softmax and the loss of classes or of probabilities, with label smoothing. Made of operators, as
 * torch.nn.functional.cross_entropy is. */
#include <tenon/losses.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/tensor.h"

static const char name[] = "cross_entropy";

static int class_dim(const tn_tensor *x)
{
    return x->ndim > 1 ? 1 : 0;
}

/* Along the classes: of a weight [C] a shape that multiplies x. */
static tn_tensor *beside(tn_tensor *weight, const tn_tensor *x)
{
    int64_t sizes[TN_MAX_NDIM];
    for (int d = 0; d < x->ndim; d++)
        sizes[d] = d == class_dim(x) ? weight->numel : 1;
    return tn_view(weight, sizes, x->ndim);
}

static tn_tensor *minus_sum_of_classes(tn_tensor *x)
{
    const int dim = class_dim(x);
    return tn_neg(tn_sum(x, &dim, 1, false, TN_DTYPE_NONE));
}

static tn_tensor *sum_all(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static tn_tensor *of_probabilities(tn_tensor *logs, tn_tensor *target, const tn_cross_entropy_options *options)
{
    const int64_t classes = logs->sizes[class_dim(logs)];
    const double smoothing = options->label_smoothing;
    if (smoothing > 0)
        target = tn_add_scalar(tn_mul_scalar(target, tn_float(1 - smoothing)), tn_float(smoothing / (double)classes));
    tn_tensor *losses = tn_mul(logs, target);
    if (options->weight)
        losses = tn_mul(losses, beside(options->weight, logs));
    switch (options->reduction) {
    case TN_NONE:
        return losses ? minus_sum_of_classes(losses) : NULL;
    case TN_SUM:
        return tn_neg(sum_all(losses));
    default:
        return tn_div_scalar(tn_neg(sum_all(losses)), tn_float((double)logs->numel / (double)classes));
    }
}

/* The share of all classes alike: -sum_c w_c log p_c, of targets that are not ignored. */
static tn_tensor *of_all_classes(tn_tensor *logs, tn_tensor *target, const tn_cross_entropy_options *options,
                                 int64_t ignore_index)
{
    tn_tensor *weight = options->weight;
    tn_tensor *losses = minus_sum_of_classes(weight ? tn_mul(logs, beside(weight, logs)) : logs);
    tn_tensor *ignored = tn_eq_scalar(target, tn_int(ignore_index)), *counts;
    losses = tn_masked_fill(losses, ignored, tn_int(0));
    if (options->reduction == TN_NONE)
        return losses;
    if (options->reduction == TN_SUM)
        return sum_all(losses);
    if (weight) {
        const int64_t n = target->numel;
        tn_tensor *classes = tn_reshape(tn_masked_fill(target, ignored, tn_int(0)), &n, 1);
        tn_tensor *each = tn_index_select(weight, 0, classes);
        counts = sum_all(tn_masked_fill(each, tn_reshape(ignored, &n, 1), tn_int(0)));
    } else {
        counts = sum_all(tn_logical_not(ignored));
    }
    return tn_div(sum_all(losses), counts);
}

static tn_tensor *of_classes(tn_tensor *logs, tn_tensor *target, const tn_cross_entropy_options *options)
{
    const int64_t ignore_index = options->ignore ? options->ignore_index : -100;
    const double smoothing = options->label_smoothing;
    tn_tensor *loss = tn_nll_loss_weighted(logs, target, options->weight, ignore_index, options->reduction);
    if (smoothing == 0 || !loss)
        return loss;
    tn_tensor *all = of_all_classes(logs, target, options, ignore_index);
    const double classes = (double)logs->sizes[class_dim(logs)];
    return tn_add(tn_mul_scalar(all, tn_float(smoothing / classes)), tn_mul_scalar(loss, tn_float(1 - smoothing)));
}

static tn_status check(const tn_tensor *x, const tn_tensor *target, const tn_cross_entropy_options *options)
{
    if (tni_check_tensor(name, 1, "self", x) || tni_check_tensor(name, 2, "target", target))
        return tni_pending();
    if (!(options->label_smoothing >= 0 && options->label_smoothing <= 1))
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "label_smoothing is %g, needed 0 to 1", options->label_smoothing);
    if (x->ndim == 0)
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the input has no dims, needed [C] or [N, C, ...]");
    const tn_tensor *weight = options->weight;
    if (weight && (weight->ndim != 1 || weight->numel != x->sizes[class_dim(x)]))
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the weight has %lld elements, needed one for each of %lld classes",
                        (long long)weight->numel, (long long)x->sizes[class_dim(x)]);
    return TN_OK;
}

tn_tensor *tn_cross_entropy_with(tn_tensor *x, tn_tensor *target, const tn_cross_entropy_options *options)
{
    static const tn_cross_entropy_options none;
    options = options ? options : &none;
    if (check(x, target, options))
        return NULL;
    const bool probabilities = tni_same_dims(x->sizes, x->ndim, target->sizes, target->ndim);
    if (probabilities && tni_dtype_kind((tn_dtype)target->dtype) != TNI_FLOAT) {
        TNI_FAIL(TN_ERROR_DTYPE, name, "the target has the input's shape and is %s, needed probabilities",
                 tn_dtype_name((tn_dtype)target->dtype));
        return NULL;
    }
    tn_tensor *logs = tn_log_softmax(x, class_dim(x)), *loss = NULL;
    if (logs)
        loss = probabilities ? of_probabilities(logs, target, options) : of_classes(logs, target, options);
    if (!loss)
        tn_error_context(name); /* in front of nll_loss, say */
    return loss;
}

tn_tensor *tn_cross_entropy(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    return tn_cross_entropy_with(x, target, &(tn_cross_entropy_options){.reduction = reduction});
}
