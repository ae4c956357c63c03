"""In: raw instruction words of a target. Out: a native function for each: one of the C files here where they replace tinygrad's
emulator, else tinygrad's, compiled once and kept in a cache on disk. Refuses instructions that neither knows."""
import ctypes
import glob
import hashlib
import os
import pickle
import subprocess
import sys

from .errors import EmulatorError

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("AMDEMU_CACHE", os.path.expanduser("~/.cache/tfgen-amdemu"))


def family_of(gfx):
    for prefix, family in (("gfx9", "cdna"), ("gfx11", "rdna3"), ("gfx12", "rdna4")):
        if gfx.startswith(prefix):
            return family
    raise EmulatorError(f"no decoder for {gfx}")


# ---- the native part

class Slot(ctypes.Structure):  # machine.h: slot
    _fields_ = [("f", ctypes.c_uint64), ("ix", ctypes.c_uint8 * 6), ("flags", ctypes.c_uint8), ("size", ctypes.c_uint8),
                ("count", ctypes.c_uint64)]


class Wave(ctypes.Structure):  # machine.h: wave
    _fields_ = [("buf", ctypes.c_uint64 * 6), ("executed", ctypes.c_uint64), ("fault_addr", ctypes.c_uint64), ("fault_pc", ctypes.c_uint64)]


DONE, BARRIER, YIELD, NEED, QUANTUM, FAULT, SIGNAL, WAIT, BAD_PC = range(9)
FLAG_BARRIER, FLAG_YIELD, FLAG_SIGNAL, FLAG_WAIT = 1, 2, 4, 8
_native = None


def _processor():
    with open("/proc/cpuinfo") as f:
        return next((line for line in f if line.startswith("flags")), "")


def _digest(files, *more):
    h = hashlib.sha1(_processor().encode())
    for name in files:
        with open(name, "rb") as f:
            h.update(f.read())
    for text in more:
        h.update(text.encode())
    return h.hexdigest()[:16]


def native():
    global _native
    if _native is None:
        sources = sorted(glob.glob(os.path.join(HERE, "*.c")))
        os.makedirs(CACHE, exist_ok=True)
        library = os.path.join(CACHE, f"native-{_digest(sources + [os.path.join(HERE, 'machine.h')])}.so")
        if not os.path.exists(library):
            temporary = f"{library}.{os.getpid()}"
            subprocess.check_call([os.environ.get("AMDEMU_CC", "clang-22"), "-O2", "-march=native", "-ffp-contract=off", "-shared",
                                   "-fPIC", "-o", temporary, *sources, "-lm"])
            os.rename(temporary, library)
        _native = ctypes.CDLL(library)
        _native.emu_run.argtypes = [ctypes.POINTER(Wave), ctypes.POINTER(Slot), ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64,
                                    ctypes.c_uint32]
        _native.emu_config.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64]
        _native.emu_wrap.argtypes = [ctypes.c_uint64, ctypes.POINTER(Slot)]
    return _native


def address_of(name):
    return ctypes.cast(getattr(native(), name), ctypes.c_void_p).value


# ---- matrix instructions: opcode -> (rows, k, blocks, type, elements a lane)

TYPES = dict(f32=0, f16=1, bf16=2, i8=3, f64=4, f8f8=5, f8b8=6, b8f8=7, b8b8=8, xf32=9)
_COMMON = {
    0x40: (32, 1, 2, "f32", 1), 0x41: (16, 1, 4, "f32", 1), 0x42: (4, 1, 16, "f32", 1), 0x44: (32, 2, 1, "f32", 1),
    0x45: (16, 4, 1, "f32", 1), 0x48: (32, 4, 2, "f16", 4), 0x49: (16, 4, 4, "f16", 4), 0x4a: (4, 4, 16, "f16", 4),
    0x4c: (32, 8, 1, "f16", 4), 0x4d: (16, 16, 1, "f16", 4), 0x50: (32, 4, 2, "i8", 4), 0x51: (16, 4, 4, "i8", 4),
    0x52: (4, 4, 16, "i8", 4), 0x6e: (16, 4, 1, "f64", 1), 0x6f: (4, 4, 4, "f64", 1)}
