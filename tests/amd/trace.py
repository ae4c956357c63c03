#!/usr/bin/python3
"""In: ./tfgen (TFGEN), TINYGRAD_DIR. Out: code objects of traced kernels (docs/tracing.md), run in the instruction emulator on one target
of each family: checks that their outputs have the bits of untraced ones and that every tile left one record with ascending times, and
prints the order in which the emulator computed the tiles. The emulator's clock counts instructions of waves. Exit code 1 if a
check fails. Needs numpy and a tinygrad checkout."""
import collections
import struct
import sys
import tempfile

import run

TARGETS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
SPEC, SIZE = "specs/llama-block.yaml", "B=2,S=5,D=48,H=3,KV=1,hd=16,F=53"
RECORD = struct.Struct("<6Q")
NOTHING, = struct.unpack("<Q", run.judging.poison(8))  # the pattern in memory that was never written
Workgroup = collections.namedtuple("Workgroup", "entry ready exit unit tiles unused")
Tile = collections.namedtuple("Tile", "asked start data computed end where")


def records(plan, launch, scratch, after):
    grid = launch["grid"]["now"]
    data = plan.machine.memory.download(scratch, (after - scratch) // RECORD.size * RECORD.size)
    rows = [[0 if word == NOTHING else word for word in r] for r in RECORD.iter_unpack(data)]
    return [Workgroup(*r) for r in rows[:grid]], [Tile(*r) for r in rows[grid:] if any(r[1:5])]


def run_folder(folder, data):
    plan = run.Plan(folder, data, 1)
    work = plan.manifest["workspace"]
    traces = [(i, item) for i, item in enumerate(i for i in work["values"] if "scratch" in i) if "trace" in item]
    plan.run()
    return plan, traces


def room(work, item):
    """Bytes up to the next allocation."""
    behind = [o["offset"] for o in work["values"] if o["offset"] > item["offset"]]
    return min(behind, default=work["bytes"]) - item["offset"]


def check(target, data, folder):
    common = [f"--dim={SIZE}", f"--target={target}", "--quiet", "--code"]
    run.tfgen("emit", SPEC, *common, "-o", f"{folder}/{target}")
    run.tfgen("emit", SPEC, *common, "--trace", "-o", f"{folder}/{target}-traced")
    plain, _ = run_folder(f"{folder}/{target}", data)
    traced, traces = run_folder(f"{folder}/{target}-traced", data)
    for name in plain.outputs:
        assert bytes(plain.output(name)[0]) == bytes(traced.output(name)[0]), f"{target}: tracing changed {name}"
    said, last = [], 0
    for launch, (index, item) in zip(traced.manifest["kernels"], traces, strict=True):
        base = traced.scratch[index]
        groups, tiles = records(traced, launch, base, base + room(traced.manifest["workspace"], item))
        assert all(g.entry and g.entry <= g.exit for g in groups), f"{target}: {launch['name']}: a workgroup left no trace"
        assert len(tiles) == groups[0].tiles, f"{target}: {launch['name']}: {len(tiles)} of {groups[0].tiles} tiles"
        for t in tiles:
            assert t.start <= t.computed <= t.end and t.where & 0xffffffff < len(groups), f"{target}: {launch['name']}: {t}"
        assert min(t.start for t in tiles) > last, f"{target}: {launch['name']} begins before the one ahead has ended"
        last = max(t.end for t in tiles)
        said.append(f"{launch['name'].removeprefix('llama_')} {len(tiles)} tiles to {last}")
    print(f"{target}: the same bits; {', '.join(said)}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/data.safetensors"
        run.tfgen("run", SPEC, f"--dim={SIZE}", "--quiet", "--target=gfx942", "--reference=always", "--repeat=1", f"--dump-data={file}")
        data = run.read_safetensors(file)
        for target in sys.argv[1:] or TARGETS:
            check(target, data, folder)


main()
