"""Cases of compare.py tuned by `tfgen tune`. A folder holds wisdom, trials.db, and a file per case in cases/. Finished cases are skipped,
so a long list can be done in several runs; processes that share the folder divide the cases, and one that is killed loses only its current
case. Needs no PyTorch.

usage: tuned.py FOLDER [--markdown]        prints the table of a folder's results"""
import fcntl
import json
import os
import re
import subprocess
import sys
import time
import zlib
from statistics import geometric_mean

HEAD = "wisdom 1\n"


class Tuning:
    """tfgen: the command; device: its --device; budget: seconds per case."""

    def __init__(self, folder, budget, tfgen, device="cuda"):
        self.folder, self.budget, self.tfgen, self.device = folder, budget, tfgen, device
        self.wisdom, self.trials = os.path.join(folder, "wisdom"), os.path.join(folder, "trials.db")
        self.held = {}
        os.makedirs(os.path.join(folder, "cases"), exist_ok=True)

    # ---- what is known of a case
    def path(self, key, kind):
        name = re.sub(r"[^A-Za-z0-9]+", "-", key)[:60]
        return os.path.join(self.folder, "cases", f"{name}-{zlib.crc32(key.encode()):08x}.{kind}")

    @staticmethod
    def write(path, text):
        with open(path + ".new", "w") as f:
            f.write(text)
        os.replace(path + ".new", path)

    def case(self, key):
        path = self.path(key, "json")
        if not os.path.exists(path):
            return {"key": key}
        with open(path) as f:
            return json.load(f)

    def cases(self):
        folder = os.path.join(self.folder, "cases")
        return [json.load(open(os.path.join(folder, name))) for name in sorted(os.listdir(folder)) if name.endswith(".json")]

    def save(self, case):
        self.write(self.path(case["key"], "json"), json.dumps(case, indent=1))

    def kept(self, key):
        return self.case(key).get("kept", [])

    # ---- claims on cases
    def take(self, key):
        """Claims the case. False: another process has it. The claim ends with its process."""
        file = open(self.path(key, "lock"), "w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self.held[key] = file
        return True

    def give_back(self, key):
        self.held.pop(key).close()

    # ---- tuning
    def run(self, *arguments):
        done = subprocess.run([self.tfgen, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"tfgen {arguments[0]}: exit code {done.returncode}: {done.stderr.strip()[:500]}")
        return done.stdout

    @staticmethod
    def lines(path):
        if not os.path.exists(path):
            return []
        with open(path) as f:
            return [line for line in f.read().splitlines()[1:] if line and not line.startswith("#")]

    def tune(self, key, text, dims, dtype, most=None):
        """Runs tfgen tune on the case; returns its seconds, kernels, and the lines of wisdom that are better than the default. The case's
        wisdom is the file path(key, "wisdom")."""
        case = self.case(key)
        if "tune_seconds" in case:
            return case
        spec, wisdom, start = self.path(key, "yaml"), self.path(key, "wisdom"), time.monotonic()
        with open(spec, "wb") as f:
            f.write(text)
        told = json.loads(self.run("tune", spec, "--json", f"--device={self.device}", f"--dtype={dtype}", f"--wisdom={wisdom}",
                                   f"--budget={min(self.budget, most or self.budget):g}s", f"--trials={self.trials}",
                                   *(["--dim=" + ",".join(f"{n}={v}" for n, v in dims.items())] if dims else [])))
        seconds, kernels = time.monotonic() - start, told[0]["kernels"]
        better = {k["signature"] for k in kernels if k["how"] == "better"}
        if not os.path.exists(wisdom):
            self.write(wisdom, HEAD)
        self.run("wisdom", "import", wisdom, f"--wisdom={self.wisdom}")
        case.update(tune_seconds=seconds, dims=dims, type=dtype, tried=sum(k["tried"] for k in kernels),
                    ended=all(k["ended"] or k["how"] in ("known", "yours") for k in kernels), how=[k["how"] for k in kernels],
                    kernels=[{n: k[n] for n in ("kernel", "how", "share", "gain", "noise", "tried", "default", "tile")} for k in kernels],
                    kept=[line for line in self.lines(wisdom) if line.split(": ")[0].split(" ")[-1] in better])
        self.save(case)
        return case

    def one(self, line):
        """Writes a wisdom file of only this line, for the use of this process; returns its path."""
        path = os.path.join(self.folder, f"one-{os.getpid()}")
        self.write(path, HEAD + line + "\n")
        return path


# ---- the table
def peer_of(case):
    """(name, seconds to compile and tune, microseconds per call) of the case's peer, torch.compile; None if it
    was not timed."""
    name, seconds = next(iter(case["torch_seconds"].items()), (None, 0))
    return (name, seconds, case["us"][name][0]) if case["over_torch"] else None


def remarks(case):
    better = [f"{k['kernel']} {k['gain']:.3f}" for k in case["kernels"] if k["how"] == "better"]
    return f"{case['tried']} tried{'' if case['ended'] else ', time was up'}" + "".join("; " + b for b in better)


def tuned_line(case):
    """A case's result as a line of text."""
    untuned, mine, peer = case["us"]["untuned"][0], case["us"]["tfgen"][0], peer_of(case)
    beside = f"{peer[0]} {peer[2]:8.1f} us, {case['over_torch'][0]:5.2f}x, in {peer[1]:5.1f} s" if peer else "no peer"
    return (f"{case['case']:52s} {case['dtype']:5s} untuned {untuned:8.1f} us  tuned {mine:8.1f} us, {case['gain'][0]:5.3f}x "
            f"(+-{case['gain'][1]:.3f}), in {case['tune_seconds']:5.1f} s ({remarks(case)})  {beside}  "
            f"{100 * case['floor_us'] / mine:3.0f} % of floor")


def marked_line(case):
    peer = peer_of(case)
    return (f"| {case['case']} | {case['us']['untuned'][0]:.1f} | {case['us']['tfgen'][0]:.1f} | {case['gain'][0]:.3f} "
            f"| {case['tune_seconds']:.0f} | {case['tried']} | {f'{peer[2]:.1f}' if peer else '-'} "
            f"| {case['over_torch'][0] if peer else 0:.2f} | {f'{peer[1]:.0f}' if peer else '-'} |").replace("| 0.00 |", "| - |")


def tuned_table(cases, line=tuned_line):
    done = [c for c in cases if "us" in c]
    over = [c["over_torch"][0] for c in done if c["over_torch"]]
    text = [line(c) for c in done]
    text.append(f"{len(done)} cases are done, {sum(c['tune_seconds'] for c in done):.0f} s of tfgen tune, "
                f"{sum(sum(c['torch_seconds'].values()) for c in done):.0f} s of torch.compile")
    if done:
        text.append(f"geometric mean: tuned {geometric_mean([c['gain'][0] for c in done]):.3f} times as fast as untuned")
    if over:
        text.append(f"geometric mean: tuned {geometric_mean(over):.3f} times as fast as torch.compile's max-autotune ({len(over)} cases)")
    return "\n".join(text)


if __name__ == "__main__":
    print(tuned_table(Tuning(sys.argv[1], 0, None).cases(), marked_line if "--markdown" in sys.argv else tuned_line))
