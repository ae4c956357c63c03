#!/usr/bin/python3
"""In: clang (CLANG, default clang-22), TINYGRAD_DIR, targets as arguments. Out: a line for each case that was run: for every AMD
target, the product of tests/probes/product_mfma.hip at odd sizes, in the emulator with random scheduling, compared with float64. Targets
that copy from memory to LDS directly do so. Some cases are two products as phases of one launch; targets with waves of 32 run neither these
nor f32. Fails (exit 1) for a wrong element, scratch, more than 256 vector registers, or a kernel without a matrix instruction."""
import collections
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

from emulator import CodeObject, Machine
from targets import AMD, TARGETS, defines, wave_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAIN, PAIR, RESIDUAL, TWO = range(4)
GRANULE = 16
Tile = collections.namedtuple("Tile", "rows columns threads")
T256, T128, T64 = (Tile(rows, 256, 512) for rows in (256, 128, 64))
SQUARE, SMALL, FLAT = Tile(128, 128, 256), Tile(64, 64, 256), Tile(32, 128, 256)


class Number:
    """A type: how numpy stores it, and its unit roundoff."""

    def __init__(self, name, storage, unit):
        self.name, self.storage, self.unit = name, storage, unit

        self.size = np.dtype(storage).itemsize

    def store(self, x):
        if self.name != "bf16":
            return np.ascontiguousarray(x, self.storage)
        u = np.ascontiguousarray(x, np.float32).view(np.uint32)
        return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)

    def value(self, h):
        return ((h.astype(np.uint32) << 16).view(np.float32) if self.name == "bf16" else h).astype(np.float64)


TYPES = {t.name: t for t in (Number("bf16", np.uint16, 2**-8), Number("f16", np.float16, 2**-11), Number("float", np.float32, 2**-24))}


def round_up(n, to):
    return (n + to - 1) // to * to


