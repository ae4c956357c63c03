"""Results of drawn cases: a file with a line of JSON per case, to which every slice appends, and the table of all results. Needs no
PyTorch.

usage: slices.py [--worst=10] FILE...        the table of all that is in these files"""
import json
import math
import os
import sys
from statistics import geometric_mean

from drawn import PRODUCTS

CLIFF = 0.85  # share of the best contender's speed; a case below it is listed as a cliff


class State:
    """path: None keeps nothing."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if path and os.path.exists(path):
            drop_half_a_line(path)
            self.rows = {key_of(row): row for row in read([path])}

    def has(self, seed, index):
        return (str(seed), index) in self.rows

    def add(self, row):
        self.rows[key_of(row)] = row
        if self.path:
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps(row) + "\n")


def drop_half_a_line(path):
    """Drops the incomplete last line of a process that was killed while it wrote."""
    with open(path, "rb+") as f:
        f.truncate(f.read().rfind(b"\n") + 1)


def key_of(row):
    return str(row["seed"]), row["index"]


def read(paths):
    """The last row of each case."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in f:
                row = json.loads(line)
                found[key_of(row)] = row
    return [found[key] for key in sorted(found)]


def line_of(row):
    us = row["peers_us"][row["best"]][0]
    return (f"{row['ratio']:5.2f}  {row['case']} {row['dtype']}: {row['tfgen_us'][0]:.1f} us, {row['best']} {us:.1f}, floor "
            f"{row['floor_us']:.1f}")


def kind_line(kind, own):
    ratios = [r["ratio"] for r in own]
    return (f"{kind:8s} {len(own):4d} cases, geometric mean {geometric_mean(ratios):.3f}, {sum(r >= 1 for r in ratios)} at 1.0 or above, "
            f"worst {min(ratios):.3f}")


F32_GOALS = ((2048, 2.0), (512, 1.2), (0, 1.0))  # least of M, N and K -> the least ratio that is wanted; in 16 bits it is 0.93


def least_of(row):
    return min(row["dims"][n] for n in "MNK")


def product_lines(rows):
    """Products and matmuls beside their goals: 16 bits together, and f32 by the least of M, N and K, with its errors beside cuBLAS's."""
    own = [r for r in rows if r["kind"] in PRODUCTS]
    groups, most = [("16 bits", 0.93, [r for r in own if r["dtype"] != "f32"])], math.inf
    for least, goal in F32_GOALS:
        groups.append((f"f32, M, N and K from {least}", goal, [r for r in own if r["dtype"] == "f32" and least <= least_of(r) < most]))
        most = least
    lines = [f"{name}: {len(rs)} cases, geometric mean {geometric_mean([r['ratio'] for r in rs]):.3f}, "
             f"{sum(r['ratio'] < goal for r in rs)} below {goal}" for name, goal, rs in groups if rs]
    for at, name, goal in ((0, "RMS", 1.1), (1, "largest", 2.0)):
        over = sorted((r["errors"]["tfgen"][at] / max(r["errors"]["cuBLAS"][at], 1e-300), r["case"]) for r in own
                      if "cuBLAS" in r.get("errors", {}))
        if over:
            lines.append(f"f32: {name} error over cuBLAS's at most {over[-1][0]:.2f} ({over[-1][1]}), {sum(o > goal for o, _ in over)} of "
                         f"{len(over)} above {goal}")
    return lines


def table(rows, worst=10):
    """Times of the best contender over ours: geometric means, the worst cases, and the cliffs by kind and dtype."""
    failed = [r for r in rows if "failed" in r]
    timed = sorted((r for r in rows if "failed" not in r and r["best"]), key=lambda r: r["ratio"])
    lines = []
    for kind in [*dict.fromkeys(r["kind"] for r in sorted(timed, key=lambda r: r["index"])), "all"]:
        own = [r for r in timed if kind in (r["kind"], "all")]
        lines += [kind_line(kind, own)] if own else []
    lines += product_lines(timed)
    lines += [f"the worst {min(worst, len(timed))}:", *(f"  {line_of(r)}" for r in timed[:worst])] if timed else ["nothing was timed"]
    cliffs = {}
    for r in timed:
        if r["ratio"] < CLIFF:
            cliffs.setdefault(f"{r['kind']} {r['dtype']}", []).append(r["ratio"])
    lines.append(f"{sum(map(len, cliffs.values()))} cliffs, cases below {CLIFF} of the best contender"
                 + "".join(f"; {name}: {len(own)}, down to {min(own):.3f}" for name, own in cliffs.items()))
    untimed = len(rows) - len(timed) - len(failed)
    lines += [f"{untimed} without a contender"] if untimed else []
    lines += [f"FAILED {r['case']}: {r['failed']}" for r in failed]
    return "\n".join(lines)


if __name__ == "__main__":
    given = [a for a in sys.argv[1:] if not a.startswith("--worst=")]
    print(table(read(given), next((int(a[8:]) for a in sys.argv[1:] if a.startswith("--worst=")), 10)))
