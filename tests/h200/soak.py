#!/usr/bin/env python3
"""In: a GPU, PyTorch, libtfgen (TFGEN_LIBRARY) and, with --judge, the command (TFGEN). Out: many calls of blocks in one launch (level
block) over one workspace, whose inputs, positions, batches, sizes and specs change from call to call: from graphs and directly on a stream,
alone, beside kernels that hold multiprocessors, and beside products. Each call's outputs must have the bits that the same call had alone; a
third of the calls find the workspace full of noise, and all find NaN in their outputs. Before that, each call is compared with level tile
and with the spec's ops in float64. Exit 1: a call differs, is wrong, or a wait timed out.

--launches: calls of all ways together; --seconds: calls not begun by then are left out, which is reported. --ways: of graphs, held,
products, straight and streams; default all but streams. Streams are calls from two streams at once, which hung on an H200 before the
runtime ordered them (docs/runtime.md).
--bits=FILE: writes checksums of the results; if the file has some already, another build's for example, they must be equal. --judge:
`tfgen run` also judges each spec by the bounds of its float64 reference. --near: for a library whose workgroups do not wait for each other
to start (delays.py --impatient): a call may have other bits than it had alone, if it is near enough; how many had is told. --compile:
fills the cache of kernels, no more. --rehearse: small sizes, few calls, on PyTorch's CPU and the host engine, without graphs and streams.

usage: soak.py [--launches=100000] [--seconds=600] [--ways=WAY,...] [--bits=FILE] [--judge] [--near] [--seed=1] [--compile]
               [--rehearse]
tests/h200/prepare_soak.sh makes what it needs, and a library whose kernels have delays."""
import argparse
import ctypes
import json
import os
import random
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(TOP, "python"), os.path.join(TOP, "bench")]
import tfgen  # noqa: E402
from evaluate import Spec, evaluate  # noqa: E402

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"
LIMIT = 1.5e-2  # of bf16's relative RMS difference to float64, as in bench/
# spec, dims that the kernels are made for, dims of the calls
CASES = [
    ("llama-decode", dict(B=8, L=1024, D=2048, H=32, KV=8, hd=64, F=8192), [dict(B=1), dict(B=8), dict(B=3)]),
    ("llama-decode", dict(B=2, L=777, D=576, H=9, KV=3, hd=64, F=1536), [dict(B=2), dict(B=1), dict(B=5)]),
    ("llama-decode", dict(B=1, L=512, D=2048, H=16, KV=16, hd=128, F=5468), [dict(B=1), dict(B=4)]),
    ("llama-decode", dict(B=3, L=777, D=1000, H=8, KV=2, hd=80, F=1501), [dict(B=3), dict(B=17)]),
    ("gpt2-decode", dict(B=4, L=300, D=768, H=12, hd=64, F=3072), [dict(B=4), dict(B=1)]),
    ("llama-block", dict(B=1, S=37, D=256, H=8, KV=2, hd=32, F=688), [dict(S=37), dict(S=5, B=3), dict(S=130)]),
    ("bert-block", dict(B=1, S=37, D=128, H=4, F=512), [dict(S=37), dict(S=64, B=2)]),
]
SMALL = [
    ("llama-decode", dict(B=2, L=9, D=32, H=2, KV=1, hd=16, F=48), [dict(B=2), dict(B=1)]),
    ("gpt2-decode", dict(B=1, L=9, D=32, H=2, hd=16, F=48), [dict(B=1), dict(B=3)]),
    ("llama-block", dict(B=1, S=7, D=32, H=2, KV=1, hd=16, F=48), [dict(S=7), dict(S=5, B=2)]),
]
WAYS = ("graphs", "held", "products", "straight", "streams")
DRAWN = 3  # sets of inputs for each of a case's dims


def bits(t):
    return t.contiguous().view(torch.int16)


def difference(got, want):
    got, want = got.double(), want.double()
    return ((got - want).norm() / want.norm()).item() if torch.isfinite(got).all() else float("inf")


