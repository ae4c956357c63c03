#!/usr/bin/env python3
"""usage: memory.py TFGEN MEMORY SPECS OUT

Compares what `tfgen fit` says with what the driver of an H200 allocates (MEMORY is memory.c, built by prepare_runtime.sh): for each case it
runs the largest value of a dim for which 80 % of the memory are enough. Each kind of memory must take what fit says, rounded up to the
driver's 2 MB per allocation, and results must be right. Then the largest value that fits in the free memory is run, and with the smallest
value that does not fit, memory must run out. Exit code 1 if one of these fails."""
import concurrent.futures, json, pathlib, re, subprocess, sys, tempfile

# spec, preset, fixed dims, the dim that grows
CASES = [
    ("llama-decode.yaml", "llama-8b", {"L": 524288}, "B"),
    ("llama-decode.yaml", "llama-8b", {"B": 2}, "L"),
    ("gpt2-decode.yaml", "exercise", {"L": 524288}, "B"),
    ("gpt2-decode.yaml", "exercise", {"B": 3}, "L"),
    ("llama-block.yaml", "llama-8b", {"S": 8192, "D": 8192, "H": 64, "F": 65536}, "B"),
    ("softmax.yaml", "-", {"B": 64, "S": 8192}, "D"),
]
KINDS = ("weights", "states", "workspace", "activations")
KEPT = 128 << 20  # bytes of the free memory that a run leaves: for code, and for gaps between allocations


def words(dims):
    return [f"{name}={value}" for name, value in dims.items()]


class Checker:
    def __init__(self, tfgen, memory, specs, out):
        self.tfgen, self.memory, self.specs, self.out, self.bad = tfgen, memory, specs, out, 0
        self.file = (specs / "devices" / "h200.yaml").read_text()

    def fit(self, case, share=1.0, room=None):
        spec, preset, dims, dim = case
        model = "h200"
        if room:
            path = pathlib.Path(tempfile.mkdtemp()) / "room.yaml"
            path.write_text(re.sub(r"(?m)^memory: .*$", f'memory: {{is: {room}, measured: "free"}}', self.file))
            model = str(path)
        command = [self.tfgen, "fit", str(self.specs / spec), f"--device-model={model}", f"--memory={share}", f"--largest={dim}", "--json",
                   "--dim=" + ",".join(words(dims))] + ([f"--preset={preset}"] if preset != "-" else [])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"memory: {' '.join(command)}: exit {done.returncode}: {done.stderr[-1000:]}")
        return json.loads(done.stdout)[0]

    def run(self, case, value):
        spec, preset, dims, dim = case
        command = [self.memory, str(self.specs / spec), preset, *words({**dims, dim: value})]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            told = json.loads(done.stdout)
        except json.JSONDecodeError:
            told = {}
        return done.returncode, told, done.stderr.strip()

    def judge(self, good, text):
        self.bad += not good
        print(f"  {text}{'' if good else '  BAD'}", flush=True)

    def kinds(self, said, told):
        for kind in KINDS:
            items = [i for i in said["items"] if i["kind"] == kind]
            pieces = 1 if kind == "workspace" else len(items)  # a workspace is one allocation
            apart = told[kind] - said[kind]
            self.judge(abs(apart) <= pieces * told["granule"],
                       f"{kind:12} {said[kind]:14.0f} B by fit, {told[kind]:14d} B by the driver ({apart / 1e6:+.1f} MB, {pieces} pieces)")

    def compile(self, case, value):
        """Compiles a case into the cache. Threads call it for all cases at once, so that compilers work in parallel."""
        spec, preset, dims, dim = case
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([self.tfgen, "emit", str(self.specs / spec), "--target=sm_90a", "--code", "-q", "-o", folder,
                            "--dim=" + ",".join(words({**dims, dim: value}))] + ([f"--preset={preset}"] if preset != "-" else []),
                           capture_output=True)

    def prepare(self, free):
        """For each case the sizes that fit 80 % of the memory, the free memory less KEPT, and the free memory; compiles all that will be
        run."""
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            fits = list(pool.map(lambda case: (self.fit(case, share=0.8), self.fit(case, room=free - KEPT), self.fit(case, room=free)),
                                 CASES))
            values = [{said["largest"], least["largest"], most["largest"] + ("bytes_of_one_more" in most)} for said, least, most in fits]
            list(pool.map(lambda one: self.compile(*one), [(case, v) for case, of_case in zip(CASES, values) for v in of_case]))
        return fits

    def case(self, case, free, said, least, most):
        spec, preset, dims, dim = case
        value = said["largest"]
        print(f"{spec} {preset} {' '.join(words(dims))}: {dim}={value} by 80 % of 141 GB: {said['bytes'] / 1e9:.3f} GB")
        code, told, text = self.run(case, value)
        if code or "taken" not in told:
            self.judge(False, f"exit {code}: {told} {text[-300:]}")
            return
        self.kinds(said, told)
        running = sum(said[kind] for kind in KINDS)
        self.judge(told["wrong"] == 0,
                   f"running {running / 1e9:.3f} GB by fit; taken {told['taken'] / 1e9:.3f} GB, of it code {told['code'] / 1e6:.1f} MB, "
                   f"the run {told['the_run'] / 1e6:.1f} MB more; {told['seconds'] * 1e3:.1f} ms; {told['wrong']} wrong")
        self.edge(case, free, least, most)

    def edge(self, case, free, least, most):
        code, told, text = self.run(case, least["largest"])
        self.judge(code == 0 and told.get("wrong") == 0,
                   f"{case[3]}={least['largest']}, {least['bytes'] / 1e9:.3f} GB of {free / 1e9:.3f} that are free: exit {code}, "
                   f"{told.get('taken', 0) / 1e9:.3f} GB taken, {told.get('wrong')} wrong {text[-200:]}")
        if "bytes_of_one_more" not in most:
            self.judge(True, f"{case[3]}={most['largest']} is the most: {most.get('one_more_is_refused', 'the spec allows no more')[:150]}")
            return
        code, told, text = self.run(case, most["largest"] + 1)
        self.judge(code == 6 and "not enough memory" in text,
                   f"{case[3]}={most['largest'] + 1}, {most['bytes_of_one_more'] / 1e9:.3f} GB: exit {code}: {text[-150:]}")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__.splitlines()[0])
    tfgen, memory, specs, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    checker = Checker(tfgen, memory, specs, out)
    free = json.loads(subprocess.run([memory], capture_output=True, text=True, check=True).stdout)["free"]
    fits = checker.prepare(free)
    for case, of_case in zip(CASES, fits):
        checker.case(case, free, *of_case)
    print("memory: all as fit says" if not checker.bad else f"memory: {checker.bad} are not as they should be")
    sys.exit(checker.bad > 0)


main()
