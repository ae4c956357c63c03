"""Plans and layers: what tfgen.compile() and tfgen.plan() return."""
import builtins
import ctypes as c
import itertools
import json
import os
import re
import struct
import sys
import weakref
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _arrays, _binding
from ._arrays import TensorSpec
from ._binding import Handle

Spec = Union[str, bytes, "os.PathLike[str]"]
Params = Union[Mapping[str, Any], Callable[[TensorSpec], Any]]
KINDS = ("input", "param", "state", "output")


class Device(NamedTuple):
    name: str  # "cuda:0", "hip:0", "host"
    label: str  # "NVIDIA H200"
    target: str  # "sm_90a"; "" if tfgen has none for it
    multiprocessors: int
    memory_bytes: int


def devices() -> List[Device]:
    """The devices of this machine; the host, whose engine runs kernels on the processor, comes last."""
    library = _binding.library()
    list_ = (_binding.DeviceInfo * 64)()
    list_[0].size = c.sizeof(_binding.DeviceInfo)
    count = min(library.c.tfgen_device_list(list_, 64), 64)
    return [device_of(list_[i]) for i in range(count)]


def device_of(info: _binding.DeviceInfo) -> Device:
    return Device(info.name.decode(), info.label.decode(), info.target.decode(), info.multiprocessors, info.memory_bytes)


def device_name(device: Any, target: Optional[str]) -> Optional[str]:
    """tfgen's name of a device that may be PyTorch's: "cpu" is the host, and "cuda" an AMD GPU where PyTorch was built for HIP."""
    if device is None:
        return next((d.name for d in devices() if d.target == target), None) if target else None
    kind, colon, index = str(device).partition(":")
    torch = sys.modules.get("torch")
    if kind == "cuda" and torch is not None:
        index = index or str(torch.cuda.current_device())
        return f"{'hip' if torch.version.hip else 'cuda'}:{index}"
    return "host" if kind == "cpu" else kind + colon + index


_open: "weakref.WeakValueDictionary[Tuple[str, str], Handle]" = weakref.WeakValueDictionary()


def opened_device(library: _binding.Library, name: Optional[str]) -> Tuple[Handle, _binding.DeviceInfo]:
    """A device's handle and properties. Layers on one device share the handle, because weights belong to one handle."""
    handle, info = Handle(library, library.made("device_open", name and name.encode()), "device_close"), _binding.DeviceInfo()
    library.c.tfgen_device_query(handle, info)
    return _open.setdefault((library.path, info.name.decode()), handle), info


def text_of(spec: Spec, name: Optional[str]) -> Tuple[bytes, str]:
    """A spec's text, and its name for messages. A string without a newline is a file's path."""
    if isinstance(spec, (bytes, str)) and ("\n" in spec if isinstance(spec, str) else b"\n" in spec):
        return spec.encode() if isinstance(spec, str) else spec, name or "spec.yaml"
    path = os.fsdecode(spec)
    with open(path, "rb") as f:
        return f.read(), name or path


