"""Random programs of views, writes, layouts, casts and prints, with what PyTorch makes of them.

    python3 tests/conformance/generate.py --seed 1 --count 300 > random.jsonl
    build/release/tests/conformance random.jsonl

The lines have the form of cases.jsonl. Errors are recorded as errors alone ({} or their place), since which check finds
one first is not what these programs are about. Arithmetic keeps to what every engine rounds alike. Writes whose result
depends on the order of elements are left out. Needs PyTorch 2.15."""
import argparse
import json
import random
import warnings

import torch

warnings.filterwarnings("ignore")
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last,
           "channels_last_3d": torch.channels_last_3d, "preserve": torch.preserve_format}
REALS = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
DTYPES = REALS + ["complex64", "complex128"]
RARE = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "uint16", "uint32", "uint64",
        "complex32"]


class Unfit(Exception):
    """The program is given up: its outcome is an accident of PyTorch's loops."""


def index_of(entries, names):
    def one(e):
        if isinstance(e, dict) and "t" in e:
            return names[e["t"]]
        if isinstance(e, dict) and "list" in e:
            return e["list"]
        if isinstance(e, dict):
            return slice(*e["slice"])
        return Ellipsis if e == "..." else e
    return tuple(one(e) for e in entries)


def dtype(name):
    return getattr(torch, name) if name else None


def as_format(name):
    return {"memory_format": FORMATS[name]} if name else {}


def set_(x, other):
    x.set_(other)
    return x


NAMES = {}  # of the program that is being made: an index may name tensors


def setitem(x, index, value):
    x[index_of(index, NAMES)] = value
    return x


def gather(x, d, i):
    y = x.gather(d, i)
    if x.ndim and i.numel() and i.max() >= x.shape[d]:
        raise Unfit  # 16-bit floats read beyond the end where the index is expanded
    return y


def zeros_fmt(size, f, d=None):
    x = torch.empty(size, dtype=dtype(d), memory_format=FORMATS[f])
    x.data.zero_()  # counts no version of x
    return x


def set_data(x, y):
    x.data = y
    return x


def tensor(data, d=None):
    def number(v):
        if isinstance(v, list):
            return [number(e) for e in v]
        return float(v["f"]) if isinstance(v, dict) else v
    return torch.tensor(number(data), dtype=dtype(d))


