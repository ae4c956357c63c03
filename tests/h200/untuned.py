#!/usr/bin/env python3
"""In: tfgen and a GPU. Out: how much slower the cost model's tiles are than the best that `tfgen tune` finds: one line per case, then for
each kind of case the geometric mean of tuned time over untuned time (1: equally fast) and the worst cases by name. Refuses (exit 1) a case
whose candidates were wrong or that did not run; a goal that is missed is printed and is no failure.

usage: untuned.py TFGEN OUT [--seed=1] [--first=0] [--seconds=100] [--part=0/1] [--jobs=N] [--budget=1]
                  [--kinds=presets,product,matmul,fused,prefill,decode,attention,rows]
       untuned.py --add FILE...

Cases are every preset of every shipped spec, 20 of each kind that bench/drawn.py draws, 30 attentions and 30 row operations, in an order
that the seed draws, too, so that any slice of them is a sample of all. A slice begins at case FIRST and begins none after SECONDS; its
cases are appended to OUT/untuned-SEED.jsonl, from which the summary is made, and the next index is printed. All trials are in
OUT/trials.db. --part=K/N: one of N processes, each with its own GPU and folder; it runs cases K, K+N, ...; --jobs: compilers at once;
--budget: multiplies the seconds of each case (BUDGET). --add: runs nothing; prints a table of the cases of several files, and the sums of
all."""
import argparse
import json
import os
import random
import subprocess
import sys
import time
from statistics import geometric_mean

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "bench"))
import drawn as drawing  # noqa: E402
from drawn import between, length  # noqa: E402

KINDS = {"presets": None, **dict.fromkeys(drawing.KINDS, 20), "attention": 30, "rows": 30}
BUDGET = {"presets": 10, "product": 6, "matmul": 6, "fused": 8, "prefill": 12, "decode": 12, "attention": 6, "rows": 4}  # seconds of a case
GOAL, LEAST = 0.95, 0.85
PRESETS = ("tiny-small", "tiny-medium", "exercise", "llama-1b", "llama-8b")


def dtype_of(draw):
    return draw.choice(("bf16",) * 12 + ("f16",) * 3 + ("f32",) * 5)


def attention(draw):
    dtype = dtype_of(draw)
    while True:
        B, S, hd = between(draw, 1, 32), between(draw, 16, 8192, draw.choice((1, 64, 128))), draw.choice((32, 64, 64, 80, 96, 128, 128))
        KV, group = draw.choice((1, 2, 4, 8, 16)), draw.choice((1, 1, 2, 4, 8))
        if B * S * S * KV * group * hd <= (1e10 if dtype == "f32" else 1e11) and KV * group <= 64:
            return "attention", {"B": B, "S": S, "H": KV * group, "KV": KV, "hd": hd}, dtype


def row(draw):
    while True:
        S, D = between(draw, 1, 8192), length(draw, 64, 16384)
        if S * D <= 1 << 26:
            return draw.choice(("rmsnorm", "layernorm", "softmax", "l2norm", "elementwise")), {"B": 1, "S": S, "D": D}, dtype_of(draw)


def drawn(kind, seed):
    """(name, spec, options) of a kind's cases. Each case has its own random numbers, so that drawing more of them changes none."""
    draw_one = {"attention": attention, "rows": row}[kind]
    for i in range(KINDS[kind]):
        name, dims, dtype = draw_one(random.Random(f"{kind} {seed} {i}"))
        text = ",".join(f"{d}={v}" for d, v in dims.items())
        yield f"{name} {dtype} {text}", f"specs/{name}.yaml", [f"--dim={text}", f"--dtype={dtype}"]


def operations(kind, seed, folder):
    """The same for a kind that bench/drawn.py draws; writes the cases' specs."""
    for case in drawing.cases_of(seed, KINDS[kind], kinds=(kind,)):
        yield f"{case} {case.dtype}", drawing.write(folder, case), drawing.options_of(case)


def presets():
    folder = os.path.join(ROOT, "specs")
    for file in sorted(f for f in os.listdir(folder) if f.endswith(".yaml")):
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            text = f.read()
        for preset in PRESETS:
            if f"\n  {preset}:" in text:
                yield f"{file[:-5]} {preset}", f"specs/{file}", [f"--preset={preset}"]


def cases_of(seed, kinds, folder):
    def of(kind):
        return presets() if kind == "presets" else operations(kind, seed, folder) if kind in drawing.KINDS else drawn(kind, seed)
    cases = [(k, *c) for k in kinds for c in of(k)]
    random.Random(seed).shuffle(cases)
    return cases


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


