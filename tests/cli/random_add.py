#!/usr/bin/python3
"""In: reports of `tfgen verify --random=N --first=I --seed=K --json`, one per slice of a seed. Out: a summary of all: specs and outcomes
per target and dtype, causes of failures, and for each op the largest and smallest ratio of error to bound over all values, and the largest
RMS of these ratios over the elements of one value. Refuses (exit 2) slices of one seed that overlap, which would count twice. Exit 1 if
anything failed, or if a pair of target and dtype has fewer specs than --least."""
import argparse
import collections
import json
import sys

GOOD = ("good", "refused", "target", "dtype", "specs", "not run")


def overlapping(reports):
    spans = sorted((r["seed"], r["first"], r["first"] + r.get("asked", r["specs"])) for r in reports)
    return [b for a, b in zip(spans, spans[1:]) if a[0] == b[0] and b[1] < a[2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+")
    parser.add_argument("--least", type=int, default=0, help="specs that each pair must have")
    options = parser.parse_args()
    reports = []
    for path in options.reports:
        with open(path, encoding="utf-8") as file:
            reports.append(json.load(file))
    twice = overlapping(reports)
    if twice:
        sys.exit(print("these slices overlap others: " + ", ".join(f"seed {s} from {f}" for s, f, _ in twice), file=sys.stderr) or 2)
    pairs, causes, ratios = collections.defaultdict(collections.Counter), {}, {}
    for report in reports:
        for row in report["cases"]:
            pairs[row["target"], row["dtype"]].update({k: v for k, v in row.items() if isinstance(v, int)})
        for cause in report["causes"]:
            known = causes.setdefault(cause["cause"], dict(cause, count=0))
            known["count"] += cause["count"]
        for op, r in report["ratios"].items():
            known = ratios.setdefault(op, [0, 0.0, 0.0, 0.0, 0.0])
            known[0] += r["values"]
            known[1] = max(known[1], r["largest"])
            known[2] = min(x for x in (known[2], r["smallest"]) if x > 0) if known[2] or r["smallest"] else 0.0
            known[3:] = max(known[3], r["rms"]), max(known[4], r["rms_f32"])
    print("| target | dtype | specs | good | refused | failed |\n|---|---|---|---|---|---|")
    failed = 0
    for (target, dtype), row in sorted(pairs.items()):
        bad = sum(v for k, v in row.items() if k not in GOOD)
        failed += bad
        print(f"| {target} | {dtype} | {row['specs']} | {row['good']} | {row['refused']} | {bad} |")
    print("\n| op | values | largest error over bound | smallest above 0 | largest RMS of a value | in f32 |\n|---|---|---|---|---|---|")
    for op, (values, largest, smallest, rms, rms_f32) in sorted(ratios.items()):
        print(f"| {op} | {values} | {largest:.3g} | {smallest:.3g} | {rms:.3g} | {rms_f32:.3g} |")
    print()
    for cause in sorted(causes.values(), key=lambda c: -c["count"]):
        print(f"{cause['count']} times {cause['cause']} (first {cause['first']})")
    few = [f"{t} {d}" for (t, d), row in sorted(pairs.items()) if row["specs"] < options.least]
    if few:
        print(f"fewer than {options.least} specs: " + ", ".join(few))
    total = sum(r["specs"] for r in reports)
    print(f"{total} specs in {len(reports)} slices, {sum(r['kernels'] for r in reports)} kernels, "
          f"{sum(r['unjudged'] for r in reports)} elements not judged, {failed} cases failed")
    sys.exit(1 if failed or few else 0)


main()
