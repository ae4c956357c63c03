#!/usr/bin/env python3
"""In: a command that runs the drawn specs {first} to {first}+{count}-1 and prints their report as JSON. Out: OUT/NAME/FIRST.json for each
slice that reported, as many slices as SECONDS and the processors allow, and OUT/NAME.txt: what tests/cli/random_add.py makes of them, the
slices that did not end, and the next free index. Shortly before SECONDS are over, what still runs gets SIGTERM, at which `tfgen verify`
reports the specs that it has done; these count. Refuses to count a slice that reports nothing then, that printed no report, or that ends
as nobody expects; the last two are failures (exit 1), as is a failed case.

usage: random_slices.py OUT NAME --seconds=S --first=I --count=N [--jobs=J] [--gpus=G] -- COMMAND..."""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENDED, STOPPED, CUT, BROKEN = "ended", "stopped", "did not end", "broken"
REPORTED = (0, 1)  # exit codes of a report: all good, a case failed. tfgen's other codes and those of Python mean that there is none
GRACE = 3  # seconds from SIGTERM to the limit


class Schedule:
    """Which slices are run: one after the other from the first index. Near the limit they are short enough to end before it. After
    `patience` broken slices in a row none is begun: then the machine is at fault."""

    def __init__(self, first, count, limit, most=None, patience=1):
        self.next, self.count, self.limit, self.last = first, count, limit, None if most is None else first + most
        self.seconds = []  # per spec, of each slice
        self.states = {}  # first index -> state
        self.patience, self.broken_in_a_row = patience, 0

    def usual(self):
        """Seconds per spec that 19 of 20 slices did not exceed."""
        return sorted(self.seconds)[int(0.95 * (len(self.seconds) - 1))] if self.seconds else 0

    def take(self, now):
        """The first index and the count of a slice that begins at `now`, or None."""
        if now >= self.limit or self.broken_in_a_row >= self.patience:
            return None
        count = self.count if now + self.count * self.usual() < self.limit else int((self.limit - now) / self.usual())
        if self.last is not None:
            count = min(count, self.last - self.next)
        if count <= 0:
            return None
        self.next += count
        return self.next - count, count

    def note(self, first, state, seconds):
        """`seconds`: what each of its specs took."""
        self.states[first] = state
        self.broken_in_a_row = self.broken_in_a_row + 1 if state == BROKEN else 0
        if state == ENDED:
            self.seconds.append(seconds)

    def those(self, state):
        return sorted(f for f, s in self.states.items() if s == state)


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder, self.lock, self.start = options, folder, threading.Lock(), time.monotonic()
        self.schedule = Schedule(options.first, options.count, options.seconds - GRACE, options.most, patience=options.jobs + 2)

    def now(self):
        return time.monotonic() - self.start

    def run_slice(self, slot, first, count):
        """The state in which a slice ended."""
        command = [a.replace("{first}", str(first)).replace("{count}", str(count)) for a in self.options.command]
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES=str(slot % self.options.gpus)) if self.options.gpus else None
        path = f"{self.folder}/{first}"
        with open(f"{path}.part", "wb") as out, open(f"{path}.err", "wb") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True)
            stopped, code = self.wait(process)
        try:
            with open(f"{path}.part", encoding="utf-8") as f:
                json.load(f)
        except ValueError:
            return CUT if stopped else BROKEN
        if code not in (*REPORTED, -signal.SIGTERM if stopped else 0):
            return BROKEN
        os.rename(f"{path}.part", f"{path}.json")
        return STOPPED if stopped else ENDED

    def left(self):
        return max(0.0, self.options.seconds - GRACE - self.now())

    def wait(self, process):
        """(whether the clock stopped it, its exit code)"""
        try:
            return False, process.wait(self.left())
        except subprocess.TimeoutExpired:
            process.terminate()  # itself alone: cases under way in its children would count as crashes
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)  # its children, too
        except ProcessLookupError:
            pass
        return True, process.wait()

    def work(self, slot):
        while True:
            with self.lock:
                taken = self.schedule.take(self.now())
            if not taken:
                return
            began = self.now()
            state = self.run_slice(slot, *taken)
            with self.lock:
                self.schedule.note(taken[0], state, (self.now() - began) / taken[1])

    def run(self):
        threads = [threading.Thread(target=self.work, args=(slot,)) for slot in range(self.options.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def said(self, first):
        """The first line of a slice's messages that is about a case."""
        with open(f"{self.folder}/{first}.err", encoding="utf-8", errors="replace") as f:
            lines = [line.strip() for line in f if line.strip()]
        return lines[0][:300] if lines else ""

    def report(self):
        """(text, whether all is good)"""
        s = self.schedule
        reports = [f"{self.folder}/{f}.json" for f in s.those(ENDED) + s.those(STOPPED)]
        good, lines = bool(reports), []
        if reports:
            added = subprocess.run([sys.executable, f"{TESTS}/cli/random_add.py", *reports], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
            lines, good = [added.stdout.rstrip()], added.returncode == 0
        for state in (CUT, BROKEN):
            for first in s.those(state):
                lines.append(f"slice {first} {state}, not counted; it said: {self.said(first)}")
        good = good and not s.those(BROKEN)
        lines.append(f"{self.options.name}: {len(s.those(ENDED))} slices of {s.count} ended, {len(s.those(STOPPED))} stopped and "
                     f"counted, {len(s.those(CUT))} did not end, {len(s.those(BROKEN))} broken; "
                     f"{self.now():.0f} s, {self.options.jobs} at a time; next free index {s.next}")
        return "\n".join(lines) + "\n", good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, required=True, help="the limit; whatever runs then is ended")
    parser.add_argument("--first", type=int, required=True, help="index of the first drawn spec")
    parser.add_argument("--count", type=int, required=True, help="specs a slice")
    parser.add_argument("--most", type=int, help="specs in all, at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="slices at a time")
    parser.add_argument("--gpus", type=int, default=0, help="slices take turns on so many GPUs")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    folder = os.path.join(options.out, options.name)
    os.makedirs(folder, exist_ok=True)
    runner = Runner(options, folder)
    runner.run()
    text, good = runner.report()
    with open(f"{folder}.txt", "w", encoding="utf-8") as f:
        f.write(text)
    print(text, end="")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
