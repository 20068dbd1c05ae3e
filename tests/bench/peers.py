"""Peers of the benchmark: its rows in NumPy and in PyTorch.

Started by bench as `peers.py numpy|torch THREADS`, it says "hello", then answers one line a question:
  begin TAB work TAB row TAB dtype    -> ok TAB count TAB sum TAB sampled elements, or "absent", or "error TAB reason"
  block                               -> ns TAB time of one operation
  end                                 -> ok; the row's arrays are freed
Statements are timed by timeit, inlined in its loop with the collector off. A row is one entry of ROWS in each class.
"""
import os
import subprocess
import sys
import time
import timeit

POINTS = 200
LONG = 10_000_000
SIDE = 4096
BLOCK = {"W2": 6e-3, "W6": 4e-3}  # seconds a block takes at least; 3e-3 else
SAMPLES = 64
SIZES = [2, 16, 16, 1]
RECORDED = {"add, grad recorded", "chain", "SGD", "Adam", "epoch", "step", "1000 models"}  # rows that need autograd


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
        (w1, w2, w3), (b1, b2, b3) = [np.ascontiguousarray(m[0].T) for m in w], [m[0] for m in b]

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
            ("W3", "epoch"): (self.epoch, "epoch()"),
            ("W4", "step"): (self.classes, "step()"),
            ("W5", "step"): (self.wide, "step()"),
            ("W8", "1 step"): (lambda dtype: {"measure": lambda: process(1)[0]}, MEASURE),
            ("W8", "1000 steps"): (lambda dtype: {"measure": lambda: process(1000)[0]}, MEASURE),
            ("W8", "1 step, memory"): (lambda dtype: {"measure": lambda: process(1)[1]}, MEASURE),
            ("W8", "1000, memory"): (lambda dtype: {"measure": lambda: process(1000)[1]}, MEASURE),
            ("W9", "1000 models"): (self.models, "step()"),
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

    def mlp(self, dtype, sizes=SIZES):
        nn = self.lib.nn
        linears = [nn.Linear(m, n) for m, n in zip(sizes, sizes[1:])]
        for layer, w, b in zip(linears, *weights(self, dtype, sizes)):
            layer.weight, layer.bias = nn.Parameter(w[0]), nn.Parameter(b[0])
        return nn.Sequential(linears[0], nn.ReLU(), linears[1], nn.ReLU(), linears[2])

    def net(self, dtype):
        net = self.lib.nn.Sequential(*self.mlp(dtype), self.lib.nn.Sigmoid())
        return {"x": self.values(POINTS * 2, 0, dtype).reshape(POINTS, 2), "net": net}

    def step(self, net, x, y, lossof, optimizer):
        opt = optimizer(net.parameters(), lr=1e-9)

        def step():
            opt.zero_grad()
            lossof(net(x), y).backward()
            opt.step()
            return net[0].weight.grad

        return {"step": step}

    def training(self, dtype, optimizer):
        x = self.values(POINTS * 2, 0, dtype).reshape(POINTS, 2)
        y = (self.lib.arange(POINTS) % 2).to(x.dtype).reshape(POINTS, 1)
        return self.step(self.mlp(dtype), x, y, self.lib.nn.BCEWithLogitsLoss(), optimizer)

    def classes(self, dtype):
        x, y = self.values(128 * 784, 0, dtype).reshape(128, 784), self.lib.arange(128) % 10
        net = self.mlp(dtype, [784, 256, 128, 10])
        return self.step(net, x, y, self.lib.nn.CrossEntropyLoss(), self.lib.optim.Adam)

    def wide(self, dtype):
        x, y = (self.values(512 * 1024, seed, dtype).reshape(512, 1024) for seed in (0, 1))
        return self.step(self.mlp(dtype, [1024] * 4), x, y, self.lib.nn.MSELoss(), self.lib.optim.SGD)

    def epoch(self, dtype):
        torch, points = self.lib, 10_000
        x = self.values(points * 2, 0, dtype).reshape(points, 2)
        y = (torch.arange(points) % 2).to(x.dtype).reshape(points, 1)
        net, lossof = self.mlp(dtype), torch.nn.BCEWithLogitsLoss()
        opt = torch.optim.SGD(net.parameters(), lr=1e-3)
        generator = torch.Generator()
        generator.manual_seed(0)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 32, shuffle=True,
                                             generator=generator)

        def epoch():
            losses = 0.0
            for batch_x, batch_y in loader:
                loss = lossof(net(batch_x), batch_y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                losses += loss.item()
            return net[0].weight

        return {"epoch": epoch}

    def models(self, dtype, models=1000):
        """All models in batched products, their losses added up, by hand: the fastest of PyTorch's eager ways."""
        torch = self.lib
        x = self.values(POINTS * 2, 0, dtype).reshape(1, POINTS, 2).expand(models, POINTS, 2)
        y = (torch.arange(POINTS) % 2).to(x.dtype).reshape(1, POINTS, 1).expand(models, POINTS, 1)
        w, b = weights(self, dtype, SIZES, models)
        b = [bias.unsqueeze(1) for bias in b]
        leaves = [p.requires_grad_() for p in w + b]

        def step():
            h = x
            for i in range(3):
                h = torch.baddbmm(b[i], h, w[i].mT)
                h = torch.relu(h) if i < 2 else h
            loss = torch.nn.functional.binary_cross_entropy_with_logits(h, y, reduction="sum") / POINTS
            grads = torch.autograd.grad(loss, leaves)
            with torch.no_grad():
                torch._foreach_add_(leaves, grads, alpha=-1e-9)
            return grads[0][-1]

        return {"step": step}


def weights(side, dtype, sizes=SIZES, models=1):
    """Weights [models, out, in] and biases: in [-0.5, 0.5) where 16 or fewer come in, else 1 / sqrt(in) times [-1, 1)."""
    w, b = [], []
    for i, (n, m) in enumerate(zip(sizes[1:], sizes)):
        scale = 0.25 if m <= 16 else 0.5 / m ** 0.5
        w.append(side.values(models * n * m, 10 + i, dtype, scale, -scale).reshape(models, n, m))
        b.append(side.values(models * n, 20 + i, dtype, scale, -scale).reshape(models, n))
    return w, b


MEASURE = "measure()"  # a row whose statement gives what is measured, instead of being timed

PROCESS = """
import sys, math, torch
torch.set_num_threads(1)
torch.manual_seed(0)
angle = torch.linspace(0, math.pi, 100)
outer, inner = torch.stack([angle.cos(), angle.sin()], 1), torch.stack([1 - angle.cos(), 0.5 - angle.sin()], 1)
x = torch.cat([outer, inner]) + 0.2 * torch.randn(200, 2)
y = torch.cat([torch.zeros(100, 1), torch.ones(100, 1)])
nn = torch.nn
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
lossof, adam = nn.BCEWithLogitsLoss(), torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(int(sys.argv[1])):
    loss = lossof(net(x), y)
    adam.zero_grad()
    loss.backward()
    adam.step()
print(loss.item(), next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def process(steps):
    """ns of a whole process that trains, and its peak memory in bytes."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", PROCESS, str(steps)], capture_output=True, text=True, check=True)
    return (time.perf_counter() - start) * 1e9, int(done.stdout.split()[1]) * 1024.0


class Row:
    def __init__(self, side, key, dtype):
        setup, self.statement = side.rows[key]
        self.side, self.key, self.repeat = side, key, 1
        with side.mode(key):
            self.names = setup(dtype)
        self.timer = timeit.Timer(self.statement, globals=self.names)

    def check(self):
        with self.side.mode(self.key):
            if self.key == ("W7", "create") or self.statement == MEASURE:
                return "ok\t0\t0"  # elements are undefined, or there are none
            result = eval(self.statement, self.names)
            count, total, flat = self.side.digest(result)
        at = [k * 2654435761 % count for k in range(min(count, SAMPLES))]
        return "\t".join(["ok", str(count), repr(total)] + [repr(float(flat[i])) for i in at])

    def block(self):
        least = BLOCK.get(self.key[0], 3e-3)
        if self.statement == MEASURE:
            return "ns\t%r" % eval(self.statement, self.names)
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