CALLS = {
    "tensor": tensor, "div": torch.div, "sqrt": torch.sqrt, "square": torch.square, "floor": torch.floor,
    "round": torch.round, "sign": torch.sign, "isnan": torch.isnan, "minimum": torch.minimum, "ge": torch.ge,
    "ne": torch.ne, "clamp": lambda x, a=None, b=None: x.clamp(a, b), "resize_": lambda x, s: x.resize_(s),
    "sum": lambda x, d=None, k=False: x.sum() if d is None else x.sum(d, keepdim=bool(k)),
    "amax": lambda x, d, k=False: x.amax(d, keepdim=bool(k)), "reciprocal": torch.reciprocal,
    "arange": lambda n, *r: torch.arange(n, dtype=dtype(r[-1]) if r else None),
    "zeros": lambda size, d=None: torch.zeros(size, dtype=dtype(d)),
    "full": lambda size, v, d=None: torch.full(size, v, dtype=dtype(d)),
    "zeros_fmt": zeros_fmt,
    "zeros_like": lambda x, d=None, f=None: torch.zeros_like(x, dtype=dtype(d), **as_format(f)),
    "clone": lambda x, f=None: x.clone(**as_format(f)),
    "to": lambda x, d=None, c=False, f=None: x.to(dtype=dtype(d) or x.dtype, copy=bool(c), **as_format(f)),
    "contiguous": lambda x, f=None: x.contiguous(**as_format(f)),
    "view": lambda x, s: x.view(s), "reshape": lambda x, s: x.reshape(s), "view_dtype": lambda x, d: x.view(dtype(d)),
    "flatten": lambda x, a=0, b=-1: x.flatten(a, b), "unflatten": lambda x, d, s: x.unflatten(d, s),
    "ravel": lambda x: x.ravel(), "transpose": lambda x, a, b: x.transpose(a, b), "t": lambda x: x.t(),
    "T": lambda x: x.permute(list(range(x.ndim - 1, -1, -1))), "mT": lambda x: x.mT, "permute": lambda x, d: x.permute(d),
    "movedim": lambda x, a, b: x.movedim(a, b), "swapaxes": lambda x, a, b: x.swapaxes(a, b),
    "squeeze": lambda x, d=None: x.squeeze() if d is None else x.squeeze(d if isinstance(d, int) else tuple(d)),
    "unsqueeze": lambda x, d: x.unsqueeze(d), "expand": lambda x, s: x.expand(s),
    "broadcast_to": lambda x, s: x.broadcast_to(s), "narrow": lambda x, d, s, n: x.narrow(d, s, n),
    "select": lambda x, d, i: x.select(d, i), "getitem": lambda x, i: x[index_of(i, NAMES)],
    "diagonal": lambda x, o=0, a=0, b=1: x.diagonal(o, a, b), "unfold": lambda x, d, n, s: x.unfold(d, n, s),
    "as_strided": lambda x, s, t, o=None: x.as_strided(s, t, o), "detach": lambda x: x.detach(), "data": lambda x: x.data,
    "alias": lambda x: torch.ops.aten.alias(x), "real": lambda x: x.real, "imag": lambda x: x.imag,
    "conj": lambda x: x.conj(), "view_as_real": torch.view_as_real, "view_as_complex": torch.view_as_complex,
    "split": lambda x, n, d=0: x.split(n, d), "chunk": lambda x, n, d=0: x.chunk(n, d),
    "tensor_split": lambda x, n, d=0: x.tensor_split(n, d), "unbind": lambda x, d=0: x.unbind(d),
    "t_": lambda x: x.t_(), "transpose_": lambda x, a, b: x.transpose_(a, b), "unsqueeze_": lambda x, d: x.unsqueeze_(d),
    "squeeze_": lambda x, d=None: x.squeeze_() if d is None else x.squeeze_(d),
    "as_strided_": lambda x, s, t, o=None: x.as_strided_(s, t, o), "resize_as_": lambda x, y: x.resize_as_(y),
    "set_": set_, "set_strided_": lambda x, y, o, s, t: x.set_(y.storage(), o, s, t),
    "set_data": set_data, "detach_": lambda x: x.detach_(), "tril": lambda x, k=0: x.tril(k), "triu": lambda x, k=0: x.triu(k),
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "neg": torch.neg, "abs": torch.abs, "relu": torch.relu,
    "eq": torch.eq, "lt": torch.lt, "where": torch.where, "cat": lambda g, d=0: torch.cat(g, d),
    "stack": lambda g, d=0: torch.stack(g, d), "maximum": torch.maximum, "logical_not": torch.logical_not,
    "add_": lambda x, y: x.add_(y), "sub_": lambda x, y: x.sub_(y), "mul_": lambda x, y: x.mul_(y),
    "copy_": lambda x, y: x.copy_(y), "fill_": lambda x, v: x.fill_(v), "zero_": lambda x: x.zero_(),
    "neg_": lambda x: x.neg_(), "relu_": lambda x: x.relu_(), "masked_fill_": lambda x, m, v: x.masked_fill_(m, v),
    "masked_fill": lambda x, m, v: x.masked_fill(m, v), "setitem": setitem, "add_out": lambda x, y, o: torch.add(x, y, out=o),
    "gather": gather, "index_select": lambda x, d, i: x.index_select(d, i),
    "scatter_add_": lambda x, d, i, y: x.scatter_add_(d, i, y), "index_add_": lambda x, d, i, y: x.index_add_(d, i, y),
}
WRITES = {"add_", "sub_", "mul_", "copy_", "neg_", "relu_", "masked_fill_", "setitem", "add_out", "eq_", "fill_", "zero_"}


def cells(x):
    """The bytes of the elements of x."""
    if x.numel() > 4000:
        raise Unfit
    at = torch.zeros((), dtype=torch.int64) + x.storage_offset()
    for d, (n, s) in enumerate(zip(x.shape, x.stride())):
        at = at.unsqueeze(-1) + torch.arange(n) * s
    return (at.flatten() * x.element_size() + x.untyped_storage().data_ptr()).tolist()


