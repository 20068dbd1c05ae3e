"""Writes tests/data/derivative_edges_torch_2.15.txt: gradients at ties, zeros, infinities and NaN, in float64.

A line: operator, number of operands, n, then n values an operand and n gradients an operand, all in hex."""
import math

import torch

nan, inf = math.nan, math.inf
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, inf, -inf, nan, 1e300, 1e-300, 20.0, 25.0, -1e-310]
UNARY = ["neg", "abs", "relu", "exp", "log", "sigmoid", "tanh", "sqrt", "reciprocal", "rsqrt", "sin", "cos", "log1p",
         "expm1", "erf", "square", "sign", "sgn", "floor", "ceil", "round", "trunc", "softplus", "silu", "leaky_relu",
         "log2"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "fmod", "remainder"]
FUNCTIONAL = {"softplus", "silu", "leaky_relu"}


def line(name, operands):
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in operands]
    f = getattr(torch.nn.functional if name in FUNCTIONAL else torch, name)
    grads = torch.autograd.grad(f(*leaves).sum(), leaves)
    numbers = [x for v in operands for x in v] + [x for g in grads for x in torch.clone(g).tolist()]
    print(name, len(operands), len(operands[0]), *[float(x).hex() for x in numbers])


print(f"# PyTorch {torch.__version__}; written by tests/ops/derivative_edges.py")
for name in UNARY:
    line(name, [POINTS])
few = [0.0, -0.0, 1.0, -2.0, inf, -inf, nan]
for name in BINARY:
    line(name, [[a for a in few for _ in few], [b for _ in few for b in few]])
