"""Data beside the libraries whose orders, bits and files they are: batches of PyTorch's DataLoader and random_split,
scikit-learn's datasets, train_test_split and metrics, NumPy's .npy and CSV. What is not installed is skipped."""

import ctypes as c
import itertools
import math
import os
import tempfile
import warnings

# the sine of NumPy's SIMD code is an ulp off at places
os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(
    "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3".split())
import tenon

try:
    warnings.simplefilter("ignore")
    import numpy as np
except ImportError as missing:
    tenon.skip(missing)

import training as t

declare, pointer = t.declare, t.pointer
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "file")
manual_seed = declare("tn_torch_manual_seed", c.c_int, pointer, c.c_uint64)
random_split = declare("tn_random_split", c.c_int, pointer, tenon.sizes_type, c.c_int, pointer, c.POINTER(pointer))
train_test_split = declare("tn_train_test_split", c.c_int, pointer, c.c_double, c.c_uint64, c.POINTER(pointer),
                           c.POINTER(pointer))
dataset_size = declare("tn_dataset_size", c.c_int64, pointer)
moons = declare("tn_make_moons", pointer, c.c_int64, c.c_double, c.c_uint64, c.c_int)
circles = declare("tn_make_circles", pointer, c.c_int64, c.c_double, c.c_double, c.c_uint64, c.c_int)
blobs = declare("tn_make_blobs", pointer, c.c_int64, c.POINTER(t.BlobsOptions), c.c_uint64, c.c_int)
load_csv = declare("tn_load_csv", pointer, c.c_char_p, c.POINTER(t.CsvOptions))
save_csv = declare("tn_save_csv", c.c_int, c.c_char_p, pointer, c.POINTER(t.CsvOptions))
load_npy = declare("tn_load_npy", pointer, c.c_char_p)
save_npy = declare("tn_save_npy", c.c_int, pointer, c.c_char_p)
binary_accuracy = declare("tn_binary_accuracy", c.c_double, pointer, pointer)
accuracy = declare("tn_accuracy", c.c_double, pointer, pointer)
confusion_matrix = declare("tn_confusion_matrix", pointer, pointer, pointer)
class_score_of = declare("tn_class_score_of", c.c_int, pointer, c.c_int64, c.POINTER(t.ClassScore))
roc_auc = declare("tn_roc_auc", c.c_double, pointer, pointer)
F32, F64 = tenon.DTYPES["float32"], tenon.DTYPES["float64"]


def counting(n):
    """A dataset whose samples are their own numbers."""
    return t.make(t.dataset(t.to_tensor(np.arange(n).reshape(n, 1)), t.to_tensor(np.arange(n))))


def generator(seed):
    """PyTorch's generator here: bytes that are large enough for tn_torch_generator."""
    room = c.create_string_buffer(8192)
    t.done(manual_seed(room, seed))
    return room


def epochs_of(loader, epochs):
    found, batch = [], t.Batch()
    for _ in range(epochs):
        while t.loader_next(loader, batch):
            found.append(t.to_array(batch.y).tolist())
    assert tenon.library.tn_error_code() == tenon.OK, tenon.status()
    return found


def test_shuffling():
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    for n, size, drop_last in itertools.product((1, 2, 5, 31, 32, 33, 625, 1000), (1, 3, 32, 100, 1000), (False, True)):
        if drop_last and size > n:
            continue
        seed, data = n * 7919 + size, TensorDataset(torch.arange(n))
        theirs = DataLoader(data, size, shuffle=True, drop_last=drop_last,
                            generator=torch.Generator().manual_seed(seed))
        wanted = [batch.tolist() for _ in range(3) for batch, in theirs]
        with tenon.Scope():
            options = t.LoaderOptions(batch_size=size, shuffle=True, drop_last=drop_last, seed=seed)
            assert epochs_of(t.make(t.loader_new(counting(n), options)), 3) == wanted, (n, size, drop_last)
    for n, seed in ((70_000, 2 ** 32 + 5), (100_003, 2 ** 63)):
        theirs = DataLoader(TensorDataset(torch.arange(n)), 4096, shuffle=True,
                            generator=torch.Generator().manual_seed(seed))
        ours = t.loader_new(counting(n), t.LoaderOptions(batch_size=4096, shuffle=True, seed=seed, workers=2))
        assert epochs_of(t.make(ours), 2) == [batch.tolist() for _ in range(2) for batch, in theirs], n


