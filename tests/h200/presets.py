#!/usr/bin/env python3
"""In: specs. Out: each preset, run by `tfgen run --device=cuda` on random data and compared with the spec's own text evaluated by PyTorch
in float64 on the same GPU. Passes when the RMS error of every output is at most 1.5 times, and the largest at most 4 times, that of the
same evaluation with each op's result rounded to the dtype (f32: 2 times that of PyTorch's own float32, whose sums run in another order).
Refuses (exit 1) what is further off or not finite.

usage: presets.py TFGEN FOLDER SPEC... [--presets=a,b] [--dtypes=bf16,f16,f32] [--fusion=tile,none] [--jobs=N]"""
import concurrent.futures
import math
import os
import subprocess
import sys
import zlib

import torch
import yaml
from safetensors.torch import load_file, save_file

torch.backends.cuda.matmul.allow_tf32 = False
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}


class Spec:
    def __init__(self, path, preset, dtype):
        with open(path) as f:
            self.tree = yaml.safe_load(f)
        self.type = TYPES[dtype]
        self.dims = dict(self.tree["dims"])
        self.dims.update(self.tree["presets"][preset])
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
        """Tensors by name, as the device gets them."""
        out = {}
        for section in ("inputs", "params", "state"):
            for name, v, shape in self.items(section):
                if v.get("dtype") == "i32":
                    low, high = (self.number(n) for n in v.get("range", [0, 1]))
                    out[name] = torch.randint(low, high + 1, shape, generator=generator, device="cuda", dtype=torch.int32)
                    continue
                x = torch.randn(shape, generator=generator, device="cuda")
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
    frequency = float(op["theta"]) ** (-torch.arange(half, device="cuda", dtype=torch.float64) / half)
    at = torch.arange(S, device="cuda", dtype=torch.float64)[None, :] + (pos[:, None].double() if pos is not None else 0)
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
        query = torch.arange(S, device="cuda")[None, :] + (pos[:, None] if pos is not None else 0)
        hidden = torch.arange(k.shape[2], device="cuda")[None, None, :] > query[:, :, None]
        scores = scores.masked_fill(hidden[:, None], -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(B, S, H * hd)


def evaluate(spec, data, work, rounded):
    """The spec's ops in `work`; with `rounded`, every result rounded to the spec's dtype."""
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


def rms(x):
    return float(x.double().square().mean().sqrt())


def run(tfgen, folder, path, preset, dtype, level):
    case = f"{os.path.basename(path)} {preset} {dtype} {level}"
    spec = Spec(path, preset, dtype)
    data = spec.data(torch.Generator("cuda").manual_seed(zlib.crc32(case.encode())))
    base = os.path.join(folder, case.replace(" ", "-"))
    weights = {}
    for name, v, _ in spec.items("params"):
        weights[v.get("from", name)] = (data[name].t() if v.get("transpose") else data[name]).contiguous().cpu()
    params = {name for name, _, _ in spec.items("params")}
    save_file(weights or {"none": torch.zeros(1)}, base + ".w")
    save_file({n: t.contiguous().cpu() for n, t in data.items() if n not in params}, base + ".i")
    del weights
    done = subprocess.run([tfgen, "run", path, f"--preset={preset}", f"--dtype={dtype}", f"--fusion={level}", "--device=cuda", "-j", "3",
                           "--repeat=1", "--reference=never", "-q", "-w", base + ".w", "-i", base + ".i", "-o", base + ".o"],
                          capture_output=True, text=True, timeout=170)
    try:
        if done.returncode:
            return False, f"{case}: exit code {done.returncode}: {done.stderr[:400]}"
        got = load_file(base + ".o")
    finally:
        for suffix in ".w", ".i", ".o":
            if os.path.exists(base + suffix):
                os.remove(base + suffix)
    exact = evaluate(spec, data, torch.float64, False)
    near = evaluate(spec, data, torch.float32, False) if dtype == "f32" else evaluate(spec, data, torch.float64, True)
    good, worst, largest = True, 0.0, 0.0
    for name, e in exact.items():
        error, allowed = got[name].cuda().double().view(e.shape) - e, near[name].double() - e
        floor = 2.0 ** -24 * rms(e) if dtype == "f32" else 0
        ratio = rms(error) / max(rms(allowed), floor, 1e-300)
        most = float(error.abs().max()) / max(float(allowed.abs().max()), 4 * floor, 1e-300)
        good = good and math.isfinite(ratio) and ratio <= (2 if dtype == "f32" else 1.5) and most <= 4
        worst, largest = max(worst, ratio), max(largest, most)
    return good, f"{case:44s} RMS error {worst:5.2f}, largest {largest:5.2f} times that of rounding {'ok' if good else 'WRONG'}"


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    tfgen, folder, *specs = [a for a in sys.argv[1:] if not a.startswith("--")]
    os.makedirs(folder, exist_ok=True)
    cases = []
    for path in specs:
        with open(path) as f:
            presets = yaml.safe_load(f)["presets"]
        for preset in options.get("presets", ",".join(presets)).split(","):
            cases += [(path, preset, d, l) for d in options.get("dtypes", "bf16").split(",")
                      for l in options.get("fusion", "tile").split(",") if preset in presets]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(options.get("jobs", "6"))) as pool:
        def one(case):
            try:
                return run(tfgen, folder, *case)
            except Exception as e:
                return False, f"{' '.join(case)}: {type(e).__name__}: {str(e)[:300]}"
        for good, text in pool.map(one, cases):
            failed += not good
            print(text, flush=True)
    print(f"presets: {len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
