"""The cases of compare.py: each function makes data, PyTorch's expected results, and the peers' calls. Needs PyTorch."""
import math
import os
import random
import sys
from statistics import geometric_mean

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tests", "h200"))
import contest  # noqa: E402
import drawn as drawing  # noqa: E402
import untuned  # noqa: E402
from contest import (LIMIT, TYPE, attempt, by_level, compiled, conclude, normal, ours_of, report, report_levels, right,  # noqa: E402
                     right_peers, rows, sets)
from evaluate import Spec, evaluate, program  # noqa: E402
from race import DEVICE, wait  # noqa: E402
from shapes import DECODE, FEW, LLM, SHAPES, cases_of, drawn_shape  # noqa: E402
from tuned import tuned_table  # noqa: E402


def specs(name):
    with open(os.path.join(HERE, "..", "specs", name + ".yaml"), "rb") as f:
        return f.read()


# ---- products
LINEAR = b"block: linear\ndtype: bf16\ndims: {M: 1, N: 1, K: 1}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n" \
         b"ops: [{out: l, op: linear, in: [x, w]}]\noutputs: {y: l}\n"


def product(M, N, K, dtype="bf16", goal=None):
    size = torch.finfo(TYPE[dtype]).bits // 8
    bytes_ = (M * K + N * K + M * N) * size
    data = [{"x": normal(M, K, dtype=dtype), "w": normal(N, K, dtype=dtype, scale=0.05)} for _ in range(min(sets(bytes_), 6))]
    ours = ours_of(LINEAR, {"M": M, "N": N, "K": K}, dtype, data)
    exact = torch.float64 if dtype == "f32" else torch.float32
    torch.backends.cuda.matmul.allow_tf32 = False
    d = right(f"{M}x{N}x{K}", ours, {"y": data[0]["x"].to(exact) @ data[0]["w"].to(exact).T}, LIMIT[dtype])
    peers = {"cuBLAS": [lambda v=v: F.linear(v["x"], v["w"]) for v in data]}
    if contest.tuning:
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
        print(f"{len(ratios)} products: geometric mean {geometric_mean(ratios):.3f} of cuBLAS, worst {min(ratios):.3f}"
              "  goal >= 1.0, >= 0.85")


def long(tune, count=6, seed=1):
    """Long sums with few outputs, and matrices times a vector: named ones, and `count` of each drawn."""
    draw, between, first = random.Random(f"long {seed}"), drawing.between, len(rows)
    cases = [(256, 256, 524288, "bf16"), (256, 256, 524288, "f32"), (64, 64, 262144, "f32"), (1, 2048, 1048576, "bf16"),
             (1, 16384, 64, "f32"), (1, 4096, 4096, "f32"), (4, 8192, 8192, "bf16")]
    for _ in range(count):
        cases.append((between(draw, 1, 256), between(draw, 16, 256, 8), between(draw, 65536, 1 << 20, 8), draw.choice(list(TYPE))))
        cases.append((1, between(draw, 512, 32768, 8), between(draw, 512, 32768, 8), draw.choice(list(TYPE))))
    for M, N, K, dtype in cases:
        attempt(product, M, N, K, dtype, ">= 0.90")
    ratios = [r["ratio"] for r in rows[first:]]
    if ratios:
        print(f"{len(ratios)} long sums and vectors (seed {seed}): geometric mean {geometric_mean(ratios):.3f} of cuBLAS, worst "
              f"{min(ratios):.3f}  goal >= 0.9 each")


def few(tune):
    first = len(rows)
    for n, k in FEW:
        for m in (1, 2, 4, 8, 16, 32, 64):
            attempt(product, m, n, k, goal=">= 1.00" + (", >= 88 % of floor" if n * k >= 32 << 20 else ""))
    own = rows[first:]
    narrow = [r["ratio"] for r in own if int(r["case"].split()[1].split("x")[0]) <= 16]
    if narrow:
        worst = min(own, key=lambda r: r["ratio"])
        print(f"{len(own)} products of few rows: geometric mean {geometric_mean([r['ratio'] for r in own]):.3f} of cuBLAS, "
              f"{geometric_mean(narrow):.3f} up to 16 rows (goal >= 1.15), worst {worst['ratio']:.3f} ({worst['case']})")