class Plan:
    """The kernels of a spec for a target: nothing is compiled, no device is needed.

    text: the plan as IR text; manifest: kernels, arguments, grids, packed weights as a dict; tensors: TensorSpec of each; dims: values of
    all dims; dynamic: {name: (least, most)} of those that calls may change; warnings: what is doubtful in the spec."""

    def __init__(self, spec: Spec, *, name: Optional[str] = None, target: Optional[str] = None, dims: Optional[Mapping[str, int]] = None,
                 dtype: Optional[str] = None, preset: Optional[str] = None, fusion: str = "tile", no_fuse: Sequence[str] = (),
                 tiles: Sequence[str] = (), device_model: Optional[str] = None, wisdom: Optional[str] = None) -> None:
        if fusion not in _binding.FUSIONS:
            raise _binding.UsageError(f"fusion is {fusion!r}; it is one of {', '.join(_binding.FUSIONS)}")
        self.library = library = _binding.library()
        text, called = text_of(spec, name)
        given = _binding.dims_of(dims or {})
        off, overrides = _binding.strings_of("no_fuse", no_fuse), _binding.strings_of("tiles", tiles)
        texts = {"target": target, "preset": preset, "dtype": dtype, "device_model": device_model, "wisdom": wisdom}
        options = _binding.PlanOptions(
            dims=given, dim_count=len(given or ()), fusion=_binding.FUSIONS.index(fusion), no_fuse=off, no_fuse_count=len(no_fuse),
            tiles=overrides, tile_count=len(tiles), **{key: _binding.string_of(key, value) for key, value in texts.items()})
        self.handle = Handle(library, library.made("plan_create", text, len(text), called.encode(), options), "plan_free")
        self.manifest: Dict[str, Any] = json.loads(library.c.tfgen_plan_manifest(self.handle))
        self.dims: Dict[str, int] = {d["name"]: d["value"] for d in self.manifest["dims"]}
        self.dynamic: Dict[str, Tuple[int, int]] = {d["name"]: tuple(d["range"]) for d in self.manifest["dims"] if "range" in d}
        axes = {(v["kind"], v.get("output", v["name"])): tuple(v["shape"]) for v in self.manifest["values"]}
        self.tensors = [self._tensor(i, axes) for i in range(library.c.tfgen_plan_tensor_count(self.handle))]

    def _tensor(self, index: int, axes: Dict[Tuple[str, str], Tuple[str, ...]]) -> TensorSpec:
        t = _binding.Tensor()
        self.library.c.tfgen_plan_tensor(self.handle, index, t)
        kind, name, source = KINDS[t.kind], t.name.decode(), getattr(t, "from")
        return TensorSpec(name, kind, t.dtype.decode(), tuple(t.shape[:t.rank]), axes[kind, name], source and source.decode(),
                          bool(t.from_transposed),
                          (t.from_row_first, t.from_row_end, t.from_row_group) if t.from_row_end else None,
                          t.row_stride if t.row_stride_dim or (t.rank and t.row_stride != t.shape[t.rank - 1]) else None,
                          t.row_stride_dim and t.row_stride_dim.decode())

    @property
    def block(self) -> str:
        return self.manifest["block"]

    @property
    def weights(self) -> FrozenSet[str]:
        """Which weights its kernels read: signatures of packed weights, and names of params that are read as given. Plans that read the
        same weights share their memory."""
        params = {v["name"] for v in self.manifest["values"] if v["kind"] == "param"}
        read = {a.get("value") for k in self.manifest["kernels"] for a in k["arguments"]}
        return frozenset(p["signature"] for p in self.manifest["packs"]) | (params & read)

    @property
    def text(self) -> str:
        return self.library.c.tfgen_plan_text(self.handle).decode()

    @property
    def sources(self) -> Dict[str, str]:
        """HIP C++ source of each kernel by its name, in launch order."""
        of = self.library.c
        return {of.tfgen_plan_kernel_name(self.handle, i).decode(): of.tfgen_plan_kernel_source(self.handle, i).decode()
                for i in range(of.tfgen_plan_kernel_count(self.handle))}

    @property
    def warnings(self) -> List[str]:
        of = self.library.c
        return [of.tfgen_plan_warning(self.handle, i).decode() for i in range(of.tfgen_plan_warning_count(self.handle))]


