#!/usr/bin/env python3
"""Checks that two builds of tfgen emit the same sources, except for comments, #line and names.

  same_source.py record TFGEN FILE [-j N] [--drawn=N] [--every=K]     records what a build emits, as hashes
  same_source.py compare TFGEN FILE [-j N]                            compares the same cases; exit code 1 if something differs
  same_source.py show OLD NEW ARGUMENTS...                            prints the tokens that differ in one case: SPEC --target=... ...

Cases: every shipped spec at its own sizes and each preset, three levels, three dtypes, all targets; N drawn specs; --every=K takes only
every K-th case. Compared are the tokens of each kernel's source and what a launch needs: grid, block, shared memory, arguments. Identifiers
that occur in no template are replaced by numbers in order of appearance, so a renamed identifier is no difference, a swapped one is. Record
before a change and compare after it, on the same machine.
"""
import concurrent.futures, difflib, functools, hashlib, itertools, json, os, pathlib, re, shutil, subprocess, sys, tempfile

LEVELS, DTYPES = ("none", "ops", "tile"), ("f32", "f16", "bf16")
NOISE = re.compile(r'\\\n|^[ \t]*#line [^\n]*$|//[^\n]*|/\*.*?\*/', re.M | re.S)
TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|\.?\d[\w.]*(?:[eE][+-]\d+)?|\S')
WORD = re.compile(r'[A-Za-z_]\w*$')
TOP = pathlib.Path(__file__).resolve().parent.parent


def targets_of(tfgen):
    words = subprocess.run([tfgen, "emit", "--help"], capture_output=True, text=True).stdout
    listed = re.search(r"targets:((?:\s+\w+,?)+?)[;.]", words).group(1)
    return [t for t in re.findall(r"\w+", listed) if t not in ("all", "verify")]


def shipped():
    for spec in sorted((TOP / "specs").glob("*.yaml")):
        text = spec.read_text()
        found = re.search(r"^presets:\n((?:[ #].*\n|\n)+)", text, re.M)
        presets = re.findall(r"^  ([\w-]+):", found.group(1), re.M) if found else []
        for preset in [None] + presets:
            yield str(spec), preset


def cases_of(tfgen, drawn, every):
    targets, cases = targets_of(tfgen), []
    for (spec, preset), level, dtype, target in itertools.product(shipped(), LEVELS, DTYPES, targets):
        cases.append((spec, f"--fusion={level}", f"--dtype={dtype}", f"--target={target}") + ((f"--preset={preset}",) if preset else ()))
    cases = cases[::every]
    folder = TOP / "build" / "drawn"
    if drawn:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run([tfgen, "verify", f"--random={drawn}", "--seed=77", f"--draw={folder}"], check=True, capture_output=True)
    for i, spec in enumerate(sorted(folder.glob("*.yaml")) if drawn else []):
        for k, level in enumerate(LEVELS):
            cases.append((str(spec), f"--fusion={level}", f"--target={targets[(i + k) % len(targets)]}"))
    return cases


@functools.lru_cache(maxsize=256)
def templates_of(text):
    """Hash of the templates' tokens, and the set of their identifiers."""
    tokens = TOKEN.findall(NOISE.sub("", text))
    return hashlib.md5("\n".join(tokens).encode()).hexdigest(), frozenset(t for t in tokens if WORD.match(t))


def tokens_of(source):
    """Splits a kernel's source: the hash of its templates, and its own tokens with names renumbered."""
    own = re.search(r'^#line \d+ "[^"]*\.hip"$', source, re.M)
    cut = own.start() if own else 0
    templates, words = templates_of(source[source.index("\n"):cut])
    numbers, tokens = {}, []
    for t in TOKEN.findall(NOISE.sub("", source[cut:])):
        if WORD.match(t) and t not in words:
            t = "$%d" % numbers.setdefault(t, len(numbers))
        tokens.append(t)
    return templates, tokens


def launch_of(kernel):
    grid = kernel["grid"]
    return [kernel["block"], kernel.get("shared_bytes"), kernel.get("dynamic_bytes"), kernel.get("overlap"),
            [grid.get(k) for k in ("rows", "tile_rows", "column_tiles", "multiple", "cluster", "resident", "limit", "now")]
            if isinstance(grid, dict) else grid,
            kernel["argument_bytes"], [[a["kind"], a["offset"], a["size"], a.get("written"), a.get("box"), a.get("stride")]
                                       for a in kernel["arguments"]]]


def emitted(tfgen, case, folder):
    """A line per kernel: its name, its launch, and the hashes of its templates and tokens."""
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run([tfgen, *case, "-o", folder], capture_output=True, text=True)
    if done.returncode:
        return [["refused", done.returncode, done.stderr.strip().split(": ", 1)[-1], [], []]]
    manifest = json.loads(pathlib.Path(folder, "manifest.json").read_text())
    out = [["workspace", [manifest["workspace"]["bytes"], [v.get("offset") for v in manifest["workspace"]["values"]]], "", [], []]]
    for kernel in manifest["packs"] + manifest["kernels"]:
        source = pathlib.Path(folder, kernel.get("file", kernel["name"] + ".hip")).read_text()
        out.append([kernel["name"], launch_of(kernel), *tokens_of(source), []])
    return out


def digest(tfgen, case):
    folder = os.path.join("/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir(), f"same_source.{os.getpid()}")
    try:
        lines = [[k[1], k[2], k[3]] for k in emitted(tfgen, case, folder)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return hashlib.md5(json.dumps(lines).encode()).hexdigest()


def digests(tfgen, cases, jobs):
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(digest, itertools.repeat(tfgen), cases, chunksize=16))


def show(old, new, case):
    folder = tempfile.mkdtemp()
    a, b = (emitted(t, case, folder) for t in (old, new))
    shutil.rmtree(folder, ignore_errors=True)
    if len(a) != len(b):
        print(f"{len(a) - 1} kernels before, {len(b) - 1} now")
    for x, y in zip(a, b):
        if x[1] != y[1]:
            print(f"{x[0]} -> {y[0]}: launch\n  {x[1]}\n  {y[1]}")
        if x[2] != y[2]:
            print(f"{x[0]} -> {y[0]}: templates differ (or the refusal: {x[2]!r} -> {y[2]!r})")
        for line in difflib.unified_diff(x[3], y[3], x[0], y[0], lineterm="", n=4):
            print("  " + line)


def main(arguments):
    options = {k: int(v) for k, v in (a[2:].split("=") for a in arguments if re.match(r"--(drawn|every)=\d+$", a))}
    jobs = int(arguments[arguments.index("-j") + 1]) if "-j" in arguments else os.cpu_count()
    if len(arguments) < 3 or arguments[0] not in ("record", "compare", "show"):
        sys.exit(__doc__)
    what, tfgen = arguments[0], os.path.abspath(arguments[1])
    if what == "show":
        return show(tfgen, os.path.abspath(arguments[2]), arguments[3:])
    if what == "record":
        cases = cases_of(tfgen, options.get("drawn", 0), options.get("every", 1))
        pathlib.Path(arguments[2]).write_text(json.dumps([[c, d] for c, d in zip(cases, digests(tfgen, cases, jobs))]))
        print(f"{len(cases)} cases recorded")
        return 0
    recorded = json.loads(pathlib.Path(arguments[2]).read_text())
    now = digests(tfgen, [tuple(c) for c, _ in recorded], jobs)
    different = [c for (c, d), n in zip(recorded, now) if d != n]
    for case in different[:20]:
        print("differs: " + " ".join(case))
    print(f"{len(recorded)} cases, {len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
