"""Cases that a seed draws: products, matmuls, fused graphs around one product, prefill blocks and decode blocks. Case INDEX of a seed does
not depend on the other cases, and every fifth case is of the same kind, so any slice is a sample of all kinds. Needs no PyTorch.

usage: drawn.py FOLDER [--seed=1] [--first=0] [--count=40] [--kinds=product,matmul,fused,prefill,decode] [--dtypes=bf16,f16,f32]
                [--rows=FIRST-LAST]
                  writes the specs into FOLDER, and prints for each what `tfgen predict` or `tfgen tune` takes: file and options

--rows=65-512 (or one number): leaves out cases of fewer or more rows. These are the rows of A in a product or fused graph, of all sequences
together in a block (decode: one a sequence). Matmuls are never left out. --count counts the cases that remain."""
import argparse
import itertools
import math
import os
import random
import re
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MULTIPLIES = {"bf16": 1e12, "f16": 1e12, "f32": 1e11}  # most multiply-adds of a case: some milliseconds on an H200
ELEMENTS = 1 << 30  # most tensor elements that a case reads and writes
ROWS = {"product": (64, 32768), "fused": (64, 8192), "prefill": (40, 8192), "decode": (1, 512)}  # fewest and most drawn


class Case(NamedTuple):
    seed: str
    index: int
    kind: str
    name: str
    text: bytes
    dims: dict
    dtype: str
    multiplies: float
    elements: float  # tensor elements that any implementation must read or write

    @property
    def rows(self):
        """None for a kind that is not in ROWS."""
        return math.prod(self.dims.get(n, 1) for n in "BMS") if self.kind in ROWS else None

    def __str__(self):
        return f"{self.kind} {self.seed}/{self.index} {self.name}"


def between(draw, low, high, step=1):
    """Drawn log-uniformly: as many between 1 and 2 as between 1000 and 2000."""
    return max(low, round(math.exp(draw.uniform(math.log(low), math.log(high))) / step) * step)


def length(draw, low, high):
    """A row length; some are odd."""
    return between(draw, low, high, draw.choice((64, 64, 64, 64, 128, 256, 8, 8, 2, 1)))


def dtype_of(draw):
    return draw.choice(("bf16", "bf16", "bf16", "f16", "f32"))


def spec_text(block, dtype, dims, inputs, params, ops, out):
    lines = [f"block: {block}", f"dtype: {dtype}", f"dims: {written(dims)}", f"inputs: {written(inputs)}"]
    lines += [f"params: {written(params)}"] if params else []
    lines += ["ops:", *(f"  - {op}" for op in ops), f"outputs: {{y: {out}}}", ""]
    return "\n".join(lines).encode()


def written(mapping):
    return "{" + ", ".join(f"{k}: {v}" for k, v in mapping.items()) + "}"


