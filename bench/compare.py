#!/usr/bin/env python3
"""tfgen beside what a user would pick instead, on one GPU, in one process, on the same inputs.

usage: compare.py [products] [few] [fused] [attention] [rows] [blocks] [fp32] [decode] [sweep] [--only=TEXT,TEXT] [--count=40] [--seed=1]
                  [--tune] [--json=FILE]                                                              default: all but sweep and --tune
       compare.py tuned|kept --state=FOLDER [--budget=55] [--within=SECONDS] [--count=10] [--seed=1] [--only=TEXT,TEXT] [--alone=TEXT,TEXT]
                  [--json=FILE] [--rehearse]

few: products of 1 to 64 rows; decode: blocks that generate a token a sequence, over a cache; sweep: --count decode blocks of shapes that
--seed draws. --tune: torch.compile's max-autotune beside its default. --only: cases whose name has a TEXT.

tuned: tfgen untuned, tfgen with what `tfgen tune` finds in --budget seconds (10 at most for an operation), and torch.compile's
max-autotune, in turn, with how long each took to tune: blocks and decode blocks of the presets, --count shapes and --count operations that
--seed draws. --state keeps wisdom, trials and results; what is in there is not done again, and no case is begun that would not end within
--within seconds, so that slices add up. Processes with one --state, a GPU each (CUDA_VISIBLE_DEVICES), take cases in turn. --alone: cases
whose name has a TEXT have no peer. kept: each line of that wisdom that was better, alone, against the default; it fails where one is not
faster by three standard errors, and writes confirmed.wisdom of the others. --rehearse: small cases, without a GPU on PyTorch's CPU and the
host engine: the way through all of it, and no times of a GPU. TFGEN names the command (default: tfgen beside this folder).

Every time is GPU time of one call: the median of CUDA-graph replays of several calls over rotated inputs, with the 10 % and 90 % points.
The contenders of a case take turns, in an order drawn for each round, so clocks and heat are the same for all of them. Both sides' results
are compared with PyTorch in float32 (float64 for fp32 cases) before anything is timed; a case that disagrees is printed as WRONG and fails
the run. floor: max(FLOPs / peak, bytes / bandwidth), bandwidth being what the device's best copy moves. TFGEN_LIBRARY names libtfgen.so.
Needs PyTorch."""
import json
import math
import os
import random
import sys
import time

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from race import (DEVICE, ON_GPU, Ours, difference, gain, give_back_memory, measured_bandwidth, rounds_of, spread, times_of,  # noqa: E402
                  wait)
from shapes import DECODE, FEW, LLM, SHAPES, cases_of, drawn_shape  # noqa: E402
from tuned import Tuning, mean, tuned_line, tuned_table  # noqa: E402

BANDWIDTH = 0.0  # bytes/s, read and written: measured_bandwidth()
PEAK = {"bf16": 790e12, "f16": 790e12, "f32": 60e12}
TYPE = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
L2 = 64 << 20 if ON_GPU else 1 << 10
rows, wrong, only = [], [], None
tuning, key = None, None  # of the parts tuned and kept: Tuning, and the case
confirm = False           # of the part kept
deadline, longest = math.inf, {}
alone = ()                # of the part tuned: what the names of cases have that torch.compile does not tune
rehearsal = False


def specs(name):
    with open(os.path.join(HERE, "..", "specs", name + ".yaml"), "rb") as f:
        return f.read()


def report(case, dtype, flops, bytes_, peers, ours, tolerance, goal=None):
    """peers: name -> list of closures. Prints a line a case, with the best of the peers."""
    if tuning:
        (report_kept if confirm else report_tuned)(case, dtype, max(flops / PEAK[dtype], bytes_ / BANDWIDTH) * 1e6, peers, ours)
        return
    floor = max(flops / PEAK[dtype], bytes_ / BANDWIDTH) * 1e6
    timed = times_of(case, {**peers, "tfgen": ours.calls()})
    ours.close()
    mine = timed.pop("tfgen")
    best = min(timed, key=lambda n: timed[n][0]) if timed else None
    ratio = timed[best][0] / mine[0] if best else float("nan")
    rows.append({"case": case, "dtype": dtype, "tfgen_us": mine, "peers_us": timed, "best": best, "ratio": ratio, "floor_us": floor,
                 "of_floor": floor / mine[0], "tflops": flops / mine[0] / 1e6, "error": tolerance})
    print(f"{case:44s} {dtype:5s} tfgen {mine[0]:8.1f} us ({mine[1]:.1f}, {mine[2]:.1f})  "
          f"{best or '-':>16s} {timed[best][0] if best else 0:8.1f} us  "
          f"{ratio:5.2f}x  floor {floor:7.1f} us {100 * floor / mine[0]:3.0f} %  {flops / mine[0] / 1e6:6.1f} TFLOP/s"
          + (f"  goal {goal}" if goal else ""), flush=True)


