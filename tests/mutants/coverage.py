"""In: a copy of the tree and the names of suites. Out: which suites run a line, by the names of the file and the function and the text of
the line, so that it holds when code and files move. Refuses nothing: of what no suite is known to run (children that were killed write no
counts) nothing is said.

Needs gcc and gcov: the copy is built with --coverage, each suite runs once in it, and once more when its own source has changed.
"""
import collections
import hashlib
import json
import subprocess
from pathlib import Path

import operators


class Coverage:
    def __init__(self, tree, file):
        self.tree, self.file = tree, file
        self.known = json.loads(file.read_text()) if file.exists() else {}
        self.by_line, self.by_function = collections.defaultdict(set), collections.defaultdict(set)

    def stamp(self, name):
        return hashlib.sha256(next((self.tree.folder / 'tests').glob(f'*/{name}.c')).read_bytes()).hexdigest()

    def measure(self, names, run):
        """run(name) runs a suite in this tree."""
        for name in names:
            if self.known.get(name, {}).get('stamp') != self.stamp(name):
                for old in self.tree.folder.rglob('*.gcda'):
                    old.unlink()
                run(name)
                self.known[name] = {'stamp': self.stamp(name), 'lines': self.lines()}
                self.file.write_text(json.dumps(self.known))
            for path, function, text in self.known[name]['lines']:
                self.by_line[Path(path).name, function, text].add(name)
                self.by_function[Path(path).name, function].add(name)

    def lines(self):
        """[[path, function, text of the line]] that ran since the counts were last removed."""
        counts = sorted(str(p) for p in self.tree.folder.rglob('*.gcda'))
        found, texts = set(), {}
        out = subprocess.run(['gcov', '--json-format', '--stdout', *counts], cwd=self.tree.folder, capture_output=True, text=True,
                             errors='replace').stdout
        for line in out.splitlines():
            for file in json.loads(line)['files'] if line.startswith('{') else []:
                path = file['file']
                if path.startswith('/') or not (self.tree.folder / path).exists():
                    continue
                if path not in texts:
                    texts[path] = [''] + (self.tree.folder / path).read_text().split('\n')
                found |= {(path, at.get('function_name', ''), operators.squeezed(texts[path][at['line_number']])) for at in file['lines']
                          if at['count']}
        return sorted(found)

    def running(self, file, function):
        return self.by_function.get((file, function))

    def suites(self, mutant):
        """Suites that run the line, else those that run its function; None where neither is known."""
        file = Path(mutant.path).name
        return self.by_line.get((file, mutant.function, mutant.old_text)) or self.running(file, mutant.function)
