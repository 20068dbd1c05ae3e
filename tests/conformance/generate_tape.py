"""Random programs of leaves, views, in-place writes, modes, hooks and walks, with the gradients that PyTorch finds.

    python3 tests/conformance/generate_tape.py --seed 1 --count 300 > random_tape.jsonl
    build/release/tests/conformance random_tape.jsonl

Errors about the tape are recorded with their rule, others as errors alone. Programs are given up whose outcome is an
accident: values that grow without bound, writes that depend on the order of elements. Needs PyTorch 2.15."""
import torch

import generate
from generate import CALLS, Recorder, Unfit, check_order, expected, main, values

TOLERANCE = {"float32": [1e-4, 1e-5], "float64": [1e-6, 1e-7]}
RULES = [  # of PyTorch's messages
    ("leaf Variable that requires grad", "inplace_leaf", "leaf"),
    ("returns multiple views", "inplace_view", "multi_output_view"),
    ("created in no_grad mode", "inplace_view", "created_under_no_grad"),
    ("inference mode and", "inplace_view", None),
    ("modified by an inplace operation", "saved_version", "version"),
    ("a second time", "graph_freed", "second_backward"),
    ("does not have a grad_fn", "no_graph", "no_grad_fn"),
    ("differentiated Tensors does not require grad", "no_graph", "input_without_grad"),
    ("appears to not have been used", "grad_args", "unused_input"),
    ("implicitly created only for scalar", "grad_args", "not_scalar"),
    ("Mismatch in shape", "grad_args", "shape"),
    ("change requires_grad flags of leaf", "not_leaf", "requires_grad"),
    ("can't retain_grad", "no_graph", "retain_grad"),
    ("cannot register a hook", "no_graph", "hook"),
    ("Can't detach views", "inplace_view", "detach"),
    ("cannot be saved for backward", "inference", "saved"),
    ("Inplace update to inference", "inference", "inplace_outside"),
]


def rule_of(error):
    for text, category, detail in RULES:
        if text in str(error):
            return {"category": category, **({"detail": detail} if detail else {})}
    return {}


def set_grad(x, grad=None):
    x.grad = grad


def set_requires_grad(x, on):
    x.requires_grad = on
    return x


TAPE = {
    "requires_grad_": lambda x, on=None: x.requires_grad_(on is None or bool(on)), "set_requires_grad": set_requires_grad,
    "backward": lambda x, g=None, retain=None, create=None: x.backward(g, retain_graph=retain, create_graph=bool(create)),
    "backward_inputs": lambda x, inputs: x.backward(inputs=inputs),
    "backward_many": lambda xs, gs=None: torch.autograd.backward(xs, gs),
    "grad": lambda xs, inputs, gs=None, retain=None, create=None, unused=None: torch.autograd.grad(
        xs, inputs, gs, retain_graph=retain, create_graph=bool(create), allow_unused=unused),
    "retain_grad": lambda x: x.retain_grad(), "grad_of": lambda x: x.grad, "set_grad": set_grad,
}
def getitem(x, index):
    entries = generate.index_of(index, generate.NAMES)
    return x[entries[0] if len(entries) == 1 else entries]  # PyTorch looks at one slice in another way than at several


CALLS.update(TAPE)
CALLS["getitem"] = getitem
CALLS.update({"sigmoid": torch.sigmoid, "mean": torch.mean, "exp": torch.exp, "mul_": lambda x, y: x.mul_(y),
              "tensor": lambda data, d=None, r=None: torch.tensor(data, dtype=generate.dtype(d), requires_grad=bool(r)),
              "square": torch.square, "sigmoid_": lambda x: x.sigmoid_(), "square_": lambda x: x.square_(),
              "matmul": torch.matmul, "clone": lambda x: x.clone(), "contiguous": lambda x: x.contiguous()})
WRITES = generate.WRITES | {"sigmoid_", "square_"}
MODES = {"no_grad": torch.no_grad, "enable_grad": torch.enable_grad, "inference": torch.inference_mode}


