#!/usr/bin/env python3
"""Tests tfgen.torch on the host engine with PyTorch itself: opcheck, torch.compile without graph breaks, torch.export, what is refused, and
the examples of docs/python.md that use PyTorch. Exit code 77 where PyTorch is not installed.

usage: torch_test.py        TFGEN_LIBRARY names libtfgen.so"""
import copy
import os
import pickle
import re
import sys
import threading

try:
    import torch
except ImportError as e:
    print(f"skipped: {sys.executable}: {e}")
    sys.exit(77)

from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
os.chdir(ROOT)
import tfgen  # noqa: E402
import tfgen.torch  # noqa: E402

BF16 = torch.bfloat16
failed = 0


def expect(what, good):
    global failed
    print(("ok    " if good else "WRONG ") + what, flush=True)
    failed += not good


def refused(what, kind, call, *words):
    try:
        call()
    except kind as e:
        text = str(e)
        expect(f"{what}: {text[:200]}", all(w in text for w in words))
    else:
        expect(what + " was taken", False)


def random(t):
    return torch.randn(t.shape).mul(0.1).to(BF16)


def given(batch):
    return (torch.randn(batch, 1, 256).to(BF16), torch.arange(batch, dtype=torch.int32), *(torch.zeros(batch, 2, 64, 32).to(BF16)
                                                                                         for _ in range(2)))


class Net(torch.nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x, *others):
        return self.block(x * 2, *others) + 1


def same(what, f, g, tensors):
    mine, others = ([t.clone() for t in tensors] for _ in range(2))
    expect(what, torch.equal(f(*mine), g(*others)) and all(map(torch.equal, mine, others)))


class Names(TorchDispatchMode):
    """Names of the ops that are called."""

    def __torch_dispatch__(self, f, types, args=(), kwargs=None):
        self.names = [*getattr(self, "names", ()), str(f)]
        return f(*args, **(kwargs or {}))


def watched(block, tensors):
    """An eager call bypasses the op only where nothing observes ops."""
    with Names() as mode:
        block(*tensors)
    expect(f"a mode of dispatch sees {mode.names}", any("tfgen.update_1" in n for n in mode.names))
    graph = make_fx(block)(*tensors)
    expect("make_fx records the op", "tfgen.update_1" in graph.code)
    stacked = [torch.stack([t, t]) for t in tensors]
    refused("vmap", RuntimeError, lambda: torch.vmap(block)(*stacked), "update_1")


def decode():
    block = tfgen.torch.Module(tfgen.compile("specs/llama-decode.yaml", params=random, device="cpu", wisdom="none"))
    x, pos, k, v = given(2)
    found = torch.library.opcheck(block.op, (block.number, [x, pos], [k, v]))
    expect(f"opcheck with states: {found}", set(found.values()) == {"SUCCESS"})
    expect("states are named as changed", "Tensor(a0!)[] states" in str(block.op._schema) or "Tensor(a!)[] states" in str(block.op._schema))
    before = k._version
    block(x, pos, k, v)
    expect("a state's version says that it was changed", k._version > before)
    watched(block, (x, pos, k, v))
    names = dict(zip(block.order, (x, pos, k, v.float().numpy())))
    refused("an array of NumPy's beside tensors", TypeError, lambda: block.layer.run(names), "v_cache: a torch.Tensor should be given")
    for what, f in (("called", block), ("compiled", torch.compile(block, fullgraph=True, backend="aot_eager"))):
        refused(f"one tensor as two states, {what}", tfgen.TensorError, lambda: f(x, pos, k, k), "v_cache shares memory with k_cache")
    with torch.inference_mode():
        expect("in inference mode", block(*given(2)).shape == x.shape)
    net = Net(block).eval()
    whole = torch.compile(net, fullgraph=True, backend="aot_eager", dynamic=True)
    for batch in (2, 3):
        same(f"torch.compile, {batch} sequences", whole, net, given(batch))
    sizes = {0: torch.export.Dim("B", min=2, max=1024)}
    program = torch.export.export(net, given(3), dynamic_shapes={"x": sizes, "others": (sizes,) * 3}).module()
    same("torch.export", program, net, given(5))


