#!/usr/bin/env python3
"""Tests bench/tuned.py with the real command on the host engine: a case is tuned once, its results are kept in the folder, and each kept
line of wisdom is one that the command uses.

usage: tuned_test.py        TFGEN names the command (default ./tfgen)"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
from shapes import PRESETS, SHAPES, cases_of  # noqa: E402
from tuned import HEAD, Tuning, marked_line, tuned_table  # noqa: E402

TFGEN = os.environ.get("TFGEN", "./tfgen")
with open(os.path.join(HERE, "..", "..", "specs", "softmax.yaml"), "rb") as f:
    TEXT = f.read()


def check(what, good):
    if not good:
        sys.exit(f"tuned_test: {what}")


def refused(call):
    try:
        call()
    except RuntimeError as e:
        return str(e)
    return ""


OTHER = """import sys, time
sys.path.insert(0, sys.argv[1])
from tuned import Tuning
mine = Tuning(sys.argv[2], 0, None)
print(mine.take("a case"), flush=True)
time.sleep(600)"""


def check_taken(folder):
    """Processes share a folder: no process takes a case that another works on; a killed one works on none."""
    other = subprocess.Popen([sys.executable, "-B", "-c", OTHER, os.path.join(HERE, "..", "..", "bench"), folder], stdout=subprocess.PIPE)
    mine = Tuning(folder, 0, TFGEN, "host")
    check("the other takes it", other.stdout.readline() == b"True\n")
    check("another case is free", mine.take("another") and not mine.take("a case"))
    other.kill()
    other.wait()
    check("who is gone holds nothing", mine.take("a case"))
    mine.give_back("a case")
    check("what is given back can be taken", Tuning(folder, 0, TFGEN, "host").take("a case"))


def timed(case, untuned, tuned, peer):
    """A finished case: what Tuning.tune() returned and the results that compare.py adds."""
    return {**case, "case": case["key"], "dtype": "f32", "floor_us": 1.0, "us": {"untuned": untuned, "tfgen": tuned, "peer": peer},
            "torch_seconds": {"peer": 3.0}, "gain": (untuned[0] / tuned[0], 0.01), "over_torch": (peer[0] / tuned[0], 0.01)}


def presets_of(spec):
    """name -> numbers, in the spec's order."""
    with open(os.path.join(HERE, "..", "..", "specs", spec)) as f:
        found = re.findall(r"^  ([a-z0-9-]+): +\{(B: .*?)\}", f.read(), re.MULTILINE)
    return {name: {k: v for k, v in re.findall(r"(\w+): +(\d+)", text)} for name, text in found}


def check_shapes():
    block = {name: dict(zip(("B", "S", "D", "H", "KV", "hd", "F"), map(str, shape))) for name, shape in SHAPES.items()}
    for name, numbers in presets_of("llama-block.yaml").items():
        check(f"block {name} {numbers}", numbers and block[name].items() >= numbers.items())
    decode = {name: dict(zip(("B", "L", "D", "H", "KV", "hd", "F"), map(str, rest))) for name, *rest in PRESETS}
    for name, numbers in presets_of("llama-decode.yaml").items():
        check(f"decode {name} {numbers}", numbers and decode[name].items() >= numbers.items())
    for seed in range(1, 50):
        cases = cases_of(10, seed)
        check("ten row operations and twenty others are drawn", len(cases) == 40 and cases == cases_of(10, seed))
        for name, args in cases:
            B, S, D, H, KV, hd, _ = SHAPES[args[0]] if name == "block" else args[1:] if name == "decode_block" else [2] * 7
            args = args[0].dims.values() if name == "operation" else args
            good = H % KV == 0 and hd % 2 == 0 and min(B, S, D, *(a for a in args if isinstance(a, int))) > 0
            check(f"{name} {args}", good)
    check("other seeds draw others", cases_of(10, 1) != cases_of(10, 2))


check_shapes()
with tempfile.TemporaryDirectory() as folder:
    first = Tuning(folder, 0, TFGEN, "host")
    case = first.tune("softmax", TEXT, {"S": 5}, "f32", 10)
    check("no time is left: nothing is tried", case["how"] == ["no time"] and case["tried"] == 0 and case["kept"] == [])
    check("a case is done once", first.tune("softmax", b"no spec", {}, "f32") == case)
    check("what was done is known later", Tuning(folder, 1, "/no/command", "host").tune("softmax", TEXT, {}, "f32")["tried"] == 0)
    said = refused(lambda: first.tune("bad", b"block: 7", {}, "f32"))
    check(f"the reason is in {said}", "exit code 3" in said)
    for budget in (2, 16, 128):  # a busy machine may have tried nothing after two seconds
        again, longer = Tuning(folder, budget, TFGEN, "host"), f"longer{budget}"
        case = again.tune(longer, TEXT, {"S": 5}, "f32")
        if case["tried"]:
            break
    check(f"something is tried: {case}", case["tried"] > 0 and len(case["kept"]) == case["how"].count("better"))
    check("its wisdom is part of all", set(again.lines(again.path(longer, "wisdom"))) == set(again.lines(again.wisdom)))
    for line in again.lines(again.wisdom):
        path = again.one(line)
        said = subprocess.run([TFGEN, "wisdom", "ls", path], capture_output=True, text=True, check=True).stdout
        check(said, "1 entries; 0 lines are not used" in said and open(path).read() == HEAD + line + "\n")
    check("of what was not timed there is no table", tuned_table(again.cases()).startswith("0 cases"))
    again.save(timed(case, [8.0, 7, 9], [4.0, 3, 5], [2.0, 1, 3]))
    text = tuned_table(Tuning(folder, 0, None).cases(), marked_line)
    rows = f"| {longer} | 8.0 | 4.0 | 2.000 |", "| 2.0 | 0.50 | 3 |", "tuned 0.500 times as fast as torch"
    check(text, all(row in text for row in rows))
    check_taken(folder)