_GFX90A = {
    0x54: (32, 8, 1, "i8", 4), 0x55: (16, 16, 1, "i8", 4), 0x63: (32, 4, 2, "bf16", 4), 0x64: (16, 4, 4, "bf16", 4),
    0x65: (4, 4, 16, "bf16", 4), 0x66: (32, 8, 1, "bf16", 4), 0x67: (16, 16, 1, "bf16", 4), 0x68: (32, 2, 2, "bf16", 2),
    0x69: (16, 2, 4, "bf16", 2), 0x6b: (4, 2, 16, "bf16", 2), 0x6c: (32, 4, 1, "bf16", 2), 0x6d: (16, 8, 1, "bf16", 2)}
_FP8 = ("b8b8", "b8f8", "f8b8", "f8f8")
_GFX94 = {
    **_COMMON, 0x5d: (32, 4, 2, "bf16", 4), 0x5e: (16, 4, 4, "bf16", 4), 0x5f: (4, 4, 16, "bf16", 4), 0x60: (32, 8, 1, "bf16", 4),
    0x61: (16, 16, 1, "bf16", 4), 0x56: (32, 16, 1, "i8", 8), 0x57: (16, 32, 1, "i8", 8),
    **{0x70 + i: (16, 32, 1, t, 8) for i, t in enumerate(_FP8)}, **{0x74 + i: (32, 16, 1, t, 8) for i, t in enumerate(_FP8)}}
_F64 = (0x6e, 0x6f)
MFMA = {
    "gfx908": {op: form for op, form in {**_COMMON, **_GFX90A}.items() if op not in _F64 and not 0x63 <= op <= 0x67},
    "gfx90a": {**_COMMON, **_GFX90A},
    "gfx942": {**_GFX94, 0x3e: (16, 8, 1, "xf32", 2), 0x3f: (32, 4, 1, "xf32", 2)},
    "gfx950": {**_GFX94, 0x54: (16, 32, 1, "f16", 8), 0x55: (32, 16, 1, "f16", 8), 0x35: (16, 32, 1, "bf16", 8),
               0x37: (32, 16, 1, "bf16", 8), 0x36: (16, 64, 1, "i8", 16), 0x38: (32, 32, 1, "i8", 16)}}
WMMA = {"rdna3": {0x40: "f16", 0x41: "bf16"},
        "rdna4": {0x40: "f16", 0x41: "bf16", 0x46: "f8f8", 0x47: "f8b8", 0x48: "b8f8", 0x49: "b8b8"}}


# ---- which instructions the C files take over, by encoding

_WITH_MAD = ("gfx908", "gfx90a")  # unfused multiply-add, and scratch by a wave's offset

def _replaced_cdna(gfx, w0):
    top, has = w0 >> 26, native()
    if w0 >> 23 == 0x1A7 and (w0 >> 16) & 0x7F in MFMA.get(gfx, {}):
        return "op_mfma", 8
    if top == 0x30 and (w0 >> 18) & 0xFF == 0x25:
        return "op_memrealtime", 8
    if top == 0x38 and has.emu_has_memory_op(0x900, (w0 >> 18) & 0x7F):
        return "op_mubuf9", 8
    if top == 0x37:
        segment, op = (w0 >> 14) & 3, (w0 >> 18) & 0x7F
        if segment == 2 and op in (0x26, 0x27, 0x28, 0x29, 0x2A, 0x7D, 0x7E):
            return "op_global_lds", 8
        if has.emu_has_memory_op(0x900, op) and (segment != 1 or gfx not in _WITH_MAD):
            return "op_mem9", 8
    if top == 0x36 and has.emu_has_lds_op(int(gfx[3:], 16), (w0 >> 17) & 0xFF):
        return "op_ds9", 8
    if gfx in _WITH_MAD:
        if not w0 >> 31 and w0 >> 25 in (0x16, 0x17, 0x18) and w0 & 0x1FF not in (0xF9, 0xFA):
            return "op_mad_vop2", 8 if w0 >> 25 != 0x16 or w0 & 0x1FF == 255 else 4
        if top == 0x34 and (w0 >> 16) & 0x3FF in (0x1C1, 0x116):
            return "op_mad_vop3", 8
    if gfx == "gfx950" and w0 >> 25 == 0x3F and (w0 >> 9) & 0xFF in (0x59, 0x5A):
        return "op_swap", 4
    return {0x171: ("op_getreg", 4), 0x172: ("op_nop4", 4), 0x174: ("op_nop8", 8)}.get(w0 >> 23)