# ---- each kind: (name, text, dims, dtype, multiplies, elements)
def product(draw):
    """A layer's weight, in either layout, times rows of one or several sequences."""
    dtype, batch, turned = dtype_of(draw), draw.choice((1, 1, 1, 2, 3, 8)), draw.random() < 0.3
    M, N, K = between(draw, *ROWS["product"], draw.choice((1, 1, 16, 128))), length(draw, 64, 32768), length(draw, 64, 32768)
    M = -(-M // batch)
    dims = {"B": batch, "M": M, "N": N, "K": K} if batch > 1 else {"M": M, "N": N, "K": K}
    text = spec_text("product", dtype, dims, {"x": "[B, M, K]" if batch > 1 else "[M, K]"}, {"w": "[K, N]" if turned else "[N, K]"},
                     ["{out: l, op: linear, in: [x, w]" + (", layout: in_out}" if turned else "}")], "l")
    name = f"{f'{batch}x' if batch > 1 else ''}{M}x{N}x{K}{' in_out' if turned else ''}"
    return name, text, dims, dtype, batch * M * N * K, batch * M * (N + K) + N * K


def matmul(draw):
    """Two values, or a value and a param, of two to four axes."""
    dtype, axes, turned, weight = dtype_of(draw), draw.choice((0, 1, 1, 2)), draw.random() < 0.5, draw.random() < 0.3
    batches = {"B": between(draw, 1, 64), "H": between(draw, 1, 32)}
    batches = {n: batches[n] for n in ("B", "H")[:axes]}
    count = math.prod(batches.values())
    M, N, K = (length(draw, 64, 32768 if axes == 0 else 8192) for _ in range(3))
    dims, lead = {**batches, "M": M, "N": N, "K": K}, "".join(f"{n}, " for n in batches)
    turned_a, shared = draw.random() < 0.2, axes and draw.random() < 0.15  # shared: one z for all batches
    shared, own = shared and not turned_a, "" if shared and not turned_a else lead
    x, z = f"[{lead}K, M]" if turned_a else f"[{lead}M, K]", {"z": f"[{own}N, K]" if turned else f"[{own}K, N]"}
    layout = (", transpose: true" if turned else "") + (", transpose_a: true" if turned_a else "")
    text = spec_text("matmul", dtype, dims, {"x": x, **({} if weight else z)}, z if weight else {},
                     ["{out: l, op: matmul, in: [x, z]" + layout + "}"], "l")
    said = (" transposed" if turned else "", " transposed A" if turned_a else "", " shared" if shared else "", " param" if weight else "")
    name = "x".join(map(str, dims.values())) + "".join(said)
    return name, text, dims, dtype, count * M * N * K, count * M * (N + K) + (1 if shared else count) * N * K


# A step of a fused graph: what it is called, its ops (x is the value so far), and the tensors that it brings: name -> (section, shape)
STEPS = [(op, [f"op: {op}, in: [x]"], {}) for op in ("relu", "silu", "gelu_erf", "gelu_tanh", "sigmoid", "tanh", "softplus", "mish",
                                                    "hardswish", "abs", "softmax")]
STEPS += [(op, [f"op: {op}, in: [{operands}]"], {}) for op, operands in (
    ("mul", "x, 0.5"), ("add", "x, 1.5"), ("div", "x, 2.5"), ("sub", "0.25, x"), ("clamp", "x, -1.0, 1.0"), ("leaky_relu", "x, 0.01"),
    ("elu", "x, 1.0"))]
STEPS += [
    ("residual", ["op: add, in: [x, r]"], {"r": ("inputs", "[M, N]")}), ("gate", ["op: mul, in: [x, g]"], {"g": ("inputs", "[M, N]")}),
    ("columns", ["op: mul, in: [x, c]"], {"c": ("params", "[N]")}), ("shift", ["op: add, in: [x, d]"], {"d": ("params", "[N]")}),
    ("rmsnorm", ["op: rmsnorm, in: [x, norm], eps: 1.0e-5"], {"norm": ("params", "[N]")}),
    ("layernorm", ["op: layernorm, in: [x, norm_w, norm_b], eps: 1.0e-5"], {"norm_w": ("params", "[N]"), "norm_b": ("params", "[N]")}),
    ("spelled sigmoid", ["op: neg, in: [x]", "op: exp, in: [x]", "op: add, in: [1.0, x]", "op: div, in: [1.0, x]"], {})]


def fused(draw):
    """linear, with or without bias, one to five steps after it, and sometimes a norm before it."""
    dtype = dtype_of(draw)
    M, N, K = between(draw, *ROWS["fused"], draw.choice((1, 16, 128))), length(draw, 128, 16384), length(draw, 128, 16384)
    ahead, bias = draw.random() < 0.2, draw.random() < 0.5
    steps = draw.sample(STEPS, draw.choice((1, 2, 2, 3, 4, 5)))
    params = {"w": "[N, K]", **({"norm_x": "[K]"} if ahead else {}), **({"b": "[N]"} if bias else {})}
    tensors = {"inputs": {"x": "[M, K]"}, "params": params}
    ops = ["{out: v0, op: rmsnorm, in: [x, norm_x], eps: 1.0e-5}"] if ahead else []
    ops.append(f"{{out: l, op: linear, in: [{'v0' if ahead else 'x'}, w{', b' if bias else ''}]}}")
    at = "l"
    for _, own, brought in steps:
        for tensor, (section, shape) in brought.items():
            tensors[section][tensor] = shape
        for op in own:
            out = f"v{len(ops)}"
            ops.append(f"{{out: {out}, " + op.replace("[x", f"[{at}").replace(", x]", f", {at}]") + "}")
            at = out
    dims = {"M": M, "N": N, "K": K}
    values = sum(shape == "[M, N]" for shape in tensors["inputs"].values()) + 1
    name = f"{M}x{N}x{K} {'norm ' if ahead else ''}{'bias ' if bias else ''}{', '.join(s[0] for s in steps)}"
    return (name, spec_text("fused", dtype, dims, tensors["inputs"], tensors["params"], ops, at), dims, dtype, M * N * K,
            M * K + N * K + values * M * N)


def shipped(name):
    with open(os.path.join(ROOT, "specs", name + ".yaml"), "rb") as f:
        return f.read()


def block_dims(draw, name):
    """(dims, number of weight elements). D is H * hd, from 512 to 8192; in one of five Llama blocks it is drawn independently."""
    llama = name.startswith("llama")
    while True:
        hd, KV, group = draw.choice((64, 64, 80, 96, 128, 128, 128)), draw.choice((1, 2, 4, 8, 8, 16)), draw.choice((1, 2, 4, 4, 7, 8))
        H = KV * group
        if 512 <= H * hd <= 8192:
            break
    D = between(draw, 512, 8192, 64) if llama and draw.random() < 0.2 else H * hd
    F = between(draw, 2 * D, 5 * D, draw.choice((2, 16, 256)))
    dims = {"D": D, "H": H, **({"KV": KV, "hd": hd} if llama else {}), "F": F}
    return dims, D * (2 * H + 2 * (KV if llama else H)) * hd + (3 if llama else 2) * D * F


def block_name(dims, first):
    heads = f"H{dims['H']}{'/%d' % dims['KV'] if 'KV' in dims else ''}x{dims.get('hd', dims['D'] // dims['H'])}"
    return f"{' '.join(f'{n}{dims[n]}' for n in first)} D{dims['D']} {heads} F{dims['F']}"


def prefill(draw):
    dtype, name = dtype_of(draw), draw.choice(("llama-block", "llama-block", "gpt2-block", "bert-block"))
    dims, weights = block_dims(draw, name)
    B = draw.choice((1, 1, 2, 4, 8))
    S = max(1, between(draw, *ROWS["prefill"], draw.choice((1, 1, 16, 64))) // B)
    dims = {"B": B, "S": S, **dims}
    attended = 2 * B * S * S * dims["D"]
    return f"{name} {block_name(dims, 'BS')}", shipped(name), dims, dtype, B * S * weights + attended, weights + 8 * B * S * dims["D"]


def decode(draw):
    """One token for each of 1 to 512 sequences."""
    dtype, name = dtype_of(draw), draw.choice(("llama-decode", "llama-decode", "llama-decode", "gpt2-decode"))
    dims, weights = block_dims(draw, name)
    B, L = between(draw, *ROWS["decode"]), between(draw, 128, 131072)
    dims = {"B": B, "L": L, **dims}
    cached = 2 * B * L * (dims["KV"] * dims["hd"] if "KV" in dims else dims["D"])
    return f"{name} {block_name(dims, 'BL')}", shipped(name), dims, dtype, B * weights + cached * dims["H"] // dims.get("KV", dims["H"]), \
        weights + cached


KINDS = {"product": product, "matmul": matmul, "fused": fused, "prefill": prefill, "decode": decode}
PRODUCTS = ("product", "matmul")  # the kinds timed against cuBLAS alone, which torch.compile would call, too


def case_of(seed, index):
    kind, draw = list(KINDS)[index % len(KINDS)], random.Random(f"ops {seed} {index}")
    while True:
        case = Case(str(seed), index, kind, *KINDS[kind](draw))
        if case.multiplies <= MULTIPLIES[case.dtype] and case.elements <= ELEMENTS:
            return case


def cases_of(seed, count, first=0, kinds=tuple(KINDS), dtypes=tuple(MULTIPLIES), rows=(0, math.inf)):
    """`count` cases of some kinds, dtypes and numbers of rows, from index `first` on."""
    fewest, most = rows
    own = [i for i, kind in enumerate(KINDS) if kind in kinds and (kind not in ROWS or fewest <= ROWS[kind][1] and most >= ROWS[kind][0])]
    if not own:
        raise SystemExit(f"drawn.py: no case of {', '.join(kinds)} has {fewest} to {most} rows")
    cases = (case_of(seed, i) for i in itertools.count(first) if i % len(KINDS) in own)
    return list(itertools.islice((c for c in cases if c.dtype in dtypes and (c.rows is None or fewest <= c.rows <= most)), count))


def small(case):
    """The same graph at sizes that the host engine runs quickly."""
    most = {"B": 2, "H": 2, "KV": 1, "hd": 16, "S": 6, "L": 7, "D": 32, "F": 48, "M": 13, "N": 24, "K": 40}
    dims = {n: min(v, most[n]) for n, v in case.dims.items()}
    text = re.sub(rb"rotary: \d+", b"rotary: 8", case.text)
    return case._replace(dims=dims, text=text, multiplies=0.0, elements=1.0)


def options_of(case):
    """The options of tfgen's commands that follow the spec's file."""
    return [f"--dtype={case.dtype}", "--dim=" + ",".join(f"{n}={v}" for n, v in case.dims.items())]


def write(folder, case):
    """Writes the case's spec into the folder; returns the file's path."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{case.seed}-{case.index}.yaml")
    with open(path, "wb") as f:
        f.write(case.text)
    return path


def some_of(known):
    """Reads names of `known` with commas between them."""
    def read(text):
        names = text.split(",")
        if set(names) - set(known):
            raise argparse.ArgumentTypeError(f"there are {', '.join(known)}")
        return names
    return read


def row_range(text):
    """Reads FIRST-LAST or one number."""
    numbers = [int(n) for n in text.split("-", 1)]
    if not 0 < numbers[0] <= numbers[-1]:
        raise argparse.ArgumentTypeError("is not FIRST-LAST, as 65-512")
    return numbers[0], numbers[-1]


def add_options(parser):
    """Adds the options that choose cases."""
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", type=some_of(KINDS), default=list(KINDS))
    parser.add_argument("--dtypes", type=some_of(MULTIPLIES), default=list(MULTIPLIES))
    parser.add_argument("--rows", type=row_range, default=(0, math.inf))


def chosen(options):
    """The cases that these options choose. --seed can be several, with commas between them: --count cases of each."""
    return [c for seed in options.seed.split(",")
            for c in cases_of(seed, options.count, options.first, options.kinds, options.dtypes, options.rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    add_options(parser)
    options = parser.parse_args()
    for case in chosen(options):
        print(write(options.folder, case), *options_of(case))


if __name__ == "__main__":
    main()