class TapeRecorder(Recorder):
    def __init__(self):
        super().__init__()
        self.modes, self.hooks, self.events, self.made, self.actions = [], {}, [], set(), {}

    def call(self, call):
        args = self.arguments(call)
        with torch.no_grad():
            depends = call[0] in WRITES and check_order(call[0], [
                a.detach() if isinstance(a, torch.Tensor) and not a.is_inference() else a for a in args])
        if depends:
            raise Unfit
        if call[0] == "detach_" and torch.is_inference_mode_enabled():
            raise Unfit  # does nothing
        result = CALLS[call[0]](*args)
        with torch.no_grad():
            for x in self.names.values():
                if x.numel() > 200 or (x.dtype.is_floating_point and x.numel() and
                                       not bool((x.detach().abs() < 1e6).all())):
                    raise Unfit
            owned = {x.grad.untyped_storage()._cdata: x.grad for x in self.names.values() if x.grad is not None}
            if any(x.untyped_storage()._cdata in owned and x.untyped_storage()._cdata not in self.made
                   for x in self.names.values()):
                raise Unfit  # a leaf owns a view of the gradient that was given
        return result

    def log(self, label, action):
        def hook(grad):
            if grad is None:
                raise Unfit
            with torch.no_grad():
                self.events.append([label, list(grad.shape), str(grad.dtype)[6:], values(grad.detach())])
            if action and "mul" in action:
                return grad * action["mul"]
            if action and "add" in action:
                return grad + action["add"]
            return None
        return hook

    def run(self, s):
        kind = s[0]
        if kind == "mode":
            if s[1] == "end":
                self.modes.pop().__exit__(None, None, None)
            else:
                self.modes.append(MODES[s[1]]())
                self.modes[-1].__enter__()
        elif kind == "hook":
            self.hooks[s[2]] = self.names[s[1]].register_hook(self.log(s[2], s[3]))
        elif kind == "post_hook":
            x = self.names[s[1]]
            log = self.log(s[2], None)
            self.hooks[s[2]] = x.register_post_accumulate_grad_hook(lambda leaf: log(leaf.grad))
        elif kind == "unhook":
            self.hooks[s[1]].remove()
        elif kind == "observe":
            x = self.names[s[2][1]]
            self.observed[s[1]] = {"requires_grad": lambda: x.requires_grad, "is_leaf": lambda: x.is_leaf,
                                   "version": lambda: x._version, "has_grad": lambda: x.grad is not None}[s[2][0]]()
        elif kind == "del":
            del self.names[s[1]]
        elif kind == "do":
            self.call(s[1])
        elif kind == "assign":
            made = self.call(s[2])
            if made is not None:
                self.names[s[1]] = made
                if s[2][0] == "grad_of":
                    self.made.add(made.untyped_storage()._cdata)
        elif kind == "multi":
            made = self.call(s[2])
            absent = [i for i, x in enumerate(made) if x is None]
            for i, x in enumerate(made):
                if x is not None:
                    self.names[f"{s[1]}{i}"] = x
                    if s[2][0] == "grad":
                        self.made.add(x.untyped_storage()._cdata)
            self.observed[f"{s[1]}.count"] = len(made)
            if absent:
                self.observed[f"{s[1]}.absent"] = absent
        else:
            try:
                for inner in s[2]:
                    self.run(inner)
                self.attempts[s[1]] = "ok"
            except (RuntimeError, IndexError, TypeError, ValueError) as e:
                self.attempts[s[1]] = rule_of(e)
                if "inference" in str(e):
                    raise Unfit from e  # written before it was refused

    def end(self):
        while self.modes:
            self.modes.pop().__exit__(None, None, None)

    def describe(self, x, storages):
        d = {"shape": list(x.shape), "stride": list(x.stride()), "storage_offset": x.storage_offset(),
             "dtype": str(x.dtype)[6:], "is_contiguous": x.is_contiguous(),
             "storage": storages.setdefault(x.untyped_storage()._cdata, len(storages)), "values": values(x.detach())}
        if x.untyped_storage()._cdata not in self.made:
            d["version"] = None if x.is_inference() else x._version
        if x.requires_grad:
            d["requires_grad"] = True
        try:
            if x.grad_fn is not None:
                d["grad_fn"], d["is_leaf"] = x.grad_fn.name().replace("torch::autograd::", ""), False
            if x._is_view() and x.untyped_storage()._cdata not in self.made:
                d["is_view"] = True
        except RuntimeError as e:
            d["grad_fn_error"] = rule_of(e)
        if x.requires_grad and x.retains_grad:
            d["retains_grad"] = True
        if x.grad is not None:
            g = x.grad
            d["grad"] = {"shape": list(g.shape), "stride": list(g.stride()), "storage_offset": g.storage_offset(),
                         "dtype": str(g.dtype)[6:], "is_contiguous": g.is_contiguous(), "values": values(g.detach())}
            if g.requires_grad:
                d["grad"]["requires_grad"] = True
        return d

    def expect(self):
        tensors, seen, storages = {}, {}, {}
        with torch.no_grad():
            for name, x in self.names.items():
                if id(x) in seen:
                    tensors[name] = {"same_as": seen[id(x)]}
                else:
                    seen[id(x)] = name
                    tensors[name] = self.describe(x, storages)
        e = {"tensors": tensors}
        for key in ("attempts", "observed", "events"):
            if getattr(self, key):
                e[key] = getattr(self, key)
        return e


