"""What python/tfgen uses of PyTorch's tensors, on the CPU, over ctypes: so that its checks are tested where PyTorch is not installed.

Memory of empty() begins at a multiple of 64 bytes and never of 256, as PyTorch's may. Nothing is computed; views only change shape and
strides."""
import contextlib
import ctypes


class dtype:
    def __init__(self, name, size, code):
        self.name, self.itemsize, self.code = name, size, code

    def __repr__(self):
        return "torch." + self.name


float32, float64, int32 = dtype("float32", 4, ctypes.c_float), dtype("float64", 8, ctypes.c_double), dtype("int32", 4, ctypes.c_int32)
float16, bfloat16, uint8 = dtype("float16", 2, ctypes.c_uint16), dtype("bfloat16", 2, ctypes.c_uint16), dtype("uint8", 1, ctypes.c_uint8)
strided, sparse_coo = "torch.strided", "torch.sparse_coo"


class device:
    def __init__(self, name):
        self.type, _, index = name.partition(":")
        self.index = int(index) if index else None

    def __repr__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"


class version:
    hip = None


class cuda:
    """No GPU and no memory of one: a tensor's device may still be called cuda."""

    current = 0

    @staticmethod
    def current_device():
        return cuda.current


class _C:
    @staticmethod
    def _cuda_getCurrentRawStream(index):
        return 1000 + index

    @staticmethod
    def _len_torch_dispatch_stack():
        return 0

    _len_torch_function_stack = _len_torch_dispatch_stack

    @staticmethod
    def _get_tracing_state():
        return None

    class _functorch:
        @staticmethod
        def peek_interpreter_stack():
            return None


class autograd:
    class forward_ad:
        _current_level = -1


class compiler:
    @staticmethod
    def is_compiling():
        return False


_grad = True


def is_grad_enabled():
    return _grad


@contextlib.contextmanager
def no_grad():
    global _grad
    before, _grad = _grad, False
    yield
    _grad = before


def _count(shape):
    n = 1
    for s in shape:
        n *= s
    return n


class Tensor:
    layout, requires_grad = strided, False

    def __init__(self, shape, type, where=None, memory=None, offset=0, strides=None):
        self.shape, self.dtype, self.device = tuple(shape), type, where or device("cpu")
        self.memory = memory if memory is not None else ctypes.create_string_buffer(_count(shape) * type.itemsize + 512)
        base = ctypes.addressof(self.memory)
        self.address = base + -base % 256 + 64 + offset
        dense, step = [], 1
        for s in reversed(self.shape):
            dense.insert(0, step)
            step *= s
        self.dense = tuple(dense)
        self.strides = strides or self.dense
        self.negative = False

    @property
    def is_cpu(self):
        return self.device.type == "cpu"

    def get_device(self):
        return -1 if self.device.type == "cpu" else self.device.index or 0

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return self.strides == self.dense

    def untyped_storage(self):
        return self

    def resize_(self, size):
        """Resizes the storage to nothing: such a tensor only gives its shape to empty_like()."""
        self.memory = self.address = None

    def is_neg(self):
        return self.negative

    def numbers(self):
        return (self.dtype.code * _count(self.shape)).from_address(self.address)

    def fill(self, values):
        self.numbers()[:] = list(values)
        return self


def empty(shape, dtype=float32, device=None):
    return Tensor((shape,) if isinstance(shape, int) else shape, dtype, device)


def empty_like(t):
    return Tensor(t.shape, t.dtype, t.device)
