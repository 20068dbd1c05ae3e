"""Writes tests/data/runs_torch_2.15.txt: 25 steps of training in float64 for each optimizer, schedule, loss, clipping and
activation with their options, as PyTorch takes them. Replayed by tests/train/test_runs.c.

    python tests/train/generate_runs.py >tests/data/runs_torch_2.15.txt

Words and numbers, anything to the end of a line after # apart. `x`, `y`, `classes` and `probabilities` are the data, each
with its number of values. A run is

    run NAME
    net OUTPUTS ACTIVATION          Linear(3, 4), ACTIVATION, Linear(4, OUTPUTS)
    weights N VALUES                of all parameters, in order
    optimizer KIND N OPTION VALUE ...
    schedule KIND N VALUES          left off: none
    clip norm MAX P | clip value V  left off: none
    loss NAME N OPTION VALUE ...
    losses 25 VALUES                before each step
    rates 25 VALUES                 after each step of the schedule, with a schedule
    norms 25 VALUES                 with clip norm
    first N VALUES                  parameters after the first step
    last N VALUES                   and after the last

A plateau's metric is that step's loss."""
import math

import torch
from torch import nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
torch.manual_seed(7)
STEPS, SAMPLES = 25, 12
x = torch.randn(SAMPLES, 3)
y = torch.randn(SAMPLES, 1)
binary = (y > 0).double()
classes = torch.randint(0, 3, (SAMPLES,))
probabilities = F.softmax(torch.randn(SAMPLES, 3), 1)

ACTIVATIONS = {"relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "silu": F.silu, "gelu": F.gelu,
               "gelu_tanh": lambda v: F.gelu(v, approximate="tanh"), "softplus": F.softplus,
               "softplus_beta": lambda v: F.softplus(v, 2.0, 1.5), "leaky_relu": lambda v: F.leaky_relu(v, 0.01),
               "leaky_relu_steep": lambda v: F.leaky_relu(v, 0.3), "softmax": lambda v: F.softmax(v, 1),
               "log_softmax": lambda v: F.log_softmax(v, 1)}
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW,
              "rmsprop": torch.optim.RMSprop, "lbfgs": torch.optim.LBFGS}
REDUCTIONS = ["mean", "sum", "none"]
S = torch.optim.lr_scheduler


def numbers(values):
    values = [float(v) for v in values]
    return " ".join([str(len(values))] + [repr(v) for v in values])


def flat(net):
    return torch.cat([p.detach().reshape(-1) for p in net])


def pairs(options):
    return " ".join([str(len(options))] + [f"{k} {float(v)!r}" for k, v in options.items()])


def loss_of(name, options, out):
    """The loss of a net's outputs; a reduction of none is summed up with weights 1, 2, 3, ..."""
    o = dict(options)
    reduction = REDUCTIONS[int(o.pop("reduction", 0))]
    weight = torch.tensor([0.5, 1.5, 1.0]) if o.pop("weighted", 0) else None
    if name in ("mse", "l1", "smooth_l1", "huber"):
        f = {"mse": F.mse_loss, "l1": F.l1_loss, "smooth_l1": F.smooth_l1_loss, "huber": F.huber_loss}[name]
        loss = f(out, y, reduction=reduction, **o)
    elif name == "bce":
        w = None if weight is None else 0.5 + binary
        loss = F.binary_cross_entropy(torch.sigmoid(out), binary, w, reduction=reduction)
    elif name == "bce_with_logits":
        w = None if weight is None else 0.5 + binary
        p = torch.tensor([o["pos_weight"]]) if "pos_weight" in o else None
        loss = F.binary_cross_entropy_with_logits(out, binary, w, pos_weight=p, reduction=reduction)
    elif name == "nll":
        loss = F.nll_loss(F.log_softmax(out, 1), classes, weight, ignore_index=int(o.get("ignore_index", -100)),
                          reduction=reduction)
    else:
        target = probabilities if o.get("probabilities") else classes
        loss = F.cross_entropy(out, target, weight, ignore_index=int(o.get("ignore_index", -100)), reduction=reduction,
                               label_smoothing=o.get("label_smoothing", 0.0))
    if loss.dim() > 0:
        loss = (loss.reshape(-1) * torch.arange(1.0, loss.numel() + 1)).sum()
    return loss


def make_optimizer(kind, options, net):
    o = dict(options)
    for name in ("nesterov", "maximize", "amsgrad", "centered"):
        if name in o:
            o[name] = bool(o[name])
    if "beta1" in o or "beta2" in o:
        o["betas"] = (o.pop("beta1", 0.9), o.pop("beta2", 0.999))
    if o.pop("strong_wolfe", 0):
        o["line_search_fn"] = "strong_wolfe"
    return OPTIMIZERS[kind](net, **o)


