"""What the interop tests need of libtenon.so, through ctypes: tensors, scopes, DLPack capsules with counted deleters.

A capsule here is what any binding of the library for Python would make: a name that says whether somebody took the
struct, and a destructor for one that nobody took."""

import ctypes as c
import gc
import os
import sys
import traceback

library = c.CDLL(os.environ["TENON_LIBRARY"])
python = c.pythonapi

OK, CPU = 0, (1, 0)
STATE, ARGUMENT = b"state", b"bad_argument"
# number of each dtype that both DLPack and Tenon have: the order of dtype.def
DTYPES = {name: i for i, name in enumerate(
    "float32 float64 float16 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex32 complex64 complex128".split())}


class Scope(c.Structure):
    _fields_ = [("depth", c.c_uint32), ("serial", c.c_uint64)]

    def __enter__(self):
        began = library.tn_scope_begin()
        self.depth, self.serial = began.depth, began.serial
        return self

    def __exit__(self, *_):
        assert library.tn_scope_end(self) == OK


class Stats(c.Structure):
    _fields_ = [(name, c.c_int64) for name in
                ("allocations", "live_blocks", "live_bytes", "reserved_bytes", "peak_reserved_bytes")]


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_index", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Versioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p), ("deleter", c.c_void_p),
                ("flags", c.c_uint64), ("array", Array)]


class Unversioned(c.Structure):
    _fields_ = [("array", Array), ("context", c.c_void_p), ("deleter", c.c_void_p)]


class BlobOptions(c.Structure):
    _fields_ = [("stride", c.POINTER(c.c_int64)), ("offset", c.c_int64), ("nbytes", c.c_size_t),
                ("read_only", c.c_bool), ("deleter", c.c_void_p), ("context", c.c_void_p)]


Deleter = c.CFUNCTYPE(None, c.c_void_p)
Destructor = c.PYFUNCTYPE(None, c.c_void_p)


def declare(name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


sizes_type = c.POINTER(c.c_int64)
declare("tn_scope_begin", Scope)
declare("tn_scope_end", c.c_int, Scope)
declare("tn_get_memory_stats", Stats)
declare("tn_error_message", c.c_char_p)
declare("tn_error_code", c.c_int)
declare("tn_status_name", c.c_char_p, c.c_int)
declare("tn_error_clear", None)
empty = declare("tn_empty", c.c_void_p, sizes_type, c.c_int, c.c_int)
from_blob = declare("tn_from_blob", c.c_void_p, c.c_void_p, sizes_type, c.c_int, c.c_int, c.POINTER(BlobOptions))
data = declare("tn_data", c.c_void_p, c.c_void_p)
ndim = declare("tn_ndim", c.c_int, c.c_void_p)
size = declare("tn_size", c.c_int64, c.c_void_p, c.c_int)
stride = declare("tn_stride", c.c_int64, c.c_void_p, c.c_int)
dtype = declare("tn_tensor_dtype", c.c_int, c.c_void_p)
transpose = declare("tn_transpose", c.c_void_p, c.c_void_p, c.c_int, c.c_int)
narrow = declare("tn_narrow", c.c_void_p, c.c_void_p, c.c_int, c.c_int64, c.c_int64)
zero_ = declare("tn_zero_", c.c_int, c.c_void_p)
add_ = declare("tn_add_", c.c_int, c.c_void_p, c.c_void_p)
to_dlpack = {True: declare("tn_to_dlpack", c.c_void_p, c.c_void_p),
             False: declare("tn_to_dlpack_unversioned", c.c_void_p, c.c_void_p)}
from_dlpack = {True: declare("tn_from_dlpack", c.c_void_p, c.c_void_p),
               False: declare("tn_from_dlpack_unversioned", c.c_void_p, c.c_void_p)}

python.PyCapsule_New.restype = c.py_object
python.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, Destructor]
capsule_pointer = python.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
capsule_rename = python.PyCapsule_SetName
capsule_rename.restype, capsule_rename.argtypes = c.c_int, [c.py_object, c.c_char_p]
# in a destructor the capsule has no references left, so it goes as an address
raw_valid = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)(("PyCapsule_IsValid", python))
raw_pointer = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", python))

NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}
STRUCTS = {True: Versioned, False: Unversioned}


