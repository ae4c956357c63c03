#!/usr/bin/env python3
"""In: two GPUs of one host, PyTorch, libtfgen (TFGEN_LIBRARY), the command (TFGEN). Out: the package for Python and the runtime on both of
them in one process: a layer and weights on each; calls while the other GPU is PyTorch's current one; streams and threads; graphs that
replay at once; torch.compile, torch.export and opcheck; DLPack; stacks of layers, whose cooperative launches are ordered separately on each
GPU; a model of transformers; what the command does with --device; and refusals of the other GPU's tensors, weights and streams. Results
must be near float64 and have the same bits on both GPUs. Exit 1: something is wrong.

--rehearse: both devices are the host, without streams and graphs. --seconds: parts that have not begun that long after the start are left
out, which counts as wrong.
usage: two_devices.py [--seconds=55] [--rehearse]"""
import argparse
import ctypes as c
import os
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import torch

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[0] = os.path.join(TOP, "bench")  # this file's folder has a transformers.py
sys.path.insert(0, os.path.join(TOP, "python"))
import tfgen  # noqa: E402
import tfgen.torch  # noqa: E402
from evaluate import Spec, evaluate  # noqa: E402
from tfgen import _binding, _layer  # noqa: E402

REHEARSE = "--rehearse" in sys.argv
DEVICES = [torch.device("cpu")] * 2 if REHEARSE else [torch.device("cuda", i) for i in range(2)]
NAMES = ["host"] * 2 if REHEARSE else ["cuda:0", "cuda:1"]
LIMIT, LAYERS, ROUNDS = 1.5e-2, 3, 2 if REHEARSE else 20  # LIMIT: of bf16's relative RMS difference to float64, as in bench/
SWIGLU, DECODE = dict(B=2, S=37), dict(B=3, L=64)
started, failed = time.monotonic(), 0


def expect(what, good):
    global failed
    print(("ok    " if good else "WRONG ") + what, flush=True)
    failed += not good


def refused(what, kind, call, *words):
    try:
        call()
    except kind as e:
        text = str(e)
        expect(f"{what}: {type(e).__name__}: {text[:160]}", all(w in text for w in words))
    else:
        expect(what + " was taken", False)


def path_of(name):
    return os.path.join(TOP, "specs", name + ".yaml")


def difference(got, want):
    got, want = got.double(), want.double()
    return ((got - want).norm() / want.norm()).item() if torch.isfinite(got).all() else float("inf")


def wait():
    for d in () if REHEARSE else DEVICES:
        torch.cuda.synchronize(d)


def same(a, b):
    return all(torch.equal(x.cpu(), y.cpu()) for x, y in zip(a, b))


class Case:
    """A spec's layers on both devices, with the same params, and the inputs, states and float64 results of one call."""

    def __init__(self, name, dims, level):
        self.name, self.spec = f"{name} at level {level}", Spec(path_of(name), None, "bf16", dims)
        data = self.spec.data(torch.Generator().manual_seed(3))
        self.data = [{n: t.to(d) for n, t in data.items()} for d in DEVICES]
        self.exact = evaluate(self.spec, self.data[0], torch.float64, False)
        with ThreadPoolExecutor(2) as pool:  # both compile the same kernels at once
            self.layers = list(pool.map(lambda i: tfgen.compile(
                path_of(name), params={n: self.data[i][n] for n in self.spec.tree["params"]}, device=DEVICES[i], dims=dims, dtype="bf16",
                fusion=level, wisdom="none"), range(2)))
        self.modules = [tfgen.torch.Module(layer) for layer in self.layers]
        self.want = [self.alone(i) for i in range(2)]

    def given(self, i):
        states = {t.name for t in self.layers[i].tensors if t.kind == "state"}
        return [self.data[i][n].clone() if n in states else self.data[i][n] for n in self.modules[i].order]

    def call(self, i, module=None):
        """What a call writes on device i: outputs, then states."""
        given = self.given(i)
        y = (self.modules[i] if module is None else module)(*given)
        return [*(y if isinstance(y, tuple) else (y,)), *[t for n, t in zip(self.modules[i].order, given) if n in self.modules[i].states]]

    def alone(self, i):
        got = self.call(i)
        wait()
        return got


def on_four_threads(work, seconds=None):
    """Calls work(0) and work(1) twice each, on a thread per call. Returns what went wrong: what the calls returned, their exceptions, and
    threads that still run after so many seconds."""
    wrong = []

    def call(i):
        try:
            wrong.extend(work(i))
        except Exception as e:
            wrong.append(str(e))
    each = [threading.Thread(target=call, args=(i % 2,)) for i in range(4)]
    for t in each:
        t.start()
    for t in each:
        t.join(seconds)
    return wrong + ["a thread still runs" for t in each if t.is_alive()]


