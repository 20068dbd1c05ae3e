/* Which devices and layouts there are. */
#ifndef TNI_CORE_DEVICE_H
#define TNI_CORE_DEVICE_H

#include "core/tensor.h"

extern _Thread_local tn_device tni_default_device __attribute__((tls_model("initial-exec")));

/* Refuses, by name, a device or layout that only parses. */
tn_status tni_check_device(const char *function, tn_device device);
tn_status tni_check_layout(const char *function, tn_layout layout);

#endif
