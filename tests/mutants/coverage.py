"""In: a copy of the tree and the names of suites. Out: which suites run a line. Lines are identified by file name, function and text, so
that the result stays valid when code and files move. A line without known suites may still run in some: killed child processes write no
counts.

Needs gcc and gcov: the copy is built with --coverage, each suite runs once in it, and once more when its own source has changed. Suites may
run beside each other: each has a folder of its own for its counts (GCOV_PREFIX), from which `coverage.py TREE COUNTS FILE` makes a file.
"""
import collections
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import operators


class Coverage:
    def __init__(self, folder, top):
        self.folder, self.top = folder, top
        self.by_line, self.by_function = collections.defaultdict(set), collections.defaultdict(set)

    def file(self, name):
        """The file with the counts of one suite for one source."""
        source = next((self.top / 'tests').glob(f'*/{name}.c')).read_bytes()
        return self.folder / f'{name}.{hashlib.sha256(source).hexdigest()[:16]}.json'

    def stale(self, names):
        return [n for n in names if not self.file(n).exists()]

    def add(self, name, tree, counts):
        """Adds the counts that a suite wrote below the folder `counts` when it ran in this tree."""
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.glob(f'{name}.*.json'):
            old.unlink()
        subprocess.run([sys.executable, __file__, tree.folder, counts, self.file(name)], check=True)

    def take(self, names):
        """Loads the lines that these suites run."""
        for name in names:
            for path, function, text in json.loads(self.file(name).read_text()) if self.file(name).exists() else ():
                self.by_line[Path(path).name, function, text].add(name)
                self.by_function[Path(path).name, function].add(name)

    def running(self, file, function):
        return self.by_function.get((file, function))

    def suites(self, mutant):
        """Suites that run the line, else those that run its function; None where neither is known."""
        file = Path(mutant.path).name
        return self.by_line.get((file, mutant.function, mutant.old_text)) or self.running(file, mutant.function)


def lines(tree, counts):
    """[[path, function, text of the line]] that ran. gcov looks for the notes (.gcno), which the compiler wrote elsewhere, beside the
    counts."""
    paths = sorted(counts.rglob('*.gcda'))
    for path in paths:
        path.with_suffix('.gcno').symlink_to(Path('/') / path.relative_to(counts).with_suffix('.gcno'))
    found, texts = set(), {}
    out = subprocess.run(['gcov', '--json-format', '--stdout', *map(str, paths)], cwd=tree, capture_output=True, text=True,
                         errors='replace').stdout
    for line in out.splitlines():
        for file in json.loads(line)['files'] if line.startswith('{') else []:
            path = file['file']
            if path.startswith('/') or not (tree / path).exists():
                continue
            if path not in texts:
                texts[path] = [''] + (tree / path).read_text().split('\n')
            found |= {(path, at.get('function_name', ''), operators.squeezed(texts[path][at['line_number']])) for at in file['lines']
                      if at['count']}
    return sorted(found)


def main(tree, counts, file):
    part = file.with_suffix('.part')
    part.write_text(json.dumps(lines(tree, counts)))
    part.replace(file)


if __name__ == '__main__':
    main(*(Path(word).resolve() for word in sys.argv[1:]))