def make_schedule(spec, optimizer):
    kind, v = spec[0], spec[1:]
    if kind == "step":
        return S.StepLR(optimizer, v[0], v[1])
    if kind == "multi_step":
        return S.MultiStepLR(optimizer, v[1:], v[0])
    if kind == "exponential":
        return S.ExponentialLR(optimizer, v[0])
    if kind == "cosine_annealing":
        return S.CosineAnnealingLR(optimizer, v[0], v[1])
    if kind == "linear":
        return S.LinearLR(optimizer, v[0], v[1], v[2])
    if kind == "warmup_cosine":
        return S.SequentialLR(optimizer, [S.LinearLR(optimizer, v[0], 1.0, v[1]),
                                          S.CosineAnnealingLR(optimizer, v[2], v[3])], [v[1]])
    if kind == "warmup_step_exponential":
        return S.SequentialLR(optimizer, [S.LinearLR(optimizer, v[0], 1.0, v[1]), S.StepLR(optimizer, 2, 0.5),
                                          S.ExponentialLR(optimizer, 0.9)], [v[1], v[2]])
    return S.ReduceLROnPlateau(optimizer, ["min", "max"][int(v[0])], v[1], int(v[2]), v[3], ["rel", "abs"][int(v[4])],
                               int(v[5]), v[6], v[7])


def run(name, optimizer=("sgd", {"lr": 0.1}), schedule=None, clip=None, loss=("mse", {}), outputs=1,
        activation="tanh"):
    net = [torch.randn(4, 3) * 0.6, torch.randn(4) * 0.2, torch.randn(outputs, 4) * 0.5, torch.randn(outputs) * 0.2]
    for p in net:
        p.requires_grad_(True)
    print("run", name)
    print("net", outputs, activation)
    print("weights", numbers(flat(net)))
    print("optimizer", optimizer[0], pairs(optimizer[1]))
    opt = make_optimizer(optimizer[0], optimizer[1], net)
    rate = make_schedule(schedule, opt) if schedule else None
    if schedule:
        print("schedule", schedule[0], numbers(schedule[1:]))
    if clip:
        print("clip", clip[0], *[repr(float(v)) for v in clip[1:]])
    print("loss", loss[0], pairs(loss[1]))
    losses, rates, norms, first = [], [], [], None

    def closure():
        opt.zero_grad()
        hidden = ACTIVATIONS[activation](F.linear(x, net[0], net[1]))
        value = loss_of(loss[0], loss[1], F.linear(hidden, net[2], net[3]))
        value.backward()
        return value
    for _ in range(STEPS):
        if optimizer[0] == "lbfgs":
            value = opt.step(closure)
        else:
            value = closure()
            if clip and clip[0] == "norm":
                norms.append(nn.utils.clip_grad_norm_(net, clip[1], clip[2]).item())
            elif clip:
                nn.utils.clip_grad_value_(net, clip[1])
            opt.step()
        losses.append(value.item())
        if rate is not None:
            rate.step(*([value.item()] if schedule[0] == "plateau" else []))
            rates.append(opt.param_groups[0]["lr"])
        first = flat(net) if first is None else first
    print("losses", numbers(losses))
    if rate is not None:
        print("rates", numbers(rates))
    if norms:
        print("norms", numbers(norms))
    print("first", numbers(first))
    print("last", numbers(flat(net)))


def optimizers():
    for i, o in enumerate([{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.05, "momentum": 0.8, "dampening": 0.3},
                           {"lr": 0.05, "momentum": 0.9, "nesterov": 1}, {"lr": 0.1, "weight_decay": 0.1},
                           {"lr": 0.05, "momentum": 0.9, "nesterov": 1, "weight_decay": 0.01},
                           {"lr": 0.001, "momentum": 0.5, "maximize": 1}]):
        run(f"sgd_{i}", optimizer=("sgd", o))
    adam = [{"lr": 0.05}, {"lr": 0.05, "beta1": 0.8, "beta2": 0.95}, {"lr": 0.05, "eps": 0.01},
            {"lr": 0.05, "weight_decay": 0.1}, {"lr": 0.2, "amsgrad": 1}, {"lr": 0.01, "maximize": 1},
            {"lr": 0.1, "amsgrad": 1, "weight_decay": 0.05, "beta1": 0.4}]
    for kind in ("adam", "adamw"):
        for i, o in enumerate(adam):
            run(f"{kind}_{i}", optimizer=(kind, o))
    for i, o in enumerate([{"lr": 0.01}, {"lr": 0.01, "alpha": 0.9}, {"lr": 0.01, "alpha": 0.3}, {"lr": 0.01, "eps": 0.1},
                           {"lr": 0.01, "centered": 1}, {"lr": 0.01, "centered": 1, "alpha": 0.4},
                           {"lr": 0.01, "momentum": 0.9}, {"lr": 0.01, "weight_decay": 0.1},
                           {"lr": 0.01, "centered": 1, "momentum": 0.8, "weight_decay": 0.01},
                           {"lr": 0.001, "maximize": 1}]):
        run(f"rmsprop_{i}", optimizer=("rmsprop", o))
    for i, o in enumerate([{"lr": 0.1, "max_iter": 1}, {"lr": 0.2, "max_iter": 2, "history_size": 3},
                           {"lr": 1, "max_iter": 1, "strong_wolfe": 1},
                           {"lr": 0.5, "max_iter": 1, "max_eval": 3, "strong_wolfe": 1, "history_size": 3},
                           {"lr": 0.5, "max_iter": 2, "max_eval": 3, "tolerance_grad": 1e-3},
                           {"lr": 0.5, "max_iter": 3, "tolerance_change": 1e-2}]):
        run(f"lbfgs_{i}", optimizer=("lbfgs", o))


