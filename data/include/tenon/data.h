/* Datasets, and the loader that cuts them into batches. Both are objects of the library (tenon/scope.h).
 *
 * Threads  a loader belongs to one thread at a time; a dataset may be read by many. */
#ifndef TENON_DATA_H
#define TENON_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/random.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_dataset tn_dataset;
typedef struct tn_loader tn_loader;

/* A dataset of n samples from two tensors, shared, not copied.
 * x       [n, ...]
 * y       [n, ...]
 * dtype   any, for each
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE (the first sizes differ, or a tensor has no dims), TN_ERROR_MEMORY
 * cost    O(1)
 * source  torch.utils.data.TensorDataset */
TN_API tn_dataset *tn_tensor_dataset(tn_tensor *x, tn_tensor *y);

/* A dataset without labels: y is NULL, in batches too.
 * x       [n, ...]
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE (no dims), TN_ERROR_MEMORY
 * cost    O(1) */
TN_API tn_dataset *tn_feature_dataset(tn_tensor *x);

/* How a dataset makes its batches itself: from many files, or with noise of its own. */
typedef struct tn_dataset_functions {
    /* Puts tensors with the n samples of `index` along their first dim in *x and *y, which are NULL before; *y may stay
     * NULL. A loader with workers calls it from several threads at once, so what it gives may depend on the index
     * alone. It fails by raising an error (tn_fail); the message reaches the caller of tn_loader_next. */
    tn_status (*fetch)(void *context, const int64_t *index, int64_t n, tn_tensor **x, tn_tensor **y);
    void (*destroy)(void *context); /* called once, when the dataset dies; may be NULL */
} tn_dataset_functions;

/* A dataset of `size` samples that are fetched when they are needed.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a negative size), TN_ERROR_MEMORY; then destroy is not called
 * cost    O(1)
 * source  torch.utils.data.Dataset */
TN_API tn_dataset *tn_function_dataset(int64_t size, const tn_dataset_functions *functions, void *context);

/* scikit-learn's make_moons(n_samples, noise=noise, random_state=random_state), bit for bit: two half circles,
 * shuffled, plus normal noise of standard deviation `noise` (0 still draws, as there).
 * x       [n_samples, 2], drawn in float64, then rounded
 * y       [n_samples] int64: 0 the outer moon, 1 the inner
 *         both contiguous and on the CPU, whatever the default device is
 * dtype   of x: float32 or float64
 * errors  TN_ERROR_ARGUMENT (n_samples < 1, noise negative, nan or infinite, random_state outside 0 .. 2^32-1),
 *         TN_ERROR_DTYPE, TN_ERROR_OVERFLOW, TN_ERROR_MEMORY
 * cost    O(n)
 * source  sklearn.datasets.make_moons 1.2.1, NumPy RandomState (frozen by NEP 19) */
TN_API tn_dataset *tn_make_moons(int64_t n_samples, double noise, uint64_t random_state, tn_dtype dtype);

/* scikit-learn's make_circles(n_samples, noise=noise, factor=factor, random_state=random_state), bit for bit: a circle
 * of radius 1 around one of radius factor, shuffled, plus noise (0 still draws, as there).
 * x       [n_samples, 2]
 * y       [n_samples] int64: 0 the outer circle, 1 the inner
 * dtype   of x: float32 or float64
 * errors  as tn_make_moons; TN_ERROR_ARGUMENT (factor outside [0, 1))
 * cost    O(n)
 * source  sklearn.datasets.make_circles */
TN_API tn_dataset *tn_make_circles(int64_t n_samples, double noise, double factor, uint64_t random_state,
                                   tn_dtype dtype);

typedef struct tn_blobs_options {
    int64_t n_features;             /* 0: 2 */
    int64_t centers;                /* how many; 0: 3 */
    double cluster_std;             /* 0: 1 */
    double center_low, center_high; /* both 0: -10 and 10 */
} tn_blobs_options;

/* scikit-learn's make_blobs(n_samples, n_features, centers=..., cluster_std=..., center_box=..., random_state=...), bit
 * for bit: clouds of normal deviates around centers that are uniform in a box, shuffled.
 * x        [n_samples, n_features]
 * y        [n_samples] int64: the number of the center
 * dtype    of x: float32 or float64
 * options  NULL: all zero
 * errors   as tn_make_moons; TN_ERROR_ARGUMENT also for the options
 * cost     O(n n_features)
 * source   sklearn.datasets.make_blobs */
TN_API tn_dataset *tn_make_blobs(int64_t n_samples, const tn_blobs_options *options, uint64_t random_state,
                                 tn_dtype dtype);

