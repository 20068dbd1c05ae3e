"""Peers of the benchmark: its rows in NumPy and in PyTorch.

Started by bench as `peers.py numpy|torch THREADS`, it says "hello", then answers one line a question:
  begin TAB work TAB row TAB dtype    -> ok TAB count TAB sum TAB sampled elements, or "absent", or "error TAB reason"
  block                               -> ns TAB time of one operation
  end                                 -> ok; the row's arrays are freed
Statements are timed by timeit, inlined in its loop with the collector off. A row is one entry of ROWS in each class.
"""
import os
import sys
import timeit

POINTS = 200
LONG = 10_000_000
SIDE = 4096
BLOCK = {"W1": 3e-3, "W2": 6e-3, "W7": 3e-3, "W6": 4e-3}  # seconds a block takes at least
SAMPLES = 64
SIZES = [2, 16, 16, 1]
RECORDED = {"add, grad recorded", "chain", "SGD", "Adam"}  # rows that need autograd


class Numpy:
    def __init__(self, threads):
        import numpy
        self.lib = numpy
        self.rows = {
            ("W1", "forward"): (self.net, "forward(x)"),
            ("W7", "add, no grad"): (self.tiny, "x + y"),
            ("W7", "create"): (self.tiny, "empty(1, dtype)"),
            ("W7", "view"): (self.small, "x.T"),
            ("W7", "transpose"): (self.small, "x.transpose(1, 0)"),
            ("W7", "getitem"): (self.small, "x[1:2]"),
            ("W6", "add, fresh"): (self.pair, "x + y"),
            ("W6", "add, out"): (self.pair, "np.add(x, y, out=z)"),
            ("W6", "relu, fresh"): (self.pair, "np.maximum(x, 0)"),
            ("W6", "relu, out"): (self.pair, "np.maximum(x, 0, out=z)"),
            ("W6", "exp, fresh"): (self.pair, "np.exp(x)"),
            ("W6", "exp, out"): (self.pair, "np.exp(x, out=z)"),
            ("W6", "sigmoid, fresh"): (self.pair, "1 / (1 + np.exp(-x))"),
            ("W6", "sigmoid, out"): (self.pair, "sigmoid(x, z)"),
            ("W6", "tanh, fresh"): (self.pair, "np.tanh(x)"),
            ("W6", "tanh, out"): (self.pair, "np.tanh(x, out=z)"),
            ("W6", "sum all"): (self.square, "x.sum()"),
            ("W6", "sum dim 0"): (self.square, "x.sum(0)"),
            ("W6", "sum dim 1"): (self.square, "x.sum(1)"),
            ("W6", "transposed copy"): (self.square, "np.ascontiguousarray(x.T)"),
            ("W6", "strided copy"): (self.square, "np.ascontiguousarray(x[:, ::2])"),
        }

    def about(self):
        try:
            found = self.lib._core._multiarray_umath.__cpu_features__
        except AttributeError:
            found = {}
        level = next((f for f in ("AVX512_SPR", "AVX512_ICL", "AVX512_SKX", "AVX2") if found.get(f)), "baseline")
        return f"NumPy {self.lib.__version__} ({level})"

    def mode(self, row):
        import contextlib
        return contextlib.nullcontext()

    def values(self, n, seed, dtype, scale=1.0, shift=0.0):
        u = (self.lib.arange(n, dtype="uint64") * 2654435761 + seed * 2246822519) & 0xFFFFFFFF
        return ((u * (4.0 / 4294967296.0) - 1) * scale + shift).astype(dtype)

    def digest(self, result):
        flat = self.lib.asarray(result).reshape(-1).astype("float64")
        return flat.size, float(flat.sum()), flat

    def tiny(self, dtype):
        return {"x": self.values(1, 1, dtype), "y": self.values(1, 2, dtype), "empty": self.lib.empty,
                "dtype": self.lib.dtype(dtype)}

    def small(self, dtype):
        return {"x": self.values(6, 1, dtype).reshape(2, 3)}

    def pair(self, dtype):
        np = self.lib

        def sigmoid(x, z):
            np.negative(x, out=z)
            np.exp(z, out=z)
            np.add(z, 1, out=z)
            return np.reciprocal(z, out=z)

        return {"x": self.values(LONG, 1, dtype), "y": self.values(LONG, 2, dtype), "z": np.empty(LONG, dtype),
                "np": np, "sigmoid": sigmoid}

    def square(self, dtype):
        return {"x": self.values(SIDE * SIDE, 1, dtype).reshape(SIDE, SIDE), "np": self.lib}

    def net(self, dtype):
        np = self.lib
        w, b = weights(self, dtype)
        (w1, w2, w3), (b1, b2, b3) = [np.ascontiguousarray(m.T) for m in w], b

        def forward(x):
            h = x @ w1
            h += b1
            np.maximum(h, 0, out=h)
            h = h @ w2
            h += b2
            np.maximum(h, 0, out=h)
            h = h @ w3
            h += b3
            return 1 / (1 + np.exp(-h))

        return {"x": self.values(POINTS * 2, 0, dtype).reshape(POINTS, 2), "forward": forward}


