"""Records how PyTorch shows random tensors and storages: tests/data/print_torch_2.15.txt, replayed by test_print.c.

    python tests/core/print_torch.py --seed 1 --count 400 >tests/data/print_torch_2.15.txt

More than is recorded: any seed and count, and TENON_PRINT_CASES=FILE build/release/tests/core/test_print.

A case is a line of fields, then its text, each line behind a "|":
    tensor DTYPE DEVICE DEFAULT_DTYPE PRECISION THRESHOLD EDGEITEMS LINEWIDTH SCI_MODE SIZES STRIDES OFFSET NBYTES BYTES
SCI_MODE is 0 automatic, 1 off, 2 on; SIZES and STRIDES are like 2,3, or - for none; the storage's NBYTES bytes are
BYTES (hex) over and over. A line that begins with "storage" has DTYPE (or none), DEVICE, NBYTES and BYTES alone.
"""

import argparse
import math
import random
import struct
import sys
import warnings

import torch

FLOATS = ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
          "float8_e5m2fnuz", "float8_e8m0fnu"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
COMPLEX = ["complex32", "complex64", "complex128"]
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}

EDGES = [1e-4, 9.99949e-5, 0.99995, 0.99999, 1.00005, 999.95, 1000.0, 1000.5, 1e8, 9.99999e7, 0.1, 0.5, 2.5, 9.9999]


def itemsize(dtype):
    return getattr(torch, dtype).itemsize


def float_bytes(rng, dtype, style):
    """One float of that dtype as bytes; style says what the case is made of."""
    special = [0.0, -0.0, math.inf, -math.inf, math.nan]
    if style == "bits" or (style == "mixed" and rng.random() < 0.1):
        return rng.randbytes(itemsize(dtype))
    if style == "special" or (style != "whole" and rng.random() < 0.03):
        value = rng.choice(special)
    elif style == "whole":
        value = float(rng.choice([rng.randint(-9, 9), rng.randint(-1000, 1000), rng.randint(-10**9, 10**9), 100000000]))
    elif style == "near":
        value = rng.choice([-1, 1]) * rng.uniform(0.5, 20)
    elif style == "edges":
        value = rng.choice(EDGES)
    else:
        value = rng.choice([-1, 1]) * 10.0 ** rng.uniform(-12, 12)
    wide = torch.tensor([value], dtype=torch.float64)
    if dtype == "float64":
        return struct.pack("<d", value)
    return bytes(wide.to(torch.float32).to(getattr(torch, dtype)).view(torch.uint8).tolist())


def integer_bytes(rng, dtype, style):
    size = itemsize(dtype)
    if dtype == "bool":
        return bytes([rng.choice([0, 1]) if style != "whole" else 1])
    if style in ("bits", "mixed"):
        return rng.randbytes(size)
    value = rng.randint(-20, 120) if dtype.startswith("int") else rng.randint(0, 250)
    return value.to_bytes(size, "little", signed=dtype.startswith("int")) if size > 1 else bytes([value & 255])


def element(rng, dtype, style):
    if dtype in COMPLEX:
        return float_bytes(rng, PARTS[dtype], style) + float_bytes(rng, PARTS[dtype], style)
    return float_bytes(rng, dtype, style) if dtype in FLOATS else integer_bytes(rng, dtype, style)


def numbers(values):
    return ",".join(map(str, values)) or "-"


def sizes_of(rng):
    kind = rng.random()
    ndim = rng.randint(0, 5)
    if kind > 0.98:
        return [1] * rng.randint(0, 30) + [2] + [1] * rng.randint(0, 30) + [3]
    if kind < 0.06:
        sizes = [rng.randint(0, 3) for _ in range(ndim)]
    elif kind < 0.25:
        sizes = [rng.choice([1, 2, 7, 30, 1001]) for _ in range(min(ndim, 3))]
    else:
        sizes = [rng.randint(1, max(2, 8 - ndim)) for _ in range(ndim)]
    while math.prod(sizes) > 200000:
        sizes.pop()
    return sizes


