/* Modules: layers with parameters, and how parameters begin.
 *
 * A module is an object of the library: it belongs to the innermost scope (tenon/scope.h), holds its parameters and
 * children, and is shared by reference count. Parameters are ordinary tensors; their names are PyTorch's ("0.weight" in
 * a Sequential).
 *
 * Threads  several threads may run one module at once, while none writes its parameters or appends to it; in training
 *          Dropout moves its generator, BatchNorm1d and Embedding's max_norm write tensors: one thread then. */
#ifndef TENON_NN_H
#define TENON_NN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/list.h>
#include <tenon/losses.h>
#include <tenon/print.h>
#include <tenon/random.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_module tn_module;

/* y = module(x), in the innermost scope; what is made on the way has died by then.
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY, and those of the operators that the layers call: the message names the layer
 *         by its path, "2: linear: ...", or "2.0: linear: ..." in a Sequential inside one; then NULL
 * grad    as those operators */
TN_API tn_tensor *tn_forward(tn_module *module, tn_tensor *x);

/* Linear:  y = x W^T + b, weight [out, in], bias [out] unless bias is false; both zero until an initialisation fills
 * them.
 * x       [..., in] -> [..., out], of the module's dtype
 * dtype   float32 or float64
 * errors  TN_ERROR_ARGUMENT (a size below 1), TN_ERROR_DTYPE, TN_ERROR_OVERFLOW, TN_ERROR_MEMORY
 * source  torch.nn.Linear */
TN_API tn_module *tn_linear_module(int64_t in_features, int64_t out_features, bool bias, tn_dtype dtype);

/* Activations: no parameters, any shape; the operators of these names.
 * errors  TN_ERROR_MEMORY */
TN_API tn_module *tn_relu_module(void);
TN_API tn_module *tn_sigmoid_module(void);
TN_API tn_module *tn_tanh_module(void);
TN_API tn_module *tn_silu_module(void);

/* Activations with settings, likewise. PyTorch's defaults are negative_slope 0.01, by_tanh false, beta 1 and
 * threshold 20.
 * errors  TN_ERROR_MEMORY; forward: those of the operators
 * source  torch.nn.LeakyReLU, GELU, Softplus, Softmax, LogSoftmax */
TN_API tn_module *tn_leaky_relu_module(double negative_slope);
TN_API tn_module *tn_gelu_module(bool by_tanh);
TN_API tn_module *tn_softplus_module(double beta, double threshold);
TN_API tn_module *tn_softmax_module(int dim);
TN_API tn_module *tn_log_softmax_module(int dim);

/* Dropout: in training every element is zero with probability p and the others are divided by 1 - p; in eval y is x.
 * p          0 .. 1
 * generator  draws the masks; stays the caller's, and must outlive the module
 * errors     TN_ERROR_ARGUMENT, TN_ERROR_NULL, TN_ERROR_MEMORY
 * source     torch.nn.Dropout */
TN_API tn_module *tn_dropout_module(double p, tn_torch_generator *generator);

typedef struct tn_batch_norm_options {
    double eps;      /* 0: 1e-5; -1: none, for eval alone: training refuses it, as PyTorch */
    double momentum; /* 0: 0.1; -1: none, the running means stay */
    bool cumulative; /* instead of momentum: all batches so far count alike (PyTorch's momentum=None) */
    bool no_affine;  /* without weight and bias */
    bool no_bias;    /* with weight, without bias */
    bool no_running_stats; /* without buffers: eval, too, takes mean and variance of the batch */
} tn_batch_norm_options;

/* Batch normalisation of each feature:  y = (x - mean) / sqrt(var + eps) * weight + bias. In training mean and biased
 * variance are the batch's, and the buffers running_mean, running_var and num_batches_tracked follow them; in eval they
 * are those.
 * x        [n, features] or [n, features, length] of the module's dtype; in training not with one value a feature alone
 * options  NULL: all usual
 * dtype    float32 or float64
 * errors   TN_ERROR_ARGUMENT, TN_ERROR_DTYPE, TN_ERROR_MEMORY
 * source   torch.nn.BatchNorm1d */
TN_API tn_module *tn_batch_norm1d_module(int64_t num_features, const tn_batch_norm_options *options, tn_dtype dtype);

typedef struct tn_layer_norm_options {
    double eps;     /* 0: 1e-5; -1: none */
    bool no_affine; /* without weight and bias */
    bool no_bias;   /* with weight, without bias */
} tn_layer_norm_options;

