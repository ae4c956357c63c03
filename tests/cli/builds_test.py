#!/usr/bin/env python3
"""bench/builds.py: the files that make a build, and when one of two builds counts as slower.

usage: builds_test.py"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
from builds import TOLERANCE, before_table, build_of, is_slower  # noqa: E402


def check(what, good):
    if not good:
        sys.exit(f"builds_test: {what}")


def touch(*path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    open(os.path.join(*path), "w").close()


def is_refused(folder):
    try:
        build_of(folder)
    except FileNotFoundError as e:
        return folder in str(e)
    return False


def row(case, ratio, noise):
    return {"case": case, "dtype": "bf16", "tfgen_us": (8.0, 7.5, 8.5), "before_us": (8.0 * ratio, 7.0, 9.0), "over_before": (ratio, noise)}


with tempfile.TemporaryDirectory() as folder:
    check("an empty folder is no build", is_refused(folder))
    touch(folder, "lib", "libtfgen.so")
    check("nor is one without a worker", is_refused(folder))
    touch(folder, "tfgen-worker")
    found = build_of(os.path.relpath(folder))
    check(f"as prepare_compare.sh makes it: {found}", found == {"TFGEN_LIBRARY": os.path.join(os.path.realpath(folder), "lib/libtfgen.so"),
                                                               "TFGEN_WORKER": os.path.join(os.path.realpath(folder), "tfgen-worker")})
    touch(folder, "libtfgen.so")
    check("as make leaves it", build_of(folder)["TFGEN_LIBRARY"] == os.path.join(folder, "libtfgen.so"))

check("twice the time is slower", is_slower(row("a", 0.5, 0.01)))
check("what noise explains is not", not is_slower(row("a", 0.5, 0.2)))
check("nor what two copies of a build differ by", not is_slower(row("a", 1 - TOLERANCE, 0)) and is_slower(row("a", 0.999 - TOLERANCE, 0)))
check("faster is not slower", not is_slower(row("a", 2.0, 0.0)))
text = before_table([row(f"fast {i}", 2.0, 0.01) for i in range(9)] + [row("slow", 0.5, 0.01), {"case": "alone", "over_before": None}])
check(text, text.startswith("10 cases beside the other build: geometric mean 1.741 times as fast, 9 faster and 1 slower"))
check(text, text.splitlines()[1].startswith("  SLOWER slow ") and text.count("good   fast") == 9 and "alone" not in text)
text = before_table([row(f"slow {i}", 0.5, 0.01) for i in range(12)])
check("all that are slower are named", text.count("SLOWER") == 12)
check("nothing timed", "no case was timed" in before_table([]))
