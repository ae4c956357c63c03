#!/usr/bin/python3
"""What tests/h200/random_slices.py counts and what it does not."""
import argparse
import os
import tempfile
import time
import unittest

from random_slices import BROKEN, CUT, ENDED, GRACE, STOPPED, Runner, Schedule

# The first index decides whether a slice succeeds, has a failed case, prints no report, ends with another exit code, never ends, or reports
# when it is stopped, and ends by that signal.
COMMAND = ["sh", "-c", """
report() { printf '{"seed": 1, "first": %d, "specs": %d, "kernels": 5, "unjudged": 0, "causes": [], "ratios": {"linear": '\
'{"values": 3, "largest": 0.%d, "smallest": 0.001, "rms": 0.0%d, "rms_f32": 0}}, '\
'"cases": [{"target": "host", "dtype": "f32", "specs": 2, "good": %d, "wrong": %d}]}' {first} {count} $((4 + $1)) $1 $1 $2; }
case {first} in
0) report 6 0 ;;
2) report 5 1; exit 1 ;;
4) echo 'error: no device' >&2; exit 6 ;;
6) report 6 0; exit 139 ;;
8) exec sleep 100000 ;;
10) trap 'report 3 0; trap - TERM; kill $$' TERM; echo ready >&2; while :; do sleep 0.01; done ;;
esac"""]


class StoppedRunner(Runner):
    """A runner whose clock is 0 until the last slice has begun, and then at the limit."""

    def now(self):
        return self.options.seconds if hasattr(self, "schedule") and self.schedule.next > self.options.stop else 0

    def left(self):
        trapped = os.path.join(self.folder, "10.err")
        while os.path.exists(trapped) and not os.path.getsize(trapped):
            time.sleep(0.01)
        return super().left()


def run(stop, first=0):
    """(text, good, files, states) of slices of two from index `first` on, the last begun before index `stop`."""
    with tempfile.TemporaryDirectory() as folder:
        runner = StoppedRunner(argparse.Namespace(first=first, count=2, seconds=60, most=stop - first, jobs=1, gpus=0, name="host",
                                                  command=COMMAND, stop=max(8, stop - 2)), folder)
        runner.run()
        return *runner.report(), sorted(f for f in os.listdir(folder) if f.endswith(".json")), runner.schedule.states


class Slices(unittest.TestCase):
    def test_slices_follow_each_other_up_to_the_number_asked_for(self):
        s = Schedule(100, 4, 60, most=10)
        self.assertEqual([s.take(0) for _ in range(4)], [(100, 4), (104, 4), (108, 2), None])
        self.assertEqual(s.next, 110)

    def test_none_is_begun_that_would_not_end_in_time(self):
        s = Schedule(0, 4, 60)
        self.assertEqual(s.take(0), (0, 4))
        s.note(0, ENDED, 5)
        self.assertEqual([s.take(now) for now in (39, 41, 49, 56)], [(4, 4), (8, 3), (11, 2), None])
        self.assertEqual(s.next, 13)

    def test_a_broken_machine_is_given_up(self):
        s = Schedule(0, 2, 60, patience=2)
        for state in (BROKEN, ENDED, BROKEN):
            s.note(s.take(0)[0], state, 1)
        first, _ = s.take(0)
        s.note(first, BROKEN, 1)
        self.assertIsNone(s.take(0))
        self.assertEqual(s.next, 8)

    def test_all_good_is_good(self):
        text, good, files, _ = run(2)
        self.assertTrue(good)
        self.assertEqual(files, ["0.json"])
        self.assertIn("next free index 2", text)

    def test_a_failed_case_is_counted_and_fails(self):
        text, good, files, _ = run(4)
        self.assertFalse(good)
        self.assertEqual(files, ["0.json", "2.json"])
        self.assertIn("| host | f32 | 4 | 11 | 0 | 1 |", text)
        self.assertIn("| linear | 6 | 0.9 | 0.001 | 0.06 | 0 |", text)

    def test_what_has_no_report_or_did_not_end_is_named_and_not_counted(self):
        text, good, files, states = run(10)
        self.assertFalse(good)
        self.assertEqual(states, {0: ENDED, 2: ENDED, 4: BROKEN, 6: BROKEN, 8: CUT})
        self.assertEqual(files, ["0.json", "2.json"])
        self.assertIn("4 specs in 2 slices", text)
        self.assertIn("slice 8 did not end, not counted", text)
        self.assertIn("slice 4 broken, not counted; it said: error: no device", text)
        self.assertIn("2 slices of 2 ended, 0 stopped and counted, 1 did not end, 2 broken", text)
        self.assertIn("next free index 10", text)

    def test_what_reports_when_it_is_stopped_counts_as_far_as_it_got(self):
        text, good, files, states = run(12, first=10)
        self.assertTrue(good)
        self.assertEqual(states, {10: STOPPED})
        self.assertEqual(files, ["10.json"])
        self.assertIn("| host | f32 | 2 | 3 | 0 | 0 |", text)
        self.assertIn("0 slices of 2 ended, 1 stopped and counted, 0 did not end, 0 broken", text)

    def test_no_slice_at_all_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(argparse.Namespace(first=0, count=2, seconds=GRACE, most=None, jobs=1, gpus=0, name="host", command=COMMAND),
                            folder)
            runner.run()
            text, good = runner.report()
        self.assertFalse(good)
        self.assertIn("next free index 0", text)


if __name__ == "__main__":
    unittest.main()
