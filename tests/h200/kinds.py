#!/usr/bin/env python3
"""In: PyTorch, libtfgen (TFGEN_LIBRARY), the command (TFGEN). Out: decode steps of LAYERS layers of two kinds, local and global attention,
as in Gemma 3 (five local layers, then a global one): checked by float64, and timed by replayed graphs in turn. Three forms: one launch for
all layers; a launch for each run of neighbouring layers of one kind; level tile, a few launches for each layer. Exit 1: a result is wrong.

--rehearse: small layers on the host, not timed. --only: names of cases. --compile: only compile, into the cache.
usage: kinds.py [--rehearse] [--compile] [--only=NAME,...]"""
import argparse
import ctypes as c
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import torch

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[0] = os.path.join(TOP, "bench")  # this file's folder has a transformers.py
sys.path.insert(0, os.path.join(TOP, "python"))
from evaluate import Spec, evaluate  # noqa: E402
from tfgen import _binding, _layer  # noqa: E402

REHEARSE = "--rehearse" in sys.argv
DEVICE = torch.device("cpu" if REHEARSE else "cuda")
LAYERS, EVERY, LIMIT, ROUNDS = 12, 6, 1.5e-2, 30  # LIMIT: of a layer's relative RMS difference to float64, in bf16
JUDGED = (0, 5, 10, 11)
# hidden size, heads, KV heads, head size, feed-forward, window; sequences, cache rows
CASES = {"small": ((64, 4, 2, 16, 96, 8), 2, 32)} if REHEARSE else {
    "gemma3-1b": ((1152, 4, 1, 256, 6912, 512), 1, 4096),
    "d2048": ((2048, 32, 8, 64, 8192, 1024), 1, 4096),
    "d4096": ((4096, 32, 8, 128, 14336, 1024), 1, 4096)}


def specs(sizes):
    """The specs of a local and of a global layer, as `tfgen import` writes them."""
    keys = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size", "sliding_window")
    config = dict(zip(keys, sizes), model_type="gemma3_text", num_hidden_layers=LAYERS, max_position_embeddings=32768, rms_norm_eps=1e-6,
                  hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=sizes[3], rope_theta=1000000, rope_local_base_freq=10000,
                  sliding_window_pattern=EVERY, torch_dtype="bfloat16")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        with open(path, "w") as f:
            json.dump(config, f)
        subprocess.run([os.environ.get("TFGEN", "./tfgen"), "import", path, "-q", "-o", folder + "/"], check=True)
        return [open(os.path.join(folder, name + "-decode.yaml"), "rb").read() for name in ("sliding", "full")]


