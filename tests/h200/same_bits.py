#!/usr/bin/env python3
"""In: a GPU, PyTorch and libtfgen (TFGEN_LIBRARY names it). Out: for decode blocks of 1 to 64 sequences, odd sizes among them, in how many
of 200 runs results or caches differ from the first run's; between runs the workspace is filled with noise, the output with NaN, and copies
keep the memory busy. Exit code 1 where anything differs or is not finite.

usage: same_bits.py        tests/h200/prepare_compare.sh makes what it needs, for machines without tfgen's libraries"""
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
import tfgen  # noqa: E402

DEVICE = torch.device("cuda")
RUNS = 200
SHAPES = [(1, 1024, 2048, 32, 8, 64, 8192), (3, 777, 1000, 8, 2, 80, 1501), (8, 1024, 2048, 32, 8, 64, 8192),
          (16, 2048, 4096, 32, 8, 128, 14336), (17, 300, 1024, 16, 2, 64, 2816), (40, 512, 2048, 16, 4, 128, 5468),
          (64, 1024, 3072, 24, 8, 128, 8192), (5, 20000, 1024, 8, 2, 128, 2048)]  # B, L, D, H, KV, hd, F


def differing(text, B, L, D, H, KV, hd, F):
    def param(t):
        scale = t.shape[-1] ** -0.5 if len(t.shape) > 1 else 1
        return (torch.randn(t.shape, device=DEVICE) * scale).bfloat16()
    dims = {"B": B, "L": L, "D": D, "H": H, "KV": KV, "hd": hd, "F": F}
    layer = tfgen.compile(text, name="llama-decode.yaml", params=param, device=DEVICE, dims=dims, dtype="bf16")
    caches = [torch.randn(B, KV, L, hd, device=DEVICE).bfloat16() for _ in range(2)]
    run = layer.prepare({"x": torch.randn(B, 1, D, device=DEVICE).bfloat16(), "k_cache": caches[0], "v_cache": caches[1],
                         "pos": torch.randint(0, L, (B,), device=DEVICE, dtype=torch.int32)})
    run()
    first = [t.clone() for t in (run.outputs["y"], *caches)]
    busy = [torch.zeros(64 << 20, device=DEVICE) for _ in range(2)]
    differ = 0 if torch.isfinite(first[0]).all() else RUNS
    for i in range(RUNS):
        if i % 10 == 5:
            run.memory.random_(0, 255)
        run.outputs["y"].fill_(float("nan"))
        for _ in range(2 if i % 3 == 0 else 1):
            run()
        if i % 7 == 0:
            busy[0].copy_(busy[1])
        differ += not all(torch.equal(a, b) for a, b in zip(first, (run.outputs["y"], *caches)))
    layer.close()
    return differ


def main():
    torch.manual_seed(3)
    with open(os.path.join(HERE, "..", "..", "specs", "llama-decode.yaml"), "rb") as f:
        text = f.read()
    total = 0
    for shape in SHAPES:
        differ = differing(text, *shape)
        total += differ
        print("B{} L{} D{} H{}/{}x{} F{}:".format(*shape), f"{RUNS} runs, {differ} differ", flush=True)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
