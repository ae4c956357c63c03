#!/usr/bin/env python3
"""Drawn cases beside cuBLAS, cuDNN, eager PyTorch and torch.compile on one GPU, in one process and in turn: products, matmuls, fused graphs
around one product, prefill blocks, and decode blocks of 1 to 512 rows, in bf16, f16 and f32 (drawn.py).

usage: ops.py [--seed=1] [--count=40] [--first=0] [--kinds=product,matmul,fused,prefill,decode] [--dtypes=bf16,f16,f32]
              [--rows=FIRST-LAST] [--within=SECONDS] [--seconds=2] [--state=FILE] [--worst=10] [--jobs=N] [--rehearse]

Every contender's results are compared with the spec's ops in float64 before its time counts; a wrong one is reported and left out, and if
tfgen is wrong the run fails. Times are taken as compare.py takes them. At the end: geometric means by kind, the worst ten, and the cases
below 0.85 of the best contender. The only contender of a product or matmul is cuBLAS; in f32, tfgen's errors are compared with cuBLAS's,
too.

--seed: one or several, as 1,2,3: --count cases of each. --rows=65-512: leaves out cases of fewer or more rows (rows of A, or of all
sequences of a block together; matmuls are never left out).

--state: keeps results; cases that it has are not timed again, so a run can be done in slices; the table shows all cases of the seed in it.
--within: begins no case that is unlikely to end in that time. --seconds: a case's rounds end after so many seconds, but not before the
ninth round. --worst: cases that the table lists. --jobs: how many processes or threads compile tfgen's and torch.compile's kernels into the
caches on disk before anything is timed (default: three for every four processors; 0: none). Products and matmuls are compiled by threads of
this process, since tfgen's compilers are processes of their own; torch.compile needs a process each. --rehearse: small sizes, without a GPU
on PyTorch's CPU and the host engine; its times mean nothing. TFGEN_LIBRARY names libtfgen.so. Needs PyTorch; `slices.py FILE...` prints a
table without it."""
import argparse
import concurrent.futures
import math
import os
import random
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import drawn  # noqa: E402
from slices import State, table  # noqa: E402

AHEAD = 0.6  # share of the available time that compiling ahead may take


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    drawn.add_options(parser)
    add_options(parser)
    return parser.parse_args(arguments)


def add_options(parser):
    """Adds the options that all commands that time cases have in common (this one, models.py)."""
    parser.add_argument("--within", type=float, default=math.inf)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--state")
    parser.add_argument("--worst", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) * 3 // 4)
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--ahead", help=argparse.SUPPRESS)  # K/N: this process compiles the K-th of N parts and times nothing


def todo(cases, options, state):
    return [drawn.small(c) if options.rehearse else c for c in cases if not state.has(c.seed, c.index)]


# ---- compiling ahead of the timed part
def by_torch(cases):
    """The cases that torch.compile also runs."""
    return [c for c in cases if c.kind not in drawn.PRODUCTS]


def compile_products(jobs, cases, deadline):
    """Begins no compile after the deadline, and waits for those that had begun."""
    from race import Ours

    def compile_one(case):
        Ours.compile(case.text, case.dims, case.dtype).close()
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    compiled = {pool.submit(compile_one, c): c for c in cases}
    done, _ = concurrent.futures.wait(compiled, None if deadline == math.inf else max(0.0, deadline - time.monotonic()))
    pool.shutdown(cancel_futures=True)
    for one in done:
        if one.exception():
            print(f"  ahead: {compiled[one]}: {type(one.exception()).__name__} {str(one.exception())[:120]}", flush=True)


def compile_part(cases, part):
    """Runs in its own process: fills the caches with what a case compiles. Failures are reported when the case is timed."""
    import torch
    from cases import operation_data, operation_peers
    from evaluate import Spec
    from race import Ours
    first, step = (int(n) for n in part.split("/"))
    for case in cases[first::step]:
        try:
            Ours.compile(case.text, case.dims, case.dtype)
            described = Spec(case.text, None, case.dtype, case.dims)
            with torch.no_grad():
                for name, calls in operation_peers(case, described, operation_data(described, 1)).items():
                    if name.startswith("torch.compile"):
                        calls[0]()
        except Exception as e:
            print(f"  ahead: {case}: {type(e).__name__} {str(e)[:120]}", flush=True)


def compile_ahead(options, cases, deadline):
    start, products = time.monotonic(), [c for c in cases if c.kind in drawn.PRODUCTS]
    if options.jobs and products:
        compile_products(options.jobs, products, deadline)
        print(f"{len(products)} products compiled in {time.monotonic() - start:.0f} s", flush=True)
    start, cases = time.monotonic(), by_torch(cases)
    jobs = min(options.jobs, len(cases))
    environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}
    processes = [subprocess.Popen([sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:], f"--ahead={i}/{jobs}"], env=environment,
                                  start_new_session=True) for i in range(jobs)]
    for process in processes:
        try:
            process.wait(None if deadline == math.inf else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if jobs:
        print(f"{len(cases)} cases compiled by {jobs} processes in {time.monotonic() - start:.0f} s", flush=True)


# ---- timed
def timed(case):
    """The row of a case."""
    import cases
    import contest
    before, wrong = len(contest.rows), len(contest.wrong)
    contest.attempt(cases.operation, case)
    row = {"seed": case.seed, "index": case.index, "kind": case.kind, "case": str(case), "dtype": case.dtype, "dims": case.dims}
    row.update(*contest.rows[before:])
    if len(contest.wrong) > wrong or len(contest.rows) == before:
        row["failed"] = "its results are wrong" if len(contest.rows) > before else "it did not run"
    return row


def time_cases(todo_, state, deadline):
    """Times cases until the time is up; returns those that are left."""
    longest = 0.0
    for i, case in enumerate(todo_):
        start = time.monotonic()
        if start + longest > deadline:
            return todo_[i:]
        state.add(timed(case))
        longest = max(longest, time.monotonic() - start)
    return []


def run(options, cases):
    """Times the cases that the state does not have, and prints the table; returns the exit code."""
    start = time.monotonic()
    state, deadline = State(options.state), start + options.within
    cases_ = todo(cases, options, state)
    if options.ahead:
        compile_part(by_torch(cases_), options.ahead)
        return 0
    compile_ahead(options, cases_, start + AHEAD * options.within)
    import torch
    import contest
    from race import ON_GPU, measured_bandwidth
    if not ON_GPU and not options.rehearse:
        sys.exit("ops.py: PyTorch sees no GPU; without one, --rehearse tests the script")
    contest.most_seconds, contest.BANDWIDTH = options.seconds, measured_bandwidth()
    random.seed(options.seed)
    with torch.no_grad():
        late = time_cases(cases_, state, deadline)
    print(f"\n{torch.cuda.get_device_name() if ON_GPU else 'no GPU'}, PyTorch {torch.__version__}, seed {options.seed}, "
          f"{time.monotonic() - start:.0f} s")
    if late:
        print(f"{len(late)} cases were not begun in the time: {late[0]} and those after it")
    seeds = options.seed.split(",")
    rows = [row for (seed, _), row in sorted(state.rows.items()) if seed in seeds]
    print(table(rows, options.worst))
    return 1 if any("failed" in row for row in rows) else 0


def main():
    options = options_of(sys.argv[1:])
    return run(options, drawn.chosen(options))


if __name__ == "__main__":
    sys.exit(main())
