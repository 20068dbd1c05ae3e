"""Random programs of dual tensors: views, in-place writes, walks, with the tangents that PyTorch finds.

    python3 tests/conformance/generate_forward.py --seed 1 --count 200 > random_forward.jsonl
    build/release/tests/conformance random_forward.jsonl

Every program ends by asking each tensor for its tangent. Needs PyTorch 2.15."""
import torch
import torch.autograd.forward_ad as forward

import generate_tape
from generate import CALLS, Unfit, expected, main
from generate_tape import TOLERANCE, TapeMaker, TapeRecorder

generate_tape.RULES += [(text, "forward_ad", "forward_ad") for text in (
    "no level exists", "already has a forward gradient", "itself has a forward gradient", "has a different size",
    "Nested forward mode", "must be a positive number", "has a forward grad")]


def tangent(x):
    try:
        return forward.unpack_dual(x).tangent
    except RuntimeError as e:
        raise Unfit from e  # of a view whose history must not be told, though only the other half has one


CALLS.update({"make_dual": forward.make_dual, "tangent": tangent,
              "primal": lambda x: forward.unpack_dual(x).primal, "exp": torch.exp, "tanh": torch.tanh})


class ForwardRecorder(TapeRecorder):
    def run(self, s):
        if s[0] != "dual":
            return super().run(s)
        if s[1] == "enter":
            forward.enter_dual_level()
        else:
            forward.exit_dual_level()

    def call(self, call):
        made = super().call(call)
        tangents = [x for n, x in self.names.items()
                    if n.startswith("%t") or x.untyped_storage()._cdata in self.made]
        if any(tangent(x) is not None for x in tangents) or call[0] in ("t_", "unsqueeze_", "transpose_"):
            raise Unfit  # a tangent has one itself, or may have another shape than what it is of
        if call[0] == "tangent" and made is not None:
            self.made.add(made.untyped_storage()._cdata)
        return made

    def describe(self, x, storages):
        d = super().describe(x, storages)
        if x.untyped_storage()._cdata in self.made and d.get("grad_fn") in ("AddBackward0", "CopyBackwards"):
            raise Unfit  # another way to the same tangent
        return d

    def end(self):
        super().end()
        if forward._current_level >= 0:
            forward.exit_dual_level()


class ForwardMaker(TapeMaker):
    def __init__(self, r):
        super().__init__(r)
        self.rec, self.inference = ForwardRecorder(), False

    def dual(self):
        n = self.pick()
        x = self.rec.names[n]
        self.n += 1
        t = f"%t{self.n}"
        self.extra.append(["assign", t, ["tensor", self.data(list(x.shape)), str(x.dtype)[6:], self.r.random() < .2]])
        return ["assign", self.fresh(), ["make_dual", n, t]]

    def statement(self):
        r = self.r
        self.extra = []
        kind = r.random()
        if kind < .25:
            return self.dual()
        if kind < .3:
            return ["assign", self.fresh(), [r.choice(["tangent", "tangent", "primal"]), self.pick()]]
        if kind < .32:
            return ["dual", r.choice(["enter", "exit", "exit"])]
        return super().statement()

    def program(self):
        r, program, self.extra = self.r, [], []

        def run(s):
            self.rec.run(s)
            program.append(s)
        try:
            run(["dual", "enter"])
            for _ in range(r.randrange(1, 4)):
                run(["assign", self.fresh(), self.leaf(grad=r.random() < .4)])
                self.leaves.add(id(self.rec.names[program[-1][1]]))
            for k in range(r.randrange(4, 16)):
                s = self.statement() if k else self.dual()
                for e in self.extra:
                    run(e)
                if s[0] == "mode":
                    run(s)
                    continue
                self.rec.run(["attempt", f"a{k}", [s]])
                if self.rec.attempts[f"a{k}"] == "ok":
                    del self.rec.attempts[f"a{k}"]
                    program.append(s)
                else:
                    program.append(["attempt", f"a{k}", [s]])
            for n in [n for n, x in self.rec.names.items() if x.is_floating_point() and not n.startswith("%")]:
                run(["assign", f"t_{n}", ["tangent", n]])
        finally:
            self.rec.end()
        return program, expected(self.rec)


if __name__ == "__main__":
    main(ForwardMaker, "forward", {"tol": TOLERANCE})
