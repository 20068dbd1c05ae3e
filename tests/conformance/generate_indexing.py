"""Random programs that read and write at positions: lists, masks, bools and tensors among the entries of an index; gather
and its kin. As generate.py, which see:

    python3 tests/conformance/generate_indexing.py --seed 1 --count 300 > random.jsonl"""
import torch

from generate import Maker, expected, index_of, main


class IndexMaker(Maker):
    def program(self):
        r, program, rec = self.r, [], self.rec
        torch.set_printoptions(profile="default", sci_mode=None)

        def do(statement):
            rec.run(statement)
            program.append(statement)
            return statement[1]

        start = self.beginning()
        for s in [start[1]] if isinstance(start, tuple) else [start]:
            rec.run(s)
        program += list(start) if isinstance(start, tuple) else [start]
        for _ in range(r.randrange(0, 3)):
            x = self.name()
            n = rec.names[x].ndim
            call = r.choice([["permute", x, r.sample(range(n), n)], ["conj", x], ["T", x], ["unsqueeze", x, 0],
                             ["getitem", x, [{"slice": [r.choice([None, 1]), None, r.choice([None, 2])]}] if n else []]])
            do(["assign", self.fresh(), call])
        if rec.names[x_name := self.name()].is_complex() and r.random() < .5:
            do(["assign", self.fresh(), ["imag", x_name]])

        def positions(size, shape):
            low, high = -size - (r.random() < .03), max(size, 1) + (r.random() < .03)
            if not shape:
                return r.randrange(low, high)
            return [positions(size, shape[1:]) for _ in range(shape[0])]

        def mask(sizes):
            return r.random() < .6 if not sizes else [mask(sizes[1:]) for _ in range(sizes[0])]

        def entry(x, d, shape):
            size, kind = x.shape[d] if d < x.ndim else 1, r.random()
            if kind < .25:
                return {"list": positions(size, [shape[-1]] if shape else [1])}, 1
            if kind < .55:
                name = do(["assign", self.fresh(), ["tensor", positions(size, shape), r.choice(["int64"] * 3 + ["int32"])]])
                if len(shape) > 1 and r.random() < .3:
                    name = do(["assign", self.fresh(), ["t", name]])
                return {"t": name}, 1
            if kind < .7 and d < x.ndim:
                take = r.randrange(0, min(3, x.ndim - d) + 1)
                if 0 in x.shape[d:d + take]:
                    return None, 0
                name = do(["assign", self.fresh(), ["tensor", mask(list(x.shape[d:d + take])), "bool"]])
                return {"t": name}, take
            if kind < .75:
                return r.random() < .7, 0
            if kind < .82:
                return None, 0
            if kind < .87:
                return r.randrange(-size, size) if size else 0, 1
            return {"slice": [r.choice([None, 1]), r.choice([None, -1]), r.choice([None, 2])]}, 1

        for k in range(r.randrange(1, 4)):
            x_name = r.choice([n for n, x in rec.names.items() if x.numel() <= 200])
            x, index, used, dots = rec.names[x_name], [], 0, False
            shape = r.choice([[2], [3], [1], [2, 3], [2, 2], []])
            for _ in range(r.randrange(1, x.ndim + 2)):
                if not dots and r.random() < .08:
                    index.append("...")
                    dots, used = True, used + r.randrange(0, 2)
                    continue
                e, taken = entry(x, used, shape)
                used += taken
                index.append(e)
            dim = r.randrange(-x.ndim, x.ndim) if x.ndim else 0
            call = ["getitem", x_name, index]
            pick = r.random()
            if pick < .25:
                call = ["setitem", x_name, index, r.choice([5, 1, 2.5, 300, True])]
            elif pick < .6:
                try:
                    place = x[index_of(index, rec.names)]
                    sizes = list(place.shape)
                    for d in range(len(sizes)):
                        if r.random() < .2:
                            sizes[d] = 1
                    sizes = sizes[r.randrange(0, len(sizes)):] if sizes and r.random() < .2 else sizes
                    sizes = [1] * (r.random() < .1) + sizes
                    value = do(["assign", self.fresh(), ["full", sizes, 3, str(x.dtype)[6:]]])
                except (RuntimeError, IndexError, TypeError):
                    value = self.name()
                call = ["setitem", x_name, index, value if r.random() < .9 else self.name()]
            elif pick < .8 and x.ndim:
                size = x.shape[dim]
                sizes = [r.randrange(0, n + 1) if r.random() < .4 else n for n in x.shape]
                sizes[dim] = r.randrange(0, 4)
                at = [r.randrange(0, max(size, 1) + (r.random() < .02)) for _ in range(sizes[dim])]
                row = do(["assign", self.fresh(), ["tensor", at, r.choice(["int64", "int64", "int32"])]])
                d = str(x.dtype)[6:]
                if r.random() < .5:
                    wide = [1] * x.ndim
                    wide[dim] = sizes[dim]
                    row = do(["assign", self.fresh(), ["to", row, "int64"]])  # expanded int32 is refused at times
                    full = do(["assign", self.fresh(), ["view", row, wide]])
                    full = do(["assign", self.fresh(), ["expand", full, sizes]])
                    call = ["gather", x_name, dim, full]
                    if r.random() < .5:
                        value = do(["assign", self.fresh(), ["full", [n + r.randrange(0, 2) for n in sizes], 3, d]])
                        call = ["scatter_add_", x_name, dim, full, value]
                elif r.random() < .5:
                    call = ["index_select", x_name, dim, row]
                else:
                    sizes = [n if k != dim % x.ndim else sizes[dim] for k, n in enumerate(x.shape)]
                    value = do(["assign", self.fresh(), ["full", sizes, 3, d]])
                    call = ["index_add_", x_name, dim, row, value]
            inner = ["do", call] if call[0].endswith("_") or call[0] == "setitem" else ["assign", self.fresh(), call]
            s = ["attempt", f"a{k}", [inner]]
            rec.run(s)
            if rec.attempts[s[1]] == "ok" and r.random() < .9:
                del rec.attempts[s[1]]
                s = inner
            program.append(s)
        return program, expected(rec)


if __name__ == "__main__":
    main(IndexMaker)