# ---- fused products
def swiglu(M, D, Fd, goal=None, tune=False):
    data = [{"x": normal(1, M, D, dtype="bf16"), "w_gate": normal(Fd, D, dtype="bf16", scale=0.03),
             "w_up": normal(Fd, D, dtype="bf16", scale=0.03)} for _ in range(3)]
    ours = ours_of(specs("swiglu"), {"B": 1, "S": M, "D": D, "F": Fd}, "bf16", data)
    v = {n: t.float() for n, t in data[0].items()}
    d = right("swiglu", ours, {"y": F.silu(v["x"] @ v["w_gate"].T) * (v["x"] @ v["w_up"].T)}, LIMIT["bf16"])
    joined = [(v["x"], torch.cat([v["w_gate"], v["w_up"]])) for v in data]

    def peer(x, w):
        g, u = F.linear(x, w).chunk(2, -1)
        return F.silu(g) * u
    peers = {n: [lambda f=f, a=a: f(*a) for a in joined] for n, f in compiled(peer, tune).items()}
    report(f"swiglu {M}x{D}x{Fd}", "bf16", 4.0 * M * D * Fd, (M * D + 2 * Fd * D + M * Fd) * 2, peers, ours, d, goal)


def gelu_norm_linear(M, D, Fd, goal=None, tune=False):
    data = [{"x": normal(1, M, D, dtype="bf16"), "w": normal(Fd, D, dtype="bf16", scale=0.03), "b": normal(Fd, dtype="bf16"),
             "norm_w": normal(Fd, dtype="bf16"), "norm_b": normal(Fd, dtype="bf16")} for _ in range(3)]
    ours = ours_of(specs("gelu-layernorm-linear"), {"B": 1, "S": M, "D": D, "F": Fd}, "bf16", data)
    v = {n: t.float() for n, t in data[0].items()}
    want = F.gelu(F.layer_norm(v["x"] @ v["w"].T + v["b"], (Fd,), v["norm_w"], v["norm_b"]))
    d = right("gelu(layernorm(linear))", ours, {"y": want}, LIMIT["bf16"])

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
    ours = ours_of(text, {"B": B, "S": S, "H": H, "KV": KV, "hd": hd}, "bf16", data)

    def heads(t, n):
        return t.view(B, S, n, hd).transpose(1, 2)

    def want(part):  # one batch entry at a time, fp32
        q, k, v = (data[0][n][part].float().view(S, c, hd).transpose(0, 1) for n, c in (("q", H), ("k", KV), ("v", KV)))
        scores = q @ k.repeat_interleave(H // KV, 0).mT / math.sqrt(hd)
        if causal:
            scores.masked_fill_(torch.ones(S, S, dtype=torch.bool, device=DEVICE).triu_(1), -math.inf)
        return (torch.softmax(scores, -1) @ v.repeat_interleave(H // KV, 0)).transpose(0, 1).reshape(1, S, H * hd)
    d = right(f"attention S{S} d{hd}", ours, {"y": torch.cat([want(b) for b in range(B)])}, LIMIT["bf16"])
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
    ours = ours_of(text, dims, dtype, [{n: v[n] for n in taken} for v in data])
    functions = {"rmsnorm": lambda x, r, w, b: F.rms_norm(x, (D,), w, eps),
                 "layernorm": lambda x, r, w, b: F.layer_norm(x, (D,), w, b, eps), "l2norm": lambda x, r, w, b: F.normalize(x, dim=-1),
                 "softmax": lambda x, r, w, b: F.softmax(x, dim=-1),
                 "add+rmsnorm": lambda x, r, w, b: (x + r, F.rms_norm(x + r, (D,), w, eps))}
    order = ("x", "r", "w", "b")
    exact = torch.float64 if dtype == "f32" else torch.float32
    want = functions[name](*(data[0][n].to(exact) for n in order))
    d = right(name, ours, {"s": want[0], "y": want[1]} if isinstance(want, tuple) else {"y": want}, LIMIT[dtype])
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
    ours = ours_of(specs("llama-block"), {"B": B, "S": S, "D": D, "H": H, "KV": KV, "hd": hd, "F": Fd}, dtype, data)
    angles = torch.outer(torch.arange(S, device=DEVICE).double(), 500000.0 ** (-torch.arange(0, hd, 2, device=DEVICE).double() / hd))

    tables = (angles.cos().to(TYPE[dtype]), angles.sin().to(TYPE[dtype]))
    x, w = data[0]["x"].float(), joined_weights(data[0], torch.float32)
    want = torch_block(x, w, H, KV, hd, angles.cos().float(), angles.sin().float())
    d = right(f"block {name}", ours, {"y": want}, LIMIT[dtype] if dtype != "f32" else 1e-4)
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
    """One decode step in which every sequence appends to the last row of its cache, and so attends to all of it."""
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
    ours = ours_of(specs("llama-decode"), {"B": B, "L": L, "D": D, "H": H, "KV": KV, "hd": hd, "F": Fd}, dtype, data)
    angle = (L - 1) * 500000.0 ** (-torch.arange(0, hd, 2, device=DEVICE).double() / hd)
    caches = [data[0][n].float() for n in ("k_cache", "v_cache")]
    want = torch_decode(data[0]["x"].float(), joined_weights(data[0], torch.float32), *caches, H, KV, hd, angle.cos().float(),
                        angle.sin().float())
    last = [(data[0][n][:, :, -1], cache[:, :, -1]) for n, cache in zip(("k_cache", "v_cache"), caches)]
    d = right(case, ours, {"y": want}, LIMIT[dtype], last)
    del caches, last, want
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


def sweep(tune, count=40, seed=1):
    draw, first = random.Random(seed), len(rows)
    for i in range(count):
        attempt(decode_block, f"drawn{i}", *drawn_shape(draw), None, tune)
    conclude(f"drawn decode blocks (seed {seed})", rows[first:])


# ---- specs by their own text
def limit_of(kind, dtype):
    return 1e-4 if dtype == "f32" and kind not in drawing.PRODUCTS else LIMIT[dtype]


def spec(path, preset, dtype, **dims):
    """Compares a spec with evaluate() and times it alone, without peers."""
    path = os.path.join(HERE, "..", path)
    described = Spec(path, preset, dtype, dims)
    first = described.data(torch.Generator(DEVICE).manual_seed(1))
    bytes_ = sum(t.numel() * t.element_size() for t in first.values())
    data = [first] + [{n: t.clone() for n, t in first.items()} for _ in range(min(sets(bytes_), 16) - 1)]
    with open(path, "rb") as f:
        given = {**(described.tree["presets"][preset] if preset else {}), **dims}
        ours = ours_of(f.read(), given, dtype, data)
    case = f"{os.path.basename(path)[:-5]} {preset or ' '.join(f'{n}{v}' for n, v in dims.items())}"
    want = evaluate(described, first, torch.float64 if dtype == "f32" else torch.float32, False)
    d = right(case, ours, want, limit_of("spec", dtype), [(first[n], None) for n, _, _ in described.items("state")])
    del want
    report(case, dtype, 0.0, bytes_, {}, ours, d)


def operation_data(described, count):
    """`count` sets of random data. Positions are as late as they can be: the new rows are the last of the cache."""
    data = [described.data(torch.Generator(DEVICE).manual_seed(1 + i)) for i in range(count)]
    for v in data:
        if "pos" in v:
            v["pos"].fill_(described.dims["L"] - described.dims["S"])
    return data


def operation_peers(case, described, data, tune=False):
    """Peers by name, each a list of calls that return the outputs in the spec's order. A lone product has cuBLAS as its only peer, since
    torch.compile calls cuBLAS too."""
    tensors, run = program(described, DEVICE)
    given = [tensors(v) for v in data]
    plain = {} if contest.tuning else {"cuBLAS" if case.kind in drawing.PRODUCTS else "eager": run}
    if case.kind == "prefill" and case.dtype != "f32" and plain:
        plain["cuDNN"] = through_cudnn(run)
    if case.kind not in drawing.PRODUCTS or contest.tuning:
        plain.update(compiled(run, tune))
    return {n: [lambda f=f, v=v: f(v) for v in given] for n, f in plain.items()}


def through_cudnn(run):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attended(given):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return run(given)
    return attended


def operation(case, tune=False):
    """A case of drawn.py, checked against float64 and timed beside what a user of PyTorch would run."""
    if contest.planned is not None:
        ours_of(case.text, case.dims, case.dtype, None)
    described, size = Spec(case.text, None, case.dtype, case.dims), torch.finfo(TYPE[case.dtype]).bits // 8
    with contest.using_gpu():
        data = operation_data(described, min(sets(case.elements * size), 6))
        ours = ours_of(case.text, case.dims, case.dtype, data)
        want, limit = evaluate(described, data[0], torch.float64, False), limit_of(case.kind, case.dtype)
        d = right(str(case), ours, want, limit, [(data[0][n], None) for n, _, _ in described.items("state")])
        wait()
    peers = operation_peers(case, described, data, tune)
    if not contest.tuning:  # part tuned: report_tuned() makes the first calls itself, because it times them
        peers = right_peers(str(case), peers, want, 4 * limit)
    found = errors_of(ours, peers, want["y"]) if case.dtype == "f32" and case.kind in drawing.PRODUCTS and not contest.tuning else {}
    del want
    report(str(case), case.dtype, 2.0 * case.multiplies, case.elements * size, peers, ours, d)
    if found:
        rows[-1].update(found)


def errors_of(ours, peers, want):
    """RMS and largest error of each contender's result, over the RMS of what is wanted."""
    def errors(got):
        off, size = got.double() - want, want.square().mean().sqrt()
        return (off.square().mean().sqrt() / size).item(), (off.abs().max() / size).item()
    return {"errors": {"tfgen": errors(ours.out[0]["y"]), **{n: errors(calls[0]()[0]) for n, calls in peers.items()}}}


def presets(tune, seed=1):
    """Times half of all presets in drawn dtypes; the largest never in f32, whose calls of 20 ms would take most of the time."""
    cases, draw = [(path, more[0].partition("=")[2]) for _, path, more in untuned.presets()], random.Random(seed)
    for path, preset in sorted(draw.sample(cases, len(cases) // 2)):
        attempt(spec, path, preset, draw.choice(("bf16", "bf16", "f16", "f32") if preset != "llama-8b" else ("bf16", "f16")))


def drawn(tune, count=8, seed=1):
    for case in drawing.cases_of(seed, 5 * count):
        attempt(operation, case)
    for kind in ("attention", "rows"):
        for _, path, (dims, dtype) in list(untuned.drawn(kind, seed))[:count]:
            numbers = dict(d.split("=") for d in dims.partition("=")[2].split(","))
            attempt(spec, path, None, dtype.partition("=")[2], **{n: int(v) for n, v in numbers.items()})


# ---- fusion levels
def decode_levels(case):
    """A case of drawn.py at each level that can plan it, checked against float64."""
    if contest.planned is not None:
        by_level(case.text, case.dims, case.dtype, None)
    described, size = Spec(case.text, None, case.dtype, case.dims), torch.finfo(TYPE[case.dtype]).bits // 8
    data = operation_data(described, min(sets(case.elements * size), 6))
    built = by_level(case.text, case.dims, case.dtype, data)
    want, states = evaluate(described, data[0], torch.float64, False), [(data[0][n], None) for n, _, _ in described.items("state")]
    worst = {level: right(f"{case} {level}", ours, want, limit_of(case.kind, case.dtype), states) for level, ours in built.items()}
    del want
    report_levels(str(case), case.dtype, built, worst)


def levels(tune, count=20, seed=1):
    first, decode = len(rows), drawing.cases_of(seed, 4 * count, kinds=("decode",))
    for case in [c for c in decode if c.dims["B"] <= 64][:count]:
        attempt(decode_levels, case)
    over, auto = ([r[name] for r in rows[first:] if r[name]] for name in ("block_over_tile", "auto_over_best"))
    if over:
        print(f"{len(auto)} decode blocks of 1 to 64 rows (seed {seed}): block is faster than tile in {sum(r > 1 for r in over)}, "
              f"geometric mean {geometric_mean(over):.3f}; auto, of the faster one: {geometric_mean([r for r, _ in auto]):.3f}, worst "
              f"{min(r for r, _ in auto):.3f}  goal >= 0.97")


# ---- tuned
def small(function, args):
    """The small case that --rehearse runs instead."""
    if function in (operation, decode_levels):
        return (drawing.small(args[0]),)
    return {product: (5, 24, 16), row: (args[0], 8, 32, "bf16"), block: args, decode_block: (args[0], 2, 6, 32, 2, 1, 16, 48),
            swiglu: (5, 32, 48), gelu_norm_linear: (5, 32, 48), attend: (1, 2, 1, 8, 16, True), spec: (args[0], None, *args[2:3])}[function]


def tuned_cases(count, seed):
    functions = {f.__name__: f for f in (block, decode_block, operation, row)}
    cases = [(functions[name], args) for name, args in cases_of(count, seed)]
    for function, args in cases:
        attempt(function, *args)


def tuned(tune, count=10, seed=1):
    tuned_cases(count, seed)
    print("\n" + tuned_table(contest.tuning.cases()))


def kept(tune, count=10, seed=1):
    contest.confirm = True
    tuned_cases(count, seed)
    lines = [r["line"] for r in rows if r["gain"] - 3 * r["noise"] > 1]
    contest.tuning.write(os.path.join(contest.tuning.folder, "confirmed.wisdom"), "\n".join(["wisdom 1", *lines, ""]))
    print(f"{len(rows)} lines, {len(lines)} faster than the default: confirmed.wisdom")
