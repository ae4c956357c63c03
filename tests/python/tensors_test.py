#!/usr/bin/env python3
"""Tests layers of python/tfgen on the host engine over PyTorch's tensors, with torch_double in place of PyTorch: correct tensors give
correct numbers, wrong ones are refused by name.

usage: tensors_test.py        TFGEN_LIBRARY names libtfgen.so"""
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "torch_double"), os.path.join(HERE, "..", "..", "python")]
import torch  # noqa: E402
import tfgen  # noqa: E402
from tfgen import _arrays, _layer  # noqa: E402

TWICE = b"""block: twice
dtype: f32
dims: {M: 3, K: 8, N: 8}
dynamic: {M: [1, 4]}
inputs: {x: [M, K]}
params: {w: [N, K], u: [K, N]}
ops:
  - {out: h, op: linear, in: [x, w]}
  - {out: p, op: linear, in: [h, u]}
  - {out: y, op: add, in: [p, x]}
outputs: {y: y}
"""
CACHE = b"""block: cache
dtype: f32
dims: {B: 2, S: 1, D: 8, L: 4}
inputs: {x: [B, S, D], at: {shape: [B], dtype: i32, range: [0, L-S]}}
state: {kept: [B, 2, L, 4]}
ops:
  - {out: all, op: kv_append, in: [x], state: kept, at: at}
  - {out: y, op: relu, in: [x]}
  - {out: k, op: attention, in: [x, all, all], heads: 2, causal: true, at: at}
outputs: {y: y, k: k}
"""
failed = 0


def whole(shape, seed):
    """Small integers, whose products and sums are exact in f32."""
    n = 1
    for s in shape:
        n *= s
    return torch.empty(shape).fill([(i * 7 + seed) % 5 - 2 for i in range(n)])


def expect(what, good):
    global failed
    print(("ok    " if good else "WRONG ") + what)
    failed += not good


def refused(what, call, *words):
    try:
        call()
    except (TypeError, ValueError) as e:
        expect(f"{what}: {e}", all(w in str(e) for w in words))
    else:
        expect(what + " was taken", False)


def product(x, w, rows, inner, columns):
    return [sum(x[r * inner + k] * w[n * inner + k] for k in range(inner)) for r in range(rows) for n in range(columns)]


def right_numbers(layer, params):
    for seed in range(4):
        x = whole((3, 8), seed)
        h = product(x.numbers(), params["w"].numbers(), 3, 8, 8)
        want = [p + q for p, q in zip(product(h, params["u"].numbers(), 3, 8, 8), x.numbers())]
        expect(f"numbers of call {seed}", list(layer(x=x)["y"].numbers()) == want)


def refuse_tensors(layer):
    def given(**change):
        x = whole((3, 8), 1)
        for name, value in change.items():
            setattr(x, name, value)
        return lambda: layer(x=x)

    refused("float64", lambda: layer(x=torch.empty((3, 8), dtype=torch.float64)), "x is torch.float64", "torch.float32")
    refused("bfloat16", lambda: layer(x=torch.empty((3, 8), dtype=torch.bfloat16)), "x is torch.bfloat16")
    refused("a small tensor", lambda: layer(x=whole((2, 4), 1)), "x is (2, 4)", "(2, 8) = (M, 8)")
    refused("a large tensor", lambda: layer(x=whole((5, 8), 1)), "M is 5", "1 to 4")
    refused("a flat tensor", lambda: layer(x=whole((24,), 1)), "x is (24,)")
    refused("a transposed tensor", given(strides=(1, 3)), "x is strided", "contiguous()")
    refused("an expanded tensor", given(strides=(0, 1)), "x is strided")
    refused("a negated view", given(negative=True), "lazily negated view", "resolve_neg()")
    refused("a sparse tensor", given(layout=torch.sparse_coo), "to_dense")
    refused("a tensor on another device", given(device=torch.device("cuda:1")), "x is on cuda:1", "the layer on cpu")
    base = whole((4, 8), 1)
    refused("a tensor at no multiple of 16 bytes", lambda: layer(x=torch.Tensor((3, 8), torch.float32, memory=base.memory, offset=4)),
            "multiple of 16")
    refused("a gradient", given(requires_grad=True), "x requires a gradient", "no_grad")
    refused("a list", lambda: layer(x=[1.0] * 24), "x: an array")
    refused("no tensor", lambda: layer(), "x: missing")
    refused("another name", lambda: layer(x=whole((3, 8), 1), z=whole((3, 8), 1)), "z: the plan has no such tensor")
    refused("an output, which the layer makes", lambda: layer(x=whole((3, 8), 1), y=whole((3, 8), 1)),
            "y: the plan has no such tensor; it takes x")
    refused("a parameter that is packed already", lambda: layer(x=whole((3, 8), 1), w=whole((8, 8), 1)), "w: the plan has no such tensor")
    with torch.no_grad():
        expect("no gradient is asked for under no_grad()", len(given(requires_grad=True)()["y"].numbers()) == 24)
    first, second = (layer(x=whole((3, 8), seed))["y"] for seed in (1, 2))
    expect("each call has outputs of its own", first.address != second.address and list(first.numbers()) != list(second.numbers()))
    later = torch.Tensor((3, 8), torch.float32, memory=whole((8, 8), 1).memory, offset=64)
    expect("a part that begins at a multiple of 16 is taken", len(layer(x=later)["y"].numbers()) == 24)


def refuse_params(params):
    def with_(name, tensor):
        return lambda: tfgen.compile(TWICE, params={**params, name: tensor}, device="cpu")

    refused("a parameter of another shape", with_("w", whole((8, 4), 1)), "w is (8, 4)")
    refused("a parameter of another dtype", with_("u", torch.empty((8, 8), dtype=torch.float16)), "u is torch.float16")
    trained = whole((8, 8), 1)
    trained.requires_grad = True
    refused("a parameter that is trained", with_("w", trained), "w requires a gradient")