class Unit:
    """Planned specs on the device: of one layer, or of a stack of layers of some kinds. level: default block for stacks, else tile."""

    def __init__(self, texts, dims, stack, level=None):
        self.library, dims = _binding.library(), _binding.dims_of(dims)
        for name, taken in {"stack_create_of_kinds": [c.c_void_p] * 4 + [c.c_size_t, c.c_void_p],
                            "stack_execute": [c.c_void_p] + [c.c_size_t] * 2 + [c.c_void_p] * 3}.items():
            f = getattr(self.library.c, "tfgen_" + name)
            f.restype, f.argtypes = c.c_int, [*taken, c.POINTER(_binding.Text)]
        self.library.c.tfgen_stack_free.argtypes, self.library.c.tfgen_stack_free.restype = [c.c_void_p], None
        self.device, info = _layer.opened_device(self.library, "host" if REHEARSE else "cuda:0")
        others = (c.c_char_p * len(texts))(*texts[1:], None)
        self.level = level or ("block" if stack else "tile")
        options = _binding.PlanOptions(target=info.target, dims=dims, dim_count=len(dims), wisdom=b"none", stack=stack,
                                       followed=self.level == "tile", fusion=_binding.FUSIONS.index(self.level), kinds=others,
                                       kind_count=len(texts) - 1)
        self.plan = _binding.Handle(self.library, self.library.made("plan_create", texts[0], len(texts[0]), b"layer.yaml", options),
                                    "plan_free")
        self.module = _binding.Handle(self.library, self.library.made("module_create", self.plan, self.device, None), "module_free",
                                      self.plan, self.device)
        self.tensors = []
        for n in range(self.library.c.tfgen_plan_tensor_count(self.plan)):
            t = _binding.Tensor()
            self.library.c.tfgen_plan_tensor(self.plan, n, t)
            self.tensors.append((t.name.decode(), _layer.KINDS[t.kind]))
        self.bytes = self.library.c.tfgen_module_workspace_bytes(self.module, None, 0)
        self.room = torch.zeros(self.bytes + 256, dtype=torch.uint8, device=DEVICE)
        self.space, self.weights, self.stack = self.room.data_ptr() + -self.room.data_ptr() % 256, [], None

    def at(self, kind, data):
        return (c.c_void_p * len(self.tensors))(*[data[n].data_ptr() if k == kind and n in data else None for n, k in self.tensors])

    def load(self, layers, kinds=None):
        """Packs the layers' weights. With kinds, of each layer: makes the stack."""
        stream = None if REHEARSE else torch.cuda.current_stream().cuda_stream
        for data in layers:
            made = self.library.made("weights_create", self.module, self.at("param", data), stream)
            self.weights.append(_binding.Handle(self.library, made, "weights_free", self.device))
        if kinds is None:
            return
        states = [self.at("state", data) for data in layers]
        weights = (c.c_void_p * len(layers))(*[w.address for w in self.weights])
        table = (c.c_void_p * len(layers))(*[c.addressof(t) for t in states])
        of = (c.c_int * len(kinds))(*kinds)
        address = self.library.made("stack_create_of_kinds", self.module.address, of, weights, table, len(layers))
        self.stack = _binding.Handle(self.library, address, lambda a: self.library.c.tfgen_stack_free(a), self.module, *self.weights)

    def run(self, data, x, y, first=0, count=0, following=None):
        """One layer of these data, or `count` layers of the stack. following: the unit that runs next, and its layer."""
        given = {**data, "x": x, "y": y}
        kept = {"input": "x", "output": "y"}
        tensors = (c.c_void_p * len(self.tensors))(*[given[n].data_ptr() if n in given and (k in ("state",) or k in kept) else None
                                                     for n, k in self.tensors])
        args = _binding.Args(tensors=c.addressof(tensors), workspace_bytes=self.bytes)
        stream = None if REHEARSE else torch.cuda.current_stream().cuda_stream
        if following:
            args.next, args.next_weights = following[0].module.address, following[0].weights[following[1]].address
        if self.stack:
            self.library.call("stack_execute", self.stack.address, first, count, c.addressof(args), self.space, stream)
        else:
            self.library.call("execute", self.module.address, self.weights[first].address, args, self.space, stream)

def units(texts, dims):
    """All layers as one stack; local, and global, layers as a stack; a local, and a global, layer at level tile."""
    jobs = [(texts, 1), (texts[:1], 1), (texts[1:], 1), (texts[:1], 0), (texts[1:], 0)]
    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(lambda job: Unit(job[0], dims, job[1]), jobs))


