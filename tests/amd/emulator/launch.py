"""In: a code object, a kernel, a grid, and the bytes of its arguments, with buffers that a Machine holds. Out: the buffers as the kernel
left them and counts of executed instructions. Refuses grids and blocks beyond the kernel's limits; faults name the wave and place.

Workgroups are resident until they end, so waiting on one another works; a workgroup runs until each of its waves ended, sleeps or stands
at a barrier. With a seed, waves take turns in random order and slices, which shows missing barriers."""
import collections
import ctypes
import random
import re
import struct
import time

from .errors import EmulatorError, GpuFault
from .instructions import (BAD_PC, BARRIER, DONE, FAULT, FLAG_BARRIER, FLAG_SIGNAL, FLAG_WAIT, FLAG_YIELD, MFMA, NEED, QUANTUM, SIGNAL,
                           TYPES, WAIT, WMMA, YIELD, Slot, Wave, address_of, compiler, disassemble, family_of, mnemonics, native,
                           replacement)
from .memory import CANARY, Memory

SHARED_APERTURE, PRIVATE_APERTURE = 1 << 48, 2 << 48  # generic addresses of LDS and scratch
FLOAT_CONSTANTS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0, 248: 0.15915494309189535}
MOST_LDS = {"gfx950": 163840}

Result = collections.namedtuple("Result", "kernel gfx instructions seconds histogram resident")
Group = collections.namedtuple("Group", "index waves states lds")  # states: RUNNING, AT_BARRIER, ENDED for each wave
RUNNING, AT_BARRIER, ENDED = range(3)


class Machine:
    """Buffers that live from launch to launch."""

    def __init__(self, seed=None, most_instructions=2_000_000_000):
        self.memory, self.seed, self.most_instructions = Memory(), seed, most_instructions

    def run(self, code, kernel, grid, block, arguments, dynamic_lds=0, resident=None, groups=None, trace=None):
        """`arguments`: bytes of the kernel's single struct, or one bytes object for each of its arguments. `groups`: run only these
        workgroups of the grid. `trace`: called as trace(group, wave, offset in the code object's text, Wave) before each instruction."""
        launch = _Launch(self, code, kernel, grid, block, arguments, dynamic_lds, resident)
        launch.trace = trace
        try:
            return launch.run(range(grid) if groups is None else groups)
        finally:
            launch.memory.free()

    def close(self):
        self.memory.free()


