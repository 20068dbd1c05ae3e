"""Every module beside torch.nn's, over random inputs: names of parameters and buffers, what print shows, results and
gradients in training and in eval, running statistics, what is refused; the values that initialisation draws; losses.

    python test_modules.py [SEED]     0 unless given"""

import ctypes as c
import io
import random
import sys
import warnings

import tenon

try:
    warnings.simplefilter("ignore")
    import torch
    from torch import nn
except ImportError:
    tenon.skip(f"{sys.executable} has no torch")

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
P, I, D, B = c.c_void_p, c.c_int64, c.c_double, c.c_bool
DTYPES = {getattr(torch, name): number for name, number in tenon.DTYPES.items() if hasattr(torch, name)}
NUMBERS = {number: dtype for dtype, number in DTYPES.items()}


def options(*fields):
    return type("Options", (c.Structure,), {"_fields_": [(name, kind) for kind, names in fields for name in names]})


BatchNorm = options((D, ["eps", "momentum"]), (B, ["cumulative", "no_affine", "no_bias", "no_running_stats"]))
LayerNorm = options((D, ["eps"]), (B, ["no_affine", "no_bias"]))
Embedding = options((B, ["pad"]), (I, ["padding_idx"]), (D, ["max_norm", "norm_type"]))
CrossEntropy = options((c.c_int, ["reduction"]), (D, ["label_smoothing"]), (B, ["ignore"]), (I, ["ignore_index"]),
                       (P, ["weight"]))
GradMode = options((B, ["enabled", "inference"]))
Writer = c.CFUNCTYPE(c.c_int, P, P, c.c_size_t)

ARGUMENTS = {
    "linear": (I, I, B, c.c_int), "leaky_relu": (D,), "gelu": (B,), "softplus": (D, D), "softmax": (c.c_int,),
    "log_softmax": (c.c_int,), "relu": (), "sigmoid": (), "tanh": (), "silu": (), "dropout": (D, P),
    "batch_norm1d": (I, P, c.c_int), "layer_norm": (tenon.sizes_type, c.c_int, P, c.c_int),
    "embedding": (I, I, P, c.c_int), "flatten": (c.c_int, c.c_int), "mse_loss": (c.c_int,), "l1_loss": (c.c_int,),
    "smooth_l1_loss": (D, c.c_int), "kl_div": (B, c.c_int), "poisson_nll_loss": (B, B, D, c.c_int),
    "huber_loss": (D, c.c_int), "bce_loss": (P, c.c_int),
    "bce_with_logits": (P, P, c.c_int), "nll_loss": (P, I, c.c_int), "cross_entropy": (P,)}
make = {name: tenon.declare(f"tn_{name}_module", P, *arguments) for name, arguments in ARGUMENTS.items()}
call = {name: tenon.declare("tn_" + name, result, *arguments) for name, result, *arguments in (
    ("forward", P, P, P), ("forward_loss", P, P, P, P), ("from_array", P, P, tenon.sizes_type, c.c_int, c.c_int),
    ("contiguous", P, P), ("detach", P, P), ("parameter_count", I, P), ("buffer_count", I, P), ("parameter", P, P, I),
    ("buffer", P, P, I), ("parameter_name", c.c_int, P, I, c.c_char_p, c.c_size_t), ("grad_of", P, P),
    ("buffer_name", c.c_int, P, I, c.c_char_p, c.c_size_t), ("copy_", c.c_int, P, P), ("requires_grad_", c.c_int, P, B),
    ("backward_with", c.c_int, P, P, P), ("module_train", c.c_int, P, B), ("no_grad", GradMode), ("sequential", P),
    ("grad_mode_restore", None, GradMode), ("torch_manual_seed", None, P, c.c_uint64), ("set_grad", c.c_int, P, P),
    ("sequential_append", c.c_int, P, P), ("init_torch", c.c_int, P, P, B), ("module_write", c.c_int, P, Writer, P))}
generator = c.create_string_buffer(8192)