def check_order(op, args):
    """Gives up on writes whose outcome depends on the order of elements."""
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    out = tensors[-1] if op == "add_out" else tensors[0]
    if op == "setitem":
        try:
            out = out[index_of(args[1], NAMES)]
        except Exception:
            return False
        if any(isinstance(e, bool) or isinstance(e, dict) and "slice" not in e for e in args[1]):
            x, n = args[0], args[0].untyped_storage().nbytes() // args[0].element_size()
            places = torch.arange(n).as_strided(x.shape, x.stride(), x.storage_offset())
            places = places[index_of(args[1], NAMES)].flatten().tolist()
            return len(set(places)) < len(places) or any(
                t is not x and t.untyped_storage()._cdata == x.untyped_storage()._cdata for t in tensors)
    mine = cells(out)
    sure = any(n > 1 and s == 0 for n, s in zip(out.shape, out.stride()))
    depends = len(set(mine)) < len(mine) and not sure and op not in ("fill_", "zero_")
    for other in tensors:
        if other is out or other is tensors[0] and op == "setitem":
            continue
        theirs = cells(other)
        near = {c + k for c in mine for k in range(out.element_size())}
        if any(c + k in near for c in theirs for k in (0, other.element_size() - 1)) and theirs != mine:
            depends = True
    return depends


def number(v, d):
    if d.is_complex:
        return [number(v.real, torch.float64), number(v.imag, torch.float64)]
    if d.is_floating_point:
        return "nan" if v != v else ("inf" if v > 0 else "-inf") if v in (float("inf"), float("-inf")) else float(v)
    return v


def values(x):
    if x.dtype == torch.complex32:
        x = x.to(torch.complex64)
    if x.dtype.is_complex:
        x = x.resolve_conj().to(torch.complex128)
    elif x.dtype.is_floating_point:
        x = x.to(torch.float64)
    wide = x.dtype

    def nest(v):
        return [nest(e) for e in v] if isinstance(v, list) else number(v, wide)
    return nest(x.tolist())