class Weights:
    """The packed params of one layer on a device. Layers with the same params may share one object (compile's `weights`)."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    @property
    def bytes(self) -> int:
        """Device memory that they take. Packing copies: the originals may be freed, and until then there are two."""
        return self.handle.library.c.tfgen_weights_bytes(self.handle)


class Sizes:
    """What calls with equal shapes have in common."""

    def __init__(self, args: _binding.Args, dims: Any, outputs: Tuple[Tuple[int, ...], ...]) -> None:
        self.args, self.dims, self.outputs = args, dims, outputs  # args: its tensors not yet filled in; dims: the memory it points to
        self.workspace: int = args.workspace_bytes
        self.models: Optional[Tuple[List[Any], Any]] = None  # outputs and workspace as Torch.models() makes them
        self.unused: List[Arguments] = []  # no call uses these now


class Arguments:
    """Memory that tfgen_execute() reads and writes: addresses of tensors, dims, the text of an error. One call at a time may use it."""

    def __init__(self, sizes: Sizes, count: int) -> None:
        self.pointers, self.error = bytearray(8 * count), _binding.Text()
        self.args = _binding.Args.from_buffer_copy(sizes.args)
        self.args.tensors = c.addressof((c.c_char * (8 * count)).from_buffer(self.pointers)) if count else None
        self.address, self.error_address = c.addressof(self.args), c.addressof(self.error)


class Axes:
    """The shape of a tensor as a function of the dynamic dims, followed by the stride of its rows if calls give it."""

    def __init__(self, spec: TensorSpec) -> None:
        axes = (*spec.axes, spec.step) if spec.step else spec.axes
        if not all(re.fullmatch(r"[\w\s()+*/-]+", a) for a in axes):
            raise ValueError(f"{spec.name}: {axes} is no shape")
        self.count, self.names = len(axes), [(i, a) for i, a in enumerate(axes) if a.isidentifier()]
        self.code = builtins.compile("(" + "".join(a.replace("/", "//") + "," for a in axes) + ")", spec.name, "eval")

    def shape(self, dims: Mapping[str, Any]) -> Tuple[Any, ...]:
        return eval(self.code, {"__builtins__": {}}, dims)  # sums and products of dims, as in the pattern above


def fits(shape: Sequence[Any], want: Tuple[Any, ...]) -> bool:
    return tuple(shape) == want or (shape[-1:] == (None,) and tuple(shape[:-1]) == want[:-1])  # None: the distance of a single row


class Kernels:
    """A plan compiled and loaded on a device; layers with other weights share it."""

    def __init__(self, plan: Plan, device: Handle, name: str, options: _binding.ModuleOptions) -> None:
        library = plan.library
        self.plan, self.device, self.device_name, self.library = plan, device, name, library
        self.module = Handle(library, library.made("module_create", plan.handle, device, options), "module_free", plan.handle, device)
        self.axes = [Axes(t) for t in plan.tensors]
        # Params whose shape has a dynamic dim are read from the caller's memory by each call.
        self.given = [i for i, t in enumerate(plan.tensors)
                      if t.kind in ("input", "state") or (t.kind == "param" and not all(a.isdigit() for a in t.axes))]
        self.given_specs = [(i, plan.tensors[i]) for i in self.given]
        self.names = [plan.tensors[i].name for i in self.given]
        self.states = [i for i in self.given if plan.tensors[i].kind == "state"]
        self.state_pairs = list(itertools.combinations(self.states, 2))
        self.packed = [i for i, t in enumerate(plan.tensors) if t.kind == "param" and i not in self.given]
        self.outputs = [i for i, t in enumerate(plan.tensors) if t.kind == "output"]
        self.output_specs = [plan.tensors[i] for i in self.outputs]
        self.apart, self.steps = any(t.stride for t in self.output_specs), any(t.step for t in self.output_specs)
        self.pointers_type = c.c_void_p * len(plan.tensors)
        self.none, self.put = [0] * len(plan.tensors), struct.Struct(f"{len(plan.tensors)}Q").pack_into
        self.known: Dict[Any, Sizes] = {}

    def bind(self, shapes: Sequence[Sequence[Any]], check: bool = True, outputs: Sequence[Sequence[Any]] = ()) -> Dict[str, Any]:
        """All dims of a call: dynamic ones from the shapes of its tensors, strides also from outputs that the call gives; a dim that no
        shape names has the plan's value."""
        plan, found = self.plan, {}  # type: Plan, Dict[str, Any]
        for i, shape in zip(self.given, shapes):
            if len(shape) != self.axes[i].count:
                self._refuse(i, shape, plan.dims)
            for axis, name in self.axes[i].names:
                if name in plan.dynamic and shape[axis] is not None:
                    found.setdefault(name, shape[axis])
        for spec, shape in zip(self.output_specs, outputs):
            if spec.step and shape[-1] is not None:
                found.setdefault(spec.step, shape[-1])
        dims = {**plan.dims, **found}
        if not check:
            return dims
        for i, shape in zip(self.given, shapes):
            if not fits(shape, self.axes[i].shape(dims)):
                self._refuse(i, shape, dims)
        for name, (least, most) in plan.dynamic.items():
            if not least <= dims[name] <= most:
                raise _arrays.TensorError(f"{name} is {dims[name]}; the spec allows {least} to {most}")
        return dims

    def _refuse(self, index: int, shape: Sequence[int], dims: Mapping[str, int]) -> None:
        t = self.plan.tensors[index]
        dynamic = [n for n in self.plan.dynamic if any(re.search(rf"\b{n}\b", a) for a in t.axes)]
        if t.step and tuple(shape[:-1]) == self.axes[index].shape(dims)[:-1]:
            raise self._apart(t, shape[-1], dims[t.step])
        which = f" = ({', '.join(t.axes)}) where " + ", ".join(f"{n} is {dims[n]}" for n in dynamic) if dynamic else ""
        want = self.axes[index].shape(dims)
        raise _arrays.TensorError(f"{t.name} is {tuple(shape)}, the plan reads {want}{which}; other sizes need a layer with other dims")

    @staticmethod
    def _apart(t: TensorSpec, rows: int, others: int) -> Exception:
        return _arrays.TensorError(f"{t.name} has rows {rows} elements apart, another tensor of the call {others}; {t.step} is one number")

    def misfit(self, t: TensorSpec, given: Sequence[Any], wanted: Sequence[Any]) -> Exception:
        """The error for a given output that has another shape or stride than the call writes."""
        if not t.step:
            return _arrays.TensorError(f"{t.name} is {tuple(given)}, the layer writes {tuple(wanted)}")
        if tuple(given[:-1]) == tuple(wanted[:-1]):
            return self._apart(t, given[-1], wanted[-1])
        return _arrays.TensorError(f"{t.name} is {tuple(given[:-1])}, the layer writes {tuple(wanted[:-1])}")

    def in_order(self, tensors: Mapping[str, Any]) -> List[Any]:
        """A call's tensors in the order of self.given."""
        try:
            given = [tensors[name] for name in self.names]
        except KeyError as e:
            raise TypeError(f"{e.args[0]}: missing; {self._takes()}") from None
        if len(tensors) != len(given):
            raise TypeError(f"{next(n for n in tensors if n not in self.names)}: the plan has no such tensor; {self._takes()}")
        return given

    def refuse_shared(self, indices: Sequence[int], addresses: Sequence[int], shapes: Sequence[Sequence[int]]) -> None:
        _arrays.refuse_shared([(self.plan.tensors[i], addresses[i], shape) for i, shape in zip(indices, shapes)])

    def outputs_in_order(self, out: Mapping[str, Any]) -> List[Any]:
        names = [spec.name for spec in self.output_specs]
        wrong = next((n for n in (*names, *out) if n not in out or n not in names), None)
        if wrong is not None:
            raise TypeError(f"{wrong}: {'no such output' if wrong in out else 'missing in out'}; the layer writes {', '.join(names)}")
        return [out[n] for n in names]

    def _takes(self) -> str:
        return "it takes " + ", ".join(self.names)

    def sizes(self, shapes: Tuple[Any, ...], outputs: Tuple[Any, ...] = ()) -> Sizes:
        known = self.known.get((shapes, outputs) if outputs else shapes)
        return known if known is not None else self._new_sizes(shapes, outputs)

    def _new_sizes(self, shapes: Tuple[Any, ...], outputs: Tuple[Any, ...]) -> Sizes:
        dims = self.bind(shapes, outputs=outputs)
        values = _binding.dims_of({n: dims[n] for n in self.plan.dynamic})
        count = len(values or ())
        workspace = self.plan.library.c.tfgen_module_workspace_bytes(self.module, values, count)
        if workspace < 0:
            raise _arrays.TensorError(f"{dims}: a tensor's rows would not lie multiples of {_arrays.ALIGNMENT} bytes apart")
        args = _binding.Args(dims=values, dim_count=count, workspace_bytes=workspace)
        made = Sizes(args, values, tuple(self.axes[i].shape(dims) for i in self.outputs))
        if len(self.known) > 4096:
            self.known.clear()
        self.known[(shapes, outputs) if outputs else shapes] = made
        return made

    def params(self, params: Params) -> Tuple[Any, List[Any]]:
        """Addresses of the params in the plan's order, and what must be kept until they are packed."""
        found = {i: self._param(params, self.plan.tensors[i]) for i in self.packed}
        arrays = _arrays.kind_of([v for v, _ in found.values()], self.device_name)
        addresses, keep = self.pointers_type(), [arrays]
        for i, (value, from_checkpoint) in found.items():
            t = self.plan.tensors[i]
            if from_checkpoint and (t.transposed or t.rows):
                if not isinstance(arrays, _arrays.Torch):
                    raise TypeError(f"{t.name}: {t.source} is transposed or a slice of rows; give it under its own name")
                value = arrays.from_checkpoint(t, value)
            addresses[i], shape = arrays.at(t, value)
            if tuple(shape) != t.shape:
                self._refuse(i, shape, self.plan.dims)
            keep.append(value)
        return addresses, keep + [arrays.stream()]

    def _param(self, params: Params, t: TensorSpec) -> Tuple[Any, bool]:
        """(param, whether it was found by its name in checkpoints): a param's own name is looked up first."""
        if hasattr(params, "state_dict"):
            raise TypeError(f"params is a {type(params).__name__}: give its state_dict()")
        if callable(params) and not isinstance(params, Mapping):
            return params(t), False
        for name in (t.name, t.source):
            if name and name in params:
                return params[name], name != t.name
        raise TypeError(f"{t.name}: missing among params" + (f" (nor is there {t.source})" if t.source else ""))

    def pack(self, params: Params) -> Weights:
        addresses, keep = self.params(params)
        library = self.plan.library
        return Weights(Handle(library, library.made("weights_create", self.module, addresses, keep[-1]), "weights_free", self.device))

    def fail(self, status: int, error: _binding.Text, weights: Any) -> None:
        """Raises the error for which tfgen_execute() refused a call."""
        if weights is None and self.packed:
            raise _binding.UsageError("the layer has no weights: with_params(), or params= of compile(), gives them")
        self.library.fail(status, error)

    def add_to(self, weights: Weights, params: Optional[Params]) -> Weights:
        addresses, keep = self.params(params) if params is not None else (None, [None])
        try:
            self.plan.library.call("weights_add", weights.handle, self.module, addresses, keep[-1])
        except _binding.UsageError as e:
            raise e if params is not None else _binding.UsageError(f"{e}; given as params it is added") from None
        return weights