def first_call_seconds(peers):
    """Of each, which compiles and tunes it; those that fail are left out."""
    seconds = {}
    for name, calls in peers.items():
        if any(part in key for part in alone):
            continue
        start = time.monotonic()
        try:
            calls[0]()
            wait()
            seconds[name] = time.monotonic() - start
        except Exception as e:
            print(f"  {name} failed: {type(e).__name__} {str(e)[:120]}", flush=True)
    return seconds


def with_wisdom(case, dtype, ours, path):
    """The same call planned with that wisdom; its results agree with those without."""
    other = Ours(*ours.given, wisdom=path)
    other.calls()[0]()
    ours.calls()[0]()
    for name, out in other.out[0].items():
        agree(f"{case} tuned {name}", out, ours.out[0][name], 2 * LIMIT[dtype])
    return other


WARM = 0.3  # seconds: a GPU that waited for compilers has low clocks


def report_tuned(case, dtype, floor, peers, ours):
    done = tuning.tune(key, *ours.given[:3], None if is_long(key) else 10)
    torch_seconds = first_call_seconds(peers)
    tuned_ = with_wisdom(case, dtype, ours, tuning.path(key, "wisdom"))
    times = rounds_of(case, {**{n: peers[n] for n in torch_seconds}, "untuned": ours.calls(), "tfgen": tuned_.calls()}, 51, WARM)
    tuned_.close()
    ours.close()
    timed = {n: spread(t) for n, t in times.items()}
    peer = next((n for n in torch_seconds if n in timed), None)
    done.update(case=case, dtype=dtype, floor_us=floor, us=timed, torch_seconds=torch_seconds, gain=gain(times, "tfgen", "untuned"),
                over_torch=gain(times, "tfgen", peer) if peer else None)
    tuning.save(done)
    rows.append(done)
    print(tuned_line(done), flush=True)


def report_kept(case, dtype, floor, peers, ours):
    """Each line alone, in a process that found none of them: the default and the line, in turn."""
    for line in tuning.kept(key):
        mine = with_wisdom(case, dtype, ours, tuning.one(line))
        times = rounds_of(case, {"default": ours.calls(), "tfgen": mine.calls()}, 151, WARM)
        mine.close()
        better, noise = gain(times, "tfgen", "default")
        timed = {n: spread(t) for n, t in times.items()}
        rows.append({"case": case, "line": line, "us": timed, "gain": better, "noise": noise})
        good = better - 3 * noise > 1
        if not good:
            wrong.append(f"{case}: no gain by {line}")
        print(f"{'kept ' if good else 'NOT  '}{case:52s} default {timed['default'][0]:8.2f} us  kept {timed['tfgen'][0]:8.2f} us  "
              f"{better:6.4f}x (+-{noise:.4f})  {line}", flush=True)
    ours.close()


def agree(case, got, want, limit):
    """True when both computed the same thing."""
    d = difference(got, want)
    if d <= limit:
        return d
    wrong.append(case)
    print(f"{case}: WRONG, relative RMS difference {d:.3g} (limit {limit:g})", flush=True)
    return d


LIMIT = {"bf16": 1.5e-2, "f16": 2e-3, "f32": 1e-5}


def is_long(name):
    return name.split()[0] in ("block", "decode_block")