def schedules():
    for i, s in enumerate([("step", 5, 0.5), ("step", 1, 0.9), ("step", 30, 0.1), ("multi_step", 0.3, 3, 9, 9, 20),
                           ("exponential", 0.93), ("cosine_annealing", 25, 0.0), ("cosine_annealing", 7, 0.01),
                           ("linear", 0.1, 1.0, 8), ("linear", 1.0, 0.2, 20), ("linear", 1 / 3, 0.5, 1),
                           ("warmup_cosine", 0.1, 5, 20, 0.001), ("warmup_step_exponential", 0.25, 4, 11),
                           ("plateau", 0, 0.5, 1, 0.05, 0, 0, 0.0, 1e-8), ("plateau", 0, 0.5, 2, 0.01, 1, 3, 0.02, 1e-8),
                           ("plateau", 1, 0.7, 0, 1e-4, 0, 2, 0.0, 1e-8), ("plateau", 1, 0.1, 2, 0.05, 1, 0, 0.0, 1e-2)]):
        run(f"schedule_{i}_{s[0]}", schedule=s, optimizer=("sgd", {"lr": 0.1, "momentum": 0.5}))
    run("schedule_adam", schedule=("cosine_annealing", 20, 0.0), optimizer=("adam", {"lr": 0.1}))


def clips():
    for i, c in enumerate([("norm", 0.5, 2), ("norm", 0.5, 1), ("norm", 0.2, math.inf), ("norm", 0.5, 3),
                           ("norm", 100, 2), ("norm", 0.1, 0.5), ("value", 0.1), ("value", 0.01)]):
        run(f"clip_{i}_{c[0]}", clip=c)


def losses():
    for reduction in range(3):
        few = {"lr": [0.1, 0.02, 0.002][reduction]}
        r = {"reduction": reduction}
        for name, o in [("mse", {}), ("l1", {}), ("smooth_l1", {"beta": 0.4}), ("huber", {"delta": 0.7}), ("bce", {}),
                        ("bce", {"weighted": 1}), ("bce_with_logits", {}), ("bce_with_logits", {"pos_weight": 2.5}),
                        ("bce_with_logits", {"weighted": 1, "pos_weight": 0.3})]:
            run("_".join([name, REDUCTIONS[reduction], *o]), loss=(name, {**r, **o}), optimizer=("sgd", few))
        for name, o in [("nll", {}), ("nll", {"weighted": 1}), ("nll", {"ignore_index": 1}), ("cross_entropy", {}),
                        ("cross_entropy", {"weighted": 1}), ("cross_entropy", {"ignore_index": 1}),
                        ("cross_entropy", {"label_smoothing": 0.1}),
                        ("cross_entropy", {"label_smoothing": 0.2, "weighted": 1, "ignore_index": 2}),
                        ("cross_entropy", {"probabilities": 1}),
                        ("cross_entropy", {"probabilities": 1, "label_smoothing": 0.1, "weighted": 1})]:
            run("_".join([name, REDUCTIONS[reduction], *o]), loss=(name, {**r, **o}), optimizer=("sgd", few), outputs=3)
    run("smooth_l1_zero", loss=("smooth_l1", {"beta": 0.0}))


def activations():
    for name in ACTIVATIONS:
        run("activation_" + name, activation=name, optimizer=("adam", {"lr": 0.05}))


if __name__ == "__main__":
    print(f"# PyTorch {torch.__version__.split('+')[0]}, {torch.backends.cpu.get_cpu_capability()}, 1 thread: "
          "tests/train/generate_runs.py")
    for name, values in (("x", x), ("y", y), ("classes", classes), ("probabilities", probabilities)):
        print(name, numbers(values.reshape(-1)))
    optimizers()
    schedules()
    clips()
    losses()
    activations()
    print("end")
