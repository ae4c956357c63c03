#!/usr/bin/python3
"""In: ./tfgen (TFGEN), clang-22, llvm-objdump-22, llvm-mca-22, TINYGRAD_DIR, targets as arguments. Out: facts of the code object of the
product planned for 4096x14336x4096 (--dtype, default bf16 and, if matrix instructions take it, f32): scratch, registers, matrix
instructions and widths of loads in the main loop, LDS bank conflicts at the addresses that the emulator sees, and the predicted utilisation
of the matrix pipe. Refuses (exit 1) scratch, more registers than the intended occupancy allows, a loop without matrix instructions, narrow
loads, a bank conflict, a utilisation below the goal. Nothing is measured.

Utilisation: the loop's instructions, in the order in which a wave executes them and without waits, are cut into intervals at barriers.
Waves w and w + 4 share a SIMD. An interval lasts as long as the slower of the two in llvm-mca, and at least as long as the matrix
instructions of both; utilisation is matrix cycles over the sum of the intervals."""
import argparse
import collections
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile

from emulator import CodeObject
from run import Plan, tfgen
from targets import AMD, TARGETS, wave_of

DIMS = "B=1,S=4096,D=4096,F=14336"
GOAL = {"gfx90a": 0.90, "gfx942": 0.90, "gfx950": 0.90}  # llvm-mca 22 knows how long MFMA takes, not WMMA
MATRIX = re.compile(r"v_(s?mfma|s?wmm)a?")
WAIT = re.compile(r"s_(wait|delay_alu|nop|clause|sched)")
# Lanes 0 to 31, grouped by the phase of a 16-byte LDS access that serves them: NEIGHBOURS for writes and on RDNA, READ_CDNA for reads on
# CDNA, READ_950 for reads on gfx950. Lanes 32 to 63 are grouped alike.
NEIGHBOURS = [range(i, i + 8) for i in range(0, 32, 8)]
READ_CDNA = [[*range(a, a + 4), *range(b, b + 4)] for a, b in ((0, 20), (4, 16), (8, 28), (12, 24))]
READ_950 = [[*range(4), *range(12, 16), *range(20, 28)], [*range(4, 12), *range(16, 20), *range(28, 32)]]

Line = collections.namedtuple("Line", "name text")


def disassembled(path):
    """address -> Line"""
    out = subprocess.run(["llvm-objdump-22", "-d", "--no-show-raw-insn", path], text=True, capture_output=True, check=True).stdout
    lines = {}
    for line in out.splitlines():
        found = re.match(r"\s+(\S.*?)\s*//\s*([0-9A-F]+):", line)
        if found:
            lines[int(found[2], 16)] = Line(found[1].split()[0], re.sub(r"\s*<.*>", "", found[1]))
    return lines


# ---- LDS