def is_due(name):
    """Of the parts tuned and kept: whether there is something to do, time for it, and nobody at it."""
    if confirm:
        return bool(tuning.kept(name)) and time.monotonic() < deadline
    expected = longest.get(is_long(name), tuning.budget + 20 if is_long(name) else 20)
    return "us" not in tuning.case(name) and time.monotonic() + expected <= deadline and tuning.take(name)


def attempt(function, *args, **named):
    global key
    name = f"{function.__name__} {' '.join(map(str, args))}"
    if only and not any(text in name for text in only):
        return
    if tuning:
        key = name
        if not is_due(name):
            return
    start = time.monotonic()
    try:
        function(*args, **named)
    except RuntimeError as e:
        wrong.append(str(args))
        print(f"{function.__name__}{args}: FAILED {str(e)[:300]}", flush=True)
    if tuning and not confirm:
        longest[is_long(name)] = max(longest.get(is_long(name), 0), time.monotonic() - start)
        tuning.give_back(name)
    give_back_memory()


def normal(*shape, dtype, scale=1.0):
    return torch.randn(*shape, device=DEVICE).mul_(scale).to(TYPE[dtype])


def sets(bytes_):
    return max(2, int(3 * L2 // max(bytes_, 1)) + 1)


def compiled(function, tune, modes=("default",)):
    names = list(() if tuning else modes) + (["max-autotune-no-cudagraphs"] if tune or tuning else [])
    out = {}
    for mode in names:
        torch._dynamo.reset()
        out["torch.compile" + ("" if mode == "default" else " tuned")] = torch.compile(function, mode=mode)
    return out


# ---- products
LINEAR = b"block: linear\ndtype: bf16\ndims: {M: 1, N: 1, K: 1}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n" \
         b"ops: [{out: l, op: linear, in: [x, w]}]\noutputs: {y: l}\n"


def product(M, N, K, dtype="bf16", goal=None):
    size = torch.finfo(TYPE[dtype]).bits // 8
    bytes_ = (M * K + N * K + M * N) * size
    data = [{"x": normal(M, K, dtype=dtype), "w": normal(N, K, dtype=dtype, scale=0.05)} for _ in range(min(sets(bytes_), 6))]
    ours = Ours(LINEAR, {"M": M, "N": N, "K": K}, dtype, data)
    ours.calls()[0]()
    exact = torch.float64 if dtype == "f32" else torch.float32
    torch.backends.cuda.matmul.allow_tf32 = False
    d = agree(f"{M}x{N}x{K}", ours.out[0]["y"], data[0]["x"].to(exact) @ data[0]["w"].to(exact).T, LIMIT[dtype])
    peers = {"cuBLAS": [lambda v=v: F.linear(v["x"], v["w"]) for v in data]}
    if tuning:
        peers = {n: [lambda f=f, v=v: f(v["x"], v["w"]) for v in data] for n, f in compiled(F.linear, True).items()}
    report(f"product {M}x{N}x{K}", dtype, 2.0 * M * N * K, bytes_, peers, ours, d, goal)


def products(tune):
    for m, n, k, goal in ((8192, 8192, 8192, ">= 1.00"), (4096, 14336, 4096, ">= 1.00"), (2048, 5468, 2048, "<= 70 us"),
                          (2048, 8192, 2048, None)):
        attempt(product, m, n, k, goal=goal)
    first = len(rows)
    for m, n, k in LLM:
        attempt(product, m, n, k)
    ratios = [r["ratio"] for r in rows[first:]]
    if ratios:
        print(f"{len(ratios)} products: geometric mean {mean(ratios):.3f} of cuBLAS, worst {min(ratios):.3f}"
              "  goal >= 1.0, >= 0.85")


def few(tune):
    first = len(rows)
    for n, k in FEW:
        for m in (1, 2, 4, 8, 16, 32, 64):
            attempt(product, m, n, k, goal=">= 1.00" + (", >= 88 % of floor" if n * k >= 32 << 20 else ""))
    own = rows[first:]
    narrow = [r["ratio"] for r in own if int(r["case"].split()[1].split("x")[0]) <= 16]
    if narrow:
        worst = min(own, key=lambda r: r["ratio"])
        print(f"{len(own)} products of few rows: geometric mean {mean([r['ratio'] for r in own]):.3f} of cuBLAS, {mean(narrow):.3f} up "
              f"to 16 rows (goal >= 1.15), worst {worst['ratio']:.3f} ({worst['case']})")


# ---- fused products
def swiglu(M, D, Fd, goal=None, tune=False):
    data = [{"x": normal(1, M, D, dtype="bf16"), "w_gate": normal(Fd, D, dtype="bf16", scale=0.03),
             "w_up": normal(Fd, D, dtype="bf16", scale=0.03)} for _ in range(3)]
    ours = Ours(specs("swiglu"), {"B": 1, "S": M, "D": D, "F": Fd}, "bf16", data)
    ours.calls()[0]()
    v = {n: t.float() for n, t in data[0].items()}
    d = agree("swiglu", ours.out[0]["y"], F.silu(v["x"] @ v["w_gate"].T) * (v["x"] @ v["w_up"].T), LIMIT["bf16"])
    joined = [(v["x"], torch.cat([v["w_gate"], v["w_up"]])) for v in data]

    def peer(x, w):
        g, u = F.linear(x, w).chunk(2, -1)
        return F.silu(g) * u
    peers = {n: [lambda f=f, a=a: f(*a) for a in joined] for n, f in compiled(peer, tune).items()}
    report(f"swiglu {M}x{D}x{Fd}", "bf16", 4.0 * M * D * Fd, (M * D + 2 * Fd * D + M * Fd) * 2, peers, ours, d, goal)


def gelu_norm_linear(M, D, Fd, goal=None, tune=False):
    data = [{"x": normal(1, M, D, dtype="bf16"), "w": normal(Fd, D, dtype="bf16", scale=0.03), "b": normal(Fd, dtype="bf16"),
             "norm_w": normal(Fd, dtype="bf16"), "norm_b": normal(Fd, dtype="bf16")} for _ in range(3)]
    ours = Ours(specs("gelu-layernorm-linear"), {"B": 1, "S": M, "D": D, "F": Fd}, "bf16", data)
    ours.calls()[0]()
    v = {n: t.float() for n, t in data[0].items()}
    d = agree("gelu(layernorm(linear))", ours.out[0]["y"], F.gelu(F.layer_norm(v["x"] @ v["w"].T + v["b"], (Fd,), v["norm_w"],
                                                                               v["norm_b"])), LIMIT["bf16"])

    def peer(x, w, b, nw, nb):
        return F.gelu(F.layer_norm(F.linear(x, w, b), (Fd,), nw, nb))
    order = ("x", "w", "b", "norm_w", "norm_b")
    peers = {n: [lambda f=f, v=v: f(*(v[o] for o in order)) for v in data] for n, f in compiled(peer, tune).items()}
    report(f"gelu(layernorm(linear)) {M}x{D}x{Fd}", "bf16", 2.0 * M * D * Fd, (M * D + Fd * D + M * Fd) * 2, peers, ours, d, goal)


def fused(tune):
    attempt(swiglu, 2048, 2048, 8192, "<= 185 us", tune)
    attempt(swiglu, 2048, 2048, 5468, None, tune)
    attempt(swiglu, 4096, 4096, 14336, None, tune)
    attempt(gelu_norm_linear, 2048, 2048, 8192, "<= 105 us", tune)
    attempt(gelu_norm_linear, 2048, 2048, 5468, None, tune)


# ---- attention
def attend(B, H, KV, S, hd, causal, goal=None):
    text = specs("attention") if causal else specs("attention").replace(b"causal: true", b"causal: false")
    data = [{"q": normal(B, S, H * hd, dtype="bf16"), "k": normal(B, S, KV * hd, dtype="bf16"), "v": normal(B, S, KV * hd, dtype="bf16")}
            for _ in range(3)]
    ours = Ours(text, {"B": B, "S": S, "H": H, "KV": KV, "hd": hd}, "bf16", data)
    ours.calls()[0]()

    def heads(t, n):
        return t.view(B, S, n, hd).transpose(1, 2)

    def want(part):  # one batch entry at a time, fp32
        v = {n: t[part:part + 1].float() for n, t in data[0].items()}
        q, k, w = (v[n].view(1, S, c, hd).transpose(1, 2) for n, c in (("q", H), ("k", KV), ("v", KV)))
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            r = H // KV
            return F.scaled_dot_product_attention(q, k.repeat_interleave(r, 1), w.repeat_interleave(r, 1),
                                                  is_causal=causal).transpose(1, 2).reshape(1, S, H * hd)
    d = agree(f"attention S{S} d{hd}", ours.out[0]["y"], torch.cat([want(b) for b in range(B)]), LIMIT["bf16"])
    peer_data = [tuple(heads(v[n], c).contiguous() for n, c in (("q", H), ("k", KV), ("v", KV))) for v in data]
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def through(backend, q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=KV != H)
    peers = {n: [lambda b=b, a=a: through(b, *a) for a in peer_data]
             for n, b in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION))}
    report(f"attention B{B} H{H}/{KV} S{S} d{hd}{' causal' if causal else ''}", "bf16", 4.0 * B * H * S * S * hd * (0.5 if causal else 1.0),
           2.0 * (2 * B * H * S * hd + 2 * B * KV * S * hd), peers, ours, d, goal)


