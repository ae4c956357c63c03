"""The C interface by ctypes: the structs and functions of tfgen.h, which describes them. Everything else in this package goes through here.

The tests compare the fields of each struct, their order and their sizes with the header."""
import ctypes as c
import functools
import glob
import importlib.util
import operator
import os
import threading
from typing import Any, Dict, List, Mapping, Optional, Tuple

INPUT, PARAM, STATE, OUTPUT = range(4)
FUSIONS = ("none", "ops", "tile", "block", "auto")


class Error(RuntimeError):
    """What libtfgen refused or could not do; str() is its message, which begins with a place in the spec if there is one."""


class UsageError(Error, ValueError):
    """An argument is wrong, such as an unknown preset, dim or target."""


class SpecError(Error, ValueError):
    """The spec is wrong; the message begins with FILE:LINE:COLUMN."""


class UnsupportedError(Error):
    """Valid, but not for this target, size or machine: no compiler for it here, for example."""


class CompileError(Error):
    """The compiler refused a kernel, crashed or took too long."""


class DeviceError(Error):
    """A call of the driver failed, or there is no memory."""


STATUS = {2: UsageError, 3: SpecError, 4: UnsupportedError, 5: CompileError, 6: DeviceError, 7: Error}


class Text(c.Structure):  # tfgen_error
    _fields_ = [("text", c.c_char * 1024)]


class Sized(c.Structure):
    """A struct that begins with its own size, so that later libraries may append fields."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=c.sizeof(type(self)), **fields)


class Dim(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class DimList(c.Structure):
    _fields_ = [("dims", c.POINTER(Dim)), ("count", c.c_size_t)]


class PlanOptions(Sized):
    _fields_ = [("size", c.c_size_t), ("target", c.c_char_p), ("preset", c.c_char_p), ("dtype", c.c_char_p), ("dims", c.POINTER(Dim)),
                ("dim_count", c.c_size_t), ("fusion", c.c_int), ("no_fuse", c.POINTER(c.c_char_p)), ("no_fuse_count", c.c_size_t),
                ("device_model", c.c_char_p), ("tiles", c.POINTER(c.c_char_p)), ("tile_count", c.c_size_t), ("wisdom", c.c_char_p),
                ("stack", c.c_int), ("followed", c.c_int), ("kinds", c.POINTER(c.c_char_p)), ("kind_count", c.c_size_t)]


class Tensor(Sized):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("kind", c.c_int), ("dtype", c.c_char_p), ("rank", c.c_int),
                ("shape", c.c_int64 * 8), ("bytes", c.c_int64), ("from", c.c_char_p), ("from_transposed", c.c_int),
                ("from_row_first", c.c_int64), ("from_row_end", c.c_int64), ("from_row_group", c.c_int64), ("row_stride", c.c_int64),
                ("row_stride_dim", c.c_char_p)]


class DeviceInfo(Sized):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char * 16), ("label", c.c_char * 96), ("arch", c.c_char * 64),
                ("target", c.c_char * 16), ("multiprocessors", c.c_int), ("memory_bytes", c.c_int64)]


class ModuleOptions(Sized):
    _fields_ = [("size", c.c_size_t), ("jobs", c.c_int), ("compile_seconds", c.c_double), ("cache_dir", c.c_char_p),
                ("progress", c.c_void_p), ("context", c.c_void_p), ("bundle", c.c_void_p), ("bundle_size", c.c_size_t),
                ("bundle_only", c.c_int), ("variants", c.POINTER(DimList)), ("variant_count", c.c_size_t),
                ("log", c.c_void_p)]


class Args(Sized):
    _fields_ = [("size", c.c_size_t), ("tensors", c.c_void_p), ("dims", c.POINTER(Dim)), ("dim_count", c.c_size_t),
                ("workspace_bytes", c.c_size_t), ("next", c.c_void_p), ("next_weights", c.c_void_p), ("next_bytes", c.c_size_t)]


_handle, _out, _dims, _pointers = c.c_void_p, c.POINTER(c.c_void_p), c.POINTER(Dim), c.POINTER(c.c_void_p)
# Functions that return a status and take a tfgen_error last.
CALLS: Dict[str, List[Any]] = {
    "plan_create": [c.c_char_p, c.c_size_t, c.c_char_p, c.POINTER(PlanOptions), _out],
    "device_open": [c.c_char_p, _out],
    "device_alloc": [_handle, c.c_size_t, _out],
    "device_synchronize": [_handle, c.c_void_p],
    "module_create": [_handle, _handle, c.POINTER(ModuleOptions), _out],
    "module_prepare": [_handle, _dims, c.c_size_t, c.POINTER(ModuleOptions)],
    "weights_create": [_handle, _pointers, c.c_void_p, _out],
    "weights_add": [_handle, _handle, _pointers, c.c_void_p],
    "execute": [_handle, _handle, c.POINTER(Args), c.c_void_p, c.c_void_p],
}
# The others: what they return, what they take.
OTHERS: Dict[str, Tuple[Any, List[Any]]] = {
    "version": (c.c_char_p, []),
    "plan_free": (None, [_handle]),
    "plan_kernel_count": (c.c_size_t, [_handle]),
    "plan_kernel_name": (c.c_char_p, [_handle, c.c_size_t]),
    "plan_kernel_source": (c.c_char_p, [_handle, c.c_size_t]),
    "plan_text": (c.c_char_p, [_handle]),
    "plan_manifest": (c.c_char_p, [_handle]),
    "plan_warning_count": (c.c_size_t, [_handle]),
    "plan_warning": (c.c_char_p, [_handle, c.c_size_t]),
    "plan_tensor_count": (c.c_size_t, [_handle]),
    "plan_tensor": (c.c_int, [_handle, c.c_size_t, c.POINTER(Tensor)]),
    "device_list": (c.c_size_t, [c.POINTER(DeviceInfo), c.c_size_t]),
    "device_close": (None, [_handle]),
    "device_query": (c.c_int, [_handle, c.POINTER(DeviceInfo)]),
    "device_free": (None, [_handle, c.c_void_p]),
    "module_workspace_bytes": (c.c_int64, [_handle, _dims, c.c_size_t]),
    "module_free": (None, [_handle]),
    "weights_bytes": (c.c_int64, [_handle]),
    "weights_free": (None, [_handle]),
}


class Library:
    """A loaded libtfgen. call() raises what the library refuses."""

    def __init__(self, path: str) -> None:
        self.path, self.c, self.local = path, c.CDLL(path), threading.local()
        for name, taken in CALLS.items():
            f = getattr(self.c, "tfgen_" + name)
            f.restype, f.argtypes = c.c_int, [*taken, c.POINTER(Text)]
        for name, (returned, taken) in OTHERS.items():
            f = getattr(self.c, "tfgen_" + name)
            f.restype, f.argtypes = returned, taken
        # tfgen_execute with addresses as numbers, which ctypes passes in half the time
        self.execute = self.c["tfgen_execute"]
        self.execute.restype, self.execute.argtypes = c.c_int, [c.c_void_p] * 6

    def error(self) -> Text:
        try:
            return self.local.error
        except AttributeError:
            self.local.error = Text()
            return self.local.error

    def call(self, name: str, *args: Any) -> None:
        error = self.error()
        status = getattr(self.c, "tfgen_" + name)(*args, error)
        if status:
            self.fail(status, error)

    def fail(self, status: int, error: Text) -> None:
        raise STATUS.get(status, Error)(error.text.decode(errors="replace"))

    def made(self, name: str, *args: Any) -> int:
        """Calls a function whose last argument before the error is `out`, and returns the object that it makes."""
        out = c.c_void_p()
        self.call(name, *args, c.byref(out))
        return out.value or 0


class Handle:
    """An object of the library, freed when nothing refers to it any more, but after the objects that need it: the garbage collector may
    finalise the objects of a cycle in any order. A forked process does not free objects of its parent: it has neither the threads of these
    objects nor a working GPU driver."""

    lock = threading.RLock()

    def __init__(self, library: Library, address: int, free: Any, *needs: "Handle") -> None:
        self.library, self.address, self.needs, self.users, self.unused = library, address, needs, 0, False
        self.free = getattr(library.c, "tfgen_" + free) if isinstance(free, str) else free
        self.process = os.getpid()
        with Handle.lock:
            for n in needs:
                n.users += 1

    def __del__(self) -> None:
        with Handle.lock:
            self.unused = True
            self._free_if_unused()

    def _free_if_unused(self) -> None:
        if self.unused and not self.users and self.free:
            free, self.free = self.free, None
            if self.process == os.getpid():
                free(self.address)
            for n in self.needs:
                n.users -= 1
                n._free_if_unused()

    @property
    def _as_parameter_(self) -> int:
        return self.address


HERE = os.path.dirname(os.path.abspath(__file__))


def bundled(name: str) -> Optional[str]:
    """A file of the wheel; None when the package runs from the source tree."""
    path = os.path.join(HERE, "lib", name)
    return path if os.path.exists(path) else None


def find_nvrtc() -> None:
    """PyTorch's wheels bring NVRTC in the package `nvidia`: libtfgen looks there last."""
    package = importlib.util.find_spec("nvidia")
    folders = [f for place in (package.submodule_search_locations if package else None) or ()
               for f in sorted(glob.glob(os.path.join(place, "*", "lib"))) if glob.glob(os.path.join(f, "libnvrtc.so.1[23]"))]
    if folders:
        os.environ.setdefault("TFGEN_LIBRARY_PATH", ":".join(reversed(folders)))


