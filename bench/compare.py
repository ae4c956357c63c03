#!/usr/bin/env python3
"""Compares tfgen with its peers, which are what a user would pick instead (cuBLAS, cuDNN, eager PyTorch, torch.compile), on one GPU, in one
process, on the same inputs.

usage: compare.py [products] [few] [fused] [attention] [rows] [blocks] [fp32] [decode] [sweep] [presets] [drawn] [levels] [long]
                  [--only=TEXT,TEXT] [--count=N] [--seed=1] [--tune] [--alone[=TEXT,TEXT]] [--other=FOLDER] [--within=SECONDS]
                  [--json=FILE] [--rehearse]
                  default: all parts but sweep, presets, drawn, levels and long
       compare.py tuned|kept --state=FOLDER [--budget=55] [--within=SECONDS] [--count=10] [--seed=1] [--only=TEXT,TEXT]
                  [--alone[=TEXT,TEXT]] [--json=FILE] [--rehearse]

few: products of 1 to 64 rows. decode: blocks that generate one token per sequence, over a cache. sweep: --count (40) decode blocks of
shapes drawn by --seed. presets: half of all presets of all shipped specs, without peers; --seed draws the half and the dtypes. drawn:
--count (8) cases of each kind that ops.py draws, with peers, and as many attentions and row operations, without peers. (Parts presets and
drawn compare results with evaluate.py's evaluation of the spec.) levels: --count (20) decode blocks of 1 to 64 rows that ops.py draws, at
fusion levels tile, block and auto; the run fails if auto is, beyond noise, more than 3 % slower than the faster of tile and block. long:
sums over K > 65536 with few outputs, and matrices times a vector; some are fixed, and --count (6) of each are drawn by --seed.

--tune: also times torch.compile's max-autotune. --only: runs only cases whose name contains a TEXT. --alone: no peers for cases whose name
contains a TEXT (without TEXT: for all). --within: begins no case after SECONDS.

--other: times another build of tfgen (`before` in the output) in the same process and in turn with this one. FOLDER: a built checkout, or
what tests/h200/prepare_compare.sh made. Its results must meet the same limits. Each case prints the speed-up of this build over it with its
standard error, and the end the geometric mean and the lowest ten; the run fails if a case is slower beyond noise (is_slower in builds.py).
Each build uses the wisdom that is part of it; TFGEN_WISDOM=none disables both.

tuned: times tfgen untuned, tfgen with what `tfgen tune` finds in --budget seconds (at most 10 for an operation), and torch.compile's
max-autotune, in turn, and reports the tuning time of each: blocks and decode blocks of the presets, --count row operations, and twice
--count cases that ops.py draws from --seed. --state keeps wisdom, trials and results; finished cases are skipped, and no case is begun that
would not end within --within seconds, so a run can be continued. Processes that share one --state, each with its GPU
(CUDA_VISIBLE_DEVICES), divide the cases. kept: for each line of wisdom that a `tuned` run found faster, times a plan with this line alone
against the default plan; fails if a line is not faster by three standard errors, and writes those that are to confirmed.wisdom. TFGEN names
the command (default: tfgen next to this folder).

--rehearse: runs small cases, without a GPU on PyTorch's CPU and the host engine: it tests the script, and its times mean nothing.

Every time is GPU time of one call: the median of CUDA-graph replays of several calls over rotated inputs, with the 10 % and 90 % points.
The contenders of a case (tfgen and its peers) take turns, in an order drawn for each round, so clocks and heat are the same for all of
them. All results are compared with PyTorch in float32 (float64 for fp32 cases) before anything is timed; a case that disagrees is printed
as WRONG and fails the run. floor: max(FLOPs / peak, bytes / bandwidth), where bandwidth is that of the device's best copy. TFGEN_LIBRARY
names libtfgen.so.
Needs PyTorch."""
import json
import math
import os
import random
import sys
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases  # noqa: E402
import contest  # noqa: E402
from builds import before_table, build_of, is_slower  # noqa: E402
from contest import late, rows, wrong  # noqa: E402
from race import ON_GPU, measured_bandwidth  # noqa: E402
from shapes import SHAPES  # noqa: E402
from tuned import Tuning  # noqa: E402

PARTS = ("products", "few", "fused", "attention", "rows", "blocks", "fp32", "decode", "sweep", "presets", "drawn", "levels", "long",
         "tuned", "kept")


def drawn_options(part, options):
    """Those of --count and --seed that were given and that this part takes."""
    takes = {"presets": ("seed",)}.get(part, ("count", "seed") if part in ("sweep", "drawn", "levels", "long", "tuned", "kept") else ())
    return {n: int(options[n]) for n in takes if n in options}


def run_parts(parts, asked, options):
    for part in asked:
        with torch.no_grad():
            parts[part]("tune" in options, **drawn_options(part, options))
        if "json" in options and contest.planned is None:
            with open(options["json"], "w") as f:
                json.dump(rows, f, indent=1)


def main():
    parts = {name: getattr(cases, {"rows": "rows_"}.get(name, name)) for name in PARTS}
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    asked = [a for a in sys.argv[1:] if not a.startswith("--")] or list(PARTS[:8])
    known = ("tune", "json", "only", "count", "seed", "state", "budget", "within", "alone", "rehearse", "other")
    strange = [o for o in options if o not in known] + [a for a in asked if a not in PARTS]
    if strange:
        sys.exit(f"compare.py: {strange[0]}: unknown part or option\n\n{__doc__}")
    if ("state" in options) != (asked in (["tuned"], ["kept"])):
        sys.exit("compare.py: tuned and kept cannot be combined with other parts, and need --state=FOLDER")
    if "state" in options and "other" in options:
        sys.exit("compare.py: tuned and kept time this build only; --other is for the other parts")
    if not ON_GPU and "rehearse" not in options:
        sys.exit("compare.py: PyTorch sees no GPU; without one, --rehearse tests the script")
    if "rehearse" in options:
        contest.rehearsal = cases.small
        SHAPES.update({name: (1, 6, 32, 2, 1, 16, 48) for name in SHAPES})
    contest.other = build_of(options["other"]) if "other" in options else None
    contest.alone = tuple(options["alone"].split(",")) if "alone" in options else ()
    contest.deadline = time.monotonic() + float(options.get("within", math.inf))
    if "state" in options:
        os.environ["TFGEN_WISDOM"] = "none"  # for the untuned contender
        contest.tuning = Tuning(options["state"], float(options.get("budget", 55)),
                                os.environ.get("TFGEN", os.path.join(HERE, "..", "tfgen")), "cuda" if ON_GPU else "host")
    contest.only = tuple(filter(None, options.get("only", "").split(",")))
    torch.manual_seed(1)
    random.seed(1)
    contest.BANDWIDTH = measured_bandwidth()
    print(f"{torch.cuda.get_device_name() if ON_GPU else 'no GPU'}, PyTorch {torch.__version__}, "
          f"copies {contest.BANDWIDTH / 1e12:.2f} TB/s")
    if not contest.tuning:
        contest.compile_ahead(lambda: run_parts(parts, asked, options))
    run_parts(parts, asked, options)
    if late:
        print(f"{len(late)} cases were not begun in the time: {late[0]} and those after it")
    if contest.other:
        print(before_table(rows))
    if wrong:
        print(f"{len(wrong)} cases WRONG or failed: {wrong}")
    return 1 if wrong or any(is_slower(r) for r in rows if r.get("over_before")) else 0


if __name__ == "__main__":
    sys.exit(main())
