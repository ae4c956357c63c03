#!/usr/bin/python3
"""In: ./tfgen (TFGEN), TINYGRAD_DIR; options choose specs, targets, levels, types and sizes. Out: for each, the code objects that tfgen
writes, run in the instruction emulator on the data that tfgen writes, compared with its float64 reference; progress, a table of passes and
failures, an instruction histogram a target (--summary=FILE: as Markdown). Refuses (exit 1) an element beyond its bound, a fault, a kernel
with scratch, a plan on matrix units that runs no matrix instruction or the reverse. Never part of CI: needs numpy, msgpack and a tinygrad
checkout.

Without --fusion and --dtype: every spec and size at level tile in bf16, and the first size of each also at none and ops in bf16 and at tile
in f32 and f16. --fusion=stack: two layers in a launch of level block; with --then=SPEC the second one is of that kind. With --random=N: N
specs drawn by --seed, each at one level, in one type, on one target in turn; those that tfgen refuses by name (exit code 4) are counted,
and neither passed nor failed; --json prints what tests/cli/random_add.py adds up."""
import argparse
import collections
import concurrent.futures
import ctypes
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
from targets import TARGETS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import judging  # noqa: E402
LEVELS = ["none", "ops", "tile"]
# Small and odd: tails in every direction, in a few hundred thousand instructions. Up to 16 rows no product is on matrix units.
SIZES = {
    "llama-block": ["B=2,S=5,D=48,H=3,KV=1,hd=16,F=53", "B=1,S=37,D=72,H=3,KV=1,hd=24,F=101", "B=2,S=67,D=136,H=4,KV=2,hd=40,F=173"],
    "llama-decode": ["B=2,L=11,D=48,H=3,KV=1,hd=16,F=53"],
    "gpt2-block": ["B=2,S=5,D=48,H=3,F=53", "B=3,S=23,D=66,H=3,F=101"],
    "gpt2-decode": ["B=2,L=11,D=48,H=3,hd=16,F=53"],
    "bert-block": ["B=1,S=7,D=48,H=3,F=53", "B=1,S=35,D=66,H=3,F=137"],
    "window": ["B=2,L=24"],
    "attention": ["B=2,S=7,H=3,KV=1,hd=16", "B=1,S=37,H=2,KV=2,hd=32", "B=1,S=67,H=2,KV=1,hd=128", "B=1,S=129,H=1,KV=1,hd=80"],
    "qkv-rope": ["B=1,S=7,D=48,H=3,KV=1,hd=16", "B=1,S=67,D=72,H=3,KV=1,hd=24"],
    "linear": ["B=1,S=7,D=53,F=37", "B=1,S=131,D=72,F=133"],
    "swiglu": ["B=1,S=7,D=53,F=37", "B=1,S=67,D=133,F=101"],
    "gelu-layernorm-linear": ["B=1,S=7,D=53,F=37", "B=1,S=67,D=133,F=101"],
    "layernorm-gelu-linear": ["B=1,S=7,D=53,F=37", "B=1,S=29,D=133,F=101"],
}
ROWS_SIZES = ["B=1,S=3,D=53", "B=1,S=5,D=256"]  # of specs that have B, S and D alone
NUMPY = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I32": np.int32}


REFUSED = "refused:"


class Refused(Exception):
    """tfgen says by name what it does not support."""