def _replaced_rdna(gfx, w0, w1):
    top, has, family = w0 >> 26, native(), family_of(gfx)
    if top in (0x33, 0x35) and w1 & 0x1FF in (0xE9, 0xEA, 0xFA) or not w0 >> 31 and w0 & 0x1FF in (0xE9, 0xEA):
        raise EmulatorError("VOP3-DPP and DPP8 are not emulated")
    if top == 0x33 and (w0 >> 16) & 0x7F in WMMA[family]:
        return "op_wmma", 8
    if top == 0x35 and (w0 >> 16) & 0x3FF == 0x25C:
        return "op_permlanex16", 12 if 255 in (w1 >> 9 & 0x1FF, w1 >> 18 & 0x1FF) else 8
    if top == 0x36 and has.emu_has_lds_op(0x1100, (w0 >> 18) & 0xFF):
        return "op_ds11", 8
    if family == "rdna3":
        if top == 0x38 and has.emu_has_memory_op(0x1100, (w0 >> 18) & 0xFF):
            return "op_mubuf11", 8
        if top == 0x37 and has.emu_has_memory_op(0x1100, (w0 >> 18) & 0x7F):
            return "op_mem11", 8
        return {0x171: ("op_getreg", 4), 0x172: ("op_nop4", 4), 0x173: ("op_nop8", 8)}.get(w0 >> 23)
    if top == 0x31 and has.emu_has_memory_op(0x1200, (w0 >> 14) & 0xFF):
        return "op_vbuffer12", 12
    if top == 0x3B:
        op = (w0 >> 14) & 0x7F
        if op in (0x2B, 0x2C, 0x4F):  # global_inv, global_wb, global_wbinv
            return "op_nop12", 12
        if has.emu_has_memory_op(0x1200, op):
            return "op_mem12", 12
    return None


def replacement(gfx, w0, w1):
    """(function, size in bytes) of an instruction that the C files take over, or None."""
    if w0 >> 23 == 0x17D and (w0 >> 8) & 0xFF == 1 and 235 <= (w0 & 0xFF) <= 238:
        return "op_mov_aperture", 4
    if w0 >> 23 == 0x17D:
        if family_of(gfx) != "cdna" and w0 & 0xFFFF == 0x4D83:
            return "op_realtime_message", 4
        jump = ((w0 >> 8) & 0xFF) - (0x1C if family_of(gfx) == "cdna" else 0x47)
        if 0 <= jump < 3:
            return ("op_getpc", "op_setpc", "op_swappc")[jump], 4
    return _replaced_cdna(gfx, w0) if family_of(gfx) == "cdna" else _replaced_rdna(gfx, w0, w1)


# ---- tinygrad's emulator, one function an instruction, kept on disk

