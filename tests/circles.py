#!/usr/bin/env python3
"""usage: circles.py BUILD [--write]

In: the object files of a build and the sources of this tree. Out: a line for each dependency cycle (files or folders that call each other,
headers and templates that include each other) and for each upward call: runtime, gen and ir call and include downward only, and the float64
reference (ir/reference) shares only ir/base and ir/graph with the code it judges. Exit code 1: an upward call, or a cycle that is not in
tests/circles.txt or has grown. Listed cycles that are gone are reported; --write updates the list. ROOT in the environment names another
tree. Needs nm.
"""
import collections, os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(os.environ.get("ROOT", pathlib.Path(__file__).resolve().parent.parent))
LIST = ROOT / "tests" / "circles.txt"
# What a folder may call; the longest matching prefix of a file decides.
BELOW = {"ir/reference": ("ir/reference", "ir/base", "ir/graph"), "ir": ("ir",), "gen": ("ir", "gen"),
         "runtime": ("ir", "gen", "runtime")}
HEAD = """# Dependency cycles of files that still exist, one per line, with the files in order. tests/circles.py refuses a cycle that is new
# or has grown; after a file has left a cycle, shorten its line by python3 tests/circles.py build/default --write.
"""


def calls(build):
    """{caller file: {callee file: a function}}."""
    objects = [p for top in ("ir", "gen", "runtime") for p in sorted((build / top).rglob("*.o"))]
    source = {str(p): str(p.relative_to(build).with_suffix("")) for p in objects}
    source = {p: f for p, f in source.items() if (ROOT / f).with_suffix(".c").exists()}
    if not source:
        sys.exit(f"circles: no object files in {build}")
    lines = subprocess.run(["nm", "-A", "-P", *source], capture_output=True, text=True, check=True).stdout.splitlines()
    defined, needed = {}, []
    for line in lines:
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        if kind == "U":
            needed.append((source[path], name))
        elif kind in "TDBRCVW":
            defined[name] = source[path]
    graph = collections.defaultdict(dict)
    for user, name in needed:
        if name in defined and defined[name] != user:
            graph[user].setdefault(defined[name], name)
    return graph


def includes():
    tops = ("ir", "gen", "runtime", "templates")
    files = [p.relative_to(ROOT).as_posix() for top in tops for p in (ROOT / top).rglob("*") if p.suffix in (".c", ".h")]
    graph = collections.defaultdict(dict)
    for name in files:
        for other in re.findall(r'^#include "([^"]+)"', (ROOT / name).read_text(), re.M):
            if (ROOT / other).exists():
                graph[name][other] = other
    return graph


def by_folder(graph):
    folders = collections.defaultdict(dict)
    for user, others in graph.items():
        for other, name in others.items():
            x, y = ("/".join(f.split("/")[:2][:f.count("/")]) for f in (user, other))
            if x != y:
                folders[x].setdefault(y, name)
    return folders


def circles(graph):
    """Strongly connected components (Tarjan) of at least two nodes, sorted."""
    number, low, stack, found = {}, {}, [], []

    def visit(x):
        number[x] = low[x] = len(number)
        stack.append(x)
        for y in sorted(graph.get(x, ())):
            if y not in number:
                visit(y)
            if y in stack:
                low[x] = min(low[x], low[y])
        if low[x] == number[x]:
            at = stack.index(x)
            members = stack[at:]
            del stack[at:]
            if len(members) > 1:
                found.append(sorted(members))

    sys.setrecursionlimit(10000)
    for x in sorted(graph):
        if x not in number:
            visit(x)
    return sorted(found)


def upward(graph):
    found = []
    for user in sorted(graph):
        allowed = BELOW[max((top for top in BELOW if user.startswith(top + "/")), key=len)]
        found += [f"{user} calls {name}() of {other}, which is not below it" for other, name in sorted(graph[user].items())
                  if not other.startswith(tuple(a + "/" for a in allowed))]
        found += [f"{user} calls {name}() of {other}: only the command judges" for other, name in sorted(graph[user].items())
                  if other.startswith("ir/reference/") and not user.startswith(("ir/reference/", "runtime/cli/"))]
    return found


def main(build, write):
    called = calls(build)
    graphs = (("files", called), ("folders", by_folder(called)), ("includes", includes()))
    now = [(kind, c) for kind, graph in graphs for c in circles(graph)]
    if write:
        LIST.write_text(HEAD + "".join(f"{kind}: {' '.join(c)}\n" for kind, c in now))
    listed = [line.split() for line in LIST.read_text().splitlines() if line.strip() and not line.startswith("#")] if LIST.exists() else []
    bad = upward(called)
    for kind, members in now:
        if not any(kind + ":" == words[0] and set(members) <= set(words[1:]) for words in listed):
            bad.append(f"a circle of {len(members)} {kind}: {' '.join(members)}")
            bad += [f"  {x} -> {y} ({called[x][y]})" for x in members for y in members if y in called.get(x, {})]
    for words in listed:
        left = max((len(m) for kind, m in now if kind + ":" == words[0] and set(m) <= set(words[1:])), default=0)
        if left < len(words) - 1:
            print(f"circles: of the {len(words) - 1} {words[0][:-1]} listed with {words[1]}, {left} are in a circle now (--write)")
    print("\n".join(["circles: " + line for line in bad] or [f"circles: {len(now)}, all listed"]))
    return bool(bad)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), len(sys.argv) == 3))