class One:
    """A call with its own inputs, caches and outputs, in the workspace that all share."""

    def __init__(self, layer, name, data, given, room):
        self.name, self.data = name, {n: data[n] for n in given}
        self.states = [self.data[t.name] for t in layer.tensors if t.kind == "state"]
        self.before = [s.clone() for s in self.states]
        self.run = layer.prepare(self.data)
        if room:
            self.run.workspace = room
        self.results = list(self.run.outputs.values())

    def restore(self):
        for s, before in zip(self.states, self.before):
            s.copy_(before)

    def alone(self):
        """What every later call must write."""
        self.restore()
        self.run()
        wait()
        self.want = [t.clone() for t in (*self.results, *self.states)]
        return self.want

    def issue(self, found):
        """Calls, and counts in `found` the results that have other bits than alone, and those too far from them."""
        for y in self.results:
            y.fill_(float("nan"))
        self.run()
        for y, want in zip(self.results, self.want):
            exact = want.float()
            found[0].add_((bits(y) != bits(want)).any())
            found[1].add_(~((y.float() - exact).norm() <= LIMIT * exact.norm()))

    def states_differ(self, near):
        pairs = list(zip(self.states, self.want[len(self.results):]))
        return any(difference(s, want) > LIMIT if near else not torch.equal(bits(s), bits(want)) for s, want in pairs)

    def late(self):
        """The text of a wait that timed out, if any."""
        kernels, error = self.run.kernels, tfgen._binding.Text()
        check = kernels.library.c["tfgen_execute_check"]
        check.argtypes = [ctypes.c_void_p] * 5
        stream = torch.cuda.current_stream().cuda_stream if ON_GPU else None
        status = check(kernels.module.address, self.run.arguments.address, self.run.workspace, stream, ctypes.addressof(error))
        return error.text.decode() if status else None


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


# ---- what is called
def path_of(case):
    return os.path.join(TOP, "specs", case[0] + ".yaml")


def layer_of(case, level, params=None):
    return tfgen.compile(path_of(case), params=params, device=DEVICE, dims=case[1], dtype="bf16", fusion=level, wisdom="none")


def made(case, generator, draw, room):
    """The calls of a case; each has been compared with level tile and with float64."""
    (name, dims, sizes), path = case, path_of(case)
    first = Spec(path, None, "bf16", dims)
    params = {n: t for n, t in first.data(generator).items() if n in first.tree["params"]}
    levels = {level: layer_of(case, level, params) for level in ("block", "tile")}
    given = [t.name for t in levels["block"].tensors if t.kind in ("input", "state")]
    calls, wrong = [], []
    for size in sizes:
        for _ in range(DRAWN):
            described = Spec(path, None, "bf16", {**dims, **size})
            data = {**described.data(generator), **params}
            if "pos" in data:
                data["pos"].random_(0, draw.choice((1, 7, described.dims["L"])), generator=generator)
            called = f"{name} " + " ".join(f"{n}{v}" for n, v in {**dims, **size}.items())
            exact = evaluate(described, data, torch.float64, False)
            tile = One(levels["tile"], called, {n: t.clone() for n, t in data.items()}, given, None).alone()
            one = One(levels["block"], called, data, given, room)
            block = one.alone()
            far = [difference(y, exact[n]) for n, y in one.run.outputs.items()] + [difference(b, t) for b, t in zip(block, tile)]
            if max(far) > LIMIT:
                wrong.append(f"{called}: relative RMS difference {max(far):.3g}, limit {LIMIT:g}")
            calls.append(one)
    levels["tile"].close()
    return calls, wrong


def compile_all(cases):
    """Compiles all kernels into the cache, in parallel."""
    with ThreadPoolExecutor(2 * len(cases)) as pool:
        for done in [pool.submit(layer_of, case, level) for case in cases for level in ("block", "tile")]:
            done.result().close()


