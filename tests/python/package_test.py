#!/usr/bin/env python3
"""Tests the package in python/ on the host engine, without NumPy and PyTorch: its structs and functions are those of tfgen.h; arrays by
the buffer protocol and DLPack; errors; weights that layers share; the command; the examples of docs/python.md.

usage: package_test.py        TFGEN_LIBRARY names libtfgen.so, TFGEN the command"""
import array
import copy
import ctypes
import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
import tfgen  # noqa: E402
from tfgen import _binding  # noqa: E402

SPEC = """block: gate
dtype: f32
dims: {M: 2, K: 8}
dynamic: {M: [1, 16]}
inputs: {x: [M, K]}
params: {w: {shape: [K, K], from: gate.weight}}
ops:
  - {out: h, op: linear, in: [x, w]}
  - {out: y, op: mul, in: [h, x]}
outputs: {y: y}
"""
failed = 0


def expect(what, good):
    global failed
    print(("ok    " if good else "WRONG ") + what)
    failed += not good


def refused(what, kind, call, *words):
    try:
        call()
    except kind as e:
        expect(f"{what}: {e}", all(w in str(e) for w in words))
    except Exception as e:
        expect(f"{what}: {type(e).__name__}, not {kind.__name__}: {e}", False)
    else:
        expect(what + " was taken", False)


def numbers(rows, columns, seed=1, code="f"):
    return memoryview(array.array(code, [(i * 7 + seed) % 5 - 2 for i in range(rows * columns)])).cast("B").cast(code, (rows, columns))


# ---- the header

C_TYPES = {"size_t": ctypes.c_size_t, "int": ctypes.c_int, "int64_t": ctypes.c_int64, "double": ctypes.c_double, "char *": ctypes.c_char_p,
           "tfgen_dim *": ctypes.POINTER(_binding.Dim), "char **": ctypes.POINTER(ctypes.c_char_p), "void *": ctypes.c_void_p,
           "void **": ctypes.c_void_p, "tfgen_dim_list *": ctypes.POINTER(_binding.DimList), "tfgen_fusion": ctypes.c_int,
           "tfgen_tensor_kind": ctypes.c_int, "char": ctypes.c_char, "tfgen_module *": ctypes.c_void_p, "tfgen_weights *": ctypes.c_void_p}
STRUCTS = {"tfgen_error": _binding.Text, "tfgen_dim": _binding.Dim, "tfgen_plan_options": _binding.PlanOptions,
           "tfgen_tensor": _binding.Tensor, "tfgen_device_info": _binding.DeviceInfo, "tfgen_module_options": _binding.ModuleOptions,
           "tfgen_dim_list": _binding.DimList, "tfgen_args": _binding.Args}


def fields_of(body):
    """(name, ctypes type) of each field of a C struct."""
    for line in body.split(";"):
        line = line.strip()
        pointer = re.fullmatch(r"void \(\*(\w+)\)\(.*\)", line, re.S)
        if pointer:
            yield pointer[1], ctypes.c_void_p
        elif line:
            kind, declared = re.fullmatch(r"((?:const )?\w+)\s(.*)", line, re.S).groups()
            for one in declared.split(","):
                stars, name, count = re.fullmatch(r"\s*((?:\*|const|\s)*)(\w+)(?:\[(\d+)\])?", one).groups()
                base = kind.replace("const ", "") + (" " + "*" * stars.count("*") if "*" in stars else "")
                yield name, C_TYPES[base] * int(count) if count else C_TYPES[base]


def same_as_the_header():
    with open(os.path.join(ROOT, "runtime", "api", "tfgen.h")) as f:
        header = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for name, struct in STRUCTS.items():
        body = re.search(rf"typedef struct {name} {{([^}}]*)}} {name};", header)[1]
        expect(f"the fields of {name}", list(struct._fields_) == list(fields_of(body)))
    declared = {n: len(taken.split(",")) if taken != "void" else 0
                for n, taken in re.findall(r"TFGEN_API[^;(]*?\btfgen_(\w+)\(([^)]*)\)", header)}
    bound = {**{n: len(a) + 1 for n, a in _binding.CALLS.items()}, **{n: len(a) for n, (_, a) in _binding.OTHERS.items()}}
    expect("functions, and how much they take", all(declared.get(n) == count for n, count in bound.items()))
    status = dict(re.findall(r"TFGEN_(\w+) = (\d)", header))
    expect("statuses", _binding.STATUS[int(status["BAD_INPUT"])] is tfgen.SpecError and
           _binding.STATUS[int(status["UNSUPPORTED"])] is tfgen.UnsupportedError)


# ---- layers

