"""PyTorch and Tenon on one memory, both ways, and NumPy in the chain where it is there."""

import random
import sys
import warnings

import tenon

try:
    warnings.simplefilter("ignore")
    import torch
except ImportError:
    tenon.skip(f"{sys.executable} has no torch")


def same(x, t):
    assert tenon.shape_of(x) == tuple(t.shape) and tenon.strides_of(x) == t.stride(), (tenon.strides_of(x), t.stride())
    assert t.numel() == 0 or tenon.data(x) == t.data_ptr()


def out():
    with tenon.Scope():
        x = tenon.arange([3, 4])
        view = tenon.narrow(tenon.transpose(x, 0, 1), 0, 1, 3)
        t = torch.from_dlpack(tenon.Export(view))
        same(view, t)
        assert t.dtype == torch.float64 and t.storage_offset() == 0
        assert t.tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]
        t[2, 1] = -70
        whole = torch.from_dlpack(tenon.Export(x))
        assert whole[1, 3] == -70
        t.mul_(2)
        assert tenon.add_(view, view) == tenon.OK
        assert t[0, 0] == 4 and whole[0, 0] == 0 and t[2, 1] == -280
        (t.clone().requires_grad_() * t).sum().backward()  # as good as any other tensor
    assert t[0, 2] == 36  # the scope has ended, the memory lives


def out_unversioned():
    with tenon.Scope():
        x = tenon.arange([2, 5])
        capsule = tenon.Export(tenon.narrow(x, 1, 2, 2), versioned=False).__dlpack__()
        t = torch.utils.dlpack.from_dlpack(capsule)
        assert t.tolist() == [[2, 3], [7, 8]] and t.data_ptr() == tenon.data(x) + 16
        tenon.zero_(x)
        assert t.eq(0).all()


def back_in():
    for versioned in (True, False):
        base = torch.arange(24.0, dtype=torch.float64).view(4, 6)
        t = base[1:, ::2].T
        with tenon.Scope():
            x = tenon.take(t, versioned)
            same(x, t)
            assert t.storage_offset() == 6
            t[0, 1] = 99
            y = torch.from_dlpack(tenon.Export(x))
            assert y[0, 1] == 99 and y.equal(t)
            assert tenon.add_(x, x) == tenon.OK
            assert base[1, 0] == 12 and base[0, 0] == 0 and base[2, 0] == 198
            del base, t
            assert y[1, 1] == 28
            del y


def every_dtype():
    for name, number in tenon.DTYPES.items():
        if not hasattr(torch, name):
            continue
        t = torch.ones(2, 3).to(getattr(torch, name))
        for versioned in (True, False):
            with tenon.Scope():
                x = tenon.take(t, versioned)
                assert x, (name, tenon.status())
                assert tenon.dtype(x) == number, name
                y = torch.from_dlpack(tenon.Export(x))
                assert y.dtype == t.dtype and y.data_ptr() == t.data_ptr()


def odd_shapes():
    for t in (torch.zeros(0, 3), torch.zeros(3, 0, 2), torch.tensor(2.5), torch.arange(12.0).view(3, 4)[:, 1:2],
              torch.arange(3.0).expand(2, 3), torch.ones((1,) * 64), torch.arange(10.0).unfold(0, 4, 2),
              torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)):
        with tenon.Scope():
            x = tenon.take(t)
            assert x, tenon.status()
            same(x, t)
            assert torch.from_dlpack(tenon.Export(x)).equal(t)


def nothing_is_copied():
    t = torch.zeros(1 << 20)
    with tenon.Scope():
        before = tenon.stats()
        x = tenon.take(t)
        y = torch.from_dlpack(tenon.Export(x))
        assert y.data_ptr() == t.data_ptr()
        assert tenon.stats().live_bytes - before.live_bytes < 2048
        del y


def chain():
    """NumPy made it, PyTorch, Tenon and NumPy see it: one memory."""
    try:
        import numpy as np
    except ImportError:
        return out()
    draw = random.Random(4)
    for turn in range(100):
        base = np.arange(120.0).reshape(draw.choice([(2, 3, 4, 5), (120,), (8, 15)]))
        array = base.transpose(draw.sample(range(base.ndim), base.ndim))
        array = array[tuple(slice(draw.randrange(n), n, draw.randint(1, 3)) for n in array.shape)]
        with tenon.Scope():
            x = tenon.take(torch.from_dlpack(array))
            t = torch.from_dlpack(tenon.Export(x))
            y = np.from_dlpack(tenon.Export(tenon.take(t)))
            assert y.__array_interface__["data"] == array.__array_interface__["data"] or not array.size
            t += 1
            assert (y == array).all() and array.flat[0] == base.flat[0] + array.flat[0] - base.flat[0]
            del t, y


def refused_by_torch():
    """What PyTorch won't give never gets here; the tensor stays as it was."""
    t = torch.ones(2, dtype=torch.complex64).conj()
    try:
        tenon.take(t)
    except BufferError:
        pass
    else:
        raise AssertionError("a conjugated tensor came in")
    with tenon.Scope():
        assert tenon.take(t.resolve_conj())


def no_growth():
    tenon.no_growth(torch.arange(10.0), torch.from_dlpack)


print(f"torch {torch.__version__}")
tenon.run([out, out_unversioned, back_in, every_dtype, odd_shapes, nothing_is_copied, chain, refused_by_torch,
           no_growth])