class Torch:
    def __init__(self, threads):
        import torch
        torch.set_num_threads(threads)
        self.lib = torch
        self.rows = {
            ("W1", "forward"): (self.net, "net(x)"),
            ("W2", "SGD"): (lambda dtype: self.training(dtype, self.lib.optim.SGD), "step()"),
            ("W2", "Adam"): (lambda dtype: self.training(dtype, self.lib.optim.Adam), "step()"),
            ("W7", "add, no grad"): (self.tiny, "x + y"),
            ("W7", "add, grad recorded"): (self.recorded, "x + y"),
            ("W7", "chain"): (self.chain, "chain()"),
            ("W7", "create"): (self.tiny, "empty(1, dtype=dtype)"),
            ("W7", "view"): (self.small, "x.t()"),
            ("W7", "transpose"): (self.small, "x.transpose(0, 1)"),
            ("W7", "getitem"): (self.small, "x[1:2]"),
            ("W6", "add, fresh"): (self.pair, "x + y"),
            ("W6", "add, out"): (self.pair, "torch.add(x, y, out=z)"),
            ("W6", "relu, fresh"): (self.pair, "torch.relu(x)"),
            ("W6", "relu, out"): (self.pair, "torch.clamp_min(x, 0, out=z)"),  # relu has no out=
            ("W6", "exp, fresh"): (self.pair, "torch.exp(x)"),
            ("W6", "exp, out"): (self.pair, "torch.exp(x, out=z)"),
            ("W6", "sigmoid, fresh"): (self.pair, "torch.sigmoid(x)"),
            ("W6", "sigmoid, out"): (self.pair, "torch.sigmoid(x, out=z)"),
            ("W6", "tanh, fresh"): (self.pair, "torch.tanh(x)"),
            ("W6", "tanh, out"): (self.pair, "torch.tanh(x, out=z)"),
            ("W6", "sum all"): (self.square, "x.sum()"),
            ("W6", "sum dim 0"): (self.square, "x.sum(0)"),
            ("W6", "sum dim 1"): (self.square, "x.sum(1)"),
            ("W6", "transposed copy"): (self.square, "x.t().contiguous()"),
            ("W6", "strided copy"): (self.square, "x[:, ::2].contiguous()"),
        }

    def about(self):
        blas = "MKL" if self.lib.backends.mkl.is_available() else "no MKL"
        return f"PyTorch {self.lib.__version__} ({self.lib.backends.cpu.get_cpu_capability()}, {blas})"

    def mode(self, row):
        if row[0] == "W1":
            return self.lib.inference_mode()
        return self.lib.set_grad_enabled(row[1] in RECORDED)

    def values(self, n, seed, dtype, scale=1.0, shift=0.0):
        torch = self.lib
        u = (torch.arange(n, dtype=torch.int64) * 2654435761 + seed * 2246822519) & 0xFFFFFFFF
        return ((u.double() * (4.0 / 4294967296.0) - 1) * scale + shift).to(getattr(torch, dtype))

    def digest(self, result):
        flat = result.detach().reshape(-1).double()
        return flat.numel(), float(flat.sum()), flat

    def tiny(self, dtype):
        return {"x": self.values(1, 1, dtype), "y": self.values(1, 2, dtype), "empty": self.lib.empty,
                "dtype": getattr(self.lib, dtype)}

    def recorded(self, dtype):
        return {"x": self.values(1, 1, dtype).requires_grad_(), "y": self.values(1, 2, dtype)}

    def chain(self, dtype):
        x, y = self.values(1, 1, dtype).requires_grad_(), self.values(1, 2, dtype, 0.001, 1.0)

        def chain():
            z = x
            for _ in range(1000):
                z = z * y
            x.grad = None
            z.backward()
            return x.grad

        return {"chain": chain}

    def small(self, dtype):
        return {"x": self.values(6, 1, dtype).reshape(2, 3)}

    def pair(self, dtype):
        return {"x": self.values(LONG, 1, dtype), "y": self.values(LONG, 2, dtype),
                "z": self.lib.empty(LONG, dtype=getattr(self.lib, dtype)), "torch": self.lib}

    def square(self, dtype):
        return {"x": self.values(SIDE * SIDE, 1, dtype).reshape(SIDE, SIDE)}

    def net(self, dtype):
        nn = self.lib.nn
        linears = [nn.Linear(m, n) for m, n in zip(SIZES, SIZES[1:])]
        for layer, w, b in zip(linears, *weights(self, dtype)):
            layer.weight, layer.bias = nn.Parameter(w), nn.Parameter(b)
        net = nn.Sequential(linears[0], nn.ReLU(), linears[1], nn.ReLU(), linears[2], nn.Sigmoid())
        return {"x": self.values(POINTS * 2, 0, dtype).reshape(POINTS, 2), "net": net}

    def training(self, dtype, optimizer):
        nn, names = self.lib.nn, self.net(dtype)
        net, x = names["net"][:-1], names["x"]
        y = (self.lib.arange(POINTS) % 2).to(x.dtype).reshape(POINTS, 1)
        lossof, opt = nn.BCEWithLogitsLoss(), optimizer(net.parameters(), lr=1e-9)

        def step():
            opt.zero_grad()
            lossof(net(x), y).backward()
            opt.step()
            return net[0].weight.grad

        return {"step": step}