def run_case(options, kind, name, spec, more):
    budget = BUDGET[kind] * options.budget
    command = [os.path.abspath(options.tfgen), "tune", spec, *more, "--effort=quick", f"--budget={budget:g}s", "--json", "-q",
               f"--trials={options.out}/trials.db", f"--wisdom={options.out}/wisdom", "--again", f"--seed={options.seed}"]
    command += [f"--device={options.device}"] if options.device else []
    command += [f"--jobs={options.jobs}"] if options.jobs else []
    began, result = time.monotonic(), {"case": name, "kind": kind}
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=budget + 60,
                              check=False)
    except subprocess.TimeoutExpired:
        return {**result, "failed": "it did not end"}
    result["took"] = time.monotonic() - began
    if done.returncode:
        return {**result, "failed": f"exit code {done.returncode}: {last_line(done.stderr)}"}
    plan = json.loads(done.stdout)[0]
    return {**result, "untuned_us": plan["seconds"] * 1e6, "of_best": 1 / plan["gain"],
            "tried": sum(k["tried"] for k in plan["kernels"]),
            "better": [f"{k['kernel']} {k['gain']:.3f}: {k['tile']} after {k['default']}" for k in plan["kernels"] if k["how"] == "better"]}


def sums(results):
    """(text, whether every case ran)"""
    lines = []
    for kind in [*KINDS, "all"]:
        own = sorted((r["of_best"], r["case"]) for r in results if "of_best" in r and kind in (r["kind"], "all"))
        if not own:
            continue
        below = [x for x in own if x[0] < LEAST]
        lines.append(f"{kind}: {len(own)} cases, geometric mean {geometric_mean([x for x, _ in own]):.3f} (goal {GOAL}), {len(below)} "
                     f"below {LEAST}; worst " + "; ".join(f"{x:.3f} {name}" for x, name in own[:5]))
    failed = [r for r in results if "failed" in r]
    lines += [f"FAILED {r['case']}: {r['failed']}" for r in failed]
    return "\n".join(lines), not failed


def read(paths):
    """The last result of each case."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in f:
                result = json.loads(line)
                found[result["case"]] = result
    return list(found.values())


def run_slice(options):
    os.makedirs(options.out, exist_ok=True)
    path, cases = f"{options.out}/untuned-{options.seed}.jsonl", cases_of(options.seed, options.kinds, f"{options.out}/specs")
    began, at = time.monotonic(), options.first + options.part[0]
    while at < len(cases) and time.monotonic() - began < options.seconds:
        result = run_case(options, *cases[at])
        with open(path, "a", encoding="utf-8") as f:
            f.write(json.dumps(result) + "\n")
        said = result.get("failed") or f"{result['untuned_us']:9.1f} us  {result['of_best']:.3f} of the best"
        said = "; ".join([said, *result.get("better", [])])
        print(f"{at:4d} {result['case']:70s} {said}", flush=True)
        at += options.part[1]
    print(f"next index {at} of {len(cases)}")
    return read([path])


def table(results):
    """A line a case, the worst first."""
    ran = sorted((r for r in results if "of_best" in r), key=lambda r: r["of_best"])
    return "\n".join(f"{r['kind']:10s} {r['case']:70s} untuned {r['untuned_us']:9.2f} us  tuned {r['untuned_us'] * r['of_best']:9.2f} us  "
                     f"{r['of_best']:.3f}" for r in ran)


def part_of(text):
    """(K, N) of K/N."""
    k, _, n = text.partition("/")
    if not (k.isdigit() and n.isdigit() and int(k) < int(n)):
        raise argparse.ArgumentTypeError("K/N is wanted, K from 0 to N-1")
    return int(k), int(n)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tfgen", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--part", type=part_of, default=(0, 1))
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--budget", type=float, default=1)
    parser.add_argument("--device", default="", help="default: the first GPU")
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=list(KINDS))
    parser.add_argument("--add", nargs="+", default=[])
    options = parser.parse_args()
    if not options.add and not options.out:
        parser.error("TFGEN and OUT are wanted, or --add")
    if set(options.kinds) - set(KINDS):
        parser.error(f"--kinds: there are {', '.join(KINDS)}")
    options.out = options.out and os.path.abspath(options.out)
    results = read(options.add) if options.add else run_slice(options)
    text, good = sums(results)
    if options.add:
        print(table(results))
    print(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