def put(t):
    t = t.detach().contiguous()
    return call["from_array"](t.data_ptr() if t.numel() else None, tenon.ints(t.shape), t.dim(), DTYPES[t.dtype])


def get(x):
    x = call["contiguous"](call["detach"](x))
    out = torch.empty(tenon.shape_of(x), dtype=NUMBERS[tenon.dtype(x)])
    if out.numel():
        c.memmove(out.data_ptr(), tenon.data(x), out.numel() * out.element_size())
    return out


def shown(module):
    text = io.BytesIO()
    assert call["module_write"](module, Writer(lambda _, at, n: text.write(c.string_at(at, n)) != n), None) == tenon.OK
    return text.getvalue().decode()


def names(module, kind):
    found = []
    for i in range(call[kind + "_count"](module)):
        name = c.create_string_buffer(64)
        call[kind + "_name"](module, i, name, 64)
        found.append(name.value.decode())
    return found


def close(what, ours, theirs, slack=1):
    theirs = theirs.detach()
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (what, ours, theirs)
    if not theirs.is_floating_point():
        assert torch.equal(ours, theirs), (what, ours, theirs)
        return
    tolerance = slack * (1e-11 if theirs.dtype == torch.float64 else 2e-5)
    assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True), (what, ours, theirs)


def result_of(function):
    try:
        return function()
    except Exception:
        return None


def step(what, theirs, ours, x, seed):
    """Forward and backward once; False where both refuse."""
    t, u = x.clone(), put(x)
    if x.is_floating_point():
        t.requires_grad_()
        call["requires_grad_"](u, True)
    torch.manual_seed(seed)
    call["torch_manual_seed"](generator, seed)
    y, z = result_of(lambda: theirs(t)), call["forward"](ours, u)
    message = tenon.status()[1]
    assert (y is None) == (not z), (what, y, message)
    if y is None:
        return False
    close(what, get(z), y)
    if not y.requires_grad:
        return True
    gradient = torch.randn(y.shape, dtype=y.dtype)
    y.backward(gradient)
    assert call["backward_with"](z, put(gradient), None) == tenon.OK, (what, tenon.status())
    if x.is_floating_point():
        close(what + ": gradient of x", get(call["grad_of"](u)), t.grad, 10)
    for i, (name, p) in enumerate(theirs.named_parameters()):
        close(f"{what}: gradient of {name}", get(call["grad_of"](call["parameter"](ours, i))), p.grad, 20)
        p.grad = None
        call["set_grad"](call["parameter"](ours, i), None)
    return True


def beside(theirs, ours, x, seed=0):
    what = f"{theirs} of {tuple(x.shape)} {x.dtype}"
    assert ours, (what, tenon.status())
    assert names(ours, "parameter") == [name for name, _ in theirs.named_parameters()], what
    assert names(ours, "buffer") == [name for name, _ in theirs.named_buffers()], what
    assert shown(ours) == str(theirs), (shown(ours), str(theirs))
    mode = call["no_grad"]()
    for i, p in enumerate(theirs.parameters()):
        p.data.copy_(torch.randn_like(p))
        call["copy_"](call["parameter"](ours, i), put(p))
    call["grad_mode_restore"](mode)
    for training in (True, True, False):
        theirs.train(training)
        call["module_train"](ours, training)
        if not step(f"{what}, {'training' if training else 'eval'}", theirs, ours, x, seed):
            return  # torch may have counted the batch
        for i, (name, b) in enumerate(theirs.named_buffers()):
            close(f"{what}: {name}", get(call["buffer"](ours, i)), b)
    for i, p in enumerate(theirs.parameters()):
        close(f"{what}: parameter {i}", get(call["parameter"](ours, i)), p)


def other(dtype):
    return torch.float32 if dtype == torch.float64 else torch.float64


def each(rounds):
    draw = random.Random(SEED)
    torch.manual_seed(SEED)
    for turn in range(rounds):
        for dtype in (torch.float32, torch.float64):
            with tenon.Scope():
                yield turn, draw, dtype, DTYPES[dtype]


