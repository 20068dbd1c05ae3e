/* The training loop. */
#include <tenon/extend.h>
#include <tenon/fit.h>

tn_status tn_evaluate(tn_module *module, tn_dataset *dataset, tn_fit_loss loss, tn_loss_function function,
                      void *context, int64_t batch_size, tn_score *score)
{
    (void)module, (void)dataset, (void)loss, (void)function, (void)context, (void)batch_size, (void)score;
    return TN_FAIL(TN_ERROR_NOT_IMPLEMENTED, "evaluate", "not there yet");
}

tn_status tn_fit(const tn_fit_options *options, tn_fit_result *result)
{
    (void)options, (void)result;
    return TN_FAIL(TN_ERROR_NOT_IMPLEMENTED, "fit", "not there yet");
}
