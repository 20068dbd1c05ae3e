"""Weights and training runs between Tenon and PyTorch: what is saved here is read there bit for bit and comes back, a
net that PyTorch trained gives its outputs here, and a run that begins with its weights has its losses."""

import ctypes as c
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings

import tenon

try:
    warnings.simplefilter("ignore")
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    tenon.skip(missing)

import training as t

torch.set_num_threads(1)
folder = tempfile.TemporaryDirectory()
command = os.environ["TENON_COMMAND"]
declare, pointer = t.declare, t.pointer
sequential = declare("tn_sequential", pointer)
append = declare("tn_sequential_append", c.c_int, pointer, pointer)
linear = declare("tn_linear_module", pointer, c.c_int64, c.c_int64, c.c_bool, c.c_int)
relu = declare("tn_relu_module", pointer)
batch_norm = declare("tn_batch_norm1d_module", pointer, c.c_int64, pointer, c.c_int)
layer_norm = declare("tn_layer_norm_module", pointer, tenon.sizes_type, c.c_int, pointer, c.c_int)
module_new = declare("tn_module_new", pointer, c.POINTER(t.ModuleKind), pointer)
register_buffer = declare("tn_register_buffer", c.c_int, pointer, c.c_char_p, pointer)
named_buffer = declare("tn_named_buffer", pointer, pointer, c.c_char_p)
named_parameter = declare("tn_named_parameter", pointer, pointer, c.c_char_p)
module_to = declare("tn_module_to", pointer, pointer, c.c_int)
module_eval = declare("tn_module_eval", c.c_int, pointer)
moons = declare("tn_make_moons", pointer, c.c_int64, c.c_double, c.c_uint64, c.c_int)
train_test_split = declare("tn_train_test_split", c.c_int, pointer, c.c_double, c.c_uint64, c.POINTER(pointer),
                           c.POINTER(pointer))
data_mut = declare("tn_data_mut", pointer, pointer)

TORCH_WORDS = {torch.float16: "F16", torch.bfloat16: "BF16", torch.float32: "F32", torch.float64: "F64",
               torch.int8: "I8", torch.int16: "I16", torch.int32: "I32", torch.int64: "I64", torch.uint8: "U8",
               torch.uint16: "U16", torch.uint32: "U32", torch.uint64: "U64", torch.bool: "BOOL"}


def path_of(name):
    return os.path.join(folder.name, name)


def bits(x):
    """A PyTorch tensor's bytes as NumPy's array of its word."""
    x = x.detach().contiguous()
    kind = np.dtype(t.WORDS[TORCH_WORDS[x.dtype]])
    return np.frombuffer(x.reshape(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b"", kind).reshape(x.shape)


def to_torch(word, array):
    dtype = [d for d, w in TORCH_WORDS.items() if w == word][0]
    if array.size == 0:
        return torch.empty(array.shape, dtype=dtype)
    return torch.frombuffer(bytearray(array.tobytes()), dtype=dtype).reshape(array.shape)


def torch_load(path):
    """A file's tensors, by safetensors' own library too where it is there."""
    found = {name: to_torch(*entry) for name, entry in t.read_safetensors(path)[0].items()}
    try:
        from safetensors.torch import load_file
    except ImportError:
        return found
    theirs = load_file(path)
    assert theirs.keys() == found.keys()
    for name, x in found.items():
        assert theirs[name].dtype == x.dtype and bits(theirs[name]).tobytes() == bits(x).tobytes(), name
    return theirs


def torch_save(path, state, metadata=None):
    t.write_safetensors(path, {name: (TORCH_WORDS[x.dtype], bits(x)) for name, x in state.items()}, metadata)


def same_state(net, state):
    """A net's parameters and buffers have the bits of a state_dict."""
    for name, x in state.items():
        ours = named_parameter(net, name.encode())
        tenon.library.tn_error_clear()
        ours = ours or t.make(named_buffer(net, name.encode()))
        assert t.to_array(ours).tobytes() == bits(x).tobytes(), name


def both_nets(dtype):
    """Linear, BatchNorm, ReLU, LayerNorm, Linear here and there, in train mode."""
    number = tenon.DTYPES[str(dtype).removeprefix("torch.")]
    ours = t.make(sequential())
    for module in (linear(3, 8, True, number), batch_norm(8, None, number), relu(),
                   layer_norm(tenon.ints([8]), 1, None, number), linear(8, 2, False, number)):
        t.done(append(ours, t.make(module)))
    theirs = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2, bias=False))
    return ours, theirs.to(dtype)


