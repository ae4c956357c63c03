#!/usr/bin/env python3
"""Runs a fused layer on PyTorch tensors, on PyTorch's current stream, with the package tfgen (docs/python.md).

usage: torch_block.py [SPEC] [--device=cuda|cpu]      default: specs/swiglu.yaml, on cuda if there is a GPU

In the source tree, the package of python/ is used; set TFGEN_LIBRARY to libtfgen.so."""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import tfgen  # noqa: E402


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    files = [a for a in sys.argv[1:] if not a.startswith("--")] or ["specs/swiglu.yaml"]
    device = torch.device(options.get("device", "cuda" if torch.cuda.is_available() else "cpu"))
    types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
    torch.manual_seed(1)
    kept = {}

    def random(t):
        kept[t.name] = torch.randn(t.shape, device=device).mul(0.1).to(types[t.dtype])
        return kept[t.name]

    layer = tfgen.compile(files[0], params=random, device=device)
    x = {t.name: random(t) for t in layer.tensors if t.kind in ("input", "state")}
    out = layer(**x)
    print(f"{len(layer.plan.sources)} kernels on {device}:", {n: tuple(t.shape) for n, t in out.items()})
    if files[0].endswith("swiglu.yaml"):
        h = {n: t.double() for n, t in kept.items()}
        want = torch.nn.functional.silu(h["x"] @ h["w_gate"].T) * (h["x"] @ h["w_up"].T)
        error = ((out["y"].double() - want).norm() / want.norm()).item()
        print(f"relative error {error:.2g} against PyTorch in double precision")
        assert error < 1e-2
    layer.close()


if __name__ == "__main__":
    main()
