#!/usr/bin/python3
"""In: ./tfgen (TFGEN), clang-22, llvm-objdump-22, TINYGRAD_DIR, targets as arguments. Out: facts of the code objects of the row operations
planned for 2048 and 8192 rows, and the loads and stores of one workgroup of each in the emulator. Refuses (exit 1) scratch, one wave per
SIMD, fewer bytes of rows in flight per compute unit than memory's bandwidth times an assumed latency of 1 us, a load or store of which less
than 98 % of the bytes go 16 at a time, a byte of a row that is loaded twice, and LDS bank conflicts. Then the same for products of 1 to 64
rows and for a decode step's products, whose weights must be loaded once. Nothing is measured."""
import argparse
import collections
import ctypes
import re
import sys
import tempfile

import code
from emulator import CodeObject
from run import Plan, tfgen
from targets import AMD, TARGETS, device, wave_of

# How many tensors each spec reads per row: rows of x, and vectors as long as a row, such as weights.
READ = {"rmsnorm": 2, "layernorm": 3, "l2norm": 1, "softmax": 1, "elementwise": 2}
CASES = [(spec, 2048, 2048) for spec in READ] + [(spec, 8192, 4096)
                                                 for spec in ("rmsnorm", "layernorm", "softmax")] + [("rmsnorm", 8192, 8192)]
LATENCY = 1e-6  # of memory, as plans have it where no device file knows it (device_latency())
GLOBAL = re.compile(r"(global|buffer|flat)_(load|store)_")
WIDTH = {"dwordx4": 16, "b128": 16, "dwordx3": 12, "b96": 12, "dwordx2": 8, "b64": 8, "dword": 4, "b32": 4, "ushort": 2, "short": 2,
         "u16": 2, "b16": 2, "ubyte": 1, "byte": 1}


def width_of(name):
    return next((n for s, n in WIDTH.items() if name.split("_", 2)[2].startswith(s) or name.endswith("_" + s)), 0)


