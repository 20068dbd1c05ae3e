"""An epoch of 60,000 x 784 floats beside PyTorch: 784-128-10, cross-entropy, Adam, batches of 128 in the order of
DataLoader(shuffle=True), from the same weights. On 10,000 more samples both are right equally often, to 0.3 %, and
Tenon's memory stays what it was after the first batches.

    python test_epoch.py [SAMPLES]     60,000 unless given; prints losses, accuracies, times"""

import ctypes as c
import sys
import time
import warnings

import tenon

try:
    warnings.simplefilter("ignore")
    import torch
    import training as t
except ImportError as missing:
    tenon.skip(missing)

FEATURES, HIDDEN, CLASSES, BATCH, FRESH, RATE = 784, 128, 10, 128, 10_000, 1e-3
parameter = t.declare("tn_parameter", t.pointer, t.pointer, c.c_int64)
data_mut = t.declare("tn_data_mut", t.pointer, t.pointer)
cross_entropy = t.declare("tn_cross_entropy", t.pointer, t.pointer, t.pointer, c.c_int)


def make_data(samples):
    """Ten directions, one a class, in noise: not quite to be told apart."""
    generator = torch.Generator().manual_seed(7)
    centres = torch.randn(CLASSES, FEATURES, generator=generator) * 0.11
    y = torch.randint(0, CLASSES, (samples + FRESH,), generator=generator)
    x = torch.randn(samples + FRESH, FEATURES, generator=generator).add_(centres[y])
    return (x[:samples], y[:samples]), (x[samples:], y[samples:])


def make_net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, CLASSES))


def train_torch(net, x, y):
    generator = torch.Generator().manual_seed(0)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), BATCH, shuffle=True,
                                         generator=generator)
    optimizer, losses = torch.optim.Adam(net.parameters(), lr=RATE), []
    for batch_x, batch_y in loader:
        loss = torch.nn.functional.cross_entropy(net(batch_x), batch_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def around(t):
    """A Tenon tensor over t's memory."""
    return tenon.from_blob(t.data_ptr(), tenon.ints(t.shape), t.dim(),
                           tenon.DTYPES[str(t.dtype).removeprefix("torch.")], None)


def take_weights(net, theirs):
    for i, p in enumerate(theirs.parameters()):
        c.memmove(data_mut(parameter(net, i)), p.detach().data_ptr(), 4 * p.numel())


def train_tenon(net, x, y):
    """The losses, and the memory in use after each batch."""
    optimizer = t.adam(t.parameters(net), t.AdamOptions(lr=RATE))
    loader = t.loader_new(t.dataset(around(x), around(y)), t.LoaderOptions(batch_size=BATCH, shuffle=True))
    losses, held, batch = [], [], t.Batch()
    while t.loader_next(loader, batch):
        with tenon.Scope():
            loss = cross_entropy(t.forward(net, batch.x), batch.y, t.MEAN)
            t.zero_grad(optimizer)
            t.backward(loss)
            t.step(optimizer)
            losses.append(t.item(loss))
        now = tenon.library.tn_get_memory_stats()
        held.append((now.live_bytes, now.reserved_bytes))
    assert tenon.library.tn_error_code() == tenon.OK, tenon.status()
    return losses, held


def accuracy(logits, y):
    return (logits.argmax(1) == y).double().mean().item()


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    train, fresh = make_data(samples)
    theirs = make_net()
    with tenon.Scope():
        net = t.mlp(tenon.ints([FEATURES, HIDDEN, CLASSES]), 3, tenon.DTYPES["float32"])
        take_weights(net, theirs)
        start = time.perf_counter()
        ours, held = train_tenon(net, *train)
        middle = time.perf_counter()
        wanted = train_torch(theirs, *train)
        end = time.perf_counter()
        logits = torch.from_dlpack(tenon.Export(t.detach(t.forward(net, around(fresh[0]))))).clone()
    with torch.no_grad():
        right, theirs_right = accuracy(logits, fresh[1]), accuracy(theirs(fresh[0]), fresh[1])
    print(f"tenon    loss {sum(ours) / len(ours):.6f}  accuracy {right:.4f}  {middle - start:.2f} s")
    print(f"pytorch  loss {sum(wanted) / len(wanted):.6f}  accuracy {theirs_right:.4f}  {end - middle:.2f} s")
    print(f"memory   {held[2][0]} bytes held after 3 batches, {held[-2][0]} at the end; {held[-2][1]} reserved")
    assert len(ours) == len(wanted) == -(-samples // BATCH)
    assert all(abs(a - b) <= 1e-4 * (1 + abs(b)) for a, b in zip(ours[:20], wanted[:20])), "other losses at the start"
    assert abs(right - theirs_right) <= 0.003, "another accuracy"
    assert all(h == held[2] for h in held[2:-1]), "memory is not steady"


main()