def phases_of(gfx, line, size):
    """Lists of lanes that are served together, and the number of banks of 4 bytes."""
    read = line.name.startswith(("ds_read", "ds_load"))
    if size == 16:
        wide = AMD[gfx]["lds_banks"] == "64" and read
        half, banks = (READ_950, 64) if wide else (READ_CDNA if read and wave_of(gfx) == 64 else NEIGHBOURS, 32)
    else:
        together = min(32, 128 // size)
        half, banks = [range(i, i + together) for i in range(0, 32, together)], 32
    return [[lane + high for lane in phase] for high in ((0, 32) if wave_of(gfx) == 64 else (0,)) for phase in half], banks


def conflicts(gfx, line, size, addresses):
    """Cycles lost to bank conflicts: all beyond one per phase. `addresses`: lane -> byte."""
    phases, banks = phases_of(gfx, line, size)
    extra = 0
    for phase in phases:
        words = collections.defaultdict(set)
        for lane in phase:
            for word in range(addresses[lane] // 4, (addresses[lane] + size + 3) // 4) if lane in addresses else ():
                words[word % banks].add(word)
        extra += max((len(w) for w in words.values()), default=1) - 1
    return extra


class LdsAccess:
    """An LDS instruction: address register, bytes per lane, offsets."""

    WIDTH = {"b128": 16, "b96": 12, "b64": 8, "b32": 4, "b16": 2, "u16": 2, "i16": 2, "u8": 1, "b8": 1}

    def __init__(self, line):
        self.width = next((n for s, n in self.WIDTH.items() if s in line.name), 0)
        registers = re.findall(r"v(\d+)\b|v\[(\d+):\d+\]", line.text.split(" offset")[0])
        numbers = [int(a or b) for a, b in registers]
        reads = "read" in line.name or "load" in line.name
        self.register = numbers[1 if reads else 0] if len(numbers) > 1 else None
        two = [int(re.search(rf"offset{i}:(\d+)", line.text)[1]) if f"offset{i}:" in line.text else 0 for i in (0, 1)]
        one = re.search(r"offset:(\d+)", line.text)
        step = self.width * (64 if "st64" in line.name else 1)
        self.offsets = [o * step for o in two] if "2" in line.name.split("_")[1] else [int(one[1]) if one else 0]
        self.counts = self.width and self.register is not None and not re.search("permute|swizzle|append|consume", line.name)


# ---- a traced workgroup

class Trace:
    def __init__(self, gfx, code, lines):
        self.gfx, self.start, self.lines = gfx, code.text[0], lines
        self.waves = collections.defaultdict(list)  # wave -> addresses of instructions
        self.lds, self.accesses, self.conflicts = {}, 0, collections.Counter()
        self.size = 64 if wave_of(gfx) == 64 else 32

    def __call__(self, group, wave, offset, w):
        at = self.start + offset
        self.waves[wave].append(at)
        line = self.lines[at]
        if line.name.startswith("ds_"):
            self._lds(at, line, w)

    def _lds(self, at, line, w):
        access = self.lds.setdefault(at, LdsAccess(line))
        if not access.counts:
            return
        scalars = (ctypes.c_uint32 * 260).from_address(w.buf[0])
        active = scalars[126] | (scalars[127] << 32 if self.size == 64 else 0)
        base = (ctypes.c_uint32 * self.size).from_address(w.buf[1] + 4 * self.size * access.register)
        for offset in access.offsets:
            addresses = {lane: base[lane] + offset for lane in range(self.size) if active >> lane & 1}
            self.accesses += 1
            self.conflicts[at] += conflicts(self.gfx, line, access.width, addresses)


# ---- one iteration of the main loop (a turn)

def turn_of(trace, lines, wave):
    """(first barrier's number, intervals): what a wave executes in one turn in the middle of the main loop, cut at its barriers."""
    executed = trace.waves[wave]
    counts = collections.Counter(at for at in executed if MATRIX.match(lines[at].name))
    if not counts:
        return 0, []
    often = max(counts.values())
    head = next(at for at in executed if counts.get(at) == often)
    places = [i for i, at in enumerate(executed) if at == head]
    middle = len(places) // 2
    barriers = [i for i, at in enumerate(executed) if lines[at].name in ("s_barrier", "s_barrier_wait")]
    turn = len([b for b in barriers if places[middle] < b < places[middle + 1]])
    first = len([b for b in barriers if b < places[middle]])
    cuts = barriers[first:first + turn + 1]
    return first, [[lines[at] for at in executed[a + 1:b]] for a, b in zip(cuts, cuts[1:])]


_costs = {}


def cost_of(gfx, interval):
    """(cycles until the last instruction has been issued and its unit is free, matrix cycles), by llvm-mca."""
    text = "\n".join(x.text for x in interval if not WAIT.match(x.name) and not re.match(r"s_(c?branch|barrier)", x.name))
    if not text:
        return 0, 0
    if (gfx, text) not in _costs:
        done = subprocess.run(["llvm-mca-22", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-iterations=1", "-timeline",
                               "-timeline-max-cycles=0", "--json"], input=text, text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"llvm-mca: {done.stderr[:500]}")
        region = json.loads(done.stdout)["CodeRegions"][0]
        busy = [i["RThroughput"] for i in region["InstructionInfoView"]["InstructionList"]]
        issued = [t["CycleIssued"] for t in region["TimelineView"]["TimelineInfo"]][:len(busy)]
        names = [line.split()[0] for line in text.splitlines()]
        _costs[gfx, text] = (max(i + b for i, b in zip(issued, busy)), sum(b for n, b in zip(names, busy) if MATRIX.match(n)))
    return _costs[gfx, text]


def port_of(gfx, interval):
    """Cycles (of 4 clocks) for which one wave's LDS accesses of 16 bytes per lane occupy the LDS port. It moves 128 bytes per clock; where
    the LDS has 64 banks, reads move 256."""
    wide = re.compile(r"ds_(read|write)(_b128|2(st64)?_b64)")
    return sum(1 if AMD[gfx]["lds_banks"] == "64" and "read" in x.name else 2 for x in interval if wide.match(x.name))


def share_of(gfx, trace, lines):
    """(utilisation of the matrix pipe, the same if intervals also last as long as the LDS port is busy, instructions per iteration)"""
    # Of four waves, wave 0 shares its SIMD with one of a second workgroup, taken to be at the same place.
    pair = (0, 4) if len(trace.waves) > 4 else (0, 0)
    turns = [turn_of(trace, lines, w) for w in pair]
    start = max(t[0] for t in turns)
    total = matrix = slower = 0.0
    for number in range(start, start + len(turns[0][1])):
        now = [t[1][(number - t[0]) % len(t[1])] for t in turns]
        both = [cost_of(gfx, interval) for interval in now]
        together = sum(m for _, m in both)
        lasts = max(max(c for c, _ in both), together)
        total, matrix = total + lasts, matrix + together
        slower += max(lasts, sum(port_of(gfx, interval) for interval in now) * 4)  # four SIMDs share the port
    return matrix / max(total, 1), matrix / max(slower, 1), [x for t in turns[:1] for i in t[1] for x in i]


# ---- the kernel

def planned(target, folder, dtype):
    tfgen("emit", "specs/linear.yaml", f"--dim={DIMS}", f"--dtype={dtype}", f"--target={target}", "--compiler=clang", "--code", "-o",
          folder, "--quiet")
    plan = Plan(folder, None, None)
    item, = plan.manifest["kernels"]
    return examined(target, f"{folder}/{item['name']}.hsaco", item["symbol"], item["grid"]["now"], item["block"], plan.arguments(item),
                    plan.machine)


def examined(target, path, name, grid, block, arguments, machine):
    """Facts of one kernel's main loop, by one workgroup in the middle of the grid."""
    code, lines = CodeObject(path), disassembled(path)
    kernel, trace = code.kernels[name], Trace(target, code, lines)
    machine.run(code, name, grid, block, arguments, groups=[grid // 2], trace=trace)
    machine.close()
    share, with_port, turn = share_of(target, trace, lines)
    names = collections.Counter(x.name for x in turn)
    loads = {n: c for n, c in names.items() if re.match(r"(global|buffer)_load", n)}
    facts = {
        "target": target, "scratch": kernel.scratch, "registers": kernel.meta[".vgpr_count"], "lds": kernel.lds, "waves": len(trace.waves),
        "matrix": sum(c for n, c in names.items() if MATRIX.match(n)), "loads": loads,
        "reads": sum(c for n, c in names.items() if re.match(r"ds_(read|load)", n)), "instructions": len(turn),
        "accesses": trace.accesses, "conflicts": sum(trace.conflicts.values()), "share": share, "with_port": with_port}
    facts["wrong"] = faults(facts, lines, trace)
    return facts


def faults(f, lines, trace):
    wrong = []
    if f["scratch"]:
        wrong.append(f"{f['scratch']} bytes of scratch")
    if f["registers"] > 256:
        wrong.append(f"{f['registers']} registers leave less than two waves a SIMD")
    if not f["matrix"]:
        wrong.append("no matrix instructions in the main loop")
    if not f["loads"] or any(not n.endswith(("dwordx4", "b128", "lds_dwordx4")) and "lds" not in n for n in f["loads"]):
        wrong.append(f"loads {f['loads']}")
    if f["conflicts"]:
        at, n = trace.conflicts.most_common(1)[0]
        wrong.append(f"{f['conflicts']} cycles of LDS bank conflicts, {n} at {lines[at].text}")
    if f["share"] < GOAL.get(f["target"], 0):
        wrong.append(f"matrix share {f['share']:.3f}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="bf16,f32")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    print("| target | waves | vector registers | scratch | LDS | matrix, LDS reads, all instructions of a turn | loads "
          "| LDS accesses, conflicts "
          "| predicted matrix share | and with the LDS port's time |\n|---|---|---|---|---|---|---|---|---|---|")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for dtype, target in [(d, t) for d in options.dtype.split(",") for t in options.targets if d != "f32" or wave_of(t) == 64]:
            f = planned(target, f"{folder}/{target}-{dtype}", dtype)
            loads = ", ".join(f"{c} {n}" for n, c in f["loads"].items())
            share = f"{f['share']:.3f} | {f['with_port']:.3f}" if target in GOAL else "not modelled | -"
            print(f"| {target} {dtype} | {f['waves']} | {f['registers']} | {f['scratch']} | {f['lds']} "
                  f"| {f['matrix']}, {f['reads']}, {f['instructions']} "
                  f"| {loads} | {f['accesses']}, {f['conflicts']} | {share} |", flush=True)
            for wrong in f["wrong"]:
                print(f"{target} {dtype}: {wrong}", file=sys.stderr)
            bad += len(f["wrong"])
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