def weights(side, dtype):
    """The net of W1: weights [out, in] and biases in [-0.5, 0.5)."""
    shapes = list(zip(SIZES[1:], SIZES))
    w = [side.values(n * m, 10 + i, dtype, 0.25, -0.25).reshape(n, m) for i, (n, m) in enumerate(shapes)]
    b = [side.values(n, 20 + i, dtype, 0.25, -0.25) for i, (n, _) in enumerate(shapes)]
    return w, b


class Row:
    def __init__(self, side, key, dtype):
        setup, self.statement = side.rows[key]
        self.side, self.key, self.repeat = side, key, 1
        with side.mode(key):
            self.names = setup(dtype)
        self.timer = timeit.Timer(self.statement, globals=self.names)

    def check(self):
        with self.side.mode(self.key):
            result = eval(self.statement, self.names)
            if self.key == ("W7", "create"):
                return "ok\t0\t0"  # elements are undefined
            count, total, flat = self.side.digest(result)
        at = [k * 2654435761 % count for k in range(min(count, SAMPLES))]
        return "\t".join(["ok", str(count), repr(total)] + [repr(float(flat[i])) for i in at])

    def block(self):
        least = BLOCK[self.key[0]]
        with self.side.mode(self.key):
            self.timer.timeit(self.repeat // 8 + 1)  # warm the caches that the other sides have used
            while True:
                spent = self.timer.timeit(self.repeat)
                if spent >= 0.6 * least:
                    return "ns\t%r" % (spent / self.repeat * 1e9)
                self.repeat = max(self.repeat + 1, int(self.repeat * min(10, 1.2 * least / max(spent, 1e-9))))


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer

    def answer(text):
        answers.write(text.replace("\n", " ")[:4000] + "\n")
        answers.flush()

    side = {"numpy": Numpy, "torch": Torch}[sys.argv[1]](int(sys.argv[2]))
    answer("hello\t" + side.about())
    row = None
    for line in sys.stdin:
        word, *rest = line.rstrip("\n").split("\t")
        try:
            if word == "begin":
                row, key = None, tuple(rest[:2])
                if key not in side.rows:
                    answer("absent")
                    continue
                row = Row(side, key, rest[2])
                answer(row.check())
            elif word == "block":
                answer(row.block())
            else:
                row = None
                answer("ok")
        except Exception as error:  # told to the parent, which leaves this side out
            row = None
            answer(f"error\t{type(error).__name__}: {error}")


main()