# ---- parts
def numbers(cases):
    for case in cases:
        names = [layer.device for layer in case.layers]
        far = [difference(y, case.exact[n].to(y.device)) for i in range(2) for n, y in zip(case.exact, case.want[i])]
        expect(f"{case.name} on {names}: {max(far):.2g} from float64", max(far) < LIMIT and names == NAMES)
        expect(f"{case.name}: the same bits on both", same(*case.want))


def current(cases):
    """Which GPU is PyTorch's current one changes no result, and calls do not change it."""
    for now in range(2):
        with torch.cuda.device(now):
            for case in cases:
                good = all(same(case.alone(i), case.want[i]) for i in range(2))
                expect(f"{case.name} while cuda:{now} is current", good and torch.cuda.current_device() == now)
            name = tfgen.compile(path_of("swiglu"), device="cuda", dims=SWIGLU, wisdom="none").device
            expect(f'device="cuda" while cuda:{now} is current: {name}', name == NAMES[now])


def streams(cases):
    """Calls of one thread in turn on three streams of each device."""
    lanes = [(i, torch.cuda.Stream(d)) for i, d in enumerate(DEVICES) for _ in range(3)]
    results = []
    for _ in range(ROUNDS):
        for case in cases:
            for i, lane in lanes:
                with torch.cuda.stream(lane):
                    results.append((case, i, case.call(i)))
    wait()
    expect(f"{len(results)} calls on three streams of each device", all(same(got, case.want[i]) for case, i, got in results))


def threads(cases):
    """Two threads for each device, each with a stream of its own."""
    def work(i):
        lane = None if REHEARSE else torch.cuda.Stream(DEVICES[i])
        with torch.cuda.stream(lane), torch.no_grad():
            results = [(case, case.call(i)) for _ in range(ROUNDS) for case in cases]
            if lane:
                lane.synchronize()
        return ["other bits of " + case.name for case, got in results if not same(got, case.want[i])]
    wrong = on_four_threads(work)
    expect(f"four threads on two devices {wrong[:1]}", not wrong)


def graphs(cases):
    made = []
    for case in cases:
        for i, d in enumerate(DEVICES):
            graph, given, lane = torch.cuda.CUDAGraph(), case.given(i), torch.cuda.Stream(d)
            wait()
            with torch.cuda.device(d), torch.cuda.graph(graph, stream=lane):  # by default it would be one of cuda:0
                y = case.modules[i](*given)
            made.append((case, i, graph, y))
    lanes = [torch.cuda.Stream(d) for d in DEVICES]
    for _ in range(ROUNDS):
        for case, i, graph, y in made:
            with torch.cuda.device(DEVICES[i]), torch.cuda.stream(lanes[i]):
                y.zero_()
                graph.replay()
    wait()
    expect(f"{len(made)} graphs on two devices", all(same([y], case.want[i]) for case, i, _, y in made))


class Both(torch.nn.Module):
    """The block on the first device, then on the second with the first one's output, like a model that is spread over both."""

    def __init__(self, modules):
        super().__init__()
        self.first, self.second = modules

    def forward(self, x):
        y = self.first(x)
        return y + self.second(x.to(DEVICES[1])).to(DEVICES[0])


def compiled(cases):
    case = cases[0]
    net, x = Both(case.modules).eval(), case.data[0]["x"]
    want = net(x)
    expect("a model on both devices", same([want], [case.want[0][0] * 2]))
    fast = torch.compile(net, fullgraph=True)
    expect("torch.compile of a model on both devices", same([fast(x)], [want]))
    program = torch.export.export(net, (x,)).module()
    expect("torch.export of it", same([program(x)], [want]))
    decode = cases[1]
    given = decode.given(1)
    states = [t for n, t in zip(decode.modules[1].order, given) if n in decode.modules[1].states]
    inputs = [t for n, t in zip(decode.modules[1].order, given) if n not in decode.modules[1].states]
    found = torch.library.opcheck(decode.modules[1].op, (decode.modules[1].number, inputs, states))
    expect(f"opcheck on {NAMES[1]}: {found}", set(found.values()) == {"SUCCESS"})
    step = torch.compile(decode.modules[1], fullgraph=True, mode="default" if REHEARSE else "reduce-overhead")
    for _ in range(3):
        got = decode.call(1, step)
        wait()
    expect(f"torch.compile with reduce-overhead on {NAMES[1]}", same(got, decode.want[1]))


