#!/usr/bin/env python3
"""The package for Python on a GPU, with PyTorch: results beside float64, CUDA graphs, streams, torch.compile, torch.export, DLPack, and
what a call costs beyond its kernels. Exit code 1 where anything is wrong or a call costs more than 15 us.

usage: package.py SPECS [calls]        SPECS: the folder specs; calls: only what a call costs.
The package tfgen is installed, or PYTHONPATH and TFGEN_LIBRARY name it"""
import os
import sys
import time

import torch

import tfgen
import tfgen.torch

SPECS, GPU = sys.argv[1], torch.device("cuda", torch.cuda.current_device())
BF16 = torch.bfloat16
failed = 0


def expect(what, good):
    global failed
    print(("ok    " if good else "WRONG ") + what, flush=True)
    failed += not good


def random(*shape):
    return (torch.randn(shape, device=GPU) * 0.1).to(BF16)


def swiglu():
    params = {}

    def param(t):
        return params.setdefault(t.name, random(*t.shape))
    layer = tfgen.compile(os.path.join(SPECS, "swiglu.yaml"), params=param, device=GPU)
    return layer, params


def want(x, params):
    x, g, u = x.double(), params["w_gate"].double(), params["w_up"].double()
    return torch.nn.functional.silu(x @ g.T) * (x @ u.T)


def close(y, x, params):
    w = want(x, params)
    return ((y.double() - w).norm() / w.norm()).item() < 4e-3


def numbers(module, params):
    for B, S in ((1, 37), (2, 5), (4, 512), (1, 1)):
        x = random(B, S, 256)
        expect(f"swiglu of {B} x {S} beside float64", close(module(x), x, params))


def graphs(module, params):
    x = random(2, 37, 256)
    module(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = module(x)
    for _ in range(3):
        x.copy_(random(2, 37, 256))
        graph.replay()
        expect("a captured call follows its input", close(y, x, params))


def streams(module, params):
    xs, ys = [random(1, 300 + i, 256) for i in range(8)], {}
    lanes = [torch.cuda.Stream() for _ in xs]
    torch.cuda.synchronize()
    for _ in range(20):
        for i, (x, lane) in enumerate(zip(xs, lanes)):
            with torch.cuda.stream(lane):
                ys[i] = module(x)
    torch.cuda.synchronize()
    expect("eight streams", all(close(ys[i], x, params) for i, x in enumerate(xs)))


def compiled(module, params):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = module

        def forward(self, x):
            return self.block(x * 2) + 1
    net = Net().eval()
    for mode in ("default", "reduce-overhead"):
        fast = torch.compile(net, fullgraph=True, dynamic=mode == "default", mode=mode)
        for S in (37, 64, 100) if mode == "default" else (37,):
            x = random(2, S, 256)
            for _ in range(3):
                y = fast(x).clone()
            expect(f"torch.compile, {mode}, S={S}", torch.allclose(y.float(), net(x).float(), atol=1e-2, rtol=1e-2))
    sizes = {1: torch.export.Dim("S", min=2, max=8192)}
    program = torch.export.export(net, (random(2, 37, 256),), dynamic_shapes=(sizes,)).module()
    x = random(2, 99, 256)
    expect("torch.export", torch.equal(program(x), net(x)))


def decode():
    layer = tfgen.compile(os.path.join(SPECS, "llama-decode.yaml"), params=lambda t: random(*t.shape), device=GPU)
    module = tfgen.torch.Module(layer)
    state = [random(4, 2, 64, 32) for _ in range(2)]
    x, pos = random(4, 1, 256), torch.tensor([0, 5, 17, 63], dtype=torch.int32, device=GPU)
    torch.library.opcheck(module.op, (module.number, [x, pos], [s.clone() for s in state]))
    first, second = [s.clone() for s in state], [s.clone() for s in state]
    y = module(x, pos, *first)
    z = torch.compile(module, fullgraph=True)(x, pos, *second)
    expect("caches change, compiled as eager", torch.equal(y, z) and all(map(torch.equal, first, second))
           and not torch.equal(first[0], state[0]))
    return module, (x, pos, *first)


class ByDlpack:
    def __init__(self, t):
        self.t = t

    def __dlpack__(self, **how):
        return self.t.__dlpack__()


def by_dlpack(layer, params):
    x = random(2, 7, 256)
    y = torch.empty(2, 7, 344, dtype=BF16, device=GPU)
    torch.cuda.synchronize()
    layer.run({"x": ByDlpack(x)}, out={"y": ByDlpack(y)})
    expect("arrays by DLPack", close(y, x, params))


def us(f, count=2000, rounds=9):
    """The least time of a call on the processor, over rounds; the GPU waits between them."""
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            f()
        times.append((time.perf_counter() - start) / count * 1e6)
        torch.cuda.synchronize()
    return min(times)


def overhead(name, module, given):
    layer = module.layer
    call = layer.prepare(dict(zip(module.order, given)))
    named, library = dict(zip(module.order, given)), layer.plan.library
    with torch.no_grad():
        whole = {"prepared": us(call), "layer": us(lambda: layer(**named)), "module": us(lambda: module(*given))}
        launch, library.execute = library.execute, lambda *a: 0
        bare = {"layer": us(lambda: layer(**named)), "module": us(lambda: module(*given)), "prepared": us(layer.prepare(named))}
        library.execute = launch
    print(f"{name}: a call {', '.join(f'{n} {t:.1f} us' for n, t in whole.items())}; without launching "
          f"{', '.join(f'{n} {t:.1f} us' for n, t in bare.items())}")
    expect(f"{name}: a layer's call costs at most 15 us beyond its kernels", bare["layer"] <= 15)
    expect(f"{name}: a module's call costs at most 15 us beyond its kernels", bare["module"] <= 15)


def in_graph(module, given):
    """GPU time of a replay of 100 calls of the module, and of 100 prepared ones."""
    call, times = module.layer.prepare(dict(zip(module.order, given))), {}
    for name, f in (("module", lambda: module(*given)), ("prepared", call)):
        f()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(100):
                f()
        got = []
        for _ in range(30):
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            graph.replay()
            b.record()
            b.synchronize()
            got.append(a.elapsed_time(b) * 10)
        times[name] = sorted(got)[15]
    print(f"in a graph: module {times['module']:.2f} us, prepared {times['prepared']:.2f} us a call")


def main():
    torch.manual_seed(5)
    print(tfgen.version(), tfgen.__file__, torch.__version__, torch.cuda.get_device_name())
    layer, params = swiglu()
    print(f"weights: {layer.weights.bytes} bytes packed of {sum(p.numel() * 2 for p in params.values())} given")
    module = tfgen.torch.Module(layer)
    with torch.no_grad():
        numbers(module, params)
        if sys.argv[2:] == ["calls"]:
            overhead("swiglu", module, (random(1, 1, 256),))
            overhead("llama-decode", *decode())
            return 1 if failed else 0
        graphs(module, params)
        streams(module, params)
        by_dlpack(layer, params)
        block, given = decode()
        overhead("swiglu", module, (random(1, 1, 256),))
        overhead("llama-decode", block, given)
        in_graph(block, given)
        compiled(module, params)
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
