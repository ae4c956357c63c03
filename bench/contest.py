"""State of a run of compare.py (options, results) and the steps of a case: make its contenders (ours_of), compare their results with
PyTorch's (right), time them (report). Needs PyTorch."""
import concurrent.futures
import contextlib
import math
import os
import time
from statistics import geometric_mean

import torch

from builds import before_line
from race import (DEVICE, ON_GPU, Ours, difference, environment, gain, give_back_memory, graphs_of, rounds_of, rounds_of_graphs, spread,
                  tfgen, wait)
from tuned import tuned_line

BANDWIDTH = 0.0  # bytes/s, read and written: measured_bandwidth()
PEAK = {"bf16": 790e12, "f16": 790e12, "f32": 60e12}
TYPE = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
L2 = 64 << 20 if ON_GPU else 1 << 10
rows, wrong, late, only = [], [], [], None
tuning, key = None, None  # the Tuning of tuned.py, None unless the part is tuned or kept; the current case's name
confirm = False           # True: part kept
deadline, longest = math.inf, {}
most_seconds = math.inf   # a case's rounds end after this many seconds, but not before the ninth round
alone = ()                # --alone: texts in the names of cases that are timed without peers
other = None              # --other: environment variables that select the other build
planned = None            # a list while compile_ahead() collects what the cases will compile, else None
rehearsal = None          # --rehearse: (function, arguments) -> small arguments
held = None               # a list: report() times nothing, but appends what finish() takes
using_gpu = contextlib.nullcontext  # gives a context for work that needs much of the GPU


class Ahead(Exception):
    """Raised to leave a case that has listed what it will compile, while compile_ahead() collects."""


def ours_of(text, dims, dtype, data):
    """The case's spec compiled by this build; its `before`: by the build of --other, or None."""
    if planned is not None:
        planned.append((text, dims, dtype))
        raise Ahead
    ours = Ours(text, dims, dtype, data)
    ours.before = Ours(text, dims, dtype, data, build=other) if other else None
    return ours


LEVELS = ("tile", "block", "auto")


def by_level(text, dims, dtype, data):
    """The case's spec compiled at each fusion level, by level; a level that refuses the spec is reported and left out."""
    if planned is not None:
        planned.extend((text, dims, dtype, level) for level in LEVELS)
        raise Ahead
    built = {}
    for level in LEVELS:
        try:
            built[level] = Ours(text, dims, dtype, data, level)
        except tfgen.UnsupportedError as e:
            print(f"  level {level} left out: {str(e)[:160]}", flush=True)
    return built


def right(case, ours, want, limit, states=()):
    """Runs each build once and compares its outputs with `want` (name -> tensor). states: (tensor, expected contents after the call or
    None); restored before each build. Returns the largest difference."""
    found, kept = [], [(t, t.clone(), wanted) for t, wanted in states]
    for name, build in (("", ours), (" before", ours.before)):
        if not build:
            continue
        for tensor, was, _ in kept:
            tensor.copy_(was)
        for t in build.out[0].values():
            if t.is_floating_point():
                t.fill_(math.nan)  # an element that is not written shows
        build.calls()[0]()
        found += [agree(f"{case}{name} {n}", build.out[0][n], t, limit) for n, t in want.items()]
        found += [agree(f"{case}{name} state", tensor, wanted, limit) for tensor, _, wanted in kept if wanted is not None]
    return max(found)


def right_peers(case, peers, want, limit):
    """Calls each peer once and returns the peers whose results are right; the others are reported and left out. want: name -> tensor, in
    the order in which a call returns its outputs."""
    good = {}
    for name, calls in ({} if is_alone(case) else peers).items():
        try:
            worst = max(difference(got, t) for got, t in zip(calls[0](), want.values()))
        except Exception as e:  # a peer that cannot do the case
            print(f"  {case}: {name} failed: {type(e).__name__} {str(e)[:120]}", flush=True)
            continue
        if worst <= limit:
            good[name] = calls
        else:
            print(f"  {case}: {name} left out, relative RMS difference {worst:.3g} (limit {limit:g})", flush=True)
    return good


def is_alone(name):
    return any(text in name for text in alone)


def report(case, dtype, flops, bytes_, peers, ours, tolerance, goal=None):
    """Times a case and prints a line with the best of the peers. peers: name -> list of closures."""
    floor = max(flops / PEAK[dtype], bytes_ / BANDWIDTH) * 1e6
    if tuning:
        (report_kept if confirm else report_tuned)(case, dtype, floor, peers, ours)
        return
    before = {"before": ours.before.calls()} if ours.before else {}
    contenders = {**({} if is_alone(case) else peers), **before, "tfgen": ours.calls()}
    made = {"case": case, "dtype": dtype, "flops": flops, "floor": floor, "ours": ours, "tolerance": tolerance, "goal": goal,
            "graphs": graphs_of(case, contenders), "contenders": contenders}
    if held is not None:
        held.append(made)
        return
    finish(**made)


