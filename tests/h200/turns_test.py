#!/usr/bin/python3
"""How bench/turns.py divides cases among processes, and that nothing runs while a case is timed."""
import json
import os
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import turns  # noqa: E402

KEEPS = 2  # cases that a process of kind "small" keeps before its memory is full


def serve(kind, log):
    """A process whose cases take 20 ms, and which writes when each began and ended. kind: "dies": with case 3; "slow": case 1 takes long to
    prepare; "small": with little memory; else as it should be."""
    kept = []

    def note(what, number, seconds):
        start = time.monotonic()
        time.sleep(seconds)
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps([what, number, start, time.monotonic()]) + "\n")

    def prepare(number):
        if kind == "dies" and number == 3:
            os._exit(1)
        note("prepare", number, 60 if kind == "slow" and number == 1 else 0.02)
        kept.append(number)
        return number * 10

    def measure(number, case):
        note("measure", number, 0.02)
        kept.clear()
        return {"ten": case}
    turns.serve(prepare, measure, lambda: 0.1 if kind == "small" and len(kept) >= KEEPS else 0.9)


class TurnsTest(unittest.TestCase):
    def run_turns(self, kind, count, seconds, jobs=3):
        rows, lost = {}, []
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            open(log, "x", encoding="utf-8").close()
            several = turns.Turns(range(count), time.monotonic() + seconds, rows.__setitem__, lost.append, 0.03)
            late = several.run([sys.executable, os.path.abspath(__file__), "serve", kind, log], jobs)
            with open(log, encoding="utf-8") as file:
                spans = [json.loads(line) for line in file]
        self.assertEqual(sorted([*rows, *lost, *late]), list(range(count)))
        self.assertTrue(all(row == {"ten": 10 * number} for number, row in rows.items()))
        for what, number, start, end in spans:
            others = [s for s in spans if s[:2] != [what, number]]
            self.assertTrue(what == "prepare" or all(s[3] <= start or s[2] >= end for s in others), f"{number} was not timed alone")
        return rows, lost, late

    def test_every_case_is_timed_alone(self):
        self.assertEqual(len(self.run_turns("good", 9, 60)[0]), 9)

    def test_without_memory_they_time_and_go_on(self):
        self.assertEqual(len(self.run_turns("small", 12, 60)[0]), 12)

    def test_a_process_that_ends_loses_its_cases(self):
        rows, lost, late = self.run_turns("dies", 9, 60)
        self.assertIn(3, lost)
        self.assertTrue(rows and not late)

    def test_a_case_that_takes_too_long_is_late(self):
        rows, lost, late = self.run_turns("slow", 4, 1)
        self.assertIn(1, late)
        self.assertTrue(rows and not lost)

    def test_nothing_begins_that_would_end_late(self):
        self.assertEqual(self.run_turns("good", 4, 0)[2], [0, 1, 2, 3])


if __name__ == "__main__":
    serve(*sys.argv[2:]) if sys.argv[1:2] == ["serve"] else unittest.main()
