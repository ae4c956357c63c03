"""Times contenders on one device in turn. A time is GPU time of one call, from CUDA-graph replays of several calls over rotated inputs; the
order of contenders is drawn for each round, so that clocks and heat are the same for all of them. Without a GPU, calls on PyTorch's CPU and
the host engine are timed by the clock, which says nothing about a GPU. Needs PyTorch."""
import contextlib
import math
import os
import random
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import tfgen  # noqa: E402

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_GPU = DEVICE.type == "cuda"


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def give_back_memory():
    if ON_GPU:
        torch.cuda.empty_cache()


def graph_of(calls):
    """(CUDA graph of several calls in turn, their number); without a GPU the list itself. calls: closures over rotated inputs."""
    for c in calls:
        c()
    wait()
    inner = max(len(calls), 8) // len(calls) * len(calls)
    if not ON_GPU:
        return calls, len(calls)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for c in calls:
            c()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(inner):
            calls[i % len(calls)]()
    return graph, inner


def called_us(calls, inner):
    start = time.perf_counter()
    for c in calls:
        c()
    return (time.perf_counter() - start) * 1e6 / inner


def replayed_us(graph, inner):
    if not ON_GPU:
        return called_us(graph, inner)
    graph.replay()  # warm-up: another contender ran before
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3 / inner


def graphs_of(case, contenders):
    graphs = {}
    for name, calls in contenders.items():
        try:
            graphs[name] = graph_of(calls)
        except Exception as e:  # a peer that cannot run the case is reported and left out
            if name == "tfgen":
                raise
            print(f"  {case}: {name} failed: {type(e).__name__} {str(e)[:120]}", flush=True)
    return graphs


def rounds_of(case, contenders, rounds=25, warm_seconds=0.0, most=math.inf):
    """Microseconds per call of each contender, by round. contenders: name -> closures. warm_seconds: how long they run before the first
    round, to raise the clocks. most: seconds after which the rounds end, but not before the ninth."""
    return rounds_of_graphs(graphs_of(case, contenders), rounds, warm_seconds, most)


def rounds_of_graphs(graphs, rounds=25, warm_seconds=0.0, most=math.inf):
    """The same for what graphs_of() made."""
    times, order, start = {n: [] for n in graphs}, list(graphs), time.monotonic()
    while time.monotonic() - start < warm_seconds:
        for name in order:
            replayed_us(*graphs[name])
    for i in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(replayed_us(*graphs[name]))
        if i >= 8 and time.monotonic() - start > most:
            break
    return times


def spread(times):
    """Median, 10 % and 90 %."""
    t = sorted(times)
    return t[len(t) // 2], t[len(t) // 10], t[len(t) * 9 // 10]


def times_of(case, contenders, rounds=25):
    return {n: spread(t) for n, t in rounds_of(case, contenders, rounds).items()}


def gain(times, name, over):
    """Speed-up over `over`: the median of the rounds' ratios, and its standard error."""
    logs = sorted(math.log(o / t) for o, t in zip(times[over], times[name]))
    middle = logs[len(logs) // 2]
    off = sorted(abs(x - middle) for x in logs)[len(logs) // 2]
    return math.exp(middle), math.exp(middle) * 1.2533 * 1.4826 * off / math.sqrt(len(logs))


def measured_bandwidth():
    """Bytes per second, read and written, of the fastest of several ways to copy 1 GB."""
    x, y = (torch.zeros(1 << 28 if ON_GPU else 1 << 20, device=DEVICE) for _ in range(2))
    ways = (lambda: y.copy_(x), lambda: torch.mul(x, 2.0, out=y), lambda: torch.neg(x.view(torch.bfloat16), out=y.view(torch.bfloat16)))
    return 8 * x.numel() / min(replayed_us(*graph_of([w])) for w in ways for _ in range(5)) * 1e6


def difference(got, want):
    got, want = got.double().flatten(), want.double().flatten()
    return ((got - want).norm() / want.norm()).item() if torch.isfinite(got).all() else math.inf


@contextlib.contextmanager
def environment(changed):
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


class Ours:
    """A spec with several sets of inputs and weights, each with its own buffers, so that a call is just tfgen_execute. wisdom: a file,
    "none", or None for the default place. build: environment variables that select another build (builds.py)."""

    def __init__(self, text, dims, dtype, data, fusion="tile", wisdom=None, build=None):
        self.given, self.before = (text, dims, dtype, data, fusion), None
        with environment({**(build or {}), **({"TFGEN_WISDOM": wisdom} if wisdom else {})}):
            self.layer = self.compile(text, dims, dtype, fusion)
        given = {t.name for t in self.layer.tensors if t.kind in ("input", "state")}
        self.runs = [self.layer.with_params(d).prepare({n: t for n, t in d.items() if n in given}) for d in data]
        self.out = [r.outputs for r in self.runs]

    @staticmethod
    def compile(text, dims, dtype, fusion="tile"):
        """Compiles a layer without weights; from now on its kernels are in the cache on disk."""
        return tfgen.compile(text, name="compare.yaml", device=DEVICE, dims=dims, dtype=dtype, fusion=fusion)

    def calls(self):
        return self.runs

    def close(self):
        for r in self.runs:
            r.layer.close()
        self.runs = []
        self.layer.close()
        if self.before:
            self.before.close()
