#!/usr/bin/env python3
"""usage: course.py [--update] [PAGE...]

In: the pages of docs/course and the command (TFGEN names it, else ./tfgen). Each block ```console begins with lines `$ COMMAND`, which a
shell runs at the top of the tree with `tfgen` on its path and an empty folder $OUT, followed by the expected output. Out: each line that
differs between page and output; and whether a lesson (NN-name.md) lacks two pictures, an exercise or its solution. --update (or
TFGEN_GOLDEN_UPDATE=1) writes the output into the pages. Exit code 1: differences, commands that fail, pages without a command. A block that
names a compiler (```console clang-22) is skipped where that is missing."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"^```console *([^\n]*)\n((?:\$ [^\n]*\n)+)(.*?)^```$", re.M | re.S)


def printed(commands, folder):
    environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], OUT=os.path.join(folder, "out"), NO_COLOR="1",
                       TFGEN_WISDOM="none", LC_ALL="C")
    script = "set -e\n" + "".join(line[2:] + "\n" for line in commands.splitlines())
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=TOP, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, "".join(line.rstrip() + "\n" for line in done.stdout.splitlines()), done.stderr


def lacking(path, text):
    if not re.match(r"\d\d-", os.path.basename(path)):
        return []
    pictures = [os.path.join(os.path.dirname(path), name) for name in re.findall(r"^!\[[^]]+\]\(([^)]+)\)$", text, re.M)]
    write = text.partition("\n## Write\n")[2]
    return ([f"picture {p}" for p in pictures if not os.path.exists(p)] + ["two pictures"] * (len(pictures) < 2) +
            ["task to write"] * (not write) + ["solution with a command"] * ("\n```console" not in write.partition("<details>")[2]))


class Page:
    def __init__(self, path, update):
        self.path, self.update, self.bad, self.run, self.passed_over = path, update, 0, 0, 0

    def block(self, match):
        how, commands, expected = match.groups()
        missing = [word for word in how.split() if not shutil.which(word)]
        if missing:
            self.passed_over += 1
            return match.group(0)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.abspath(os.environ.get("TFGEN", os.path.join(TOP, "tfgen"))), os.path.join(folder, "tfgen"))
            os.mkdir(os.path.join(folder, "out"))
            code, text, said = printed(commands, folder)
        self.run += 1
        if code != 0:
            self.bad += 1
            print(f"{self.path}: {commands.strip()}: exit code {code}\n{said}")
        elif text != expected:
            if self.update:
                return f"```console{' ' + how if how else ''}\n{commands}{text}```"
            self.bad += 1
            self.show(commands, expected.splitlines(), text.splitlines())
        return match.group(0)

    def show(self, commands, expected, got):
        print(f"{self.path}: {commands.strip()}")
        for i in range(max(len(expected), len(got))):
            a, b = (lines[i] if i < len(lines) else None for lines in (expected, got))
            if a != b:
                print(f"  line {i + 1} of the page: {a}\n  is printed as:      {b}")
                break

    def check(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            self.bad += 1
            print(f"{self.path}: {error.strerror}")
            return
        new = BLOCK.sub(self.block, text)
        if new != text:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(new)
        if self.run + self.passed_over == 0:
            self.bad += 1
            print(f"{self.path}: no command")
        for what in lacking(self.path, text):
            self.bad += 1
            print(f"{self.path}: no {what}")


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments or os.environ.get("TFGEN_GOLDEN_UPDATE", "0") not in ("", "0")
    named = [a for a in arguments if a != "--update"]
    pages = [Page(path, update) for path in named or sorted(glob.glob(f"{TOP}/docs/course/[0-9cq]*.md"))]
    for page in pages:
        page.check()
    print(f"{len(pages)} pages, {sum(p.run for p in pages)} commands, {sum(p.passed_over for p in pages)} passed over, "
          f"{sum(p.bad for p in pages)} wrong")
    return 1 if not pages or any(p.bad for p in pages) else 0


if __name__ == "__main__":
    sys.exit(main())
