#!/usr/bin/env python3
"""bench/drawn.py and bench/slices.py: cases of a seed do not depend on what else is drawn, and tfgen can plan them; slices add up; the text
of the table. TFGEN names the command.

usage: ops_test.py"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
import drawn  # noqa: E402
from slices import State, read, table  # noqa: E402

TFGEN = os.environ.get("TFGEN", "./tfgen")


def check(what, good):
    if not good:
        sys.exit(f"ops_test: {what}")


def check_drawing():
    cases = drawn.cases_of(1, 400)
    check("a case is the same alone", all(drawn.case_of("1", c.index) == c for c in cases[::7]))
    check("slices are the whole", drawn.cases_of(1, 13, 200) + drawn.cases_of(1, 187, 213) == cases[200:])
    check("some kinds are those among all", drawn.cases_of(1, 160, kinds=["decode", "matmul"])
          == [c for c in cases if c.kind in ("decode", "matmul")])
    check("some dtypes are those among all", drawn.cases_of(1, 20, 0, ["product"], ["f16", "f32"])
          == [c for c in cases if c.kind == "product" and c.dtype != "bf16"][:20])
    check("another seed draws others", not set(map(str, drawn.cases_of(2, 40))) & set(map(str, cases)))
    for kind in drawn.KINDS:
        own = [c for c in cases if c.kind == kind]
        check(f"{kind} comes once in five", len(own) == 80)
        check(f"{kind} is drawn in every dtype", {c.dtype for c in own} == {"bf16", "f16", "f32"})
        check(f"{kind} has odd sizes", sum(any(v % 2 and v > 8 for v in c.dims.values()) for c in own) >= 10)
    rows = [c.dims["B"] for c in cases if c.kind == "decode"]
    check(f"decode has 1 to 512 rows: {rows}", min(rows) <= 4 and 384 <= max(rows) <= 512 and sum(r > 64 for r in rows) >= 10)
    check("no case is too large", all(c.elements <= drawn.ELEMENTS and c.multiplies <= drawn.MULTIPLIES[c.dtype] for c in cases))


def check_options():
    parser = argparse.ArgumentParser()
    drawn.add_options(parser)
    chosen = drawn.chosen(parser.parse_args(["--seed=7,8", "--count=5", "--first=3", "--kinds=matmul,fused", "--dtypes=bf16"]))
    check("each seed gives --count cases", [c for seed in ("7", "8") for c in drawn.cases_of(seed, 5, 3, ["matmul", "fused"], ["bf16"])]
          == chosen and len(chosen) == 10)
    of_rows = drawn.chosen(parser.parse_args(["--seed=7", "--count=24", "--rows=65-512"]))
    check("cases of other rows are left out", of_rows == [c for c in drawn.cases_of(7, 200) if c.kind == "matmul"
          or 65 <= c.dims.get("B", 1) * c.dims.get("M", 1) * c.dims.get("S", 1) <= 512][:24])
    check("every kind has such rows", {c.kind for c in of_rows} == set(drawn.KINDS))
    one = drawn.chosen(parser.parse_args(["--kinds=decode", "--rows=1", "--count=3"]))
    check("one number is a range", [c.dims["B"] for c in one] == [1, 1, 1])
    try:
        drawn.chosen(parser.parse_args(["--kinds=decode", "--rows=513-600"]))
    except SystemExit as refused:
        check("a range without cases is refused by name", str(refused) == "drawn.py: no case of decode has 513 to 600 rows")
    else:
        check("a range without cases is refused", False)


def check_planning():
    with tempfile.TemporaryDirectory() as folder:
        for case in drawn.cases_of(5, 15):
            command = [TFGEN, "predict", drawn.write(folder, case), *drawn.options_of(case), "--device-model=h200", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            check(f"{case}: {done.stderr}", done.returncode == 0 and json.loads(done.stdout)[0]["predicted_seconds"] > 0)


def row(index, kind, ours, peer, **more):
    return {"seed": "1", "index": index, "kind": kind, "case": f"{kind} 1/{index} name", "dtype": "bf16", "tfgen_us": [ours, ours, ours],
            "peers_us": {"cuBLAS": [peer, peer, peer]}, "best": "cuBLAS", "ratio": peer / ours, "floor_us": 1.0, **more}


def check_slices():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state")
        first = State(path)
        first.add(row(0, "product", 10.0, 20.0))
        first.add(row(1, "matmul", 10.0, 5.0))
        with open(path, "a", encoding="utf-8") as f:
            f.write('{"seed": "1", "index"')  # killed while it wrote
        again = State(path)
        check("what is there is known", again.has(1, 0) and again.has("1", 1) and not again.has(1, 2) and not again.has(2, 0))
        again.add(row(2, "product", 10.0, 5.0))
        State(path).add(row(1, "matmul", 10.0, 8.0))
        check("slices add up, the last row of a case counts", [r["ratio"] for r in read([path])] == [2.0, 0.8, 0.5])
        check("a state without a file keeps its rows", not os.path.exists("None"))


def check_table():
    rows = [row(0, "product", 10.0, 20.0), row(5, "product", 10.0, 5.0), row(1, "matmul", 10.0, 8.5), row(2, "fused", 10.0, 8.0),
            row(3, "prefill", 1.0, 1.0, best=None), row(4, "decode", 1.0, 1.0, failed="its results are wrong")]
    text = table(rows)
    for line in ("product     2 cases, geometric mean 1.000, 1 at 1.0 or above, worst 0.500",
                 "all         4 cases, geometric mean 0.908, 1 at 1.0 or above, worst 0.500",
                 "   0.50  product 1/5 name bf16: 10.0 us, cuBLAS 5.0, floor 1.0",
                 "2 cliffs, cases below 0.85 of the best contender; product bf16: 1, down to 0.500; fused bf16: 1, down to 0.800",
                 "1 without a contender", "FAILED decode 1/4 name: its results are wrong"):
        check(f"{line}\nis not in\n{text}", line in text.splitlines())
    check("the worst comes first", text.index("0.50  product") < text.index("0.80  fused") < text.index("0.85  matmul"))
    check("only the worst are listed", sum(line.startswith("  ") for line in table(rows, 2).splitlines()) == 2)
    many = table([row(i, "product", 10.0, 10.0 + i) for i in range(30)])
    check("ten are the worst", sum(line.startswith("  ") for line in many.splitlines()) == 10)
    check("nothing is no error", "nothing was timed" in table([]))


def check_goals():
    sizes = [dict(zip("MNK", dims)) for dims in ((2048, 4096, 2048), (2048, 512, 2048), (64, 4096, 4096))]
    wide = [row(i, "product", 10.0, peer, dtype="f32", dims=dims) for i, (peer, dims) in enumerate(zip((19.0, 13.0, 9.0), sizes))]
    wide[2]["errors"] = {"tfgen": [1.2, 3.0], "cuBLAS": [1.0, 2.0]}
    text = table([*wide, row(3, "product", 10.0, 9.2), row(4, "matmul", 10.0, 10.0, dtype="f16"), row(5, "fused", 10.0, 5.0)])
    for line in ("16 bits: 2 cases, geometric mean 0.959, 1 below 0.93",
                 "f32, M, N and K from 2048: 1 cases, geometric mean 1.900, 1 below 2.0",
                 "f32, M, N and K from 512: 1 cases, geometric mean 1.300, 0 below 1.2",
                 "f32, M, N and K from 0: 1 cases, geometric mean 0.900, 1 below 1.0",
                 "f32: RMS error over cuBLAS's at most 1.20 (product 1/2 name), 1 of 1 above 1.1",
                 "f32: largest error over cuBLAS's at most 1.50 (product 1/2 name), 0 of 1 above 2.0"):
        check(f"{line}\nis not in\n{text}", line in text.splitlines())


check_drawing()
check_options()
check_planning()
check_slices()
check_table()
check_goals()