/* The same over the last ndim dims of each sample, whose sizes are normalized_shape, as are those of weight and bias;
 * training and eval are alike.
 * options  NULL: all usual
 * errors   TN_ERROR_ARGUMENT, TN_ERROR_DTYPE, TN_ERROR_OVERFLOW, TN_ERROR_MEMORY
 * source   torch.nn.LayerNorm */
TN_API tn_module *tn_layer_norm_module(const int64_t *normalized_shape, int ndim, const tn_layer_norm_options *options,
                                       tn_dtype dtype);

typedef struct tn_embedding_options {
    bool pad;            /* padding_idx counts: that row gets no gradient, and zeros from tn_init_torch */
    int64_t padding_idx; /* from the end where below 0 */
    double max_norm;     /* rows that are looked up and longer are scaled to it, in place; 0: they are not */
    double norm_type;    /* how long they are: p of a p-norm, or INFINITY; 0: 2 */
} tn_embedding_options;

/* Rows of weight [num_embeddings, embedding_dim] looked up; weight is zero until an initialisation fills it.
 * x        [...] int64 or int32, 0 .. num_embeddings-1 -> [..., embedding_dim]
 * options  NULL: all zero
 * errors   TN_ERROR_ARGUMENT, TN_ERROR_INDEX (padding_idx), TN_ERROR_DTYPE, TN_ERROR_OVERFLOW, TN_ERROR_MEMORY;
 *          forward: TN_ERROR_INDEX, TN_ERROR_DTYPE
 * source   torch.nn.Embedding */
TN_API tn_module *tn_embedding_module(int64_t num_embeddings, int64_t embedding_dim,
                                      const tn_embedding_options *options, tn_dtype dtype);

/* tn_flatten of the dims start_dim .. end_dim; PyTorch's are 1 and -1.
 * errors  TN_ERROR_MEMORY */
TN_API tn_module *tn_flatten_module(int start_dim, int end_dim);

/* Losses as modules: the functions of tenon/losses.h with their settings; tn_forward_loss runs one, and
 * tn_module_kind.forward_loss makes one of your own.
 *
 *     tn_module *loss = tn_bce_with_logits_module(NULL, pos_weight, TN_MEAN);
 *     ...
 *     tn_backward(tn_forward_loss(loss, tn_forward(net, x), y));
 *
 * weight, pos_weight  become buffers of these names; the module takes a reference. NULL: there is none
 * beta, delta         PyTorch's are 1
 * ignore_index        PyTorch's is -100
 * options             NULL: all usual
 * errors              TN_ERROR_MEMORY; tn_forward_loss: TN_ERROR_NULL, TN_ERROR_ARGUMENT (a module that is no loss),
 *                     and those of the functions; tn_forward of a loss: TN_ERROR_ARGUMENT
 * grad                as the functions
 * source              torch.nn.MSELoss, L1Loss, SmoothL1Loss, HuberLoss, BCELoss, BCEWithLogitsLoss, KLDivLoss,
 *                     PoissonNLLLoss, NLLLoss, CrossEntropyLoss */
TN_API tn_module *tn_mse_loss_module(tn_reduction reduction);
TN_API tn_module *tn_l1_loss_module(tn_reduction reduction);
TN_API tn_module *tn_smooth_l1_loss_module(double beta, tn_reduction reduction);
TN_API tn_module *tn_huber_loss_module(double delta, tn_reduction reduction);
TN_API tn_module *tn_bce_loss_module(tn_tensor *weight, tn_reduction reduction);
TN_API tn_module *tn_bce_with_logits_module(tn_tensor *weight, tn_tensor *pos_weight, tn_reduction reduction);
TN_API tn_module *tn_kl_div_module(bool log_target, tn_reduction reduction);
TN_API tn_module *tn_poisson_nll_loss_module(bool log_input, bool full, double eps, tn_reduction reduction);
TN_API tn_module *tn_nll_loss_module(tn_tensor *weight, int64_t ignore_index, tn_reduction reduction);
TN_API tn_module *tn_cross_entropy_module(const tn_cross_entropy_options *options);
TN_API tn_tensor *tn_forward_loss(tn_module *loss, tn_tensor *input, tn_tensor *target);

