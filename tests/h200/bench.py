#!/usr/bin/env python3
"""In: folders that tests/h200/prepare_bench.sh made, NAME or NAME@VARIANT (manifest.json and cubins; NAME is KIND-MxNxK or block-PRESET).
Out: a line for each NAME: median GPU microseconds of every variant, of cuBLAS on the same product in the same run, and their ratio; each
variant is first checked on random rows against float64. Refuses (exit 1) a wrong result. Needs torch; no compiler.

usage: bench.py FOLDER [--only=TEXT] [--seconds=N]   Times are from replays of a graph of several calls over rotated operands (more bytes
than the L2 holds), contenders in turn, so that power and clocks are the same for all of them."""
import os
import statistics
import sys
import time

import torch

import run

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
PEERS = {}  # block's name -> microseconds of the best torch.compile on the same kind of machine, copied here from another measurement
L2_BYTES = 150e6


def shape_of(value, dims):
    return [int(eval(str(e).replace("^", "**"), {}, dims)) for e in value["shape"]]


class Plan:
    """One plan with several sets of the tensors that it reads and writes; with `share` all sets use the same weights."""

    def __init__(self, folder):
        self.manifest = m = run.judging.read_manifest(folder)
        self.dims = {d["name"]: d["value"] for d in m["dims"]}
        dynamic = {k["name"]: k.get("dynamic_bytes", 0) for k in m["kernels"]}
        symbols = {k["name"]: k["symbol"] for k in m["packs"] + m["kernels"]}
        self.functions = {n: run.load(os.path.join(folder, c["file"]), symbols[n], dynamic.get(n, 0)) for n, c in m["code"].items()}
        self.multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        self.sets = []

    def add_set(self, inputs, params_of=None):
        m, made = self.manifest, {}
        for v in m["values"]:
            if v["kind"] == "output":
                made[v["name"]] = torch.full(shape_of(v, self.dims), float("nan"), dtype=TYPES[v["dtype"]], device="cuda")
            else:
                made[v["name"]] = inputs[v["name"]]
        work = torch.empty(max(m["workspace"]["bytes"], 1), dtype=torch.uint8, device="cuda")
        offsets = run.workspace_offsets(m)
        packed = params_of["packed"] if params_of else [
            torch.empty(p["bytes"], dtype=torch.uint8, device="cuda") for p in m["packs"]]
        s = {"values": made, "packed": packed, "work": work}
        address = lambda n: made[n].data_ptr() if n in made else work.data_ptr() + offsets[n]
        encode = lambda k: run.encode_arguments(k, list(self.dims.values()), lambda i: packed[i].data_ptr(), address)
        if not params_of:
            for k in m["packs"]:
                run.launch(self.functions[k["name"]], k, k["grid"], encode(k), self.multiprocessors)
        s["launches"] = [(self.functions[k["name"]], k, k["grid"]["now"], encode(k)) for k in m["kernels"]]
        torch.cuda.synchronize()
        self.sets.append(s)
        return s

    def call(self, i):
        stream = torch.cuda.current_stream().cuda_stream
        for function, k, grid, args in self.sets[i % len(self.sets)]["launches"]:
            run.launch(function, k, grid, args, self.multiprocessors, stream)


def graph_of(call, inner):
    call(0)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for i in range(inner):
            call(i)
    return g


