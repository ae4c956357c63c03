"""A spec's own text in PyTorch: evaluate() says what results should be, program() is what a user of PyTorch would run. Needs PyYAML."""
import math

import torch
import torch.nn.functional as F
import yaml

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
FUNCTIONS = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "neg": lambda x: -x,
    "exp": torch.exp, "sqrt": torch.sqrt, "square": torch.square, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh, "abs": torch.abs,
    "sigmoid": torch.sigmoid, "relu": F.relu, "silu": F.silu, "softplus": F.softplus, "mish": F.mish, "hardswish": F.hardswish,
    "leaky_relu": F.leaky_relu, "elu": F.elu, "clamp": torch.clamp, "gelu_erf": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "softmax": lambda x: F.softmax(x, -1)}


class Spec:
    """source: a file's path, or a spec's text as bytes. dims: override the preset's."""

    def __init__(self, source, preset, dtype, dims=None):
        if isinstance(source, str):
            with open(source, "rb") as f:
                source = f.read()
        self.tree = yaml.safe_load(source)
        self.type = TYPES[dtype]
        self.dims = {**self.tree["dims"], **(self.tree["presets"][preset] if preset else {}), **(dims or {})}
        for _ in range(len(self.dims)):
            self.dims = {k: self.number(v) if not isinstance(v, str) or self.known(v) else v for k, v in self.dims.items()}

    def known(self, text):
        return all(not isinstance(self.dims[n], str) for n in self.dims if n in text)

    def number(self, v):
        return v if isinstance(v, int) else int(eval(str(v).replace("/", "//"), {"__builtins__": {}}, self.dims))

    def items(self, section):
        for name, v in self.tree.get(section, {}).items():
            v = v if isinstance(v, dict) else {"shape": v}
            yield name, v, [self.number(n) for n in v["shape"]]

    def data(self, generator):
        """Random tensors by name, in the spec's dtypes, on the generator's device."""
        out = {}
        for section in ("inputs", "params", "state"):
            for name, v, shape in self.items(section):
                if v.get("dtype") == "i32":
                    low, high = (self.number(n) for n in v.get("range", [0, 1]))
                    out[name] = torch.randint(low, high + 1, shape, generator=generator, device=generator.device, dtype=torch.int32)
                    continue
                x = torch.randn(shape, generator=generator, device=generator.device)
                if section == "params":
                    x = x / math.sqrt(shape[-1]) if len(shape) > 1 else x * 0.1 + (1 if "norm" in name
                                                                                   or name in ("w", "ln_1_w", "ln_2_w", "last_w") else 0)
                out[name] = x.to(self.type)
        return out

    def heads(self, op):
        H = self.number(op["heads"])
        return H, self.number(op.get("kv_heads", H))


