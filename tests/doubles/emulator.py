#!/usr/bin/python3
"""In: arenas of device memory as FILE:ADDRESS:BYTES arguments, then launches, a line each: code object, kernel, grid, block, dynamic LDS,
arguments in hex. Out: each kernel's effect on that memory, executed instruction by instruction from the real code object, and a line "ok"
or what went wrong. The memory is mapped where the double of the HIP runtime has it, so that pointers inside arguments hold. Refuses what
the emulator refuses. Needs TINYGRAD_DIR (tests/amd)."""
import ctypes
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "amd"))
from emulator import CodeObject, Machine  # noqa: E402

READ_WRITE, SHARED_FIXED_NORESERVE = 3, 0x1 | 0x100000 | 0x4000


def map_arena(text):
    file, address, size = map(int, text.split(":"))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    if libc.mmap(address, size, READ_WRITE, SHARED_FIXED_NORESERVE, file, 0) != address:
        raise MemoryError(f"device memory cannot be mapped at {address:#x}: errno {ctypes.get_errno()}")


def read_code(path):
    code = CodeObject(path)
    code.gfx = re.search(rb"amdgcn-amd-amdhsa-[a-z]*-(gfx[0-9a-f]+)", code.data)[1].decode()  # without features: gfx90a:sramecc+:xnack-
    return code


def launch(machine, line):
    path, kernel, grid, block, dynamic, arguments = line.split()
    result = machine.run(read_code(path), kernel, int(grid), int(block), bytes.fromhex(arguments), dynamic_lds=int(dynamic))
    print(f"{kernel} on {result.gfx}: {result.instructions} wave instructions, {grid} workgroups, {result.seconds:.2f} s", file=sys.stderr)


def main():
    for arena in sys.argv[1:]:
        map_arena(arena)
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing else may be read as an answer
    machine = Machine()
    for line in sys.stdin:
        try:
            launch(machine, line)
            print("ok", file=answers, flush=True)
        except Exception as e:  # a fault of the kernel is an answer
            print(f"{type(e).__name__}: {' '.join(str(e).split())[:400]}", file=answers, flush=True)


if __name__ == "__main__":
    main()
