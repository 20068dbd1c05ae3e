"""Files between Tenon and the libraries whose formats they are: .npy with NumPy, safetensors with its own library, and
datasets beside scikit-learn, where these are installed."""

import ctypes as c
import itertools
import os
import tempfile

os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(
    "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3".split())
import tenon as t

try:
    import numpy as np
except ImportError:
    t.skip("no NumPy here")

load_npy = t.declare("tn_load_npy", c.c_void_p, c.c_char_p)
save_npy = t.declare("tn_save_npy", c.c_int, c.c_void_p, c.c_char_p)
load_safetensors = t.declare("tn_load_safetensors", c.c_void_p, c.c_char_p, c.c_void_p)
find = t.declare("tn_safetensors_find", c.c_void_p, c.c_void_p, c.c_char_p)
from_array = t.declare("tn_from_array", c.c_void_p, c.c_void_p, t.sizes_type, c.c_int, c.c_int)
circles = t.declare("tn_make_circles", c.c_void_p, c.c_int64, c.c_double, c.c_double, c.c_uint64, c.c_int)
blobs = t.declare("tn_make_blobs", c.c_void_p, c.c_int64, c.c_void_p, c.c_uint64, c.c_int)
moons = t.declare("tn_make_moons", c.c_void_p, c.c_int64, c.c_double, c.c_uint64, c.c_int)
dataset_x = t.declare("tn_dataset_x", c.c_void_p, c.c_void_p)
dataset_y = t.declare("tn_dataset_y", c.c_void_p, c.c_void_p)


class Named(c.Structure):
    _fields_ = [("name", c.c_char_p), ("tensor", c.c_void_p)]


class Options(c.Structure):
    _fields_ = [("metadata", c.POINTER(Named)), ("count", c.c_int64), ("sum", c.c_bool)]


class Pair(c.Structure):
    _fields_ = [("key", c.c_char_p), ("value", c.c_char_p)]


save_safetensors = t.declare("tn_save_safetensors", c.c_int, c.c_char_p, c.POINTER(Named), c.c_int64,
                             c.POINTER(Options))
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "file").encode()
TYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 0, 2), (1, 4), (2, 3, 4), (100000,)]


def array_of(name, shape):
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % 251 - (0 if name[0] in "ub" else 100)).astype(name).reshape(shape)


def to_array(x):
    """A copy of a tensor as NumPy's array, strides and all."""
    name = [name for name, number in t.DTYPES.items() if number == t.dtype(x)][0]
    shape, kind = t.shape_of(x), np.dtype(name)
    if 0 in shape:
        return np.empty(shape, kind)
    strides = [s * kind.itemsize for s in t.strides_of(x)]
    last = sum((n - 1) * s for n, s in zip(shape, strides)) + kind.itemsize
    raw = np.frombuffer(c.string_at(t.data(x), last), np.uint8)
    return np.lib.stride_tricks.as_strided(raw.view(kind), shape, strides).copy()


def to_tensor(array):
    array = np.ascontiguousarray(array).reshape(array.shape)
    return from_array(array.ctypes.data, t.ints(array.shape), array.ndim, t.DTYPES[array.dtype.name])


def test_npy_read():
    for name, shape, order, mark in itertools.product(TYPES, SHAPES, "CF", "<>"):
        array = np.asarray(array_of(name, shape), order=order)
        with open(path, "wb") as file:
            np.save(file, array.astype(array.dtype.newbyteorder(mark)))
        x = load_npy(path)
        assert x, t.status()
        found = to_array(x)
        assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes() == array.tobytes()


def test_npy_write():
    for name, shape in itertools.product(TYPES, SHAPES):
        array = array_of(name, shape)
        for flip in range(2 if len(shape) > 1 else 1):
            x = to_tensor(array)
            if flip:
                x, array = t.transpose(x, 0, len(shape) - 1), np.swapaxes(array, 0, len(shape) - 1)
            assert save_npy(x, path) == t.OK, t.status()
            np.save(path.decode() + "n.npy", array)
            ours, theirs = open(path, "rb").read(), open(path.decode() + "n.npy", "rb").read()
            assert np.load(path.decode()).tobytes() == array.tobytes()
            assert ours == theirs, (name, array.shape, flip)


def test_safetensors():
    from safetensors.numpy import load, save
    arrays = {f"{'xyz'[i % 3]}.{name}": array_of(name, SHAPES[i % len(SHAPES)]) for i, name in enumerate(TYPES)}
    arrays['quote"\n\u00e9\x01'] = array_of("float32", (2, 2))
    items = (Named * len(arrays))(*[Named(key.encode(), to_tensor(value)) for key, value in arrays.items()])
    for metadata in (None, {'k"\u00e9': "v\t\\"}):
        pair = Pair(*[text.encode() for text in list(metadata.items())[0]]) if metadata else Pair()
        options = Options(c.cast(c.pointer(pair), c.POINTER(Named)), 1 if metadata else 0, False)
        assert save_safetensors(path, items, len(items), options) == t.OK, t.status()
        ours = open(path, "rb").read()
        assert ours == save(arrays, metadata)
        for key, value in load(ours).items():
            assert value.tobytes() == arrays[key].tobytes() and value.shape == arrays[key].shape
        file = load_safetensors(path, None)
        for key, value in arrays.items():
            assert to_array(find(file, key.encode())).tobytes() == value.tobytes(), key
    options = Options(None, 0, True)
    assert save_safetensors(path, items, len(items), options) == t.OK, t.status()
    assert len(load(open(path, "rb").read())) == len(arrays)


def test_datasets():
    from sklearn import datasets
    for n, seed in itertools.product((1, 2, 7, 200), (0, 5)):
        pairs = [(circles(n, 0.1, 0.5, seed, 1), datasets.make_circles(n, noise=0.1, factor=0.5, random_state=seed)),
                 (moons(n, 0.2, seed, 1), datasets.make_moons(n, noise=0.2, random_state=seed)),
                 (blobs(n, None, seed, 1), datasets.make_blobs(n, random_state=seed))]
        for ours, (x, y) in pairs:
            assert to_array(dataset_x(ours)).tobytes() == np.ascontiguousarray(x).tobytes()
            assert to_array(dataset_y(ours)).tobytes() == y.astype("i8").tobytes()


t.run_scoped([test_npy_read, test_npy_write, test_safetensors, test_datasets])
