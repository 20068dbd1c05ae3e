/* The thread's modes: whether calls are recorded. A mode is a bit of the masks that dispatch looks at anyway. */
#include <tenon/autograd.h>

#include "base/thread.h"
#include "core/tensor.h"

static tn_grad_mode mode_now(void)
{
    const tni_thread *thread = &tni_this_thread;
    return (tn_grad_mode){!(thread->exclude & TNI_KEY_TAPE), thread->inference};
}

static tn_grad_mode switch_to(bool enabled, bool inference)
{
    tni_thread *thread = &tni_this_thread;
    tn_grad_mode before = mode_now();
    thread->exclude = enabled ? thread->exclude & ~TNI_KEY_TAPE : thread->exclude | TNI_KEY_TAPE;
    thread->inference = inference;
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