def workspaces():
    """Two workspaces, large enough for every call, and noise of that size."""
    size = (1 << 22) + 256
    rooms = [torch.zeros(size, dtype=torch.uint8, device=DEVICE) for _ in range(2)]
    return rooms, torch.randint(0, 256, (2 * size,), dtype=torch.uint8, device=DEVICE)


def address(room):
    return room.data_ptr() + -room.data_ptr() % 256


# ---- ways to call
class Soak:
    def __init__(self, options, calls, rooms, noise):
        self.options, self.calls, self.rooms, self.noise = options, calls, rooms, noise
        self.draw, self.found, self.failed = random.Random(options.seed), torch.zeros(2, dtype=torch.int64, device=DEVICE), 0
        self.deadline, self.done = time.monotonic() + options.seconds, 0

    def some(self, count):
        """In random order, noise ahead of a third of them."""
        for _ in range(count):
            if self.draw.random() < 0.33:
                at = self.draw.randrange(0, self.noise.numel() - self.rooms[0].numel(), 256)
                self.rooms[0].copy_(self.noise[at:at + self.rooms[0].numel()])
            self.draw.choice(self.calls).issue(self.found)

    def graph(self, count):
        side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.some(8)
        wait()
        with torch.cuda.graph(graph):
            self.some(count)
        return graph.replay

    def way(self, name, launches, step, each):
        """Calls step(), which issues `each` calls, until all calls are made."""
        until, start, done = self.deadline, time.monotonic(), 0
        before = self.found.tolist()
        while done < launches and time.monotonic() < until:
            for _ in range(4):
                step()
                done += each
            wait()
        wait()
        differ, far = (now - old for now, old in zip(self.found.tolist(), before))
        states = sum(c.states_differ(self.options.near) for c in self.calls)
        late = {text for text in (c.late() for c in self.calls) if text}
        self.failed += (far if self.options.near else differ) + states + len(late) + (done == 0)
        self.done += done
        print(f"{name:52s} {done:7d} calls in {time.monotonic() - start:5.1f} s, {differ} with other bits, {far} of them too far off, "
              f"{states} with other caches"
              + "".join(f"; {text}" for text in late) + (" (time is up)" if done < launches else ""), flush=True)


def holders(soak, count):
    """Kernels of one thread, each of which holds a multiprocessor, since a workgroup of ours takes all registers of one."""
    streams = [torch.cuda.Stream() for _ in range(count)]

    def hold():
        for s in soak.draw.sample(streams, soak.draw.randint(1, count)):
            with torch.cuda.stream(s):
                for _ in range(soak.draw.randint(1, 8)):
                    torch.cuda._sleep(soak.draw.choice((500, 5000, 50000, 500000)))
    return hold


def products(soak):
    stream, x = torch.cuda.Stream(), torch.randn(4096, 4096, device=DEVICE, dtype=torch.bfloat16)

    def multiply():
        with torch.cuda.stream(stream):
            for _ in range(soak.draw.randint(1, 12)):
                x[:soak.draw.choice((128, 512, 4096))] @ x
    return multiply


def two_streams(soak, calls):
    """The same kernels at once in two streams, in a workspace each. calls: for the second one."""
    streams, half = [torch.cuda.Stream() for _ in range(2)], [soak.calls, calls]
    found = [torch.zeros_like(soak.found) for _ in range(2)]

    def step():
        for _ in range(64):
            for s, own, counts in zip(streams, half, found):
                with torch.cuda.stream(s):
                    soak.draw.choice(own).issue(counts)
        wait()
        for counts in found:
            soak.found.add_(counts)
            counts.zero_()
    return step