class Recorder:
    def __init__(self):
        NAMES.clear()
        self.names, self.attempts, self.printed, self.observed = NAMES, {}, {}, {}

    def arguments(self, call):
        def one(a):
            if isinstance(a, str) and a in self.names:
                return self.names[a]
            if isinstance(a, list) and a and all(isinstance(e, str) and e in self.names for e in a):
                return [self.names[e] for e in a]
            return a
        return [one(a) for a in call[1:]]

    def call(self, call):
        args = self.arguments(call)
        depends = call[0] in WRITES and check_order(call[0], args)
        if call[0] in ("neg", "neg_") and args[0].dtype.is_complex:
            raise Unfit  # whether 0 becomes -0 depends on the place
        if call[0] == "add_out" and any(
                isinstance(a, torch.Tensor) and a.untyped_storage()._cdata == args[2].untyped_storage()._cdata
                for a in args[:2]) and any(a.shape != args[2].shape for a in args[:2]):
            raise Unfit  # resizes a storage that is being read
        before = sum(x.untyped_storage().nbytes() for x in self.names.values())
        result = CALLS[call[0]](*args)
        if call[0] in ("set_strided_", "resize_as_", "as_strided_", "resize_") and result.numel() and \
                sum(x.untyped_storage().nbytes() for x in self.names.values()) != before:
            raise Unfit  # what a storage grows by is undefined
        if depends:
            raise Unfit
        return result

    def run(self, statement):
        kind = statement[0]
        if kind == "assign":
            made = self.names[statement[2]] if isinstance(statement[2], str) else self.call(statement[2])
            if made.numel() > 600 or made.untyped_storage().nbytes() > 1 << 16:
                raise Unfit
            self.names[statement[1]] = made
        elif kind == "multi":
            made = self.call(statement[2])
            if len(made) > 8:
                raise Unfit
            for i, x in enumerate(made):
                self.names[f"{statement[1]}{i}"] = x
            self.observed[f"{statement[1]}.count"] = len(made)
        elif kind == "do":
            made = self.call(statement[1])
            if made.numel() > 600 or made.untyped_storage().nbytes() > 1 << 16:
                raise Unfit
        elif kind == "print_options":
            torch.set_printoptions(**statement[1])
        elif kind == "print":
            self.printed[statement[1]] = repr(self.names[statement[2]])
        else:
            writes = any(word in repr(statement) for word in ("setitem", "index_add_", "scatter_add_"))
            before = {n: values(x) for n, x in self.names.items()} if writes else {}
            try:
                for inner in statement[2]:
                    self.run(inner)
                self.attempts[statement[1]] = "ok"
            except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, OverflowError):
                self.attempts[statement[1]] = {}
                if before and repr(before) != repr({n: values(x) for n, x in self.names.items()}):
                    raise Unfit  # PyTorch wrote up to the position that is out of range

    def expect(self):
        tensors, seen, storages = {}, {}, {}
        for name, x in self.names.items():
            if id(x) in seen:
                tensors[name] = {"same_as": seen[id(x)]}
                continue
            seen[id(x)] = name
            key = x.untyped_storage()._cdata
            d = {"shape": list(x.shape), "stride": list(x.stride()), "storage_offset": x.storage_offset(),
                 "dtype": str(x.dtype)[6:], "is_contiguous": x.is_contiguous(),
                 "storage": storages.setdefault(key, len(storages)), "storage_nbytes": x.untyped_storage().nbytes(),
                 "version": x._version, "values": values(x)}
            if x.ndim == 4:
                d["channels_last"] = x.is_contiguous(memory_format=torch.channels_last)
            if x.ndim == 5:
                d["channels_last_3d"] = x.is_contiguous(memory_format=torch.channels_last_3d)
            if x._is_view():
                d["is_view"] = True
                base = [n for n, other in self.names.items() if other is x._base and not n.startswith("%")]
                if base:
                    d["base"] = base[0]
            tensors[name] = d
        e = {"tensors": tensors}
        for key in ("attempts", "printed", "observed"):
            if getattr(self, key):
                e[key] = getattr(self, key)
        return e


def expected(recorder):
    """What the recorder saw of the tensors that have names of their own."""
    expect = recorder.expect()
    for t in [n for n in expect["tensors"] if n.startswith("%")]:
        del expect["tensors"][t]
    if any(t.get("same_as", "").startswith("%") for t in expect["tensors"].values()):
        raise Unfit
    return expect


