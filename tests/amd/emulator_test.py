#!/usr/bin/python3
"""In: clang (CLANG, default clang-22), TINYGRAD_DIR. Out: whether the emulator takes code objects of targets with features, as
`gfx90a:sramecc+:xnack-`, for the processor that they are for, and runs them, functions that are called among them. Refuses (exit 1) another
processor or a wrong result."""
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

from emulator import CodeObject, Machine
from targets import TARGETS

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
"""
CASES = {**{t: t for t in TARGETS}, "gfx90a:sramecc+:xnack-": "gfx90a", "gfx942:sramecc+:xnack+": "gfx942", "gfx950:xnack-": "gfx950"}


def code_of(folder, target):
    path = f"{folder}/{target.replace(':', '-')}"
    with open(f"{path}.hip", "w") as f:
        f.write(SOURCE)
    subprocess.check_call([os.environ.get("CLANG", "clang-22"), "-x", "hip", f"--offload-arch={target}", "--offload-device-only",
                           "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O2", "-o", f"{path}.hsaco", f"{path}.hip"])
    return CodeObject(f"{path}.hsaco")


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for target, processor in CASES.items():
            code, machine = code_of(folder, target), Machine(seed=1)
            numbers = np.arange(64, dtype=np.uint32)
            x = machine.memory.upload(numbers.tobytes(), "x")
            machine.run(code, "twice", 1, 64, struct.pack("<Q", x))
            machine.run(code, "calls", 1, 64, struct.pack("<Q", x))
            got = np.frombuffer(machine.memory.download(x, 256), np.uint32)
            machine.close()
            numbers = 2 * numbers
            good = code.gfx == processor and np.array_equal(got, ((numbers * 3 + 1) ^ numbers) * 3 + 1)
            wrong += not good
            print(f"{'ok   ' if good else 'WRONG'} {target}: {code.gfx}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
