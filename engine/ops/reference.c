/* Reference arithmetic: linear and sigmoid whose every rounding is defined. The orders are described in tenon/ops.h; the sums are
 * cpu/gemm_reference.h's. Slow on purpose: they are what other results are measured against. */
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "cpu/gemm_reference.h"
#include "cpu/sleef_twin.h"
#include "ops/linear_shape.h"
#include "ops/operators.h"

#define REAL_DTYPES (TNI_DTYPE_BIT(TN_FLOAT32) | TNI_DTYPE_BIT(TN_FLOAT64))

typedef struct order_attr {
    int64_t order;
} order_attr;

static tn_status check_order(const tni_call *call)
{
    int64_t order = ((const order_attr *)call->attr)->order;
    if (order >= TN_ORDER_SEQUENTIAL && order <= TN_ORDER_MKL)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "order %lld, needed %d .. %d", (long long)order, TN_ORDER_SEQUENTIAL,
                    TN_ORDER_MKL);
}