class ByDlpack:
    def __init__(self, t):
        self.t = t

    def __dlpack__(self, **how):
        with torch.cuda.device(self.t.device if self.t.is_cuda else -1):  # PyTorch exports tensors of the current device alone
            return self.t.__dlpack__()


def dlpack(cases):
    case = cases[0]
    for i in range(2):
        y = torch.empty_like(case.want[i][0])
        wait()
        case.layers[i].run({"x": ByDlpack(case.data[i]["x"])}, out={"y": ByDlpack(y)})
        expect(f"arrays by DLPack on {NAMES[i]}", same([y], case.want[i]))
        if not REHEARSE:
            refused("an array by DLPack of the other device", RuntimeError,
                    lambda: case.layers[i].run({"x": ByDlpack(case.data[1 - i]["x"])}, out={"y": ByDlpack(y)}), "x is on DLPack's device")


def refusals(cases):
    """The other GPU's tensors are refused with PyTorch's kind of error, before anything is launched."""
    swiglu, decode = cases[:2]
    for i in range(2):
        other, module, layer = 1 - i, swiglu.modules[i], swiglu.layers[i]
        x, theirs = swiglu.data[i]["x"], swiglu.data[other]["x"]
        words = ("x is on " + str(DEVICES[other]), "the layer on " + str(DEVICES[i]))
        refused("the other GPU's tensor", RuntimeError, lambda: module(theirs), *words)
        refused("the other GPU's tensor by the op", RuntimeError, lambda: module.op(module.number, [theirs]), *words)
        refused("the other GPU's tensor, compiled", RuntimeError,
                lambda: torch.compile(module, fullgraph=True, backend="aot_eager")(theirs), *words)
        refused("the other GPU's tensor as an output", RuntimeError,
                lambda: layer.run({"x": x}, out={"y": torch.empty_like(swiglu.want[other][0])}), "y is on " + str(DEVICES[other]))
        mixed = decode.given(i)
        mixed[-1] = mixed[-1].to(DEVICES[other])
        refused("a state on the other GPU", RuntimeError, lambda: decode.modules[i](*mixed), "v_cache is on " + str(DEVICES[other]))
        refused("a param on the other GPU", RuntimeError, lambda: layer.with_params(swiglu.data[other]), "w_gate is on")
        theirs_too = tfgen.compile(path_of("swiglu"), device=DEVICES[i], dims=SWIGLU, wisdom="none").kernels
        refused("the other GPU's weights shared", tfgen.UsageError,
                lambda: theirs_too.add_to(swiglu.layers[other].weights, None), "another device")
        wrong = _layer.Layer(layer.kernels, swiglu.layers[other].weights)
        refused("the other GPU's weights in a call", tfgen.UsageError, lambda: wrong(x=x), "another device")
        lane = torch.cuda.Stream(DEVICES[other]).cuda_stream
        refused("the other GPU's stream", tfgen.Error, lambda: (layer.run({"x": x}, stream=lane), wait()))
        expect("a call after all that", same(swiglu.alone(i), swiglu.want[i]))


def memory(cases):
    """Packing replaces the originals: once they are freed, memory in use is as before on both devices. Closing the layer frees the packed
    weights."""
    params = {n: torch.randn(8192, 8192, dtype=torch.bfloat16, device=DEVICES[1]) for n in ("w_gate", "w_up")}

    def used():
        wait()
        torch.cuda.empty_cache()
        return [torch.cuda.mem_get_info(d)[1] - torch.cuda.mem_get_info(d)[0] for d in DEVICES]
    before = used()
    layer = tfgen.compile(path_of("swiglu"), params=params, device=DEVICES[1], dims={"B": 1, "S": 1, "D": 8192, "F": 8192}, wisdom="none")
    packed = layer.weights.bytes
    params.clear()
    now = used()
    change = [(b - a) / packed for a, b in zip(before, now)]
    expect(f"packed weights instead of originals: {change[0]:+.2f} on {NAMES[0]}, {change[1]:+.2f} of their size on {NAMES[1]}",
           abs(change[0]) < 0.1 and abs(change[1]) < 0.1)
    layer.close()
    change = [(b - a) / packed for a, b in zip(now, used())]
    expect(f"a closed layer: {change[1]:+.2f} of their size", abs(change[0]) < 0.1 and -1.1 < change[1] < -0.9)


