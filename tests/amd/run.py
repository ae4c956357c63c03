#!/usr/bin/python3
"""In: ./tfgen (TFGEN), TINYGRAD_DIR; options choose specs, targets, levels and sizes. Out: for each, the code objects that tfgen writes, run in
the instruction emulator on the data that tfgen writes, compared with its float64 reference; a table of passes and failures. Refuses
(exit 1) an element beyond its bound, a fault, a kernel with scratch. Never part of CI: needs numpy, msgpack and a tinygrad checkout."""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

from emulator import CodeObject, Machine

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
LEVELS = ["none", "ops", "tile"]
# Small and odd: tails in every direction, in a few hundred thousand instructions.
SIZES = {
    "llama-block": ["B=2,S=5,D=48,H=3,KV=1,hd=16,F=53"],
    "llama-decode": ["B=2,L=11,D=48,H=3,KV=1,hd=16,F=53"],
    "gpt2-block": ["B=2,S=5,D=48,H=3,F=53"],
    "gpt2-decode": ["B=2,L=11,D=48,H=3,hd=16,F=53"],
    "bert-block": ["B=1,S=7,D=48,H=3,F=53"],
    "attention": ["B=2,S=7,H=3,KV=1,hd=16", "B=1,S=37,H=2,KV=2,hd=32"],
    "qkv-rope": ["B=1,S=7,D=48,H=3,KV=1,hd=16"],
    "linear": ["B=1,S=7,D=53,F=37", "B=1,S=131,D=72,F=133"],
    "swiglu": ["B=1,S=7,D=53,F=37"],
    "gelu-layernorm-linear": ["B=1,S=7,D=53,F=37"],
    "layernorm-gelu-linear": ["B=1,S=7,D=53,F=37"],
}
ROWS_SIZES = ["B=1,S=3,D=53", "B=1,S=5,D=256"]  # of specs that have B, S and D alone
NUMPY = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I32": np.int32}