#define TN_MAX_PARTS 64

/* Cuts a dataset in n parts of the given lengths along a random order of its samples, torch's
 * random_split(dataset, lengths, generator): one randperm. Parts of tensors are copies of their rows.
 * lengths  n of them, 0 or more, all samples together
 * parts    gets n datasets
 * errors   TN_ERROR_NULL, TN_ERROR_ARGUMENT (n outside 1 .. TN_MAX_PARTS, other lengths), TN_ERROR_STATE (a generator
 *          without a seed), TN_ERROR_MEMORY; then neither parts nor the generator changes
 * cost     O(numel)
 * source   torch.utils.data.random_split */
TN_API tn_status tn_random_split(tn_dataset *dataset, const int64_t *lengths, int n, tn_torch_generator *generator,
                                 tn_dataset **parts);

/* scikit-learn's train_test_split(dataset, test_size=test_size, random_state=random_state): ceil(test_size n) samples
 * to test with, the others to train, both in the order of one permutation.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (test_size not between 0 and 1, nothing left to train on, random_state
 *         outside 0 .. 2^32-1), TN_ERROR_MEMORY; then neither changes
 * cost    O(numel)
 * source  sklearn.model_selection.train_test_split */
TN_API tn_status tn_train_test_split(tn_dataset *dataset, double test_size, uint64_t random_state, tn_dataset **train,
                                     tn_dataset **test);

/* Mean and standard deviation (of the population) of each feature; the latter is 1 where a feature is constant.
 * x       [n, ...]
 * mean    gets [...], scale too, of x's dtype
 * dtype   float32 or float64, summed in float64
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE, TN_ERROR_SHAPE (no samples), TN_ERROR_DEVICE (on meta), TN_ERROR_MEMORY; then
 *         neither changes
 * cost    O(numel)
 * source  sklearn.preprocessing.StandardScaler */
TN_API tn_status tn_standardise_fit(tn_tensor *x, tn_tensor **mean, tn_tensor **scale);

/* (x - mean) / scale
 * errors  those of tn_sub and tn_div
 * grad    x, mean, scale
 * cost    O(numel) */
TN_API tn_tensor *tn_standardise(tn_tensor *x, tn_tensor *mean, tn_tensor *scale);

/* 1 at each label's place, 0 elsewhere.
 * labels   int64, [...]
 * classes  -1: the largest label and one
 * dtype    of the result; TN_DTYPE_NONE: int64, as PyTorch's
 * result   [..., classes]
 * errors   TN_ERROR_NULL, TN_ERROR_DTYPE (labels that are not int64), TN_ERROR_INDEX (a label outside 0 .. classes-1),
 *          TN_ERROR_ARGUMENT (classes -1, and no label), TN_ERROR_MEMORY
 * cost     O(numel)
 * source   torch.nn.functional.one_hot */
TN_API tn_tensor *tn_one_hot(tn_tensor *labels, int64_t classes, tn_dtype dtype);

/* Samples of the dataset, and its two tensors, which belong to it; NULL for those that it does not have.
 * errors  TN_ERROR_NULL. Then, and while an error is pending, 0 and NULL */
TN_API int64_t tn_dataset_size(const tn_dataset *dataset);
TN_API tn_tensor *tn_dataset_x(const tn_dataset *dataset);
TN_API tn_tensor *tn_dataset_y(const tn_dataset *dataset);

/* What came with a table: the names of the labels' column and of one of x, how many classes the labels have, the name
 * of a class. NULL and 0 for what is not there: no header, no classes, classes that are numbers. The strings belong to
 * the dataset.
 * errors  TN_ERROR_NULL. Then, and while an error is pending, NULL and 0 */
TN_API const char *tn_dataset_label_name(const tn_dataset *dataset);
TN_API const char *tn_dataset_column_name(const tn_dataset *dataset, int64_t column);
TN_API int64_t tn_dataset_class_count(const tn_dataset *dataset);
TN_API const char *tn_dataset_class_name(const tn_dataset *dataset, int64_t number);

/* Names the classes 0 .. n-1 of a dataset's labels; those that it had are gone.
 * names   n strings, copied
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (n below 1), TN_ERROR_MEMORY; then nothing changes
 * cost    O(bytes) */
TN_API tn_status tn_dataset_name_classes(tn_dataset *dataset, const char *const *names, int64_t n);

