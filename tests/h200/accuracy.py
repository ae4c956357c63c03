#!/usr/bin/env python3
"""In: folders product-MxNxK that tests/h200/prepare_bench.sh made with DTYPE=f32. Out: the RMS and the largest error of tfgen's product
against float64, and their ratios to those of cuBLAS in fp32 (no tf32), on the same data: normal, positive, and of 30 orders of magnitude.
Refuses (exit 1) ratios above 1.1 (RMS) or 2 (largest) on normal data; on other data it prints ABOVE. Needs torch; no compiler.

usage: accuracy.py FOLDER"""
import os
import sys

import torch

import bench

DATA = {
    "normal": lambda *s: torch.randn(*s, device="cuda"),
    "positive": lambda *s: torch.rand(*s, device="cuda"),
    "wide": lambda *s: torch.randn(*s, device="cuda") * 10.0 ** torch.randint(-15, 15, s, device="cuda"),
}


def errors(y, exact):
    d = (y.double() - exact).abs()
    return d.pow(2).mean().sqrt().item(), d.max().item()


def main():
    root, good = sys.argv[1], True
    torch.manual_seed(3)
    torch.zeros(1, device="cuda")  # makes the context current
    torch.backends.cuda.matmul.allow_tf32 = False
    for name in sorted(os.listdir(root)):
        if not name.startswith("product-"):
            continue
        plan = bench.Plan(os.path.join(root, name))
        M, N, K = (int(n) for n in name.split("@")[0].split("-")[1].split("x"))
        line = f"{name:34s}"
        for kind, make in DATA.items():
            x, w = make(M, K), make(N, K)
            s = plan.add_set({"x": x, "w": w})
            plan.call(len(plan.sets) - 1)
            torch.cuda.synchronize()
            exact = x[:1024].double() @ w.double().T
            ours, cublas = (errors(y[:1024], exact) for y in (s["values"]["y"].reshape(M, N), x @ w.T))
            rms, most = ours[0] / cublas[0], ours[1] / cublas[1]
            within = rms <= 1.1 and most <= 2
            good &= within or kind != "normal"
            line += f"  {kind}: rms {ours[0]:.2e} x{rms:.2f} largest {ours[1]:.2e} x{most:.2f}" + ("" if within else " ABOVE")
            plan.sets.clear()
            del s
        print(line, flush=True)
        torch.cuda.empty_cache()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
