"""In: clang (CLANG, default clang-22), TINYGRAD_DIR. Out: the 8-wave product of tests/probes/product_gfx950.hip, alone and two in one
launch, run in the emulator at odd sizes with random scheduling and compared with float64. Refuses (exit 1) a wrong element, scratch,
or more than 256 vector registers."""
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

from emulator import CodeObject, Machine

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAIN, PAIR, RESIDUAL, TWO = range(4)
GRANULE, TILE = 4, 256


def to_bf16(x):
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(h):
    return (h.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def round_up(n, to):
    return (n + to - 1) // to * to


def build(folder, kind, n, k, middle):
    path = f"{folder}/{kind}-{n}-{k}-{middle}.hsaco"
    subprocess.check_call([os.environ.get("CLANG", "clang-22"), "-x", "hip", "--offload-arch=gfx950", "--offload-device-only",
                           "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3", "-std=c++17", "-Wall", "-Werror", f"-I{ROOT}",
                           *os.environ.get("PROBE_OPTION", "").split(), f"-DPROBE_KIND={kind}", f"-DPROBE_N={n}", f"-DPROBE_K={k}",
                           f"-DPROBE_F={middle or 8}", "-o", path, f"{ROOT}/tests/probes/product_gfx950.hip"])
    code = CodeObject(path)
    meta = code.kernels["probe"].meta
    assert meta[".private_segment_fixed_size"] == 0 and meta[".vgpr_count"] <= 256, meta
    return code, meta[".vgpr_count"]


class Trial:
    """Buffers of one launch; arguments are packed in the order of product_spec.h."""

    def __init__(self, seed):
        self.machine, self.random, self.outputs = Machine(seed=seed), np.random.default_rng(seed), []

    def normal(self, rows, columns, scale=1.0):
        return to_bf16(self.random.standard_normal((rows, columns)) * scale)

    def put(self, array, name):
        return self.machine.memory.upload(array.tobytes(), name)

    def weight(self, w, name):
        padded = np.zeros((round_up(w.shape[0], 2 * GRANULE), round_up(w.shape[1], 16)), np.uint16)
        padded[:w.shape[0], :w.shape[1]] = w
        return self.put(padded, name)

    def poisoned(self, rows, columns, dtype, name):
        array = np.full((rows, columns), -1 if dtype == np.int32 else 0xFFFF, dtype)
        return self.put(array, name)

    def get(self, address, rows, columns, dtype):
        return np.frombuffer(self.machine.memory.download(address, rows * columns * np.dtype(dtype).itemsize), dtype).reshape(rows, columns)


def judge(got, want, size, k):
    """Largest error over its bound: half a unit of bf16's 8 bits, and accumulation in float."""
    return float(np.max(np.abs(got - want) / (np.abs(want) * 2**-8 * 1.004 + 2 * k**0.5 * 2**-24 * size + 1e-30)))


def arguments(x, w, y, residual, scale, sums, m):
    return struct.pack("<6Qi4x", x, w, y, residual, scale, sums, m)


def run_one(code, kind, m, n, k, seed, grid):
    t = Trial(seed)
    x, w = t.normal(m, k), t.normal(n, k, k**-0.5)
    tiles = -(-n // TILE)
    up, weight = None, w
    if kind == PAIR:
        up, weight = t.normal(n, k, k**-0.5), np.zeros((2 * round_up(n, GRANULE), k), np.uint16)
        for j in range(n):
            weight[j // GRANULE * 2 * GRANULE + j % GRANULE], weight[j // GRANULE * 2 * GRANULE + GRANULE + j % GRANULE] = w[j], up[j]
        tiles = -(-len(weight) // TILE)
    residual, scale = t.normal(m, n), (0.5 + t.random.random(m)).astype(np.float32)
    y, sums = t.poisoned(m, n, np.uint16, "y"), t.put(np.full((m, tiles), np.nan, np.float32), "sums")
    args = arguments(t.put(x, "x"), t.weight(weight, "w"), y, t.put(residual, "residual"), t.put(scale, "scale"), sums, m)
    result = t.machine.run(code, "probe", grid or -(-m // TILE) * tiles, 512, args)
    got = from_bf16(t.get(y, m, n, np.uint16))
    X, W = from_bf16(x), from_bf16(w)
    want, size = X @ W.T, np.abs(X) @ np.abs(W).T
    if kind == PAIR:
        U = from_bf16(up)
        gate, up_value = want / (1 + np.exp(-want)), X @ U.T
        size = 1.1 * size * np.abs(up_value) + np.abs(gate) * (np.abs(X) @ np.abs(U).T) + 16 * np.abs(gate * up_value)
        want = gate * up_value
    if kind == RESIDUAL:
        R = from_bf16(residual)
        want, size = want * scale[:, None].astype(np.float64) + R, size * scale[:, None] + np.abs(R)
        parts = t.get(sums, m, tiles, np.float32)
        for i in range(tiles):
            exact = (got[:, i * TILE:(i + 1) * TILE]**2).sum(1)
            assert np.all(np.abs(parts[:, i] - exact) <= exact / 100), "row sums"
    t.machine.close()
    return judge(got, want, size, k), result


def run_two(code, m, n, k, middle, seed, grid):
    t = Trial(seed)
    x, w0, w1 = t.normal(m, k), t.normal(middle, k, k**-0.5), t.normal(n, middle, middle**-0.5)
    h, y, words = t.poisoned(m, middle, np.uint16, "h"), t.poisoned(m, n, np.uint16, "y"), t.put(np.zeros(16, np.uint32), "words")
    args = (arguments(t.put(x, "x"), t.weight(w0, "w0"), h, 0, 0, 0, m) + arguments(h, t.weight(w1, "w1"), y, 0, 0, 0, m) +
            struct.pack("<Q", words))
    rows = -(-m // TILE)
    for _ in range(2):  # the second launch finds the counters as the first left them
        result = t.machine.run(code, "probe", grid or rows * (-(-middle // TILE) + -(-n // TILE)), 512, args)
        assert not t.get(words, 1, 16, np.uint32).any(), "counters or the hang word are not zero"
    H, Y = from_bf16(t.get(h, m, middle, np.uint16)), from_bf16(t.get(y, m, n, np.uint16))
    X, W0, W1 = from_bf16(x), from_bf16(w0), from_bf16(w1)
    t.machine.close()
    return max(judge(H, X @ W0.T, np.abs(X) @ np.abs(W0).T, k), judge(Y, H @ W1.T, np.abs(H) @ np.abs(W1).T, middle)), result


CASES = [  # kind, m, n, k, middle, grid (0: one workgroup a tile)
    (PLAIN, 1, 1, 8, 0, 0), (PLAIN, 256, 256, 64, 0, 0), (PLAIN, 257, 261, 136, 0, 0), (PLAIN, 300, 500, 200, 0, 3),
    (PAIR, 37, 101, 72, 0, 0), (RESIDUAL, 259, 263, 128, 0, 2), (TWO, 257, 261, 136, 264, 0), (TWO, 257, 261, 136, 264, 3),
    (TWO, 600, 37, 64, 520, 2)]
NAMES = ["plain", "pair", "residual", "two-phase"]


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, m, n, k, middle, grid in CASES:
            code, registers = build(folder, kind, n, k, middle)
            for seed in (1, 2):
                worst, result = run_two(code, m, n, k, middle, seed, grid) if kind == TWO else run_one(code, kind, m, n, k, seed, grid)
                good = worst <= 1
                failures += not good
                print(f"{NAMES[kind]:10s} {m}x{n}x{k} middle {middle} grid {grid or 'tiles'} seed {seed}: error/bound {worst:.3f}, {registers} VGPRs, "
                      f"{result.histogram['op_mfma']} MFMA of {result.instructions} instructions  {'ok' if good else 'WRONG'}", flush=True)
    print(f"{failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
