#!/usr/bin/env python3
"""bench/tuned.py with the command itself, on the host engine: a case is tuned once, its results stay, and what was kept is a line that the
command uses.

usage: tuned_test.py        TFGEN names the command (default ./tfgen)"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
from tuned import HEAD, Tuning  # noqa: E402

TFGEN = os.environ.get("TFGEN", "./tfgen")
with open(os.path.join(HERE, "..", "..", "specs", "softmax.yaml"), "rb") as f:
    TEXT = f.read()


def check(what, good):
    if not good:
        sys.exit(f"tuned_test: {what}")


with tempfile.TemporaryDirectory() as folder:
    first = Tuning(folder, 0, TFGEN, "host")
    case = first.tune("softmax", TEXT, {"S": 5}, "f32", 10)
    check("no time is left: nothing is tried", case["how"] == ["no time"] and case["tried"] == 0 and case["kept"] == [])
    check("a case is done once", first.tune("softmax", b"no spec", {}, "f32") is case)
    check("what was done is known later", Tuning(folder, 1, "/no/command", "host").tune("softmax", TEXT, {}, "f32")["tried"] == 0)
    try:
        first.tune("bad", b"block: 7", {}, "f32")
        check("a spec that is none is told", False)
    except RuntimeError as e:
        check(f"the reason is in {e}", "exit code 3" in str(e))
    again = Tuning(folder, 2, TFGEN, "host")
    case = again.tune("longer", TEXT, {"S": 5}, "f32")
    check(f"something is tried: {case}", case["tried"] > 0 and len(case["kept"]) == case["how"].count("better"))
    for line in again.lines():
        path = again.one(line)
        said = subprocess.run([TFGEN, "wisdom", "ls", path], capture_output=True, text=True, check=True).stdout
        check(said, "1 entries; 0 lines are not used" in said and open(path).read() == HEAD + line + "\n")
