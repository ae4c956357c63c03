#!/usr/bin/python3
"""In: clang (CLANG, default clang-22), TINYGRAD_DIR. Out: whether the emulator recognises the processor of code objects with target
features, such as `gfx90a:sramecc+:xnack-`, and runs them, including calls of functions. Refuses (exit 1) another processor or a wrong
result."""
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

from emulator import CodeObject, Machine
from targets import TARGETS, wave_of

SOURCE = """extern "C" __attribute__((global)) void twice(unsigned *x)
{
    x[__builtin_amdgcn_workitem_id_x()] *= 2;
}

static __attribute__((device, noinline)) unsigned next(unsigned x) { return x * 3 + 1; }

extern "C" __attribute__((global)) void calls(unsigned *x)
{
    unsigned &mine = x[__builtin_amdgcn_workitem_id_x()];
    mine = next(next(mine) ^ mine);
}

extern "C" __attribute__((global)) void exchanges(unsigned *x)
{
    unsigned &mine = x[__builtin_amdgcn_workitem_id_x()];
#if defined(__GFX11__) || defined(__GFX12__)
    const unsigned at = __builtin_amdgcn_workitem_id_x();
    mine = __builtin_amdgcn_permlanex16(mine, mine, 0x67452301, 0xefcdab89, false, false);
    if (at % 2) mine = __builtin_amdgcn_permlanex16(mine, mine, 0x76543210, 0xfedcba98, false, false); // lanes that are off keep
    if (at % 4 < 2) mine = __builtin_amdgcn_permlanex16(7, mine, 0x2, 0, false, true); // of a lane that is off: zero
#endif
}
"""
CASES = {**{t: t for t in TARGETS}, "gfx90a:sramecc+:xnack-": "gfx90a", "gfx942:sramecc+:xnack+": "gfx942", "gfx950:xnack-": "gfx950"}


def code_of(folder, target):
    path = f"{folder}/{target.replace(':', '-')}"
    with open(f"{path}.hip", "w") as f:
        f.write(SOURCE)
    subprocess.check_call([os.environ.get("CLANG", "clang-22"), "-x", "hip", f"--offload-arch={target}", "--offload-device-only",
                           "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O2", "-o", f"{path}.hsaco", f"{path}.hip"])
    return CodeObject(f"{path}.hsaco")


def exchanged(x, processor):
    """What the kernel `exchanges` makes of x, 64 of which are two waves."""
    if wave_of(processor) == 64:
        return x
    at = np.arange(64)
    x = x[at ^ 17]
    x = np.where(at % 2 == 1, x[at ^ 16], x)
    source = (at & ~15 ^ 16) + np.where(at % 16 == 0, 2, 0)  # lanes that take lane 2 find it off
    return np.where(at % 4 < 2, np.where(source % 4 < 2, x[source], 0), x).astype(np.uint32)


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for target, processor in CASES.items():
            code, machine = code_of(folder, target), Machine(seed=1)
            numbers = np.arange(64, dtype=np.uint32)
            x = machine.memory.upload(numbers.tobytes(), "x")
            machine.run(code, "twice", 1, 64, struct.pack("<Q", x))
            machine.run(code, "calls", 1, 64, struct.pack("<Q", x))
            machine.run(code, "exchanges", 1, 64, struct.pack("<Q", x))
            got = np.frombuffer(machine.memory.download(x, 256), np.uint32)
            machine.close()
            numbers = 2 * numbers
            good = code.gfx == processor and np.array_equal(got, exchanged(((numbers * 3 + 1) ^ numbers) * 3 + 1, processor))
            wrong += not good
            print(f"{'ok   ' if good else 'WRONG'} {target}: {code.gfx}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