def threads(block):
    """What a layer keeps for calls of one shape is used by one call at a time, and does not keep outputs alive."""
    xs, wrong = [torch.randn(2, 5, 256).to(BF16) for _ in range(4)], []
    want = [block(x) for x in xs]

    def call(x, y):
        wrong.extend([1] * sum(not torch.equal(block(x), y) for _ in range(50)))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    each = [threading.Thread(target=call, args=case) for case in zip(xs, want)]
    for t in each:
        t.start()
    for t in each:
        t.join()
    sys.setswitchinterval(interval)
    sizes = block.layer.kernels.known[(xs[0].shape,)]
    expect(f"four threads, {len(sizes.unused)} at once", not wrong and 1 <= len(sizes.unused) <= 4)
    expect("what is kept has no memory", sizes.models[0][0].untyped_storage().nbytes() == 0)


def reductions():
    found = torch.library.opcheck(torch.ops.tfgen.all_true.default, (torch.tensor([[True, False]]),))
    expect(f"opcheck of all_true: {found}", set(found.values()) == {"SUCCESS"})
    expect("all_true", [bool(torch.ops.tfgen.all_true(torch.tensor(x))) for x in ([], [True], [True, False])] == [True, True, False])


def swiglu():
    params = {}
    layer = tfgen.compile("specs/swiglu.yaml", params=lambda t: params.setdefault(t.name, random(t)), device="cpu", wisdom="none")
    block = tfgen.torch.Module(layer)
    x = torch.randn(2, 5, 256).to(BF16)
    found = torch.library.opcheck(block.op, (block.number, [x]))
    expect(f"opcheck without states: {found}", set(found.values()) == {"SUCCESS"})
    w = {n: p.double() for n, p in params.items()}
    want = torch.nn.functional.silu(x.double() @ w["w_gate"].T) * (x.double() @ w["w_up"].T)
    expect("numbers beside float64", ((block(x).double() - want).norm() / want.norm()).item() < 4e-3)
    net = Net(block).eval()
    same("torch.compile by Inductor", torch.compile(net, fullgraph=True), net, (x,))
    checkpoint = {"mlp.gate_proj.weight": params["w_gate"], "mlp.up_proj.weight": params["w_up"]}
    expect("a checkpoint's names", torch.equal(layer.with_params(checkpoint)(x=x)["y"], block(x)))
    threads(block)
    transforms(block, x)
    refuse(block, x)


APART = """block: apart
dtype: f32
dims: {B: 2, S: 3, D: 8}
dynamic: {B: [1, 4]}
inputs: {x: {shape: [B, S, D], stride: 3*D}}
params: {w: [D, D]}
ops:
  - {out: h, op: linear, in: [x, w]}
outputs: {y: {value: h, stride: 2*D}}
"""


def strides():
    """Columns of wider tensors are read and written where they are."""
    w, wide, out = torch.randn(8, 8), torch.randn(3, 3, 24), torch.full((3, 3, 16), 7.0)
    layer = tfgen.compile(APART, params={"w": w}, device="cpu", wisdom="none")
    block, x = tfgen.torch.Module(layer), wide[..., 8:16]
    want = (x.double() @ w.double().T).float()
    y = block(x)
    expect("rows apart", torch.allclose(y, want, atol=1e-5) and y.stride() == (48, 16, 1))
    layer.run({"x": x}, out={"y": out[..., :8]})
    expect("into columns", torch.equal(out[..., :8], y) and bool((out[..., 8:] == 7).all()))
    for backend in ("aot_eager", "inductor"):
        z = torch.compile(block, fullgraph=True, backend=backend)(x)
        expect(f"strides under torch.compile by {backend}", torch.equal(z, y) and z.stride() == y.stride())
    # the other checks call the op with dense copies
    found = torch.library.opcheck(block.op, (block.number, [x]), test_utils=("test_schema", "test_faketensor"))
    expect(f"opcheck with strides: {found}", set(found.values()) == {"SUCCESS"})
    refused("dense rows", RuntimeError, lambda: block(x.contiguous()), "x has other strides", "24 elements")
    refused("other columns", RuntimeError, lambda: block(torch.randn(3, 3, 32)[..., :8]), "24 elements")
    refused("a dense output", RuntimeError, lambda: layer.run({"x": x}, out={"y": torch.zeros(3, 3, 8)}), "y has other strides",
            "give [..., :8] of a tensor whose rows have 16 elements")
    dense = tfgen.compile(APART.replace("{value: h, stride: 2*D}", "h"), params={"w": w}, device="cpu", wisdom="none")
    refused("into columns of a spec without stride", RuntimeError, lambda: dense.run({"x": x}, out={"y": out[..., :8]}),
            "y is strided, the layer writes dense rows: give a dense tensor and copy from it")
    expect("one row of one sequence", torch.equal(block(wide[:1, :, 8:16]), y[:1]))