def linear():
    for _, draw, dtype, number in each(6):
        i, o, bias = draw.randint(1, 6), draw.randint(1, 6), draw.random() < 0.5
        shapes = [i], [0, i], [3, i], [2, 3, i], [], [2, i + 1]
        for x in [torch.randn(s, dtype=dtype) for s in shapes] + [torch.randn(2, i, dtype=other(dtype))]:
            beside(nn.Linear(i, o, bias, dtype=dtype), make["linear"](i, o, bias, number), x)


def activations():
    for _, draw, dtype, _ in each(3):
        for shape in ([], [0, 3], [5], [4, 3], [2, 3, 4]):
            x = torch.randn(shape, dtype=dtype) * 4
            for theirs, ours in (
                    (nn.ReLU(), make["relu"]()), (nn.Sigmoid(), make["sigmoid"]()), (nn.Tanh(), make["tanh"]()),
                    (nn.SiLU(), make["silu"]()), (nn.LeakyReLU(0.2), make["leaky_relu"](0.2)),
                    (nn.GELU(), make["gelu"](False)), (nn.GELU("tanh"), make["gelu"](True)),
                    (nn.Softplus(1.5, 3.0), make["softplus"](1.5, 3)), (nn.Softmax(-1), make["softmax"](-1)),
                    (nn.Softmax(1), make["softmax"](1)), (nn.LogSoftmax(0), make["log_softmax"](0)),
                    (nn.Flatten(), make["flatten"](1, -1)), (nn.Flatten(0), make["flatten"](0, -1)),
                    (nn.Flatten(1, 2), make["flatten"](1, 2)), (nn.Flatten(2, 1), make["flatten"](2, 1))):
                beside(theirs, ours, x)


def dropout():
    for turn, draw, dtype, _ in each(6):
        call["torch_manual_seed"](generator, turn)
        for p in (0.0, 0.3, 1.0):
            for x in (torch.randn(draw.randint(1, 40), 3, dtype=dtype), torch.ones(3, dtype=torch.int64)):
                beside(nn.Dropout(p), make["dropout"](p, generator), x, seed=turn)


def batch_norm():
    for _, draw, dtype, number in each(15):
        f, affine, bias, stats = draw.randint(2, 4), *(draw.random() < 0.7 for _ in range(3))
        momentum, eps = draw.choice([0.1, 0.5, 1.0, None]), draw.choice([1e-5, 1e-2])
        asked = BatchNorm(eps, momentum or 0, momentum is None, not affine, not bias, not stats)
        shapes = ([draw.randint(2, 6), f], [1, f], [1, f, 3], [3, f, 2], [0, f], [2, f, 0], [f], [2, f, 2, 2],
                  [1, f, 1])
        inputs = [torch.randn(s, dtype=dtype) * 3 + 2 for s in shapes] + [torch.ones(4, f, dtype=torch.int64)]
        if affine or stats:
            inputs += [torch.randn(4, f, dtype=other(dtype)), torch.randn(4, f + 1, dtype=dtype)]
        for x in inputs:
            beside(nn.BatchNorm1d(f, eps, momentum, affine, stats, bias=bias, dtype=dtype),
                   make["batch_norm1d"](f, c.byref(asked), number), x)


def layer_norm():
    for _, draw, dtype, number in each(15):
        shape = [draw.randint(1, 5) for _ in range(draw.randint(1, 3))]
        eps, affine, bias = draw.choice([1e-5, 1e-2]), draw.random() < 0.6, draw.random() < 0.6
        asked = LayerNorm(eps, not affine, not bias)
        for x in (torch.randn(shape, dtype=dtype), torch.randn([3, 2] + shape, dtype=dtype) * 2 + 1,
                  torch.randn([0] + shape, dtype=dtype), torch.randn(shape[:-1] + [shape[-1] + 1], dtype=dtype),
                  torch.randn(shape, dtype=other(dtype)), torch.ones(shape, dtype=torch.int64)):
            beside(nn.LayerNorm(shape, eps, affine, bias, dtype=dtype),
                   make["layer_norm"](tenon.ints(shape), len(shape), c.byref(asked), number), x)