def test_global_generator():
    """DataLoader without a generator of its own draws from the global one, other draws in between."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    for seed in (0, 12345):
        torch.manual_seed(seed)
        theirs = DataLoader(TensorDataset(torch.arange(50)), 8, shuffle=True)
        wanted = [batch.tolist() for _ in range(4) for batch, in theirs]
        room = generator(seed)
        options = t.LoaderOptions(batch_size=8, shuffle=True, global_generator=c.addressof(room))
        assert epochs_of(t.make(t.loader_new(counting(50), options)), 4) == wanted


def test_weights():
    import torch
    from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
    for n, draws in ((3, 20), (50, 50), (200, 64)):
        weights = torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
        weights[0] = 0
        both = torch.Generator().manual_seed(n)
        theirs = DataLoader(TensorDataset(torch.arange(n)), 7, sampler=WeightedRandomSampler(
            weights, draws, generator=both), generator=both)
        options = t.LoaderOptions(batch_size=7, weights=t.to_tensor(weights.numpy()), draws=draws, seed=n)
        assert epochs_of(t.make(t.loader_new(counting(n), options)), 1) == [batch.tolist() for batch, in theirs]


def test_random_split():
    import torch
    for lengths, seed in itertools.product(([1], [0, 5], [30, 3], [70, 20, 10], [500, 250, 250]), (0, 42)):
        n = sum(lengths)
        theirs = torch.utils.data.random_split(range(n), lengths, torch.Generator().manual_seed(seed))
        parts = (pointer * len(lengths))()
        t.done(random_split(counting(n), tenon.ints(lengths), len(lengths), generator(seed), parts))
        for ours, wanted in zip(parts, theirs):
            assert t.to_array(t.dataset_y(ours)).tolist() == list(wanted)


def same_bits(ours, x, y):
    assert t.to_array(t.dataset_x(t.make(ours))).tobytes() == np.ascontiguousarray(x).tobytes()
    assert t.to_array(t.dataset_y(ours)).tobytes() == y.astype("i8").tobytes()


def test_made_points():
    from sklearn import datasets as theirs
    for n, seed in itertools.product((1, 2, 3, 10, 101, 1000), (0, 1, 2 ** 32 - 1)):
        for noise in (0.0, 0.05, 0.2, 3.0):
            wanted = theirs.make_moons(n, noise=noise, random_state=seed)
            same_bits(moons(n, noise, seed, F64), *wanted)
            same_bits(moons(n, noise, seed, F32), wanted[0].astype("f4"), wanted[1])
            for factor in (0.0, 0.5, 0.8):
                same_bits(circles(n, noise, factor, seed, F64),
                          *theirs.make_circles(n, noise=noise, factor=factor, random_state=seed))
        for features, centers, std, low, high in ((2, 3, 1, -10, 10), (5, 4, 0.3, -1, 2), (1, 7, 2.5, 0, 100)):
            same_bits(blobs(n, t.BlobsOptions(features, centers, std, low, high), seed, F64),
                      *theirs.make_blobs(n, features, centers=centers, cluster_std=std, center_box=(low, high),
                                         random_state=seed))


def test_train_test_split():
    from sklearn.model_selection import train_test_split as theirs
    for n, share, seed in itertools.product((2, 10, 101, 1000), (0.2, 0.25, 0.5), (0, 1, 2 ** 32 - 1)):
        wanted = theirs(np.arange(n), test_size=share, random_state=seed)
        train, test = pointer(), pointer()
        t.done(train_test_split(counting(n), share, seed, c.byref(train), c.byref(test)))
        for ours, theirs_part in zip((train, test), wanted):
            assert t.to_array(t.dataset_y(ours)).tolist() == theirs_part.tolist()


def numbers(kind):
    """Of all sizes, every sign of zero, the largest and smallest, and some that are hard to round."""
    draw = np.random.default_rng(3)
    info = np.finfo(kind)
    some = [0.0, -0.0, info.max, info.min, info.tiny, info.smallest_subnormal, 1 / 3, 0.1, 1e23, 2.0 ** 53 - 1, 5e-324]
    wide = draw.normal(size=(400, 3)) * 10.0 ** draw.integers(-30, 30, (400, 3))
    wide.ravel()[:len(some)] = some
    return wide.astype(kind)


def test_csv():
    """numpy.savetxt here and numpy.genfromtxt there, bit for bit; labels as classes and as numbers."""
    for kind, number in (("f8", F64), ("f4", F32)):
        x = numbers(kind)
        y = np.arange(len(x)) % 5
        digits = "%.17g" if kind == "f8" else "%.9g"
        np.savetxt(path, np.column_stack([x.astype("f8"), y]), [digits] * 3 + ["%d"], ",", header="a,b,c,kind",
                   comments="")
        read = t.make(load_csv(path.encode(), t.CsvOptions(dtype=number, label=c.cast(b"kind", pointer).value)))
        same_bits(read, x, y)
        t.done(save_csv(path.encode(), read, t.CsvOptions(dtype=number, label=c.cast(b"kind", pointer).value)))
        back = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
        assert back.dtype.names == ("a", "b", "c", "kind")
        found = np.column_stack([back[name] for name in "abc"]).astype(kind)
        assert found.tobytes() == x.tobytes() and (back["kind"] == y).all()
        features = t.make(load_csv(path.encode(), t.CsvOptions(dtype=number)))
        assert t.to_array(t.dataset_x(features)).tobytes() == np.column_stack([x, y.astype(kind)]).tobytes()


def test_csv_special():
    np.savetxt(path, [[np.nan, np.inf], [-np.inf, 1.5]], "%.17g", ";")
    read = t.make(load_csv(path.encode(), t.CsvOptions(dtype=F64, delimiter=b";")))
    found = t.to_array(t.dataset_x(read))
    assert np.isnan(found[0, 0]) and found.ravel()[1:].tolist() == [np.inf, -np.inf, 1.5]


def test_npy():
    """Floats of every bit pattern's kind, both ways; test_formats.py has the dtypes, shapes and orders."""
    for kind in ("f8", "f4", "f2"):
        x = np.frombuffer(np.random.default_rng(4).bytes(4000 * np.dtype(kind).itemsize), kind).reshape(40, 100)
        np.save(path + ".npy", x)
        read = t.make(load_npy((path + ".npy").encode()))
        assert t.to_array(read).tobytes() == x.tobytes()
        t.done(save_npy(read, (path + ".npy").encode()))
        assert np.load(path + ".npy").tobytes() == x.tobytes()