class ByDlpack:
    """An array that only has DLPack, as arrays of other libraries do. columns: the first of each row, the array then has strides. version,
    flags: of DLPack."""

    def __init__(self, view, code=2, columns=None, version=0, flags=0):
        self.version = version
        self.view, self.shape = view, (ctypes.c_int64 * 2)(view.shape[0], columns or view.shape[1])
        self.strides = (ctypes.c_int64 * 2)(view.shape[1], 1) if columns else None
        t = tfgen._arrays.DLTensor(data=tfgen._arrays.buffer_address(view), device_type=1, ndim=2, code=code, bits=32, lanes=1,
                                   shape=self.shape, strides=self.strides)
        self.managed = (ctypes.c_char * (ctypes.sizeof(t) + 16)).from_buffer_copy(bytes(t) + bytes(16))
        if version:
            self.managed = tfgen._arrays.Versioned(major=version, flags=flags, tensor=t)

    def __dlpack__(self, **options):
        if options and not self.version:
            raise TypeError("arrays of DLPack 0 take no max_version")
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned" if self.version else b"dltensor", None)


def wanted(x, w):
    x, w = x.tolist(), w.tolist()
    return [[sum(a * b for a, b in zip(row, column)) * row[j] for j, column in enumerate(w)] for row in x]


def layers():
    w, v = numbers(8, 8), numbers(8, 8, 3)
    layer = tfgen.compile(SPEC, params={"w": w}, device="host", wisdom="none")
    for rows in (1, 2, 16, 2):
        x = numbers(rows, 8, rows)
        expect(f"numbers of {rows} rows", layer(x=x)["y"].tolist() == wanted(x, w))
    x = numbers(3, 8)
    expect("an array by DLPack", layer(x=ByDlpack(x))["y"].tolist() == wanted(x, w))
    expect("memory that is read-only", layer(x=memoryview(bytes(x.cast("B"))).cast("f", (3, 8)))["y"].tolist() == wanted(x, w))
    y = numbers(3, 8, 4)
    expect("an output of the caller's", layer.run({"x": x}, out={"y": y})["y"] is y and y.tolist() == wanted(x, w))
    other = layer.with_params({"gate.weight": v})
    expect("other weights, by their name in checkpoints", other(x=x)["y"].tolist() == wanted(x, v))
    shares = tfgen.compile(SPEC, weights=layer.weights, device="host", dims={"M": 4}, wisdom="none")
    expect("weights are shared", shares.weights is layer.weights and shares(x=x)["y"].tolist() == wanted(x, w))
    call = layer.prepare({"x": x})
    layer.close()
    call()
    expect("a prepared call outlives close()", call.outputs["y"].tolist() == wanted(x, w))
    bare = tfgen.compile(SPEC, device="host", wisdom="none")
    refused("a layer without weights", tfgen.UsageError, lambda: bare(x=x), "no weights", "with_params()")
    expect("how a layer prints", [repr(bare), repr(layer)] == ["<tfgen.Layer gate on host>", "<tfgen.Layer, closed>"])
    expect("a copy is the same layer", copy.copy(bare) is bare and copy.deepcopy({"a": bare})["a"] is bare)
    refused("a pickled layer", TypeError, lambda: pickle.dumps(bare), "compile() makes it again")
    given = {"x": numbers(3, 8)}
    call, kept = bare.with_params({"w": w}).prepare(given), weakref.ref(given["x"])
    given.clear()
    gc.collect()
    expect("a prepared call keeps its tensors", kept() is not None and call() is None and call.outputs["y"].tolist() == wanted(x, w))
    refused("a closed layer", ValueError, lambda: layer(x=x), "closed")
    refuse_arrays(other, x)
    return other


def cycles():
    """The garbage collector finalises a cycle's objects in any order: modules must be freed before their plans all the same."""
    freed = []
    for order in range(2):
        parent = _binding.Handle(tfgen.plan(SPEC).library, 1, freed.append)
        child = _binding.Handle(parent.library, 2, freed.append, parent)
        for handle in ((parent, child), (child, parent))[order]:
            handle.__del__()
    expect("what needs another is freed before it", freed == [2, 1, 2, 1])