def embedding():
    for _, draw, dtype, number in each(15):
        n, d = draw.randint(1, 6), draw.randint(1, 4)
        pad, most = draw.randint(-n, n - 1), draw.choice([0, 0.5, 1.0])
        kind = draw.choice([1.0, 2.0, 3.0, float("inf")])
        for x in (torch.randint(0, n, [3, 2]), torch.randint(0, n, []), torch.randint(0, n, [4], dtype=torch.int32),
                  torch.zeros(0, 3, dtype=torch.int64), torch.tensor([0, n]), torch.tensor([-1]), torch.tensor([0.0]),
                  torch.tensor([True]), torch.tensor([0], dtype=torch.uint8)):
            beside(nn.Embedding(n, d, dtype=dtype), make["embedding"](n, d, None, number), x)
            beside(nn.Embedding(n, d, pad, most or None, kind, dtype=dtype),
                   make["embedding"](n, d, c.byref(Embedding(True, pad, most, kind)), number), x)


def initialisation():
    """The same layers made in the same order begin alike."""
    for turn, _, dtype, number in each(3):
        torch.manual_seed(turn)
        call["torch_manual_seed"](generator, turn)
        theirs = nn.Sequential(nn.Embedding(7, 5, 2, dtype=dtype), nn.BatchNorm1d(5, dtype=dtype),
                               nn.Linear(5, 3, dtype=dtype), nn.Sequential(nn.LayerNorm(3, dtype=dtype), nn.ReLU()),
                               nn.Embedding(3, 20, dtype=dtype), nn.Sequential())
        ours, inner = call["sequential"](), call["sequential"]()
        for child in (make["layer_norm"](tenon.ints([3]), 1, None, number), make["relu"]()):
            call["sequential_append"](inner, child)
        for child in (make["embedding"](7, 5, c.byref(Embedding(True, 2)), number),
                      make["batch_norm1d"](5, None, number), make["linear"](5, 3, True, number), inner,
                      make["embedding"](3, 20, None, number), call["sequential"]()):
            call["sequential_append"](ours, child)
        assert call["init_torch"](ours, generator, True) == tenon.OK
        assert shown(ours) == str(theirs), shown(ours)
        assert names(ours, "parameter") == [name for name, _ in theirs.named_parameters()]
        for i, p in enumerate(theirs.parameters()):
            assert torch.equal(get(call["parameter"](ours, i)), p.detach()), i


def initialisers():
    """torch.nn.init's values, bit for bit, below and above the 16 elements where its normal changes its way."""
    gain = nn.init.calculate_gain("leaky_relu", 0.1)
    for turn, _, dtype, _ in each(2):
        for shape in ([1, 1], [3, 5], [4, 4], [17, 1], [2, 3, 4, 5], [31, 9]):
            for name, theirs, arguments in (
                    ("uniform_", lambda t: nn.init.uniform_(t, -1, 3), (D(-1), D(3))),
                    ("normal_", lambda t: nn.init.normal_(t, 0.5, 2), (D(0.5), D(2))),
                    ("xavier_uniform_", lambda t: nn.init.xavier_uniform_(t, 1.5), (D(1.5),)),
                    ("xavier_normal_", lambda t: nn.init.xavier_normal_(t, 1.5), (D(1.5),)),
                    ("kaiming_uniform_", lambda t: nn.init.kaiming_uniform_(t, 0.1, "fan_out"), (D(gain), B(True))),
                    ("kaiming_normal_", lambda t: nn.init.kaiming_normal_(t, 0.1), (D(gain), B(False))),
                    ("trunc_normal_", lambda t: nn.init.trunc_normal_(t, 0.1, 2, -3, 2), (D(0.1), D(2), D(-3), D(2))),
                    ("trunc_normal_", lambda t: nn.init.trunc_normal_(t, 0, 1, 2, 2.5), (D(0), D(1), D(2), D(2.5)))):
                torch.manual_seed(turn)
                call["torch_manual_seed"](generator, turn)
                t, u = torch.zeros(shape, dtype=dtype), put(torch.zeros(shape, dtype=dtype))
                theirs(t)
                function = getattr(tenon.library, "tn_init_" + name)
                assert function(P(u), *arguments, generator) == tenon.OK, tenon.status()
                assert torch.equal(get(u), t), (name, shape, dtype, get(u) - t)