class Counter:
    """Calls of deleters. Structs and their own deleters are kept apart from Python's objects: they outlive those."""

    def __init__(self):
        self.calls = 0
        self.own = {}
        self.function = Deleter(self.call)

    def watch(self, address, versioned):
        managed = STRUCTS[versioned].from_address(address)
        assert address not in self.own
        self.own[address] = managed.deleter
        managed.deleter = c.cast(self.function, c.c_void_p).value

    def call(self, address):
        self.calls += 1
        own = self.own.pop(address)
        if own:
            Deleter(own)(address)


counter = Counter()


@Destructor
def end_capsule(capsule):
    for versioned, name in NAMES.items():
        if raw_valid(capsule, name):
            address = raw_pointer(capsule, name)
            Deleter(STRUCTS[versioned].from_address(address).deleter)(address)


def status():
    """The pending error's name and message; none is pending afterwards."""
    name, message = library.tn_status_name(library.tn_error_code()), library.tn_error_message()
    library.tn_error_clear()
    return name, message.decode()


class Export:
    """A Tenon tensor as the array protocol of Python sees it."""

    def __init__(self, tensor, versioned=True):
        self.tensor, self.versioned = tensor, versioned

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = self.versioned and max_version is not None and max_version[0] >= 1
        address = to_dlpack[versioned](self.tensor)
        if not address:
            raise BufferError(status()[1])
        counter.watch(address, versioned)
        return python.PyCapsule_New(address, NAMES[versioned], end_capsule)


def take(array, versioned=True):
    """A Tenon tensor around another library's array, or None: the struct is used up in both cases. Libraries
    from before DLPack 1 give what they have."""
    try:
        capsule = array.__dlpack__(max_version=(1, 3)) if versioned else array.__dlpack__()
    except TypeError:
        capsule, versioned = array.__dlpack__(), False
    address = capsule_pointer(capsule, NAMES[versioned])
    counter.watch(address, versioned)
    capsule_rename(capsule, USED[versioned])
    return from_dlpack[versioned](address)


def ints(numbers):
    return (c.c_int64 * max(len(numbers), 1))(*numbers)


def arange(shape):
    """A float64 tensor that counts."""
    x = empty(ints(shape), len(shape), DTYPES["float64"])
    count = 1
    for n in shape:
        count *= n
    (c.c_double * count).from_address(data(x))[:] = range(count)
    return x


def shape_of(x):
    return tuple(size(x, d) for d in range(ndim(x)))


def strides_of(x):
    return tuple(stride(x, d) for d in range(ndim(x)))


def stats():
    gc.collect()
    return library.tn_get_memory_stats()


def no_growth(theirs, from_dlpack):
    """Both ways 2000 times: what the library holds stays as it is."""
    with Scope():
        x = arange([10])
        for turn in range(2000):
            if turn == 100:
                before = stats()
            with Scope():
                assert from_dlpack(Export(x))[3] == 3
                assert take(theirs)
        after = stats()
        assert (after.live_blocks, after.live_bytes, after.reserved_bytes) == (
            before.live_blocks, before.live_bytes, before.reserved_bytes)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(tests):
    """Each test alone: afterwards every struct has been deleted once and the library holds what it held before."""
    failed = 0
    for test in tests:
        with Scope():
            pass
        before, calls, watched = stats().live_blocks, counter.calls, len(counter.own)
        try:
            test()
            gc.collect()
            assert len(counter.own) == watched, f"{len(counter.own) - watched} structs were not deleted"
            assert counter.calls > calls, "no deleter was called"
            assert stats().live_blocks == before, f"{stats().live_blocks - before} blocks leaked"
            assert library.tn_error_code() == OK, status()
            print("ok  ", test.__name__)
        except Exception as error:
            traceback.print_exc()
            print("FAIL", test.__name__, error)
            library.tn_error_clear()
            failed += 1
    sys.exit(failed > 0)


def run_scoped(tests):
    """Each test in a scope of its own; what it imports and is not here makes it skipped."""
    failed = 0
    for test in tests:
        try:
            with Scope():
                test()
            print("ok  ", test.__name__)
        except ImportError as missing:
            print("skip", test.__name__, missing)
        except Exception as error:
            traceback.print_exc()
            print("FAIL", test.__name__, error)
            library.tn_error_clear()
            failed += 1
    sys.exit(failed > 0)