def tfgen(*arguments):
    command = [os.environ.get("TFGEN", os.path.join(ROOT, "tfgen")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    # 3: drawn rows that lie apart do so by a multiple of 16 bytes in the dtype they were drawn for, not in every other
    if done.returncode == 4 or (done.returncode == 3 and " stride: " in done.stderr):
        raise Refused((done.stderr or done.stdout).strip()[:600])
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


def evaluate(extent, dims):
    """An extent of the manifest: sums and products of dims and integers."""
    if not re.fullmatch(r"[\w\s+*/()-]+", extent):
        raise ValueError(f"extent {extent!r}")
    return int(eval(extent.replace("/", "//"), {"__builtins__": {}}, dims))


class Plan:
    """A folder that `tfgen --code` wrote, with its buffers in an emulated machine; without data they hold zeros."""

    SIZE = {"f32": 4, "i32": 4, "f16": 2, "bf16": 2}

    def __init__(self, folder, data, seed):
        self.manifest = judging.read_manifest(folder)
        self.folder, self.machine, self.histogram, self.instructions = folder, Machine(seed=seed), collections.Counter(), 0
        self.dims = {d["name"]: d["value"] for d in self.manifest["dims"]}
        self.address, self.outputs, self.inputs, self.states, self.copies, self.alone = {}, {}, {}, {}, {}, {}
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
        self.packed = [self._poison(p["bytes"], p["name"]) for p in self.manifest["packs"]]

    def _poison(self, size, name):
        return self.machine.memory.upload(judging.poison(size), name)

    def _rows(self, value):
        """(rows, bytes of a row, bytes from a row to the next); the last row ends where its columns do."""
        *outer, columns = (evaluate(e, self.dims) for e in value["shape"])
        size, stride = self.SIZE[value["dtype"]], value.get("row_stride", columns)
        return math.prod(outer), columns * size, self.dims.get(stride, stride) * size

    def _spread(self, value, dense):
        """Dense bytes of a tensor, as its rows lie in memory; NaN between them."""
        rows, row, step = self._rows(value)
        out = np.frombuffer(judging.poison(rows * step), np.uint8).reshape(rows, step).copy()
        out[:, :row] = np.frombuffer(dense, np.uint8).reshape(rows, row)
        return out.tobytes()[:(rows - 1) * step + row]

    def _gather(self, value, memory):
        """What _spread() spread. Refuses other bytes between the rows than it put there."""
        rows, row, step = self._rows(value)
        lines = np.frombuffer(memory + judging.poison(rows * step)[len(memory):], np.uint8).reshape(rows, step)
        if (lines[:, row:] != np.frombuffer(judging.poison(rows * step), np.uint8).reshape(rows, step)[:, row:]).any():
            raise RuntimeError(f"{value['name']}: what lies between its rows was written")
        return lines[:, :row].tobytes()

    def _place(self, value, data):
        name, (rows, row, step) = value["name"], self._rows(value)
        if value["kind"] == "output":
            self.outputs[value["output"]] = value, rows * row // self.SIZE[value["dtype"]]
            self.address[name] = self._poison((rows - 1) * step + row, name)
        elif data is None:
            self.address[name] = self.machine.memory.allocate((rows - 1) * step + row, name)
        else:
            self.address[name] = self.machine.memory.upload(self._spread(value, data[name][1].tobytes()), name)
            if value["kind"] == "state":
                self.states[name] = data[name][1].tobytes()
        if value["kind"] == "input":
            self.inputs[name] = value["shape"], value["dtype"]

    def arguments(self, item, table=0, layers=0):
        out = bytearray(item["argument_bytes"])
        for a in item["arguments"]:
            if a["kind"] == "dim":
                struct.pack_into("<i", out, a["offset"], self.manifest["dims"][a["index"]]["value"])
                continue
            if a.get("place") is not None:  # kernels of a stack take it from the table
                continue
            if a["kind"] == "layers":
                struct.pack_into("<i", out, a["offset"], layers)
                continue
            if a["kind"] == "table":
                struct.pack_into("<Q", out, a["offset"], table)
                continue
            struct.pack_into("<Q", out, a["offset"], self._pointer(a))
        return bytes(out)

    def _pointer(self, a):
        return (self.address[a["value"]] if a["kind"] == "value" else
                self.packed[a["index"]] if a["kind"] == "packed" else self.scratch[a["index"]])

    def _table(self, item):
        """Rows of a stack's table for two layers, of kinds 0 and 1 if there are two, with the same weights and copies of the states."""
        rows = [[0] * item["row_length"] for _ in range(2)]
        for a in (a for a in item["arguments"] if a.get("place") is not None):
            if a["kind"] == "kind":
                rows[1][a["place"]] = 1
                continue
            rows[0][a["place"]] = rows[1][a["place"]] = self._pointer(a)
            if a.get("value") in self.states:
                rows[1][a["place"]] = self.copies.setdefault(a["value"], self.machine.memory.upload(self.states[a["value"]], a["value"]))
        return self.machine.memory.upload(struct.pack(f"<{2 * item['row_length']}Q", *rows[0], *rows[1]), "table")

    def _run_stack(self, item):
        """Two layers in a launch, then the second one alone, on what the first one stored: the same bits. The first one's are judged, and
        what the second one makes of the first one's input (`alone`)."""
        def launch(table, layers):
            return self._launch(item, item["grid"]["now"], self.arguments(item, table, layers))

        def launch_second():
            for name, data in self.states.items():
                ctypes.memmove(self.copies[name], data, len(data))
            launch(table + 8 * item["row_length"], 1)
            return take(y, size)
        (value, count), = self.outputs.values()
        size, y = count * self.SIZE[value["dtype"]], self.address[value["name"]]
        take = self.machine.memory.download
        table, x = self._table(item), next(n for n, t in self.inputs.items() if t == (value["shape"], value["dtype"]))
        turn = self.scratch[next(a["index"] for a in item["arguments"] if a["name"] == "tf_turn_0")]
        result = launch(table, 2)
        first, both = take(turn, size), take(y, size)
        self.alone = {value["output"]: launch_second()}
        self.address[x] = self.machine.memory.upload(first, x)
        if launch_second() != both:
            raise RuntimeError("the second layer of two stores other bits than alone")
        ctypes.memmove(y, first, size)
        return result

    def _launch(self, item, grid, arguments=None):
        code = CodeObject(f"{self.folder}/{item['name']}.hsaco")
        kernel = code.kernels[item["symbol"]]
        if kernel.scratch:
            raise RuntimeError(f"{item['name']} uses {kernel.scratch} bytes of scratch")
        dynamic = max(0, item.get("shared_bytes", 0) - kernel.lds)
        return self.machine.run(code, item["symbol"], grid, item["block"], arguments or self.arguments(item),
                                dynamic_lds=dynamic)

    def run(self):
        for p in self.manifest["packs"]:
            self._launch(p, p["grid"])
        for k in self.manifest["kernels"]:
            result = self._run_stack(k) if "row_length" in k else self._launch(k, k["grid"]["now"])
            self.histogram += result.histogram
            self.instructions += result.instructions

    def output(self, name):
        """The bytes and dtype of an output."""
        value, _ = self.outputs[name]
        rows, row, step = self._rows(value)
        return self._gather(value, self.machine.memory.download(self.address[value["name"]], (rows - 1) * step + row)), value["dtype"]


GROUPS = {  # a histogram in words: the first that matches counts
    "matrix": r"_S?W?MFMA|_SWMMAC|_WMMA", "copies to LDS": r"_LDS_", "LDS": r"^DS_", "vector memory": r"^(GLOBAL|BUFFER|FLAT|SCRATCH)_",
    "scalar memory": r"^S_(BUFFER_)?LOAD", "barriers": r"^S_BARRIER", "waits": r"^S_WAIT", "vector": r"^V(_|OPD)", "scalar": r"^S_"}


def grouped(histogram):
    counts = collections.Counter()
    for name, n in histogram.items():
        counts[next((g for g, p in GROUPS.items() if re.search(p, name)), "other")] += n
    return counts


def headline(histogram):
    counts = grouped(histogram)
    return ", ".join(f"{counts[g]} {g}" for g in ("matrix", "copies to LDS") if counts[g]) or "vector and scalar only"


def judge(plan, data, second):
    """Largest error of any output over its bound. An element that is not judged is an error here: the specs have none. second: data of a
    stack's second layer; None: there is none."""
    verdicts = [judging.judge(data[f"ref.{name}"][1], data[f"bound.{name}"][1], *plan.output(name)) for name in plan.outputs]
    if second:
        verdicts += [judging.judge(second[f"ref.{name}"][1], second[f"bound.{name}"][1], raw, plan.output(name)[1])
                     for name, raw in plan.alone.items()]
    if not verdicts or any(unjudged for _, unjudged in verdicts):
        return math.inf
    return max(ratio for ratio, _ in verdicts)


def on_matrix_units(manifest):
    layers = ("mfma", "wmma", "register_fed")
    return any(phase["tile"].get("layer") in layers for kernel in manifest["kernels"] for phase in kernel["phases"])


Row = collections.namedtuple("Row", "target passed seconds text worst histogram kernels")


def run_target(spec, common, target, data, second, folder, seed, compiler):
    """A row of one target's code objects. second: as in judge()."""
    start = time.time()

    def row(passed, text, worst, histogram=collections.Counter(), kernels=0):
        return Row(target, passed, time.time() - start, text, worst, histogram, kernels)

    try:
        tfgen("emit", spec, *common, f"--target={target}", f"--compiler={compiler}", "--code", "-o", f"{folder}/{target}")
        plan = Plan(f"{folder}/{target}", data, seed)
        try:
            plan.run()
            worst = judge(plan, data, second)
            if on_matrix_units(plan.manifest) != (grouped(plan.histogram)["matrix"] > 0):
                return row(False, f"the plan's layers and {headline(plan.histogram)} do not agree", math.inf, plan.histogram)
            return row(worst <= 1, f"error/bound {worst:.3f}, {plan.instructions} wave instructions, {headline(plan.histogram)}", worst,
                       plan.histogram, len(plan.manifest["packs"]) + len(plan.manifest["kernels"]))
        finally:
            plan.machine.close()
    except Refused as e:
        return row(False, f"{REFUSED} {e}", 0.0)
    except Exception as e:  # a failure of one target is a row of the table
        return row(False, f"{type(e).__name__}: {' '.join(str(e).split())[:700]}", math.inf)


def attempt(job):
    """Rows of a spec at one level and size; all targets share tfgen's data. Its bounds are of a plan that has matrix units: attention there
    rounds its weights."""
    spec, level, size, dtype, seed, targets, compiler, then = job
    common = [f"--dim={size}"] * bool(size) + [f"--dtype={dtype}"] * bool(dtype) + ["--quiet"]
    common += [f"--fusion={'block' if level == 'stack' else level}"]
    stack = ["--stack", *[f"--then={then}"] * bool(then)] if level == "stack" else []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        def data_of(one):
            file = f"{folder}/data.safetensors"
            tfgen("run", one, *common, "--target=gfx942", "--reference=always", "--repeat=1", f"--seed={seed}", f"--dump-data={file}")
            return read_safetensors(file)

        try:
            data, second = data_of(spec), data_of(then or spec) if stack else None
        except Exception as e:
            text = " ".join(f"{REFUSED if isinstance(e, Refused) else 'no data:'} {e}".split())[:300]
            return job, [Row(t, False, 0.0, text, math.inf, collections.Counter(), 0) for t in targets]
        for target in targets:
            rows.append(run_target(spec, common + stack, target, data, second, folder, seed, compiler))
    return job, rows


def drawn_jobs(options, folder):
    """A job for each drawn spec: by its index targets, then levels, then types take turns, so that slices add up to the whole."""
    tfgen("verify", f"--random={options.random}", f"--seed={options.seed}", f"--first={options.first}", f"--draw={folder}")
    targets, levels, types = options.target.split(","), (options.fusion or ",".join(LEVELS)).split(","), (options.dtype
                                                                                                          or "bf16,f16,f32").split(",")
    for i in range(options.first, options.first + options.random):
        level, dtype = levels[i // len(targets) % len(levels)], types[i // len(targets) // len(levels) % len(types)]
        spec = f"{folder}/random-{options.seed}-{i}.yaml"
        yield spec, level, "", dtype, options.seed, [targets[i % len(targets)]], options.compiler, None


def jobs_of(options):
    targets = options.target.split(",")
    for spec in options.specs:
        name = os.path.splitext(os.path.basename(spec))[0]
        for i, size in enumerate(options.dim or SIZES.get(name, ROWS_SIZES)):
            if options.fusion or options.dtype:
                cases = [(f, d) for f in (options.fusion or "tile").split(",") for d in (options.dtype or "bf16").split(",")]
            else:
                cases = [("tile", "bf16")] + [("none", "bf16"), ("ops", "bf16"), ("tile", "f32"), ("tile", "f16")] * (i == 0)
            for level, dtype in cases:
                yield spec, level, size, dtype, options.seed, targets, options.compiler, options.then


class Summary:
    """Counts of what ran, and how they are shown."""

    def __init__(self, targets):
        self.targets, self.table = targets, collections.defaultdict(lambda: [0, 0])
        self.histogram, self.worst = collections.defaultdict(collections.Counter), collections.defaultdict(lambda: (0.0, "-"))

    def add(self, spec, where, row):
        self.table[spec, row.target][not row.passed] += 1
        self.histogram[row.target] += row.histogram
        self.worst[row.target] = max(self.worst[row.target], (row.worst, where))

    def totals(self, target=None):
        return [sum(row[i] for (_, t), row in self.table.items() if target in (None, t)) for i in (0, 1)]

    def _columns(self, head, cells):
        return [f"| {head} | " + " | ".join(str(c) for c in cells) + " |"]

    def markdown(self):
        specs = list(dict.fromkeys(s for s, _ in self.table))
        out = self._columns("passed (failed)", self.targets) + ["|---" * (len(self.targets) + 1) + "|"]
        for spec in specs:
            out += self._columns(spec, ("{} ({})".format(*self.table[spec, t]) for t in self.targets))
        out += self._columns("all", ("{} ({})".format(*self.totals(t)) for t in self.targets))
        out += self._columns("largest error over bound", (f"{self.worst[t][0]:.3f}: {self.worst[t][1]}" for t in self.targets))
        groups = {t: grouped(self.histogram[t]) for t in self.targets}
        out += ["", *self._columns("wave instructions", self.targets), "|---" * (len(self.targets) + 1) + "|"]
        for group in [*GROUPS, "other"]:
            if any(groups[t][group] for t in self.targets):
                out += self._columns(group, (groups[t][group] for t in self.targets))
        out += self._columns("all", (sum(groups[t].values()) for t in self.targets))
        out += self._columns("most frequent", (", ".join(f"{n} {c}" for n, c in self.histogram[t].most_common(8)) for t in self.targets))
        return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", help="default: all of specs/")
    parser.add_argument("--target", default=",".join(TARGETS))
    parser.add_argument("--fusion", help=f"levels, of {','.join(LEVELS)}")
    parser.add_argument("--then", help="with --fusion=stack: the spec of the second layer")
    parser.add_argument("--dim", action="append", help="sizes instead of the built-in small ones; may be given several times")
    parser.add_argument("--dtype", help="storage types, of bf16,f16,f32")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", type=int, help="so many drawn specs instead of named ones")
    parser.add_argument("--first", type=int, default=0, help="index of the first drawn spec")
    parser.add_argument("--compiler", default="auto", help="as tfgen's: hiprtc for gfx90a with Debian's")
    parser.add_argument("--summary", help="a file for the tables, as Markdown")
    parser.add_argument("--json", action="store_true",
                        help="with --random: a report for tests/cli/random_add.py on stdout, all else on stderr")
    parser.add_argument("-j", type=int, default=2, help="processes")
    options = parser.parse_args()
    options.specs = options.specs or sorted(f"specs/{f}" for f in os.listdir(f"{ROOT}/specs") if f.endswith(".yaml"))
    with tempfile.TemporaryDirectory() as folder:
        return run_all(options, list(drawn_jobs(options, folder) if options.random else jobs_of(options)))


def report(options, done):
    """What tests/cli/random_add.py reads, of jobs with their rows."""
    cases, causes = {}, {}
    for (spec, _, _, dtype, *_), rows in done:
        for row in rows:
            outcome = "refused" if row.text.startswith(REFUSED) else "good" if row.passed else "wrong"
            case = cases.setdefault((row.target, dtype), {"target": row.target, "dtype": dtype, "specs": 0, "good": 0, "refused": 0,
                                                          "wrong": 0})
            case["specs"] += 1
            case[outcome] += 1
            if outcome != "good":
                cause = re.sub(r"[\w./%-]*\d[\w./%-]*", "~", row.text)[:160]
                first = {"cause": f"{outcome}: {cause}", "outcome": outcome, "first": os.path.basename(spec), "count": 0,
                         "message": row.text[:200]}
                causes.setdefault(first["cause"], first)["count"] += 1
    return {"seed": options.seed, "first": options.first, "specs": len(done),
            "kernels": sum(row.kernels for _, rows in done for row in rows), "unjudged": 0, "cases": list(cases.values()),
            "causes": list(causes.values()), "ratios": {}}


def run_all(options, jobs):
    start, refused, done = time.time(), 0, []
    summary, log = Summary(options.target.split(",")), sys.stderr if options.json else sys.stdout
    with concurrent.futures.ProcessPoolExecutor(options.j) as pool:
        for i, (job, rows) in enumerate(pool.map(attempt, jobs)):
            spec, level, size, dtype, *_ = job
            done.append((job, rows))
            name = os.path.splitext(os.path.basename(spec))[0]
            for row in rows:
                if row.text.startswith(REFUSED):
                    refused += 1
                    print(f"[{i + 1}/{len(jobs)}] {name} {row.target} {level} {dtype} {row.text}", file=log, flush=True)
                    continue
                summary.add("drawn" if options.random else name, f"{name} {level} {dtype} {size}", row)
                print(f"[{i + 1}/{len(jobs)}, {time.time() - start:.0f} s] {name} {row.target} {level} {dtype} {size} "
                      f"{'ok' if row.passed else 'FAIL'} {row.seconds:.1f} s  {row.text}", file=log, flush=True)
    print("\n" + summary.markdown(), file=log)
    passed, failed = summary.totals()
    print(f"\n{passed} passed, {failed} failed, {refused} refused by name, {time.time() - start:.0f} s", file=log)
    if options.summary:
        with open(options.summary, "w") as f:
            f.write(summary.markdown() + "\n")
    if options.json:
        json.dump(report(options, done), sys.stdout, indent=2)
    return failed != 0 or passed + refused != sum(len(rows) for _, rows in done)


if __name__ == "__main__":
    sys.exit(main())
