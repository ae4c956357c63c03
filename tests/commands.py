#!/usr/bin/env python3
"""usage: commands.py TFGEN SPECS OUT [DEVICE [SECONDS]]

Runs every inspecting command on every shipped spec and prints a line with the seconds of each, and its output where the exit code is wrong.
Without DEVICE (or host): at the specs' own sizes, kernels of sm_90a in the GPU's geometry on the host engine. With DEVICE (cuda): on that
GPU, at the smallest preset; first, in parallel, commands that compile and compare, then, one by one, those that measure times, where
`bisect --what=slow` may find a slow launch (exit code 1) in specs this small. Exit code 1 if one is wrong. Begins nothing after SECONDS
(3600)."""
import concurrent.futures, os, pathlib, subprocess, sys, time


class Runs:
    def __init__(self, tfgen, out, seconds):
        self.tfgen, self.out, self.began, self.bad, self.done, self.left = tfgen, out, time.time(), 0, 0, 0
        self.until = self.began + seconds

    def run(self, name, arguments, good=(0,), line=None):
        if time.time() > self.until:
            self.left += 1
            return ""
        began = time.time()
        try:
            done = subprocess.run([self.tfgen, *arguments], capture_output=True, text=True, timeout=300)
            code, text, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, text, said = "none: it ran for 300 s", "", ""
        self.done += 1
        (self.out / f"{name}.txt").write_text(text + said)
        shown = [l for l in text.splitlines() if l.strip() and (line is None or line in l)]
        told = f"{name:44} exit {code}  {time.time() - began:5.1f} s  {shown[-1].strip()[:110] if shown else ''}\n"
        if code not in good:
            self.bad += 1
            told += "    BAD: tfgen " + " ".join(arguments) + "\n    " + "\n    ".join((said or text).splitlines()[:12]) + "\n"
        print(told, end="", flush=True)
        return text


def of_any(r, spec, where, gpu):
    """Commands that measure no times. where: preset and device."""
    p, n = str(spec), spec.stem
    r.run(f"{n}-run", ["run", p, *where, "--repeat=1"])
    r.run(f"{n}-verify", ["verify", p, *where[1:], "--target=sm_90a", "--fusion=all", "--jobs=2"])
    r.run(f"{n}-explain", ["explain", p, "--device-model=h200", f"--html={r.out / n}.html", *where[:1]], line="predicted")
    r.run(f"{n}-fit", ["fit", p, "--device-model=h200", "--memory=0.8", *where[:1]], line="largest")
    for what in "diff", "nan":
        r.run(f"{n}-bisect-{what}", ["bisect", p, *where, f"--what={what}"])
    r.run(f"{n}-ablate", ["ablate", p, *where, "--budget=60s", *(["--graph", "--seconds=0.05"] if gpu else [])])


def of_host(r, spec):
    """Commands that run a GPU's geometry on the host engine; used only where there is no GPU."""
    p, n = str(spec), spec.stem
    r.run(f"{n}-predict", ["predict", p], line="h200")
    r.run(f"{n}-access", ["access", p, f"--svg={r.out / n}-access.svg"])
    r.run(f"{n}-trace", ["trace", p, "--target=sm_90a", "--seconds=0", "-o", str(r.out / f"{n}-trace.json"),
                         f"--svg={r.out / n}-trace.svg"])
    r.run(f"{n}-bench", ["bench", p, "--device=host", "--seconds=0", f"--record={r.out / n}.json"])
    r.run(f"{n}-compare", ["compare", str(r.out / f"{n}.json"), str(r.out / f"{n}.json")])


def timed(r, spec, where):
    p, n = str(spec), spec.stem
    a, b = str(r.out / f"{n}-a.json"), str(r.out / f"{n}-b.json")
    for path in a, b:
        r.run(f"{n}-bench-{pathlib.Path(path).stem[-1]}", ["bench", p, *where, "--graph", "--seconds=0.2", f"--record={path}"])
    r.run(f"{n}-compare", ["compare", a, b, "--min-speedup=0.5"])
    r.run(f"{n}-predict", ["predict", p, *where[:1], "--device-model=h200,mi300x", f"--measured={a}"], line="h200")
    r.run(f"{n}-trace", ["trace", p, *where, "--graph", "--seconds=0.2", "-o", str(r.out / f"{n}-trace.json"),
                         f"--svg={r.out / n}-trace.svg"])
    r.run(f"{n}-bisect-slow", ["bisect", p, *where, "--what=slow", "--seconds=0.2"], good=(0, 1))


def once(r, specs, device):
    where = f"--device={device}"
    r.run("calibrate", ["calibrate", where, "--seconds=0.5", "-o", str(r.out / "calibrated.yaml")])
    for n in "linear", "rmsnorm":
        r.run(f"{n}-tune", ["tune", str(specs / f"{n}.yaml"), where, "--budget=2s", f"--wisdom={r.out / n}.wisdom",
                            f"--trials={r.out / n}.db", f"--report={r.out / n}-tune.html"])
    r.run("table-rmsnorm-blocks", ["table", "rmsnorm-blocks", where, "--dim=B=1,S=128,D=512", "--seconds=2",
                                   f"--report={r.out / 'table.html'}"])
    r.run("table-attention", ["table", str(specs / "attention.yaml"), where, "--sweep=S=16,64", "--seconds=2",
                              f"--report={r.out / 'table.svg'}"])
    r.run("devices", ["devices"], line=device)
    r.run("doctor", ["doctor"], good=(0, 1), line=device)


def main():
    if not 4 <= len(sys.argv) <= 6:
        sys.exit(__doc__.splitlines()[0])
    specs, out, device = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else "host"
    out.mkdir(parents=True, exist_ok=True)
    r, gpu = Runs(sys.argv[1], out, float(sys.argv[5]) if len(sys.argv) == 6 else 3600), device != "host"
    where = ["--preset=tiny-small", f"--device={device}"] if gpu else []
    all_specs = sorted(specs.glob("*.yaml"))
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for done in [pool.submit(of_any, r, spec, where, gpu) for spec in all_specs]:
            done.result()
    print(f"side by side: {time.time() - r.began:.0f} s", flush=True)
    once(r, specs, device)
    for spec in all_specs:
        timed(r, spec, where) if gpu else of_host(r, spec)
    print(f"commands: {r.done} ended in {time.time() - r.began:.0f} s, {r.bad} not as they should, {r.left} were not begun")
    sys.exit(r.bad > 0)


main()