class Maker:
    """Draws statements that are mostly legal for the tensors that there are."""

    def __init__(self, r):
        self.r, self.rec, self.n = r, Recorder(), 0

    def name(self):
        return self.r.choice(list(self.rec.names))

    def fresh(self):
        self.n += 1
        return f"x{self.n}"

    def dim(self, x, more=0):
        n = x.ndim + more
        return self.r.randrange(-n - (self.r.random() < .05), n + (self.r.random() < .05)) if n else self.r.randrange(-1, 1)

    def shape_for(self, x):
        """Sizes of x's number of elements, one perhaps -1."""
        r, n, out = self.r, x.numel(), []
        left = n
        for _ in range(r.randrange(0, 5)):
            d = r.choice([k for k in range(1, left + 1) if left % k == 0]) if left else r.choice([0, 1, 2, 3])
            out.append(d)
            left = left // d if left and d else left
        if left > 1 or r.random() < .2:
            out.append(left if left else 0)
        r.shuffle(out)
        if out and r.random() < .3:
            out[r.randrange(len(out))] = -1
        if r.random() < .04 and out:
            out[r.randrange(len(out))] += 1
        return out

    def index(self, x):
        r, out, used, dots = self.r, [], 0, False
        for d in range(r.randrange(0, x.ndim + 2)):
            n = x.shape[used] if used < x.ndim else 1
            kind = r.random()
            if kind < .25:
                out.append(r.randrange(-n - (r.random() < .03), max(n, 1 - n) + (r.random() < .03)) if n else 0)
                used += 1
            elif kind < .75:
                bound = lambda: r.choice([None, None, r.randrange(-n - 2, n + 3)])
                out.append({"slice": [bound(), bound(), r.choice([None, 1, 2, 3])]})
                used += 1
            elif kind < .87:
                out.append(None)
            elif not dots:
                out.append("...")
                dots = True
                used += r.randrange(0, max(1, x.ndim - used))
        return out

    def statement(self):
        r, names = self.r, self.rec.names
        x_name = self.name()
        x = names[x_name]
        y_name = self.name()
        fmt = lambda: r.choice(["contiguous", "preserve"] + (["channels_last"] if x.ndim == 4 else []) +
                               (["channels_last_3d"] if x.ndim == 5 else []))
        view = [
            lambda: ["view", x_name, self.shape_for(x)], lambda: ["view", x_name, self.shape_for(x)],
            lambda: ["reshape", x_name, self.shape_for(x)], lambda: ["flatten", x_name, self.dim(x), self.dim(x)],
            lambda: ["flatten", x_name], lambda: ["ravel", x_name], lambda: ["transpose", x_name, self.dim(x), self.dim(x)],
            lambda: ["t", x_name], lambda: ["T", x_name], lambda: ["mT", x_name],
            lambda: ["permute", x_name, r.sample(range(x.ndim), x.ndim)],
            lambda: ["movedim", x_name, self.dim(x), self.dim(x)], lambda: ["squeeze", x_name],
            lambda: ["squeeze", x_name, self.dim(x)], lambda: ["unsqueeze", x_name, self.dim(x, 1)],
            lambda: ["unsqueeze", x_name, self.dim(x, 1)],
            lambda: ["expand", x_name, [r.choice([1, 2, 3])] * r.randrange(0, 2) +
                     [(r.choice([1, 2, 3, 0]) if n == 1 else r.choice([n, -1])) for n in x.shape]],
            lambda: ["narrow", x_name, self.dim(x), r.randrange(-1, 4), r.randrange(0, 4)],
            lambda: ["select", x_name, self.dim(x), r.randrange(-2, 3)], lambda: ["getitem", x_name, self.index(x)],
            lambda: ["getitem", x_name, self.index(x)], lambda: ["getitem", x_name, self.index(x)],
            lambda: ["diagonal", x_name, r.randrange(-3, 4), self.dim(x), self.dim(x)],
            lambda: ["unfold", x_name, self.dim(x), r.randrange(0, 4), r.randrange(1, 4)],
            lambda: ["as_strided", x_name, *self.strided(), *r.choice([[], [r.randrange(0, 5)]])],
            lambda: ["view_dtype", x_name, r.choice(DTYPES)], lambda: ["real", x_name], lambda: ["imag", x_name],
            lambda: ["conj", x_name], lambda: ["view_as_real", x_name], lambda: ["view_as_complex", x_name],
            lambda: ["detach", x_name], lambda: ["data", x_name], lambda: ["alias", x_name],
            lambda: ["swapaxes", x_name, self.dim(x), self.dim(x)],
        ]
        layout = [
            lambda: ["contiguous", x_name, fmt()] if r.random() < .5 else ["contiguous", x_name],
            lambda: ["clone", x_name, fmt()] if r.random() < .5 else ["clone", x_name],
            lambda: ["to", x_name, r.choice(DTYPES)], lambda: ["to", x_name, r.choice([None] + DTYPES), r.random() < .5, fmt()],
            lambda: ["zeros_like", x_name], lambda: ["zeros_like", x_name, r.choice(DTYPES), fmt()],
            lambda: ["add", x_name, y_name], lambda: ["mul", x_name, y_name], lambda: ["sub", x_name, r.choice([1, 2, 0.5])],
            lambda: ["add", x_name, r.choice([1, 2, 0.5])], lambda: ["eq", x_name, y_name], lambda: ["lt", x_name, 1],
            lambda: ["neg", x_name], lambda: ["abs", x_name], lambda: ["relu", x_name], lambda: ["tril", x_name],
            lambda: ["triu", x_name, r.randrange(-1, 3)], lambda: ["where", self.mask(), x_name, y_name],
            lambda: ["sum", x_name, self.dim(x), r.random() < .5], lambda: ["amax", x_name, self.dim(x)], lambda: ["cat", [x_name, y_name], self.dim(x)],
            lambda: ["stack", [x_name, y_name], self.dim(x, 1)], lambda: ["logical_not", x_name],
        ]
        writes = [
            lambda: ["add_", x_name, r.choice([1, 2, 0.5])], lambda: ["add_", x_name, y_name], lambda: ["mul_", x_name, 2],
            lambda: ["sub_", x_name, y_name], lambda: ["copy_", x_name, y_name], lambda: ["fill_", x_name, r.choice([3, 7, 1])],
            lambda: ["zero_", x_name], lambda: ["neg_", x_name], lambda: ["relu_", x_name],
            lambda: ["setitem", x_name, self.index(x), r.choice([5, 9, 2.5])],
            lambda: ["setitem", x_name, self.index(x), y_name], lambda: ["add_out", x_name, y_name, self.name()],
            lambda: ["t_", x_name], lambda: ["transpose_", x_name, self.dim(x), self.dim(x)],
            lambda: ["unsqueeze_", x_name, self.dim(x, 1)], lambda: ["squeeze_", x_name],
            lambda: ["as_strided_", x_name, *self.strided()], lambda: ["resize_as_", x_name, y_name],
            lambda: ["set_", x_name, y_name], lambda: ["set_strided_", x_name, y_name, r.randrange(0, 3), *self.strided()],
            lambda: ["set_data", x_name, y_name], lambda: ["detach_", x_name],
            lambda: ["resize_", x_name, [r.choice([1, 2, 3]) for _ in range(r.randrange(0, 3))]],
            lambda: ["masked_fill_", x_name, self.mask(), 3],
        ]
        pick = r.random()
        if pick < .55:
            return ["assign", self.fresh(), r.choice(view)()]
        if pick < .73:
            return ["assign", self.fresh(), r.choice(layout)()]
        if pick < .93:
            return ["do", r.choice(writes)()]
        if pick < .97:
            call = r.choice([lambda: ["split", x_name, r.randrange(1, 4), self.dim(x)],
                             lambda: ["chunk", x_name, r.randrange(1, 5), self.dim(x)],
                             lambda: ["tensor_split", x_name, r.choice([2, 3, [1, 3]]), self.dim(x)],
                             lambda: ["unbind", x_name, self.dim(x)]])()
            self.n += 1
            return ["multi", f"m{self.n}_", call]
        self.n += 1
        return ["print", f"p{self.n}", x_name]

    def strided(self):
        r = self.r
        n = r.randrange(0, 4)
        return [r.choice([0, 1, 2, 3]) for _ in range(n)], [r.choice([0, 1, 2, 3, 4]) for _ in range(n)]

    def element(self):
        r = self.r
        kind = r.random()
        if kind < .1:
            return {"f": r.choice(["nan", "inf", "-inf"])}
        if kind < .4:
            return float(r.randrange(-20, 300))
        if kind < .7:
            return r.uniform(-2, 2)
        return r.choice([-1, 1]) * r.uniform(1, 10) * 10.0 ** r.randrange(-8, 9)

    def numbers(self):
        """Programs of casts, arithmetic and prints of all kinds of numbers."""
        r, program = self.r, []
        for _ in range(2):
            n, m = r.randrange(1, 5), r.randrange(1, 5)
            data = [[self.element() for _ in range(m)] for _ in range(n)] if r.random() < .6 else \
                [self.element() for _ in range(m)] if r.random() < .8 else self.element()
            program.append(["assign", self.fresh(), ["tensor", data, r.choice(["float32", "float64", "float32", "float16"])]])
            self.rec.run(program[-1])
        for k in range(r.randrange(3, 9)):
            x, y = self.name(), self.name()
            now = self.rec.names[x]
            values_fit = now.dtype.is_floating_point and bool(((now.to(torch.float64).abs() < 100)).all()) and \
                bool((now.to(torch.float64) >= 0).all())
            casts = ["float32", "float64", "float16", "bfloat16", "bool", "complex64", "complex128"] + RARE[:5] + \
                (["int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"] if values_fit else [])
            call = r.choice([
                lambda: ["to", x, r.choice(casts)], lambda: ["to", x, r.choice(casts)], lambda: ["add", x, y], lambda: ["mul", x, y],
                lambda: ["sub", x, y], lambda: ["div", x, y], lambda: ["mul", x, r.choice([3, 0.1, 1e10, -2])],
                lambda: ["add", x, r.choice([1, 0.3, True])], lambda: ["abs", x], lambda: ["sign", x], lambda: ["floor", x],
                lambda: ["round", x], lambda: ["isnan", x], lambda: ["lt", x, y], lambda: ["ge", x, r.choice([0, 1.5])],
                lambda: ["eq", x, y], lambda: ["clamp", x, r.choice([None, -1, 0.5]), r.choice([1, 2.5])],
                lambda: ["masked_fill", x, self.mask(), r.choice([0, 1.5])], lambda: ["square", x], lambda: ["t", x],
                lambda: ["tensor_from", x],
            ])()
            if call[0] == "tensor_from":
                call = ["clone", x]
            wide = [a for a in call[1:] if isinstance(a, str) and a in self.rec.names]
            if any(self.rec.names[a].dtype.is_complex for a in wide) and call[0] not in ("to", "eq", "t", "clone"):
                continue  # complex products round in more than one way
            statement = ["assign", self.fresh(), call]
            if r.random() < .3:
                self.n += 1
                statement = ["print", f"p{self.n}", x]
            if r.random() < .12:
                statement = ["print_options", r.choice([{"precision": r.randrange(0, 9)}, {"linewidth": r.choice([20, 40, 100])},
                                                        {"sci_mode": True}, {"sci_mode": False}, {"threshold": 5},
                                                        {"edgeitems": 1, "threshold": 3}])]
            statement = ["attempt", f"a{k}", [statement]]
            self.rec.run(statement)
            if self.rec.attempts[statement[1]] == "ok":
                del self.rec.attempts[statement[1]]
                statement = statement[2][0]
            program.append(statement)
        return program, self.rec.expect()

    def mask(self):
        masks = [n for n, x in self.rec.names.items() if x.dtype == torch.bool]
        return self.r.choice(masks) if masks else self.name()

    def beginning(self):
        r = self.r
        d = r.choice(DTYPES)
        size = [r.choice([1, 2, 3, 4]) for _ in range(r.choice([0, 1, 2, 2, 3, 4, 4, 5]))]
        n = 1
        for k in size:
            n *= k
        if n > 200:
            return ["assign", self.fresh(), ["arange", 12]]
        if len(size) in (4, 5) and r.random() < .4:
            return ["assign", self.fresh(), ["zeros_fmt", size, "channels_last" if len(size) == 4 else "channels_last_3d", d]]
        if d in ("bool", "complex64", "complex128"):
            return ["assign", self.fresh(), ["full", size, d == "bool" and True or 2, d]]
        first = ["assign", "%" + self.fresh(), ["arange", n, None, None, d]]
        self.rec.run(first)
        return first, ["assign", self.fresh(), ["view", first[1], size]]

    def program(self):
        r, program = self.r, []
        torch.set_printoptions(profile="default", sci_mode=None)
        if r.random() < .3:
            return self.numbers()
        for _ in range(r.randrange(1, 3)):
            start = self.beginning()
            for s in [start[1]] if isinstance(start, tuple) else [start]:
                self.rec.run(s)
            program += list(start) if isinstance(start, tuple) else [start]
        for k in range(r.randrange(2, 9)):
            s = ["attempt", f"a{k}", [self.statement()]]
            self.rec.run(s)
            inner = s[2][0]
            if self.rec.attempts[s[1]] == "ok" and r.random() < .9:
                del self.rec.attempts[s[1]]
                s = inner
            program.append(s)
        return program, expected(self.rec)


def main(maker, group="random", more=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    made, seed = 0, options.seed * 1000003
    while made < options.count:
        seed += 1
        try:
            program, expect = maker(random.Random(seed)).program()
        except Unfit:
            continue
        print(json.dumps({"id": f"{group}/{seed}", "group": group, **(more or {}), "program": program, "expect": expect,
                          "torch": [torch.__version__.split("+")[0]]}, separators=(",", ":")))
        made += 1


if __name__ == "__main__":
    main(Maker)
