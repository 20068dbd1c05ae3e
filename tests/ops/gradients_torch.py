"""Writes tests/data/gradients_torch_2.15.txt: values, gradients and second gradients of products, reductions, softmax
and losses, and steps of optimizers, as PyTorch computes them. Read by tests/ops/test_losses.c.

    python tests/ops/gradients_torch.py >tests/data/gradients_torch_2.15.txt

A case is `case NAME`, then a line an argument: `x DTYPE NDIM SIZES VALUES` (a tensor that requires a gradient), `t` (one
that does not), `s NUMBER`, `i INTEGER`, `w WORD`, `l N INTEGERS`, `b 0|1`, `-` (left off); then `out`, and for each tensor
that requires a gradient `grad` and, where the second one is not zero, `second`, as tensors. With w_i = ((5 i + 1) mod 7 - 3) / 4
and u_i = ((7 i + 3) mod 5 - 2) / 4 the gradients are those of sum w y, the second ones those of sum over inputs of u grad. """
import sys
import torch
import torch.nn.functional as F

torch.manual_seed(5)
D = torch.float64


def text(t):
    t = t.detach()
    if t._is_zerotensor():
        t = torch.zeros(t.shape, dtype=t.dtype)
    sizes = " ".join(map(str, t.shape))
    values = " ".join(repr(v) if t.dtype == D else str(v) if t.dtype == torch.int64 else "%.9g" % v
                      for v in t.reshape(-1).tolist())
    return " ".join(p for p in (str(t.dtype)[6:], str(t.dim()), sizes, values) if p)