class _Launch:
    def __init__(self, machine, code, kernel, grid, block, arguments, dynamic_lds, resident):
        self.machine, self.gfx, self.family = machine, code.gfx, family_of(code.gfx)
        if kernel not in code.kernels:
            raise EmulatorError(f"no kernel {kernel}; there are {list(code.kernels)}")
        self.kernel, self.grid, self.threads = code.kernels[kernel], grid, block
        self.wave_size = 64 if self.family == "cdna" else 32
        if self.kernel.meta.get(".wavefront_size", self.wave_size) != self.wave_size:
            raise EmulatorError(f"waves of {self.kernel.meta['.wavefront_size']} are not emulated on {self.gfx}")
        if block > self.kernel.most_threads:
            raise EmulatorError(f"a block of {block} threads exceeds the kernel's {self.kernel.most_threads}")
        self.dynamic_lds, self.lds = dynamic_lds, self.kernel.lds + dynamic_lds
        if self.lds > MOST_LDS.get(self.gfx, 65536):
            raise EmulatorError(f"{self.lds} bytes of LDS exceed {MOST_LDS.get(self.gfx, 65536)}")
        self.scratch = (self.kernel.scratch + 15) & ~15
        self.resident = resident or 1 << 30
        self.random = random.Random(machine.seed) if machine.seed is not None else None
        self.memory, self.free_waves, self.names = Memory(), [], {}
        self._load_code(code)
        self._write_kernarg(arguments)

    def _load_code(self, code):
        self.base = self.memory.allocate(len(code.image) + 64, "code object", 0, 4096)
        ctypes.memmove(self.base, code.relocated(self.base), len(code.image))
        start, size = code.text
        self.text, self.slot_count = self.base + start, size // 4
        self.table = (Slot * self.slot_count)()

    def _hidden(self, kind):
        found = re.match(r"hidden_(block_count|group_size|remainder)_([xyz])", kind)
        if found:
            first = {"block_count": self.grid, "group_size": self.threads, "remainder": 0}[found[1]]
            return first if found[2] == "x" else int(found[1] != "remainder")
        return {"hidden_grid_dims": 1, "hidden_dynamic_lds_size": self.dynamic_lds, "hidden_shared_base": SHARED_APERTURE >> 32,
                "hidden_private_base": PRIVATE_APERTURE >> 32}.get(kind)

    def _write_kernarg(self, arguments):
        k = self.kernel
        arguments = [arguments] if isinstance(arguments, bytes) else arguments
        data = bytearray(k.kernarg_size + 64)
        if len(k.visible()) != len(arguments):
            raise EmulatorError(f"{k.name} takes {len(k.visible())} arguments, {len(arguments)} were given")
        for m, given in zip(k.visible(), arguments):
            if m[".size"] != len(given):
                raise EmulatorError(f"{k.name}: an argument of {m['.size']} bytes was given {len(given)}")
            data[m[".offset"]:m[".offset"] + m[".size"]] = given
        for m in k.arguments:
            value = self._hidden(m[".value_kind"])
            if value is not None:
                data[m[".offset"]:m[".offset"] + m[".size"]] = value.to_bytes(m[".size"], "little")
        self.kernarg, self.kernarg_bytes = self.memory.upload(bytes(data), "kernarg segment"), bytes(data)
        packet = struct.pack("<HHHHHHIIIIIQQQQ", 2, 3, self.threads, 1, 1, 0, self.grid * self.threads, 1, 1, self.scratch, self.lds, 0,
                             self.kernarg, 0, 0)
        self.dispatch = self.memory.upload(packet[:64], "dispatch packet")

    # ---- waves

    def _wave_memory(self):
        if self.free_waves:
            return self.free_waves.pop()
        n = 256 * self.wave_size * 4
        scalars = self.memory.allocate(4096 + n * 2, "registers", None, 4096, 0x10000)
        vectors = scalars + 4096
        accumulators = vectors + n if self.wave_size == 64 else vectors
        scratch = self.memory.allocate(self.scratch * self.wave_size, "scratch", None, 256, 1 << 30) if self.scratch else 0
        return scalars, vectors, accumulators, scratch

    def _user_sgprs(self, scratch):
        def quad(v):
            return [v & 0xFFFFFFFF, v >> 32]

        k, user = self.kernel, []
        if k.properties & 1:  # private segment buffer: swizzled, thread id added, index stride 64, elements of 4 bytes
            user += [scratch & 0xFFFFFFFF, (scratch >> 32) | (1 << 31), (self.scratch * self.wave_size) & 0xFFFFFFFF, 0x00E80000 | 0x27000]
        for bit, value in ((2, quad(self.dispatch)), (4, [0, 0]), (8, quad(self.kernarg)), (16, [0, 0]), (32, quad(scratch)),
                           (64, [self.scratch])):
            if k.properties & bit:
                user += value
        entry, length, offset = self.base + k.entry, k.preload & 127, k.preload >> 7
        if length:
            user += list(struct.unpack_from(f"<{length}I", self.kernarg_bytes, offset * 4))
            entry += 256
        return (user + [0] * k.user_sgprs)[:k.user_sgprs], entry

    def _start_wave(self, group, index, lds):
        """Registers as the hardware initialises them; all others hold garbage."""
        k, size = self.kernel, self.wave_size
        memory = scalars, vectors, accumulators, scratch = self._wave_memory()
        for p, n in ((vectors, 256 * size * 4), (accumulators, 256 * size * 4), (scratch, self.scratch * size)):
            if p:
                ctypes.memset(p, CANARY, n)
        s = (ctypes.c_uint32 * 260).from_address(scalars)
        ctypes.memset(scalars, CANARY, 128 * 4)
        ctypes.memset(scalars + 512, 0, 132 * 4)
        for i in range(65):
            s[128 + i] = i
        for i in range(16):
            s[193 + i] = -(i + 1) & 0xFFFFFFFF
        for i, f in FLOAT_CONSTANTS.items():
            s[i] = struct.unpack("<I", struct.pack("<f", f))[0]
        if size == 32:
            s[124] = 0  # the null register
        lanes = min(size, self.threads - index * size)
        mask = (1 << lanes) - 1
        s[126], s[127] = mask & 0xFFFFFFFF, mask >> 32
        user, entry = self._user_sgprs(scratch)
        for i, value in enumerate(user):
            s[i] = value
        if self.family == "rdna4":
            s[108 + 9], s[108 + 7] = group, 0  # ttmp9, ttmp7
        else:
            self._place_group_id(s, group)
        s[256], s[257], s[259] = entry & 0xFFFFFFFF, entry >> 32, self.scratch
        v = (ctypes.c_uint32 * size).from_address(vectors)
        for lane in range(lanes):
            v[lane] = index * size + lane
        w = Wave()
        w.buf[:] = (scalars, vectors, 0, lds, scratch, accumulators)
        w.memory = memory
        return w

    def _place_group_id(self, s, group):
        i = self.kernel.user_sgprs
        for bit, value in ((7, group), (8, 0), (9, 0), (10, 0)):  # group ids x, y, z, group info
            if self.kernel.rsrc2 >> bit & 1:
                s[i] = value
                i += 1
        if self.kernel.rsrc2 & 1 and self.gfx in ("gfx908", "gfx90a"):
            s[i] = 0  # scratch wave offset

    # ---- instructions

    def _where(self, pc):
        return f"{self.kernel.name}+{pc - self.base - self.kernel.entry:#x}: {disassemble(self.gfx, ctypes.string_at(pc, 20))}"

    def _compile(self, pc):
        raw = ctypes.string_at(pc, 20)
        w0, w1 = struct.unpack_from("<2I", raw)
        slot = self.table[(pc - self.text) // 4]
        try:
            ours = replacement(self.gfx, w0, w1)
            if ours:
                slot.f, slot.size, self.names[pc] = address_of(ours[0]), ours[1], ours[0]
                slot.ix[:] = range(6)
                return
            address, buffers, decoded = compiler().get(raw, self.family)
        except Exception as e:
            raise EmulatorError(f"{self.gfx} cannot emulate {self._where(pc)}: {type(e).__name__} {e}") from e
        slot.f, slot.size = address, decoded.size()
        slot.ix[:len(buffers)] = buffers
        name = self.names[pc] = getattr(getattr(decoded, "op", None), "name", type(decoded).__name__)
        dpp = "DPP" in type(decoded).__name__ and decoded.size() == 8
        in_place = dpp and not w0 >> 31 and w0 >> 25 != 0x3E and (w0 >> 17) & 0xFF == w1 & 0xFF
        if in_place:
            if "_CO_" in name:
                raise EmulatorError(f"in-place DPP with carry: {name}")
            native().emu_wrap(pc, ctypes.byref(slot))
            slot.f = address_of("op_dpp_inplace")
            slot.ix[:] = range(6)
        slot.flags = (FLAG_BARRIER if name == "S_BARRIER" else FLAG_WAIT if name == "S_BARRIER_WAIT" else
                      FLAG_SIGNAL if name.startswith("S_BARRIER_SIGNAL") else FLAG_YIELD if name == "S_SLEEP" else 0)

    def _configure(self):
        n = native()
        n.emu_config(int(self.gfx[3:], 16), self.wave_size, self.lds, SHARED_APERTURE, PRIVATE_APERTURE)
        for op, (rows, k, blocks, kind, elements) in MFMA.get(self.gfx, {}).items():
            n.emu_define_mfma(op, rows, k, blocks, TYPES[kind], elements)
        for op, kind in WMMA.get(self.family, {}).items():
            n.emu_define_wmma(op, TYPES[kind])
        n.emu_forget_wrapped()
        self.mxcsr = 0x1F80 | (0x8040 if self.kernel.flush_denormals else 0)

    # ---- scheduling

    def _start_group(self, index, free_lds):
        lds = 0
        if self.lds:
            lds = free_lds.pop() if free_lds else self.memory.allocate(self.lds, "LDS", None, 16, 1 << 33)
            ctypes.memset(lds, CANARY, self.lds)
        count = (self.threads + self.wave_size - 1) // self.wave_size
        return Group(index, [self._start_wave(index, i, lds) for i in range(count)], [RUNNING] * count, lds)

    def _run_wave(self, group, i):
        """Runs one wave until it stops; true when it only used its share or slept."""
        w = group.waves[i]
        if self.trace:
            return self._step_wave(group, i)
        while True:
            share = self.random.choice((1, 7, 50, 400)) if self.random else 20000
            before = w.executed
            stop = native().emu_run(w, self.table, self.text, self.slot_count, share, self.mxcsr)
            self.total += w.executed - before
            if stop != NEED:
                break
            self._compile(w.fault_pc)
        return self._stopped(group, i, stop)

    def _step_wave(self, group, i):
        w, stop = group.waves[i], QUANTUM
        pc = (ctypes.c_uint64 * 1).from_address(w.buf[0] + 4 * 256)
        while stop == QUANTUM:
            at = (pc[0] - self.text) // 4
            if pc[0] != 0xFFFFFFFFFFFFFFFF and 0 <= at < self.slot_count:
                if not self.table[at].f:
                    self._compile(pc[0])
                self.trace(group.index, i, at * 4, w)
            before = w.executed
            stop = native().emu_run(w, self.table, self.text, self.slot_count, 1, self.mxcsr)
            self.total += w.executed - before
        return self._stopped(group, i, stop)

    def _stopped(self, group, i, stop):
        """What a wave that stopped waits for; true when it only used its share or slept."""
        w = group.waves[i]
        if stop == FAULT:
            raise GpuFault(f"memory fault at {w.fault_addr:#x}: {self._describe(w.fault_addr)}; workgroup {group.index} wave {i}, "
                           f"{self._where(w.fault_pc)}")
        if stop == BAD_PC:
            raise GpuFault(f"jump to {w.fault_pc:#x}, workgroup {group.index} wave {i}")
        if stop == DONE:
            group.states[i] = ENDED
        elif stop in (BARRIER, WAIT):
            group.states[i] = AT_BARRIER
        assert stop in (DONE, BARRIER, WAIT, SIGNAL, YIELD, QUANTUM)
        return stop in (YIELD, QUANTUM)

    def _describe(self, address):
        here = self.memory.describe(address)
        there = self.machine.memory.describe(address)
        return there if here.startswith("far") else here

    def _run_group(self, group):
        order = list(range(len(group.waves)))
        if self.random:
            self.random.shuffle(order)
        spun = False
        for i in order:
            if group.states[i] == RUNNING:
                spun |= self._run_wave(group, i)
        if RUNNING not in group.states and AT_BARRIER in group.states:
            group.states[:] = [RUNNING if s == AT_BARRIER else s for s in group.states]
        return spun

    def run(self, groups):
        self._configure()
        pending, active, free_lds = collections.deque(groups), collections.deque(), []
        if self.random:
            shuffled = list(pending)
            self.random.shuffle(shuffled)
            pending = collections.deque(shuffled)
        self.total, resident, spun, start = 0, 0, False, time.time()
        try:
            while pending or active:
                if not active or (spun and pending and len(active) < self.resident):
                    active.appendleft(self._start_group(pending.popleft(), free_lds))
                    resident, spun = max(resident, len(active)), False
                group = active[0]
                if self._run_group(group):
                    spun = True
                    active.rotate(-1)
                if all(s == ENDED for s in group.states):
                    self.free_waves += [w.memory for w in group.waves]
                    free_lds.append(group.lds)
                    active.remove(group)
                    spun = False
                if self.total > self.machine.most_instructions:
                    raise EmulatorError(f"{self.total} instructions and no end: {len(active)} workgroups resident, "
                                        f"{len(pending)} not started")
        finally:
            compiler().save()
        self._check_canaries()
        return Result(self.kernel.name, self.gfx, self.total, time.time() - start, self._histogram(), resident)

    def _histogram(self):
        ours = [pc for pc, name in self.names.items() if name.startswith("op_")]  # a C function serves many instructions
        raws = [ctypes.string_at(pc, self.table[(pc - self.text) // 4].size) for pc in ours]
        names = {**self.names, **dict(zip(ours, mnemonics(self.gfx, raws)))}
        histogram = collections.Counter()
        for pc, name in names.items():
            histogram[name] += self.table[(pc - self.text) // 4].count
        return histogram

    def _check_canaries(self):
        bad = sorted(set(self.machine.memory.overrun()))
        if bad:
            raise GpuFault(f"{self.kernel.name} wrote just outside {', '.join(bad)}")