@functools.lru_cache(maxsize=None)
def opened(path: str) -> Library:
    find_nvrtc()
    try:
        return Library(path)
    except OSError as e:
        raise Error(f"{e}; the wheel has libtfgen.so, elsewhere $TFGEN_LIBRARY names it") from None


def library() -> Library:
    """$TFGEN_LIBRARY, else the wheel's, else libtfgen.so.0 where the dynamic linker looks. Looked up at each compilation, so that one
    process may compare two builds."""
    return opened(os.environ.get("TFGEN_LIBRARY") or bundled("libtfgen.so") or "libtfgen.so.0")


def dims_of(values: Mapping[str, int]) -> Any:
    """An array of tfgen_dim, or None."""
    if not isinstance(values, Mapping):
        raise TypeError(f"dims are a mapping from names to integers, not {values!r}")
    for name, value in values.items():
        try:
            fits = -2 ** 63 <= operator.index(value) < 2 ** 63  # ctypes would cut off the rest
        except TypeError:
            raise TypeError(f"{name} is {value!r}; a dim is an integer") from None
        if not fits:
            raise UsageError(f"{name}={value}: a dim is from 1 to 2147483647")
    return (Dim * len(values))(*[Dim(name.encode(), operator.index(value)) for name, value in values.items()]) if values else None


def string_of(name: str, value: Any) -> Optional[bytes]:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    raise TypeError(f"{name} is {value!r}; a string should be given")


def strings_of(name: str, texts: Any) -> Any:
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{name} is {texts!r}; a list of strings should be given")
    return (c.c_char_p * len(texts))(*[t.encode() for t in texts]) if texts else None
