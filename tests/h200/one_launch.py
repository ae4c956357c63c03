#!/usr/bin/env python3
"""In: PyTorch, libtfgen (TFGEN_LIBRARY). Out: the decode blocks of docs/one-launch.md: layers of specs/llama-decode.yaml with full caches,
checked by float64, and timed by replayed graphs in turn, us per layer. Three forms: all layers in one launch (a stack), a launch for each
layer (level block), a few launches for each layer (level tile). Exit 1: a result is wrong.

--rehearse: a small case on the host, not timed. --only: names of cases. --compile: only compile, into the cache.
usage: one_launch.py [--rehearse] [--compile] [--only=NAME,...]"""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kinds import DEVICE, REHEARSE, TOP, Spec, Unit, judged_and_timed, main  # noqa: E402

# layers, B, L, D, H, KV, hd, F
CASES = {"small": (3, 2, 24, 64, 4, 2, 16, 96)} if REHEARSE else {
    "llama-1b": (16, 1, 1024, 2048, 32, 8, 64, 8192),
    "llama-8b": (8, 1, 2048, 4096, 32, 8, 128, 14336),
    "f5468": (8, 1, 512, 2048, 16, 16, 128, 5468),
    "d576": (8, 2, 777, 576, 9, 3, 64, 1536),
    "llama-1b-4-rows": (8, 4, 1024, 2048, 32, 8, 64, 8192),
    "d2496-4-rows": (8, 4, 1125, 2496, 28, 4, 64, 6304)}
FORMS = {"one launch": ("block", 1), "level block": ("block", 0), "level tile": ("tile", 0)}


def form_of(unit, layers):
    """A function that runs all layers and returns the output; one that runs layer n on x, with the same code."""
    count, rows = len(layers), [torch.empty_like(layers[0]["x"]) for _ in range(2)]

    def in_turn():
        x = layers[0]["x"]
        if unit.stack:
            unit.run(layers[0], x, rows[0], 0, count)
            return rows[0]
        for n, data in enumerate(layers):
            unit.run(data, x, rows[n % 2], n, following=(unit, (n + 1) % count) if unit.level == "tile" else None)
            x = rows[n % 2]
        return x

    def alone(n, x):
        y = torch.empty_like(x)
        unit.run(layers[n], x, y, n, 1)
        return y

    return in_turn, alone


def run_case(name, only_compile):
    count, *sizes = CASES[name]
    dims = dict(zip(("B", "L", "D", "H", "KV", "hd", "F"), sizes))
    text = open(os.path.join(TOP, "specs", "llama-decode.yaml"), "rb").read()
    with ThreadPoolExecutor(len(FORMS)) as pool:
        units = list(pool.map(lambda form: Unit([text], dims, form[1], form[0]), FORMS.values()))
    if only_compile:
        return 0
    read, kinds = Spec(text, None, "bf16", dims), [0] * count
    generator = torch.Generator(device=DEVICE).manual_seed(7)
    layers = [read.data(generator) for _ in kinds]
    for data in layers:
        data["pos"] = torch.full_like(data["pos"], dims["L"] - 1)
    runs = {}
    for form, unit in zip(FORMS, units):
        unit.load(layers, kinds if FORMS[form][1] else None)
        runs[form] = form_of(unit, layers)
    return judged_and_timed(name, [read], layers, kinds, runs)


if __name__ == "__main__":
    main(CASES, run_case)
