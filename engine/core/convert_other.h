/* The table of conversions that core/convert.c falls back on: [from][to], NULL where there is none. */
#ifndef TNI_CORE_CONVERT_OTHER_H
#define TNI_CORE_CONVERT_OTHER_H

#include "core/convert.h"

extern const tni_converter tni_conversions[TN_DTYPE_COUNT][TN_DTYPE_COUNT];

#endif
