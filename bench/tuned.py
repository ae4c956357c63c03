"""Cases of compare.py tuned by `tfgen tune`, and what came of them, in a folder: wisdom, trials.db, cases.json. What is in there is not
done again, so a long list of cases is done in slices. Needs no PyTorch."""
import json
import os
import subprocess
import time

HEAD = "wisdom 1\n"


class Tuning:
    """tfgen: the command; device: as its --device has it; budget: seconds of a case."""

    def __init__(self, folder, budget, tfgen, device="cuda"):
        self.folder, self.budget, self.tfgen, self.device = folder, budget, tfgen, device
        os.makedirs(folder, exist_ok=True)
        self.wisdom, self.file = os.path.join(folder, "wisdom"), os.path.join(folder, "cases.json")
        self.cases = {}
        if os.path.exists(self.file):
            with open(self.file) as f:
                self.cases = json.load(f)
        if not os.path.exists(self.wisdom):
            self.write(self.wisdom, HEAD)

    @staticmethod
    def write(path, text):
        with open(path + ".new", "w") as f:
            f.write(text)
        os.replace(path + ".new", path)

    def save(self):
        self.write(self.file, json.dumps(self.cases, indent=1))

    def lines(self):
        with open(self.wisdom) as f:
            return [line for line in f.read().splitlines()[1:] if line and not line.startswith("#")]

    def tune(self, key, text, dims, dtype, most=None):
        """What tfgen tune says of the case: seconds it took, kernels, and the lines of wisdom that are better than the default."""
        case = self.cases.setdefault(key, {})
        if "tune_seconds" in case:
            return case
        spec = os.path.join(self.folder, "case.yaml")
        with open(spec, "wb") as f:
            f.write(text)
        before, start = set(self.lines()), time.monotonic()
        done = subprocess.run([self.tfgen, "tune", spec, "--json", f"--device={self.device}", f"--dtype={dtype}",
                               f"--budget={min(self.budget, most or self.budget):g}s", f"--wisdom={self.wisdom}",
                               "--trials=" + os.path.join(self.folder, "trials.db"),
                               *(["--dim=" + ",".join(f"{n}={v}" for n, v in dims.items())] if dims else [])],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"tfgen tune: exit code {done.returncode}: {done.stderr.strip()[:500]}")
        kernels = json.loads(done.stdout)[0]["kernels"]
        better = {k["signature"] for k in kernels if k["how"] == "better"}
        new = [line for line in self.lines() if line not in before]
        case.update(tune_seconds=time.monotonic() - start, tried=sum(k["tried"] for k in kernels),
                    ended=all(k["ended"] or k["how"] in ("known", "yours") for k in kernels), how=[k["how"] for k in kernels],
                    kept=[line for line in new if line.split(": ")[0].split(" ")[-1] in better])
        self.save()
        return case

    def kept(self, key):
        return self.cases.get(key, {}).get("kept", [])

    def one(self, line):
        """A wisdom file with this line alone."""
        path = os.path.join(self.folder, "one")
        self.write(path, HEAD + line + "\n")
        return path
