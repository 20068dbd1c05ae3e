/* The table of functions made of operators, for calls by name. The typed functions do the work. */
#include "ops/composite.h"

#include <tenon/create.h>
#include <tenon/dlpack.h>
#include <tenon/lazy.h>
#include <tenon/linalg.h>
#include <tenon/losses.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "core/convert.h"
#include "core/list.h"

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

static tni_composite_result call_tensor_from(const tn_value *v)
{
    return one(tn_tensor_from(v[0].as.tensor, dtype_of(&v[1])));
}

static tni_composite_result call_conj_physical(const tn_value *v)
{
    return one(tn_conj_physical(v[0].as.tensor));
}

/* The largest or smallest along a dim, and where it is first. */
static tni_composite_result extreme_along(const tn_value *v,
                                          tn_tensor *(*find)(tn_tensor *, int, bool, tn_tensor **))
{
    const bool keepdim = v[2].kind == TN_VALUE_SCALAR && v[2].as.scalar.value.i;
    tn_tensor *index = NULL, *values = find(v[0].as.tensor, dim_of(&v[1], 0), keepdim, &index);
    tn_list *list = values ? tni_list_new("max_dim", 2) : NULL;
    if (list) {
        tni_list_add(list, values);
        tni_list_add(list, index);
    }
    return (tni_composite_result){.several = list};
}

static tni_composite_result call_max_dim(const tn_value *v)
{
    return extreme_along(v, tn_max_dim);
}

static tni_composite_result call_min_dim(const tn_value *v)
{
    return extreme_along(v, tn_min_dim);
}

