#!/usr/bin/env python3
"""In: specs. Out: each preset, run by `tfgen run --device=cuda` on random data and compared with the spec's own text evaluated by PyTorch
in float64 on the same GPU. Passes when the RMS error of every output is at most 1.5 times, and the largest at most 4 times, that of the
same evaluation with each op's result rounded to the dtype (f32: 2 times that of PyTorch's own float32, whose sums run in another order).
Refuses (exit 1) what is further off or not finite.

usage: presets.py TFGEN FOLDER SPEC... [--presets=a,b] [--dtypes=bf16,f16,f32] [--fusion=tile,none] [--jobs=N]"""
import concurrent.futures
import math
import os
import subprocess
import sys
import zlib

import torch
import yaml
from safetensors.torch import load_file, save_file

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "bench"), os.path.join(HERE, "..", "..", "bench")]  # of prepare_runtime.sh's folder, of the repository
from evaluate import Spec, evaluate  # noqa: E402

torch.backends.cuda.matmul.allow_tf32 = False

torch.backends.cuda.matmul.allow_tf32 = False


def rms(x):
    return float(x.double().square().mean().sqrt())


def run(tfgen, folder, path, preset, dtype, level):
    case = f"{os.path.basename(path)} {preset} {dtype} {level}"
    spec = Spec(path, preset, dtype)
    data = spec.data(torch.Generator("cuda").manual_seed(zlib.crc32(case.encode())))
    base = os.path.join(folder, case.replace(" ", "-"))
    weights = {}
    for name, v, _ in spec.items("params"):
        weights[v.get("from", name)] = (data[name].t() if v.get("transpose") else data[name]).contiguous().cpu()
    params = {name for name, _, _ in spec.items("params")}
    save_file(weights or {"none": torch.zeros(1)}, base + ".w")
    save_file({n: t.contiguous().cpu() for n, t in data.items() if n not in params}, base + ".i")
    del weights
    done = subprocess.run([tfgen, "run", path, f"--preset={preset}", f"--dtype={dtype}", f"--fusion={level}", "--device=cuda", "-j", "3",
                           "--repeat=1", "--reference=never", "-q", "-w", base + ".w", "-i", base + ".i", "-o", base + ".o"],
                          capture_output=True, text=True, timeout=170)
    try:
        if done.returncode:
            return False, f"{case}: exit code {done.returncode}: {done.stderr[:400]}"
        got = load_file(base + ".o")
    finally:
        for suffix in ".w", ".i", ".o":
            if os.path.exists(base + suffix):
                os.remove(base + suffix)
    exact = evaluate(spec, data, torch.float64, False)
    near = evaluate(spec, data, torch.float32, False) if dtype == "f32" else evaluate(spec, data, torch.float64, True)
    good, worst, largest = True, 0.0, 0.0
    for name, e in exact.items():
        error, allowed = got[name].cuda().double().view(e.shape) - e, near[name].double() - e
        floor = 2.0 ** -24 * rms(e) if dtype == "f32" else 0
        ratio = rms(error) / max(rms(allowed), floor, 1e-300)
        most = float(error.abs().max()) / max(float(allowed.abs().max()), 4 * floor, 1e-300)
        good = good and math.isfinite(ratio) and ratio <= (2 if dtype == "f32" else 1.5) and most <= 4
        worst, largest = max(worst, ratio), max(largest, most)
    return good, f"{case:44s} RMS error {worst:5.2f}, largest {largest:5.2f} times that of rounding {'ok' if good else 'WRONG'}"


def main():
    options = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    tfgen, folder, *specs = [a for a in sys.argv[1:] if not a.startswith("--")]
    os.makedirs(folder, exist_ok=True)
    cases = []
    for path in specs:
        with open(path) as f:
            presets = yaml.safe_load(f)["presets"]
        for preset in options.get("presets", ",".join(presets)).split(","):
            cases += [(path, preset, d, l) for d in options.get("dtypes", "bf16").split(",")
                      for l in options.get("fusion", "tile").split(",") if preset in presets]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(options.get("jobs", "6"))) as pool:
        def one(case):
            try:
                return run(tfgen, folder, *case)
            except Exception as e:
                return False, f"{' '.join(case)}: {type(e).__name__}: {str(e)[:300]}"
        for good, text in pool.map(one, cases):
            failed += not good
            print(text, flush=True)
    print(f"presets: {len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
