#!/usr/bin/python3
"""Tests that tests/judging.py, which judges results for harnesses, passes correct results and fails wrong ones. Exit code 1: a wrong
verdict. Needs numpy."""
import json
import os
import sys
import tempfile

import numpy as np

from judging import MANIFEST_VERSION, POISON, judge, poison, read_manifest

N = 64
WANT = np.linspace(-3, 3, N) + 0.01
BOUND = np.abs(WANT) * 6 * 2.0 ** -8


def stored(values, dtype):
    """Bytes as stored in memory; bf16 by truncation."""
    if dtype == "bf16":
        return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return np.asarray(values, {"f32": np.float32, "f16": np.float16}[dtype]).tobytes()


def changed(values, index, value):
    out = np.array(values)
    out[index] = value
    return out


def tail(raw, dtype, count):
    """`raw` with the last `count` of its N elements unwritten."""
    size = len(raw) // N * count
    return raw[:-size] + poison(size)


def manifest_read(version):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "manifest.json"), "w") as f:
            json.dump({"manifest": version}, f)
        try:
            return read_manifest(folder) == {"manifest": version}
        except SystemExit as refusal:
            return str(refusal)


def main():
    wrong = []
    if manifest_read(MANIFEST_VERSION) is not True or "of version 7;" not in str(manifest_read(7)):
        wrong.append("a manifest of another version is read")

    def expect(name, verdict, good, unjudged=0):
        ratio, left = verdict
        if (ratio <= 1) != good or left != unjudged:
            wrong.append(f"{name}: error/bound {ratio}, {left} not judged")

    for dtype in ("f32", "f16", "bf16"):
        raw = stored(WANT, dtype)
        nan, inf = np.full(N, np.nan), np.full(N, np.inf)
        expect(f"{dtype}: right", judge(WANT, BOUND, raw, dtype), True)
        expect(f"{dtype}: one value off", judge(changed(WANT, 17, 0.5), BOUND, raw, dtype), False)
        expect(f"{dtype}: 3 % off", judge(WANT * 1.03, BOUND, raw, dtype), False)
        expect(f"{dtype}: a tail unwritten", judge(WANT, BOUND, tail(raw, dtype, 3), dtype), False)
        expect(f"{dtype}: elements missing", judge(WANT, BOUND, raw[:N // 2 * len(raw) // N], dtype), False)
        expect(f"{dtype}: no output", judge([], [], b"", dtype), False)
        expect(f"{dtype}: NaN for a number", judge(WANT, BOUND, stored(changed(WANT, 5, np.nan), dtype), dtype), False)
        expect(f"{dtype}: infinite for a number", judge(WANT, BOUND, stored(changed(WANT, 5, np.inf), dtype), dtype), False)
        expect(f"{dtype}: a number for NaN", judge(changed(WANT, 5, np.nan), BOUND, raw, dtype), False)
        expect(f"{dtype}: a number for infinity", judge(changed(WANT, 5, np.inf), BOUND, raw, dtype), False)
        expect(f"{dtype}: NaN as expected", judge(nan, 0 * BOUND, stored(nan, dtype), dtype), True)
        expect(f"{dtype}: NaN expected, nothing written", judge(nan, 0 * BOUND, tail(stored(nan, dtype), dtype, 1), dtype), False)
        expect(f"{dtype}: infinite as expected", judge(inf, 0 * BOUND, stored(inf, dtype), dtype), True)
        expect(f"{dtype}: the other infinity", judge(inf, 0 * BOUND, stored(-inf, dtype), dtype), False)
        expect(f"{dtype}: an exact value off", judge(WANT, 0 * BOUND, stored(WANT * 1.5, dtype), dtype), False)
        unknown = changed(BOUND, 3, np.inf)
        expect(f"{dtype}: an infinite bound", judge(changed(WANT, 3, 9.0), unknown, raw, dtype), True, 1)
        expect(f"{dtype}: an infinite bound does not hide the rest", judge(changed(WANT, 4, 9.0), unknown, raw, dtype), False, 1)
        expect(f"{dtype}: an infinite bound, nothing written", judge(changed(WANT, N - 1, 9.0), changed(BOUND, N - 1, np.inf),
                                                                     tail(raw, dtype, 1), dtype), False, 1)
    with open(__file__.replace("tests/judging_test.py", "runtime/module/guarded_run.h")) as f:
        if f"guarded_poison_bits = {POISON:#x}" not in f.read():
            wrong.append("runtime/module/guarded_run.h poisons with another pattern")
    print("\n".join(wrong) or "good: what is wrong is not accepted")
    return len(wrong) != 0


if __name__ == "__main__":
    sys.exit(main())
