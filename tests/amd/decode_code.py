#!/usr/bin/python3
"""In: ./tfgen (TFGEN), clang-22, llvm-objdump-22, TINYGRAD_DIR, targets as arguments. Out: facts of the code objects of attention over a
cache (tests/specs/decode-heads.yaml, bf16), and the loads of one workgroup of each in the emulator: one that has all keys of a head and
stores results, and one that stores partial results. Refuses (exit 1) scratch, no matrix instructions, keys or values that are loaded twice
or less than 16 bytes at a time, LDS bank conflicts, and fewer bytes in flight per compute unit than memory's bandwidth times an assumed
latency of 2 us. Nothing is measured."""
import argparse
import collections
import subprocess
import sys
import tempfile

import numpy as np

import code
from emulator import CodeObject
from rows_code import Trace, bytes_of, waves_of, width_of
from run import Plan, tfgen
from targets import TARGETS, device, wave_of

# heads, heads of keys, head size; on RDNA heads have at most 192 columns
CASES = [(32, 8, 64), (32, 8, 128), (28, 4, 80), (16, 2, 192), (16, 2, 256)]
LATENCY = 2e-6
KEYS, SEQUENCES = 512, 3


def traced(target, folder, case, line, group):
    """Facts of the decode kernel with a line of tiles, of one workgroup."""
    heads, kv, head = case
    tfgen("emit", "tests/specs/decode-heads.yaml", f"--dim=B={SEQUENCES},L={KEYS},H={heads},KV={kv},hd={head}", f"--target={target}",
          "--compiler=clang", "--code", "--tile=" + line, "-o", folder, "--quiet")
    plan = Plan(folder, None, None)
    item, = [k for k in plan.manifest["kernels"] if k["phases"][0]["family"] == "attention"]
    plan.address["pos"] = plan.machine.memory.upload(np.full(SEQUENCES, KEYS - 1, np.int32).tobytes(), "pos")
    path = f"{folder}/{item['name']}.hsaco"
    code_object, lines = CodeObject(path), code.disassembled(path)
    kernel, trace = code_object.kernels[item["symbol"]], Trace(target, code_object, lines)
    grid = item["grid"]["now"]
    plan.machine.run(code_object, item["symbol"], grid, item["block"], plan.arguments(item), groups=[min(group, grid - 1)], trace=trace)
    plan.machine.close()
    tile, at, executed = item["phases"][0]["tile"], trace.conflicts.most_common(1), collections.Counter()
    for wave in trace.waves.values():
        executed.update(lines[x].name for x in wave)
    return {"target": target, "scratch": kernel.scratch, "registers": kernel.meta[".vgpr_count"], "moved": trace.moved, "tile": tile,
            "conflicts": sum(trace.conflicts.values()), "worst": lines[at[0][0]].text if at else "", "accesses": trace.accesses,
            "matrix": sum(n for name, n in executed.items() if code.MATRIX.match(name)), "lds": kernel.lds}


def under_way(f, head):
    """Bytes that the waves of a compute unit have in flight: keys and values of one iteration; on RDNA with heads above 128 columns only
    128 columns of keys or of values."""
    tile, late = f["tile"], wave_of(f["target"]) == 32 and head > 128
    return tile["resident"] * (tile["threads"] // wave_of(f["target"])) * tile["keys"] * (128 if late else 2 * head) * 2


def faults(f, case, whole):
    heads, kv, head = case
    wrong, loaded = [], bytes_of(f, "load")
    units, bandwidth = device(f["target"])
    if f["scratch"]:
        wrong.append(f"{f['scratch']} bytes of scratch")
    if waves_of(f["target"], f["registers"]) * 4 * wave_of(f["target"]) < f["tile"]["threads"] * f["tile"]["resident"]:
        wrong.append(f"{f['registers']} registers do not leave {f['tile']['resident']} workgroups a unit")
    if not f["matrix"]:
        wrong.append("no matrix instructions")
    if f["conflicts"]:
        wrong.append(f"{f['conflicts']} cycles of LDS bank conflicts, most at {f['worst']}")
    if sum(n * 16 for name, n in f["moved"].items() if "load" in name and width_of(name) == 16) < 0.98 * loaded:
        wrong.append(f"narrow loads: {dict(f['moved'])}")
    # The window has 200 keys, loaded in whole turns. Heads that are no multiple of 64 columns load their last piece several times, so only
    # the others are checked.
    turn = f["tile"]["threads"] // wave_of(f["target"]) * f["tile"]["keys"]
    keys, rows = -(-200 // turn) * turn, 16 * head * 2 * f["tile"]["threads"] // wave_of(f["target"])
    if whole and head % 64 == 0 and loaded > (keys * head * 4 + rows) * 1.03:
        wrong.append(f"{loaded} bytes are loaded, {keys * head * 4} of keys and values and {rows} of queries")
    if under_way(f, head) < bandwidth * LATENCY / units:
        wrong.append(f"{under_way(f, head)} bytes under way in a unit, {bandwidth * LATENCY / units:.0f} are needed")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    print("| heads, of keys, columns | " +
          " | ".join(f"{t}: registers, LDS, matrix instructions, KB loaded, conflicts, KB under way" for t in options.targets) + " |\n" +
          "|---" * (1 + len(options.targets)) + "|")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            cells = []
            for target in options.targets:
                if wave_of(target) == 32 and case[2] > 192:
                    cells.append("-")
                    continue
                wrong = []
                for line, group, whole in (("attention splits=1", 2, True), ("attention splits=4 keys=32 threads=64", 0, False)):
                    g = traced(target, f"{folder}/{target}-{case[2]}-{group}", case, line, group)
                    f = g if whole else f
                    wrong += [x for x in faults(g, case, whole) if whole or "under way" not in x]
                cells.append(f"{f['registers']}, {f['lds']}, {f['matrix']}, {bytes_of(f, 'load') / 1024:.0f}, {f['conflicts']}, "
                             f"{under_way(f, case[2]) / 1024:.0f}")
                for x in wrong:
                    print(f"{target} {case}: {x}", file=sys.stderr)
                bad += len(wrong)
            print(f"| {case[0]}, {case[1]}, {case[2]} | " + " | ".join(cells) + " |", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