def losses():
    for _, draw, dtype, _ in each(4):
        for number, how in enumerate(("mean", "sum", "none")):
            x, t = torch.randn(5, 3, dtype=dtype), torch.rand(5, 3, dtype=dtype)
            w, v = torch.rand(3, dtype=dtype) + 0.5, torch.rand(3, dtype=dtype) + 0.5
            classes, held = torch.tensor([0, 2, 1, 1, 2]), [put(w), put(v)]
            asked = CrossEntropy(number, 0.25, True, 1, held[0])
            pairs = [
                (nn.MSELoss(reduction=how), make["mse_loss"](number), x, t),
                (nn.L1Loss(reduction=how), make["l1_loss"](number), x, t),
                (nn.SmoothL1Loss(beta=0.3, reduction=how), make["smooth_l1_loss"](0.3, number), x, t),
                (nn.HuberLoss(delta=0.3, reduction=how), make["huber_loss"](0.3, number), x, t),
                (nn.BCELoss(w, reduction=how), make["bce_loss"](held[0], number), torch.sigmoid(x), t),
                (nn.BCELoss(reduction=how), make["bce_loss"](None, number), x, t),
                (nn.BCEWithLogitsLoss(w, reduction=how, pos_weight=v),
                 make["bce_with_logits"](held[0], held[1], number), x, t),
                (nn.KLDivLoss(reduction=how), make["kl_div"](False, number), x, torch.relu(t - 0.3)),
                (nn.KLDivLoss(reduction=how, log_target=True), make["kl_div"](True, number), x, t),
                (nn.PoissonNLLLoss(reduction=how), make["poisson_nll_loss"](True, False, 1e-8, number), x, 5 * t),
                (nn.PoissonNLLLoss(False, True, eps=0.1, reduction=how),
                 make["poisson_nll_loss"](False, True, 0.1, number), x.abs(), (5 * t).round()),
                (nn.NLLLoss(w, ignore_index=1, reduction=how), make["nll_loss"](held[0], 1, number), x, classes),
                (nn.CrossEntropyLoss(w, ignore_index=1, reduction=how, label_smoothing=0.25),
                 make["cross_entropy"](c.byref(asked)), x, classes),
                (nn.CrossEntropyLoss(reduction=how), make["cross_entropy"](c.byref(CrossEntropy(number))), x, t),
                (nn.CrossEntropyLoss(reduction=how), make["cross_entropy"](c.byref(CrossEntropy(number))), x, t[:2])]
            for theirs, ours, input, target in pairs:
                input = input.detach().requires_grad_()
                u = put(input)
                call["requires_grad_"](u, True)
                y, z = result_of(lambda: theirs(input, target)), call["forward_loss"](ours, u, put(target))
                message = tenon.status()[1]
                assert (y is None) == (not z), (theirs, message)
                assert names(ours, "buffer") == [name for name, _ in theirs.named_buffers()], theirs
                assert shown(ours) == str(theirs), (shown(ours), str(theirs))
                if y is None:
                    continue
                close(str(theirs), get(z), y)
                gradient = torch.randn(y.shape, dtype=dtype)
                y.backward(gradient)
                assert call["backward_with"](z, put(gradient), None) == tenon.OK
                close(f"{theirs}: gradient", get(call["grad_of"](u)), input.grad, 10)


for test in (linear, activations, dropout, batch_norm, layer_norm, embedding, initialisation, initialisers,
             losses):
    test()
    assert tenon.library.tn_error_code() == tenon.OK, tenon.status()
    print("ok  ", test.__name__)