def test_norm_buffers():
    torch.manual_seed(3)
    for dtype in (torch.float32, torch.float64):
        ours, theirs = both_nets(dtype)
        path = path_of("norm.safetensors")
        torch_save(path, theirs.state_dict())
        t.done(t.load(ours, path.encode()))
        same_state(ours, theirs.state_dict())
        x = torch.randn(16, 3, dtype=dtype)
        for _ in range(3):  # running means move on both sides
            a, b = t.forward(ours, t.to_tensor(x.numpy())), theirs(x)
        assert np.allclose(t.to_array(t.detach(a)), b.detach().numpy(), rtol=1e-5 if dtype == torch.float32 else 1e-12)
        t.done(t.save(ours, path.encode()))
        read = torch_load(path)
        same_state(ours, read)
        assert read["1.num_batches_tracked"] == 3 and read["1.num_batches_tracked"].dtype == torch.int64
        assert torch.allclose(read["1.running_var"], theirs.state_dict()["1.running_var"], rtol=1e-5)
        theirs.load_state_dict(read, strict=True)
        module_eval(ours)
        a, b = t.forward(ours, t.to_tensor(x.numpy())), theirs.eval()(x)
        assert np.allclose(t.to_array(t.detach(a)), b.detach().numpy(), rtol=1e-5 if dtype == torch.float32 else 1e-12)


def test_floats():
    """A net with nan, infinities, zeros and the smallest numbers among its weights."""
    torch.manual_seed(4)
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-45, 5e-324, 65504, -1 / 3],
                           dtype=torch.float64)
    for dtype in (torch.float32, torch.float64):
        theirs = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).to(dtype)
        theirs[0].weight.data.view(-1)[:8] = special.to(dtype)
        ours = module_to(t.mlp(tenon.ints([4, 4, 2]), 3, tenon.DTYPES["float32"]),
                         tenon.DTYPES[str(dtype).removeprefix("torch.")])
        path = path_of("floats.safetensors")
        torch_save(path, theirs.state_dict())
        t.done(t.load(t.make(ours), path.encode()))
        same_state(ours, theirs.state_dict())
        t.done(t.save(ours, path.encode()))
        read = torch_load(path)
        theirs.load_state_dict(read, strict=True)
        same_state(ours, theirs.state_dict())


def test_every_dtype():
    """Buffers of all dtypes, under names that a JSON writer must escape."""
    names = ["running", "a b", 'quote"', "back\\slash", "\u00e9\u4e2d\U0001f600", "tab\t", "\x01", "/", "{}", "x:y",
             "0", "__metadata", "end\u2028"]
    forwards = c.CFUNCTYPE(pointer, pointer, pointer, pointer)(lambda self, x, _: x)
    kind = t.ModuleKind(name=c.cast(c.c_char_p(b"Buffers"), pointer).value, forward=c.cast(forwards, pointer).value)
    net, theirs = t.make(module_new(kind, None)), nn.Module()
    generator = torch.Generator().manual_seed(5)
    for name, dtype in zip(names, TORCH_WORDS):
        shape = ((), (0, 2), (5,), (2, 3))[len(name) % 4]
        raw = torch.randint(0, 256, (8 * 6,), dtype=torch.uint8, generator=generator)
        if dtype == torch.bool:
            raw &= 1
        count = int(np.prod(shape))
        x = raw.view(dtype)[:count].reshape(shape).clone()
        theirs.register_buffer(name, x)
        ours = t.make(tenon.empty(tenon.ints(shape), len(shape), tenon.DTYPES[str(dtype).removeprefix("torch.")]))
        c.memmove(data_mut(ours), bits(x).tobytes(), bits(x).nbytes)
        t.done(register_buffer(net, name.encode(), ours))
    path = path_of("dtypes.safetensors")
    t.done(t.save(net, path.encode()))
    read = torch_load(path)
    assert read.keys() == theirs.state_dict().keys()
    for name, x in theirs.state_dict().items():
        assert read[name].dtype == x.dtype and read[name].shape == x.shape, name
        assert bits(read[name]).tobytes() == bits(x).tobytes(), name
    theirs.load_state_dict(read, strict=True)
    changed = {name: torch.zeros_like(x) for name, x in theirs.state_dict().items()}
    torch_save(path, changed)
    t.done(t.load(net, path.encode()))
    same_state(net, changed)


