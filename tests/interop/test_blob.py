"""Memory of Python's own: a ctypes array and a bytearray through from_blob, with a deleter that Python counts."""

import ctypes as c

import tenon

Delete = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p)


class Block:
    """Doubles that Python owns, and the options that make a tensor around them."""

    def __init__(self, n, **options):
        self.array = (c.c_double * n)(*range(n))
        self.function = Delete(self.end)
        self.options = tenon.BlobOptions(deleter=c.cast(self.function, c.c_void_p).value, nbytes=8 * n,
                                         context=c.addressof(self.array), **options)

    def end(self, context, data):
        assert context == data == c.addressof(self.array)
        tenon.counter.calls += 1

    def tensor(self, shape):
        return tenon.from_blob(self.array, tenon.ints(shape), len(shape), tenon.DTYPES["float64"], self.options)


def both_write():
    block = Block(12, offset=1, stride=tenon.ints([1, 4]))
    calls = tenon.counter.calls
    with tenon.Scope():
        x = block.tensor([3, 3])
        assert tenon.data(x) == c.addressof(block.array) + 8 and tenon.strides_of(x) == (1, 4)
        assert tenon.add_(x, x) == tenon.OK
        assert list(block.array) == [0, 2, 4, 6, 4, 10, 12, 14, 8, 18, 20, 22]
        block.array[9] = -1
        assert c.c_double.from_address(tenon.data(x) + 64).value == -1
        assert tenon.counter.calls == calls
    assert tenon.counter.calls == calls + 1


def outlived_by_a_consumer():
    block = Block(6)
    calls = tenon.counter.calls
    with tenon.Scope():
        capsule = tenon.Export(block.tensor([2, 3])).__dlpack__(max_version=(1, 0))
    assert tenon.counter.calls == calls
    managed = tenon.Versioned.from_address(tenon.capsule_pointer(capsule, tenon.NAMES[True]))
    assert managed.array.data == c.addressof(block.array)
    del capsule
    assert tenon.counter.calls == calls + 2  # the struct's, then the block's


def refused():
    block = Block(6)
    for shape in ([7], [-1], [1 << 62, 4]):
        calls = tenon.counter.calls
        with tenon.Scope():
            assert not block.tensor(shape)
            assert tenon.status()[1].startswith("from_blob: ")
        assert tenon.counter.calls == calls + 1
    assert list(block.array) == [0, 1, 2, 3, 4, 5]


tenon.run([both_write, outlived_by_a_consumer, refused])