def waves_of(target, registers):
    """Waves that fit on a SIMD by their registers. Waves of 64 lanes take registers in steps of 8, and at most 8 waves fit; waves of 32
    lanes in steps of 24, and at most 16 fit."""
    step, most = (8, 8) if wave_of(target) == 64 else (24, 16)
    return min(most, int(AMD[target]["registers"]) // (-(-registers // step) * step))


def under_way(f, own):
    """Bytes of rows in flight in a compute unit (four SIMDs): all rows that its waves hold in registers."""
    return waves_of(f["target"], f["registers"]) * 4 * own / f["waves"]


class Trace(code.Trace):
    """Also counts the active lanes of loads and stores."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.moved = collections.Counter()

    def __call__(self, group, wave, offset, w):
        super().__call__(group, wave, offset, w)
        name = self.lines[self.start + offset].name
        if GLOBAL.match(name):
            on = (ctypes.c_uint32 * 2).from_address(w.buf[0] + 4 * 126)
            self.moved[name] += bin(on[0]).count("1") + (bin(on[1]).count("1") if self.size == 64 else 0)


def examined(target, path, item, plan):
    code_object, lines = CodeObject(path), code.disassembled(path)
    kernel, trace = code_object.kernels[item["symbol"]], Trace(target, code_object, lines)
    grid = item["grid"]["now"]
    plan.machine.run(code_object, item["symbol"], grid, item["block"], plan.arguments(item), groups=[grid // 2], trace=trace)
    plan.machine.close()
    return {"target": target, "scratch": kernel.scratch, "registers": kernel.meta[".vgpr_count"], "waves": len(trace.waves), "grid": grid,
            "moved": trace.moved, "conflicts": sum(trace.conflicts.values())}


def bytes_of(facts, what):
    return sum(n * width_of(name) for name, n in facts["moved"].items() if what in name)


def faults(f, read, rows, columns):
    wrong, own = [], rows / f["grid"] * columns * 2
    f["under_way"] = under_way(f, own)
    wide = sum(n * width_of(name) for name, n in f["moved"].items() if width_of(name) == 16)
    if f["scratch"]:
        wrong.append(f"{f['scratch']} bytes of scratch")
    if waves_of(f["target"], f["registers"]) < 2:
        wrong.append(f"{f['registers']} registers leave one wave a SIMD")
    units, bandwidth = device(f["target"])
    if f["under_way"] < bandwidth * LATENCY / units:
        wrong.append(f"{f['under_way']:.0f} bytes of rows under way in a unit, memory wants {bandwidth * LATENCY / units:.0f}")
    if f["conflicts"]:
        wrong.append(f"{f['conflicts']} cycles of LDS bank conflicts")
    if bytes_of(f, "load") > read * own * 1.01:
        wrong.append(f"{bytes_of(f, 'load')} bytes are loaded, {read} times {own:.0f} are there")
    if wide < 0.98 * (bytes_of(f, "load") + bytes_of(f, "store")):
        wrong.append(f"narrow accesses: {dict(f['moved'])}")
    return wrong


# ---- products of few rows
FEW = [("linear", f"B=1,S={rows},D=4096,F=14336") for rows in (1, 16, 64)] + [("swiglu", "B=1,S=1,D=4096,F=14336")] + [
    ("llama-decode", f"B={rows},L=64,D=2048,H=32,KV=8,hd=64,F=8192") for rows in (1, 33)]
LENGTHS = {"linear": [4096], "swiglu": [4096], "llama-decode": [2048, 2048, 2048, 8192]}  # K of each product


def few_faults(f, tile, length):
    """What is wrong with the code of a product of few rows; f: facts about it. A tile may load its columns of B once, its rows of A
    once (missing rows repeat the last one), and an eighth more for loads that are the same in all lanes, such as sums of a row."""
    wrong, most = [], (tile["n"] + tile["m"]) * length * 2
    if tile["layer"] != "register_fed":
        wrong.append(f"on {tile['layer']}")
    wide = sum(n * 16 for name, n in f["moved"].items() if "load" in name and width_of(name) == 16)
    if f["scratch"]:
        wrong.append(f"{f['scratch']} bytes of scratch")
    if waves_of(f["target"], f["registers"]) < 2:
        wrong.append(f"{f['registers']} registers leave one wave a SIMD")
    if f["conflicts"]:
        wrong.append(f"{f['conflicts']} cycles of LDS bank conflicts")
    if bytes_of(f, "load") > most * 1.125:
        wrong.append(f"{bytes_of(f, 'load')} bytes are loaded, {most:.0f} are needed")
    if wide < 0.98 * bytes_of(f, "load"):
        wrong.append(f"narrow loads: {dict(f['moved'])}")
    return wrong


def few_planned(target, spec, dims, folder):
    """(facts of each product's kernel)"""
    tfgen("emit", f"specs/{spec}.yaml", f"--dim={dims}", "--dtype=bf16", f"--target={target}", "--compiler=clang", "--code", "-o", folder,
          "--quiet")
    lengths = iter(LENGTHS[spec])
    for number, item in enumerate(Plan(folder, None, None).manifest["kernels"]):
        phase, = item["phases"]
        if phase["family"] == "gemm":
            facts = examined(target, f"{folder}/{item['name']}.hsaco", item, Plan(folder, None, None))
            facts["wrong"] = few_faults(facts, phase["tile"], next(lengths))
            yield facts


def few(targets, folder):
    """Prints a table of the products of few rows, and what is wrong with each. Returns how many faults there are."""
    print("\n| products of few rows, bf16 | " + " | ".join(f"{t}: registers, KB loaded, conflicts" for t in targets) + " |\n" +
          "|---" * (1 + len(targets)) + "|")
    bad = 0
    for spec, dims in FEW:
        table = [list(few_planned(target, spec, dims, f"{folder}/{target}-{spec}-{len(dims)}")) for target in targets]
        for kernel in zip(*table):
            print(f"| {spec} {dims} | " + " | ".join(f"{f['registers']}, {bytes_of(f, 'load') / 1024:.0f}, {f['conflicts']}"
                                                     for f in kernel) + " |", flush=True)
            for f in kernel:
                for wrong in f["wrong"]:
                    print(f"{f['target']} {spec} {dims}: {wrong}", file=sys.stderr)
                bad += len(f["wrong"])
    return bad


def planned(target, spec, rows, columns, folder):
    tfgen("emit", f"specs/{spec}.yaml", f"--dim=B=1,S={rows},D={columns}", "--dtype=bf16", f"--target={target}", "--compiler=clang",
          "--code", "-o", folder, "--quiet")
    plan = Plan(folder, None, None)
    item, = plan.manifest["kernels"]
    facts = examined(target, f"{folder}/{item['name']}.hsaco", item, plan)
    facts["wrong"] = faults(facts, READ[spec], rows, columns)
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    print("| rows, bf16 | " + " | ".join(f"{t}: registers, waves a SIMD, KB of rows under way" for t in options.targets) + " |\n" +
          "|---" * (1 + len(options.targets)) + "|")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for spec, rows, columns in CASES:
            cells = []
            for target in options.targets:
                f = planned(target, spec, rows, columns, f"{folder}/{target}-{spec}-{rows}-{columns}")
                cells.append(f"{f['registers']}, {waves_of(target, f['registers'])}, {f['under_way'] / 1024:.0f}")
                for wrong in f["wrong"]:
                    print(f"{target} {spec} {rows}x{columns}: {wrong}", file=sys.stderr)
                bad += len(f["wrong"])
            print(f"| {spec} {rows}x{columns} | " + " | ".join(cells) + " |", flush=True)
        bad += few(options.targets, folder)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
