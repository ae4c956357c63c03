"""In: sizes and names. Out: memory at real addresses that ends at an unmapped page with a wide unmapped gap after it, so that a stray
access of a kernel traps; slack before the end is filled with a canary. Refuses nothing but what mmap refuses."""
import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

CANARY = 0xCB
_PRIVATE_ANONYMOUS, _FIXED_NOREPLACE, _EEXIST = 0x22, 0x100000, 17


def _round_up(n, to):
    return (n + to - 1) // to * to


class Memory:
    def __init__(self):
        self.next, self.blocks = 0x100000000000, []  # blocks: (mapping, bytes mapped, address, size, name)

    def allocate(self, size, name, fill=None, align=256, gap=1 << 34):
        body = _round_up(max(size, 1), align)
        total = _round_up(body, 4096)
        while True:
            p = _libc.mmap(self.next, total, 3, _PRIVATE_ANONYMOUS | _FIXED_NOREPLACE, -1, 0)
            if p == self.next:
                break
            if ctypes.get_errno() != _EEXIST:
                raise MemoryError(f"mmap of {total} bytes for {name}: errno {ctypes.get_errno()}")
            self.next += 1 << 36  # another Memory lives here
        self.next += _round_up(total, 0x10000) + gap
        address = p + total - body
        self.blocks.append((p, total, address, size, name))
        if fill is not None:
            ctypes.memset(p, fill, total)
        for low, high in ((p, address), (address + size, p + total)):
            ctypes.memset(low, CANARY, high - low)
        return address

    def upload(self, data, name):
        """`data`: bytes. The address of a copy with canaries round it."""
        address = self.allocate(len(data), name, CANARY)
        ctypes.memmove(address, data, len(data))
        return address

    def download(self, address, size):
        return ctypes.string_at(address, size)

    def describe(self, address):
        for _, _, start, size, name in sorted(self.blocks, key=lambda b: min(abs(address - b[2]), abs(address - b[2] - b[3]))):
            if abs(address - start) < 1 << 33:
                return f"{address - start:+d} bytes from the start of {name} ({size} bytes)"
            break
        return "far from any buffer"

    def overrun(self):
        """Names of blocks whose canaries were written to."""
        for p, total, address, size, name in self.blocks:
            for low, high in ((p, address), (address + size, p + total)):
                if ctypes.string_at(low, high - low).strip(bytes([CANARY])):
                    yield name

    def free(self):
        for p, total, *_ in self.blocks:
            _libc.munmap(p, total)
        self.blocks.clear()
