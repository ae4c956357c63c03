#!/usr/bin/env python3
"""tfgen beside what a user would pick instead, on one GPU, in one process, on the same inputs.

usage: compare.py [products] [few] [fused] [attention] [rows] [blocks] [fp32] [decode] [sweep] [--only=TEXT] [--count=40] [--seed=1]
                  [--tune] [--json=FILE]                                                              default: all but sweep and --tune
       compare.py tuned|kept --state=FOLDER [--budget=55] [--within=SECONDS] [--count=10] [--seed=1] [--only=TEXT] [--json=FILE]

few: products of 1 to 64 rows; decode: blocks that generate a token a sequence, over a cache; sweep: --count decode blocks of shapes that
--seed draws. --tune: torch.compile's max-autotune beside its default. --only: cases whose name has TEXT.

tuned: tfgen untuned, tfgen with what `tfgen tune` finds in --budget seconds (10 at most for an operation), and torch.compile's
max-autotune, in turn, with how long each took to tune: blocks and decode blocks of the presets, and --count shapes that --seed draws, half
of them operations. --state keeps wisdom, trials and results; what is in there is not done again, and after --within seconds no case is
begun, so that slices add up. kept: each line of that wisdom that was better, alone, against the default; it fails where one is not.
TFGEN names the command (default: tfgen beside this folder).

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
sys.path.insert(0, os.path.join(HERE, "..", "examples"))
sys.path.insert(0, HERE)
from torch_block import Layer  # noqa: E402
from tuned import Tuning  # noqa: E402

DEVICE = torch.device("cuda")
BANDWIDTH = 0.0  # bytes/s, read and written: measured_bandwidth()
PEAK = {"bf16": 790e12, "f16": 790e12, "f32": 60e12}
TYPE = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
L2 = 64 << 20
rows, wrong, only = [], [], None
tuning, key = None, None  # of the parts tuned and kept: Tuning, and the case
confirm = False           # of the part kept
deadline = math.inf


def specs(name):
    with open(os.path.join(HERE, "..", "specs", name + ".yaml"), "rb") as f:
        return f.read()


def graph_of(calls):
    """calls: closures over rotated inputs. A graph of some of them, in turn, and how many."""
    for c in calls:
        c()
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for c in calls:
            c()
    torch.cuda.current_stream().wait_stream(side)
    graph, inner = torch.cuda.CUDAGraph(), max(len(calls), 8) // len(calls) * len(calls)
    with torch.cuda.graph(graph):
        for i in range(inner):
            calls[i % len(calls)]()
    return graph, inner


def replayed_us(graph, inner):
    graph.replay()  # what ran before was another contender
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3 / inner


def times_of(case, contenders, rounds=25):
    """contenders: name -> closures. Median, 10 % and 90 % microseconds of one call of each, timed in turn."""
    graphs = {}
    for name, calls in contenders.items():
        try:
            graphs[name] = graph_of(calls)
        except Exception as e:  # a peer that cannot do the case is said and left out
            if name == "tfgen":
                raise
            print(f"  {case}: {name} failed: {type(e).__name__} {str(e)[:120]}", flush=True)
    times, order = {n: [] for n in graphs}, list(graphs)
    for i in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(replayed_us(*graphs[name]))
    ordered = {n: sorted(t) for n, t in times.items()}
    return {n: (t[len(t) // 2], t[len(t) // 10], t[len(t) * 9 // 10]) for n, t in ordered.items()}


def measured_bandwidth():
    """Of the best of some ways to copy 1 GB."""
    x, y = (torch.zeros(1 << 28, device=DEVICE) for _ in range(2))
    ways = (lambda: y.copy_(x), lambda: torch.mul(x, 2.0, out=y), lambda: torch.neg(x.view(torch.bfloat16), out=y.view(torch.bfloat16)))
    return 8 * x.numel() / min(replayed_us(*graph_of([w])) for w in ways for _ in range(5)) * 1e6


def difference(got, want):
    got, want = got.double().flatten(), want.double().flatten()
    return ((got - want).norm() / want.norm()).item() if torch.isfinite(got).all() else math.inf


class Ours:
    """A spec over some sets of inputs and weights, each with buffers of its own, so that a call is nothing but tfgen_execute."""

    def __init__(self, text, dims, dtype, data, fusion="tile", wisdom=None):
        self.given = text, dims, dtype, data, fusion
        if tuning:
            os.environ["TFGEN_WISDOM"] = wisdom or "none"
        self.layer = Layer(text, b"compare.yaml", lambda t: data[0][t["name"]], DEVICE, dims=dims, dtype=dtype, fusion=fusion)
        self.runs = [self.layer.prepare(d) for d in data]
        self.out = [r.outputs for r in self.runs]

    def calls(self):
        return [r.execute for r in self.runs]

    def close(self):
        for r in self.runs:
            r.close()
        self.layer.close()


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
        start = time.monotonic()
        try:
            calls[0]()
            torch.cuda.synchronize()
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


def report_tuned(case, dtype, floor, peers, ours):
    done = tuning.tune(key, *ours.given[:3], None if case.split()[0] in ("block", "decode") else 10)
    torch_seconds = first_call_seconds(peers)
    tuned_ = with_wisdom(case, dtype, ours, tuning.wisdom)
    timed = times_of(case, {**{n: peers[n] for n in torch_seconds}, "untuned": ours.calls(), "tfgen": tuned_.calls()})
    tuned_.close()
    ours.close()
    best = min(torch_seconds, key=lambda n: timed[n][0]) if torch_seconds else None
    done.update(case=case, dtype=dtype, floor_us=floor, us=timed, torch_seconds=torch_seconds, gain=timed["untuned"][0] / timed["tfgen"][0],
                over_torch=timed[best][0] / timed["tfgen"][0] if best else None)
    tuning.save()
    rows.append(done)
    print_tuned(done, best)


def print_tuned(r, best):
    t = r["us"]
    peer = f"{best} {t[best][0]:8.1f} us, {r['over_torch']:5.2f}x, in {r['torch_seconds'][best]:5.1f} s" if best else "no peer"
    print(f"{r['case']:52s} {r['dtype']:5s} untuned {t['untuned'][0]:8.1f} us  tuned {t['tfgen'][0]:8.1f} us, {r['gain']:5.3f}x, in "
          f"{r['tune_seconds']:5.1f} s ({r['tried']} tried{'' if r['ended'] else ', time was up'})  {peer}  "
          f"{100 * r['floor_us'] / t['tfgen'][0]:3.0f} % of floor", flush=True)


def report_kept(case, dtype, floor, peers, ours):
    """Each line alone, in a process that found none of them: the default and the line, in turn."""
    for line in tuning.kept(key):
        mine = with_wisdom(case, dtype, ours, tuning.one(line))
        timed = times_of(case, {"default": ours.calls(), "tfgen": mine.calls()}, rounds=101)
        mine.close()
        gain = timed["default"][0] / timed["tfgen"][0]
        rows.append({"case": case, "line": line, "us": timed, "gain": gain})
        if gain <= 1:
            wrong.append(f"{case}: no gain by {line}")
        print(f"{case:52s} default {timed['default'][0]:8.2f} us  kept {timed['tfgen'][0]:8.2f} us  {gain:6.4f}x  {line[:100]}", flush=True)
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


def attempt(function, *args, **named):
    global key
    name = f"{function.__name__} {' '.join(map(str, args))}"
    if only and only not in name:
        return
    if tuning:
        key = name
        if time.monotonic() > deadline or (not tuning.kept(key) if confirm else "us" in tuning.cases.get(key, {})):
            return
    try:
        function(*args, **named)
    except RuntimeError as e:
        wrong.append(str(args))
        print(f"{function.__name__}{args}: FAILED {str(e)[:300]}", flush=True)
    torch.cuda.empty_cache()


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
LLM = [(2048, 4096, 4096), (2048, 6144, 4096), (2048, 28672, 4096), (2048, 4096, 14336), (4096, 6144, 4096), (4096, 4096, 14336),
       (8192, 4096, 4096), (1024, 4096, 4096), (512, 4096, 4096), (256, 14336, 4096), (128, 4096, 14336), (2048, 3072, 2048),
       (2048, 2048, 2048), (2048, 16384, 2048), (2048, 2048, 8192), (1021, 4093, 4099), (2039, 5471, 2053), (509, 8191, 1021),
       (4001, 4001, 4001), (3001, 2048, 2048), (2048, 10936, 2048), (8192, 1024, 8192), (1536, 4608, 1536), (8192, 8192, 2048)]
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


FEW = [(4096, 4096), (14336, 4096), (4096, 14336), (28672, 4096), (2048, 8192)]  # N, K


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


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
SHAPES = {"tiny-small": (8, 128, 512, 8, 8, 64, 2048), "tiny-medium": (16, 512, 1024, 16, 8, 64, 4096),
          "exercise": (4, 512, 2048, 32, 32, 64, 5468), "llama-1b": (1, 2048, 2048, 32, 8, 64, 8192),
          "llama-8b": (1, 4096, 4096, 32, 8, 128, 14336)}


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
DECODE = [("Llama-1B", 1, 1024, 2048, 32, 8, 64, 8192, "<= 38 us"), ("Llama-1B", 8, 1024, 2048, 32, 8, 64, 8192, "<= 44 us"),
          ("exercise", 1, 512, 2048, 32, 32, 64, 5468, "<= 34 us"), ("Llama-8B", 1, 2048, 4096, 32, 8, 128, 14336, "<= 107 us"),
          ("Llama-8B", 16, 2048, 4096, 32, 8, 128, 14336, "<= 142 us"), ("D3584", 1, 4096, 3584, 28, 4, 128, 18944, ">= 1.10"),
          ("D3584", 4, 1000, 3584, 28, 4, 128, 18944, ">= 1.10"), ("D2048", 32, 2048, 2048, 32, 4, 64, 5632, ">= 1.10"),
          ("D3072", 64, 1024, 3072, 24, 8, 128, 8192, ">= 1.10"), ("D8192", 1, 8192, 8192, 64, 8, 128, 28672, ">= 1.10"),
          ("Llama-8B", 1, 131072, 4096, 32, 8, 128, 14336, "<= 250 us")]


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


def drawn_shape(draw):
    """Of a decode block: D of 512 to 8192, 1 to 64 sequences, 128 to 131072 keys, at most 4 GB of caches."""
    def between(low, high, step=1):
        return round(math.exp(draw.uniform(math.log(low), math.log(high))) / step) * step
    while True:
        hd = draw.choice((64, 64, 80, 96, 128, 128, 128))
        D, B, L = between(512, 8192, 64), between(1, 64), between(128, 131072)
        KV = draw.choice([n for n in (1, 2, 4, 8, 16, 32) if n * hd <= D])
        H = KV * draw.choice([g for g in (1, 2, 3, 4, 6, 7, 8) if KV * g * hd <= 2 * D])
        if 4 * B * KV * L * hd <= 4 << 30 and H * hd * 4 >= D:
            return B, L, D, H, KV, hd, between(2 * D, 5 * D, draw.choice((2, 16, 256)))


def sweep(tune, count=40, seed=1):
    draw, first = random.Random(seed), len(rows)
    for i in range(count):
        attempt(decode_block, f"drawn{i}", *drawn_shape(draw), None, tune)
    conclude(f"drawn decode blocks (seed {seed})", rows[first:])


# ---- tuned
PRESETS = [("tiny-small", 8, 128, 512, 8, 8, 64, 2048), ("tiny-medium", 16, 512, 1024, 16, 8, 64, 4096),
           ("exercise", 4, 512, 2048, 32, 32, 64, 5468), ("llama-1b", 1, 1024, 2048, 32, 8, 64, 8192),
           ("llama-8b", 1, 2048, 4096, 32, 8, 128, 14336)]  # specs/llama-decode.yaml


def drawn_operations(draw, count):
    def between(low, high, step):
        return round(math.exp(draw.uniform(math.log(low), math.log(high))) / step) * step
    for i in range(count):
        if i % 2 == 0:
            yield product, (between(16, 8192, 1), between(1024, 16384, 8), between(1024, 16384, 8))
        else:
            name = draw.choice(("rmsnorm", "layernorm", "softmax", "add+rmsnorm"))
            yield row, (name, between(512, 16384, 4), between(512, 8192, 8), "bf16")


def tuned_cases(count, seed):
    draw = random.Random(seed)
    for function, args in drawn_operations(draw, count // 2):
        attempt(function, *args)
    for case in PRESETS:
        attempt(decode_block, *case)
    for name in SHAPES:
        attempt(block, name, "bf16")
    for i in range(count - count // 2):
        attempt(decode_block, f"drawn{i}", *drawn_shape(draw))


def tuned(tune, count=10, seed=1):
    tuned_cases(count, seed)
    done = [c for c in tuning.cases.values() if "us" in c]
    print(f"\n{len(done)} cases are done, {sum(c['tune_seconds'] for c in done):.0f} s of tfgen tune, "
          f"{sum(sum(c['torch_seconds'].values()) for c in done):.0f} s of torch.compile:")
    for c in done:
        print_tuned(c, min(c["torch_seconds"], key=lambda n: c["us"][n][0]) if c["torch_seconds"] else None)
    over = [c["over_torch"] for c in done if c["over_torch"]]
    if over:
        print(f"geometric means: tuned {mean([c['gain'] for c in done]):.3f} of untuned, {mean(over):.3f} of torch.compile's max-autotune")


def kept(tune, count=10, seed=1):
    global confirm
    confirm = True
    tuned_cases(count, seed)
    print(f"{len(rows)} lines, {sum(r['gain'] > 1 for r in rows)} faster than the default")


def main():
    global BANDWIDTH, only, tuning, deadline
    parts = {"products": products, "few": few, "fused": fused, "attention": attention, "rows": rows_, "blocks": blocks, "fp32": fp32,
             "decode": decode, "sweep": sweep, "tuned": tuned, "kept": kept}
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    asked = [a for a in sys.argv[1:] if not a.startswith("--")] or [p for p in parts if p not in ("sweep", "tuned", "kept")]
    strange = [o for o in options if o not in ("tune", "json", "only", "count", "seed", "state", "budget", "within")]
    strange += [a for a in asked if a not in parts]
    if strange:
        sys.exit(f"compare.py: {strange[0]}: there is no such part or option\n\n{__doc__}")
    if ("state" in options) != (asked in (["tuned"], ["kept"])):
        sys.exit("compare.py: tuned and kept stand alone, and have --state=FOLDER")
    if "state" in options:
        deadline = time.monotonic() + float(options.get("within", math.inf))
        tuning = Tuning(options["state"], float(options.get("budget", 55)), os.environ.get("TFGEN", os.path.join(HERE, "..", "tfgen")))
    only = options.get("only")
    torch.manual_seed(1)
    random.seed(1)
    BANDWIDTH = measured_bandwidth()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copies {BANDWIDTH / 1e12:.2f} TB/s")
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
