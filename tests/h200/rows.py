#!/usr/bin/env python3
"""In: folders that tests/h200/rows_prepare.sh made (manifest.json, cubin). Out: every row operation checked against PyTorch in float32 and
timed beside torch.compile on this machine's NVIDIA GPU, with the share of the floor: bytes over what a copy moves here. Times are those of
CUDA-graph replays over inputs and outputs that change from call to call and are together larger than the L2 cache. Refuses (exit 1) a
result that differs. Needs PyTorch; no compiler of device code.

usage: rows.py FOLDER [--peers]"""
import ctypes
import os
import struct
import sys

import torch
import torch.nn.functional as F

import run
from run import driver, must

EPS, TYPE = 1e-5, torch.bfloat16
PEERS = {"rmsnorm": lambda v: F.rms_norm(v["x"], (v["x"].shape[-1],), v["w"], EPS),
         "layernorm": lambda v: F.layer_norm(v["x"], (v["x"].shape[-1],), v["w"], v["b"], EPS),
         "l2norm": lambda v: F.normalize(v["x"], dim=-1, eps=1e-12),
         "softmax": lambda v: F.softmax(v["x"], dim=-1),
         "add-rmsnorm": lambda v: (v["x"] + v["r"], F.rms_norm(v["x"] + v["r"], (v["x"].shape[-1],), v["w"], EPS))}


class Plan:
    """One kernel over some sets of tensors; the arguments of each set are packed once."""

    def __init__(self, folder, sets):
        m = run.judging.read_manifest(folder)
        k, = m["kernels"]
        with open(os.path.join(folder, m["code"][k["name"]]["file"]), "rb") as f:
            image = f.read()
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        must(driver.cuModuleLoadData(ctypes.byref(self.module), image), folder)
        must(driver.cuModuleGetFunction(ctypes.byref(self.function), self.module, k["symbol"].encode()), k["name"])
        dims = [d["value"] for d in m["dims"]]
        shape = sets[0]["x"].shape
        self.grid, self.block, self.overlap = k["grid"]["now"], k["block"], k.get("overlap", False)
        self.outputs = [{v["name"]: torch.full(shape, float("nan"), dtype=TYPE, device="cuda") for v in m["values"] if v.get("output")}
                        for _ in sets]
        self.names = {v["output"]: v["name"] for v in m["values"] if v.get("output")}
        self.params = [self.pack(k, dims, {**s, **o}) for s, o in zip(sets, self.outputs)]

    def pack(self, k, dims, tensors):
        data = bytearray(k["argument_bytes"])
        for a in k["arguments"]:
            if a["kind"] == "dim":
                struct.pack_into("<i", data, a["offset"], dims[a["index"]])
            else:
                struct.pack_into("<Q", data, a["offset"], tensors[a["value"]].data_ptr())
        held = ctypes.create_string_buffer(bytes(data), len(data))
        return (ctypes.c_void_p * 1)(ctypes.addressof(held)), held

    def call(self, i):
        stream = torch.cuda.current_stream().cuda_stream
        config = run.Config((self.grid, 1, 1), (self.block, 1, 1), 0, stream, ctypes.pointer(run.OVERLAP), 1 if self.overlap else 0)
        must(driver.cuLaunchKernelEx(ctypes.byref(config), self.function, self.params[i][0], None), "launch")


def median_us(calls, repeat=40):
    for c in calls:
        c()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for c in calls:
            c()
    for _ in range(3):
        graph.replay()
    marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeat)]
    for start, end in marks:
        start.record()
        graph.replay()
        end.record()
    torch.cuda.synchronize()
    times = sorted(s.elapsed_time(e) * 1e3 / len(calls) for s, e in marks)
    return times[repeat // 2], times[repeat // 10], times[repeat * 9 // 10]


def bandwidth():
    """Bytes per second, read and written, of an elementwise kernel over 4 GiB: a kernel, since kernels are what is compared with it."""
    x = torch.randn(1 << 30, device="cuda")
    y = torch.empty_like(x)
    return 2 * x.numel() * 4 / (median_us([lambda: torch.neg(x, out=y)] * 2, 10)[0] * 1e-6)


def make_sets(rows, columns):
    count = max(3, min(32, -(-(400 << 20) // (rows * columns * 4))))
    normal = lambda *shape: torch.randn(*shape, device="cuda").to(TYPE)  # noqa: E731
    return [{"x": normal(8, rows // 8, columns), "r": normal(8, rows // 8, columns), "w": normal(columns), "b": normal(columns)}
            for _ in range(count)]


def difference(plan, name, data):
    """Largest relative RMS difference of an output of the first set, against float32."""
    want = PEERS[name]({k: v.float() for k, v in data.items()})
    if name == "add-rmsnorm":  # the norm takes the sum as it is stored
        s = want[0].to(TYPE)
        pairs = [("s", s.float()), ("y", F.rms_norm(s.float(), (s.shape[-1],), data["w"].float(), EPS))]
    else:
        pairs = [("y", want)]
    worst = 0.0
    for out, w in pairs:
        got = plan.outputs[0][plan.names[out]].float()
        worst = max(worst, ((got - w).norm() / w.norm()).item() if torch.isfinite(got).all() else float("inf"))
    return worst


def main():
    root, peers = sys.argv[1], "--peers" in sys.argv
    names = sorted(n for n in os.listdir(root) if os.path.exists(os.path.join(root, n, "manifest.json")))
    rate, wrong, last = bandwidth(), 0, None
    print(f"{torch.cuda.get_device_name()}, a copy moves {rate * 1e-12:.2f} TB/s; shares are of that")
    for name in names:
        op, size, variant = name.split("@")
        rows, columns = (int(n) for n in size.split("x"))
        if (op, size) != last:
            sets, last = None, (op, size)
            torch.cuda.empty_cache()
            sets = make_sets(rows, columns)
            floor = (4 if op == "add-rmsnorm" else 2) * rows * columns * 2 / rate * 1e6
            if peers:
                f = torch.compile(PEERS[op])
                t = median_us([lambda v=v: f(v) for v in sets])
                print(f"{op:12s} {size:12s} {'torch.compile':14s} {t[0]:8.2f} us ({t[1]:.2f}, {t[2]:.2f})  "
                      f"{floor / t[0]:5.2f} of the floor", flush=True)
        plan = Plan(os.path.join(root, name), sets)
        plan.call(0)
        torch.cuda.synchronize()
        d = difference(plan, op, sets[0])
        t = median_us([lambda i=i: plan.call(i) for i in range(len(sets))])
        wrong += not d < 1e-2
        print(f"{op:12s} {size:12s} {'planner' if variant == '0' else variant:14s} {t[0]:8.2f} us ({t[1]:.2f}, {t[2]:.2f})  "
              f"{floor / t[0]:5.2f} of the floor"
              f"  {'ok' if d < 1e-2 else 'WRONG'} {d:.1e}", flush=True)
    print(f"{len(names)} variants, {wrong} wrong")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