def strides_of_calls():
    """One layer reads the columns of any tensor, and dense rows too."""
    w, spec = torch.randn(8, 8), APART.replace("3*D", "X").replace("2*D", "Y").replace("D: 8}", "D: 8, X: 8, Y: 16}")
    spec = spec.replace("dynamic: {", "dynamic: {X: [8, 4096], Y: [8, 4096], ")
    layer = tfgen.compile(spec, params={"w": w}, device="cpu", wisdom="none")
    block = tfgen.torch.Module(layer)
    wide = torch.full((3, 3, 24), float("nan"))
    wide[..., 8:16] = torch.randn(3, 3, 8)
    x = wide[..., 8:16]
    y = block(x)
    expect("rows apart", torch.allclose(y, (x.double() @ w.double().T).float(), atol=1e-5) and y.stride() == (48, 16, 1))
    expect("dense rows", torch.equal(block(x.contiguous()), y))
    expect("other columns", torch.equal(block(torch.cat((x, wide), -1)[..., :8]), y))
    expect("one row of one sequence", torch.equal(block(wide[:1, :, 8:16]), y[:1]))
    for columns in (8, 20):
        out = torch.full((3, 3, columns), 7.0)
        layer.run({"x": x}, out={"y": out[..., :8]})
        expect(f"into {columns} columns", torch.equal(out[..., :8], y) and bool((out[..., 8:] == 7).all()))
    for what, out in (("at odd places", torch.zeros(3, 3, 9)[..., :8]), ("of columns apart", torch.zeros(3, 3, 16)[..., ::2])):
        refused(f"into rows {what}", RuntimeError, lambda: layer.run({"x": x}, out={"y": out}), "y has other strides",
                "give [..., :8] of a tensor with such rows")
    refused("into more sequences", RuntimeError, lambda: layer.run({"x": x}, out={"y": torch.zeros(4, 3, 8)}),
            "y is (4, 3, 8), the layer writes (3, 3, 8)")
    both = tfgen.compile(spec.replace("stride: Y", "stride: X").replace(" Y: [8, 4096],", "").replace(", Y: 16", ""), params={"w": w},
                         device="cpu", wisdom="none")
    refused("into rows unlike those of the input", RuntimeError, lambda: both.run({"x": x}, out={"y": torch.zeros(3, 3, 20)[..., :8]}),
            "y has rows 20 elements apart, another tensor of the call 24; X is one number")
    for backend in ("aot_eager", "inductor"):
        z = torch.compile(block, fullgraph=True, backend=backend)(x)
        expect(f"strides of a call under torch.compile by {backend}", torch.equal(z, y) and z.stride() == y.stride())
    found = torch.library.opcheck(block.op, (block.number, [x]))
    expect(f"opcheck with strides of a call: {found}", set(found.values()) == {"SUCCESS"})
    refused("rows at odd places", RuntimeError, lambda: block(torch.randn(3, 3, 9)[..., :8]), "multiples of 16 bytes apart")
    refused("sequences apart otherwise", RuntimeError, lambda: block(torch.randn(3, 4, 8)[:, :3]), "whose rows lie")
    refused("columns apart", RuntimeError, lambda: block(torch.randn(3, 3, 16)[..., ::2]), "x.contiguous()")
    refused("an expanded row", RuntimeError, lambda: block(torch.randn(1, 1, 8).expand(3, 3, 8)), "X is 0")