# ---- stacks, which the package has no class for
class Stack:
    """LAYERS layers in one launch, with a workspace for each of the callers on device i."""

    declared = {"stack_create": [c.c_void_p] * 3 + [c.c_size_t, c.c_void_p],
                "stack_execute": [c.c_void_p] + [c.c_size_t] * 2 + [c.c_void_p] * 3, "execute_check": [c.c_void_p] * 4}

    def __init__(self, i, layers, x):
        self.i, self.layers, self.x, self.library = i, layers, x, _binding.library()
        for name, taken in self.declared.items():
            f = getattr(self.library.c, "tfgen_" + name)
            f.restype, f.argtypes = c.c_int, [*taken, c.POINTER(_binding.Text)]
        self.library.c.tfgen_stack_free.argtypes, self.library.c.tfgen_stack_free.restype = [c.c_void_p], None
        with open(path_of("llama-decode"), "rb") as f:
            text = f.read()
        device, info = _layer.opened_device(self.library, NAMES[i])
        dims = _binding.dims_of(DECODE)
        options = _binding.PlanOptions(target=info.target, dims=dims, dim_count=len(dims), fusion=_binding.FUSIONS.index("block"),
                                       wisdom=b"none", stack=1)
        plan = self.library.made("plan_create", text, len(text), b"llama-decode.yaml", options)
        self.plan = _binding.Handle(self.library, plan, "plan_free")
        module = self.library.made("module_create", self.plan, device, None)
        self.module = _binding.Handle(self.library, module, "module_free", self.plan, device)
        self.tensors = []
        for n in range(self.library.c.tfgen_plan_tensor_count(self.plan)):
            t = _binding.Tensor()
            self.library.c.tfgen_plan_tensor(self.plan, n, t)
            self.tensors.append((t.name.decode(), _layer.KINDS[t.kind]))
        self.weights = []
        for data in layers:
            made = self.library.made("weights_create", self.module, self.at("param", data), self.stream())
            self.weights.append(_binding.Handle(self.library, made, "weights_free", device))
        self.bytes = self.library.c.tfgen_module_workspace_bytes(self.module, None, 0)
        self.stack = self.made(layers)

    def at(self, kind, data):
        return (c.c_void_p * len(self.tensors))(*[data[n].data_ptr() if k == kind else None for n, k in self.tensors])

    def stream(self):
        return None if REHEARSE else torch.cuda.current_stream(DEVICES[self.i]).cuda_stream

    def made(self, layers):
        """A stack over these layers' states."""
        each = [self.at("state", data) for data in layers]
        weights = (c.c_void_p * LAYERS)(*[w.address for w in self.weights])
        table = (c.c_void_p * LAYERS)(*[c.addressof(t) for t in each])
        address = self.library.made("stack_create", self.module.address, weights, table, LAYERS)
        return _binding.Handle(self.library, address, lambda a: self.library.c.tfgen_stack_free(a), self.module, *self.weights)

    def caller(self):
        """A function that runs the stack once, on the current stream, with a workspace and states of its own; it returns the output, and
        what a wait that timed out says."""
        d = DEVICES[self.i]
        layers = [{**data, "k_cache": data["k_cache"].clone(), "v_cache": data["v_cache"].clone()} for data in self.layers]
        stack, room, y = self.made(layers), torch.zeros(self.bytes + 256, dtype=torch.uint8, device=d), torch.empty_like(self.x)
        given = {"x": self.x, "pos": layers[0]["pos"], "y": y}
        tensors = (c.c_void_p * len(self.tensors))(*[given[n].data_ptr() if n in given else None for n, _ in self.tensors])
        args = _binding.Args(tensors=c.addressof(tensors), workspace_bytes=self.bytes)
        space = room.data_ptr() + -room.data_ptr() % 256

        def run(check=False, keep=(stack, room, tensors, layers, given)):
            error = _binding.Text()
            status = self.library.c.tfgen_stack_execute(stack.address, 0, LAYERS, c.addressof(args), space, self.stream(), error)
            if not status and check:
                status = self.library.c.tfgen_execute_check(self.module.address, c.addressof(args), space, self.stream(), error)
            if status:
                raise RuntimeError(error.text.decode())
            return y
        return run