def number_of_stream(stream: Any) -> Optional[int]:
    """A stream as the number that drivers know it by: PyTorch's objects have `cuda_stream`, CuPy's `ptr`."""
    if stream is None or type(stream) is int:
        return stream  # type: ignore[return-value]
    number = getattr(stream, "cuda_stream", getattr(stream, "ptr", None))
    if type(number) is not int:
        raise TypeError(f"stream is {stream!r}; a stream of PyTorch's, or its number, should be given")
    return number


class Layer:
    """A compiled spec with its weights. Call it with its inputs and states by name: it returns outputs by name, and states are changed in
    place.

        y = layer(x=x, k_cache=k, v_cache=v)["y"]

    Tensors: dense, row-major, or with the distance between rows that the spec's `stride` gives; of exactly the spec's dtype and shape
    ((B, S, D), say, with any B and S that the spec's `dynamic` allows); at addresses that are multiples of 16, on the layer's device. On
    the host: whatever has the buffer protocol (NumPy; bf16 as its bits in uint16) or DLPack, or PyTorch's tensors. On a GPU: PyTorch's
    tensors, or arrays by DLPack, with `out`. Outputs are of the inputs' kind: torch.Tensor, else memoryview (numpy.asarray(y) is a view
    of it).

    With PyTorch's tensors kernels run on PyTorch's current stream, and a call returns before they are done; with other arrays it waits.
    Threads may call one layer at once.

    Raises TypeError for a tensor that is missing, unknown or none; TensorError (a ValueError and a RuntimeError) for one of another dtype,
    device, shape, layout or alignment, or one that requires a gradient: there are none; DeviceError where a launch failed."""

    def __init__(self, kernels: Kernels, weights: Optional[Weights]) -> None:
        self._kernels, self.weights = kernels, weights  # type: Optional[Kernels], Optional[Weights]

    @property
    def kernels(self) -> Kernels:
        if self._kernels is None:
            raise ValueError("this layer is closed")
        return self._kernels

    plan = property(lambda self: self.kernels.plan, doc="its Plan")
    tensors = property(lambda self: self.kernels.plan.tensors, doc="TensorSpec of each tensor, in the plan's order")
    device = property(lambda self: self.kernels.device_name, doc='tfgen\'s name of its device: "cuda:0", "hip:0", "host"')

    def __call__(self, **tensors: Any) -> Dict[str, Any]:
        return self.run(tensors)

    def run(self, tensors: Mapping[str, Any], out: Optional[Mapping[str, Any]] = None, stream: Any = None) -> Dict[str, Any]:
        """A call. out: where outputs are written, by name, instead of into new memory, apart from the call's other tensors. stream:
        PyTorch's, or hipStream_t or CUstream as a number; default: PyTorch's current one, or for other arrays the default stream."""
        kernels, stream = self.kernels, number_of_stream(stream)
        given = kernels.in_order(tensors)
        arrays = _arrays.kind_of(given, kernels.device_name)
        if out is None and arrays.returns_before_done:
            if stream is None and not arrays.unobserved(given):
                return self._as_op(given)
            arrays.refuse_tangents(self.plan.block, given)
            return dict(zip([t[0] for t in kernels.output_specs], self.issue(arrays, given, stream)))
        call = Call(self, tensors, out)
        call(stream)
        if not call.arrays.returns_before_done and self.device != "host":
            self.synchronize(stream)
        return call.outputs

    def _as_op(self, given: Sequence[Any]) -> Dict[str, Any]:
        """A call that PyTorch sees, and can trace or refuse to transform."""
        from . import torch as ops
        made = ops.call(self, given)
        names = [t[0] for t in self.kernels.output_specs]
        return dict(zip(names, made if len(names) > 1 else (made,)))

    def issue(self, arrays: _arrays.Torch, given: Sequence[Any], stream: Optional[int] = None) -> List[Any]:
        """Calls the layer with PyTorch's tensors in the order of the kernels' `given`; returns the outputs. Whatever depends on shapes
        alone is kept from call to call."""
        kernels, weights = self._kernels or self.kernels, self.weights
        addresses = kernels.none[:]
        shapes = tuple(arrays.gather(kernels.given_specs, given, addresses))
        sizes = kernels.known.get(shapes) or kernels.sizes(shapes)
        for i, j in kernels.state_pairs:
            if addresses[i] == addresses[j]:  # only equal addresses: to look for any overlap in each call would cost too much
                kernels.refuse_shared(kernels.given, addresses, shapes)
        if sizes.models is None:
            sizes.models = arrays.models(kernels.output_specs, sizes.outputs, sizes.workspace)
        (models, room), outputs, workspace, empty_like = sizes.models, [], None, arrays.empty_like
        for i, model in zip(kernels.outputs, models):
            y = empty_like(model)
            addresses[i] = y.data_ptr()
            outputs.append(y)
        if kernels.apart:
            outputs = [arrays.rows_of(spec, y) for spec, y in zip(kernels.output_specs, outputs)]
        if room is not None:
            room = empty_like(room)
            workspace = room.data_ptr()
            workspace += -workspace % _arrays.WORKSPACE_ALIGNMENT
        try:
            a = sizes.unused.pop()
        except IndexError:
            a = Arguments(sizes, len(addresses))
        kernels.put(a.pointers, 0, *addresses)
        status = kernels.library.execute(kernels.module.address, weights and weights.handle.address, a.address, workspace,
                                         arrays.stream() if stream is None else stream, a.error_address)
        if status:
            kernels.fail(status, a.error, weights)
        sizes.unused.append(a)
        return outputs

    def prepare(self, tensors: Mapping[str, Any], out: Optional[Mapping[str, Any]] = None) -> "Call":
        """A call with fixed buffers, which may be issued repeatedly or captured in a graph: nothing is checked or allocated again."""
        return Call(self, tensors, out)

    def with_params(self, params: Params) -> "Layer":
        """A layer of the same kernels with other weights, such as the next of a model."""
        return Layer(self.kernels, self.kernels.pack(params))

    def add_variant(self, **dims: int) -> None:
        """Compiles the spec once more for calls whose dynamic dims are at most these; calls take the smallest variant that fits."""
        values = _binding.dims_of(dims)
        self.plan.library.call("module_prepare", self.kernels.module, values, len(values or ()), None)
        self.kernels.known.clear()

    def synchronize(self, stream: Any = None) -> None:
        """Waits until the stream's work is done."""
        self.plan.library.call("device_synchronize", self.kernels.device, number_of_stream(stream))

    def close(self) -> None:
        """Releases kernels and weights; they are freed unless another layer or a prepared call uses them."""
        self._kernels = self.weights = None

    def __repr__(self) -> str:
        return f"<tfgen.Layer {self.plan.block} on {self.device}>" if self._kernels else "<tfgen.Layer, closed>"

    def __copy__(self) -> "Layer":
        return self

    def __deepcopy__(self, memo: Any) -> "Layer":
        """A copy of a model shares its layers, since neither kernels nor weights ever change."""
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a layer is not pickled, as its kernels and packed weights belong to this process: compile() makes it again")