def finish(case, dtype, flops, floor, ours, tolerance, goal, graphs, contenders):
    """Times what report() has made. contenders: closures, which own what the graphs use."""
    times = rounds_of_graphs(graphs, *((41, 0.05) if other else ()), most=most_seconds)
    graphs.clear()
    contenders.clear()
    ours.close()
    timed = {n: spread(t) for n, t in times.items()}
    mine, was = timed.pop("tfgen"), timed.pop("before", None)
    best = min(timed, key=lambda n: timed[n][0]) if timed else None
    ratio = timed[best][0] / mine[0] if best else float("nan")
    rows.append({"case": case, "dtype": dtype, "tfgen_us": mine, "peers_us": timed, "best": best, "ratio": ratio, "floor_us": floor,
                 "of_floor": floor / mine[0], "tflops": flops / mine[0] / 1e6, "error": tolerance, "before_us": was,
                 "over_before": gain(times, "tfgen", "before") if was else None})
    if was:
        print(before_line(rows[-1]), flush=True)
    if was and not best:
        return
    print(f"{case:44s} {dtype:5s} tfgen {mine[0]:8.1f} us ({mine[1]:.1f}, {mine[2]:.1f})  "
          f"{best or '-':>16s} {timed[best][0] if best else 0:8.1f} us  "
          f"{ratio:5.2f}x  floor {floor:7.1f} us {100 * floor / mine[0]:3.0f} %  {flops / mine[0] / 1e6:6.1f} TFLOP/s"
          + (f"  goal {goal}" if goal else ""), flush=True)


def report_levels(case, dtype, built, worst):
    """Times a case's levels in turn; fails if auto is slower than the fastest level."""
    times = rounds_of(case, {level: ours.calls() for level, ours in built.items()}, 41, 0.05, most=min(most_seconds, 1.0))
    chosen = built["auto"].layer.plan.text.partition("\nlevel ")[2].split()[0]
    for ours in built.values():
        ours.close()
    timed = {n: spread(t) for n, t in times.items()}
    fixed = [n for n in times if n != "auto"]
    best = min(fixed, key=lambda n: timed[n][0])
    ratio, noise = gain(times, "auto", best)
    over = timed["tile"][0] / timed["block"][0] if "block" in timed else None
    rows.append({"case": case, "dtype": dtype, "us": timed, "auto": chosen, "block_over_tile": over, "auto_over_best": (ratio, noise),
                 "error": worst})
    slow = ratio + 3 * noise < 0.97
    if slow:
        wrong.append(f"{case}: auto takes {chosen}, {best} is faster")
    print(f"{case:60s} {dtype:5s} " + "  ".join(f"{n} {t[0]:7.1f} us ({t[1]:.1f}, {t[2]:.1f})" for n, t in timed.items())
          + f"  auto takes {chosen}, {ratio:.3f} (+-{noise:.3f}) of {best}{'  SLOW' if slow else ''}", flush=True)


def first_call_seconds(peers):
    """Seconds of each peer's first call, which compiles and tunes it, by name; without those that fail."""
    seconds = {}
    for name, calls in peers.items():
        if is_alone(key):
            continue
        start = time.monotonic()
        try:
            calls[0]()
            wait()
            seconds[name] = time.monotonic() - start
        except Exception as e:
            print(f"  {name} failed: {type(e).__name__} {str(e)[:120]}", flush=True)
    return seconds


def with_wisdom(case, dtype, ours, path):
    """The same call planned with the wisdom file `path`; checks that its results agree with those of `ours`."""
    other = Ours(*ours.given, wisdom=path)
    other.calls()[0]()
    ours.calls()[0]()
    for name, out in other.out[0].items():
        agree(f"{case} tuned {name}", out, ours.out[0][name], 2 * LIMIT[dtype])
    return other


WARM = 0.3  # seconds of warm-up: a GPU that was idle while compilers ran has low clocks


def report_tuned(case, dtype, floor, peers, ours):
    done = tuning.tune(key, *ours.given[:3], None if is_long(key) else 10)
    torch_seconds = first_call_seconds(peers)
    tuned_ = with_wisdom(case, dtype, ours, tuning.path(key, "wisdom"))
    times = rounds_of(case, {**{n: peers[n] for n in torch_seconds}, "untuned": ours.calls(), "tfgen": tuned_.calls()}, 51, WARM)
    tuned_.close()
    ours.close()
    timed = {n: spread(t) for n, t in times.items()}
    peer = next((n for n in torch_seconds if n in timed), None)
    done.update(case=case, dtype=dtype, floor_us=floor, us=timed, torch_seconds=torch_seconds, gain=gain(times, "tfgen", "untuned"),
                over_torch=gain(times, "tfgen", peer) if peer else None)
    tuning.save(done)
    rows.append(done)
    print(tuned_line(done), flush=True)


