/* The thread's modes: whether calls are recorded. A mode is a bit of the masks that dispatch looks at anyway. In
 * inference mode nothing is recorded, not even inside of enable_grad. */
#include <tenon/autograd.h>

#include "autograd/inference.h"
#include "base/thread.h"
#include "core/tensor.h"
#include "dispatch/keys.h"

static tn_grad_mode mode_now(void)
{
    const tni_thread *thread = &tni_this_thread;
    bool enabled = thread->inference ? thread->grad_in_inference : !(thread->exclude & TNI_KEY_TAPE);
    return (tn_grad_mode){enabled, thread->inference};
}

static tn_grad_mode switch_to(bool enabled, bool inference)
{
    tni_thread *thread = &tni_this_thread;
    tn_grad_mode before = mode_now();
    thread->exclude = enabled && !inference ? thread->exclude & ~TNI_KEY_TAPE : thread->exclude | TNI_KEY_TAPE;
    thread->include = inference ? thread->include | TNI_KEY_INFERENCE : thread->include & ~TNI_KEY_INFERENCE;
    thread->inference = inference;
    thread->grad_in_inference = enabled;
    return before;
}

tn_grad_mode tn_no_grad(void)
{
    return switch_to(false, tni_this_thread.inference);
}

tn_grad_mode tn_enable_grad(void)
{
    return switch_to(true, tni_this_thread.inference);
}

tn_grad_mode tn_inference_mode(void)
{
    tni_set_layer(TNI_INFERENCE_BIT, tni_inference_layer, NULL);
    return switch_to(false, true);
}

void tn_grad_mode_restore(tn_grad_mode mode)
{
    switch_to(mode.enabled, mode.inference);
}

bool tn_is_grad_enabled(void)
{
    return mode_now().enabled;
}

bool tn_is_inference(const tn_tensor *x)
{
    return !tni_check_tensor("is_inference", 1, "self", x) && x->keys & TNI_KEY_INFERENCE;
}

bool tn_is_inference_mode(void)
{
    return mode_now().inference;
}
