#!/usr/bin/env python3
"""A fused layer over PyTorch tensors, through libtfgen and ctypes: no extension to build.

usage: torch_block.py [SPEC] [--device=cuda|cpu]      default: specs/swiglu.yaml, cuda when there is one

The tensors are PyTorch's own, and the kernels run on PyTorch's current stream. TFGEN_LIBRARY names libtfgen.so."""
import ctypes as c
import os
import sys

import torch

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
INPUT, PARAM, STATE, OUTPUT = range(4)


class Error(c.Structure):
    _fields_ = [("text", c.c_char * 1024)]


class PlanOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("target", c.c_char_p), ("preset", c.c_char_p), ("dtype", c.c_char_p), ("dims", c.c_void_p),
                ("dim_count", c.c_size_t), ("fusion", c.c_int), ("no_fuse", c.c_void_p), ("no_fuse_count", c.c_size_t)]


class Tensor(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("kind", c.c_int), ("dtype", c.c_char_p), ("rank", c.c_int),
                ("shape", c.c_int64 * 8), ("bytes", c.c_int64), ("source", c.c_char_p), ("transposed", c.c_int)]


class Dim(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class Args(c.Structure):
    _fields_ = [("size", c.c_size_t), ("tensors", c.POINTER(c.c_void_p)), ("dims", c.c_void_p), ("dim_count", c.c_size_t)]


class Layer:
    """A spec compiled for the device of its tensors. Call it with its inputs and states by name; it returns the outputs by name and updates
    states in place. params(description) returns the tensor of each parameter; dims overrides the spec's.

    Kernels read contiguous memory of exactly the plan's dtype and shape, and there are no gradients: any other tensor is refused by name,
    never silently converted."""

    def __init__(self, spec, name, params, device, dims=None, dtype=None, fusion="tile"):
        self.lib = c.CDLL(os.environ.get("TFGEN_LIBRARY", "libtfgen.so.0"))
        for f in ("device_target", "version"):
            getattr(self.lib, "tfgen_" + f).restype = c.c_char_p
        for f in ("plan_tensor_count", "plan_kernel_count"):
            getattr(self.lib, "tfgen_" + f).restype = c.c_size_t
        self.lib.tfgen_plan_workspace_bytes.restype = c.c_int64
        self.error, self.device = Error(), device
        self.handle, self.plan, self.module, self.weights = (c.c_void_p() for _ in range(4))
        self.call("device_open", b"host" if device.type == "cpu"
                  else f"{'hip' if torch.version.hip else 'cuda'}:{device.index or 0}".encode(), c.byref(self.handle))
        given = (Dim * len(dims or {}))(*[(n.encode(), v) for n, v in (dims or {}).items()])
        options = PlanOptions(size=c.sizeof(PlanOptions), target=self.lib.tfgen_device_target(self.handle),
                              fusion=("none", "ops", "tile").index(fusion), dtype=dtype and dtype.encode(),
                              dims=c.addressof(given) if dims else None, dim_count=len(given))
        self.call("plan_create", spec, c.c_size_t(len(spec)), name, c.byref(options), c.byref(self.plan))
        self.call("module_create", self.plan, self.handle, None, c.byref(self.module))
        self.tensors = [self.describe(i) for i in range(self.lib.tfgen_plan_tensor_count(self.plan))]
        self.weights = self.pack(params)

    def call(self, name, *args):
        if getattr(self.lib, "tfgen_" + name)(*args, c.byref(self.error)):
            raise RuntimeError(self.error.text.decode())

    def describe(self, index):
        t = Tensor(size=c.sizeof(Tensor))
        self.lib.tfgen_plan_tensor(self.plan, c.c_size_t(index), c.byref(t))
        return {"name": t.name.decode(), "kind": t.kind, "dtype": TYPES[t.dtype.decode()], "shape": tuple(t.shape[:t.rank])}

    def check(self, want, tensor):
        """Refuses a tensor that the kernels would read wrongly, and names the remedy."""
        name = want["name"]
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: a torch.Tensor should be given, not {type(tensor).__name__}")
        if (tensor.device.type, tensor.device.index or 0) != (self.device.type, self.device.index or 0):
            raise ValueError(f"{name} is on {tensor.device}, the layer on {self.device}: {name}.to('{self.device}')")
        if tensor.layout != torch.strided:
            raise ValueError(f"{name} is {tensor.layout}, kernels read dense memory: {name}.to_dense()")
        if tensor.dtype != want["dtype"]:
            raise TypeError(f"{name} is {tensor.dtype}, the plan reads {want['dtype']}: {name}.to({want['dtype']})")
        if tuple(tensor.shape) != want["shape"]:
            raise ValueError(f"{name} is {tuple(tensor.shape)}, the plan reads {want['shape']}; other sizes need a layer with other dims")
        if tensor.is_neg() or not tensor.is_contiguous():
            raise ValueError(f"{name} is strided or a lazy view, kernels read dense rows: {name}.contiguous().resolve_neg()")
        if tensor.data_ptr() % 16:
            raise ValueError(f"{name} begins at an address that is not a multiple of 16 bytes: {name}.clone()")
        if tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient and this layer gives none: call it under torch.no_grad() or pass {name}.detach()")

    def pointers(self, by_name, kinds, outputs={}):
        """Addresses in the plan's order; all tensors of these kinds must be given, and no others. Outputs are allocated here."""
        wanted = {t["name"]: t for t in self.tensors if t["kind"] in kinds}
        for name in by_name:
            if name not in wanted:
                raise TypeError(f"{name}: the plan has no such tensor; it takes {', '.join(wanted)}")
        for name, t in wanted.items():
            if name not in by_name:
                raise TypeError(f"{name}: missing; the plan takes {', '.join(wanted)}")
            self.check(t, by_name[name])
        every = {**by_name, **outputs}
        return (c.c_void_p * len(self.tensors))(*[every[t["name"]].data_ptr() if t["name"] in every else None for t in self.tensors])

    def stream(self):
        return c.c_void_p(None if self.device.type == "cpu" else torch.cuda.current_stream(self.device).cuda_stream)

    def pack(self, params):
        """Packs the weights of one layer; the tensors that params() returned may be freed afterwards."""
        given, weights = {t["name"]: params(t) for t in self.tensors if t["kind"] == PARAM}, c.c_void_p()
        self.call("weights_create", self.module, self.pointers(given, (PARAM,)), self.stream(), c.byref(weights))
        return weights

    def outputs(self):
        return {t["name"]: torch.empty(t["shape"], dtype=t["dtype"], device=self.device) for t in self.tensors if t["kind"] == OUTPUT}

    def workspace(self):
        """The workspace of one call, and its first address that is a multiple of 256 (PyTorch aligns to 64 only)."""
        memory = torch.empty(self.lib.tfgen_plan_workspace_bytes(self.plan) + 256, dtype=torch.uint8, device=self.device)
        return memory, memory.data_ptr() + -memory.data_ptr() % 256

    def prepare(self, tensors):
        """A call with its own buffers and weights, which can be issued repeatedly or captured in a graph."""
        return Prepared(self, tensors)

    def __call__(self, **inputs):
        run = Prepared(self, inputs, self.weights)
        run.execute()
        return run.outputs

    def close(self):
        self.lib.tfgen_weights_free(self.weights)
        self.lib.tfgen_module_free(self.module)
        self.lib.tfgen_plan_free(self.plan)
        self.lib.tfgen_device_close(self.handle)


class Prepared:
    def __init__(self, layer, tensors, weights=None):
        self.layer, self.inputs, self.outputs, self.own = layer, tensors, layer.outputs(), None
        params = {t["name"] for t in layer.tensors if t["kind"] == PARAM} if weights is None else set()
        self.pointers = layer.pointers({n: t for n, t in tensors.items() if n not in params}, (INPUT, STATE), self.outputs)
        if weights is None:
            self.own = weights = layer.pack(lambda t: tensors[t["name"]])
        self.weights = weights
        self.memory, self.workspace = layer.workspace()
        self.args = Args(size=c.sizeof(Args), tensors=self.pointers)

    def execute(self):
        layer = self.layer
        layer.call("execute", layer.module, self.weights, c.byref(self.args), c.c_void_p(self.workspace), layer.stream())

    def close(self):
        """Frees its own weights; the layer must still exist."""
        if self.own:
            self.layer.lib.tfgen_weights_free(self.own)
            self.own = None


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    files = [a for a in sys.argv[1:] if not a.startswith("--")] or ["specs/swiglu.yaml"]
    device = torch.device(options.get("device", "cuda" if torch.cuda.is_available() else "cpu"))
    torch.manual_seed(1)
    kept = {}

    def random(t):
        kept[t["name"]] = torch.randn(t["shape"], device=device).mul(0.1).to(t["dtype"])
        return kept[t["name"]]

    with open(files[0], "rb") as f:
        layer = Layer(f.read(), files[0].encode(), random, device)
    x = {t["name"]: random(t) for t in layer.tensors if t["kind"] == INPUT}
    out = layer(**x)
    print(f"{layer.lib.tfgen_plan_kernel_count(layer.plan)} kernels on {device}:", {n: tuple(t.shape) for n, t in out.items()})
    if files[0].endswith("swiglu.yaml"):
        h = {n: t.double() for n, t in {**kept, **x}.items()}
        want = (torch.nn.functional.silu(h["x"] @ h["w_gate"].T) * (h["x"] @ h["w_up"].T))
        want = want @ h["w_down"].T if "w_down" in h else want
        got = next(iter(out.values())).double()
        error = ((got - want).norm() / want.norm()).item()
        print(f"relative error {error:.2g} against PyTorch in double precision")
        assert error < 1e-2
    layer.close()


if __name__ == "__main__":
    main()