def transforms(block, x):
    """What PyTorch does to calls either sees the op or is refused: no gradients of zero, no graph without kernels."""
    ones = torch.ones(2, 5, 256).to(BF16)
    for what, f in (("module", block), ("layer", lambda a: block.layer(x=a)["y"])):
        total = torch.func.grad(lambda a: f(a).sum())
        refused(f"torch.func.grad of a {what}", tfgen.TensorError, lambda: total(x), "x requires a gradient")
        refused(f"torch.func.jvp of a {what}", tfgen.TensorError, lambda: torch.func.jvp(f, (x,), (ones,)), "forward-mode")

        def dual():
            with torch.autograd.forward_ad.dual_level():
                return f(torch.autograd.forward_ad.make_dual(x, ones))
        refused(f"forward-mode gradients of a {what}", tfgen.TensorError, dual, "forward-mode")
        refused(f"vmap of a {what}", RuntimeError, lambda: torch.vmap(f)(torch.stack([x, x])), "execute_1")
        expect(f"make_fx of a {what} records the op", "tfgen.execute_1" in make_fx(f)(x).code)
        with FakeTensorMode() as mode:
            expect(f"a {what} with fake tensors", f(mode.from_tensor(x)).shape == x.shape[:2] + (344,))
        with torch.device("cpu"):
            expect(f"a {what} where a device is set", torch.equal(f(x), block(x)))
    into = torch.empty(2, 5, 344).to(BF16)
    for what, f in (("on a stream", lambda a: block.layer.run({"x": a}, stream=0)), ("prepared", lambda a: block.layer.prepare({"x": a})),
                    ("with an output", lambda a: block.layer.run({"x": a}, out={"y": into}))):
        with torch.autograd.forward_ad.dual_level():
            refused(f"forward-mode gradients of a call {what}", tfgen.TensorError,
                    lambda: f(torch.autograd.forward_ad.make_dual(x, ones)), "forward-mode")
    frozen = torch.nn.Parameter(x, requires_grad=False)
    expect("a parameter without gradient", torch.equal(block(frozen), block(x)))
    twin = copy.deepcopy(torch.nn.Sequential(block))
    expect("a copy of a model shares the layer", twin[0].layer is block.layer and torch.equal(twin(x), block(x)))
    refused("pickle", TypeError, lambda: pickle.dumps(block), "compile() makes it again")
    stream = torch.cuda.Stream if torch.cuda.is_available() else type("Stream", (), {"cuda_stream": 0})
    expect("a stream object", torch.equal(block.layer.run({"x": x}, stream=stream())["y"], block(x)))
    refused("no stream", TypeError, lambda: block.layer.run({"x": x}, stream="main"), "a stream of PyTorch's")


def refuse(block, x):
    refused("train()", RuntimeError, lambda: Net(block).train(), "no gradients", "swiglu")
    expect("eval()", Net(block).eval().block is block)
    wanting = x.clone().requires_grad_()
    refused("a gradient", RuntimeError, lambda: block(wanting), "x requires a gradient")
    refused("a gradient, compiled", RuntimeError, lambda: torch.compile(block, fullgraph=True, backend="aot_eager")(wanting), "gradient")
    with torch.no_grad():
        expect("no gradients are recorded", torch.equal(block(wanting), block(x)))
    refused("float32", RuntimeError, lambda: block(x.float()), "x is torch.float32", "torch.bfloat16")
    refused("complex and conjugated", RuntimeError, lambda: block(x.to(torch.complex64).conj()), "complex64")
    refused("a lazily negated view", RuntimeError, lambda: block(torch._neg_view(x)), "resolve_neg")
    refused("columns apart", RuntimeError, lambda: block(torch.zeros(2, 5, 512).to(BF16)[..., ::2]), "strided")
    refused("another width", RuntimeError, lambda: block(torch.zeros(2, 5, 128).to(BF16)), "x is (2, 5, 128)")
    refused("too many rows", RuntimeError, lambda: block(torch.zeros(65, 1, 256).to(BF16)), "B is 65", "1 to 64")
    refused("a shifted tensor", RuntimeError, lambda: block(torch.zeros(2561).to(BF16)[1:].view(2, 5, 256)), "multiple of 16")
    refused("a sparse tensor", RuntimeError, lambda: block(torch.zeros(2, 5, 256).to(BF16).to_sparse()), "to_dense()")
    refused("the op with a sparse tensor", RuntimeError, lambda: block.op(block.number, [torch.zeros(2, 5, 256).to(BF16).to_sparse()]),
            "SparseCPU")
    refused("no tensor", TypeError, lambda: block(), "x: missing")
    refused("a layer that was freed", RuntimeError, lambda: block.op(10 ** 6, [x]), "there is no layer 1000000")


def examples():
    with open(os.path.join(ROOT, "docs", "python.md")) as f:
        blocks = [b for b in re.findall(r"```python\n(.*?)```", f.read(), re.S) if "torch" in b]
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})
    expect(f"{len(blocks)} examples of docs/python.md", len(blocks) >= 1)


def main():
    torch.manual_seed(2)
    decode()
    reductions()
    swiglu()
    strides()
    strides_of_calls()
    examples()
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
