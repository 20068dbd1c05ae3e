"""NumPy and Tenon on one memory, both ways: values, addresses, writes, lifetimes, refusals."""

import ctypes as c
import random
import sys
import weakref

import tenon

try:
    import numpy as np
except ImportError:
    tenon.skip(f"{sys.executable} has no numpy")
if not hasattr(np, "from_dlpack"):
    tenon.skip(f"numpy {np.__version__} knows no DLPack")
VERSIONED = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)  # else arrays come out of capsules as read-only


def writable(array):
    """The array, so that it may be written also in a NumPy that is over-careful."""
    if array.flags.writeable:
        return array
    assert not VERSIONED
    memory = (c.c_char * (1 << 30)).from_address(address(array))
    return np.ndarray(array.shape, array.dtype, memory, strides=array.strides)


def address(array):
    return array.__array_interface__["data"][0]


def same(x, array):
    """The tensor and the array are one grid over one memory."""
    assert tenon.shape_of(x) == array.shape, (tenon.shape_of(x), array.shape)
    if array.size:
        assert tenon.data(x) == address(array)
        for d in range(array.ndim):
            assert array.shape[d] == 1 or tenon.stride(x, d) * array.itemsize == array.strides[d]


def out():
    with tenon.Scope():
        x = tenon.arange([3, 4])
        view = tenon.narrow(tenon.transpose(x, 0, 1), 0, 1, 3)
        array = np.from_dlpack(tenon.Export(view))
        same(view, array)
        assert array.flags.writeable == VERSIONED and array.dtype == np.float64
        assert array.tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]
        writable(array)[2, 1] = -70
        whole = np.from_dlpack(tenon.Export(x))
        assert whole[1, 3] == -70
        assert tenon.add_(view, view) == tenon.OK
        assert array[0, 0] == 2 and whole[0, 0] == 0 and array[2, 1] == -140
    assert array[0, 2] == 18  # the scope has ended, the memory lives


def out_unversioned():
    with tenon.Scope():
        x = tenon.arange([2, 5])
        array = np.from_dlpack(tenon.Export(tenon.narrow(x, 1, 2, 2), versioned=False))
        assert array.tolist() == [[2, 3], [7, 8]] and address(array) == tenon.data(x) + 16
        tenon.zero_(x)
        assert not array.any()


def capsule_that_nobody_takes():
    with tenon.Scope():
        x = tenon.arange([3])
        for versioned in (True, False):
            calls = tenon.counter.calls
            capsule = tenon.Export(x, versioned).__dlpack__(max_version=(1, 0))
            assert tenon.counter.calls == calls
            del capsule
            assert tenon.counter.calls == calls + 1


def back_in():
    for versioned in (True, False):
        base = np.empty((4, 6))
        base.flat = range(24)
        array = base[1:, ::2].T
        alive = weakref.ref(base)
        with tenon.Scope():
            x = tenon.take(array, versioned)
            same(x, array)
            array[0, 1] = 99
            y = np.from_dlpack(tenon.Export(x))
            assert y[0, 1] == 99 and (y == array).all()
            del array
            base[1, 4] = -3
            del base
            assert alive() is not None  # the tensor holds it
            assert y[2, 0] == -3
            assert tenon.add_(x, x) == tenon.OK
            assert alive()[1, 4] == -6 and alive()[0, 0] == 0 and alive()[2, 0] == 198
            del y
        assert alive() is None


def read_only():
    if not VERSIONED:
        return out()
    array = np.arange(6.0)
    array.flags.writeable = False
    with tenon.Scope():
        x = tenon.take(array)
        assert tenon.zero_(x) != tenon.OK
        name, message = tenon.status()
        assert name == tenon.STATE and "read-only" in message, message
        assert array.tolist() == [0, 1, 2, 3, 4, 5]
        again = np.from_dlpack(tenon.Export(x))
        assert not again.flags.writeable and again[5] == 5
        try:
            tenon.Export(x, versioned=False).__dlpack__()
        except BufferError as error:
            assert "read-only" in str(error)
        else:
            raise AssertionError("what was read-only went out as writable")


def refused():
    """The deleter is called at once, by the call that refuses."""
    array = np.arange(6.0)
    odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    kept = sys.getrefcount(array)
    for wrong, what in ((array[::-1], "stride -1 in dim 0"), (odd, "address"),
                        (array.reshape(2, 3)[:, ::-2], "stride -2")):
        for versioned in (True, False):
            calls = tenon.counter.calls
            with tenon.Scope():
                assert tenon.take(wrong, versioned) is None
                name, message = tenon.status()
                assert name == tenon.ARGUMENT and what in message, message
            assert tenon.counter.calls == calls + 1
    del wrong
    assert sys.getrefcount(array) == kept


def every_dtype():
    for name, number in tenon.DTYPES.items():
        if name == "bool" and not VERSIONED or name != "bool" and not hasattr(np, name):
            continue
        array = np.ones((2, 3), np.dtype(name))
        with tenon.Scope():
            x = tenon.take(array)
            assert tenon.dtype(x) == number, name
            y = np.from_dlpack(tenon.Export(x))
            assert y.dtype == array.dtype and address(y) == address(array) and (y == array).all()


def odd_shapes():
    arrays = [np.zeros((0, 3)), np.zeros((3, 0, 2)), np.array(2.5), np.ones((1, 1, 4))[:, ::-1, 1:3],
              np.ones((1,) * (64 if VERSIONED else 32)), np.zeros((4, 0))[::-1]]
    if VERSIONED:
        arrays.append(np.broadcast_to(np.arange(3.0), (2, 3)))  # read-only
    for array in arrays:
        with tenon.Scope():
            x = tenon.take(array)
            assert x, tenon.status()
            same(x, array)
            assert np.from_dlpack(tenon.Export(x)).tolist() == array.tolist()


def nothing_is_copied():
    array = np.zeros(1 << 20)
    with tenon.Scope():
        before = tenon.stats()
        x = tenon.take(array)
        y = np.from_dlpack(tenon.Export(x))
        assert address(y) == address(array)
        assert tenon.stats().live_bytes - before.live_bytes < 2048
        del y
    with tenon.Scope():
        x = tenon.arange([1 << 16])
        before = tenon.stats()
        y = np.from_dlpack(tenon.Export(x))
        assert tenon.stats().live_bytes - before.live_bytes < 2048 and y[-1] == (1 << 16) - 1


def random_views():
    draw = random.Random(4)
    for turn in range(300):
        base = np.arange(120.0).reshape(draw.choice([(2, 3, 4, 5), (120,), (8, 15), (6, 4, 5)]))
        array = base.transpose(draw.sample(range(base.ndim), base.ndim))
        array = array[tuple(slice(draw.randrange(n), n, draw.randint(1, 3)) for n in array.shape)]
        with tenon.Scope():
            x = tenon.take(array, turn % 2 == 0)
            same(x, array)
            y = np.from_dlpack(tenon.Export(x, turn % 3 == 0))
            expected = base.copy()
            where = tuple(draw.randrange(n) for n in array.shape)
            expected[base == array[where]] = -1
            (y if y.flags.writeable else array)[where] = -1
            assert (base == expected).all() and (y == array).all(), (turn, array.shape, array.strides)


def no_growth():
    tenon.no_growth(np.arange(10.0), np.from_dlpack)


print(f"numpy {np.__version__}")
tenon.run([out, out_unversioned, capsule_that_nobody_takes, back_in, read_only, refused, every_dtype, odd_shapes,
           nothing_is_copied, random_views, no_growth])
