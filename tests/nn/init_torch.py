"""Writes tests/data/init_torch_2.15.txt: what torch.nn.init gives for a seed, 5 x 4 values in hex a line."""
import torch

CASES = [
    ("uniform", lambda t: torch.nn.init.uniform_(t, -1, 2)),
    ("normal", lambda t: torch.nn.init.normal_(t, 1, 2)),
    ("xavier_uniform", lambda t: torch.nn.init.xavier_uniform_(t, 1.5)),
    ("xavier_normal", lambda t: torch.nn.init.xavier_normal_(t)),
    ("kaiming_uniform", lambda t: torch.nn.init.kaiming_uniform_(t, 0.1, "fan_out", "leaky_relu")),
    ("kaiming_normal", lambda t: torch.nn.init.kaiming_normal_(t)),
    ("trunc_normal", lambda t: torch.nn.init.trunc_normal_(t, 0.5, 2.0, -2, 2.0)),
    ("trunc_normal_narrow", lambda t: torch.nn.init.trunc_normal_(t, 0.5, 2.0, 1.0, 1.5)),
]

print(f"# PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; written by tests/nn/init_torch.py")
for name, fill in CASES:
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(7)
        t = torch.empty(5, 4, dtype=dtype)
        fill(t)
        print(name, str(dtype)[6:], *[x.hex() for x in t.flatten().double().tolist()])