def own_weights(layer, params):
    """A layer of other weights; a prepared call has its own, aligned workspace."""
    for _ in range(8):
        x, w = whole((3, 8), 2), whole((8, 8), 3)
        run = layer.with_params({"w": w, "u": params["u"]}).prepare({"x": x})
        expect("the workspace begins at a multiple of 256", run.workspace % 256 == 0)
        end = run.memory.data_ptr() + run.memory.shape[0]
        expect("and ends with its memory", run.workspace + run.sizes.workspace <= end)
        run()
        h = product(x.numbers(), w.numbers(), 3, 8, 8)
        want = [p + q for p, q in zip(product(h, params["u"].numbers(), 3, 8, 8), x.numbers())]
        expect("numbers of weights of its own", list(run.outputs["y"].numbers()) == want)


def states():
    layer = tfgen.compile(CACHE, device="cpu")
    kept, at = whole((2, 2, 4, 4), 0), torch.empty((2,), dtype=torch.int32).fill([1, 3])
    before, x = list(kept.numbers()), whole((2, 1, 8), 5)
    two = CACHE.replace(b"L, 4]}", b"L, 4], other: [B, 2, L, 4]}").replace(b"[x, all, all]", b"[x, all, more]")
    append = b"  - {out: more, op: kv_append, in: [x], state: other, at: at}\n  - {out: y,"
    twice = tfgen.compile(two.replace(b"  - {out: y,", append), device="cpu")
    refused("one tensor as two states", lambda: twice(x=x, at=at, kept=kept, other=kept), "other shares memory with kept")
    part = torch.Tensor((2, 2, 4, 4), torch.float32, memory=kept.memory, offset=64)
    refused("states that overlap, in a prepared call", lambda: twice.prepare({"x": x, "at": at, "kept": kept, "other": part}),
            "other shares memory with kept")
    refused("a state that is missing", lambda: layer(x=x, at=at), "kept: missing")
    refused("positions that are not int32", lambda: layer(x=x, at=torch.empty((2,), dtype=torch.float32), kept=kept), "at is torch.float32")
    layer(x=x, at=at, kept=kept)
    for b in range(2):
        for head in range(2):
            for row in range(4):
                place = ((b * 2 + head) * 4 + row) * 4
                want = x.numbers()[b * 8 + head * 4:][:4] if row == at.numbers()[b] else before[place:place + 4]
                expect(f"row {row} of sequence {b}, head {head} of the state", list(kept.numbers()[place:place + 4]) == list(want))
    layer.close()


def two_gpus():
    """What a layer on one GPU checks before it calls the library, whichever GPU is PyTorch's current one."""
    spec = tfgen.TensorSpec("x", "input", "f32", (3, 8), ("3", "8"), None, False, None)

    def on(index):
        x = whole((3, 8), 1)
        x.device = torch.device(f"cuda:{index}")
        return x
    for own in range(2):
        arrays, other = _arrays.torch_arrays(torch, f"cuda:{own}"), 1 - own
        for torch.cuda.current in range(2):
            expect(f'"cuda" is cuda:{torch.cuda.current}', _layer.device_name("cuda", None) == f"cuda:{torch.cuda.current}")
            addresses, x = [None], on(own)
            expect(f"a tensor of cuda:{own}", arrays.gather(((0, spec),), (x,), addresses) == [(3, 8)] and addresses == [x.address])
            expect(f"a stream and memory of cuda:{own}", arrays.stream() == 1000 + own and arrays.empty(spec, (3, 8)).get_device() == own)
            for index in (other, 2):
                refused(f"a tensor of cuda:{index}", lambda: arrays.gather(((0, spec),), (on(index),), [None]), f"x is on cuda:{index}",
                        f"the layer on cuda:{own}", f"x.to('cuda:{own}')")
        refused("a tensor of the host", lambda: arrays.gather(((0, spec),), (whole((3, 8), 1),), [None]), "x is on cpu")
    expect("PyTorch's kind of error", issubclass(_arrays.TensorError, RuntimeError))


def two_libraries(layer, params):
    """Two copies of libtfgen in one process, the second of which has loaded no kernel yet: each runs its own kernels."""
    given = os.environ["TFGEN_LIBRARY"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TFGEN_LIBRARY"] = shutil.copy(given, folder)
        other = tfgen.compile(TWICE.replace(b"twice", b"other").replace(b"op: add", b"op: mul"), params=params, device="cpu")
        os.environ["TFGEN_LIBRARY"] = given
    expect("the copy is a library of its own", other.plan.library.c._handle != layer.plan.library.c._handle)
    x = whole((3, 8), 1)
    h = product(product(x.numbers(), params["w"].numbers(), 3, 8, 8), params["u"].numbers(), 3, 8, 8)
    expect("numbers of the copy", list(other(x=x)["y"].numbers()) == [p * q for p, q in zip(h, x.numbers())])
    other.close()
    right_numbers(layer, params)


def main():
    params = {"w": whole((8, 8), 1), "u": whole((8, 8), 2)}
    layer = tfgen.compile(TWICE, params=lambda t: params[t.name], device="cpu")
    expect("the plan has a workspace", layer.prepare({"x": whole((3, 8), 1)}).sizes.workspace > 0)
    right_numbers(layer, params)
    refuse_tensors(layer)
    own_weights(layer, params)
    two_libraries(layer, params)
    layer.close()
    refuse_params(params)
    states()
    two_gpus()
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