def attention(tune):
    for B, H, KV, S, hd, causal, goal in ((4, 32, 32, 512, 64, True, ">= 1.2"), (1, 32, 8, 2048, 64, True, ">= 1.2"),
                                          (1, 32, 8, 4096, 128, True, ">= 1.05"), (2, 16, 16, 8192, 128, True, ">= 1.05"),
                                          (2, 16, 16, 8192, 128, False, ">= 1.05")):
        attempt(attend, B, H, KV, S, hd, causal, goal)


# ---- row operations
ADD_NORM = (b"block: add-rmsnorm\ndtype: bf16\ndims: {M: 1, D: 1}\ninputs: {x: [M, D], r: [M, D]}\nparams: {w: [D]}\n"
            b"ops: [{out: h, op: add, in: [x, r]}, {out: n, op: rmsnorm, in: [h, w], eps: 1.0e-5}]\noutputs: {s: h, y: n}\n")


def row(name, M, D, dtype, tune=False):
    size = torch.finfo(TYPE[dtype]).bits // 8
    bytes_ = (4 if name == "add+rmsnorm" else 2) * M * D * size
    eps = 1e-5
    text = ADD_NORM if name == "add+rmsnorm" else specs(name)
    dims = {"M": M, "D": D} if name == "add+rmsnorm" else {"B": 4, "S": M // 4, "D": D}
    shape = (M, D) if name == "add+rmsnorm" else (4, M // 4, D)
    data = [{"x": normal(*shape, dtype=dtype), "r": normal(*shape, dtype=dtype), "w": normal(D, dtype=dtype), "b": normal(D, dtype=dtype)}
            for _ in range(min(sets(bytes_), 32))]
    taken = {"rmsnorm": "xw", "layernorm": "xwb", "l2norm": "x", "softmax": "x", "add+rmsnorm": "xrw"}[name]
    ours = Ours(text, dims, dtype, [{n: v[n] for n in taken} for v in data])
    ours.calls()[0]()
    functions = {"rmsnorm": lambda x, r, w, b: F.rms_norm(x, (D,), w, eps),
                 "layernorm": lambda x, r, w, b: F.layer_norm(x, (D,), w, b, eps), "l2norm": lambda x, r, w, b: F.normalize(x, dim=-1),
                 "softmax": lambda x, r, w, b: F.softmax(x, dim=-1),
                 "add+rmsnorm": lambda x, r, w, b: (x + r, F.rms_norm(x + r, (D,), w, eps))}
    order = ("x", "r", "w", "b")
    exact = torch.float64 if dtype == "f32" else torch.float32
    want = functions[name](*(data[0][n].to(exact) for n in order))
    d = agree(name, ours.out[0]["y"], want[1] if isinstance(want, tuple) else want, LIMIT[dtype])
    peers = {n: [lambda f=f, v=v: f(*(v[o] for o in order)) for v in data] for n, f in compiled(functions[name], tune).items()}
    goal = None if name not in ("rmsnorm", "layernorm", "l2norm",
                                "add+rmsnorm") else ">= 80 % of floor" if M == 2048 else ">= 92 % of floor"
    report(f"{name} {M}x{D}", dtype, 0.0, bytes_, peers, ours, d, goal)


def rows_(tune):
    for M, D in ((2048, 2048), (16384, 4096)):
        for name in ("rmsnorm", "layernorm", "l2norm", "add+rmsnorm"):
            attempt(row, name, M, D, "bf16", tune)


# ---- blocks
def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def torch_block(x, w, H, KV, hd, cos, sin):
    B, S, D = x.shape
    q, k, v = F.linear(F.rms_norm(x, (D,), w["attn_norm"], 1e-5), w["qkv"]).split([H * hd, KV * hd, KV * hd], -1)
    q, k = (rotated(t.view(B, S, n, hd).transpose(1, 2), cos, sin) for t, n in ((q, H), (k, KV)))
    a = F.scaled_dot_product_attention(q, k, v.view(B, S, KV, hd).transpose(1, 2), is_causal=True, enable_gqa=H != KV)
    x = x + F.linear(a.transpose(1, 2).reshape(B, S, H * hd), w["wo"])
    g, u = F.linear(F.rms_norm(x, (D,), w["mlp_norm"], 1e-5), w["gate_up"]).chunk(2, -1)
    return x + F.linear(F.silu(g) * u, w["w_down"])


def joined_weights(v, type_):
    v = {n: t.to(type_) for n, t in v.items() if n not in ("x", "pos", "k_cache", "v_cache")}
    return {**v, "qkv": torch.cat([v["wq"], v["wk"], v["wv"]]), "gate_up": torch.cat([v["w_gate"], v["w_up"]])}


def block(name, dtype, tune=False, goal=None):
    B, S, D, H, KV, hd, Fd = SHAPES[name]
    size, T = torch.finfo(TYPE[dtype]).bits // 8, B * S
    shapes = {"wq": (H * hd, D), "wk": (KV * hd, D), "wv": (KV * hd, D), "wo": (D, H * hd), "w_gate": (Fd, D), "w_up": (Fd, D),
              "w_down": (D, Fd)}
    data = [{**{n: normal(*s, dtype=dtype, scale=s[1] ** -0.5) for n, s in shapes.items()}, "x": normal(B, S, D, dtype=dtype),
             "attn_norm": normal(D, dtype=dtype, scale=0.1) + 1, "mlp_norm": normal(D, dtype=dtype, scale=0.1) + 1} for _ in range(2)]
    ours = Ours(specs("llama-block"), {"B": B, "S": S, "D": D, "H": H, "KV": KV, "hd": hd, "F": Fd}, dtype, data)
    ours.calls()[0]()
    angles = torch.outer(torch.arange(S, device=DEVICE).double(), 500000.0 ** (-torch.arange(0, hd, 2, device=DEVICE).double() / hd))

    tables = (angles.cos().to(TYPE[dtype]), angles.sin().to(TYPE[dtype]))
    x, w = data[0]["x"].float(), joined_weights(data[0], torch.float32)
    want = torch_block(x, w, H, KV, hd, angles.cos().float(), angles.sin().float())
    d = agree(f"block {name}", ours.out[0]["y"], want, LIMIT[dtype] if dtype != "f32" else 1e-4)
    del x, w, want
    inputs = [(v["x"], joined_weights(v, TYPE[dtype])) for v in data]

    def peer(x, w):
        return torch_block(x, w, H, KV, hd, *tables)
    peers = {n: [lambda f=f, a=a: f(*a) for a in inputs] for n, f in compiled(peer, tune).items()}
    flops = 2.0 * T * (D * (H + 2 * KV) * hd + H * hd * D + 3 * D * Fd) + 2.0 * B * H * S * S * hd
    bytes_ = ((D * (H + 2 * KV) * hd + H * hd * D + 3 * D * Fd) + 2 * T * D) * size
    report(f"block {name} B{B} S{S}", dtype, flops, bytes_, peers, ours, d, goal)


def blocks(tune):
    for name in SHAPES:
        attempt(block, name, "bf16", tune, ">= 1.15")


def fp32(tune):
    attempt(block, "exercise", "f32", tune, "<= 2300 us")
    attempt(product, 2048, 8192, 2048, "f32")
    attempt(product, 4096, 4096, 4096, "f32")


# ---- blocks that generate: one token a sequence, over a cache
def torch_decode(x, w, kc, vc, H, KV, hd, cos, sin):
    """All sequences stand at the cache's last row."""
    B, _, D = x.shape
    L = kc.shape[2]
    q, k, v = F.linear(F.rms_norm(x, (D,), w["attn_norm"], 1e-5), w["qkv"]).split([H * hd, KV * hd, KV * hd], -1)
    kc[:, :, L - 1:] = rotated(k.view(B, KV, 1, hd), cos, sin)
    vc[:, :, L - 1:] = v.view(B, KV, 1, hd)
    a = F.scaled_dot_product_attention(rotated(q.view(B, H, 1, hd), cos, sin), kc, vc, enable_gqa=H != KV)
    x = x + F.linear(a.reshape(B, 1, H * hd), w["wo"])
    g, u = F.linear(F.rms_norm(x, (D,), w["mlp_norm"], 1e-5), w["gate_up"]).chunk(2, -1)
    return x + F.linear(F.silu(g) * u, w["w_down"])


def decode_block(name, B, L, D, H, KV, hd, Fd, goal=None, tune=False):
    dtype, type_ = "bf16", TYPE["bf16"]
    shapes = {"wq": (H * hd, D), "wk": (KV * hd, D), "wv": (KV * hd, D), "wo": (D, H * hd), "w_gate": (Fd, D), "w_up": (Fd, D),
              "w_down": (D, Fd)}
    products = sum(n * k for n, k in shapes.values())
    bytes_ = 2.0 * (products + 2 * B * D + 2 * B * KV * L * hd)
    data = [{**{n: normal(*s, dtype=dtype, scale=s[1] ** -0.5) for n, s in shapes.items()}, "x": normal(B, 1, D, dtype=dtype),
             "attn_norm": normal(D, dtype=dtype, scale=0.1) + 1, "mlp_norm": normal(D, dtype=dtype, scale=0.1) + 1,
             "pos": torch.full((B,), L - 1, dtype=torch.int32, device=DEVICE),
             "k_cache": normal(B, KV, L, hd, dtype=dtype), "v_cache": normal(B, KV, L, hd, dtype=dtype)} for _ in range(sets(bytes_))]
    case = f"decode {name} B{B} L{L} D{D} H{H}/{KV}x{hd} F{Fd}"
    angle = (L - 1) * 500000.0 ** (-torch.arange(0, hd, 2, device=DEVICE).double() / hd)
    caches = [data[0][n].float() for n in ("k_cache", "v_cache")]
    want = torch_decode(data[0]["x"].float(), joined_weights(data[0], torch.float32), *caches, H, KV, hd, angle.cos().float(),
                        angle.sin().float())
    ours = Ours(specs("llama-decode"), {"B": B, "L": L, "D": D, "H": H, "KV": KV, "hd": hd, "F": Fd}, dtype, data)
    ours.calls()[0]()
    d = agree(case, ours.out[0]["y"], want, LIMIT[dtype])
    for n, cache in zip(("k_cache", "v_cache"), caches):
        agree(f"{case} {n}", data[0][n][:, :, -1], cache[:, :, -1], LIMIT[dtype])
    del caches, want
    tables = (angle.cos().to(type_), angle.sin().to(type_))
    inputs = [(v["x"], joined_weights(v, type_), v["k_cache"], v["v_cache"]) for v in data]

    def peer(x, w, kc, vc):
        return torch_decode(x, w, kc, vc, H, KV, hd, *tables)
    peers = {n: [lambda f=f, a=a: f(*a) for a in inputs] for n, f in compiled(peer, tune).items()}
    report(case, dtype, 2.0 * B * products + 4.0 * B * H * L * hd, bytes_, peers, ours, d, goal)


def decode(tune):
    first = len(rows)
    for case in DECODE:
        attempt(decode_block, *case, tune)
    conclude("decode blocks", rows[first:])


def conclude(what, own):
    ratios = sorted((r["ratio"], r["case"]) for r in own)
    if ratios:
        print(f"{len(ratios)} {what}: geometric mean {mean([r for r, c in ratios]):.3f} of torch.compile, worst "
              + "; ".join(f"{r:.2f} {c}" for r, c in ratios[:3]) + "  goal >= 1.10", flush=True)


def sweep(tune, count=40, seed=1):
    draw, first = random.Random(seed), len(rows)
    for i in range(count):
        attempt(decode_block, f"drawn{i}", *drawn_shape(draw), None, tune)
    conclude(f"drawn decode blocks (seed {seed})", rows[first:])


# ---- tuned
def small(function, args):
    """The case of a rehearsal."""
    return {product: (5, 24, 16), row: (args[0], 8, 32, "bf16"), block: args, decode_block: (args[0], 2, 6, 32, 2, 1, 16, 48)}[function]


def tuned_cases(count, seed):
    functions = {f.__name__: f for f in (block, decode_block, product, row)}
    cases = [(functions[name], args) for name, args in cases_of(count, seed)]
    if rehearsal:
        SHAPES.update({name: (1, 6, 32, 2, 1, 16, 48) for name in SHAPES})
        cases = [(function, small(function, args)) for function, args in cases]
    for function, args in cases:
        attempt(function, *args)


def tuned(tune, count=10, seed=1):
    tuned_cases(count, seed)
    print("\n" + tuned_table(tuning.cases()))


def kept(tune, count=10, seed=1):
    global confirm
    confirm = True
    tuned_cases(count, seed)
    lines = [r["line"] for r in rows if r["gain"] - 3 * r["noise"] > 1]
    tuning.write(os.path.join(tuning.folder, "confirmed.wisdom"), "\n".join(["wisdom 1", *lines, ""]))
    print(f"{len(rows)} lines, {len(lines)} faster than the default: confirmed.wisdom")


def main():
    global BANDWIDTH, only, tuning, deadline, alone, rehearsal
    parts = {"products": products, "few": few, "fused": fused, "attention": attention, "rows": rows_, "blocks": blocks, "fp32": fp32,
             "decode": decode, "sweep": sweep, "tuned": tuned, "kept": kept}
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    asked = [a for a in sys.argv[1:] if not a.startswith("--")] or [p for p in parts if p not in ("sweep", "tuned", "kept")]
    strange = [o for o in options if o not in ("tune", "json", "only", "count", "seed", "state", "budget", "within", "alone", "rehearse")]
    strange += [a for a in asked if a not in parts]
    if strange:
        sys.exit(f"compare.py: {strange[0]}: there is no such part or option\n\n{__doc__}")
    if ("state" in options) != (asked in (["tuned"], ["kept"])):
        sys.exit("compare.py: tuned and kept stand alone, and have --state=FOLDER")
    rehearsal = "rehearse" in options
    if not ON_GPU and not ("state" in options and rehearsal):
        sys.exit("compare.py: PyTorch sees no GPU; without one, tuned and kept can be rehearsed: --rehearse")
    if "state" in options:
        os.environ["TFGEN_WISDOM"] = "none"  # of what is untuned
        alone = tuple(filter(None, options.get("alone", "").split(",")))
        deadline = time.monotonic() + float(options.get("within", math.inf))
        tuning = Tuning(options["state"], float(options.get("budget", 55)), os.environ.get("TFGEN", os.path.join(HERE, "..", "tfgen")),
                        "cuda" if ON_GPU else "host")
    only = tuple(filter(None, options.get("only", "").split(",")))
    torch.manual_seed(1)
    random.seed(1)
    BANDWIDTH = measured_bandwidth()
    print(f"{torch.cuda.get_device_name() if ON_GPU else 'no GPU'}, PyTorch {torch.__version__}, copies {BANDWIDTH / 1e12:.2f} TB/s")
    for part in asked:
        drawn = {n: int(options[n]) for n in ("count", "seed") if n in options and part in ("sweep", "tuned", "kept")}
        with torch.no_grad():
            parts[part]("tune" in options, **drawn)
        if "json" in options:
            with open(options["json"], "w") as f:
                json.dump(rows, f, indent=1)
    if wrong:
        print(f"{len(wrong)} cases WRONG or failed: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
