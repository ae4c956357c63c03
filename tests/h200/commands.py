#!/usr/bin/env python3
"""usage: commands.py TFGEN SPECS OUT [SECONDS]

Every command that looks inside, on every shipped spec at its smallest preset, on this machine's GPU: exit codes, a line of each and its
seconds; what does not end as it should says what it printed. First what compiles and compares, side by side; then what takes times, one by
one, of which some may find a launch that is slow (exit code 1 of `bisect --what=slow`, in specs this small). Exit code 1 where one is
wrong. Nothing new is begun after SECONDS (150)."""
import concurrent.futures, pathlib, subprocess, sys, time

PRESET = "--preset=tiny-small"
GPU = "--device=cuda"


class Runs:
    def __init__(self, tfgen, out, seconds):
        self.tfgen, self.out, self.until, self.bad, self.done, self.left = tfgen, out, time.time() + seconds, 0, 0, 0

    def run(self, name, arguments, good=(0,), line=None):
        if time.time() > self.until:
            self.left += 1
            return ""
        began = time.time()
        try:
            done = subprocess.run([self.tfgen, *arguments], capture_output=True, text=True, timeout=120)
            code, text, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, text, said = "none: it ran for 120 s", "", ""
        self.done += 1
        (self.out / f"{name}.txt").write_text(text + said)
        shown = [l for l in text.splitlines() if l.strip() and (line is None or line in l)]
        told = f"{name:44} exit {code}  {time.time() - began:5.1f} s  {shown[-1].strip()[:110] if shown else ''}\n"
        if code not in good:
            self.bad += 1
            told += "    BAD: tfgen " + " ".join(arguments) + "\n    " + "\n    ".join((said or text).splitlines()[:12]) + "\n"
        print(told, end="", flush=True)
        return text


def together(r, spec):
    """What does not matter how long it takes."""
    p, n = str(spec), spec.stem
    r.run(f"{n}-run", ["run", p, PRESET, GPU, "--repeat=1"])
    r.run(f"{n}-verify", ["verify", p, GPU, "--target=sm_90a", "--fusion=all", "--jobs=2"])
    r.run(f"{n}-explain", ["explain", p, PRESET, "--device-model=h200", f"--html={r.out / n}.html"], line="predicted")
    r.run(f"{n}-fit", ["fit", p, PRESET, "--device-model=h200", "--memory=0.8"], line="largest")
    for what in "diff", "nan":
        r.run(f"{n}-bisect-{what}", ["bisect", p, PRESET, GPU, f"--what={what}"])
    r.run(f"{n}-ablate", ["ablate", p, PRESET, GPU, "--graph", "--seconds=0.05", "--budget=60s"])


def alone(r, spec):
    p, n = str(spec), spec.stem
    a, b = str(r.out / f"{n}-a.json"), str(r.out / f"{n}-b.json")
    for path in a, b:
        r.run(f"{n}-bench-{pathlib.Path(path).stem[-1]}", ["bench", p, PRESET, GPU, "--graph", "--seconds=0.2", f"--record={path}"])
    r.run(f"{n}-compare", ["compare", a, b, "--min-speedup=0.5"])
    r.run(f"{n}-predict", ["predict", p, PRESET, "--device-model=h200,mi300x", f"--measured={a}"], line="h200")
    r.run(f"{n}-trace", ["trace", p, PRESET, GPU, "--graph", "--seconds=0.2", "-o", str(r.out / f"{n}-trace.json"),
                         f"--svg={r.out / n}-trace.svg"])
    r.run(f"{n}-bisect-slow", ["bisect", p, PRESET, GPU, "--what=slow", "--seconds=0.2"], good=(0, 1))


def once(r, specs):
    r.run("calibrate", ["calibrate", GPU, "--seconds=0.5", "-o", str(r.out / "calibrated.yaml")])
    for n in "linear", "rmsnorm":
        r.run(f"{n}-tune", ["tune", str(specs / f"{n}.yaml"), PRESET, GPU, "--budget=2s", f"--wisdom={r.out / n}.wisdom",
                            f"--trials={r.out / n}.db", f"--report={r.out / n}-tune.html"])
    r.run("table-rmsnorm-blocks", ["table", "rmsnorm-blocks", GPU, "--dim=B=1,S=128,D=512", "--seconds=2",
                                   f"--report={r.out / 'table.html'}"])
    r.run("table-attention", ["table", str(specs / "attention.yaml"), GPU, PRESET, "--sweep=S=64,128", "--seconds=2",
                              f"--report={r.out / 'table.svg'}"])
    r.run("devices", ["devices"], line="cuda")
    r.run("doctor", ["doctor"], good=(0, 1), line="cuda")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__.splitlines()[0])
    specs, out = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    r = Runs(sys.argv[1], out, float(sys.argv[4]) if len(sys.argv) == 5 else 150)
    all_specs = sorted(specs.glob("*.yaml"))
    began = time.time()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(together, r, spec) for spec in all_specs]:
            done.result()
    print(f"side by side: {time.time() - began:.0f} s", flush=True)
    once(r, specs)
    for spec in all_specs:
        alone(r, spec)
    print(f"commands: {r.done} ended in {time.time() - began:.0f} s, {r.bad} not as they should, {r.left} were not begun")
    sys.exit(r.bad > 0)


main()