/* A module of your own. forward may use what was registered on the module (tn_named_parameter, tn_child) and returns
 * its result or NULL with an error; what it makes on the way dies.
 *
 *     static tn_tensor *residual(tn_module *self, tn_tensor *x, void *context)
 *     {
 *         return tn_add(x, tn_forward(tn_child(self, 0), x));
 *     }
 *     tn_module *block = tn_module_new(&(tn_module_kind){.name = "Residual", .forward = residual}, NULL);
 *     tn_register_module(block, "inner", tn_linear_module(16, 16, true, TN_FLOAT32));
 */
typedef struct tn_module_kind {
    const char *name; /* outlives the module */
    tn_tensor *(*forward)(tn_module *self, tn_tensor *x, void *context);
    void (*destroy)(void *context); /* NULL: nothing to do */
    /* Of a loss instead of forward, or beside it: what tn_forward_loss calls. */
    tn_tensor *(*forward_loss)(tn_module *self, tn_tensor *input, tn_tensor *target, void *context);
} tn_module_kind;

/* errors  TN_ERROR_NULL, TN_ERROR_MEMORY */
TN_API tn_module *tn_module_new(const tn_module_kind *kind, void *context);
/* NULL for a module of the library's.
 * errors  TN_ERROR_NULL */
TN_API void *tn_module_context(const tn_module *module);

/* Puts a tensor or module under a name, in the order of the calls; the module takes a reference. A parameter comes to
 * require a gradient; a buffer belongs to the state and is not trained.
 * name    1 to 63 characters without a dot, new in the module
 * errors  TN_ERROR_NULL, TN_ERROR_NAME, TN_ERROR_ARGUMENT (the module is none of tn_module_new; a child as
 *         tn_sequential_append), TN_ERROR_NOT_LEAF, TN_ERROR_DTYPE, TN_ERROR_MEMORY; then nothing has changed
 * source  torch.nn.Module.register_parameter, register_buffer, add_module */
TN_API tn_status tn_register_parameter(tn_module *module, const char *name, tn_tensor *tensor);
TN_API tn_status tn_register_buffer(tn_module *module, const char *name, tn_tensor *tensor);
TN_API tn_status tn_register_module(tn_module *module, const char *name, tn_module *child);

/* Sequential: its children one after another, named "0", "1", ...; without children y is x.
 * errors  TN_ERROR_MEMORY
 * source  torch.nn.Sequential */
TN_API tn_module *tn_sequential(void);

/* Takes a reference on the child and puts it last. An activation, or a loss without weights, may stand in many places,
 * any other child in one at most.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a module that is no Sequential, a child that contains it or has a place
 *         already, modules nested more than 64 deep), TN_ERROR_MEMORY; then nothing has changed */
TN_API tn_status tn_sequential_append(tn_module *sequential, tn_module *child);

/* Multilayer perceptron, Sequential(Linear, ReLU, ..., Linear): a Linear from each of the n_sizes sizes to the next,
 * ReLU between them, logits out; weights and biases zero.
 * dtype   float32 or float64
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (fewer than two sizes, a size below 1), TN_ERROR_DTYPE, TN_ERROR_OVERFLOW,
 *         TN_ERROR_MEMORY */
TN_API tn_module *tn_mlp(const int64_t *sizes, int n_sizes, tn_dtype dtype);

/* The parameters in PyTorch's order of registration (weight before bias, child after child), number 0 to
 * tn_parameter_count - 1, or by name. The tensor belongs to the module. One that stands in several places (tied
 * weights) has a number and a name in each, as in PyTorch's state_dict.
 * tn_parameter_numel  the number of all their elements, each tensor once
 * tn_parameter_name   writes the name into buf, cut to size and terminated, and returns the length of the whole name,
 *                     as snprintf does; buf may be NULL if size is 0. (A module may come under another one later, so
 *                     names are made when asked for)
 * errors  TN_ERROR_NULL, TN_ERROR_INDEX or TN_ERROR_NAME (there is none). Then, and while an error is pending, NULL, 0
 *         and ""
 * cost    O(modules) */
TN_API int64_t tn_parameter_count(const tn_module *module);
TN_API int64_t tn_parameter_numel(const tn_module *module);
TN_API tn_tensor *tn_parameter(const tn_module *module, int64_t i);
TN_API int tn_parameter_name(const tn_module *module, int64_t i, char *buf, size_t size);
TN_API tn_tensor *tn_named_parameter(const tn_module *module, const char *name);

/* All parameters in that order, each tensor once, for an optimizer.
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY; then NULL
 * source  torch.nn.Module.parameters */
