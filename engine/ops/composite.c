/* The table of functions made of operators, for calls by name. The typed functions do the work. */
#include "ops/composite.h"

#include <tenon/create.h>
#include <tenon/dlpack.h>
#include <tenon/lazy.h>

#define PARAM(name, code)    {name, code, false, -1, 0}
#define OPTIONAL(name, code) {name, code, true, -1, 0}

static tni_composite_result one(tn_tensor *x)
{
    return (tni_composite_result){.one = x};
}

/* A dim; an integer that no int holds becomes one that no tensor has. */
static int dim_of(const tn_value *value, int otherwise)
{
    if (value->kind == TN_VALUE_NONE)
        return otherwise;
    int64_t dim = value->as.scalar.value.i;
    return dim > INT32_MAX ? INT32_MAX : dim < INT32_MIN ? INT32_MIN : (int)dim;
}

static tn_dtype dtype_of(const tn_value *value)
{
    return value->kind == TN_VALUE_NONE ? TN_DTYPE_NONE : value->as.dtype;
}

static tni_composite_result call_cat(const tn_value *v)
{
    return one(tn_cat(v[0].as.tensors.data, v[0].as.tensors.n, dim_of(&v[1], 0)));
}

static tni_composite_result call_stack(const tn_value *v)
{
    return one(tn_stack(v[0].as.tensors.data, v[0].as.tensors.n, dim_of(&v[1], 0)));
}

static tni_composite_result call_tensor_from(const tn_value *v)
{
    return one(tn_tensor_from(v[0].as.tensor, dtype_of(&v[1])));
}

static tni_composite_result call_conj_physical(const tn_value *v)
{
    return one(tn_conj_physical(v[0].as.tensor));
}

static tni_composite_result call_zero_tensor(const tn_value *v)
{
    return one(tn_zero_tensor(v[0].as.ints.data, v[0].as.ints.n, dtype_of(&v[1])));
}

/* A second tensor around the same memory, as through another library. */
static tni_composite_result call_from_shared(const tn_value *v)
{
    tn_dlpack *shared = tn_to_dlpack(v[0].as.tensor);
    return one(shared ? tn_from_dlpack(shared) : NULL);
}

/* clang-format off */
const tni_composite tni_composites[] = {
    {"cat", {PARAM("tensors", 'G'), OPTIONAL("dim", 'I')}, 2, false, false, call_cat},
    {"stack", {PARAM("tensors", 'G'), OPTIONAL("dim", 'I')}, 2, false, false, call_stack},
    {"tensor_from", {PARAM("self", 'T'), OPTIONAL("dtype", 'D')}, 2, false, false, call_tensor_from},
    {"from_shared", {PARAM("self", 'T')}, 1, false, false, call_from_shared},
    {"conj_physical", {PARAM("self", 'T')}, 1, false, false, call_conj_physical},
    {"zero_tensor", {PARAM("size", 'L'), OPTIONAL("dtype", 'D')}, 2, false, false, call_zero_tensor},
};
/* clang-format on */

const int tni_composite_count = sizeof tni_composites / sizeof *tni_composites;
