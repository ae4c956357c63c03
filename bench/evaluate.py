"""Evaluates a spec's YAML with PyTorch, for expected results. Needs PyYAML."""
import math

import torch
import yaml

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}


class Spec:
    """dims: override the preset's."""

    def __init__(self, path, preset, dtype, dims=None):
        with open(path) as f:
            self.tree = yaml.safe_load(f)
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


def rope(x, op, spec, pos):
    heads = spec.number(op["heads"])
    B, S = x.shape[0], x.shape[1]
    hd = x.shape[2] // heads
    half = hd // 2
    assert op["pairing"] == "half" and "rotary" not in op and "scaling" not in op
    frequency = float(op["theta"]) ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    at = torch.arange(S, device=x.device, dtype=torch.float64)[None, :] + (pos[:, None].double() if pos is not None else 0)
    turn = (at[:, :, None] * frequency)[:, :, None, :]
    h = x.view(B, S, heads, hd)
    a, b = h[..., :half], h[..., half:]
    c, s = torch.cos(turn).to(x.dtype), torch.sin(turn).to(x.dtype)
    return torch.cat([a * c - b * s, b * c + a * s], -1).reshape(B, S, -1)


def attention(q, k, v, op, spec, pos):
    H = spec.number(op["heads"])
    KV = spec.number(op.get("kv_heads", H))
    B, S = q.shape[0], q.shape[1]
    hd = q.shape[2] // H
    q = q.view(B, S, H, hd).transpose(1, 2)
    if k.dim() == 3:
        k, v = (t.view(B, -1, KV, hd).transpose(1, 2) for t in (k, v))
    k, v = (t.repeat_interleave(H // KV, 1) for t in (k, v))
    scores = q @ k.transpose(2, 3) / math.sqrt(hd)
    if op.get("causal") or pos is not None:
        query = torch.arange(S, device=q.device)[None, :] + (pos[:, None] if pos is not None else 0)
        hidden = torch.arange(k.shape[2], device=q.device)[None, None, :] > query[:, :, None]
        scores = scores.masked_fill(hidden[:, None], -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(B, S, H * hd)


def evaluate(spec, data, work, rounded):
    """Evaluates the spec's ops in the dtype `work`; rounded: rounds every result to the spec's dtype."""
    v = {n: t if t.dtype == torch.int32 else t.to(work) for n, t in data.items()}
    for op in spec.tree["ops"]:
        x = [v[n] for n in op["in"]]
        kind, pos = op["op"], v.get(op.get("at"))
        if kind == "linear":
            y = x[0] @ (x[1] if op.get("layout") == "in_out" else x[1].t())
            y = y + x[2] if len(x) > 2 else y
        elif kind == "rmsnorm":
            y = x[0] * torch.rsqrt((x[0] * x[0]).mean(-1, keepdim=True) + op["eps"]) * x[1]
        elif kind == "layernorm":
            y = torch.nn.functional.layer_norm(x[0], x[0].shape[-1:], x[1], x[2], op["eps"])
        elif kind == "l2norm":
            y = x[0] / x[0].norm(dim=-1, keepdim=True).clamp_min(op["eps"])
        elif kind == "rope":
            y = rope(x[0], op, spec, pos)
        elif kind == "attention":
            y = attention(*x, op, spec, pos)
        elif kind == "kv_append":
            y = v[op["state"]].clone()
            B, KV, L, hd = y.shape
            rows = x[0].view(B, -1, KV, hd).transpose(1, 2)
            for b in range(B):
                y[b, :, int(pos[b]):int(pos[b]) + rows.shape[2]] = rows[b]
        elif kind == "split":
            for name, part in zip(op["out"], torch.split(x[0], [spec.number(n) for n in op["sizes"]], -1)):
                v[name] = part
            continue
        else:
            y = {"add": lambda: x[0] + x[1], "mul": lambda: x[0] * x[1], "square": lambda: x[0] * x[0], "sqrt": lambda: x[0].sqrt(),
                 "exp": lambda: x[0].exp(), "sin": lambda: x[0].sin(), "cos": lambda: x[0].cos(),
                 "silu": lambda: torch.nn.functional.silu(x[0]), "gelu_erf": lambda: torch.nn.functional.gelu(x[0]),
                 "gelu_tanh": lambda: torch.nn.functional.gelu(x[0], approximate="tanh"),
                 "softmax": lambda: torch.softmax(x[0], -1)}[kind]()
        v[op["out"]] = y.to(spec.type).to(work) if rounded else y
    return {name: v[value] for name, value in spec.tree["outputs"].items()}