def weights(t, a, b, m):
    i = torch.arange(t.numel(), dtype=t.dtype)
    return (((a * i + b) % m - m // 2) / 4).reshape(t.shape)


def case(name, f, args):
    print("case", name)
    inputs = []
    for a in args:
        if isinstance(a, torch.Tensor):
            print("x" if a.requires_grad else "t", text(a))
            if a.requires_grad:
                inputs.append(a)
        elif a is None:
            print("-")
        elif isinstance(a, bool):
            print("b", int(a))
        elif isinstance(a, int):
            print("i", a)
        elif isinstance(a, float):
            print("s", repr(a))
        elif isinstance(a, str):
            print("w", a)
        else:
            print("l", len(a), *a)
    y = f(*args)
    print("out", text(y))
    if not inputs:
        return
    grads = torch.autograd.grad((y * weights(y, 5, 1, 7)).sum(), inputs, create_graph=True)
    for g in grads:
        print("grad", text(g))
    total = sum((g * weights(g, 7, 3, 5)).sum() for g in grads)
    seconds = torch.autograd.grad(total, inputs, allow_unused=True) if total.requires_grad else [None] * len(inputs)
    for x, s in zip(inputs, seconds):
        print("second", text(torch.zeros_like(x) if s is None else s))


def r(*sizes, grad=True, dtype=D, low=-2.0, high=2.0):
    return (torch.rand(sizes, dtype=D) * (high - low) + low).to(dtype).requires_grad_(grad)


for a, b in (((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (4,)),
             ((4,), (2, 4, 3)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((3, 4), (2, 4, 5))):
    case("matmul", torch.matmul, (r(*a), r(*b)))
case("matmul", torch.matmul, (r(3, 4, grad=False), r(4, 5)))
for x, w, b in (((5, 3), (4, 3), (4,)), ((5, 3), (4, 3), None), ((3,), (4, 3), (4,)), ((2, 5, 3), (4, 3), (4,)),
                ((3,), (3,), None), ((5, 3), (3,), None), ((2, 5, 3), (3,), None), ((5, 3), (4, 3), (1,)),
                ((5, 3), (4, 3), (5, 1)), ((2, 5, 3), (4, 3), None)):
    case("linear", F.linear, (r(*x), r(*w), None if b is None else r(*b)))
case("sum", lambda x, d, k: x.sum(d, k), (r(2, 3, 4), (0, 2), False))
case("mean", lambda x, d, k: x.mean(d, k), (r(2, 3, 4), (1,), True))
case("mean", lambda x: x.mean(), (r(2, 3),))
tied = torch.tensor([[1.0, 3, 3], [2, 2, 2]], dtype=D, requires_grad=True)
case("amax", lambda x, d: x.amax(d), (tied, (1,)))
case("amin", lambda x, d: x.amin(d), (tied, (0,)))
case("max", lambda x: x.max(), (tied,))
case("min", lambda x: x.min(), (tied,))
case("max", lambda x: x.max(), (torch.tensor([1.0, float("nan"), 2, float("nan")], dtype=D, requires_grad=True),))
case("amax", lambda x: x.amax(), (torch.tensor([1.0, float("nan"), 2], dtype=D, requires_grad=True),))
for dtype in (D, torch.float32):
    for shape, dim in (((3, 4), 1), ((3, 4), 0), ((2, 3, 5), 1), ((), 0)):
        case("softmax", lambda x, d: x.softmax(d), (r(*shape, dtype=dtype), dim))
        case("log_softmax", lambda x, d: x.log_softmax(d), (r(*shape, dtype=dtype), dim))
inf = float("inf")
case("softmax", lambda x, d: x.softmax(d), (torch.tensor([[1.0, -inf], [inf, 1], [-inf, -inf]], dtype=D), 1))
case("log_softmax", lambda x, d: x.log_softmax(d), (torch.tensor([[1.0, -inf], [inf, 1], [-inf, -inf]], dtype=D), 1))

for dtype in (D, torch.float32):
    for word in ("mean", "sum", "none"):
        case("mse_loss", lambda x, t, w: F.mse_loss(x, t, reduction=w), (r(3, 4, dtype=dtype), r(3, 4, dtype=dtype), word))
        case("l1_loss", lambda x, t, w: F.l1_loss(x, t, reduction=w), (r(3, 4, dtype=dtype), r(3, 4, dtype=dtype), word))
        case("smooth_l1_loss", lambda x, t, w, b: F.smooth_l1_loss(x, t, reduction=w, beta=b),
             (r(3, 4, dtype=dtype), r(3, 4, dtype=dtype), word, 0.7))
        case("huber_loss", lambda x, t, d, w: F.huber_loss(x, t, delta=d, reduction=w),
             (r(3, 4, dtype=dtype), r(3, 4, dtype=dtype), 0.7, word))
        p = r(3, 4, dtype=dtype, low=0.05, high=0.95)
        case("bce_loss", lambda x, t, w: F.binary_cross_entropy(x, t, reduction=w),
             (p, r(3, 4, dtype=dtype, low=0, high=1, grad=False), word))
        case("bce_loss", lambda x, t, w, v: F.binary_cross_entropy(x, t, weight=v, reduction=w),
             (p, r(3, 4, dtype=dtype, low=0, high=1, grad=False), word, r(4, dtype=dtype, grad=False)))
        case("bce_with_logits", lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, reduction=w),
             (r(3, 4, dtype=dtype, low=-9, high=9), r(3, 4, dtype=dtype, low=0, high=1), word))
        case("bce_with_logits", lambda x, t, w, p, v: F.binary_cross_entropy_with_logits(x, t, v, reduction=w, pos_weight=p),
             (r(3, 4, dtype=dtype), r(3, 4, dtype=dtype, low=0, high=1, grad=False), word,
              r(4, dtype=dtype, low=0.5, grad=False), r(3, 1, dtype=dtype, grad=False)))
x = r(2, 3)
case("mse_loss", lambda x, t, w: F.mse_loss(*torch.broadcast_tensors(x, t), reduction=w), (r(3, 1), r(1, 4), "mean"))
case("smooth_l1_loss", lambda x, t, w, b: F.smooth_l1_loss(x, t, reduction=w, beta=b), (r(3), r(3), "sum", 0.0))
case("mse_loss", lambda x, t: F.mse_loss(x, t), (torch.zeros(0, 3, dtype=D), torch.zeros(0, 3, dtype=D)))
case("mse_loss", lambda x, t, w: F.mse_loss(x, t, reduction=w), (torch.zeros(0, 3, dtype=D), torch.zeros(0, 3, dtype=D), "sum"))
case("bce_loss", lambda x, t, w: F.binary_cross_entropy(x, t, reduction=w),
     (torch.tensor([0.0, 1, 0, 1], dtype=D, requires_grad=True), torch.tensor([0.0, 0, 1, 1], dtype=D), "none"))
case("bce_with_logits", lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, reduction=w),
     (torch.tensor([-inf, inf, float("nan"), 700, -700], dtype=D), torch.tensor([0.5, 1, 1, 0, 1], dtype=D), "none"))

case("norm", lambda x: x.norm(), (r(3, 4),))
case("norm", lambda x: x.norm(), (r(5, dtype=torch.float32),))
case("dot", torch.dot, (r(4), r(4)))
case("mv", torch.mv, (r(3, 4), r(4)))
case("mm", torch.mm, (r(3, 4), r(4, 2)))
case("bmm", torch.bmm, (r(2, 3, 4), r(2, 4, 2)))
case("outer", torch.outer, (r(3), r(4)))
case("addmm", lambda c, a, b, beta, alpha: torch.addmm(c, a, b, beta=beta, alpha=alpha), (r(2), r(3, 4), r(4, 2), 0.5, 2.0))
case("var", lambda x, d, u, k: x.var(d, u, k), (r(3, 4), (1,), False, True))
case("var", lambda x: x.var(), (r(3, 4),))
case("std", lambda x, d: x.std(d), (r(3, 4), (0,)))
case("logsumexp", lambda x, d, k: x.logsumexp(d, k), (r(3, 4), (1,), False))
case("logsumexp", lambda x, d: x.logsumexp(d), (torch.tensor([[1.0, -inf], [inf, 1], [-inf, -inf]], dtype=D), (1,)))
for keep in (False, True):
    case("logsumexp", lambda x, d, k: x.logsumexp(d, k), (r(2, 3, 4), (0, 2), keep))

t5 = torch.tensor([2, 0, 1, 1, -100])
t24 = torch.tensor([[0, 2, 1, 0], [2, 2, 0, 1]])
weight = torch.tensor([0.5, 2.0, 1.5], dtype=D)
for word in ("mean", "sum", "none"):
    case("nll_loss", lambda x, t, w: F.nll_loss(x, t, reduction=w), (r(5, 3), t5, word))
    case("nll_loss", lambda x, t, w, i: F.nll_loss(x, t, reduction=w, ignore_index=i), (r(2, 3, 4), t24, word, 1))
    case("nll_loss", lambda x, t, w, i, v: F.nll_loss(x, t, reduction=w, ignore_index=i, weight=v),
         (r(5, 3), t5, word, -100, weight))
    case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t, reduction=w), (r(5, 3), t5, word))
    case("cross_entropy", lambda x, t, w, s: F.cross_entropy(x, t, reduction=w, label_smoothing=s), (r(5, 3), t5, word, 0.1))
    case("cross_entropy", lambda x, t, w, s, i, v: F.cross_entropy(x, t, v, reduction=w, label_smoothing=s, ignore_index=i),
         (r(2, 3, 4), t24, word, 0.2, 1, weight))
    case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t, reduction=w), (r(2, 3, 4), r(2, 3, 4, low=0), word))
    case("cross_entropy", lambda x, t, w, s, i, v: F.cross_entropy(x, t, v, reduction=w, label_smoothing=s),
         (r(5, 3), r(5, 3, low=0), word, 0.3, None, weight))
