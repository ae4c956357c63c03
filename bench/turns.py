"""Cases that several processes prepare side by side and time in turn. A process prepares a case: it compiles what the case runs, checks the
results and captures the calls in CUDA graphs. It keeps what it has prepared until all processes stop preparing, because nothing is left to
prepare, or because too little time or memory is. Then one process after the other times its cases while the others wait, so nothing else
runs on the GPU or the processors. Needs PyTorch in the processes only.

Parent and processes talk by lines: a message is MARK and a dict in JSON; the parent prints all other lines that a process writes."""
import contextlib
import fcntl
import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

MARK = "@turns "
LOCK = "TFGEN_BENCH_LOCK"  # environment variable: a file that is locked by the process that alone may use the GPU
KEPT_FREE = 0.2            # share of the GPU's memory below which no case is begun; a case's results in float64 have to fit in it


# ---- a process
def send(to, **message):
    to.write(MARK + json.dumps(message) + "\n")
    to.flush()


@contextlib.contextmanager
def alone():
    """While one process is in here, others wait at their own alone()."""
    with open(os.environ[LOCK], "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def serve(prepare, measure, free):
    """Does what the parent asks. prepare: takes a case's number and returns what is kept of it; measure: takes both and returns a dict, the
    case's row; free: returns the share of the GPU's memory that is free."""
    kept = []
    send(sys.stdout, free=free())
    for line in sys.stdin:
        asked = json.loads(line[len(MARK):])
        if "prepare" in asked:
            kept.append((asked["prepare"], prepare(asked["prepare"])))
            send(sys.stdout, free=free())
            continue
        for number, case in kept:
            if time.monotonic() < asked["until"]:
                send(sys.stdout, number=number, row=measure(number, case))
        kept.clear()
        send(sys.stdout, free=free())


# ---- the parent
class Process:
    """kept: numbers of the cases that it has prepared. number: that of the case that it prepares, None if it waits."""

    def __init__(self, command, environment, said):
        self.kept, self.number, self.begun, self.starting, self.ended = [], None, 0.0, True, False
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        threading.Thread(target=self.read, args=(said,), daemon=True).start()

    def read(self, said):
        with self.process.stdout as lines:
            for line in lines:
                said.put((self, json.loads(line[len(MARK):]) if line.startswith(MARK) else line.rstrip("\n")))
        said.put((self, None))

    def ask(self, **message):
        with contextlib.suppress(BrokenPipeError):
            send(self.process.stdin, **message)

    def end(self):
        self.ended = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()

    def cases(self):
        return self.kept + ([] if self.number is None else [self.number])

    def works(self):
        return not self.ended and (self.starting or self.number is not None)


class Turns:
    """Prepares and times cases, which are numbers here, so that all have ended at the deadline. row: takes a case and its row; lost: takes
    a case whose process ended. each: seconds that a case is expected to be timed."""

    def __init__(self, cases, deadline, row, lost, each=1.0):
        self.todo, self.deadline, self.row, self.lost, self.each = list(cases), deadline, row, lost, each
        self.said, self.processes, self.late, self.free, self.longest = queue.Queue(), [], [], 1.0, 0.0

    def timing_seconds(self):
        """Seconds that it takes to time all cases that were begun."""
        return self.each * sum(len(p.cases()) for p in self.processes if not p.ended)

    def begin(self, process):
        """Has the process prepare another case, if that is likely to be timed before the deadline, too."""
        ends = time.monotonic() + self.longest + self.timing_seconds() + self.each
        if self.todo and self.free > KEPT_FREE and ends < self.deadline:
            process.number, process.begun = self.todo.pop(0), time.monotonic()
            process.ask(prepare=process.number)

    def lose(self, process):
        for number in process.cases():
            self.lost(number)
        process.end()

    def take(self, limit):
        """What a process says next, as (process, dict), None after `limit` seconds. Prints what is no message."""
        ends = time.monotonic() + limit
        while True:
            try:
                process, said = self.said.get(timeout=min(max(0.0, ends - time.monotonic()), threading.TIMEOUT_MAX))
            except queue.Empty:
                return None
            if isinstance(said, str):
                print(said, flush=True)
            elif said is None and not process.ended:
                self.lose(process)
                return process, {}
            elif said is not None and not process.ended:
                return process, said

    def prepare(self):
        for process in self.processes:
            if not process.ended and not process.starting:
                self.begin(process)
        while any(p.works() for p in self.processes):
            got = self.take(self.deadline - self.timing_seconds() - time.monotonic())
            if got is None:
                for process in filter(Process.works, self.processes):
                    self.late += process.cases()
                    process.end()
                return
            process, said = got
            if "free" in said:
                if process.number is not None:
                    self.longest = max(self.longest, time.monotonic() - process.begun)
                    process.kept.append(process.number)
                process.number, process.starting, self.free = None, False, said["free"]
                self.begin(process)

    def time(self):
        for process in [p for p in self.processes if not p.ended and p.kept]:
            process.ask(until=self.deadline)
            while not process.ended:
                own, said = self.take(math.inf)
                if own is process and "row" in said:
                    process.kept.remove(said["number"])
                    self.row(said["number"], said["row"])
                elif own is process and "free" in said:
                    self.late, process.kept, self.free = self.late + process.kept, [], said["free"]
                    break

    def run(self, command, jobs):
        """command: that of a process, which calls serve(). Returns the numbers of the cases that the time was too short for."""
        with tempfile.NamedTemporaryFile() as lock:
            environment = {**os.environ, LOCK: lock.name, "TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}
            self.processes = [Process(command, environment, self.said) for _ in range(min(jobs, len(self.todo)))]
            before = None
            while self.todo and len(self.todo) != before:
                before = len(self.todo)
                self.prepare()
                self.time()
            for process in self.processes:
                process.end()
        return sorted(self.late + self.todo)
