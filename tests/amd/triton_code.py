#!/usr/bin/python3
"""Compares the code of tfgen's bf16 product of 4096x14336x4096 with that of Triton's AMD backend: a row of code.py's report for tfgen and
one for each of several tiles of the tutorial's kernel (groups of eight rows of tiles, rows and columns masked, B as rows of K). Nothing is
measured, and no result fails. In: TRITON, a folder with Triton's wheel (pip install --no-deps --target TRITON triton); TINYGRAD_DIR, as for
tests/doubles/emulator.py; targets as arguments (default gfx942)."""
import collections
import os
import re
import struct
import sys
import tempfile

import code
from emulator import CodeObject, Machine

M, N, K = 4096, 14336, 4096
TILES = [(256, 256, 64, 8), (256, 256, 32, 8), (256, 128, 64, 8), (128, 256, 64, 8), (128, 128, 64, 4), (256, 256, 64, 4)]  # and waves
KERNEL = '''
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, a_stride, b_stride, c_stride, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP: tl.constexpr):
    index, rows, columns = tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN)
    group, inside = index // (GROUP * columns), index % (GROUP * columns)
    height = min(rows - group * GROUP, GROUP)
    m = (group * GROUP + inside % height) * TM + tl.arange(0, TM)
    n = inside // height * TN + tl.arange(0, TN)
    k = tl.arange(0, TK)
    x, y = a + (m % M)[:, None] * a_stride + k[None, :], b + (n % N)[None, :] * b_stride + k[:, None]
    sums = tl.zeros((TM, TN), tl.float32)
    for i in range(0, tl.cdiv(K, TK)):
        sums = tl.dot(tl.load(x, mask=k[None, :] < K - i * TK, other=0.0), tl.load(y, mask=k[:, None] < K - i * TK, other=0.0), sums)
        x += TK
        y += TK
    tl.store(c + m[:, None] * c_stride + n[None, :], sums.to(tl.bfloat16), mask=(m[:, None] < M) & (n[None, :] < N))
'''


def compiled(folder, target, tile):
    """(path of the code object, bytes of LDS)"""
    import triton
    from triton.backends.compiler import GPUTarget

    from kernel_of_triton import product
    constants = dict(zip(("TM", "TN", "TK", "GROUP"), (*tile[:3], 8)))
    types = {"a": "*bf16", "b": "*bf16", "c": "*bf16", **dict.fromkeys(("M", "N", "K", "a_stride", "b_stride", "c_stride"), "i32"),
             **dict.fromkeys(constants, "constexpr")}
    source = triton.compiler.ASTSource(fn=product, signature=types, constexprs=constants,
                                       attrs={(i,): [["tt.divisibility", 16]] for i in range(9)})
    made = triton.compile(source, target=GPUTarget("hip", target, 64),
                          options={"num_warps": tile[3], "num_stages": 2, "matrix_instr_nonkdim": 16})
    path = f"{folder}/{target}-{'-'.join(map(str, tile))}.hsaco"
    with open(path, "wb") as f:
        f.write(made.asm["hsaco"])
    return path, made.metadata.shared


def examined(target, path, lds, tile):
    code_object, lines, machine = CodeObject(path), code.disassembled(path), Machine(seed=None)
    kernel, trace = code_object.kernels["product"], code.Trace(target, code_object, lines)
    buffers = [machine.memory.allocate(rows * columns * 2, name) for name, rows, columns in (("a", M, K), ("b", N, K), ("c", M, N))]
    arguments = [struct.pack("<Q", x) for x in buffers] + [struct.pack("<i", x) for x in (M, N, K, K, K, N)]
    arguments += [bytes(x[".size"]) for x in kernel.visible()[9:]]  # scratch of Triton's own, which this kernel does not use
    grid = M // tile[0] * (N // tile[1])
    machine.run(code_object, "product", grid, 64 * tile[3], arguments, groups=[grid // 2], trace=trace, dynamic_lds=lds)
    machine.close()
    share, with_port, turn = code.share_of(target, trace, lines)
    names = collections.Counter(x.name for x in turn)
    return {"waves": tile[3], "registers": kernel.meta[".vgpr_count"], "scratch": kernel.scratch, "lds": lds, "instructions": len(turn),
            "matrix": sum(c for n, c in names.items() if code.MATRIX.match(n)),
            "reads": sum(c for n, c in names.items() if re.match(r"ds_(read|load)", n)), "conflicts": sum(trace.conflicts.values()),
            "share": share, "with_port": with_port}


def shown(name, f):
    print(f"| {name} | {f['waves']} | {f['registers']} | {f['scratch']} | {f['lds']} "
          f"| {f['matrix']}, {f['reads']}, {f['instructions']} | {f['conflicts']} "
          f"| {f['share']:.3f} | {f['with_port']:.3f} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TRITON_CACHE_DIR", f"{folder}/cache")
        with open(f"{folder}/kernel_of_triton.py", "w") as f:
            f.write(KERNEL)
        sys.path[:0] = [folder, os.environ["TRITON"]]
        import triton
        print("| target, product | waves | vector registers | scratch | LDS | matrix, LDS reads, all instructions of a turn "
              "| LDS conflicts "
              "| predicted matrix share | and with the LDS port's time |\n" + "|---" * 9 + "|")
        for target in sys.argv[1:] or ["gfx942"]:
            shown(f"{target}, tfgen 256x256x64", code.planned(target, f"{folder}/own-{target}", "bf16"))
            for tile in TILES:
                name = f"{target}, Triton {triton.__version__} {'x'.join(map(str, tile[:3]))}"
                shown(name, examined(target, *compiled(folder, target, tile), tile))


if __name__ == "__main__":
    sys.exit(main())