class TapeMaker:
    """Draws statements that are mostly legal for the tensors that there are."""

    def __init__(self, r):
        self.r, self.rec, self.n, self.depth = r, TapeRecorder(), 0, 0
        self.inference, self.leaves = r.random() < .05, set()

    def fresh(self):
        self.n += 1
        return f"x{self.n}"

    def data(self, shape):
        r = self.r
        return float(r.choice([-3, -2, -1, 1, 2, 3])) if not shape else [self.data(shape[1:]) for _ in range(shape[0])]

    def leaf(self, shape=None, grad=None):
        r = self.r
        shape = r.choice([[2], [3], [2, 3], [2, 2], [], [1], [3, 1], [4]]) if shape is None else shape
        dtype = "float64" if r.random() < .15 else None
        return ["tensor", self.data(shape), dtype, r.random() < .7 if grad is None else grad]

    def pick(self, ok=lambda x: True):
        floats = [n for n, x in self.rec.names.items() if x.is_floating_point()]
        names = [n for n in floats if ok(self.rec.names[n])] or floats
        recent = names[-4:]
        return self.r.choice(recent if self.r.random() < .6 else names)

    def partner(self, x):
        """A tensor that broadcasts with x, often of its shape."""
        def fits(y):
            try:
                return torch.broadcast_shapes(x.shape, y.shape) == x.shape
            except RuntimeError:
                return False
        return self.pick(fits)

    def view(self, n):
        r, x = self.r, self.rec.names[n]
        d = r.randrange(x.ndim) if x.ndim else 0
        size = max(x.shape[d], 1) if x.ndim else 1
        return r.choice([
            lambda: ["view", n, r.choice([[-1], [x.numel()], [1, -1], list(x.shape)])], lambda: ["t", n],
            lambda: ["transpose", n, 0, -1], lambda: ["unsqueeze", n, r.choice([0, -1])], lambda: ["squeeze", n],
            lambda: ["getitem", n, [r.randrange(size)]], lambda: ["getitem", n, [{"slice": [r.choice([None, 1]), r.choice([None, 2]), None]}]],
            lambda: ["getitem", n, ["...", {"slice": [None, None, 2]}]], lambda: ["select", n, d, r.randrange(size)],
            lambda: ["narrow", n, d, 0, r.choice([1, size])], lambda: ["expand", n, [2] + list(x.shape)],
            lambda: ["permute", n, list(range(x.ndim))[::-1]], lambda: ["detach", n], lambda: ["data", n],
            lambda: ["diagonal", n], lambda: ["reshape", n, [-1]], lambda: ["contiguous", n], lambda: ["flatten", n],
            lambda: ["unfold", n, d, 2, 1], lambda: ["as_strided", n, [2], [1]], lambda: ["alias", n],
        ])()

    def pointwise(self, n):
        r, x = self.r, self.rec.names[n]
        m = self.partner(x)
        return r.choice([
            lambda: ["mul", n, m], lambda: ["mul", n, m], lambda: ["add", n, m], lambda: ["sub", n, m],
            lambda: ["mul", n, r.choice([2, 3, 0.5])], lambda: ["add", n, 1], lambda: ["neg", n], lambda: ["relu", n],
            lambda: ["sigmoid", n], lambda: ["square", n], lambda: ["sum", n], lambda: ["clone", n],
            lambda: ["sum", n, r.randrange(x.ndim) if x.ndim else 0, r.random() < .5], lambda: ["to", n, r.choice(["float64", "float32"])],
            lambda: ["cat", [n, n], 0], lambda: ["stack", [n, m], 0], lambda: ["where", self.mask(x), n, m],
            lambda: ["matmul", n, m], lambda: ["mean", n],
        ])()

    def mask(self, x):
        name = f"%m{self.n}"
        self.n += 1
        def flags(shape):
            return self.r.random() < .5 if not shape else [flags(shape[1:]) for _ in range(shape[0])]
        self.extra.append(["assign", name, ["tensor", flags(list(x.shape))]])
        return name

    def write(self, n):
        r, x = self.r, self.rec.names[n]
        m = self.partner(x)
        return r.choice([
            lambda: ["mul_", n, r.choice([2, 3])], lambda: ["mul_", n, m], lambda: ["add_", n, m], lambda: ["add_", n, 1],
            lambda: ["sub_", n, m], lambda: ["copy_", n, m], lambda: ["zero_", n], lambda: ["fill_", n, 2],
            lambda: ["neg_", n], lambda: ["relu_", n], lambda: ["sigmoid_", n], lambda: ["square_", n],
            lambda: ["setitem", n, [r.randrange(x.shape[0]) if x.ndim and x.shape[0] else 0], r.choice([5, self.pick(lambda y: y.ndim == 0)])],
            lambda: ["setitem", n, [{"slice": [None, 1, None]}], r.choice([4, self.pick(lambda y: y.numel() == 1)])],
            lambda: ["masked_fill_", n, self.mask(x), 3], lambda: ["t_", n], lambda: ["unsqueeze_", n, 0],
            lambda: ["detach_", n], lambda: ["transpose_", n, 0, -1],
        ])()

    def walk(self):
        r = self.r
        tracked = lambda x: x.requires_grad
        n = self.pick(lambda x: x.requires_grad and not self.leafy(x))
        x = self.rec.names[n]
        retain = r.choice([None, None, True, True])
        if x.numel() != 1 or r.random() < .2:
            g = f"%g{self.n}"
            self.n += 1
            self.extra.append(["assign", g, ["tensor", self.data(list(x.shape)), str(x.dtype)[6:],
                                              x.is_floating_point() and r.random() < .1]])
        else:
            g = None
        kind = r.random()
        if kind < .5:
            return ["do", ["backward", n, g, retain, r.choice([None, None, None, True])]]
        if kind < .6 and g is None:
            return ["do", ["backward_inputs", n, [self.pick(tracked) for _ in range(r.choice([1, 2]))]]]
        if kind < .65 and g is None:
            other = self.pick(lambda y: y.requires_grad and y.numel() == 1)
            return ["do", ["backward_many", [n, other]]]
        self.n += 1
        inputs = [self.pick(tracked) for _ in range(r.choice([1, 1, 2]))]
        return ["multi", f"g{self.n}_", ["grad", [n], inputs, [g] if g else None, retain, r.choice([None, None, True]),
                                         r.choice([None, True, True])]]

    def leafy(self, x):
        """Without asking PyTorch, which would tell a view's history anew."""
        return id(x) in self.leaves

    def tape(self):
        r = self.r
        n = self.pick()
        self.n += 1
        label = f"h{self.n}"
        return r.choice([
            lambda: ["hook", n, label, r.choice([None, {"mul": 2}, {"add": 1}])], lambda: ["do", ["retain_grad", n]],
            lambda: ["hook", n, label, None], lambda: ["do", ["retain_grad", n]],
            lambda: ["post_hook", n, label], lambda: ["unhook", r.choice(list(self.rec.hooks))] if self.rec.hooks else ["do", ["retain_grad", n]],
            lambda: ["assign", self.fresh(), ["requires_grad_", n]], lambda: ["do", ["set_requires_grad", n, r.random() < .5]],
            lambda: ["do", ["set_grad", n]], lambda: ["assign", self.fresh(), ["grad_of", n]],
            lambda: ["observe", label, [r.choice(["requires_grad", "is_leaf", "version", "has_grad"]), n]],
            lambda: ["do", ["set_data", n, self.pick(lambda y: y.shape == self.rec.names[n].shape)]],
        ])()

    def statement(self):
        r = self.r
        kind = r.random()
        self.extra = []
        if kind < .1:
            return ["assign", self.fresh(), self.leaf()]
        if kind < .3:
            return ["assign", self.fresh(), self.view(self.pick())]
        if kind < .34:
            n = self.pick(lambda x: x.ndim > 0)
            self.n += 1
            return ["multi", f"m{self.n}_", r.choice([["unbind", n], ["split", n, 1], ["chunk", n, 2]])]
        if kind < .55:
            return ["assign", self.fresh(), self.pointwise(self.pick())]
        if kind < .73:
            return ["do", self.write(self.pick())]
        if kind < .83:
            return self.tape()
        if kind < .87:
            if self.depth and r.random() < .6:
                self.depth -= 1
                return ["mode", "end"]
            self.depth += 1
            return ["mode", r.choice(["no_grad", "no_grad", "enable_grad"] + (["inference"] * 2 if self.inference else []))]
        return self.walk()

    def program(self):
        r, program = self.r, []
        try:
            for _ in range(r.randrange(1, 4)):
                program.append(["assign", self.fresh(), self.leaf(grad=True if not program else None)])
                self.rec.run(program[-1])
                self.leaves.add(id(self.rec.names[program[-1][1]]))
            for k in range(r.randrange(4, 16)):
                s = self.statement()
                for e in self.extra:
                    self.rec.run(e)
                    program.append(e)
                s = s if s[0] == "mode" else ["attempt", f"a{k}", [s]]
                self.rec.run(s)
                made = s[2][0] if s[0] == "attempt" else s
                if made[0] == "assign" and made[2][0] == "tensor":
                    self.leaves.add(id(self.rec.names[made[1]]))
                if s[0] == "attempt" and self.rec.attempts[s[1]] == "ok":
                    del self.rec.attempts[s[1]]
                    s = s[2][0]
                program.append(s)
        finally:
            self.rec.end()
        return program, expected(self.rec)


if __name__ == "__main__":
    main(TapeMaker, "tape", {"tol": TOLERANCE})