class Compiler:
    def __init__(self):
        root = os.environ.get("TINYGRAD_DIR", "")
        if not os.path.isdir(os.path.join(root, "tinygrad")):
            raise EmulatorError(f"TINYGRAD_DIR={root} is not a tinygrad checkout")
        if root not in sys.path:
            sys.path.insert(0, root)
        os.environ["CC"] = os.environ.get("AMDEMU_CC", "clang-22")  # tinygrad runs it as one program; make's CC may be several words
        from tinygrad.renderer.amd import decode_inst

        files = [os.path.join(root, f) for f in ("test/mockgpu/amd/emu.py", "test/mockgpu/amd/pcode.py", "tinygrad/renderer/amd/dsl.py",
                                                 "tinygrad/renderer/cstyle.py")]
        self.path = os.path.join(CACHE, f"instructions-{_digest(files + [os.path.join(HERE, 'corrections.py')])}.pkl")
        self.decode, self.emulator, self.programs, self.alive, self.changed = decode_inst, None, {}, [], False
        os.makedirs(CACHE, exist_ok=True)
        try:
            with open(self.path, "rb") as f:
                self.store = pickle.load(f)  # our own file; (family, form, size) -> [(base, mask, ELF, buffers)]
        except (OSError, EOFError, pickle.UnpicklingError):
            self.store = {}

    def save(self):
        if not self.changed:
            return
        try:  # keep what others wrote meanwhile
            with open(self.path, "rb") as f:
                for key, theirs in pickle.load(f).items():
                    mine = self.store.setdefault(key, [])
                    mine += [x for x in theirs if x[:2] not in {y[:2] for y in mine}]
        except (OSError, EOFError, pickle.UnpicklingError):
            pass
        temporary = f"{self.path}.{os.getpid()}"
        with open(temporary, "wb") as f:
            pickle.dump(self.store, f)
        os.rename(temporary, self.path)
        self.changed = False

    def _load(self, key, library, buffers):
        if key not in self.programs:
            from tinygrad.device import Device, TinyELF
            from tinygrad.runtime.ops_cpu import CPUProgram

            device = Device["CPU"]
            program = CPUProgram(device, TinyELF(library, "inst", device.renderer.target, ()))
            self.alive.append(program)
            self.programs[key] = (program.addr, buffers)
        return self.programs[key]

    def get(self, raw, family):
        """(address, buffer indices, decoded instruction) of the instruction that `raw` begins with."""
        decoded = self.decode(raw, family)
        size = decoded.size()
        key, value = (family, type(decoded).__name__, size), int.from_bytes(raw[:size], "little")
        for base, mask, library, buffers in self.store.get(key, ()):
            if value & mask == base:
                return *self._load((key, base, mask), library, buffers), decoded
        if self.emulator is None:
            from test.mockgpu.amd import emu
            from . import corrections

            corrections.apply(emu)
            self.emulator = emu
        program, runtime = self.emulator._get_runner(raw[:size + 4], family)
        base, mask = next((b, m) for (form, b, m, s, _) in self.emulator._canonical_runner_cache
                          if form is type(decoded) and s == size and value & m == b)
        buffers = tuple(program.arg.globals)
        self.store.setdefault(key, []).append((base, mask, program.to_elf().lib, buffers))
        self.changed = True
        self.alive.append(runtime)
        self.programs[(key, base, mask)] = (runtime.addr, buffers)
        return runtime.addr, buffers, decoded


_compiler = None


def compiler():
    global _compiler
    if _compiler is None:
        _compiler = Compiler()
    return _compiler


_mnemonics = {}  # (target, bytes) -> name


def mnemonics(gfx, raws):
    """The instructions' names, in capitals as the emulator's own are; one run of the disassembler for those that are new."""
    new = list(dict.fromkeys(raw for raw in raws if (gfx, raw) not in _mnemonics))
    if new:
        text = "\n".join(" ".join(f"0x{b:02x}" for b in raw) for raw in new)
        done = subprocess.run(["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-disassemble"], text=True, capture_output=True,
                              input=text)
        lines = [x.split()[0].upper() for x in done.stdout.splitlines() if x.strip() and not x.strip().startswith(".")]
        if len(lines) != len(new):
            raise EmulatorError(f"{gfx}: the disassembler knows {len(lines)} of {len(new)} instructions: {done.stderr.strip()[:300]}")
        _mnemonics.update({(gfx, raw): name for raw, name in zip(new, lines)})
    return [_mnemonics[gfx, raw] for raw in raws]


def disassemble(gfx, raw):
    for tool in ("llvm-mc-22", "llvm-mc"):
        try:
            done = subprocess.run([tool, "-triple=amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-disassemble"], text=True, capture_output=True,
                                  input=" ".join(f"0x{b:02x}" for b in raw[:12]))
        except FileNotFoundError:
            continue
        lines = [x.strip() for x in done.stdout.splitlines() if x.strip() and not x.strip().startswith(".")]
        return lines[0] if lines else "?"
    return "?"