def time_all(calls, inner, seconds):
    """Median, 10 % and 90 % microseconds of each call, measured in turn."""
    graphs = [graph_of(c, inner) for c in calls]
    times = [[] for _ in calls]
    for g in graphs:
        g.replay()
    torch.cuda.synchronize()
    end = time.time() + seconds
    while time.time() < end or len(times[0]) < 5:
        for g, t in zip(graphs, times):
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            g.replay()
            b.record()
            b.synchronize()
            t.append(a.elapsed_time(b) * 1e3 / inner)
    out = []
    for t in times:
        t.sort()
        out.append((t[len(t) // 2], t[len(t) // 10], t[len(t) * 9 // 10]))
    return out


def reference(kind, x, rows, inputs):
    """float64 result and bound of some rows."""
    def product(w):
        xs, wd = x[rows].double(), w.double()
        return xs @ wd.T, (xs.abs() @ wd.abs().T) * (2 * x.shape[1] ** 0.5 * 2.0 ** -24)
    if kind == "swiglu":
        (g, gb), (u, ub) = product(inputs["w_gate"]), product(inputs["w_up"])
        y = torch.nn.functional.silu(g) * u
        return y, y.abs() * 2.0 ** -8 + 1.2 * gb * u.abs() + torch.nn.functional.silu(g).abs() * ub + 2e-6 * y.abs()
    y, bound = product(inputs["w"])
    if kind == "residual":
        y = y + inputs["r"][rows].double()
    return y, y.abs() * 2.0 ** -8 + bound


def random_inputs(plan):
    out = {}
    for v in plan.manifest["values"]:
        if v["kind"] == "output":
            continue
        shape = shape_of(v, plan.dims)
        scale = shape[-1] ** -0.5 if v["kind"] == "param" and len(shape) > 1 else 1
        out[v["name"]] = (torch.randn(shape, device="cuda") * scale).to(TYPES[v["dtype"]])
    return out


def bench_product(name, folders, seconds):
    kind, size = name.split("-")
    M, N, K = (int(n) for n in size.split("x"))
    plans = {v: Plan(f) for v, f in folders.items()}
    first = next(iter(plans.values()))
    inputs = [random_inputs(first)]
    nbytes = sum(t.numel() * t.element_size() for t in inputs[0].values()) + 2 * M * N
    sets = max(2, min(16, int(L2_BYTES / nbytes) + 1))
    inputs += [random_inputs(first) for _ in range(sets - 1)]
    wrong = []
    for v, p in plans.items():
        for i in inputs:
            p.add_set(i)
        p.call(0)
        torch.cuda.synchronize()
        rows = torch.randint(0, M, (48,), device="cuda")
        y, bound = reference(kind, inputs[0]["x"].reshape(M, K), rows, inputs[0])
        got = p.sets[0]["values"]["y"] if "y" in p.sets[0]["values"] else next(
            p.sets[0]["values"][o["name"]] for o in p.manifest["values"] if o["kind"] == "output")
        ratio = ((got.reshape(M, N)[rows].double() - y).abs() / bound).max().item()
        if not ratio <= 1:
            wrong.append(f"{v}: error/bound {ratio}")
    ws = [torch.cat([i["w_gate"], i["w_up"]]) if kind == "swiglu" else i["w"] for i in inputs]
    outs = [torch.empty(M, w.shape[0], dtype=w.dtype, device="cuda") for w in ws]
    peer = lambda i: torch.matmul(inputs[i % sets]["x"].reshape(M, K), ws[i % sets].T, out=outs[i % sets])
    results = time_all([p.call for p in plans.values()] + [peer], max(sets, 8), seconds)
    flops = 2.0 * M * N * K * (2 if kind == "swiglu" else 1)
    cublas = results[-1][0]
    line = f"{name:28s} cuBLAS {cublas:8.1f} us {flops / cublas / 1e6:5.0f} TF |"
    ratios = {}
    for v, r in zip(plans, results):
        ratios[v] = cublas / r[0]
        line += f" {v or 'default'} {r[0]:.1f} ({r[1]:.1f}, {r[2]:.1f}) {flops / r[0] / 1e6:.0f} TF x{cublas / r[0]:.3f} |"
    print(line + (" WRONG " + "; ".join(wrong) if wrong else ""), flush=True)
    return ratios, not wrong


def bench_block(name, folders, seconds):
    for v, f in folders.items():
        p = Plan(f)
        base = random_inputs(p)
        s = p.add_set(base)
        for _ in range(3):
            again = dict(base)
            for value in p.manifest["values"]:
                if value["kind"] == "input":
                    again[value["name"]] = torch.randn_like(base[value["name"]])
            p.add_set(again, s)
        (whole, low, high), = time_all([p.call], 4, seconds)
        each = []
        for n in range(len(p.manifest["kernels"])):
            def one(i, n=n):
                function, k, grid, args = p.sets[i % 4]["launches"][n]
                run.launch(function, k, grid, args, p.multiprocessors, torch.cuda.current_stream().cuda_stream)
            each.append(time_all([one], 4, seconds / 4)[0][0])
        finite = all(torch.isfinite(p.sets[0]["values"][o["name"]]).all().item() for o in p.manifest["values"] if o["kind"] == "output")
        print(f"{name}@{v or 'default'}: {whole:.1f} us ({low:.1f}, {high:.1f}); kernels " +
              ", ".join(f"{k['name'].split('_')[-1]} {t:.1f}" for k, t in zip(p.manifest["kernels"], each)) +
              ("" if finite else " NOT FINITE"), flush=True)
    return {}, finite


def main():
    root = sys.argv[1]
    options = dict(a[2:].split("=") for a in sys.argv[2:])
    seconds = float(options.get("seconds", "0.3"))
    names = {}
    for entry in sorted(os.listdir(root)):
        if os.path.exists(os.path.join(root, entry, "manifest.json")) and options.get("only", "") in entry:
            name, _, variant = entry.partition("@")
            names.setdefault(name, {})[variant] = os.path.join(root, entry)
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")
    print(torch.cuda.get_device_name(0), "torch", torch.__version__)
    good, logs = True, []
    for name, folders in names.items():
        try:
            ratios, fine = (bench_block if name.startswith("block") else bench_product)(name, folders, seconds)
        except Exception as e:  # the next shape may still run
            print(f"{name}: {type(e).__name__}: {e}", flush=True)
            ratios, fine = {}, False
        good &= fine
        if name.startswith("product") and "" in ratios:
            logs.append(ratios[""])
        torch.cuda.empty_cache()
    if logs:
        print(f"{len(logs)} products: geometric mean {statistics.geometric_mean(logs):.3f} of cuBLAS, worst {min(logs):.3f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
