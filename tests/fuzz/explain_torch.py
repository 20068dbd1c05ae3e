"""Records random chains of views with what PyTorch makes of them, for test_explain.c to replay:
python3 explain_torch.py N > ../data/explain_torch_VERSION.txt

A line: the expression, shape, stride, offset, cells of the storage, contiguous, whether view(-1) works, whether the
memory is still the first tensor's (where there is memory); tabs between. Of an expression that PyTorch refuses only
"refused" follows."""
import random
import sys
import warnings

import torch

warnings.simplefilter("ignore")
NAMES = {name: getattr(torch, name) for name in ("arange", "zeros", "ones", "full", "tensor", "empty_strided", "eye")}
NAMES["torch"] = torch
draw = random.Random(4)


def sizes_of(numel):
    sizes = []
    while numel > 1 and len(sizes) < 4:
        divisors = [d for d in range(2, numel + 1) if numel % d == 0]
        size = draw.choice(divisors)
        sizes.append(size)
        numel //= size
    if numel > 1 or not sizes:
        sizes.append(numel)
    if draw.random() < 0.3:
        sizes.insert(draw.randint(0, len(sizes)), 1)
    if draw.random() < 0.2:
        sizes[draw.randrange(len(sizes))] = -1
    return ", ".join(map(str, sizes))


def bound(size):
    return draw.choice(["", "", str(draw.randint(-size - 1, size + 1))])


def item(size):
    kind = draw.random()
    if kind < 0.3:
        return str(draw.randint(-size, max(size - 1, 0)))
    if kind < 0.4:
        return ":"
    return f"{bound(size)}:{bound(size)}" + draw.choice(["", "", f":{draw.randint(1, 3)}"])


def index(x):
    items = [item(size) for size in x.shape[: draw.randint(1, max(x.ndim, 1))]]
    if draw.random() < 0.25:
        items.insert(draw.randint(0, len(items)), "None")
    if draw.random() < 0.25:
        items.insert(draw.randint(0, len(items)), "...")
    return f"[{', '.join(items) or '...'}]"


def dim(x):
    return draw.randint(-x.ndim, x.ndim - 1)


def on_dims(x):
    d = dim(x)
    size = x.shape[d]
    start = draw.randint(0, size)
    yield f".transpose({dim(x)}, {dim(x)})"
    yield f".swapaxes({dim(x)}, axis1={dim(x)})"
    yield f".movedim({dim(x)}, {dim(x)})"
    yield f".permute({', '.join(map(str, draw.sample(range(x.ndim), x.ndim)))})"
    yield f".squeeze({d})"
    yield f".narrow({d}, {start}, {draw.randint(0, size - start)})"
    yield f".select({d}, {draw.randint(-size, max(size - 1, 0))})"
    yield f".unfold({d}, {draw.randint(1, max(size, 1))}, {draw.randint(1, 2)})"
    yield f".flatten({d})"
    yield f".flatten({draw.randint(0, x.ndim - 1)}, {d})"
    yield f".unflatten({d}, (-1, {draw.choice([1, 2, max(size, 1)])}))"
    yield f".chunk({draw.randint(1, 4)}, {d})[{draw.choice([0, -1])}]"
    yield f".split({draw.randint(1, 4)}, dim={d})[{draw.choice([0, -1])}]"
    yield f".split([{start}, {size - start}], {d})[1]"
    yield f".tensor_split({draw.randint(1, 4)}, {d})[{draw.choice([0, -1])}]"
    yield f".tensor_split(({start}, {draw.randint(-2, size)}), {d})[1]"
    yield f".unbind({d})[-1]"
    if x.ndim >= 2:
        a, b = draw.sample(range(x.ndim), 2)
        yield f".diagonal({draw.randint(-1, 1)}, {a}, {b})"
        yield ".mT"
    if x.ndim == 2:
        yield draw.choice([".T", ".t()", ".H"])
    if x.ndim == 4:
        yield ".contiguous(memory_format=torch.channels_last)"
    grown = [size if size != 1 else draw.randint(1, 3) for size in x.shape]
    yield f".expand({', '.join(map(str, [2] * draw.randint(0, 1) + grown))})"


def step(x):
    pool = [index(x), index(x), index(x), f".view({sizes_of(x.numel())})", f".reshape({sizes_of(x.numel())})",
            ".contiguous()", ".clone()", ".ravel()", ".squeeze()", f".unsqueeze({draw.randint(-x.ndim - 1, x.ndim)})",
            f".as_strided((2, {draw.randint(0, 3)}), ({draw.randint(0, 3)}, {draw.randint(0, 2)}), "
            f"{draw.randint(0, 3)})",
            draw.choice([".to(torch.float64)", ".double()", ".view(torch.int32)", ".view(torch.uint8)", ".detach()"])]
    if x.ndim:
        pool += list(on_dims(x))
    return draw.choice(pool)


def expression():
    text = draw.choice(["arange(12)", "arange(24).view(2, 3, 4)", "arange(2, 26, 2)", "zeros(2, 3, 2)", "ones((4, 4))",
                        "eye(3)", "full((2, 1, 3), 7)", "tensor([[1, 2], [3, 4]])", "empty_strided((2, 3), (1, 2))",
                        "zeros(2, 0, 3)", "arange(120).view(2, 3, 4, 5)", "tensor(2.5)"])
    x = first = eval(text, dict(NAMES))
    for _ in range(draw.randint(1, 5)):
        link = step(x)
        text += link
        try:
            x = eval("x" + link, dict(NAMES, x=x))
        except (RuntimeError, IndexError, ValueError):
            return text, None, None
    return text, x, first


def flattens(x):
    try:
        x.view(x.numel())
    except RuntimeError:
        return False
    return True


def main():
    print(f"# {__doc__.splitlines()[0][:-1].split(', for')[0]}; PyTorch {torch.__version__.split('+')[0]}, seed 4")
    seen = set()
    while len(seen) < int(sys.argv[1]):
        text, x, first = expression()
        if text in seen or len(text) > 200 or (x is None and draw.random() < 0.5):
            continue
        seen.add(text)
        if x is None:
            print(text, "refused", sep="\t")
            continue
        cells = x.untyped_storage().nbytes() // x.element_size()
        shared = x.untyped_storage().data_ptr() == first.untyped_storage().data_ptr() or not cells
        print(text, tuple(x.shape), tuple(x.stride()), x.storage_offset(), cells, int(x.is_contiguous()),
              int(flattens(x)), int(shared), sep="\t")


main()
