"""Runs the ops of a spec in PyTorch: evaluate() computes the expected results, program() runs them as a user of PyTorch would. Needs
PyYAML."""
import math

import torch
import torch.nn.functional as F
import yaml

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
FUNCTIONS = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "neg": lambda x: -x,
    "exp": torch.exp, "sqrt": torch.sqrt, "square": torch.square, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh, "abs": torch.abs,
    "log": torch.log, "erf": torch.erf, "pow": torch.pow,
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


def rotary_of(op, spec, hd):
    """How many columns of a head the rope rotates. Only ropes that pair halves and scale linearly or not at all are supported here."""
    assert op["pairing"] == "half" and op.get("scaling", {}).get("type", "linear") == "linear"
    return spec.number(op.get("rotary", hd))


def angles(op, rotary, at):
    """The angles [..., S, rotary/2], in float64, by which positions `at` [..., S] rotate each pair."""
    turns = at[..., None] * float(op["theta"]) ** (-torch.arange(rotary // 2, device=at.device, dtype=torch.float64) / (rotary // 2))
    return turns / op.get("scaling", {}).get("factor", 1)


def turned(x, cos, sin):
    """x: [B, S, heads, hd]; cos, sin: [B or 1, S, 1, rotary/2]. Columns beyond rotary stay."""
    half = cos.shape[-1]
    a, b = x[..., :half], x[..., half:2 * half]
    return torch.cat([a * cos - b * sin, b * cos + a * sin] + ([x[..., 2 * half:]] if x.shape[-1] > 2 * half else []), -1)


def rope(x, op, spec, pos):
    heads = spec.number(op["heads"])
    by_head = x.reshape(*x.shape[:2], heads, -1)
    at = torch.arange(x.shape[1], device=x.device, dtype=torch.float64)[None, :] + (pos[:, None].double() if pos is not None else 0)
    turn = angles(op, rotary_of(op, spec, by_head.shape[-1]), at)[:, :, None, :]
    return turned(by_head, turn.cos().to(x.dtype), turn.sin().to(x.dtype)).reshape(x.shape)


SCORES = 1 << 28  # most scores computed at a time: those of all heads of a long prompt would not fit in memory


def capped(scores, op):
    return torch.tanh(scores / float(op["softcap"])) * float(op["softcap"]) if "softcap" in op else scores


def attention(q, k, v, op, spec, pos, bias=None):
    """Computes some heads of one sequence at a time. Keys and values with a state's layout [B, KV, L, hd] come from a cache.
    bias: [H, S, L]."""
    H, KV = spec.heads(op)
    B, S, shape = q.shape[0], q.shape[1], q.shape
    q = q.reshape(B, S, KV, H // KV, -1).permute(0, 2, 3, 1, 4)
    hd, cached = q.shape[-1], pos is not None
    k, v = (t if cached else t.reshape(B, -1, KV, hd).transpose(1, 2) for t in (k, v))
    assert "alibi" not in op and "sinks" not in op
    out, step = torch.empty_like(q), max(1, SCORES // (H // KV * S * k.shape[2]))
    for b in range(B):
        query = torch.arange(S, device=q.device) + (pos[b] if pos is not None else 0)
        keys = torch.arange(k.shape[2], device=q.device)
        hidden = keys > query[:, None] if op.get("causal") or pos is not None else None
        if "window" in op:
            near = spec.number(op["window"])
            hidden = (keys >= query[:, None] + near if hidden is None else hidden) | (keys <= query[:, None] - near)
        for h in range(0, KV, step):
            own = (b, slice(h, h + step))
            scores = capped(q[own] @ k[own][:, None].mT * float(op.get("scale", 1 / math.sqrt(hd))), op)
            if bias is not None:
                scores += bias.unflatten(0, (KV, H // KV))[h:h + step]
            weights = torch.softmax(scores if hidden is None else scores.masked_fill_(hidden, -math.inf), -1)
            out[own] = weights @ v[own][:, None]
    return out.permute(0, 3, 1, 2, 4).reshape(shape)


def appended(cache, x, pos):
    cache, rows = cache.clone(), x.reshape(x.shape[0], -1, *cache.shape[1::2]).transpose(1, 2)
    for b in range(cache.shape[0]):
        cache[b, :, int(pos[b]):int(pos[b]) + rows.shape[2]] = rows[b]
    return cache


def function_of(op, spec):
    """The function that computes an op; the caller handles attention, rope and kv_append."""
    kind = op["op"]
    if kind in FUNCTIONS:
        return FUNCTIONS[kind]
    if kind == "linear":
        turn = op.get("layout") == "in_out"
        return lambda x, w, *b: F.linear(x, w.t() if turn else w, *b)
    if kind == "matmul":
        turned = [op.get(name) for name in ("transpose_a", "transpose")]
        return lambda *operands: torch.matmul(*(t.mT if turn else t for t, turn in zip(operands, turned)))
    if kind == "split":
        sizes = [spec.number(n) for n in op["sizes"]]
        return lambda x: torch.split(x, sizes, -1)
    if kind == "reshape":
        shape = [spec.number(n) for n in op["shape"]]
        return lambda x: x.reshape(shape)
    eps, more = float(op["eps"]), 1 if op.get("unit_offset") else 0
    return {"rmsnorm": lambda x, *w: F.rms_norm(x, x.shape[-1:], *(t + more if more else t for t in w), eps=eps),
            "layernorm": lambda x, *wb: F.layer_norm(x, x.shape[-1:], *wb, eps=eps),
            "l2norm": lambda x: x / x.norm(dim=-1, keepdim=True).clamp_min(eps)}[kind]


def evaluate(spec, data, work, rounded):
    """Evaluates the spec's ops in the dtype `work`; rounded: rounds every result to the spec's dtype."""
    v = {n: t if t.dtype == torch.int32 else t.to(work) for n, t in data.items()}
    for op in spec.tree["ops"]:
        x, kind, pos = [v[n] if isinstance(n, str) else n for n in op["in"]], op["op"], v.get(op.get("at"))
        if kind == "split":
            v.update(zip(op["out"], function_of(op, spec)(*x)))
            continue
        y = (rope(*x, op, spec, pos) if kind == "rope"
             else attention(*x, op, spec, pos, v.get(op.get("bias"))) if kind == "attention"
             else appended(v[op["state"]], *x, pos) if kind == "kv_append" else function_of(op, spec)(*x))
        v[op["out"]] = y.to(spec.type).to(work) if rounded else y
    return {name: v[value] for name, value in spec.tree["outputs"].items()}


# ---- as a user of PyTorch would write it
def joined(ops, params):
    """Joins products that share an operand into one product with concatenated weights, whose result is split. Returns (ops, joined weight
    -> its parts)."""
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


def softcapped(q, k, v, op, seen):
    """Attention with softcapped scores, op by op, since SDPA has no softcap. q: [B, H, S, hd], k and v: [B, KV, L, hd]. seen: a mask, or
    None: if S > 1 and the op is causal, each query sees the keys up to its own position; else every query sees all keys."""
    S, L = q.shape[2], k.shape[2]
    if seen is None and S > 1 and op.get("causal"):
        seen = torch.ones(S, L, dtype=torch.bool, device=q.device).tril()
    grouped = q.unflatten(1, (k.shape[1], -1))
    scores = capped(grouped @ k[:, :, None].mT * float(op.get("scale", 1 / math.sqrt(q.shape[-1]))), op)
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return (torch.softmax(scores.float(), -1).to(q.dtype) @ v[:, :, None]).flatten(1, 2)


def sdpa(op, spec, cached, device):
    """The op as a function of q, k, v. With caches (`cached`) S is 1: the query's own key is the last row of a full cache."""
    H, KV = spec.heads(op)

    S, window = spec.dims["S"], spec.number(op.get("window", 0))
    keys = spec.dims["L"] if cached else S
    banded = None
    if window and not cached and window < S:
        at = torch.arange(S, device=device)
        banded = (at[None, :] < at[:, None] + (1 if op.get("causal") else window)) & (at[None, :] > at[:, None] - window)
    assert not (cached and S > 1)

    def attend(q, k, v, bias=None):
        B, by_head = q.shape[0], q.reshape(*q.shape[:2], H, -1).transpose(1, 2)
        k, v = (t if cached else t.reshape(B, S, KV, -1).transpose(1, 2) for t in (k, v))
        if cached and 0 < window < keys:
            k, v = k[:, :, -window:], v[:, :, -window:]
        scale = float(op["scale"]) if "scale" in op else None
        if "softcap" in op:
            y = softcapped(by_head, k, v, op, banded)
        else:
            mask = bias[None] if bias is not None else banded
            y = F.scaled_dot_product_attention(by_head, k, v, mask, is_causal=bool(op.get("causal")) and not cached and mask is None,
                                               scale=scale, enable_gqa=H != KV)
        return y.transpose(1, 2).reshape(q.shape)
    return attend


def rope_of(op, spec, at, device):
    """A function that applies the op's rope to rows at the positions `at`; cosines and sines are computed here, not in each call."""
    turns = angles(op, rotary_of(op, spec, spec.dims["hd"]), at.to(device))[None, :, None]
    cos, sin = turns.cos().to(spec.type), turns.sin().to(spec.type)
    return lambda x: turned(x.reshape(*x.shape[:2], -1, spec.dims["hd"]), cos, sin).reshape(x.shape)


def append_at(row):
    def append(cache, x):
        cache[:, :, row:] = x.reshape(x.shape[0], -1, *cache.shape[1::2]).transpose(1, 2)
        return cache
    return append


def program(spec, device):
    """(weights, run): weights(data) gives the tensors that run takes, and run(weights) the outputs, in the spec's order. Products that
    share an operand are joined, attention is SDPA, and caches, which lack only the new row, are written in place."""
    shapes = {name: shape for name, _, shape in spec.items("params")}
    ops, weights = joined(spec.tree["ops"], shapes)
    steps, cached = [], any(True for _ in spec.items("state"))
    at = torch.arange(spec.dims.get("S", 1), dtype=torch.float64) + (spec.dims["L"] - spec.dims["S"] if cached else 0)
    for op in ops:
        ins, kind = op["in"], op["op"]
        if kind == "rope":
            step = rope_of(op, spec, at, device)
        elif kind == "attention":
            step, ins = sdpa(op, spec, cached, device), [*ins, *([op["bias"]] if "bias" in op else [])]
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
