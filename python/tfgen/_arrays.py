"""Addresses of arrays, and checks that kernels can read them. Nothing is converted or copied silently: a tensor of another dtype, shape,
device or layout is refused by name, with the remedy.

Two kinds of arrays are supported: PyTorch's tensors (this module never imports PyTorch itself), and all with the buffer protocol
(numpy.ndarray, array.array, memoryview) or DLPack (cupy, jax)."""
import ctypes as c
import math
import sys
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

ALIGNMENT, WORKSPACE_ALIGNMENT = 16, 256


class TensorError(ValueError, RuntimeError):
    """A tensor that kernels cannot read: dtype, device, shape, strides, alignment, a lazy view, or one that requires a gradient. PyTorch
    raises RuntimeError for these, NumPy ValueError, so this is both."""


class TensorSpec(NamedTuple):
    """A tensor of a plan. shape: at the plan's own dims; axes: the shape as the spec writes it, with the names of dynamic dims."""

    name: str
    kind: str  # "input", "param", "state", "output"
    dtype: str  # "f32", "f16", "bf16", "i32"
    shape: Tuple[int, ...]
    axes: Tuple[str, ...]
    source: Optional[str]  # of a param: the name of its tensor in checkpoints
    transposed: bool  # the checkpoint's tensor is the param's transpose
    rows: Optional[Tuple[int, int, int]]  # (first, end, every): once transposed, rows first to end - 1 of every `every` rows (0: of all)
    stride: Optional[int] = None  # elements from row to row of an input or output that is not dense, at the plan's own dims
    step: Optional[str] = None  # the dynamic dim that gives this stride in each call


def kind_of(values: Any, device: str) -> Any:
    """The handler of these arrays: PyTorch's if one of them is a tensor, else that of plain arrays."""
    torch = sys.modules.get("torch")
    if torch is not None:
        for v in values:
            if isinstance(v, torch.Tensor):
                return torch_arrays(torch, device)
    return Plain(device)


def torch_arrays(torch: Any, device: str) -> "Torch":
    known = _torch.get(device)
    if known is None or known.torch is not torch:
        known = _torch[device] = Torch(torch, device)
    return known


def aligned(address: int, name: str) -> int:
    if address % ALIGNMENT:
        raise TensorError(f"{name} begins at an address that is not a multiple of {ALIGNMENT} bytes; pass a copy of it")
    return address


def dense_strides(shape: Sequence[int]) -> List[int]:
    steps = [1]
    for size in reversed(shape[1:]):
        steps.insert(0, steps[0] * size)
    return steps[:len(shape)]


# ---- plain arrays

FORMATS = {"f32": "f", "f16": "eH", "bf16": "H", "i32": "il"}
SIZES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}
WRITTEN = ("state", "output")
DLPACK_TYPES = {"f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i32": (0, 32)}
DLPACK_DEVICES = {"host": (1, 3), "cuda": (2,), "hip": (10,)}  # 3: pinned memory of the host


class DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_index", c.c_int32), ("ndim", c.c_int32), ("code", c.c_uint8),
                ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
                ("byte_offset", c.c_uint64)]


class Versioned(c.Structure):
    """DLManagedTensorVersioned of DLPack 1; bit 0 of `flags` says that the memory is read-only."""

    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p), ("deleter", c.c_void_p), ("flags", c.c_uint64),
                ("tensor", DLTensor)]


class PyBuffer(c.Structure):
    _fields_ = [("buf", c.c_void_p), ("obj", c.py_object), ("len", c.c_ssize_t), ("itemsize", c.c_ssize_t), ("readonly", c.c_int),
                ("ndim", c.c_int), ("format", c.c_char_p), ("shape", c.c_void_p), ("strides", c.c_void_p), ("suboffsets", c.c_void_p),
                ("internal", c.c_void_p)]


PYBUF_STRIDES = 0x18
_get_pointer = c.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
_is_capsule = c.pythonapi.PyCapsule_IsValid
_is_capsule.restype, _is_capsule.argtypes = c.c_int, [c.py_object, c.c_char_p]
_get_buffer = c.pythonapi.PyObject_GetBuffer
_get_buffer.restype, _get_buffer.argtypes = c.c_int, [c.py_object, c.POINTER(PyBuffer), c.c_int]
_release_buffer = c.pythonapi.PyBuffer_Release
_release_buffer.restype, _release_buffer.argtypes = None, [c.POINTER(PyBuffer)]