class Call:
    """A call with its buffers. call() issues it; outputs: by name."""

    def __init__(self, layer: Layer, tensors: Mapping[str, Any], out: Optional[Mapping[str, Any]] = None) -> None:
        kernels = layer.kernels
        plan = kernels.plan
        given = kernels.in_order(tensors)
        self.layer, self.kernels, self.tensors = layer, kernels, dict(tensors)
        self.arrays = arrays = _arrays.kind_of(given, kernels.device_name)
        arrays.refuse_tangents(plan.block, given)
        addresses: List[int] = kernels.none[:]
        shapes = tuple(arrays.gather(kernels.given_specs, given, addresses))
        got = [] if out is None else [arrays.at(spec, y) for spec, y in zip(kernels.output_specs, kernels.outputs_in_order(out))]
        self.sizes = sizes = kernels.sizes(shapes, tuple(tuple(s) for _, s in got) if kernels.steps else ())
        self.outputs: Dict[str, Any] = {}
        for n, (i, shape) in enumerate(zip(kernels.outputs, sizes.outputs)):
            spec = plan.tensors[i]
            if out is None:
                y = arrays.empty(spec, shape)
                addresses[i] = arrays.pointer(spec, y)
            else:
                y = out[spec.name]
                addresses[i], found = got[n]
                if not fits(found, shape):
                    raise kernels.misfit(spec, found, shape)
            self.outputs[spec.name] = y
        if out is not None or kernels.states:
            kernels.refuse_shared((*kernels.given, *kernels.outputs), addresses, (*shapes, *sizes.outputs))
        self.memory, self.workspace = self._workspace(sizes.workspace)
        self.arguments = Arguments(sizes, len(addresses))
        kernels.put(self.arguments.pointers, 0, *addresses)
        self.execute, self.weights = plan.library.execute, layer.weights and layer.weights.handle

    def _workspace(self, size: int) -> Tuple[Any, int]:
        kernels, arrays = self.kernels, self.arrays
        if arrays.returns_before_done or kernels.device_name == "host":
            return arrays.workspace(size)
        library = kernels.plan.library
        device = kernels.device.address
        memory = library.made("device_alloc", kernels.device, size or 1)
        return Handle(library, memory, lambda m: library.c.tfgen_device_free(device, m), kernels.device), memory

    def __call__(self, stream: Any = None) -> None:
        error = self.kernels.library.error()
        status = self.execute(self.kernels.module.address, self.weights and self.weights.address, self.arguments.address, self.workspace,
                              self.arrays.stream() if stream is None else number_of_stream(stream), c.addressof(error))
        if status:
            self.kernels.fail(status, error, self.weights)