def options_of(rng, numel):
    if rng.random() < 0.4:
        chosen = [4, 1000, 3, 80, 0]
    else:
        chosen = [rng.choice([0, 1, 2, 4, 4, 6, 8, 17, 30]), rng.choice([0, 1, 5, 20, 1000, 1000]),
                  rng.choice([0, 1, 2, 3, 3, 5]), rng.choice([-5, 0, 10, 40, 80, 80, 81, 120, 200]), rng.choice([0, 0, 1, 2])]
    if numel > 400 and chosen[1] >= numel:
        chosen[1] = 100
    return chosen


def tensor_case(rng):
    dtype = rng.choice(FLOATS * 2 + INTEGERS + COMPLEX * 2)
    device = "meta" if rng.random() < 0.04 else "cpu"
    default = rng.choice(["float32"] * 6 + ["float64", "float16", "bfloat16"])
    style = rng.choice(["mixed", "bits", "special", "whole", "near", "near", "edges", "wide", "wide"])
    sizes = sizes_of(rng)
    order = list(range(len(sizes)))
    if rng.random() < 0.3:
        rng.shuffle(order)
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    if rng.random() < 0.1:
        strides = [0 if rng.random() < 0.4 else s * 2 for s in strides]
    offset = rng.choice([0, 0, 0, 5])
    reach = offset + (0 if 0 in sizes else 1 + sum((n - 1) * s for n, s in zip(sizes, strides)))
    count = min(reach, rng.choice([1, 2, 3, 5, 11]))
    nbytes = reach * itemsize(dtype)
    pattern = b"".join(element(rng, dtype, style) for _ in range(max(count, 1)))
    precision, threshold, edgeitems, linewidth, sci = options_of(rng, math.prod(sizes))
    raw = (pattern * (nbytes // len(pattern) + 1))[:nbytes]
    storage = torch.UntypedStorage(list(raw)) if device == "cpu" else torch.UntypedStorage(nbytes, device="meta")
    x = torch.empty(0, dtype=getattr(torch, dtype), device=device).set_(storage, offset, sizes, strides)
    torch.set_default_dtype(getattr(torch, default))
    torch.set_printoptions(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth,
                           sci_mode=[None, False, True][sci])
    text = repr(x)
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    return ["tensor", dtype, device, default, precision, threshold, edgeitems, linewidth, sci, numbers(sizes),
            numbers(strides), offset, nbytes, pattern.hex()], text


def storage_case(rng):
    dtype = rng.choice(FLOATS + INTEGERS + COMPLEX + ["none"])
    device = "meta" if rng.random() < 0.1 else "cpu"
    style = rng.choice(["mixed", "bits", "special", "whole", "near", "wide"])
    pattern = b"".join(element(rng, "uint8" if dtype == "none" else dtype, style) for _ in range(rng.choice([1, 3, 8])))
    nbytes = rng.choice([0, len(pattern), len(pattern)])
    storage = torch.UntypedStorage(nbytes, device="meta")
    if device == "cpu":
        storage = torch.UntypedStorage(list(pattern[:nbytes]))
    typed = storage
    if dtype != "none":
        typed = torch.TypedStorage(wrap_storage=storage, dtype=getattr(torch, dtype), _internal=True)
    return ["storage", dtype, device, nbytes, pattern.hex()], str(typed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--longest", type=int, default=1500, help="leave out texts of more characters")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = random.Random(arguments.seed)
    print(f"# PyTorch {torch.__version__}; print_torch.py --seed {arguments.seed} --count {arguments.count}",
          f"--longest {arguments.longest}")
    made = 0
    while made < arguments.count:
        fields, text = storage_case(rng) if rng.random() < 0.08 else tensor_case(rng)
        if len(text) > arguments.longest:
            continue
        print(" ".join(map(str, fields)))
        sys.stdout.write("".join(f"|{line}\n" for line in text.split("\n")))
        made += 1


main()