def forms(texts, dims, layers, kinds):
    """By name: a function that runs all layers and returns the output; one that runs layer n on x, with the same code."""
    one, local, full, *tile = units(texts, dims)
    one.load(layers, kinds)
    for unit, kind in ((local, 0), (full, 1)):
        own = [data for data, k in zip(layers, kinds) if k == kind]
        unit.load(own, [0] * len(own))
    place = [sum(k == kinds[n] for k in kinds[:n]) for n in range(LAYERS)]
    for kind in range(2):
        tile[kind].load([data for data, k in zip(layers, kinds) if k == kind])
    first = layers[0]
    rows = [torch.empty_like(first["x"]) for _ in range(2)]

    def in_one():
        one.run(first, first["x"], rows[0], 0, LAYERS)
        return rows[0]

    def in_runs():
        x, n, to = first["x"], 0, 0
        while n < LAYERS:
            count = 1
            while n + count < LAYERS and kinds[n + count] == kinds[n]:
                count += 1
            (local, full)[kinds[n]].run(first, x, rows[to], place[n], count)
            x, n, to = rows[to], n + count, 1 - to
        return x

    def in_tiles():
        x = first["x"]
        for n in range(LAYERS):
            after = (n + 1) % LAYERS
            tile[kinds[n]].run(layers[n], x, rows[n % 2], place[n], following=(tile[kinds[after]], place[after]))
            x = rows[n % 2]
        return x

    def alone(unit, index):
        def run(n, x):
            y = torch.empty_like(x)
            unit(n).run(layers[n], x, y, index[n], 1)
            return y
        return run

    return {"one launch": (in_one, alone(lambda n: one, range(LAYERS))),
            "a launch a run of one kind": (in_runs, alone(lambda n: (local, full)[kinds[n]], place)),
            "level tile": (in_tiles, alone(lambda n: tile[kinds[n]], place))}


def judged(read, layers, kinds, in_turn, alone):
    """Whether layers of both kinds, run alone on what the device computed for the layer before, are near float64, and all layers in turn
    give the same bits as each alone, twice. Also returns the largest difference."""
    x, most = layers[0]["x"], 0.0
    for n, data in enumerate(layers):
        given, x = x, alone(n, x)
        if n not in JUDGED:
            continue
        exact = evaluate(read[kinds[n]], {**{k: v.clone() for k, v in data.items()}, "x": given}, torch.float64, False)["y"].double()
        most = max(most, ((x.double() - exact).pow(2).mean() / exact.pow(2).mean()).sqrt().item())
    same = all(torch.equal(in_turn(), x) for _ in range(2))
    return most < LIMIT and same, most


def captured(form):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            form()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        form()
    return graph


def times(runs):
    """Medians in us of replayed graphs, in turn."""
    graphs = {name: captured(form) for name, form in runs.items()}
    taken = {name: [] for name in graphs}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            graph.replay()
            begin.record()
            for _ in range(3):
                graph.replay()
            end.record()
            end.synchronize()
            taken[name].append(begin.elapsed_time(end) / 3 * 1000)
    return {name: sorted(all_)[len(all_) // 2] for name, all_ in taken.items()}


def judged_and_timed(name, read, layers, kinds, runs):
    """Judges each form's two functions, times the first ones in turn, and prints both. Returns how many forms are wrong."""
    wrong = 0
    for form, run in runs.items():
        good, far = judged(read, layers, kinds, *run)
        print(f"{name}: {'ok   ' if good else 'WRONG'} {form}: layers up to {far:.3g} from float64", flush=True)
        wrong += not good
    if not REHEARSE:
        for form, us in times({form: run[0] for form, run in runs.items()}).items():
            print(f"{name}: {us:8.1f} us, {us / len(layers):6.2f} a layer: {form}", flush=True)
    return wrong


def run_case(name, only_compile):
    sizes, sequences, rows = CASES[name]
    texts, dims = specs(sizes), {"B": sequences, "L": rows}
    if only_compile:
        return not units(texts, dims)
    kinds = [int((n + 1) % EVERY == 0) for n in range(LAYERS)]
    read = [Spec(text, None, "bf16", dims) for text in texts]
    generator = torch.Generator(device=DEVICE).manual_seed(7)
    layers = [read[kind].data(generator) for kind in kinds]
    for data in layers:
        data["pos"] = torch.full_like(data["pos"], rows - 1)
    runs = forms(texts, dims, layers, kinds)
    return judged_and_timed(name, read, layers, kinds, runs)


def main(cases, run):
    """Runs run(name, compiles only) for the cases that the command line names. Exit 1: a result is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = [name for name in cases if not given.only or name in given.only.split(",")]
    sys.exit(bool(sum(run(name, given.compile) for name in names)))


if __name__ == "__main__":
    main(CASES, run_case)
