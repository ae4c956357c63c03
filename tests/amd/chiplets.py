#!/usr/bin/python3
"""In: a C++ compiler (CXX, default c++). Out: predicted bytes that the L2 of each chiplet and the last-level cache fetch for products of
4096x14336x4096 and 12288x12288x12288 and for the attention of the llama-8b preset (S4096, 32 heads over 8, d128, causal), bf16, with tiles
in launch order and in the order of templates/frame/chiplets.h, whose text is compiled. Refuses (exit 1) an order that does not at least
halve the bytes that the L2s of an MI300X fetch. The model: LRU caches of 4 MB per chiplet and 256 MB behind them; compute units run in
step, each up to two stages late, with stages of 128 bytes of k (a product) or 64 keys (attention); stores do not count."""
import collections
import ctypes
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MACHINES = {"MI300X (gfx942)": 304, "MI355X (gfx950)": 256}
CHIPLETS, L2, BEHIND, MB = 8, 4 << 20, 256 << 20, 1 << 20
PRODUCTS, TILE, GROUP = [(4096, 14336, 4096), (12288, 12288, 12288)], 256, 8
HEADS, KV_HEADS, KEYS, HEAD, BLOCK_Q = 32, 8, 4096, 128, 256


def deal(folder, chunk):
    """(tile of a workgroup, place of one in a row), compiled from the template."""
    path = f"{folder}/deal{chunk}"
    with open(f"{ROOT}/templates/frame/chiplets.h") as f:
        template = re.sub("^#.*$", "", f.read(), flags=re.M)  # of its includes it needs only DEV
    with open(f"{path}.cc", "w") as f:
        f.write(f'#define DEV static inline\n{template}\n'
                f'extern "C" int tile(int index, int count) {{ return chiplet_tile<{CHIPLETS}, {chunk}>(index, count); }}\n'
                f'extern "C" int place(int first, int in, int count) {{ return chiplet_place<{CHIPLETS}>(first, in, count); }}\n')
    subprocess.check_call([os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", "-o", f"{path}.so", f"{path}.cc"])
    library = ctypes.CDLL(f"{path}.so")
    return library.tile, library.place


class Cache:
    def __init__(self, size, behind=None):
        self.size, self.behind, self.held, self.kept, self.fetched = size, behind, collections.OrderedDict(), 0, 0

    def read(self, what, size):
        if what in self.held:
            self.held.move_to_end(what)
            return
        self.fetched += size
        if self.behind:
            self.behind.read(what, size)
        self.held[what] = size
        self.kept += size
        while self.kept > self.size:
            self.kept -= self.held.popitem(last=False)[1]


def simulated(units, workgroups):
    """(MB that the L2s fetch, MB that memory delivers) where workgroup i is a list of what it reads, a stage an element."""
    chance, behind = random.Random(1), Cache(BEHIND)
    caches = [Cache(L2, behind) for _ in range(CHIPLETS)]
    queues = [collections.deque(workgroups[d::CHIPLETS]) for d in range(CHIPLETS)]
    running = [[iter(()) for _ in range(units // CHIPLETS)] for _ in range(CHIPLETS)]
    lag = [[chance.randrange(3) for _ in range(units // CHIPLETS)] for _ in range(CHIPLETS)]
    step, busy = 0, True
    while busy:
        busy = any(queues)
        for d in range(CHIPLETS):
            for u in range(units // CHIPLETS):
                if step < lag[d][u]:
                    continue
                stage = next(running[d][u], None)
                if stage is None and queues[d]:
                    running[d][u] = iter(queues[d].popleft())
                    stage = next(running[d][u], None)
                if stage:
                    busy = True
                    for what, size in stage:
                        caches[d].read(what, size)
        step += 1
    return sum(c.fetched for c in caches) / MB, behind.fetched / MB


def product(shape, tile_of):
    rows, columns, line = shape[0] // TILE, shape[1] // TILE, TILE * 128
    out = []
    for index in range(rows * columns):
        i = tile_of(index, rows * columns)
        g, inside = divmod(i, GROUP * columns)
        height = min(GROUP, rows - g * GROUP)
        row, column = g * GROUP + inside % height, inside // height
        out.append([[(("a", row, k), line), (("b", column, k), line)] for k in range(shape[2] * 2 // 128)])
    return out


def attention(place_of):
    out = []
    for index in range(KEYS // BLOCK_Q * HEADS):
        row, inside = divmod(index, HEADS)
        group = place_of(row * HEADS, inside, HEADS) // (HEADS // KV_HEADS)
        keys = KEYS - row * BLOCK_Q
        out.append([[((group, k), 64 * HEAD * 2 * 2)] for k in range(keys // 64)])
    return out


def main():
    wrong = 0
    print("| machine, what | tiles as they come: MB into the L2s, from memory | chunks | whole shares |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, units in MACHINES.items():
            chunk, _ = deal(folder, units // CHIPLETS)
            whole, place = deal(folder, 100000)
            cases = [("product " + "x".join(map(str, s)), [product(s, o) for o in (lambda i, n: i, chunk, whole)]) for s in PRODUCTS]
            cases.append(("attention S4096 H32/8 d128", [attention(o) for o in (lambda f, i, n: i, place)]))
            for what, orders in cases:
                cells = [simulated(units, order) for order in orders] + [None] * (3 - len(orders))
                print(f"| {name}, {what} | " + " | ".join(f"{c[0]:.0f}, {c[1]:.0f}" if c else "-" for c in cells) + " |", flush=True)
                wrong += cells[1][0] > 0.5 * cells[0][0] or cells[1][1] > 1.1 * cells[0][1]
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
