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
ninth round. --worst: cases that the table lists. --jobs: how many cases are compiled at once (default: three for every four processors; 0:
each one when it is timed). Products and matmuls are compiled into the cache on disk by threads of this process, since tfgen's compilers are
processes of their own. torch.compile needs a process for each: these processes keep what they have compiled and checked, and when all of
them have stopped compiling, they time their cases one after another (turns.py). --rehearse: small sizes, without a GPU on PyTorch's CPU and
the host engine; its times mean nothing. TFGEN_LIBRARY names libtfgen.so. Needs PyTorch; `slices.py FILE...` prints a table without it."""
import argparse
import concurrent.futures
import math
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import drawn  # noqa: E402
import turns  # noqa: E402
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
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)  # a process of turns.py; the value is the GPU's bandwidth


def todo(cases, state):
    return [c for c in cases if not state.has(c.seed, c.index)]


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


def compile_ahead(options, cases, deadline):
    start = time.monotonic()
    if options.jobs and cases:
        compile_products(options.jobs, cases, deadline)
        print(f"{len(cases)} products compiled in {time.monotonic() - start:.0f} s", flush=True)


# ---- timed
def row_of(case, outcome):
    row = {"seed": case.seed, "index": case.index, "kind": case.kind, "case": str(case), "dtype": case.dtype, "dims": case.dims}
    return {**row, **outcome}


def outcome_of(call):
    """What the call adds to contest.rows; "failed", if it adds nothing or finds wrong results."""
    import contest
    before, wrong = len(contest.rows), len(contest.wrong)
    call()
    outcome = contest.rows[before] if len(contest.rows) > before else {"failed": "it did not run"}
    return {**outcome, "failed": "its results are wrong"} if len(contest.wrong) > wrong and len(contest.rows) > before else outcome


def timed(case):
    """The row of a case."""
    import cases
    import contest
    return row_of(case, outcome_of(lambda: contest.attempt(cases.operation, case)))


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


# ---- timed in turn by processes that prepare cases side by side (turns.py)
def autotune_alone():
    """torch.compile times configurations of a kernel against each other: lets it do that while no other process uses the GPU."""
    from torch._inductor.runtime import triton_heuristics
    tuner, method = getattr(triton_heuristics, "CachingAutotuner", None), "benchmark_all_configs"
    inner = getattr(tuner, method, None)

    def outer(*args, **named):
        with turns.alone():
            return inner(*args, **named)
    if inner:
        setattr(tuner, method, outer)


def serve(options, cases_):
    """What a process does that turns.py starts. A case's number is its index in cases_."""
    import torch
    import cases
    import contest
    from race import ON_GPU, Ours, give_back_memory
    contest.using_gpu, contest.most_seconds, contest.BANDWIDTH = turns.alone, options.seconds, options.serve
    if ON_GPU:
        autotune_alone()

    def make(case):
        Ours.compile(case.text, case.dims, case.dtype).close()
        cases.operation(case)

    def prepare(number):
        contest.held, wrong = [], len(contest.wrong)
        contest.attempt(make, cases_[number])
        give_back_memory()
        return contest.held, len(contest.wrong) > wrong

    def measure(number, kept):
        made, wrong = kept
        outcome = outcome_of(lambda: [contest.finish(**m) for m in made])
        give_back_memory()
        return row_of(cases_[number], {**outcome, "failed": "its results are wrong"} if made and wrong else outcome)

    def free():
        have = torch.cuda.mem_get_info() if ON_GPU else (1, 1)
        return have[0] / have[1]
    with torch.no_grad():
        turns.serve(prepare, measure, free)


def time_in_turn(options, cases_, state, deadline, bandwidth):
    """Times those cases by several processes that the state does not have; returns those that the time was too short for."""
    def lost(number):
        state.add(row_of(cases_[number], {"failed": "its process ended"}))
    command = [sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:], f"--serve={bandwidth}"]
    numbers = [i for i, c in enumerate(cases_) if not state.has(c.seed, c.index)]
    several = turns.Turns(numbers, deadline, lambda _, row: state.add(row), lost, 0.8 * options.seconds + 0.1)
    return [cases_[i] for i in several.run(command, options.jobs)]


def run(options, cases):
    """Times the cases that the state does not have, and prints the table; returns the exit code."""
    start, cases = time.monotonic(), [drawn.small(c) if options.rehearse else c for c in cases]
    random.seed(options.seed)
    if options.serve:
        serve(options, by_torch(cases))
        return 0
    state, deadline = State(options.state), start + options.within
    products = [c for c in todo(cases, state) if c.kind in drawn.PRODUCTS]
    compile_ahead(options, products, start + AHEAD * options.within)
    import torch
    import contest
    from race import ON_GPU, measured_bandwidth
    if not ON_GPU and not options.rehearse:
        sys.exit("ops.py: PyTorch sees no GPU; without one, --rehearse tests the script")
    contest.most_seconds, contest.BANDWIDTH = options.seconds, measured_bandwidth()
    with torch.no_grad():
        late = time_cases(products if options.jobs else todo(cases, state), state, deadline)
    if options.jobs and todo(by_torch(cases), state):
        late += time_in_turn(options, by_torch(cases), state, deadline, contest.BANDWIDTH)
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