TN_API tn_list *tn_parameters(const tn_module *module);

/* The same of buffers ("running_mean").
 * errors  as those of parameters
 * cost    O(modules) */
TN_API int64_t tn_buffer_count(const tn_module *module);
TN_API tn_tensor *tn_buffer(const tn_module *module, int64_t i);
TN_API int tn_buffer_name(const tn_module *module, int64_t i, char *buf, size_t size);
TN_API tn_tensor *tn_named_buffer(const tn_module *module, const char *name);

/* The module's class ("Linear", "Sequential"); its children and their names ("0"), which belong to it.
 * errors  TN_ERROR_NULL, TN_ERROR_INDEX (no such child). Then, and while an error is pending, NULL and 0 */
TN_API const char *tn_module_name(const tn_module *module);
TN_API int64_t tn_child_count(const tn_module *module);
TN_API tn_module *tn_child(const tn_module *module, int64_t i);
TN_API const char *tn_child_name(const tn_module *module, int64_t i);

/* Switches the module and all below it to training (a new module trains) or evaluation: what Dropout and BatchNorm1d
 * do depends on it.
 * errors  TN_ERROR_NULL
 * source  torch.nn.Module.train, eval */
TN_API tn_status tn_module_train(tn_module *module, bool on);
TN_API tn_status tn_module_eval(tn_module *module);
TN_API bool tn_module_is_training(const tn_module *module);

/* Calls function on every module below, then on the module; false from it, or an error, ends that.
 * errors  TN_ERROR_NULL, and what function raises
 * source  torch.nn.Module.apply */
TN_API tn_status tn_module_apply(tn_module *module, bool (*function)(tn_module *module, void *context), void *context);

/* A new module of the same structure in another dtype, or on another device, sharing no tensor. The original stays as
 * it is. Integer buffers keep their dtype; who requires a gradient, and train or eval, are as they were.
 * module  without modules of tn_module_new, which are moved where they stand alone
 * dtype   float32 or float64
 * device  meta from either, cpu from cpu
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE, TN_ERROR_DEVICE (from meta to cpu, to cuda), TN_ERROR_NOT_IMPLEMENTED (a
 *         module of the user's), TN_ERROR_MEMORY */
TN_API tn_module *tn_module_to(const tn_module *module, tn_dtype dtype);
TN_API tn_module *tn_module_to_device(const tn_module *module, tn_device device);

/* The same where the module stands: what PyTorch's module.to does.
 *   to_         floating parameters, buffers and gradients are converted. The tensors stay the same objects; an
 *               optimizer's memory of them does not change its dtype, so make the optimizer afterwards
 *   to_device_  the module gets new tensors where the device is another one, with the gradients; whoever holds the old
 *               ones (an optimizer) keeps those
 *   to_empty_   new tensors without gradients in any case, whose elements are undefined until an initialisation or
 *               tn_load fills them: the way of a net that was made on meta to the cpu
 * Tensors that stand in several places stay one.
 *
 *     tn_set_default_device((tn_device){TN_META, 0});
 *     tn_module *net = make_large_net();
 *     tn_set_default_device((tn_device){TN_CPU, 0});
 *     tn_module_to_empty_(net, (tn_device){TN_CPU, 0});
 *     tn_load(net, "large.safetensors");
 *
 * dtype, device  as above; to_empty_: cpu or meta
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE, TN_ERROR_DEVICE (from meta to cpu: see to_empty_; to cuda), TN_ERROR_MEMORY;
 *         then nothing has changed
 * cost    O(elements), twice the memory on the way
 * source  torch.nn.Module.to, to_empty */
TN_API tn_status tn_module_to_(tn_module *module, tn_dtype dtype);
TN_API tn_status tn_module_to_device_(tn_module *module, tn_device device);
TN_API tn_status tn_module_to_empty_(tn_module *module, tn_device device);

/* Initialisations: fill all Linear layers of the module, tn_init_torch also its Embeddings, in order.
 * tn_init_normal  weight ~ N(0, 1/in), row by row, drawn in float64 and rounded to the dtype, biases zero. With rng
 *                 seeded by `seed` it is the lesson's init(sizes, seed), bit for bit
 * tn_init_torch   torch.nn.Linear's weights, uniform within 1/sqrt(in) (kaiming_uniform, a = sqrt 5), then its bias,
 *                 likewise, and torch.nn.Embedding's, normal: the bits of PyTorch for torch.manual_seed(seed) and the
 *                 same layers made in the same order. fused: one FMA a value (PyTorch's AVX2 and AVX-512 kernels);
 *                 false: product and sum rounded (its default kernels)
 * errors  TN_ERROR_NULL, TN_ERROR_STATE (a generator without seed, a parameter that was resized), TN_ERROR_DEVICE
 *         (meta); then parameters and generator are as they were
 * cost    O(parameters) */
