#!/usr/bin/env python3
"""usage: width.py [--mend] [FILE...]

In: the tracked files of this tree, or FILEs; ROOT in the environment names another tree. Out: each line, in code and documents, that is
wider than .clang-format's ColumnLimit, ends in white space, or has a misplaced tab. Exit code 1 if there are any beyond the number that a
folder is still allowed. Not checked: generated files (golden files, spec headers of templates, the man page, the schema), data, rows of
tables, console blocks of documents, and lines that cannot be broken. --mend: clang-format breaks wide lines of C.
"""
import os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(os.environ.get("ROOT", pathlib.Path(__file__).resolve().parent.parent))
LIMIT = int(re.search(r"^ColumnLimit: (\d+)$", (ROOT / ".clang-format").read_text(), re.M).group(1))
CODE = {".c", ".h", ".def", ".hip", ".cpp", ".py", ".sh", ".md", ".in", ".cmake"}
WRITTEN = re.compile(r"^tests/(golden|corpus)/|\.spec\.h$")
# Folders that are still allowed some such lines, e.g. "gen": 3; the number may only fall.
LEFT = {}


def wide(line, document):
    # Rows of tables, and long words such as links, cannot be broken.
    return len(line) > LIMIT and not (document and line.lstrip().startswith("|")) and " " in line.strip()[:LIMIT]


def wrong(name):
    """[(line number, what is wrong)] of a file."""
    document, tabs, console = name.endswith(".md"), name.endswith("Makefile"), False
    for number, line in enumerate((ROOT / name).read_text().split("\n"), 1):
        if document and line.startswith("```"):
            console = line.startswith("```console")
        if not console and wide(line, document):
            yield number, f"{len(line)} columns, {LIMIT} are allowed"
        if line != line.rstrip():
            yield number, "ends in white space"
        if "\t" in line and not tabs:
            yield number, "a tab"


def mend(name):
    lines = [number for number, what in wrong(name) if "columns" in what]
    if lines and pathlib.Path(name).suffix in (".c", ".h", ".cpp", ".hip"):
        subprocess.run(["clang-format", "-i", *(f"--lines={n}:{n}" for n in lines), name], cwd=ROOT, check=True)


def main(given):
    mends, given = "--mend" in given, [n for n in given if n != "--mend"]
    names = given or subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    names = [n for n in names if pathlib.Path(n).suffix in CODE or n.endswith("Makefile")]
    names = [n for n in names if not WRITTEN.search(n) and (ROOT / n).is_file()]
    for name in [n for n in names if given or n.split("/")[0] not in LEFT] if mends else []:
        mend(name)
    found, left, code = {n: list(wrong(n)) for n in names}, dict(LEFT), 0
    for name, lines in found.items():
        folder = name.split("/")[0]
        for number, what in lines:
            if left.get(folder, 0) > 0:
                left[folder] -= 1
                continue
            print(f"{name}:{number}: {what}")
            code = 1
    for folder, unused in left.items():
        if unused and not given:
            print(f"width: {folder} has {LEFT[folder] - unused} such lines left, {LEFT[folder]} are allowed: lower that")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
