#!/usr/bin/env python3
"""In: folders that tests/h200/prepare.sh made. Out: every plan run many times back to back, its launches overlapping, over one workspace,
from a graph and directly on the stream. Each run has other inputs; those of every third run are copied just before it. Refuses (exit 1) a
run whose results differ in one bit from those of plain launches, each awaited. Needs cupy and numpy; no compiler.

usage: overlap.py FOLDER [RUNS]"""
import ctypes
import os
import sys

import cupy as cp
import numpy as np

import run
from run import driver, must


class Runs:
    """`count` runs of a plan. Each has inputs, states and outputs of its own, so that no later run repairs an earlier one."""

    def __init__(self, folder, count):
        self.plan = p = run.Plan(folder)
        p.pack()
        self.sets = []
        for i in range(count):
            own = dict(p.buffers)
            for v in p.manifest["values"]:
                if v["kind"] == "input" and v["dtype"] != "i32":
                    own[v["name"]] = cp.roll(p.buffers[v["name"]], 7 * i)
                elif v["kind"] in ("output", "state"):
                    own[v["name"]] = p.buffers[v["name"]].copy()
            self.sets.append(own)
        inputs = [v["name"] for v in p.manifest["values"] if v["kind"] == "input" and v["dtype"] != "i32"]
        self.copies = [[(s[n], s[n].copy()) for n in inputs] if i % 3 == 0 else [] for i, s in enumerate(self.sets)]
        self.before = [{n: s[n].copy() for n in self.changed()} for s in self.sets]
        address = lambda s: lambda n: s[n].data.ptr
        self.launches = [[(p.modules[k["name"]], k, k["grid"]["now"],
                           run.encode_arguments(k, p.dims, lambda i: p.packed[i].data.ptr, address(s))) for k in p.manifest["kernels"]]
                         for s in self.sets]

    def changed(self):
        return [v["name"] for v in self.plan.manifest["values"] if v["kind"] in ("output", "state")]

    def restore(self):
        for s, before in zip(self.sets, self.before):
            for n, data in before.items():
                s[n][...] = data
        for to, _ in sum(self.copies, []):
            to.view(cp.uint8).fill(0xFF)
        self.plan.workspace.fill(0xFF)
        cp.cuda.Device().synchronize()

    def results(self):
        cp.cuda.Device().synchronize()
        return [{n: cp.asnumpy(s[n]).view(np.uint8) for n in self.changed()} for s in self.sets]

    def launch_all(self, stream, overlap, wait=False):
        for launches, copies in zip(self.launches, self.copies):
            for to, given in copies:
                must(driver.cuMemcpyDtoDAsync_v2(ctypes.c_uint64(to.data.ptr), ctypes.c_uint64(given.data.ptr),
                                                 ctypes.c_size_t(given.nbytes), ctypes.c_void_p(stream)), "copy")
            for function, k, grid, args in launches:
                run.launch(function, k, grid, args, self.plan.multiprocessors, stream, overlap)
                if wait:
                    must(driver.cuStreamSynchronize(ctypes.c_void_p(stream)), k["name"])


def graph_of(runs, stream):
    graph, made = ctypes.c_void_p(), ctypes.c_void_p()
    must(driver.cuStreamBeginCapture_v2(ctypes.c_void_p(stream), 1), "capture")
    runs.launch_all(stream, True)
    must(driver.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph)), "end of capture")
    must(driver.cuGraphInstantiateWithFlags(ctypes.byref(made), graph, ctypes.c_ulonglong(0)), "instantiate")
    return made


def differing(wanted, got):
    return [i for i, (w, g) in enumerate(zip(wanted, got)) if any(not np.array_equal(w[n], g[n]) for n in w)]


def check(folder, count, stream):
    runs, bad = Runs(folder, count), []
    runs.restore()
    runs.launch_all(stream, False, wait=True)
    wanted = runs.results()
    graph = graph_of(runs, stream)
    for way in ("graph", "stream"):
        for _ in range(3):
            runs.restore()
            if way == "graph":
                must(driver.cuGraphLaunch(graph, ctypes.c_void_p(stream)), "graph launch")
            else:
                for _ in range(16):  # takes so long that all launches below are queued before the first begins
                    FLUSH.fill(0)
                runs.launch_all(stream, True)
            bad += [f"{way} {i}" for i in differing(wanted, runs.results())]
    must(driver.cuGraphExecDestroy(graph), "destroy")
    return bad, sum(len(r) for r in runs.launches)


def main():
    global FLUSH
    root, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    FLUSH = cp.zeros(1 << 30, cp.uint8)
    passed = failed = launches = 0
    with cp.cuda.Stream(non_blocking=True) as stream:
        for name in sorted(os.listdir(root)):
            if not os.path.exists(os.path.join(root, name, "manifest.json")):
                continue
            try:
                bad, n = check(os.path.join(root, name), count, stream.ptr)
            except RuntimeError as e:
                bad, n = [str(e)], 0
            launches += n
            passed, failed = passed + (not bad), failed + bool(bad)
            if bad:
                print(f"{name}: other results in {len(bad)} runs: {', '.join(bad[:5])}", flush=True)
    print(f"{passed} plans alike in {count} overlapping runs, {failed} not; {launches} launches each time")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