def ways(soak, second):
    n, each, asked = soak.options.launches, 256, soak.options.ways
    if not ON_GPU:
        soak.way("straight", min(n, 240), lambda: soak.some(6), 6)
        return
    graphs = [soak.graph(each) for _ in range(6)]
    hold, multiply = holders(soak, 24), products(soak)

    def replay(beside=None):
        if beside:
            beside()
        soak.draw.choice(graphs)()
        if beside:
            beside()
    table = {"graphs": ("graphs", 30, replay, each),
             "held": ("graphs, beside kernels that hold multiprocessors", 40, lambda: replay(hold), each),
             "products": ("graphs, beside products", 15, lambda: replay(multiply), each),
             "straight": ("straight, beside kernels that hold multiprocessors", 15, lambda: (hold(), soak.some(64)), 64),
             "streams": ("two streams at once", 15, two_streams(soak, second), 128)}
    for name in asked:
        words, share, step, calls = table[name]
        soak.way(words, n * share // 100, step, calls)


# ---- checks before
def judged(case):
    """`tfgen run` at level block and the case's own sizes: (its name, exit code, last line)."""
    name, dims, sizes = case
    command = [os.environ["TFGEN"], "run", path_of(case), "--fusion=block", "--dtype=bf16", "--repeat=1",
               "--device=" + ("cuda" if ON_GPU else "host"), "--dim=" + ",".join(f"{n}={v}" for n, v in {**dims, **sizes[0]}.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{name} {sizes[0]}", done.returncode, (done.stdout + done.stderr).strip().split("\n")[-1]


def compare_bits(file, calls):
    """Compares checksums of all that the calls wrote alone with the file's, or writes them to it. Returns the number of calls that differ,
    and prints which."""
    sums = [zlib.crc32(b"".join(bits(t).cpu().numpy().tobytes() for t in c.want)) for c in calls]
    if os.path.exists(file) and os.path.getsize(file):
        with open(file, encoding="utf-8") as f:
            other = json.load(f)
        differ = [c.name for c, mine, its in zip(calls, sums, other) if mine != its]
        print("".join(f"other bits: {name}\n" for name in differ), end="")
        return len(differ) + abs(len(sums) - len(other))
    with open(file, "w", encoding="utf-8") as f:
        json.dump(sums, f)
    return 0


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=100000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--bits")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS[:4]))
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    if not ON_GPU and not options.rehearse:
        sys.exit("soak.py: PyTorch sees no GPU; without one, --rehearse tests the script")
    strange = [w for w in options.ways if w not in WAYS]
    if strange:
        sys.exit(f"soak.py: {strange[0]}: the ways are {', '.join(WAYS)}")
    return options


def main():
    options, start = options_of(), time.monotonic()
    cases, wrong = SMALL if options.rehearse else CASES, []
    compile_all(cases)
    print(f"compiled after {time.monotonic() - start:.0f} s", flush=True)
    if options.compile:
        return 0
    pool = ThreadPoolExecutor(len(cases))
    judging = [pool.submit(judged, case) for case in cases] if options.judge else []
    rooms, noise = workspaces()
    groups = []
    for room in rooms:  # the second group is that of the second stream
        generator, draw, calls = torch.Generator(DEVICE).manual_seed(options.seed), random.Random(options.seed), []
        for case in cases if room is rooms[0] else cases[1:2]:
            own, more = made(case, generator, draw, address(room))
            calls, wrong = calls + own, wrong + more
        groups.append(calls)
    most = max(c.run.sizes.workspace for g in groups for c in g)
    assert most <= rooms[0].numel() - 256, f"a workspace of {most} bytes"
    for name, code, line in (j.result() for j in judging):
        print(f"tfgen run --fusion=block {name}: {line}")
        wrong += [name] if code else []
    if options.bits:
        changed = compare_bits(options.bits, groups[0])
        print(f"{len(groups[0])} calls, {changed} with other bits than {options.bits} has")
        wrong += ["bits"] if changed else []
    print(f"{len(groups[0])} calls compared with level tile and float64 in {time.monotonic() - start:.0f} s; wrong: {wrong}", flush=True)
    soak = Soak(options, groups[0], rooms, noise)
    ways(soak, groups[1])
    print(f"{soak.done} calls, {soak.failed} failures, {time.monotonic() - start:.0f} s")
    return 1 if wrong or soak.failed else 0


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