#define PRODUCT(name)                                                                                                  \
    static tni_composite_result call_##name(const tn_value *v)                                                         \
    {                                                                                                                  \
        return one(tn_##name(v[0].as.tensor, v[1].as.tensor));                                                         \
    }
PRODUCT(dot)
PRODUCT(mv)
PRODUCT(mm)
PRODUCT(bmm)
PRODUCT(outer)

static tni_composite_result call_addmm(const tn_value *v)
{
    const tn_scalar unit = tn_int(1);
    return one(tn_addmm(v[0].as.tensor, v[1].as.tensor, v[2].as.tensor,
                        v[3].kind == TN_VALUE_SCALAR ? v[3].as.scalar : unit,
                        v[4].kind == TN_VALUE_SCALAR ? v[4].as.scalar : unit));
}

static bool flag(const tn_value *value, bool otherwise)
{
    return value->kind == TN_VALUE_NONE ? otherwise : value->as.scalar.value.i != 0;
}

static tn_reduction reduction_of(const tn_value *value)
{
    return value->kind == TN_VALUE_NONE ? TN_MEAN : (tn_reduction)tni_reduction_of(value);
}

static tni_composite_result call_cross_entropy(const tn_value *v)
{
    tn_cross_entropy_options options = {.reduction = TN_MEAN};
    options.reduction = reduction_of(&v[2]);
    if (v[3].kind == TN_VALUE_SCALAR)
        options.label_smoothing = tni_scalar_real(v[3].as.scalar);
    if (v[4].kind == TN_VALUE_SCALAR) {
        options.ignore = true;
        options.ignore_index = v[4].as.scalar.value.i;
    }
    options.weight = v[5].kind == TN_VALUE_TENSOR ? v[5].as.tensor : NULL;
    return one(tn_cross_entropy_with(v[0].as.tensor, v[1].as.tensor, &options));
}

static tni_composite_result call_kl_div(const tn_value *v)
{
    return one(tn_kl_div(v[0].as.tensor, v[1].as.tensor, flag(&v[3], false), reduction_of(&v[2])));
}

static tni_composite_result call_poisson_nll_loss(const tn_value *v)
{
    const double eps = v[4].kind == TN_VALUE_SCALAR ? tni_scalar_real(v[4].as.scalar) : 1e-8;
    return one(tn_poisson_nll_loss(v[0].as.tensor, v[1].as.tensor, flag(&v[2], true), flag(&v[3], false), eps,
                                   reduction_of(&v[5])));
}

static tni_composite_result call_empty(const tn_value *v)
{
    return one(tn_empty(v[0].as.ints.data, v[0].as.ints.n, dtype_of(&v[1])));
}

static tni_composite_result call_empty_strided(const tn_value *v)
{
    const tn_value *size = &v[0], *stride = &v[1];
    if (size->as.ints.n == stride->as.ints.n)
        return one(tn_empty_strided(size->as.ints.data, stride->as.ints.data, size->as.ints.n, dtype_of(&v[2])));
    TNI_FAIL(TN_ERROR_ARGUMENT, "empty_strided", "%d sizes and %d strides, needed as many", size->as.ints.n,
             stride->as.ints.n);
    return one(NULL);
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

static tni_composite_result call_ravel(const tn_value *v)
{
    return one(tn_ravel(v[0].as.tensor));
}

/* An integer, or a list of them; what was left off has none. */
static const int64_t *numbers_of(const tn_value *value, int *n)
{
    const bool one_alone = value->kind == TN_VALUE_SCALAR;
    *n = one_alone ? 1 : value->kind == TN_VALUE_INTS ? value->as.ints.n : 0;
    return one_alone ? &value->as.scalar.value.i : *n > 0 ? value->as.ints.data : NULL;
}

static tni_composite_result call_repeat(const tn_value *v)
{
    return one(tn_repeat(v[0].as.tensor, v[1].as.ints.data, v[1].as.ints.n));
}

static tni_composite_result call_flip(const tn_value *v)
{
    int n;
    const int64_t *dims = numbers_of(&v[1], &n);
    return one(tn_flip(v[0].as.tensor, dims, n));
}

static tni_composite_result call_roll(const tn_value *v)
{
    int n_shifts, n_dims;
    const int64_t *shifts = numbers_of(&v[1], &n_shifts), *dims = numbers_of(&v[2], &n_dims);
    return one(tn_roll(v[0].as.tensor, shifts, n_shifts, dims, n_dims));
}

static tni_composite_result several(tn_list *list)
{
    return (tni_composite_result){.several = list};
}

/* An integer asks for that many pieces or that size, a list says where. */
#define SPLIT_BY(name, by_number, by_list)                                                                             \
    static tni_composite_result call_##name(const tn_value *v)                                                         \
    {                                                                                                                  \
        int dim = dim_of(&v[2], 0);                                                                                    \
        tn_tensor *x = v[0].as.tensor;                                                                                 \
        return several(v[1].kind == TN_VALUE_SCALAR ? by_number(x, v[1].as.scalar.value.i, dim)                        \
                                                    : by_list(x, v[1].as.ints.data, v[1].as.ints.n, dim));             \
    }
SPLIT_BY(split, tn_split, tn_split_sizes)
SPLIT_BY(tensor_split, tn_tensor_split, tn_tensor_split_at)

#define NAMED_SPLIT(name)                                                                                              \
    static tni_composite_result call_##name(const tn_value *v)                                                         \
    {                                                                                                                  \
        return several(v[1].kind == TN_VALUE_SCALAR ? tn_##name(v[0].as.tensor, v[1].as.scalar.value.i)                \
                                                    : tn_##name##_at(v[0].as.tensor, v[1].as.ints.data,                \
                                                                     v[1].as.ints.n));                                 \
    }
NAMED_SPLIT(hsplit)
NAMED_SPLIT(vsplit)
NAMED_SPLIT(dsplit)

static tni_composite_result call_chunk(const tn_value *v)
{
    return several(tn_chunk(v[0].as.tensor, v[1].as.scalar.value.i, dim_of(&v[2], 0)));
}

static tni_composite_result call_unbind(const tn_value *v)
{
    return several(tn_unbind(v[0].as.tensor, dim_of(&v[1], 0)));
}

static tni_composite_result call_broadcast_tensors(const tn_value *v)
{
    return several(tn_broadcast_tensors(v[0].as.tensors.data, v[0].as.tensors.n));
}

static tni_composite_result call_setitem(const tn_value *v)
{
    tn_tensor *self = v[0].as.tensor;
    tn_status status = v[2].kind == TN_VALUE_SCALAR
                           ? tn_setitem_scalar(self, v[1].as.index.data, v[1].as.index.n, v[2].as.scalar)
                           : tn_setitem(self, v[1].as.index.data, v[1].as.index.n, v[2].as.tensor);
    return one(status == TN_OK ? self : NULL);
}

/* clang-format off */
const tni_composite tni_composites[] = {
    {"tensor_from", {PARAM("self", 'T'), OPTIONAL("dtype", 'D')}, 2, false, false, call_tensor_from},
    {"from_shared", {PARAM("self", 'T')}, 1, false, false, call_from_shared},
    {"conj_physical", {PARAM("self", 'T')}, 1, false, false, call_conj_physical},
    {"ravel", {PARAM("self", 'T')}, 1, false, false, call_ravel},
    {"repeat", {PARAM("self", 'T'), PARAM("repeats", 'L')}, 2, false, false, call_repeat},
    {"flip", {PARAM("self", 'T'), PARAM("dims", 'J')}, 2, false, false, call_flip},
    {"roll", {PARAM("self", 'T'), PARAM("shifts", 'J'), OPTIONAL("dims", 'J')}, 3, false, false, call_roll},
    {"split", {PARAM("self", 'T'), PARAM("size", 'J'), OPTIONAL("dim", 'I')}, 3, true, false, call_split},
    {"tensor_split", {PARAM("self", 'T'), PARAM("n", 'J'), OPTIONAL("dim", 'I')}, 3, true, false, call_tensor_split},
    {"hsplit", {PARAM("self", 'T'), PARAM("n", 'J')}, 2, true, false, call_hsplit},
    {"vsplit", {PARAM("self", 'T'), PARAM("n", 'J')}, 2, true, false, call_vsplit},
    {"dsplit", {PARAM("self", 'T'), PARAM("n", 'J')}, 2, true, false, call_dsplit},
    {"chunk", {PARAM("self", 'T'), PARAM("n", 'I'), OPTIONAL("dim", 'I')}, 3, true, false, call_chunk},
    {"unbind", {PARAM("self", 'T'), OPTIONAL("dim", 'I')}, 2, true, false, call_unbind},
    {"broadcast_tensors", {PARAM("tensors", 'G')}, 1, true, false, call_broadcast_tensors},
    {"setitem", {PARAM("self", 'T'), PARAM("index", 'R'), PARAM("value", 'X')}, 3, false, true, call_setitem},
    {"dot", {PARAM("self", 'T'), PARAM("other", 'T')}, 2, false, false, call_dot},
    {"mv", {PARAM("self", 'T'), PARAM("vec", 'T')}, 2, false, false, call_mv},
    {"mm", {PARAM("self", 'T'), PARAM("other", 'T')}, 2, false, false, call_mm},
    {"bmm", {PARAM("self", 'T'), PARAM("other", 'T')}, 2, false, false, call_bmm},
    {"outer", {PARAM("self", 'T'), PARAM("vec", 'T')}, 2, false, false, call_outer},
    {"addmm", {PARAM("self", 'T'), PARAM("mat1", 'T'), PARAM("mat2", 'T'), OPTIONAL("beta", 'S'),
      OPTIONAL("alpha", 'S')}, 5, false, false, call_addmm},
    {"max_dim", {PARAM("self", 'T'), PARAM("dim", 'I'), OPTIONAL("keepdim", 'B')}, 3, true, false, call_max_dim},
    {"min_dim", {PARAM("self", 'T'), PARAM("dim", 'I'), OPTIONAL("keepdim", 'B')}, 3, true, false, call_min_dim},
    {"cross_entropy", {PARAM("self", 'T'), PARAM("target", 'T'), OPTIONAL("reduction", 'Q'),
      OPTIONAL("label_smoothing", 'S'), OPTIONAL("ignore_index", 'I'), OPTIONAL("weight", 'T')}, 6, false, false,
     call_cross_entropy},
    {"kl_div", {PARAM("self", 'T'), PARAM("target", 'T'), OPTIONAL("reduction", 'Q'), OPTIONAL("log_target", 'B')}, 4,
     false, false, call_kl_div},
    {"poisson_nll_loss", {PARAM("self", 'T'), PARAM("target", 'T'), OPTIONAL("log_input", 'B'), OPTIONAL("full", 'B'),
      OPTIONAL("eps", 'S'), OPTIONAL("reduction", 'Q')}, 6, false, false, call_poisson_nll_loss},
    {"empty", {PARAM("size", 'L'), OPTIONAL("dtype", 'D')}, 2, false, false, call_empty},
    {"empty_strided", {PARAM("size", 'L'), PARAM("stride", 'L'), OPTIONAL("dtype", 'D')}, 3, false, false,
     call_empty_strided},
    {"zero_tensor", {PARAM("size", 'L'), OPTIONAL("dtype", 'D')}, 2, false, false, call_zero_tensor},
};
/* clang-format on */

const int tni_composite_count = sizeof tni_composites / sizeof *tni_composites;
