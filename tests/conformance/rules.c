/* Which of PyTorch's checks an error of the library stands for: by its status, the function and its text. The first
 * rule that fits is taken; NULL fits everything. */
#include <string.h>

#include "conformance/replay.h"

typedef struct rule {
    tn_status status;
    const char *function, *text;
    const char *category, *detail;
} rule;

static const rule rules[] = {
    {TN_ERROR_ARGUMENT, "arange", NULL, "bad_argument", "arange"},
    {TN_ERROR_ARGUMENT, "as_strided", "size -", "overflow", "size"},
    {TN_ERROR_ARGUMENT, "empty_strided", "stride -", "overflow", "size"},
    {TN_ERROR_ARGUMENT, NULL, "both -1", "bad_argument", "two_inferred_dims"},
    {TN_ERROR_ARGUMENT, NULL, "could be anything", "bad_argument", "inferred_dim_ambiguous"},
    {TN_ERROR_ARGUMENT, NULL, "size -1 for the new dim", "bad_argument", "expand_minus_one"},
    {TN_ERROR_ARGUMENT, "expand", "needed 0 or more, or -1", "shape_mismatch", "expand_size"},
    {TN_ERROR_ARGUMENT, "expand_as", NULL, "shape_mismatch", "expand_size"},
    {TN_ERROR_ARGUMENT, NULL, "strides, needed as many", "bad_argument", "stride_length"},
    {TN_ERROR_ARGUMENT, NULL, "stride -", "bad_argument", "negative_stride"},
    {TN_ERROR_ARGUMENT, NULL, "offset -", "bad_argument", "storage_offset"},
    {TN_ERROR_ARGUMENT, "chunk", NULL, "bad_argument", "split"},
    {TN_ERROR_ARGUMENT, "unflatten", "needed one or more", "shape_mismatch", "unflatten"},
    {TN_ERROR_ARGUMENT, "split", "of size -", "bad_argument", "negative"},
    {TN_ERROR_ARGUMENT, "split", NULL, "bad_argument", "split"},
    {TN_ERROR_ARGUMENT, "split_sizes", "has size -", "bad_argument", "negative"},
    {TN_ERROR_ARGUMENT, "split_sizes", NULL, "bad_argument", "split"},
    {TN_ERROR_ARGUMENT, "tensor_split", NULL, "bad_argument", "split"},
    {TN_ERROR_ARGUMENT, NULL, "step ", "bad_argument", "slice_step"},
    {TN_ERROR_ARGUMENT, NULL, "tensors, needed at least one", "bad_argument", "empty_list"},
    {TN_ERROR_ARGUMENT, "assert_close", NULL, "bad_argument", "tolerances"},
    {TN_ERROR_ARGUMENT, "allclose", NULL, "bad_argument", "tolerances"},
    {TN_ERROR_ARGUMENT, "clamp", NULL, "bad_argument", "clamp_bounds"},
    {TN_ERROR_ARGUMENT, "clamp_", NULL, "bad_argument", "clamp_bounds"},
    {TN_ERROR_ARGUMENT, NULL, "divided by 0", "divide_by_zero", "integer"},
    {TN_ERROR_ARGUMENT, "bce_loss", "needed a probability", "bad_argument", "bce_range"},
    {TN_ERROR_SHAPE, "bce_loss", NULL, "shape_mismatch", "loss_target"},
    {TN_ERROR_SHAPE, "bce_with_logits", NULL, "shape_mismatch", "loss_target"},
    {TN_ERROR_SHAPE, "nll_loss", NULL, "bad_argument", "loss"},
    {TN_ERROR_SHAPE, "cross_entropy", NULL, "bad_argument", "loss"},
    {TN_ERROR_ARGUMENT, NULL, "no parameters", "bad_argument", "optimizer_params"},
    {TN_ERROR_ARGUMENT, NULL, "needed each once", "bad_argument", "optimizer_params"},
    {TN_ERROR_ARGUMENT, "optimizer_add_group", NULL, "bad_argument", "optimizer_params"},
    {TN_ERROR_NOT_LEAF, "sgd", NULL, "bad_argument", "optimizer_params"},
    {TN_ERROR_NOT_LEAF, "adam", NULL, "bad_argument", "optimizer_params"},
    {TN_ERROR_NOT_LEAF, "adamw", NULL, "bad_argument", "optimizer_params"},
    {TN_ERROR_ARGUMENT, "sgd", NULL, "bad_argument", "optimizer_option"},
    {TN_ERROR_ARGUMENT, "adam", NULL, "bad_argument", "optimizer_option"},
    {TN_ERROR_ARGUMENT, "adamw", NULL, "bad_argument", "optimizer_option"},
    {TN_ERROR_ARGUMENT, "optimizer_set", NULL, "bad_argument", "optimizer_option"},
    {TN_ERROR_ARGUMENT, NULL, "two numbers", "bad_argument", "type"},
    {TN_ERROR_ARGUMENT, NULL, ") is ", "bad_argument", "type"},
    {TN_ERROR_ARGUMENT, NULL, NULL, "bad_argument", "negative"},
    {TN_ERROR_DIM, "flatten", "comes after", "dim_range", "start_after_end"},
    {TN_ERROR_DIM, NULL, "dims named of a tensor", "dim_range", "permutation_length"},
    {TN_ERROR_DIM, NULL, "destinations", "dim_range", "movedim_length"},
    {TN_ERROR_DIM, NULL, "twice", "dim_range", "repeated_dim"},
    {TN_ERROR_DIM, NULL, "needed two", "dim_range", "repeated_dim"},
    {TN_ERROR_DIM, "narrow", "has no dims", "index_range", "zero_dim"},
    {TN_ERROR_DIM, "select", "has no dims", "index_range", "zero_dim"},
    {TN_ERROR_DIM, "unbind", NULL, "dim_range", "dim"},
    {TN_ERROR_DIM, NULL, "the tensor has no dims", "dim_range", "zero_dim"},
    {TN_ERROR_DIM, "t", NULL, "dim_range", "rank"},
    {TN_ERROR_DIM, "t_", NULL, "dim_range", "rank"},
    {TN_ERROR_DIM, NULL, "the tensor has", "dim_range", "rank"},
    {TN_ERROR_DIM, NULL, NULL, "dim_range", "dim"},
    {TN_ERROR_DTYPE, "requires_grad_", NULL, "dtype", "requires_grad_dtype"},
    {TN_ERROR_DTYPE, "make_dual", NULL, "dtype", "dual_dtype"},
    {TN_ERROR_DTYPE, NULL, "alpha", "dtype", "alpha"},
    {TN_ERROR_DTYPE, NULL, "no common dtype", "dtype", "no_promotion"},
    {TN_ERROR_DTYPE, "set_data", NULL, "dtype", "set_data"},
    {TN_ERROR_DTYPE, "set_", NULL, "dtype", "set_storage"},
    {TN_ERROR_DTYPE, "set_strided_", NULL, "dtype", "set_storage"},
    {TN_ERROR_DTYPE, NULL, "into the tensor to write", "dtype", "result_cast"},
    {TN_ERROR_DTYPE, NULL, "which does not replace", "dtype", "result_cast"},
    {TN_ERROR_DTYPE, "mean", NULL, "dtype", "mean_of_integers"},
    {TN_ERROR_DTYPE, "mean_out", NULL, "dtype", "mean_of_integers"},
    {TN_ERROR_DTYPE, "sub", NULL, "dtype", "bool_arithmetic"},
    {TN_ERROR_DTYPE, "sub_", NULL, "dtype", "bool_arithmetic"},
    {TN_ERROR_DTYPE, "neg", NULL, "dtype", "bool_arithmetic"},
    {TN_ERROR_DTYPE, "neg_", NULL, "dtype", "bool_arithmetic"},
    {TN_ERROR_DTYPE, "relu", NULL, "dtype", "operand_dtypes"},
    {TN_ERROR_DTYPE, "relu_", NULL, "dtype", "operand_dtypes"},
    {TN_ERROR_DTYPE, NULL, "the tensor is bool, needed numbers", "not_implemented", "dtype"},
    {TN_ERROR_DTYPE, "imag", NULL, "not_implemented", "dtype"},
    {TN_ERROR_DTYPE, "view_as_real", NULL, "not_implemented", "dtype"},
    {TN_ERROR_DTYPE, "view_as_complex", NULL, "not_implemented", "dtype"},
    {TN_ERROR_DTYPE, NULL, "integer dtype", "bad_argument", "type"},
    {TN_ERROR_DTYPE, NULL, "floating or complex dtype", "bad_argument", "type"},
    {TN_ERROR_DTYPE, NULL, "index", "dtype", "index_dtype"},
    {TN_ERROR_DTYPE, NULL, "to the negative power", "dtype", "int_negative_power"},
    {TN_ERROR_DTYPE, NULL, "floating", "dtype", "float_only"},
    {TN_ERROR_DTYPE, NULL, NULL, "dtype", "operand_dtypes"},
    {TN_ERROR_EMPTY, NULL, NULL, "empty_reduction", "no_identity"},
    {TN_ERROR_INDEX, "narrow", "start and", "index_range", "narrow_length"},
    {TN_ERROR_INDEX, "narrow", "and length", "index_range", "narrow_length"},
    {TN_ERROR_INDEX, "narrow", NULL, "index_range", "narrow_start"},
    {TN_ERROR_INDEX, NULL, "windows", "index_range", "unfold"},
    {TN_ERROR_INDEX, NULL, "entries index a tensor", "index_range", "too_many_indices"},
    {TN_ERROR_INDEX, NULL, "goes beyond dim", "index_range", "too_many_indices"},
    {TN_ERROR_INDEX, NULL, NULL, "index_range", "index"},
    {TN_ERROR_OVERFLOW, NULL, "does not hold", "overflow", "value"},
    {TN_ERROR_OVERFLOW, NULL, "beyond the range of", "overflow", "value"},
    {TN_ERROR_OVERFLOW, NULL, "integer beyond 64 bits", "overflow", "value"},
    {TN_ERROR_OVERFLOW, NULL, NULL, "overflow", "size"},
    {TN_ERROR_BOUNDS, NULL, NULL, "storage_bounds", "bounds"},
    {TN_ERROR_VIEW, NULL, "without dims of", "view_incompatible", "dtype_zero_dim"},
    {TN_ERROR_VIEW, NULL, "should be a multiple of", NULL, NULL}, /* below, by what should be */
    {TN_ERROR_VIEW, "view_dtype", "of the last dim should be 1", "view_incompatible", "dtype_last_stride"},
    {TN_ERROR_VIEW, NULL, "for a dtype of another size", "view_incompatible", "dtype_last_stride"},
    {TN_ERROR_VIEW, "view_as_complex", NULL, "view_incompatible", "complex"},
    {TN_ERROR_VIEW, NULL, NULL, "view_incompatible", "stride"},
    {TN_ERROR_OVERLAP, NULL, "itself", "overlap_write", "self"},
    {TN_ERROR_OVERLAP, NULL, "stride 0", "overlap_write", "self"},
    {TN_ERROR_OVERLAP, NULL, NULL, "overlap_write", "partial"},
    {TN_ERROR_NOT_SCALAR, NULL, NULL, "not_scalar", "numel"},
    {TN_ERROR_NOT_IMPLEMENTED, NULL, NULL, "not_implemented", "dtype"},
    {TN_ERROR_INPLACE_VIEW, NULL, "under no_grad", "inplace_view", "created_under_no_grad"},
    {TN_ERROR_INPLACE_VIEW, NULL, "several views", "inplace_view", "multi_output_view"},
    {TN_ERROR_INPLACE_VIEW, NULL, NULL, "inplace_view", "detach"},
    {TN_ERROR_INPLACE_LEAF, "resize_", NULL, "inplace_leaf", "resize"},
    {TN_ERROR_INPLACE_LEAF, "resize_as_", NULL, "inplace_leaf", "resize"},
    {TN_ERROR_INPLACE_LEAF, NULL, "leaf", "inplace_leaf", "leaf"},
    {TN_ERROR_INPLACE_LEAF, NULL, NULL, "inplace_leaf", "out_requires_grad"},
    {TN_ERROR_NOT_LEAF, NULL, NULL, "not_leaf", "requires_grad"},
    {TN_ERROR_NO_GRAPH, "register_hook", NULL, "no_graph", "hook"},
    {TN_ERROR_NO_GRAPH, "register_post_accumulate_grad_hook", NULL, "no_graph", "hook"},
    {TN_ERROR_NO_GRAPH, "retain_grad", NULL, "no_graph", "retain_grad"},
    {TN_ERROR_NO_GRAPH, NULL, "input ", "no_graph", "input_without_grad"},
    {TN_ERROR_NO_GRAPH, NULL, NULL, "no_graph", "no_grad_fn"},
    {TN_ERROR_GRAPH_FREED, NULL, NULL, "graph_freed", "second_backward"},
    {TN_ERROR_SAVED_VERSION, NULL, NULL, "saved_version", "version"},
    {TN_ERROR_GRAD, "set_grad", NULL, "grad_args", "assign"},
    {TN_ERROR_GRAD, "hook", NULL, "grad_args", "hook_result"},
    {TN_ERROR_GRAD, NULL, "no gradient was given", "grad_args", "not_scalar"},
    {TN_ERROR_GRAD, NULL, "was not used", "grad_args", "unused_input"},
    {TN_ERROR_GRAD, NULL, NULL, "grad_args", "shape"},
    {TN_ERROR_INFERENCE, "version", NULL, "inference", "version"},
    {TN_ERROR_INFERENCE, NULL, "saved", "inference", "saved"},
    {TN_ERROR_INFERENCE, NULL, NULL, "inference", "inplace_outside"},
    {TN_ERROR_FORWARD_AD, NULL, NULL, "forward_ad", "forward_ad"},
    {TN_ERROR_FORMAT, NULL, NULL, "memory_format", "rank"},
    {TN_ERROR_SHAPE, "tensor", NULL, "shape_mismatch", "ragged"},
    {TN_ERROR_SHAPE, "unflatten", NULL, "shape_mismatch", "unflatten"},
    {TN_ERROR_SHAPE, "cat", NULL, "shape_mismatch", "cat"},
    {TN_ERROR_SHAPE, "stack", NULL, "shape_mismatch", "cat"},
    {TN_ERROR_SHAPE, "matmul", NULL, "shape_mismatch", "matmul"},
    {TN_ERROR_SHAPE, "linear", "expands to", "shape_mismatch", "expand_size"},
    {TN_ERROR_SHAPE, "linear", "broadcasts to", "shape_mismatch", "output_shape"},
    {TN_ERROR_SHAPE, "linear", NULL, "shape_mismatch", "matmul"},
    {TN_ERROR_SHAPE, "expand", "needed at least as many", "shape_mismatch", "expand_rank"},
    {TN_ERROR_SHAPE, "broadcast_to", "needed at least as many", "shape_mismatch", "expand_rank"},
    {TN_ERROR_SHAPE, "expand_as", "needed at least as many", "shape_mismatch", "expand_rank"},
    {TN_ERROR_SHAPE, "expand", NULL, "shape_mismatch", "expand_size"},
    {TN_ERROR_SHAPE, "broadcast_to", NULL, "shape_mismatch", "expand_size"},
    {TN_ERROR_SHAPE, "expand_as", NULL, "shape_mismatch", "expand_size"},
    {TN_ERROR_SHAPE, NULL, "the tensor to write", "shape_mismatch", "output_shape"},
    {TN_ERROR_SHAPE, NULL, "elements of", "shape_mismatch", "numel"},
    {TN_ERROR_SHAPE, "getitem", NULL, "shape_mismatch", "indexing"},
    {TN_ERROR_SHAPE, "setitem", "of a mask", "shape_mismatch", "indexing"},
    {TN_ERROR_SHAPE, "setitem", NULL, "shape_mismatch", "broadcast"},
    {TN_ERROR_SHAPE, NULL, NULL, "shape_mismatch", "broadcast"},
};

static const char *what_should_be_a_multiple(const tn_error *error)
{
    return strstr(error->message, "storage offset") ? "dtype_offset"
           : strstr(error->message, "size ")        ? "dtype_last_size"
                                                    : "dtype_stride";
}

json_t *error_json(const tn_error *error)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const rule *r = &rules[i];
        if (r->status != error->code || (r->function && strcmp(r->function, error->function) != 0) ||
            (r->text && !strstr(error->message, r->text)))
            continue;
        if (!r->category)
            return strcmp(error->function, "view_as_complex") == 0
                       ? json_pack("{ssssss}", "category", "view_incompatible", "detail", "complex", "message",
                                   error->message)
                       : json_pack("{ssssss}", "category", "view_incompatible", "detail",
                                   what_should_be_a_multiple(error), "message", error->message);
        return json_pack("{ssssss}", "category", r->category, "detail", r->detail, "message", error->message);
    }
    return json_pack("{ssssss}", "category", tn_status_name(error->code), "detail", "", "message", error->message);
}