def in_child(good):
    """Whether this holds in a child process; False if it takes a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if good() else 1)
    return os.waitpid(child, 0)[1] == 0


def forked():
    """A child process has none of its parent's threads. It frees nothing: a GPU's driver would not work there."""
    layer, x = tfgen.compile(SPEC, params={"w": numbers(8, 8)}, device="host", wisdom="none"), numbers(16, 8)
    block = tfgen.compile(SPEC, params={"w": numbers(8, 8)}, device="host", wisdom="none", fusion="block")
    want = layer(x=x)["y"].tolist()

    def calls():
        return [each(x=x)["y"].tolist() for each in (layer, block)] == [want, want]
    expect("calls, in a child process too", calls() and in_child(calls))
    freed = []
    handle = _binding.Handle(layer.plan.library, 1, freed.append)
    expect("a child process frees nothing", in_child(lambda: handle.__del__() or not freed))
    handle.__del__()
    expect("its parent does", freed == [1])


def strides():
    spec, w, wide = SPEC.replace("x: [M, K]", "x: {shape: [M, K], stride: 3*K}"), numbers(8, 8), numbers(4, 24)
    layer = tfgen.compile(spec, params={"w": w}, device="host", wisdom="none")
    x = memoryview(array.array("f", [v for row in wide.tolist() for v in row[:8]])).cast("B").cast("f", (4, 8))
    expect("rows apart, by DLPack", layer(x=ByDlpack(wide, columns=8))["y"].tolist() == wanted(x, w))
    expect("the tensor says so", [t.stride for t in layer.tensors if t.kind == "input"] == [24])
    refused("dense rows by DLPack", tfgen.TensorError, lambda: layer(x=ByDlpack(x)), "24 elements apart")
    refused("dense rows", tfgen.TensorError, lambda: layer(x=x), "24 elements apart")
    apart = tfgen.compile(SPEC.replace("{y: y}", "{y: {value: y, stride: 16}}"), params={"w": w}, device="host", wisdom="none")
    refused("an output apart that is not given", TypeError, lambda: apart(x=x), "out=")
    out = numbers(4, 16, 2)
    before = out.tolist()
    apart.run({"x": x}, out={"y": ByDlpack(out, columns=8)})
    expect("an output's rows apart", out.tolist() == [a + b[8:] for a, b in zip(wanted(x, w), before)])
    strides_of_calls(x, w, wide)


def strides_of_calls(x, w, wide):
    spec = SPEC.replace("x: [M, K]", "x: {shape: [M, K], stride: X}").replace("{y: y}", "{y: {value: y, stride: Y}}")
    spec = spec.replace("dims: {", "dims: {X: 8, Y: 8, ").replace("dynamic: {", "dynamic: {X: [8, 24], Y: [8, 16], ")
    layer, want = tfgen.compile(spec, params={"w": w}, device="host", wisdom="none"), wanted(x, w)
    expect("the tensors say so", [(t.stride, t.step) for t in layer.tensors if t.kind != "param"] == [(8, "X"), (8, "Y")])
    for columns in (8, 16):
        out = numbers(4, columns, 2)
        before = out.tolist()
        for given in (x, ByDlpack(x), ByDlpack(wide, columns=8)):
            layer.run({"x": given}, out={"y": ByDlpack(out, columns=8)})
            expect("rows apart as the call says", out.tolist() == [a + b[8:] for a, b in zip(want, before)])
    out = numbers(4, 8)
    refused("rows too far apart", tfgen.TensorError, lambda: layer.run({"x": ByDlpack(numbers(4, 28), columns=8)}, out={"y": out}),
            "X is 28", "8 to 24")
    refused("rows between 16 bytes", tfgen.TensorError, lambda: layer.run({"x": ByDlpack(numbers(4, 10), columns=8)}, out={"y": out}),
            "multiples of 16 bytes apart")


def refuse_arrays(layer, x):
    refused("doubles", tfgen.TensorError, lambda: layer(x=numbers(3, 8, code="d")), "x has format 'd' of 8 bytes", "f32")
    refused("doubles, as a NumPy user expects", ValueError, lambda: layer(x=numbers(3, 8, code="d")))
    refused("doubles, as a PyTorch user expects", RuntimeError, lambda: layer(x=numbers(3, 8, code="d")))
    refused("integers by DLPack", tfgen.TensorError, lambda: layer(x=ByDlpack(x, code=0)), "DLPack's type (0, 32 bits)")
    refused("every other row", tfgen.TensorError, lambda: layer(x=memoryview(array.array("f", [0] * 48))[::2]), "strided")
    refused("a row too many", tfgen.TensorError, lambda: layer(x=numbers(17, 8)), "M is 17", "1 to 16")
    refused("a row that is too short", tfgen.TensorError, lambda: layer(x=numbers(3, 4)), "x is (3, 4)", "(M, 8)")
    refused("a shifted array", tfgen.TensorError, lambda: layer(x=numbers(4, 8).cast("B")[4:100].cast("f", (3, 8))), "multiple of 16")
    refused("nothing", TypeError, lambda: layer(), "x: missing")
    refused("another name", TypeError, lambda: layer(x=x, z=x), "z: the plan has no such tensor")
    refused("no array", TypeError, lambda: layer(x=[1.0]), "x: an array")
    refused("an output without its name", TypeError, lambda: layer.run({"x": x}, out={"z": x}), "y: missing in out; the layer writes y")
    refused("an output too many", TypeError, lambda: layer.run({"x": x}, out={"y": numbers(3, 8), "z": x}), "z: no such output")
    refused("an output in an input's memory", tfgen.TensorError, lambda: layer.run({"x": x}, out={"y": x}), "y shares memory with x")
    refused("a stream that is none", TypeError, lambda: layer.run({"x": x}, stream="main"), "stream is 'main'")
    refused("a read-only output by DLPack", tfgen.TensorError,
            lambda: layer.run({"x": x}, out={"y": ByDlpack(numbers(3, 8), version=1, flags=1)}), "y is read-only")
    for version in (0, 1):
        y = numbers(3, 8, 4)
        layer.run({"x": ByDlpack(x, version=version, flags=version)}, out={"y": ByDlpack(y, version=version)})
        expect(f"an output by DLPack {version}", y.tolist() == layer(x=x)["y"].tolist())
    refused("memory that is read-only for an output", tfgen.TensorError,
            lambda: layer.run({"x": x}, out={"y": memoryview(bytes(96)).cast("f", (3, 8))}), "y is read-only")


def errors():
    refused("an op that is none", tfgen.SpecError, lambda: tfgen.plan(SPEC.replace("mul", "mull"), name="a.yaml"), "a.yaml:9:18: error:")
    refused("a dim that is none", tfgen.UsageError, lambda: tfgen.plan(SPEC, dims={"Q": 1}), "Q")
    refused("a dim beyond 64 bits", tfgen.UsageError, lambda: tfgen.plan(SPEC, dims={"K": 2 ** 64 + 8}), "K=18446744073709551624: a dim is")
    refused("a dim that is no integer", TypeError, lambda: tfgen.plan(SPEC, dims={"K": 8.0}), "K is 8.0; a dim is an integer")
    refused("one set of dims for variants", TypeError, lambda: tfgen.compile(SPEC, device="host", variants={"M": 1}), "not 'M'")
    refused("one string for a list", TypeError, lambda: tfgen.plan(SPEC, no_fuse="rmsnorm"), "a list of strings")
    refused("a dtype that is no string", TypeError, lambda: tfgen.plan(SPEC, dtype=float), "dtype is <class 'float'>")
    refused("a level that is none", tfgen.UsageError, lambda: tfgen.plan(SPEC, fusion="all"), "none, ops, tile, block, auto")
    refused("a file that is not there", FileNotFoundError, lambda: tfgen.plan("nowhere.yaml"))
    refused("a device that is not there", tfgen.Error, lambda: tfgen.compile(SPEC, device="cuda:99"))
    refused("a param that is missing", TypeError, lambda: tfgen.compile(SPEC, params={}, device="host"), "w: missing", "gate.weight")
    refused("a param of another shape", tfgen.TensorError,
            lambda: tfgen.compile(SPEC, params={"w": numbers(4, 8)}, device="host"), "(4, 8)")
    nowhere = {**os.environ, "TFGEN_LIBRARY": "/nowhere/libtfgen.so", "PYTHONPATH": os.path.join(ROOT, "python")}
    said = subprocess.run([sys.executable, "-c", "import tfgen; tfgen.version()"], env=nowhere, capture_output=True, text=True).stderr
    expect("no library", "Error: /nowhere/libtfgen.so" in said and "$TFGEN_LIBRARY names it" in said)
    code = "import tfgen; tfgen.compile(%r, device='host', cache_dir='')" % SPEC
    bare = {**os.environ, "PATH": "/nowhere", "PYTHONPATH": os.path.join(ROOT, "python")}
    said = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True).stderr
    last = said.strip().split("\n")[-1]
    expect(f"no compiler: {last}", "UnsupportedError" in last and "install" in last and "clang" in last)


def plans():
    p = tfgen.plan(SPEC, target="sm_90a", dims={"M": 5})
    expect("a plan for a GPU that is not here", p.manifest["target"] == "sm_90a" and all("sm_90a" in s for s in p.sources.values()))
    expect("dims of a plan", p.dims["M"] == 5 and p.dynamic == {"M": (1, 16)})
    expect("the last device is the host", tfgen.devices()[-1].name == "host")


def command():
    env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
    ran = subprocess.run([sys.executable, "-m", "tfgen", "--version"], env=env, capture_output=True, text=True)
    expect("python -m tfgen", ran.returncode == 0 and tfgen.version() in ran.stdout)


def examples():
    """Examples of docs/python.md that need no PyTorch, in one program."""
    with open(os.path.join(ROOT, "docs", "python.md")) as f:
        blocks = re.findall(r"```python\n(.*?)```", f.read(), re.S)
    plain = [b for b in blocks if "torch" not in b]
    os.chdir(ROOT)
    exec(compile("\n".join(plain), "docs/python.md", "exec"), {})
    expect(f"{len(plain)} examples of docs/python.md", len(plain) >= 3)


def main():
    same_as_the_header()
    layers()
    strides()
    cycles()
    forked()
    errors()
    plans()
    command()
    examples()
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