typedef struct tn_loader_options {
    int64_t batch_size; /* 0: 1, as torch's DataLoader */
    bool shuffle;       /* a new order each epoch, that of DataLoader(shuffle=True, generator=g), g.manual_seed(seed) */
    bool drop_last;     /* leave out a last batch that is not full */
    uint64_t seed;      /* for shuffle */
    /* For shuffle: DataLoader(shuffle=True) without a generator, this one being PyTorch's global one, which other
     * draws (tn_init_torch) move too. The loader keeps the pointer. NULL: its own generator, from seed. */
    tn_torch_generator *global_generator;
    /* Samples drawn with replacement, each as often as its weight says, by the shuffling's generator: PyTorch's
     * sampler=WeightedRandomSampler(weights, draws); of one draw PyTorch has another rule. One weight a sample,
     * float64; NULL: none. Not with shuffle. */
    tn_tensor *weights;
    int64_t draws; /* samples in an epoch then; 0: as many as the dataset has */
    /* Threads that make batches ahead; 0: the calling one makes each when it is asked for. Results never depend on it.
     * Worth it when a dataset's function is slow. */
    int workers;
    int prefetch; /* batches ahead for each worker; 0: 2 */
} tn_loader_options;

/* Cuts the dataset into batches. options NULL: all zero. Holds a reference on the dataset.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a negative batch_size, an empty dataset, drop_last with a batch_size over
 *         the samples of an epoch: no batch would ever come; weights with shuffle, negative, not finite, all 0 or not
 *         one a sample; workers or prefetch out of range), TN_ERROR_STATE (global_generator without a seed),
 *         TN_ERROR_MEMORY
 * cost    O(1), O(n) with shuffling
 * source  torch.utils.data.DataLoader */
TN_API tn_loader *tn_loader_new(tn_dataset *dataset, const tn_loader_options *options);

typedef struct tn_batch {
    tn_tensor *x; /* [b, ...] */
    tn_tensor *y; /* [b, ...], or NULL without labels */
    int64_t index; /* number of the batch in its epoch */
} tn_batch;

/* The next batch, or false at the end of the epoch (the call after it begins the next one) and while an error is
 * pending. The batch belongs to the loader and lives until the next call; retain its tensors to keep them. Without
 * shuffling they are views of the dataset's tensors, with it copies.
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY, TN_ERROR_STATE (the dataset's tensors were resized, the global generator lost
 *         its seed); then false. A failed call may be repeated and gives the same batch
 * cost    O(batch) with shuffling, and O(n) once an epoch; O(1) without */
TN_API bool tn_loader_next(tn_loader *loader, tn_batch *batch);

/* Leaves the epoch where it is, so that the next call of tn_loader_next begins a new one: what `break` and a new `for`
 * over a DataLoader do.
 * errors  TN_ERROR_NULL
 * cost    O(1), O(n) with shuffling */
TN_API tn_status tn_loader_reset(tn_loader *loader);

/* Where a loader is, and what it is: plain data, to be saved and loaded. A loader over the same data with the same
 * options goes on from there with the same batches; a global generator is not moved, and is to be restored by its
 * owner. */
typedef struct tn_loader_state {
    tn_torch_generator generator; /* before it drew the order of this epoch, or as it is between epochs */
    int64_t epoch;                /* begun so far */
    int64_t next;                 /* batch of the epoch that comes next; -1 between epochs */
    /* What the batches depend on besides. tn_loader_set_state takes no other than the loader's own. */
    int64_t samples;       /* of the dataset */
    int64_t draws;         /* samples in an epoch; without weights those of the dataset */
    int64_t batch_size;    /* 1 or more */
    bool shuffle, drop_last;
    bool global_generator; /* whether that gives the order */
    uint32_t weights;      /* a checksum of the weights; 0: none */
} tn_loader_state;

/* errors  TN_ERROR_NULL; tn_loader_set_state: TN_ERROR_ARGUMENT (next or epoch out of range; the state of a loader with
 *         other samples, draws, batch_size, shuffle, drop_last, global_generator or weights: the message has both
 *         values), TN_ERROR_STATE (a generator without a seed); then nothing changes
 * cost    O(1); tn_loader_set_state O(n) with shuffling */
TN_API tn_status tn_loader_get_state(const tn_loader *loader, tn_loader_state *state);
TN_API tn_status tn_loader_set_state(tn_loader *loader, const tn_loader_state *state);

/* Batches in an epoch; epochs begun so far.
 * errors  TN_ERROR_NULL. Then, and while an error is pending, 0 */
TN_API int64_t tn_loader_batch_count(const tn_loader *loader);
TN_API int64_t tn_loader_epoch(const tn_loader *loader);

TN_END

#endif