TN_API tn_status tn_init_normal(tn_module *module, tn_default_rng *rng);
TN_API tn_status tn_init_torch(tn_module *module, tn_torch_generator *generator, bool fused);

/* The module as PyTorch prints it: classes, settings, children.
 * errors  TN_ERROR_NULL, TN_ERROR_FILE (write did not return 0)
 * source  torch.nn.Module.__repr__ */
TN_API tn_status tn_module_write(const tn_module *module, tn_text_writer write, void *context);

/* The table of a module's layers: name, class, output shape and dtype for an input of that size, parameters,
 * multiply-adds (a Linear's products), bytes of parameters; a last line adds up. One run in eval mode shows them, in
 * the order in which tn_forward came to them: inside of modules of tn_module_new too, each by its dotted name and with
 * the parameters that are its own. A module that is called several times has one row, the output of its last call, and
 * multiply-adds of all calls; one that is not called has no output; a Sequential has no row. Shapes come from META: no
 * data is made or read, unless the net has modules of tn_module_new, which run on zeros.
 * errors  TN_ERROR_NULL, TN_ERROR_FILE (write did not return 0), TN_ERROR_MEMORY, and those of the layers
 * cost    O(layers^2), and the run where it is on zeros */
TN_API tn_status tn_summary_write(const tn_module *module, const int64_t *input_size, int ndim, tn_dtype dtype,
                                  tn_text_writer write, void *context);

/* Initialisers of one tensor, by PyTorch's random stream: with the seed the values are PyTorch's, bit for bit where its
 * kernels fuse product and sum.
 *   uniform_         low <= u < high
 *   normal_          mean and std
 *   xavier_*         std = gain sqrt(2 / (fan_in + fan_out)); uniform within sqrt(3) std
 *   kaiming_*        std = gain / sqrt(fan_in), or of fan_out
 *   trunc_normal_    normal, within low .. high
 * x       float32 or float64, contiguous; xavier and kaiming: 2 dims or more, [out, in, ...]
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE, TN_ERROR_DIM, TN_ERROR_ARGUMENT, TN_ERROR_STATE (a generator without seed),
 *         TN_ERROR_DEVICE (meta); then nothing has changed
 * cost    O(numel)
 * source  torch.nn.init */
TN_API tn_status tn_init_uniform_(tn_tensor *x, double low, double high, tn_torch_generator *generator);
TN_API tn_status tn_init_normal_(tn_tensor *x, double mean, double std, tn_torch_generator *generator);
TN_API tn_status tn_init_xavier_uniform_(tn_tensor *x, double gain, tn_torch_generator *generator);
TN_API tn_status tn_init_xavier_normal_(tn_tensor *x, double gain, tn_torch_generator *generator);
TN_API tn_status tn_init_kaiming_uniform_(tn_tensor *x, double gain, bool fan_out, tn_torch_generator *generator);
TN_API tn_status tn_init_kaiming_normal_(tn_tensor *x, double gain, bool fan_out, tn_torch_generator *generator);
TN_API tn_status tn_init_trunc_normal_(tn_tensor *x, double mean, double std, double low, double high,
                                       tn_torch_generator *generator);

/* The gain that keeps variances through a nonlinearity: 1 (linear, sigmoid), 5/3 (tanh), sqrt 2 (relu),
 * sqrt(2 / (1 + negative_slope^2)) (leaky_relu), 3/4 (selu).
 * errors  none
 * source  torch.nn.init.calculate_gain */
typedef enum tn_nonlinearity {
    TN_NONLINEARITY_LINEAR,
    TN_NONLINEARITY_SIGMOID,
    TN_NONLINEARITY_TANH,
    TN_NONLINEARITY_RELU,
    TN_NONLINEARITY_LEAKY_RELU,
    TN_NONLINEARITY_SELU
} tn_nonlinearity;
TN_API double tn_gain(tn_nonlinearity nonlinearity, double negative_slope);

TN_END

#endif