case("nll_loss", lambda x, t: F.nll_loss(x, t), (r(3), torch.tensor(1)))
case("cross_entropy", lambda x, t: F.cross_entropy(x, t), (r(3), torch.tensor(1)))
case("nll_loss", lambda x, t: F.nll_loss(x, t), (r(2, 3), torch.tensor([-100, -100])))
case("nll_loss", lambda x, t, w: F.nll_loss(x, t, reduction=w), (r(2, 3), torch.tensor([-100, -100]), "sum"))


def optimizer(name, make, dtype, n, steps, options):
    """steps of an optimizer over n elements: the gradients, then parameter and state after each step."""
    print("steps", name, str(dtype)[6:], n, steps, *(repr(float(o)) for o in options))
    p = torch.nn.Parameter(r(n, grad=False, dtype=dtype))
    print("t", text(p))
    opt = make(p)
    for _ in range(steps):
        p.grad = r(n, grad=False, dtype=dtype)
        print("t", text(p.grad))
        opt.step()
        print("t", text(p))


sgd = dict(lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False)
for dtype in (D, torch.float32):
    for o in ({}, dict(momentum=0.9), dict(momentum=0.9, dampening=0.3, weight_decay=0.01), dict(weight_decay=0.02),
              dict(momentum=0.8, nesterov=True), dict(maximize=True, momentum=0.5)):
        o = {**sgd, **o}
        optimizer("sgd", lambda p: torch.optim.SGD([p], foreach=False, **o), dtype, 37, 4, o.values())
    for o in ({}, dict(amsgrad=True), dict(weight_decay=0.01), dict(weight_decay=0.01, decoupled=True),
              dict(maximize=True, beta1=0.4)):
        o = {**dict(lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0, amsgrad=False, decoupled=False,
                    maximize=False), **o}
        cls = torch.optim.AdamW if o["decoupled"] else torch.optim.Adam
        optimizer("adam", lambda p: cls([p], lr=o["lr"], betas=(o["beta1"], o["beta2"]), eps=o["eps"],
                                        weight_decay=o["weight_decay"], amsgrad=o["amsgrad"], maximize=o["maximize"],
                                        foreach=False), dtype, 37, 5, o.values())
print("end", file=sys.stdout)