def tenon_command(*words, code=0):
    result = subprocess.run([command, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert result.returncode == code, (words, result.returncode, result.stderr)
    return result.stdout


def torch_mlp(dtype, activation=nn.ReLU):
    return nn.Sequential(nn.Linear(2, 16), activation(), nn.Linear(16, 16), activation(), nn.Linear(16, 1)).to(dtype)


def moons_of(n, noise, seed, dtype):
    """The points that both sides have."""
    made = t.make(moons(n, noise, seed, tenon.DTYPES[str(dtype).removeprefix("torch.")]))
    return torch.from_numpy(t.to_array(t.dataset_x(made))), torch.from_numpy(t.to_array(t.dataset_y(made)))


def predicted(text):
    rows = [line.split(",") for line in text.splitlines()]
    assert rows[0] == ["class", "p_0", "p_1"]
    return np.array([[float(cell) for cell in row] for row in rows[1:]])


def near(found, net, x, dtype):
    """Probabilities of class 1 are PyTorch's: as far as rounding of the logit's terms and of the result goes."""
    with torch.no_grad():
        logits = net(x)[:, 0]
        terms = net[:4](x).abs() @ net[4].weight.abs().T + net[4].bias.abs()
        p = torch.sigmoid(logits).double().numpy()
        bound = (1e-14 if dtype == torch.float64 else 4 * 2.0 ** -23) * p * (1 + (1 - p) * terms[:, 0].double().numpy())
    assert (np.abs(found - p) <= bound).all(), (np.abs(found - p) / bound).max()
    return logits


def test_command_to_torch():
    """The files of `tenon train`, its checkpoints too, in PyTorch: same weights, same predictions."""
    for dtype, activation, word in ((torch.float32, nn.ReLU, "relu"), (torch.float64, nn.Tanh, "tanh"),
                                    (torch.float64, lambda: nn.GELU(), "gelu")):
        out = path_of(f"run_{word}")
        tenon_command("train", "moons", "--samples", "200", "--epochs", "8", "--seed", "2", "--activation", word,
                      "--dtype", str(dtype).removeprefix("torch."), "--out", out)
        state = torch_load(os.path.join(out, "model.safetensors"))
        theirs = torch_mlp(dtype, activation)
        theirs.load_state_dict(state, strict=True)
        best = torch_load(os.path.join(out, "best.safetensors"))
        assert {n: bits(x).tobytes() for n, x in state.items()} == {
            n.removeprefix("model."): bits(x).tobytes() for n, x in best.items() if n.startswith("model.")}
        last = {n.removeprefix("model."): x for n, x in torch_load(os.path.join(out, "last.safetensors")).items()
                if n.startswith("model.")}
        torch_mlp(dtype).load_state_dict(last, strict=True)
        x, y = moons_of(300, 0.3, 9, dtype)
        np.save(path_of("x.npy"), x.numpy())
        found = predicted(tenon_command("predict", out, path_of("x.npy")))
        logits = near(found[:, 2], theirs, x, dtype)
        assert (found[:, 0] == (logits > 0).numpy()).all()
        said = json.loads(tenon_command("eval", out, "moons", "--samples", "300", "--noise", "0.3", "--seed", "9",
                                        "--json"))
        assert abs(said["accuracy"] - ((logits > 0) == y).double().mean().item()) < 1e-12
        wanted = nn.functional.binary_cross_entropy_with_logits(logits.double(), y.double()).item()
        assert abs(said["loss"] - wanted) <= wanted * (1e-6 if dtype == torch.float32 else 1e-13)


def test_torch_to_command():
    """A net trained by PyTorch, in this library and in `tenon predict` and `tenon eval`."""
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(6)
        theirs = torch_mlp(dtype)
        x, y = moons_of(400, 0.2, 1, dtype)
        optimizer = torch.optim.Adam(theirs.parameters(), lr=0.02)
        for _ in range(60):
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(theirs(x)[:, 0], y.to(dtype)).backward()
            optimizer.step()
        path = path_of("torch.safetensors")
        torch_save(path, theirs.state_dict())
        net = t.make(t.mlp(tenon.ints([2, 16, 16, 1]), 4, tenon.DTYPES[str(dtype).removeprefix("torch.")]))
        t.done(t.load(net, path.encode()))
        x, y = moons_of(1000, 0.2, 7, dtype)
        logits = theirs(x)
        ours = t.to_array(t.detach(t.forward(net, t.to_tensor(x.numpy()))))
        # an element may be the difference of larger terms: relative to what its layer adds up
        terms = (theirs[:4](x).abs() @ theirs[4].weight.abs().T + theirs[4].bias.abs()).double().detach().numpy()
        bound = 1e-14 if dtype == torch.float64 else 4 * 2.0 ** -23
        assert (np.abs(ours - logits.detach().numpy()) <= bound * terms).all()
        # what the file does not say of itself the command asks for among its metadata
        torch_save(path, theirs.state_dict(), {
            "tenon.inputs": "2", "tenon.hidden": "16,16", "tenon.outputs": "1", "tenon.activation": "relu",
            "tenon.task": "binary", "tenon.classes": "2"})
        text = io.StringIO()
        np.savetxt(text, x.double().numpy(), "%.17g", ",")
        with open(path_of("x.csv"), "w") as file:
            file.write(text.getvalue())
        found = predicted(tenon_command("predict", path, path_of("x.csv")))
        near(found[:, 2], theirs, x, dtype)
        said = json.loads(tenon_command("eval", path, "moons", "--seed", "7", "--json"))
        assert abs(said["accuracy"] - ((logits[:, 0] > 0) == y).double().mean().item()) < 1e-12
        assert said["accuracy"] > 0.9
        plain = path_of("plain.safetensors")
        torch_save(plain, theirs.state_dict())
        tenon_command("predict", plain, path_of("x.csv"), code=1)


def torch_losses(net, optimizer, x, y, epochs, seed, drop_last):
    generator = torch.Generator().manual_seed(seed)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 32, shuffle=True, generator=generator,
                                         drop_last=drop_last)
    losses = []
    for _ in range(epochs):
        for batch_x, batch_y in loader:
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(net(batch_x)[:, 0], batch_y.double())
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def own_losses(net, optimizer, data, epochs, options):
    loader, losses, batch = t.make(t.loader_new(data, options)), [], t.Batch()
    reshape = declare("tn_reshape", pointer, pointer, tenon.sizes_type, c.c_int)
    to = declare("tn_to", pointer, pointer, c.c_int)
    for _ in range(epochs):
        while t.loader_next(loader, batch):
            with tenon.Scope():
                out = t.forward(net, batch.x)
                y = reshape(to(batch.y, tenon.DTYPES["float64"]), tenon.ints([-1, 1]), 2)
                loss = t.bce_with_logits(out, y, t.MEAN)
                t.zero_grad(optimizer)
                t.backward(loss)
                t.step(optimizer)
                losses.append(t.item(loss))
    return losses


def fit_losses(net, optimizer, data, epochs, options):
    losses = []
    on_step = t.OnStep(lambda step, _: losses.append(step.contents.loss) or True)
    t.done(t.fit(t.FitOptions(module=net, optimizer=optimizer, train=t.make(t.loader_new(data, options)), loss=t.BCE,
                              epochs=epochs, on_step=c.cast(on_step, pointer).value), None))
    return losses


def test_same_losses():
    """160 and more steps from PyTorch's weights, over the batches that its DataLoader gives."""
    optimizers = [
        (t.adam, t.AdamOptions, {"lr": 0.01}, torch.optim.Adam),
        (t.adam, t.AdamOptions, {"lr": 0.005, "amsgrad": True, "weight_decay": 1e-3}, torch.optim.Adam),
        (t.sgd, t.SgdOptions, {"lr": 0.1}, torch.optim.SGD),
        (t.sgd, t.SgdOptions, {"lr": 0.02, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}, torch.optim.SGD)]
    for number, (maker, options, values, torch_maker) in enumerate(optimizers):
        for losses_of in (own_losses, fit_losses):
            torch.manual_seed(10 + number)
            theirs = torch_mlp(torch.float64)
            path, seed, drop_last = path_of("start.safetensors"), 100 + number, bool(number % 2)
            torch_save(path, theirs.state_dict())
            net = t.make(t.mlp(tenon.ints([2, 16, 16, 1]), 4, tenon.DTYPES["float64"]))
            t.done(t.load(net, path.encode()))
            data = t.make(moons(250, 0.2, number, tenon.DTYPES["float64"]))
            x, y = moons_of(250, 0.2, number, torch.float64)
            ours = losses_of(net, t.make(maker(t.parameters(net), options(**values))), data, 23,
                             t.LoaderOptions(batch_size=32, shuffle=True, seed=seed, drop_last=drop_last))
            wanted = torch_losses(theirs, torch_maker(theirs.parameters(), **values), x, y, 23, seed, drop_last)
            assert tenon.library.tn_error_code() == tenon.OK, tenon.status()
            assert len(ours) == len(wanted) >= 160, (losses_of.__name__, len(ours), len(wanted))
            np.testing.assert_allclose(ours, wanted, rtol=1e-10, err_msg=f"{torch_maker.__name__} {values}")
            t.done(t.save(net, path.encode()))
            for name, x in torch_load(path).items():
                np.testing.assert_allclose(x, theirs.state_dict()[name], rtol=1e-9, atol=1e-12)


def torch_run(make_optimizer, make_schedule, activation, seed, epochs):
    """What `tenon train moons --dtype float64` does, in PyTorch: losses in training and validation, and rates."""
    made = t.make(moons(400, 0.2, seed, tenon.DTYPES["float64"]))
    parts = pointer(), pointer()
    t.done(train_test_split(made, 0.2, seed, c.byref(parts[0]), c.byref(parts[1])))
    (x, y), (held_x, held_y) = [[torch.from_numpy(t.to_array(of(part))) for of in (t.dataset_x, t.dataset_y)]
                                for part in parts]
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(2, 16, dtype=torch.float64), activation(),
                        nn.Linear(16, 16, dtype=torch.float64), activation(), nn.Linear(16, 1, dtype=torch.float64))
    optimizer = make_optimizer(net.parameters())
    schedule = make_schedule(optimizer)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y.double()), 32, shuffle=True,
                                         generator=torch.Generator().manual_seed(seed))
    rows = []
    for _ in range(epochs):
        total = 0.0
        for batch_x, batch_y in loader:
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(net(batch_x)[:, 0], batch_y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch_x)
        with torch.no_grad():
            out = net(held_x)[:, 0]
            held = nn.functional.binary_cross_entropy_with_logits(out, held_y.double()).item()
        right = ((out > 0) == held_y).double().mean().item()
        rows.append((optimizer.param_groups[0]["lr"], total / len(x), held, right))
        schedule.step()
    return rows