def report_kept(case, dtype, floor, peers, ours):
    """Times a plan with each kept line of wisdom, one line at a time, in turn with the default plan, in a process that did not tune."""
    for line in tuning.kept(key):
        mine = with_wisdom(case, dtype, ours, tuning.one(line))
        times = rounds_of(case, {"default": ours.calls(), "tfgen": mine.calls()}, 151, WARM)
        mine.close()
        better, noise = gain(times, "tfgen", "default")
        timed = {n: spread(t) for n, t in times.items()}
        rows.append({"case": case, "line": line, "us": timed, "gain": better, "noise": noise})
        good = better - 3 * noise > 1
        if not good:
            wrong.append(f"{case}: no gain by {line}")
        print(f"{'kept ' if good else 'NOT  '}{case:52s} default {timed['default'][0]:8.2f} us  kept {timed['tfgen'][0]:8.2f} us  "
              f"{better:6.4f}x (+-{noise:.4f})  {line}", flush=True)
    ours.close()


def agree(case, got, want, limit):
    """Relative RMS difference; above `limit` the case is reported as wrong."""
    d = difference(got, want)
    if d <= limit:
        return d
    wrong.append(case)
    print(f"{case}: WRONG, relative RMS difference {d:.3g} (limit {limit:g})", flush=True)
    return d


LIMIT = {"bf16": 1.5e-2, "f16": 2e-3, "f32": 1e-5}


def is_long(name):
    function, first = name.split()[:2]
    return function in ("block", "decode_block") or first in ("fused", "prefill", "decode")


def is_due(name):
    """True if the case is to run now. Part tuned: it is not done, there is time for it, and this process could claim it. Part kept: it has
    kept lines, and there is time."""
    if confirm:
        return bool(tuning.kept(name)) and time.monotonic() < deadline
    expected = longest.get(is_long(name), tuning.budget + 20 if is_long(name) else 20)
    return "us" not in tuning.case(name) and time.monotonic() + expected <= deadline and tuning.take(name)


def attempt(function, *args, **named):
    global key
    if rehearsal:
        args, named = rehearsal(function, args), {}
    name = f"{function.__name__} {' '.join(map(str, args))}"
    if only and not any(text in name for text in only):
        return
    key = name
    if tuning and not is_due(name):
        return
    if planned is None and not tuning and time.monotonic() > deadline:
        late.append(name)
        return
    start = time.monotonic()
    try:
        function(*args, **named)
    except Ahead:
        pass
    except RuntimeError as e:
        wrong.append(str(args))
        print(f"{function.__name__}{args}: FAILED {str(e)[:300]}", flush=True)
    if tuning and not confirm:
        longest[is_long(name)] = max(longest.get(is_long(name), 0), time.monotonic() - start)
        tuning.give_back(name)
    give_back_memory()


def compile_ahead(run_parts):
    """Compiles the kernels of every case in parallel, so that nothing is timed while compilers run. A failure is reported later, when its
    case runs."""
    global planned
    planned, start = [], time.monotonic()
    run_parts()
    cases, planned = planned, None
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as pool:
        for build in filter(lambda b: b is not None, ({}, other)):
            with environment(build):
                concurrent.futures.wait([pool.submit(Ours.compile, *case) for case in cases])
    print(f"{len(cases)} cases compiled in {time.monotonic() - start:.0f} s", flush=True)


def normal(*shape, dtype, scale=1.0):
    return torch.randn(*shape, device=DEVICE).mul_(scale).to(TYPE[dtype])


def sets(bytes_):
    return max(2, int(3 * L2 // max(bytes_, 1)) + 1)


def compiled(function, tune, modes=("default",)):
    names = list(() if tuning else modes) + (["max-autotune-no-cudagraphs"] if tune or tuning else [])
    out = {}
    for mode in names:
        torch._dynamo.reset()
        out["torch.compile" + ("" if mode == "default" else " tuned")] = torch.compile(function, mode=mode)
    return out


def conclude(what, own):
    ratios = sorted((r["ratio"], r["case"]) for r in own)
    if ratios:
        print(f"{len(ratios)} {what}: geometric mean {geometric_mean([r for r, c in ratios]):.3f} of torch.compile, worst "
              + "; ".join(f"{r:.2f} {c}" for r, c in ratios[:3]) + "  goal >= 1.10", flush=True)
