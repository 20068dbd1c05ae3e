"""What tests of training need beyond tenon.py: nets, loaders, optimizers and the loop through ctypes, and safetensors
files read and written by hand, so that they are seen by other eyes than the library's."""

import ctypes as c
import json
import pathlib
import re
import struct

import numpy as np
import tenon

pointer, declare = c.c_void_p, tenon.declare


headers = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"int64_t": c.c_int64, "uint64_t": c.c_uint64, "size_t": c.c_size_t, "char": c.c_char, "double": c.c_double,
         "bool": c.c_bool, "tn_loss_function": pointer}


def struct_of(path, name):
    """A struct as its header has it: pointers as addresses, enums as int, so that a new field breaks nothing here."""
    text = re.sub(r"/\*.*?\*/", "", (headers / path).read_text(), flags=re.S)
    body = re.search(r"struct %s \{(.*?)\n\} %s;" % (name, name), text, re.S).group(1)
    fields = []
    for line in body.replace("\n", " ").split(";"):
        if function := re.search(r"\(\*(\w+)\)", line):
            fields.append((function.group(1), pointer))
        elif line.strip():
            first, *more = line.split(",")
            *words, field = first.replace("*", " * ").split()
            kind = pointer if "*" in words else TYPES.get(words[-1], c.c_int)
            fields += [(field, kind)] + [(other.strip(), kind) for other in more]
    return type(name, (c.Structure,), {"_fields_": fields})


Batch = struct_of("data/include/tenon/data.h", "tn_batch")
LoaderOptions = struct_of("data/include/tenon/data.h", "tn_loader_options")
BlobsOptions = struct_of("data/include/tenon/data.h", "tn_blobs_options")
CsvOptions = struct_of("data/include/tenon/formats.h", "tn_csv_options")
SgdOptions = struct_of("train/include/tenon/optim.h", "tn_sgd_options")
AdamOptions = struct_of("train/include/tenon/optim.h", "tn_adam_options")
FitOptions = struct_of("train/include/tenon/fit.h", "tn_fit_options")
FitStep = struct_of("train/include/tenon/fit.h", "tn_fit_step")
ClassScore = struct_of("train/include/tenon/train.h", "tn_class_score")
ModuleKind = struct_of("nn/include/tenon/nn.h", "tn_module_kind")
OnStep = c.CFUNCTYPE(c.c_bool, c.POINTER(FitStep), pointer)
MEAN, BCE = 0, 0
mlp = declare("tn_mlp", pointer, tenon.sizes_type, c.c_int, c.c_int)
parameters = declare("tn_parameters", pointer, pointer)
dataset = declare("tn_tensor_dataset", pointer, pointer, pointer)
dataset_x = declare("tn_dataset_x", pointer, pointer)
dataset_y = declare("tn_dataset_y", pointer, pointer)
loader_new = declare("tn_loader_new", pointer, pointer, c.POINTER(LoaderOptions))
loader_next = declare("tn_loader_next", c.c_bool, pointer, c.POINTER(Batch))
forward = declare("tn_forward", pointer, pointer, pointer)
detach = declare("tn_detach", pointer, pointer)
adam = declare("tn_adam", pointer, pointer, c.POINTER(AdamOptions))
sgd = declare("tn_sgd", pointer, pointer, c.POINTER(SgdOptions))
zero_grad = declare("tn_zero_grad", c.c_int, pointer)
backward = declare("tn_backward", c.c_int, pointer)
step = declare("tn_step", c.c_int, pointer)
item = declare("tn_item", c.c_double, pointer)
bce_with_logits = declare("tn_bce_with_logits", pointer, pointer, pointer, c.c_int)
fit = declare("tn_fit", c.c_int, c.POINTER(FitOptions), pointer)
save = declare("tn_save", c.c_int, pointer, c.c_char_p)
load = declare("tn_load", c.c_int, pointer, c.c_char_p)
from_array = declare("tn_from_array", pointer, pointer, tenon.sizes_type, c.c_int, c.c_int)

# safetensors' names of dtypes, and NumPy's types of the same bits
WORDS = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8",
         "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?"}


def read_safetensors(path):
    """{name: (word, array)}, {metadata}, by the format's own description: length, JSON, bytes."""
    with open(path, "rb") as file:
        content = file.read()
    length, = struct.unpack("<Q", content[:8])
    header, body = json.loads(content[8:8 + length]), content[8 + length:]
    metadata, tensors = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], WORDS[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = entry["dtype"], array
    assert sum(a.nbytes for _, a in tensors.values()) == len(body)
    return tensors, metadata


def write_safetensors(path, tensors, metadata=None):
    """{name: (word, array)}; arrays of another order are written row-major."""
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, (word, array) in tensors.items():
        content = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": word, "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def make(x):
    """x, which a call of the library returned, or its error."""
    assert x, tenon.status()
    return x


def done(code):
    assert code == tenon.OK, tenon.status()


def to_tensor(array):
    """A copy."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return make(from_array(array.ctypes.data, tenon.ints(array.shape), array.ndim, tenon.DTYPES[array.dtype.name]))


def to_array(x):
    """A copy of a contiguous tensor."""
    name = [name for name, number in tenon.DTYPES.items() if number == tenon.dtype(x)][0]
    kind = np.dtype({"bfloat16": "u2"}.get(name, name))
    shape = tenon.shape_of(x)
    count = int(np.prod(shape))
    return np.frombuffer(c.string_at(tenon.data(x), count * kind.itemsize), kind).reshape(shape).copy()


run = tenon.run_scoped