def stacks(cases):
    spec = Spec(path_of("llama-decode"), None, "bf16", DECODE)
    generator = torch.Generator().manual_seed(11)
    layers = [spec.data(generator) for _ in range(LAYERS)]
    for data in layers:
        data["pos"] = layers[0]["pos"]
    x = exact = layers[0]["x"]
    for data in layers:
        exact = evaluate(spec, {**data, "x": exact}, torch.float64, False)["y"]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda i: Stack(i, [{n: t.to(DEVICES[i]) for n, t in data.items()} for data in layers], x.to(DEVICES[i])),
                             range(2)))
    want = []
    for stack in made:
        y = stack.caller()(check=True).cpu()
        far = difference(y, exact)
        expect(f"a stack of {LAYERS} layers on {NAMES[stack.i]}: {far:.2g} from float64", far < LIMIT * LAYERS)
        want.append(y)
    expect("stacks: the same bits on both", same(want[:1], want[1:]))

    def work(i):
        wrong = []
        lanes = [None if REHEARSE else torch.cuda.Stream(DEVICES[i]) for _ in range(2)]
        calls = [made[i].caller() for _ in lanes]
        wait()
        for n in range(ROUNDS):
            for lane, call in zip(lanes, calls):
                with torch.cuda.stream(lane):
                    y = call(check=n % 7 == 0)
                    if n % 3 == 0 and not same([y], want):
                        wrong.append("other bits")
        return wrong
    wrong = on_four_threads(work, seconds=20)
    expect(f"stacks of four threads, on four streams of each device {wrong[:1]}", not wrong)
    if not REHEARSE:
        def foreign():
            made[0].weights = made[1].weights
            made[0].made(made[0].layers)
        refused("a stack with the other GPU's weights", tfgen.UsageError, foreign)


def models(cases):
    """A model on the second GPU, while the first is PyTorch's current one."""
    try:
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError as e:
        print(f"left out: {e}")
        return
    import tfgen.transformers
    torch.manual_seed(4)
    config = LlamaConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                         vocab_size=512, max_position_embeddings=256)
    model = LlamaForCausalLM(config).float().eval().to(DEVICES[1])
    ids = torch.randint(0, 512, (2, 9), device=DEVICES[1])
    new = 8 if REHEARSE else 64
    how = dict(max_new_tokens=new, min_new_tokens=new, do_sample=False, attention_mask=torch.ones_like(ids), pad_token_id=0)
    want = model.generate(ids, **how)
    got = tfgen.transformers.replace(model, room=128).generate(ids, **how)
    expect(f"a model of transformers on {NAMES[1]}: {new} greedy tokens as the original", same([got], [want]))


COMMANDS = [("cuda:1", {}, 0, "cuda:1"), ("cuda:0", {"CUDA_VISIBLE_DEVICES": "1"}, 0, "cuda:0"), ("cuda:2", {}, 4, "cuda:2")]


def commands_begin():
    def begin(device, environment):
        command = [os.environ["TFGEN"], "run", path_of("llama-decode"), "--dim=B=3", "--fusion=block", f"--device={device}", "--repeat=1"]
        return subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [(begin(device, environment), device, environment, code, word) for device, environment, code, word in COMMANDS]


def commands_end(running):
    for process, device, environment, code, word in running:
        try:
            said = process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0] + " (it took too long)"
        last = " / ".join(said.strip().split("\n")[-2:])
        expect(f"tfgen run --device={device} {environment or ''}: exit {process.returncode}: {last[:200]}",
               (process.returncode == code if code == 0 else process.returncode > 1) and (code == 0 or word in said))


def part(name, f, cases, seconds):
    global failed
    now = time.monotonic()
    if now - started > seconds:
        print(f"LEFT OUT {name}: {now - started:.0f} s are over")
        failed += 1
        return
    try:
        with torch.no_grad():
            f(cases)
    except Exception:
        expect(name + ": " + traceback.format_exc(limit=-3), False)
    print(f"      {name}: {time.monotonic() - now:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=55)
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    if not REHEARSE and torch.cuda.device_count() < 2:
        sys.exit(f"two_devices.py: PyTorch sees {torch.cuda.device_count()} GPUs; without any, --rehearse tests the script")
    labels = [] if REHEARSE else [torch.cuda.get_device_name(d) for d in DEVICES]
    print(tfgen.version(), torch.__version__, labels, [d.name for d in tfgen.devices()], flush=True)
    running = [] if REHEARSE else commands_begin()
    with ThreadPoolExecutor(3) as pool:
        cases = list(pool.map(lambda a: Case(*a), [("swiglu", SWIGLU, "tile"), ("llama-decode", DECODE, "tile"),
                                                   ("llama-decode", DECODE, "block")]))
    print(f"      compiled after {time.monotonic() - started:.1f} s", flush=True)
    parts = [numbers, threads, stacks, dlpack] + ([] if REHEARSE else [current, streams, graphs, refusals]) + [compiled, models]
    for f in parts:
        part(f.__name__, f, cases, options.seconds)
    commands_end(running)
    if not REHEARSE:
        part("memory", memory, cases, options.seconds)  # when no other process uses the GPUs
    print(f"{failed} wrong, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