def test_command_like_torch():
    """`tenon train` from its own seed is the run that PyTorch makes of that seed: weights, batches, rates, losses."""
    rates = torch.optim.lr_scheduler
    for words, activation, optimizer, schedule in (
            ("", nn.Tanh, lambda p: torch.optim.Adam(p, lr=0.01), lambda o: rates.StepLR(o, 10 ** 6)),
            ("--schedule cosine", nn.ReLU, lambda p: torch.optim.Adam(p, lr=0.01),
             lambda o: rates.CosineAnnealingLR(o, 15)),
            ("--optimizer sgd --momentum 0.9 --nesterov --schedule exponential --gamma 0.9", nn.Tanh,
             lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True), lambda o: rates.ExponentialLR(o, 0.9)),
            ("--optimizer adamw --schedule step --step-size 4", nn.SiLU, lambda p: torch.optim.AdamW(p, lr=0.01),
             lambda o: rates.StepLR(o, 4)),
            ("--optimizer rmsprop", nn.Sigmoid, lambda p: torch.optim.RMSprop(p, lr=0.01),
             lambda o: rates.StepLR(o, 10 ** 6))):
        out, name = path_of("like_torch"), activation.__name__.lower()
        tenon_command("train", "moons", "--samples", "400", "--noise", "0.2", "--epochs", "15", "--seed", "3",
                      "--dtype", "float64", "--activation", name, *words.split(), "--out", out, "--force")
        history = np.genfromtxt(os.path.join(out, "history.csv"), delimiter=",", names=True)
        wanted = np.array(torch_run(optimizer, schedule, activation, 3, 15))
        for i, column in enumerate(("lr", "train_loss", "valid_loss", "valid_accuracy")):
            np.testing.assert_allclose(history[column], wanted[:, i], rtol=1e-10, err_msg=f"{words} {column}")


print(f"torch {torch.__version__}, {sys.executable}")
t.run([test_norm_buffers, test_floats, test_every_dtype, test_command_to_torch, test_torch_to_command,
       test_same_losses, test_command_like_torch])