def slots_of(target, number, tile, kind, k, middle):
    aligned = k % (16 // number.size) == 0 and (kind != TWO or middle % (16 // number.size) == 0)
    return 2 if "copies_to_lds" in AMD[target] and tile.threads == 512 and tile.rows >= 128 and aligned else 1


def build(folder, target, number, tile, kind, n, k, middle):
    path = f"{folder}/{target}-{number.name}-{'-'.join(map(str, tile))}-{kind}-{n}-{k}-{middle}.hsaco"
    subprocess.check_call([os.environ.get("CLANG", "clang-22"), "-x", "hip", f"--offload-arch={target}", "--offload-device-only",
                           "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3", "-std=c++17", "-Wall", "-Werror", f"-I{ROOT}",
                           *defines(target), f"-DPROBE_KIND={kind}", f"-DPROBE_N={n}", f"-DPROBE_K={k}", f"-DPROBE_F={middle or 8}",
                           f"-DPROBE_M={tile.rows}", f"-DPROBE_COLUMNS={tile.columns}", f"-DPROBE_THREADS={tile.threads}",
                           f"-DPROBE_SLOTS={slots_of(target, number, tile, kind, k, middle)}", f"-DPROBE_TYPE={number.name}", "-o", path,
                           f"{ROOT}/tests/probes/product_mfma.hip"])
    code = CodeObject(path)
    meta = code.kernels["probe"].meta
    assert meta[".private_segment_fixed_size"] == 0 and meta[".vgpr_count"] <= 256, meta
    return code, meta[".vgpr_count"]


class Trial:
    """Buffers of one launch; arguments are packed in the order of product_spec.h."""

    def __init__(self, number, seed):
        self.number, self.machine, self.random = number, Machine(seed=seed), np.random.default_rng(seed)

    def normal(self, rows, columns, scale=1.0):
        return self.number.store(self.random.standard_normal((rows, columns)) * scale)

    def put(self, array, name):
        return self.machine.memory.upload(array.tobytes(), name)

    def weight(self, w, name):
        """Packs a weight in pieces of 16 columns x 64 bytes (docs/packing.md): 2 groups of 8 columns x 4 chunks of 16 bytes x 8 columns."""
        chunk = 16 // w.itemsize
        padded = np.zeros((round_up(w.shape[0], 2 * GRANULE), round_up(w.shape[1], 4 * chunk)), w.dtype)
        padded[:w.shape[0], :w.shape[1]] = w
        split = padded.reshape(padded.shape[0] // 16, 2, 8, padded.shape[1] // (4 * chunk), 4, chunk)
        return self.put(split.transpose(0, 3, 1, 4, 2, 5), name)

    def poisoned(self, rows, columns, name):
        return self.machine.memory.upload(b"\xff" * (rows * columns * np.dtype(self.number.storage).itemsize), name)

    def get(self, address, rows, columns, dtype):
        return np.frombuffer(self.machine.memory.download(address, rows * columns * np.dtype(dtype).itemsize), dtype).reshape(rows, columns)


def judge(number, got, want, size, k):
    """Largest error over its bound: rounding of the result, and accumulation in float."""
    return float(np.max(np.abs(got - want) / (np.abs(want) * number.unit * 1.004 + 2 * k**0.5 * 2**-24 * size + 1e-30)))


def arguments(x, w, y, residual, scale, sums, m):
    return struct.pack("<6Qi4x", x, w, y, residual, scale, sums, m)


def run_one(code, number, tile, kind, m, n, k, seed, grid):
    t, value = Trial(number, seed), number.value
    x, w = t.normal(m, k), t.normal(n, k, k**-0.5)
    tiles = -(-n // tile.columns)
    up, weight = None, w
    if kind == PAIR:
        up, weight = t.normal(n, k, k**-0.5), np.zeros((2 * round_up(n, GRANULE), k), w.dtype)
        for j in range(n):
            weight[j // GRANULE * 2 * GRANULE + j % GRANULE], weight[j // GRANULE * 2 * GRANULE + GRANULE + j % GRANULE] = w[j], up[j]
        tiles = -(-len(weight) // tile.columns)
    residual, scale = t.normal(m, n), (0.5 + t.random.random(m)).astype(np.float32)
    y, sums = t.poisoned(m, n, "y"), t.put(np.full((m, tiles), np.nan, np.float32), "sums")
    args = arguments(t.put(x, "x"), t.weight(weight, "w"), y, t.put(residual, "residual"), t.put(scale, "scale"), sums, m)
    result = t.machine.run(code, "probe", grid or -(-m // tile.rows) * tiles, tile.threads, args)
    got = value(t.get(y, m, n, number.storage))
    X, W = value(x), value(w)
    want, size = X @ W.T, np.abs(X) @ np.abs(W).T
    if kind == PAIR:
        U = value(up)
        gate, up_value = want / (1 + np.exp(-want)), X @ U.T
        size = 1.1 * size * np.abs(up_value) + np.abs(gate) * (np.abs(X) @ np.abs(U).T) + 16 * np.abs(gate * up_value)
        want = gate * up_value
    if kind == RESIDUAL:
        R = value(residual)
        want, size = want * scale[:, None].astype(np.float64) + R, size * scale[:, None] + np.abs(R)
        parts = t.get(sums, m, tiles, np.float32)
        for i in range(tiles):
            exact = (got[:, i * tile.columns:(i + 1) * tile.columns]**2).sum(1)
            assert np.all(np.abs(parts[:, i] - exact) <= exact / 100), "row sums"
    t.machine.close()
    return judge(number, got, want, size, k), result


def run_two(code, number, tile, m, n, k, middle, seed, grid):
    t, value = Trial(number, seed), number.value
    x, w0, w1 = t.normal(m, k), t.normal(middle, k, k**-0.5), t.normal(n, middle, middle**-0.5)
    h, y, words = t.poisoned(m, middle, "h"), t.poisoned(m, n, "y"), t.put(np.zeros(16, np.uint32), "words")
    args = (arguments(t.put(x, "x"), t.weight(w0, "w0"), h, 0, 0, 0, m) + arguments(h, t.weight(w1, "w1"), y, 0, 0, 0, m) +
            struct.pack("<Q", words))
    tiles = -(-m // tile.rows) * (-(-middle // tile.columns) + -(-n // tile.columns))
    for _ in range(2):  # the second launch finds the counters as the first left them
        result = t.machine.run(code, "probe", grid or tiles, tile.threads, args)
        assert not t.get(words, 1, 16, np.uint32).any(), "counters or the hang word are not zero"
    H, Y = value(t.get(h, m, middle, number.storage)), value(t.get(y, m, n, number.storage))
    X, W0, W1 = value(x), value(w0), value(w1)
    t.machine.close()
    return max(judge(number, H, X @ W0.T, np.abs(X) @ np.abs(W0).T, k),
               judge(number, Y, H @ W1.T, np.abs(H) @ np.abs(W1).T, middle)), result


CASES = [  # type, tile, kind, m, n, k, middle, grid (0: one workgroup a tile)
    ("bf16", T256, PLAIN, 1, 1, 8, 0, 0), ("bf16", T256, PLAIN, 257, 261, 136, 0, 0), ("bf16", T256, PLAIN, 300, 500, 200, 0, 3),
    ("bf16", T256, PLAIN, 257, 37, 133, 0, 0), ("bf16", T128, PLAIN, 131, 263, 136, 0, 2), ("bf16", T64, PLAIN, 65, 261, 71, 0, 0),
    ("f16", T256, PLAIN, 37, 261, 136, 0, 0), ("float", T256, PLAIN, 257, 37, 68, 0, 0), ("float", T64, PLAIN, 3, 7, 5, 0, 0),
    ("bf16", T256, PAIR, 37, 101, 72, 0, 0), ("bf16", T256, RESIDUAL, 259, 263, 128, 0, 2), ("bf16", T128, RESIDUAL, 131, 259, 67, 0, 0),
    ("bf16", SQUARE, PLAIN, 130, 261, 136, 0, 2), ("f16", SQUARE, RESIDUAL, 259, 131, 67, 0, 0), ("bf16", SMALL, PLAIN, 67, 131, 133, 0, 0),
    ("bf16", SMALL, RESIDUAL, 65, 67, 72, 0, 0), ("f16", FLAT, PAIR, 37, 101, 72, 0, 0), ("bf16", FLAT, RESIDUAL, 33, 131, 200, 0, 2),
    ("float", SQUARE, RESIDUAL, 131, 133, 37, 0, 0),
    ("bf16", T256, TWO, 257, 261, 136, 264, 0), ("bf16", T256, TWO, 257, 261, 136, 264, 3), ("bf16", T256, TWO, 600, 37, 64, 520, 2),
    ("bf16", T128, TWO, 257, 37, 133, 131, 2)]
NAMES = ["plain", "pair", "residual", "two-phase"]


def possible(target, name, tile, kind):
    if wave_of(target) == 64 and int(AMD[target]["registers"]) < 512 and tile == T256:
        return False  # as in plans: the accumulators do not fit in the registers
    return wave_of(target) == 64 or (name != "float" and kind != TWO and tile.threads == 256)


def main(targets):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in targets or TARGETS:
            for name, tile, kind, m, n, k, middle, grid in CASES:
                if not possible(target, name, tile, kind):
                    continue
                number = TYPES[name]
                code, registers = build(folder, target, number, tile, kind, n, k, middle)
                for seed in (1, 2):
                    worst, result = (run_two(code, number, tile, m, n, k, middle, seed, grid) if kind == TWO else
                                     run_one(code, number, tile, kind, m, n, k, seed, grid))
                    products = sum(c for i, c in result.histogram.items() if "_MFMA" in i or "_WMMA" in i)
                    good = worst <= 1 and products > 0
                    failures += not good
                    print(f"{target} {name:5s} {tile.rows}x{tile.columns} {NAMES[kind]:10s} {m}x{n}x{k} "
                          f"middle {middle} grid {grid or 'tiles'} "
                          f"seed {seed}: error/bound {worst:.3f}, {registers} VGPRs, "
                          f"{products} matrix of {result.instructions} instructions  "
                          f"{'ok' if good else 'WRONG'}", flush=True)
    print(f"{failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