def tfgen(*arguments):
    command = [os.environ.get("TFGEN", os.path.join(ROOT, "tfgen")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[:600]}")


def read_safetensors(path):
    """name -> (dtype, array as stored)"""
    with open(path, "rb") as f:
        data = f.read()
    size, = struct.unpack_from("<Q", data)
    out = {}
    for name, item in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            low, high = item["data_offsets"]
            array = np.frombuffer(data[8 + size + low:8 + size + high], NUMPY[item["dtype"]])
            out[name] = item["dtype"], array.reshape(item["shape"])
    return out


def as_double(dtype, array):
    if dtype in ("BF16", "bf16"):
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def evaluate(extent, dims):
    """An extent of the manifest: sums and products of dims and integers."""
    if not re.fullmatch(r"[\w\s+*/()-]+", extent):
        raise ValueError(f"extent {extent!r}")
    return int(eval(extent.replace("/", "//"), {"__builtins__": {}}, dims))


class Plan:
    """A folder that `tfgen --code` wrote, with its buffers in an emulated machine."""

    SIZE = {"f32": 4, "i32": 4, "f16": 2, "bf16": 2}
    ARRAY = {"f32": np.float32, "i32": np.int32, "f16": np.float16, "bf16": np.uint16}

    def __init__(self, folder, data, seed):
        with open(f"{folder}/manifest.json") as f:
            self.manifest = json.load(f)
        self.folder, self.machine, self.histogram, self.instructions = folder, Machine(seed=seed), collections.Counter(), 0
        self.dims = {d["name"]: d["value"] for d in self.manifest["dims"]}
        self.address, self.outputs = {}, {}
        for v in self.manifest["values"]:
            self._place(v, data)
        work = self.manifest["workspace"]
        base = self._poison(work["bytes"], "workspace")
        self.scratch = []
        for item in work["values"]:
            if "scratch" in item:
                self.scratch.append(base + item["offset"])
            else:
                self.address[item["value"]] = base + item["offset"]
        self.packed = [self._poison(p["columns"] * p["length"] * self.SIZE[p["dtype"]], p["name"]) for p in self.manifest["packs"]]

    def _poison(self, size, name):
        return self.machine.memory.upload(b"\xff" * size, name)  # not a number in every float type

    def _place(self, value, data):
        name = value["name"]
        count = math.prod(evaluate(e, self.dims) for e in value["shape"])
        if value["kind"] == "output":
            self.outputs[value["output"]] = value, count
            self.address[name] = self._poison(count * self.SIZE[value["dtype"]], name)
        else:
            self.address[name] = self.machine.memory.upload(data[name][1].tobytes(), name)

    def _arguments(self, item):
        out = bytearray(item["argument_bytes"])
        for a in item["arguments"]:
            if a["kind"] == "dim":
                struct.pack_into("<i", out, a["offset"], self.manifest["dims"][a["index"]]["value"])
                continue
            pointer = (self.address[a["value"]] if a["kind"] == "value" else
                       self.packed[a["index"]] if a["kind"] == "packed" else self.scratch[a["index"]])
            struct.pack_into("<Q", out, a["offset"], pointer)
        return bytes(out)

    def _launch(self, item, grid):
        code = CodeObject(f"{self.folder}/{item['name']}.hsaco")
        kernel = code.kernels[item["name"]]
        if kernel.scratch:
            raise RuntimeError(f"{item['name']} uses {kernel.scratch} bytes of scratch")
        dynamic = max(0, item.get("shared_bytes", 0) - kernel.lds)
        return self.machine.run(code, item["name"], grid, item["block"], self._arguments(item), dynamic_lds=dynamic)

    def run(self):
        for p in self.manifest["packs"]:
            self._launch(p, p["grid"])
        for k in self.manifest["kernels"]:
            result = self._launch(k, k["grid"]["now"])
            self.histogram += result.histogram
            self.instructions += result.instructions

    def output(self, name):
        value, count = self.outputs[name]
        raw = self.machine.memory.download(self.address[value["name"]], count * self.SIZE[value["dtype"]])
        return as_double(value["dtype"], np.frombuffer(raw, self.ARRAY[value["dtype"]]))


def headline(histogram):
    groups = {"matrix": r"op_[mw]+fma|op_wmma|op_mfma", "dot": r"DOT", "dpp": r"DPP|op_dpp", "to LDS": r"global_lds"}
    counts = {g: sum(n for name, n in histogram.items() if re.search(p, name)) for g, p in groups.items()}
    return ", ".join(f"{n} {g}" for g, n in counts.items() if n) or "vector and scalar only"


def judge(plan, data):
    """Largest error of any output over its bound."""
    worst = 0.0
    for name in plan.outputs:
        want, bound = data[f"ref.{name}"][1].ravel(), data[f"bound.{name}"][1].ravel()
        error = np.abs(plan.output(name) - want)
        ratio = np.where(error == 0, 0, error / np.maximum(bound, 1e-300))
        worst = max(worst, float(np.max(np.where(np.isnan(ratio), np.inf, ratio), initial=0)))
    return worst


def run_target(spec, common, target, data, folder, seed):
    """(passed, text) of one target's code objects."""
    try:
        tfgen("emit", spec, *common, f"--target={target}", "--code", "-o", f"{folder}/{target}")
        plan = Plan(f"{folder}/{target}", data, seed)
        try:
            plan.run()
            worst = judge(plan, data)
            return worst <= 1, f"error/bound {worst:.3f}, {plan.instructions} wave instructions, {headline(plan.histogram)}"
        finally:
            plan.machine.close()
    except Exception as e:  # a failure of one target is a row of the table
        return False, f"{type(e).__name__}: {' '.join(str(e).split())[:700]}"


def attempt(job):
    """Rows (target, passed, seconds, text) of a spec at one level and size; all targets share tfgen's data."""
    spec, level, size, dtype, seed, targets = job
    common = [f"--dim={size}"] * bool(size) + [f"--dtype={dtype}"] * bool(dtype) + [f"--fusion={level}", "--quiet"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            file = f"{folder}/data.safetensors"
            tfgen("run", spec, *common, "--reference=always", "--repeat=1", f"--seed={seed}", f"--dump-data={file}")
            data = read_safetensors(file)
        except Exception as e:
            return job, [(t, False, 0.0, f"no data: {e}") for t in targets]
        for target in targets:
            start = time.time()
            passed, text = run_target(spec, common, target, data, folder, seed)
            rows.append((target, passed, time.time() - start, text))
    return job, rows


def jobs_of(options):
    targets = options.target.split(",")
    for spec in options.specs:
        name = os.path.splitext(os.path.basename(spec))[0]
        for size in options.dim or SIZES.get(name, ROWS_SIZES):
            for level in options.fusion.split(","):
                yield spec, level, size, options.dtype, options.seed, targets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", help="default: all of specs/")
    parser.add_argument("--target", default=",".join(TARGETS))
    parser.add_argument("--fusion", default=",".join(LEVELS))
    parser.add_argument("--dim", action="append", help="sizes instead of the built-in small ones; may be given several times")
    parser.add_argument("--dtype", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", type=int, default=2, help="processes")
    options = parser.parse_args()
    options.specs = options.specs or sorted(f"specs/{f}" for f in os.listdir(f"{ROOT}/specs") if f.endswith(".yaml"))
    table = collections.defaultdict(lambda: [0, 0])
    with concurrent.futures.ProcessPoolExecutor(options.j) as pool:
        for (spec, level, size, *_), rows in pool.map(attempt, jobs_of(options)):
            name = os.path.basename(spec)
            for target, passed, seconds, text in rows:
                table[name, target][not passed] += 1
                print(f"{name:28s} {target:8s} {level:5s} {size:36s} {'ok  ' if passed else 'FAIL'} {seconds:5.1f} s  {text}", flush=True)
    targets = options.target.split(",")
    print(f"\n{'passed/failed':28s} " + " ".join(f"{t:>9s}" for t in targets))
    for spec in dict.fromkeys(s for s, _ in table):
        print(f"{spec:28s} " + " ".join(f"{table[spec, t][0]:>5d}/{table[spec, t][1]:<3d}" for t in targets))
    passed, failed = (sum(row[i] for row in table.values()) for i in (0, 1))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