def compile(spec: Spec, *, params: Optional[Params] = None, device: Any = None, target: Optional[str] = None,
            weights: Optional[Weights] = None, variants: Sequence[Mapping[str, int]] = (), jobs: int = 0,
            cache_dir: Optional[str] = None, **options: Any) -> Layer:
    """Compiles a spec for a device and packs its weights.

    spec: a file's path, or the YAML text itself (it has a newline).
    params: each param by its name in the spec, or by the checkpoint's name that the spec's `from` gives (a state dict); or a function from
        TensorSpec to the tensor. They are copied: free the originals to have one copy. None: the layer has no weights yet (with_params()).
    device: "cuda:0", "hip:0", "host" (or "cpu"), or a torch.device; None: the first device for `target`, without one the first GPU that
        tfgen has a target for, else the host.
    target: what to compile for, such as "sm_90a" or "host"; None: the device's.
    weights: another layer's, which this one shares; what it lacks is added, from `params`.
    variants: dims to compile once more for, as add_variant().
    jobs: concurrent compilers, 0: one per processor. cache_dir: of compiled kernels; "": none; None: $TFGEN_CACHE_DIR, else ~/.cache/tfgen.
    options: those of plan(): name, dims, dtype, preset, fusion, no_fuse, tiles, device_model, wisdom.

    Raises SpecError (FILE:LINE:COLUMN), UsageError, UnsupportedError (its one line says what to install where there is no compiler),
    CompileError, DeviceError; TypeError and TensorError for params."""
    library = _binding.library()
    name = device_name(device, target)
    if name is None and target:
        raise _binding.UnsupportedError(f"no device for {target} here; plan() needs none")
    handle, info = opened_device(library, name)
    plan = Plan(spec, target=target or info.target.decode(), **options)
    each = [_binding.dims_of(v) for v in variants]
    lists = (_binding.DimList * len(each))(*[_binding.DimList(v, len(v or ())) for v in each])
    kernels = Kernels(plan, handle, info.name.decode(), _binding.ModuleOptions(
        jobs=jobs, cache_dir=None if cache_dir is None else os.fsencode(cache_dir), variants=lists if each else None,
        variant_count=len(each)))
    if weights is not None:
        return Layer(kernels, kernels.add_to(weights, params))
    return Layer(kernels, kernels.pack(params) if params is not None and kernels.packed else None)


def plan(spec: Spec, **options: Any) -> Plan:
    """Plans a spec without a device: what would be compiled for `target`.

    spec: a file's path, or YAML text. options: name (of the spec, in messages), target ("host", "gfx942", "sm_90a", ...; default host),
    dims ({"S": 2048}), dtype ("f32", "f16", "bf16"), preset, fusion ("none", "ops", "tile", "block", "auto"), no_fuse (names of fusions),
    tiles (overrides as --tile), device_model, wisdom (a file, or "none"). Raises SpecError, UsageError, UnsupportedError."""
    return Plan(spec, **options)