def buffer_address(view: memoryview) -> int:
    """The address of a buffer. ctypes' own `from_buffer` refuses read-only memory."""
    b = PyBuffer()
    _get_buffer(view, b, PYBUF_STRIDES)
    address = b.buf or 0
    _release_buffer(b)
    return address


def exported(value: Any) -> Tuple[Any, DLTensor, bool]:
    """An array's DLPack capsule, what is in it, and whether its memory is read-only. Arrays that only know DLPack 0 do not say that."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = value.__dlpack__()
    if _is_capsule(capsule, b"dltensor_versioned"):
        v = Versioned.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if v.major == 1:
            return capsule, v.tensor, bool(v.flags & 1)
    return capsule, DLTensor.from_address(_get_pointer(capsule, b"dltensor")), False


def refuse_shared(tensors: Sequence[Tuple[TensorSpec, int, Sequence[int]]]) -> None:
    """Refuses an output or state in the memory of another tensor of the call: kernels write it while others still read, in no certain
    order. tensors: (spec, address, shape). A tensor with a row stride is compared by its first element only, since the rows of two such
    tensors may interleave."""
    size = [1 if t.stride else SIZES[t.dtype] * math.prod(shape) for t, _, shape in tensors]
    for i, (a, first, _) in enumerate(tensors):
        for j, (b, second, _) in enumerate(tensors[:i]):
            if first < second + size[j] and second < first + size[i] and (a.kind in WRITTEN or b.kind in WRITTEN):
                one, other = (a, b) if a.kind in WRITTEN else (b, a)
                raise TensorError(f"{one.name} shares memory with {other.name}, and the layer writes it: give a tensor of its own")


def lies_right(shape: Sequence[int], strides: Sequence[int], row: Optional[int]) -> bool:
    """Whether strides, in elements, are those of dense rows that begin `row` elements apart (None: of a contiguous tensor)."""
    step = 1
    for axis, (size, stride) in enumerate(zip(reversed(shape), reversed(strides))):
        if size != 1 and stride != step:
            return False
        step = row if axis == 0 and row else step * size
    return True


def distance(shape: Sequence[int], strides: Sequence[int]) -> Optional[int]:
    """Elements from the start of a row to that of the next. None: there is one row. -1: it varies, or columns are not adjacent."""
    if shape and shape[-1] != 1 and strides[-1] != 1:
        return -1
    row = step = None
    for size, stride in zip(reversed(shape[:-1]), reversed(strides[:-1])):
        if size == 1:
            continue
        if step is not None and stride != step:
            return -1
        row, step = stride if row is None else row, stride * size
    return row


def placed(spec: TensorSpec, shape: Sequence[int], strides: Sequence[int], remedy: str) -> Sequence[Any]:
    """Checks the strides of a call's tensor and returns its shape. If each call gives the row stride (spec.step), the stride is appended
    to the shape (None: there is only one row)."""
    if spec.step is None:
        if not lies_right(shape, strides, spec.stride):
            raise strided(spec, remedy)
        return shape
    row = distance(shape, strides)
    if row is not None and (row < 0 or row * SIZES[spec.dtype] % ALIGNMENT):
        raise strided(spec, remedy)
    return (*shape, row)


def strided_output(spec: TensorSpec) -> TensorError:
    """The error for an output with wrong strides. It never advises a copy, since the layer would write the copy instead of the output."""
    name, columns = spec.name, f"[..., :{spec.shape[-1]}] of a tensor"
    if spec.step:
        return TensorError(f"{name} has other strides than a matrix whose rows lie multiples of {ALIGNMENT} bytes apart: give {columns} "
                           "with such rows")
    if spec.stride:
        return TensorError(f"{name} has other strides than the spec's: give {columns} whose rows have {spec.stride} elements")
    return TensorError(f"{name} is strided, the layer writes dense rows: give a dense tensor and copy from it (or give the spec's output a "
                       "stride:)")


def strided(spec: TensorSpec, remedy: str) -> TensorError:
    if spec.kind == "output":
        return strided_output(spec)
    if spec.step:
        return TensorError(f"{spec.name} has other strides than a matrix whose rows lie multiples of {ALIGNMENT} bytes apart: {remedy}")
    if spec.stride:
        return TensorError(f"{spec.name} has other strides than the spec's: rows lie {spec.stride} elements apart")
    return TensorError(f"{spec.name} is strided, kernels read dense rows: {remedy} (or give the spec its stride:)")


class Plain:
    """Arrays by the buffer protocol (of the host) or DLPack."""

    returns_before_done = False

    def __init__(self, device: str) -> None:
        self.device, self.keep = device, []  # type: Tuple[str, List[Any]]

    def stream(self) -> None:
        return None

    def gather(self, specs: Sequence[Tuple[int, TensorSpec]], tensors: Sequence[Any], addresses: List[Any]) -> List[Any]:
        """Checks a call's tensors, given in the order of specs, except their shapes, which it returns. Stores each address at its index."""
        shapes = []
        for (i, spec), t in zip(specs, tensors):
            addresses[i], shape = self.at(spec, t)
            shapes.append(shape)
        return shapes

    def at(self, spec: TensorSpec, value: Any) -> Tuple[int, Tuple[int, ...]]:
        """Address and shape of an array, of which all but the shape has been checked."""
        if hasattr(value, "__dlpack__") and not (self.device == "host" and hasattr(value, "__array_interface__")):
            return self.by_dlpack(spec, value)
        try:
            view = memoryview(value)
        except TypeError:
            kind = type(value).__name__
            raise TypeError(f"{spec.name}: an array with the buffer protocol or DLPack should be given, not {kind}") from None
        except (ValueError, BufferError) as e:
            raise TensorError(f"{spec.name}: {e}; a bf16 array is given as its bits, for NumPy .view('uint16')") from None
        if self.device != "host":
            raise TensorError(f"{spec.name} is memory of the host, the layer is on {self.device}: copy it there first")
        if view.format.lstrip("@=<") not in FORMATS[spec.dtype] or view.itemsize != SIZES[spec.dtype]:
            raise TensorError(f"{spec.name} has format '{view.format}' of {view.itemsize} bytes, the plan reads {spec.dtype} "
                              f"({' or '.join(repr(f) for f in FORMATS[spec.dtype])} of {SIZES[spec.dtype]} bytes)")
        steps, shape = [s // view.itemsize for s in view.strides or ()], view.shape or ()  # type: List[int], Any
        if spec.stride or not view.c_contiguous:
            shape = placed(spec, shape, steps, "pass a contiguous copy of it")
        self.may_write(spec, view.readonly)
        self.keep.append(view)
        return aligned(buffer_address(view), spec.name), shape

    def refuse_tangents(self, block: str, tensors: Iterable[Any]) -> None:
        """Does nothing: only PyTorch's tensors have tangents."""

    @staticmethod
    def may_write(spec: TensorSpec, readonly: bool) -> None:
        if readonly and spec.kind in WRITTEN:
            raise TensorError(f"{spec.name} is read-only, and the layer writes it")

    def by_dlpack(self, spec: TensorSpec, value: Any) -> Tuple[int, Tuple[int, ...]]:
        kind, index = (*self.device.split(":"), "0")[:2]
        capsule, t, readonly = exported(value)
        if t.device_type not in DLPACK_DEVICES[kind] or (kind != "host" and t.device_index != int(index)):
            raise TensorError(f"{spec.name} is on DLPack's device ({t.device_type}, {t.device_index}), the layer on {self.device}")
        if (t.code, t.bits) != DLPACK_TYPES[spec.dtype] or t.lanes != 1:
            raise TensorError(f"{spec.name} has DLPack's type ({t.code}, {t.bits} bits), the plan reads {spec.dtype}")
        shape: Any = tuple(t.shape[:t.ndim])
        strides = t.strides[:t.ndim] if t.strides else None
        if strides or spec.stride:
            shape = placed(spec, shape, strides or dense_strides(shape), "pass a contiguous copy of it")
        self.may_write(spec, readonly)
        self.keep.append(capsule)
        return aligned((t.data or 0) + t.byte_offset, spec.name), shape

    def empty(self, spec: TensorSpec, shape: Tuple[int, ...]) -> memoryview:
        if self.device != "host" or spec.stride:
            raise TypeError(f"{spec.name}: pass it to layer.run(tensors, out=...); only outputs of PyTorch are allocated "
                            f"{'with a stride' if spec.stride else f'on {self.device}'}")
        size = SIZES[spec.dtype]
        for n in shape:
            size *= n
        return cut(size, 64).cast(FORMATS[spec.dtype][-1] if spec.dtype != "i32" else "i", shape)  # type: ignore[call-overload]

    def pointer(self, spec: TensorSpec, view: memoryview) -> int:
        return buffer_address(view)

    def workspace(self, size: int) -> Tuple[Any, int]:
        memory = cut(size, WORKSPACE_ALIGNMENT)
        return memory, buffer_address(memory)


def cut(size: int, alignment: int) -> memoryview:
    memory = memoryview(bytearray(size + alignment))
    first = -buffer_address(memory) % alignment
    return memory[first:first + size]


# ---- PyTorch's tensors

def watcher(torch: Any) -> Callable[[Iterable[Any]], bool]:
    """A function that returns True if nothing observes or transforms calls with these tensors: no dispatch or function mode, functorch,
    forward-mode gradients, tracer or compiler. Then an op's kernel can be called without the dispatcher, which saves a third of a call's
    time. It always returns False in a PyTorch without the private functions that it asks."""
    modes: Any = getattr(torch._C, "_len_torch_dispatch_stack", None)
    functions: Any = getattr(torch._C, "_len_torch_function_stack", None)
    functorch: Any = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
    tracing, forward_ad = torch._C._get_tracing_state, torch.autograd.forward_ad
    known = all((modes, functions, functorch, hasattr(forward_ad, "_current_level")))
    compiling, plain = torch.compiler.is_compiling, torch.Tensor

    def unobserved(tensors: Iterable[Any]) -> bool:
        if compiling() or not known:
            return False
        if modes() or functions() or functorch() is not None or tracing() is not None or forward_ad._current_level >= 0:
            return False
        for t in tensors:
            if type(t) is not plain:
                return False
        return True
    return unobserved


class Torch:
    """Tensors of PyTorch on one device, and PyTorch's current stream there."""

    returns_before_done = True

    def __init__(self, torch: Any, device: str) -> None:
        self.torch, self.host = torch, device == "host"
        kind, _, index = device.partition(":")
        self.device, self.index = torch.device("cpu" if self.host else f"cuda:{index}"), -1 if self.host else int(index)
        self.dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}
        self.tensor, self.strided, self.records_gradients = torch.Tensor, torch.strided, torch.is_grad_enabled
        self.empty_like, self.unobserved, self.forward_ad = torch.empty_like, watcher(torch), torch.autograd.forward_ad
        self.slack = 0
        if self.host:
            self.slack = WORKSPACE_ALIGNMENT  # PyTorch aligns memory of the host to 64 bytes, that of a GPU to 512
        # torch.cuda.current_stream() would make an object in each call.
        self.raw_stream = None if self.host else getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def __deepcopy__(self, memo: Any) -> "Torch":
        return self

    def refuse_tangents(self, block: str, tensors: Iterable[Any]) -> None:
        if self.forward_ad._current_level >= 0 and any(self.forward_ad.unpack_dual(t).tangent is not None for t in tensors):
            raise TensorError(f"{block}: a fused layer has no gradients, and a tensor has a tangent of forward-mode gradients")

    def stream(self) -> Optional[int]:
        if self.host:
            return None
        return self.raw_stream(self.index) if self.raw_stream else self.torch.cuda.current_stream(self.device).cuda_stream

    def gather(self, specs: Sequence[Tuple[int, TensorSpec]], tensors: Sequence[Any], addresses: Optional[List[Any]]) -> List[Any]:
        """As Plain.gather(), but with addresses None it stores no addresses, since the tensors may have no memory (fake tensors). It is
        one loop that calls no Python function, because this is most of the cost of a call."""
        shapes, tensor, dtypes, index, strided, host = [], self.tensor, self.dtypes, self.index, self.strided, self.host
        gradients = self.records_gradients()
        for (i, spec), t in zip(specs, tensors):
            if (not isinstance(t, tensor) or t.dtype is not dtypes[spec[2]] or t.is_cpu is not host or t.layout is not strided
                    or (spec[8] is None and not t.is_contiguous())
                    or t.is_neg() or not (host or t.get_device() == index) or (gradients and t.requires_grad)):
                raise self.refusal(spec, t)
            if addresses is not None:
                addresses[i] = address = t.data_ptr()
                if address % ALIGNMENT:
                    aligned(address, spec[0])
            shapes.append(t.shape if spec[8] is None else placed(spec, t.shape, t.stride(), f"{spec[0]}.contiguous()"))
        return shapes

    def at(self, spec: TensorSpec, t: Any) -> Tuple[int, Tuple[int, ...]]:
        found = [0]
        shape, = self.gather(((0, spec),), (t,), found)
        return found[0], shape

    def pointer(self, spec: TensorSpec, t: Any) -> int:
        return aligned(t.data_ptr(), spec.name)

    def refusal(self, spec: TensorSpec, t: Any) -> Exception:
        name, torch = spec.name, self.torch
        if not isinstance(t, torch.Tensor):
            return TypeError(f"{name}: a torch.Tensor should be given, not {type(t).__name__}")
        if t.device.type != self.device.type or t.get_device() != self.index:
            return TensorError(f"{name} is on {t.device}, the layer on {self.device}: {name}.to('{self.device}')")
        if t.layout is not torch.strided:
            return TensorError(f"{name} is {t.layout}, kernels read dense memory: {name}.to_dense()")
        if t.dtype is not self.dtypes[spec.dtype]:
            want = self.dtypes[spec.dtype]
            return TensorError(f"{name} is {t.dtype}, the plan reads {want}: {name}.to({want})")
        if t.requires_grad and torch.is_grad_enabled():
            return TensorError(f"{name} requires a gradient and this layer gives none: call it under torch.no_grad() or pass "
                               f"{name}.detach()")
        if t.is_neg():
            return TensorError(f"{name} is a lazily negated view: {name}.resolve_neg()")
        return strided(spec, f"{name}.contiguous()")

    def empty(self, spec: TensorSpec, shape: Tuple[int, ...]) -> Any:
        return self.rows_of(spec, self.storage(spec, shape))

    def storage(self, spec: TensorSpec, shape: Tuple[int, ...]) -> Any:
        """A new tensor that holds an output and the padding of its rows."""
        if spec.step:
            shape = (*shape[:-2], shape[-1])
        elif spec.stride:
            shape = (*shape[:-1], spec.stride)
        return self.torch.empty(shape, dtype=self.dtypes[spec.dtype], device=self.device)

    def rows_of(self, spec: TensorSpec, t: Any) -> Any:
        return t[..., :spec.shape[-1]] if spec.stride else t

    def workspace(self, size: int) -> Tuple[Any, Optional[int]]:
        if not size:
            return None, None
        memory = self.torch.empty(size + self.slack, dtype=self.torch.uint8, device=self.device)
        address = memory.data_ptr()
        return memory, address + -address % WORKSPACE_ALIGNMENT

    def models(self, specs: Sequence[TensorSpec], shapes: Sequence[Tuple[int, ...]], workspace: int) -> Tuple[List[Any], Any]:
        """Outputs and a workspace (None if it needs none) without memory, as models for empty_like(), which takes half as long as
        empty()."""
        made = [self.storage(spec, shape) for spec, shape in zip(specs, shapes)]
        room = self.workspace(workspace)[0]
        for t in [*made, room]:
            if t is not None:
                t.untyped_storage().resize_(0)
        return made, room

    def from_checkpoint(self, spec: TensorSpec, t: Any) -> Any:
        """The param's part of a checkpoint's tensor: transposed, and a slice of its rows, as the spec says."""
        t = t.t() if spec.transposed else t
        if spec.rows:
            first, end, group = spec.rows
            t = t.reshape(-1, group or t.shape[0], *t.shape[1:])[:, first:end].reshape(-1, *t.shape[1:])
        return t.contiguous()


_torch: Dict[str, Torch] = {}
