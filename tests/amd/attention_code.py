#!/usr/bin/python3
"""In: ./tfgen (TFGEN), clang-22, llvm-objdump-22, llvm-mca-22, TINYGRAD_DIR, targets as arguments. Out: the report of code.py for the
attention planned for the llama-1b and llama-8b presets (--dtype, default bf16): scratch, registers, the main loop's matrix instructions and
loads, LDS bank conflicts at the addresses that the emulator sees, the predicted utilisation of the matrix pipe, and the same if no
interval is shorter than the vector instructions of both waves. Refuses (exit 1) what code.py refuses, and a utilisation below the
goal. Nothing is measured."""
import argparse
import re
import sys
import tempfile

import code
from code import cost_of, turn_of
from run import Plan, tfgen
from targets import TARGETS

GOAL = 0.70
PRESETS = ["llama-1b", "llama-8b"]
SHARES = [("with_port", "matrix share with the LDS port's time"), ("vector", "matrix share with vector instructions")]
SLOW = re.compile(r"v_(exp|rcp|log|rsq|sqrt|sin|cos)_")  # a quarter of the rate; CDNA 4 doubled it


def vector_cycles(gfx, interval):
    """Cycles (of 4 clocks) of the vector instructions of one wave."""
    slow = 2 if gfx == "gfx950" else 4
    return sum(slow if SLOW.match(x.name) else 1 for x in interval if x.name.startswith("v_") and not code.MATRIX.match(x.name))


def shared(gfx, trace, lines):
    """Utilisation if an interval lasts as long as the longest of: the slower wave, both waves' matrix and both waves' vector
    instructions."""
    pair = (0, 4) if len(trace.waves) > 4 else (0, 0)
    turns = [turn_of(trace, lines, w)[1] for w in pair]
    total = matrix = 0.0
    for now in zip(*turns):
        costs = [cost_of(gfx, interval) for interval in now]
        together = sum(m for _, m in costs)
        total += max(max(c for c, _ in costs), together, sum(vector_cycles(gfx, i) for i in now))
        matrix += together
    return matrix / max(total, 1)


class Kept:
    """A machine that keeps the trace of what it runs."""

    def __init__(self, machine):
        self.machine, self.close = machine, machine.close

    def run(self, *arguments, trace, **options):
        self.trace = trace
        return self.machine.run(*arguments, trace=trace, **options)


def planned(target, preset, folder, dtype):
    tfgen("emit", "specs/attention.yaml", f"--preset={preset}", f"--dtype={dtype}", f"--target={target}", "--compiler=clang", "--code",
          "-o", folder, "--quiet")
    plan = Plan(folder, None, None)
    item, = plan.manifest["kernels"]
    path, machine = f"{folder}/{item['name']}.hsaco", Kept(plan.machine)
    facts = code.examined(target, path, item["symbol"], item["grid"]["now"], item["block"], plan.arguments(item), machine)
    facts["vector"] = shared(target, machine.trace, code.disassembled(path))
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    code.GOAL = dict.fromkeys((t for t in options.targets if t in code.GOAL), GOAL)  # llvm-mca 22 knows how long MFMA takes, not WMMA
    print("| target, preset | waves | vector registers | scratch | LDS | matrix, LDS reads, all instructions of a turn "
          "| LDS accesses, conflicts "
          "| predicted matrix share | and with the LDS port's time | and with both waves' vector instructions |\n" + "|---" * 10 + "|")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in options.targets:
            for preset in PRESETS:
                f = planned(target, preset, f"{folder}/{target}-{preset}", options.dtype)
                share = f"{f['share']:.3f} | {f['with_port']:.3f} | {f['vector']:.3f}" if target in code.GOAL else "not modelled | - | -"
                print(f"| {target} {preset} | {f['waves']} | {f['registers']} | {f['scratch']} | {f['lds']} | {f['matrix']}, {f['reads']}, "
                      f"{f['instructions']} | {f['accesses']}, {f['conflicts']} | {share} |", flush=True)
                if target in code.GOAL:
                    f["wrong"] += [f"{f[key]:.3f} {text}" for key, text in SHARES if f[key] < GOAL]
                for wrong in f["wrong"]:
                    print(f"{target} {preset}: {wrong}", file=sys.stderr)
                bad += len(f["wrong"])
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
