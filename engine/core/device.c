/* Devices and layouts by name, which of them there are, and the way from one device to the other. */
#include "core/device.h"

#include <string.h>

#include "base/error.h"

_Thread_local tn_device tni_default_device __attribute__((tls_model("initial-exec"))) = {TN_CPU, 0};

static const char *const device_words[] = {[TN_CPU] = "cpu", [TN_META] = "meta", [TN_CUDA] = "cuda"};

const char *tn_device_type_name(tn_device_type type)
{
    return (unsigned)type <= TN_CUDA ? device_words[type] : "invalid";
}

tn_device tn_device_from_name(const char *name)
{
    tn_device device = {TN_CPU, 0};
    if (tni_pending())
        return device;
    if (!name) {
        TNI_FAIL_NULL("device_from_name", 1, "name");
        return device;
    }
    for (int type = TN_CPU; type <= TN_CUDA; type++) {
        size_t length = strlen(device_words[type]);
        if (strncmp(name, device_words[type], length) != 0)
            continue;
        const char *digit = name + length;
        if (*digit == ':' && digit[1] >= '0' && digit[1] <= '9') {
            int index = 0;
            for (digit++; *digit >= '0' && *digit <= '9' && index < 100; digit++)
                index = 10 * index + (*digit - '0');
            device.index = index;
        }
        if (*digit != '\0')
            continue;
        device.type = (tn_device_type)type;
        return device;
    }
    TNI_FAIL(TN_ERROR_NAME, "device_from_name",
             "found \"%.40s\", needed a device such as \"cpu\", \"meta\" or \"cuda:0\"", name);
    return device;
}

tn_status tni_check_device(const char *function, tn_device device)
{
    if (device.type == TN_CPU || device.type == TN_META)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_DEVICE, function, "found %s:%d, needed cpu or meta: there is no other device here",
                    tn_device_type_name(device.type), device.index);
}

tn_status tn_set_default_device(tn_device device)
{
    if (tni_pending())
        return tni_pending();
    if (tni_check_device("set_default_device", device))
        return tni_pending();
    tni_default_device = device;
    return TN_OK;
}

tn_device tn_get_default_device(void)
{
    return tni_default_device;
}

static const char *const layout_words[] = {
    [TN_STRIDED] = "strided",       [TN_SPARSE_COO] = "sparse_coo", [TN_SPARSE_CSR] = "sparse_csr",
    [TN_SPARSE_CSC] = "sparse_csc", [TN_SPARSE_BSR] = "sparse_bsr", [TN_SPARSE_BSC] = "sparse_bsc",
    [TN_MKLDNN] = "mkldnn",         [TN_JAGGED] = "jagged",
};
enum { LAYOUTS = sizeof layout_words / sizeof *layout_words };

const char *tn_layout_name(tn_layout layout)
{
    return (unsigned)layout < LAYOUTS ? layout_words[layout] : "invalid";
}

tn_layout tn_layout_from_name(const char *name)
{
    if (tni_pending())
        return TN_STRIDED;
    if (!name) {
        TNI_FAIL_NULL("layout_from_name", 1, "name");
        return TN_STRIDED;
    }
    for (int layout = 0; layout < LAYOUTS; layout++)
        if (strcmp(name, layout_words[layout]) == 0)
            return (tn_layout)layout;
    TNI_FAIL(TN_ERROR_NAME, "layout_from_name",
             "found \"%.40s\", needed a layout such as \"strided\", \"sparse_coo\" or \"jagged\"", name);
    return TN_STRIDED;
}

tn_status tni_check_layout(const char *function, tn_layout layout)
{
    if (layout == TN_STRIDED)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, function,
                    "found layout %s, needed strided: there is no other layout here", tn_layout_name(layout));
}

tn_tensor *tn_to_device(tn_tensor *x, tn_device device)
{
    const char *function = "to_device";
    if (tni_check_tensor(function, 1, "x", x) || tni_check_device(function, device))
        return NULL;
    if (device.type == (tn_device_type)x->device) {
        if (!tni_scope_room(function))
            return NULL;
        tn_retain(x);
        tni_scope_hold(&x->object);
        return x;
    }
    if (device.type == TN_CPU) {
        TNI_FAIL(TN_ERROR_DEVICE, function, "the tensor is on meta, which has no data to take to cpu");
        return NULL;
    }
    const tni_record record = {.dtype = x->dtype, .device = TN_META, .ndim = x->ndim, .sizes = x->sizes,
                               .strides = x->strides, .numel = x->numel};
    return tni_tensor_new(function, &record);
}
