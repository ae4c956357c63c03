"""In: an HSA code object (ELF, or a clang offload bundle of one). Out: its image, relocations and kernels with descriptors and
metadata. Refuses other ELF machines, objects without AMDGPU metadata, and relocations beyond RELATIVE64 and ABS64."""
import struct

from .errors import EmulatorError


def unbundle(data):
    if not data.startswith(b"__CLANG_OFFLOAD_BUNDLE__"):
        return data
    count, = struct.unpack_from("<Q", data, 24)
    at = 32
    for _ in range(count):
        offset, size, name_size = struct.unpack_from("<3Q", data, at)
        name = data[at + 24:at + 24 + name_size]
        at += 24 + name_size
        if b"amdgcn" in name and size:
            return data[offset:offset + size]
    raise EmulatorError("no amdgcn entry in the offload bundle")


def processor_of(target):
    """gfx90a of amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-: features end in a sign, too."""
    return target.split(":")[0].split("-")[-1]


class Kernel:
    """A kernel's descriptor (llvm AMDGPUUsage: kernel_descriptor_t) beside its metadata."""

    def __init__(self, meta, address, descriptor):
        self.name, self.meta, self.arguments = meta[".name"], meta, meta.get(".args", [])
        self.lds, self.scratch, size = struct.unpack_from("<3I", descriptor, 0)
        self.kernarg_size = max(size, meta.get(".kernarg_segment_size", 0))
        self.entry = address + struct.unpack_from("<q", descriptor, 16)[0]
        self.rsrc3, self.rsrc1, self.rsrc2, self.properties, self.preload = struct.unpack_from("<3I2H", descriptor, 44)
        self.user_sgprs = (self.rsrc2 >> 1) & 31
        self.most_threads = meta.get(".max_flat_workgroup_size", 1024)
        self.flush_denormals = (self.rsrc1 >> 16) & 3 == 0

    def visible(self):
        return [a for a in self.arguments if not a[".value_kind"].startswith("hidden")]


class CodeObject:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = unbundle(f.read())
        self._read_elf()
        self._read_symbols()
        meta = self._read_metadata()
        self.gfx = processor_of(meta.get("amdhsa.target", ""))
        self.kernels = {}
        for k in meta["amdhsa.kernels"]:
            address = self.symbols[k[".symbol"]]
            self.kernels[k[".name"]] = Kernel(k, address, bytes(self.image[address:address + 64]))

    def _read_elf(self):
        d = self.data
        if d[:4] != b"\x7fELF" or struct.unpack_from("<H", d, 18)[0] != 224:
            raise EmulatorError("not an AMDGPU ELF")
        program, section, _ = struct.unpack_from("<QQI", d, 32)
        program_size, program_count, section_size, section_count = struct.unpack_from("<4H", d, 54)
        # type flags offset address physical file_size memory_size align
        self.program = [struct.unpack_from("<2I6Q", d, program + i * program_size) for i in range(program_count)]
        # name type flags address offset size link info align entry_size
        self.sections = [struct.unpack_from("<2I4Q2I2Q", d, section + i * section_size) for i in range(section_count)]
        loads = [p for p in self.program if p[0] == 1]
        self.image = bytearray(max(p[3] + p[6] for p in loads))
        for p in loads:
            self.image[p[3]:p[3] + p[5]] = d[p[2]:p[2] + p[5]]
        self.text = next((p[3], p[6]) for p in loads if p[1] & 1)

    def _read_symbols(self):
        self.symbols, self.symbol_list = {}, []
        for h in self.sections:
            if h[1] != 11:  # SHT_DYNSYM
                continue
            names = self.sections[h[6]][4]
            for i in range(h[5] // 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.data, h[4] + i * 24)
                text = self.data[names + name:self.data.index(b"\0", names + name)].decode()
                self.symbol_list.append(value)
                self.symbols[text] = value

    def _read_metadata(self):
        import msgpack

        for p in self.program:
            if p[0] != 4:  # PT_NOTE
                continue
            at, end = p[2], p[2] + p[5]
            while at + 12 <= end:
                name_size, size, kind = struct.unpack_from("<3I", self.data, at)
                name, body = at + 12, at + 12 + (name_size + 3 & ~3)
                if kind == 32 and self.data[name:name + name_size].rstrip(b"\0") == b"AMDGPU":
                    return msgpack.unpackb(self.data[body:body + size], raw=False, strict_map_key=False)
                at = body + (size + 3 & ~3)
        raise EmulatorError("no AMDGPU metadata note")

    def relocated(self, base):
        """The image as it lies at `base`."""
        image = bytearray(self.image)
        for h in self.sections:
            if h[1] != 4 or not h[2] & 2:  # allocated SHT_RELA
                continue
            for i in range(h[5] // 24):
                offset, info, addend = struct.unpack_from("<QQq", self.data, h[4] + i * 24)
                kind, symbol = info & 0xFFFFFFFF, info >> 32
                if kind == 13:
                    value = base + addend
                elif kind == 3:
                    value = base + self.symbol_list[symbol] + addend
                else:
                    raise EmulatorError(f"relocation type {kind}")
                struct.pack_into("<Q", image, offset, value & (2**64 - 1))
        return bytes(image)