def compare(matrix, classes, said, labels):
    from sklearn import metrics
    wanted = metrics.confusion_matrix(classes, said, labels=labels)
    assert (t.to_array(t.make(matrix)) == wanted).all()
    all_of = metrics.precision_recall_fscore_support(classes, said, labels=labels, zero_division=0)
    for k in labels:
        score = t.ClassScore()
        t.done(class_score_of(matrix, k, score))
        found = (score.precision, score.recall, score.f1)
        assert all(abs(a - b[k]) <= 1e-15 for a, b in zip(found, all_of)), (found, [b[k] for b in all_of])
        assert score.samples == all_of[3][k]


def test_classes():
    """Ties, classes that nobody has or chose."""
    from sklearn import metrics
    draw = np.random.default_rng(1)
    for turn in range(200):
        n, kinds = int(draw.integers(1, 60)), int(draw.integers(2, 7))
        logits = draw.integers(-3, 4, (n, kinds)).astype(["f4", "f8"][turn % 2])  # with ties
        classes = draw.integers(0, draw.integers(1, kinds + 1), n)
        said = logits.argmax(1)
        with tenon.Scope():
            z, y = t.to_tensor(logits), t.to_tensor(classes)
            assert abs(accuracy(z, y) - metrics.accuracy_score(classes, said)) <= 1e-15
            compare(confusion_matrix(z, y), classes, said, list(range(kinds)))


def test_two_classes():
    from sklearn import metrics
    draw = np.random.default_rng(2)
    for turn in range(200):
        n = int(draw.integers(1, 60))
        logits = (draw.integers(-3, 4, n) / 2).astype(["f4", "f8"][turn % 2])
        classes = draw.integers(0, 2, n) if turn % 5 else np.full(n, turn % 2)
        said = (logits > 0).astype(int)
        with tenon.Scope():
            z, y = t.to_tensor(logits), t.to_tensor(classes)
            wanted = metrics.accuracy_score(classes, said)
            assert abs(binary_accuracy(z, y) - wanted) <= 1e-15 and abs(accuracy(z, y) - wanted) <= 1e-15
            compare(confusion_matrix(z, y), classes, said, [0, 1])


def test_roc_auc():
    """With ties, huge scores and one class alone."""
    from sklearn import metrics
    draw = np.random.default_rng(3)
    alone = 0
    for turn in range(400):
        n = int(draw.integers(1, 200))
        scores = draw.normal(size=n) if turn % 3 else draw.integers(-2, 3, n) / 4.0
        if turn % 7 == 0:
            scores[0] = 1e308
        scores = scores.astype(["f8", "f4"][turn % 2] if turn % 7 else "f8")
        classes = (draw.random(n) < draw.random()).astype(int)
        with tenon.Scope():
            found = roc_auc(t.to_tensor(scores), t.to_tensor(classes))
            if len(set(classes)) < 2:  # scikit-learn warns and gives nan
                alone += 1
                assert math.isnan(found) and tenon.status()[0] == tenon.ARGUMENT
                assert math.isnan(metrics.roc_auc_score(classes, scores))
            else:
                wanted = metrics.roc_auc_score(classes, scores)
                assert abs(found - wanted) <= 1e-14, (turn, found, wanted)
    assert alone > 5


print(f"numpy {np.__version__}")
t.run([test_shuffling, test_global_generator, test_weights, test_random_split, test_made_points, test_train_test_split,
       test_csv, test_csv_special, test_npy, test_classes, test_two_classes, test_roc_auc])