def angles(op, hd, at):
    """Of each position in `at`, [..., S]: [..., S, hd/2] in float64."""
    assert op["pairing"] == "half" and "rotary" not in op and "scaling" not in op
    return at[..., None] * float(op["theta"]) ** (-torch.arange(hd // 2, device=at.device, dtype=torch.float64) / (hd // 2))


def turned(x, cos, sin):
    """x: [B, S, heads, hd]; cos, sin: [B or 1, S, 1, hd/2]."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def rope(x, op, spec, pos):
    heads = spec.number(op["heads"])
    at = torch.arange(x.shape[1], device=x.device, dtype=torch.float64)[None, :] + (pos[:, None].double() if pos is not None else 0)
    turn = angles(op, x.shape[2] // heads, at)[:, :, None, :]
    return turned(x.view(*x.shape[:2], heads, -1), turn.cos().to(x.dtype), turn.sin().to(x.dtype)).reshape(x.shape)


SCORES = 1 << 28  # at a time: those of a long prompt's heads would not fit


def attention(q, k, v, op, spec, pos):
    """Some heads of a sequence at a time."""
    H, KV = spec.heads(op)
    B, S, hd = q.shape[0], q.shape[1], q.shape[2] // H
    q = q.view(B, S, KV, H // KV, hd).permute(0, 2, 3, 1, 4)
    k, v = (t.view(B, -1, KV, hd).transpose(1, 2) if t.dim() == 3 else t for t in (k, v))
    out, step = torch.empty_like(q), max(1, SCORES // (H // KV * S * k.shape[2]))
    for b in range(B):
        query = torch.arange(S, device=q.device) + (pos[b] if pos is not None else 0)
        hidden = torch.arange(k.shape[2], device=q.device) > query[:, None] if op.get("causal") or pos is not None else None
        for h in range(0, KV, step):
            own = (b, slice(h, h + step))
            scores = q[own] @ k[own][:, None].mT / math.sqrt(hd)
            weights = torch.softmax(scores if hidden is None else scores.masked_fill_(hidden, -math.inf), -1)
            out[own] = weights @ v[own][:, None]
    return out.permute(0, 3, 1, 2, 4).reshape(B, S, H * hd)


def appended(cache, x, pos):
    cache, rows = cache.clone(), x.view(x.shape[0], -1, *cache.shape[1::2]).transpose(1, 2)
    for b in range(cache.shape[0]):
        cache[b, :, int(pos[b]):int(pos[b]) + rows.shape[2]] = rows[b]
    return cache


def function_of(op, spec):
    """What computes an op of its operands; attention, rope and kv_append are the caller's."""
    kind = op["op"]
    if kind in FUNCTIONS:
        return FUNCTIONS[kind]
    if kind == "linear":
        turn = op.get("layout") == "in_out"
        return lambda x, w, *b: F.linear(x, w.t() if turn else w, *b)
    if kind == "matmul":
        return (lambda x, z: x @ z.mT) if op.get("transpose") else torch.matmul
    if kind == "split":
        sizes = [spec.number(n) for n in op["sizes"]]
        return lambda x: torch.split(x, sizes, -1)
    eps = op["eps"]
    return {"rmsnorm": lambda x, w: F.rms_norm(x, x.shape[-1:], w, eps),
            "layernorm": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, eps),
            "l2norm": lambda x: x / x.norm(dim=-1, keepdim=True).clamp_min(eps)}[kind]


def evaluate(spec, data, work, rounded):
    """Evaluates the spec's ops in the dtype `work`; rounded: rounds every result to the spec's dtype."""
    v = {n: t if t.dtype == torch.int32 else t.to(work) for n, t in data.items()}
    for op in spec.tree["ops"]:
        x, kind, pos = [v[n] if isinstance(n, str) else n for n in op["in"]], op["op"], v.get(op.get("at"))
        if kind == "split":
            v.update(zip(op["out"], function_of(op, spec)(*x)))
            continue
        y = (rope(*x, op, spec, pos) if kind == "rope" else attention(*x, op, spec, pos) if kind == "attention"
             else appended(v[op["state"]], *x, pos) if kind == "kv_append" else function_of(op, spec)(*x))
        v[op["out"]] = y.to(spec.type).to(work) if rounded else y
    return {name: v[value] for name, value in spec.tree["outputs"].items()}


# ---- as a user of PyTorch would write it
def joined(ops, params):
    """Products of one operand as one product of their weights side by side, cut apart behind it: (ops, joined weight -> its parts)."""
    groups = {}
    for op in ops:
        if op["op"] == "linear" and op["in"][1] in params and op.get("layout") != "in_out":
            groups.setdefault((op["in"][0], len(op["in"])), []).append(op)
    first = {id(group[0]): group for group in groups.values() if len(group) > 1}
    others = {id(op) for group in first.values() for op in group[1:]}
    out, weights = [], {}
    for op in ops:
        if id(op) in first:
            group = first[id(op)]
            names = ["+".join(columns) for columns in zip(*(o["in"][1:] for o in group))]
            weights.update(zip(names, zip(*(o["in"][1:] for o in group))))
            out.append({"op": "linear", "in": [op["in"][0], *names], "out": " ".join(o["out"] for o in group)})
            out.append({"op": "split", "in": [out[-1]["out"]], "out": [o["out"] for o in group],
                        "sizes": [params[o["in"][1]][0] for o in group]})
        elif id(op) not in others:
            out.append(op)
    return out, weights


def sdpa(op, spec, cached):
    """Of a cache every row is filled, and a query is the last."""
    H, KV = spec.heads(op)

    def attend(q, k, v):
        B, S, hd = q.shape[0], q.shape[1], q.shape[2] // H
        k, v = (t if cached else t.view(B, S, KV, hd).transpose(1, 2) for t in (k, v))
        y = F.scaled_dot_product_attention(q.view(B, S, H, hd).transpose(1, 2), k, v, is_causal=bool(op.get("causal")) and not cached,
                                           enable_gqa=H != KV)
        return y.transpose(1, 2).reshape(q.shape)
    return attend


def rope_of(op, spec, at, device):
    """at: the positions of the rows; their cosines and sines are made ahead."""
    turns = angles(op, spec.dims["hd"], at.to(device))[None, :, None]
    cos, sin = turns.cos().to(spec.type), turns.sin().to(spec.type)
    return lambda x: turned(x.view(*x.shape[:2], -1, spec.dims["hd"]), cos, sin).reshape(x.shape)


def append_at(row):
    def append(cache, x):
        cache[:, :, row:] = x.view(x.shape[0], -1, *cache.shape[1::2]).transpose(1, 2)
        return cache
    return append


def program(spec, device):
    """(weights, run): weights(data) are the tensors that run takes, and run(weights) is the outputs, in the spec's order. Products of one
    operand are joined, attention is SDPA, and caches, which are full but for the new row, are written in place."""
    shapes = {name: shape for name, _, shape in spec.items("params")}
    ops, weights = joined(spec.tree["ops"], shapes)
    steps, cached = [], any(True for _ in spec.items("state"))
    at = torch.arange(spec.dims.get("S", 1), dtype=torch.float64) + (spec.dims["L"] - spec.dims["S"] if cached else 0)
    for op in ops:
        ins, kind = op["in"], op["op"]
        if kind == "rope":
            step = rope_of(op, spec, at, device)
        elif kind == "attention":
            step = sdpa(op, spec, cached)
        elif kind == "kv_append":
            step, ins = append_at(spec.dims["L"] - spec.dims["S"]), [op["state"], *ins]
        else:
            step = function_of(op, spec)
        steps.append((op["out"], step, tuple(ins)))
    parts = {n for names in weights.values() for n in names}

    def tensors(data):
        return {**{n: t for n, t in data.items() if n not in parts}, **{n: torch.cat([data[p] for p in of]) for n, of in weights.items()}}

    def run(given):
        v = dict(given)
        for out, step, ins in steps:
            y = step(*[v[n] if isinstance(n, str) else n for n in ins])
            if isinstance(out, list):
                v.update(zip(out, y))
            else:
                v[out] = y
        return [v[value] for value in spec.tree["outputs"].values()]
    return tensors, run
