/* The audit of gradients after a backward. */
#include <stdio.h>
#include <string.h>
#include <tenon/anomaly.h>

#include "autograd/census.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "base/text.h"
#include "core/print.h"

static tn_gradient_finding find(const tn_tensor *x)
{
    const tni_tape *tape = tni_tape_of(x);
    const tn_tensor *grad = tape ? tape->grad : NULL;
    tn_gradient_finding finding = {.state = TN_GRADIENT_GOOD};
    if (grad) {
        const tni_census census = tni_census_of(grad);
        finding.numel = grad->numel;
        finding.zeros = census.zeros;
        finding.nans = census.nans;
        finding.infinities = census.infinities;
        finding.largest = census.largest;
    }
    if (!tni_requires_grad(x))
        finding.state = TN_GRADIENT_NOT_REQUIRED;
    else if (!grad)
        finding.state = TN_GRADIENT_NONE;
    else if (finding.nans || finding.infinities)
        finding.state = TN_GRADIENT_NOT_FINITE;
    else if (finding.numel > 0 && finding.zeros == finding.numel)
        finding.state = TN_GRADIENT_ZERO;
    return finding;
}

static tn_status check(tn_tensor *const *parameters, int n)
{
    if (tni_pending())
        return tni_pending();
    if (n < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "audit_gradients", "%d parameters, needed 0 or more", n);
    if (!parameters && n > 0)
        return TNI_FAIL_NULL("audit_gradients", 1, "parameters");
    for (int i = 0; i < n; i++)
        if (tni_check_tensor("audit_gradients", 1, "parameters", parameters[i]))
            return tni_pending();
    return TN_OK;
}

int tn_audit_gradients(tn_tensor *const *parameters, int n, tn_gradient_finding *findings)
{
    int faults = 0;
    if (check(parameters, n))
        return -1;
    for (int i = 0; i < n; i++) {
        const tn_gradient_finding finding = find(parameters[i]);
        faults += finding.state != TN_GRADIENT_GOOD;
        if (findings)
            findings[i] = finding;
    }
    return faults;
}

static void state_text(const tn_gradient_finding *finding, char *buf, size_t size)
{
    static const char *const texts[] = {[TN_GRADIENT_NOT_REQUIRED] = "requires_grad is off",
                                        [TN_GRADIENT_NONE] = "no gradient: nothing that was walked depends on it",
                                        [TN_GRADIENT_ZERO] = "every element of the gradient is 0"};
    if (finding->state != TN_GRADIENT_NOT_FINITE)
        snprintf(buf, size, "%s", texts[finding->state]);
    else
        snprintf(buf, size, "not finite: %lld nan and %lld infinite of %lld", (long long)finding->nans,
                 (long long)finding->infinities, (long long)finding->numel);
}

static const char *name_of(const char *const *names, int i, char buf[24])
{
    if (names && names[i])
        return names[i];
    snprintf(buf, 24, "parameter %d", i);
    return buf;
}

static void put_padded(tni_out *out, const char *text, int width)
{
    for (const char *at = text; *at; at++) {
        char c = (unsigned char)*at < 32 || *at == 127 ? ' ' : *at;
        tni_put(out, &c, 1);
    }
    tni_put_spaces(out, width + 2 - (int)strlen(text));
}

static void put_faults(tni_out *out, tn_tensor *const *parameters, const char *const *names, int n, int width)
{
    char buf[24], text[200];
    for (int i = 0; i < n; i++) {
        const tn_gradient_finding finding = find(parameters[i]);
        const tn_tensor *x = parameters[i];
        if (finding.state == TN_GRADIENT_GOOD)
            continue;
        tni_put_text(out, "  ");
        put_padded(out, name_of(names, i, buf), width);
        int used = snprintf(text, sizeof text, "%s ", tn_dtype_name((tn_dtype)x->dtype));
        tni_text_shape(text + used, sizeof text - (size_t)used, x->sizes, x->ndim);
        put_padded(out, text, 18);
        state_text(&finding, text, sizeof text);
        tni_put_text(out, text);
        tni_put_newlines(out, 1);
    }
}

tn_status tn_audit_write(tn_tensor *const *parameters, const char *const *names, int n, tn_text_writer write,
                         void *context)
{
    char gathered[256], buf[24], text[120];
    int width = 0, faults;
    if (!tni_pending() && !write)
        return TNI_FAIL_NULL("audit_write", 4, "write");
    faults = tn_audit_gradients(parameters, n, NULL);
    if (faults < 0)
        return tni_pending();
    for (int i = 0; i < n; i++) {
        size_t length = strlen(name_of(names, i, buf));
        width = length > (size_t)width && length < 60 ? (int)length : width;
    }
    tni_out out = {.buf = gathered, .size = sizeof gathered, .write = write, .context = context};
    snprintf(text, sizeof text, "%d parameter%s: %d with a good gradient, %d without", n, n == 1 ? "" : "s", n - faults,
             faults);
    tni_put_text(&out, text);
    tni_put_newlines(&out, 1);
    put_faults(&out, parameters, names, n, width);
    tni_flush(&out);
    return out.refused ? TNI_FAIL(TN_ERROR_FILE, "audit_write", "the function that takes the text refused it") : TN_OK;
}
