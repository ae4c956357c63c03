"""Runs mutants.py on a source tree of a few lines: checks which changes it reports as killed or survived, which it skips, and that it can
continue an earlier run. `make mutants` runs this first."""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = {
    'Makefile': '''B := build/default
all: $(B)/tfgen $(B)/tfgen-worker
$(B)/%.o: %.c
\t@mkdir -p $(@D)
\t$(CC) $(CFLAGS) -c -o $@ $<
$(B)/tfgen $(B)/tfgen-worker: $(B)/ir/base/clamp.o
\ttouch $@
vpath %.c tests/ir
$(B)/tests/%.o: %.c
\t@mkdir -p $(@D)
\t$(CC) $(CFLAGS) -c -o $@ $<
$(B)/tests/%: $(B)/tests/%.o $(B)/ir/base/clamp.o
\t$(CC) $(LDFLAGS) -o $@ $^
''',
    'ir/base/clamp.c': '''#include <stdbool.h>
int clamp(int x, int most)
{
    if (x < 0) return 0;
    return x <= most ? x : most;
}

int nobody_asks(int x)
{
    if (x < 7) return 7;
    return x;
}
''',
    'tests/ir/test_clamp.c': '''int clamp(int x, int most);
int nobody_asks(int x);
int main(void)
{
    nobody_asks(3);
    for (int x = -9; x < 9; x++)
        if (clamp(x, 5) != (x < 0 ? 0 : x > 5 ? 5 : x)) return 1;
    return 0;
}
''',
    'tests/ir/test_sick.c': 'int clamp(int x, int most);\nint main(void) { return clamp(1, 2); }\n',
    'tests/mutants/equivalent.txt': '''clamp (ir/base/clamp.c):
- return x <= most ? x : most;
+ return x < most ? x : most;
= The same number.

clamp (ir/base/clamp.c):
- if (x < 0) return 0;
+ if (x <= 0) return 0;
= The same number.

clamp (ir/base/clamp.c):
- if (x < 0) return 0;
+ if (x < 1) return 0;
= A test would notice this, but changes listed in this file are not tried.
''',
}


def tool(top, *words):
    r = subprocess.run([sys.executable, top / 'tests/mutants/mutants.py', *words], capture_output=True, text=True)
    return r.returncode, r.stdout + r.stderr


def results(top):
    lines = (top / 'build/mutants/results.jsonl').read_text().splitlines()
    return {tuple(r['key']): (r['verdict'], r['by']) for r in map(json.loads, lines)}


def check(top):
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    for path in HERE.glob('*.py'):
        shutil.copy(path, top / 'tests/mutants')
    code, said = tool(top, '--seed=1')
    assert code == 1 and 'test_sick fails on the sound tree' in said, said
    code, said = tool(top, '--seed=1', '--suites=test_clamp|test_sick')
    assert code == 1 and 'no suite is called test_clamp|test_sick' in said, said
    code, said = tool(top, '--seed=1', '--lenient', '--count=0')
    assert 'test_sick fails' in said and not (top / 'build/mutants/results.jsonl').exists(), said
    code, said = tool(top, '--seed=1', '--lenient', '--jobs=3')
    assert code == 1 and 'left out, since they fail as the tree is: test_sick' in said, said
    found = results(top)
    of_clamp, of_nobody = ({v for (function, _, _), v in found.items() if function == name and v[0] in ('killed', 'survived')}
                           for name in ('clamp', 'nobody_asks'))
    assert of_clamp == {('killed', 'test_clamp')} and of_nobody == {('survived', '')}, found
    assert not any('(x < 1)' in new for _, _, new in found) and 'nobody_asks: ir/base/clamp.c:10,' in said and len(found) > 6, said
    score = said.splitlines()[-2]
    # which code the suites cover is known from the run before; whether they pass is tried again
    (top / 'build/mutants/results.jsonl').unlink()
    tool(top, '--seed=1', '--suites=test_clamp', '--jobs=2')
    assert results(top) == found, results(top)
    shutil.rmtree(top / 'build/mutants/coverage')
    (top / 'build/mutants/results.jsonl').unlink()
    tool(top, '--seed=1', '--suites=test_clamp', '--jobs=2', '--unmeasured')
    assert results(top) == found and not (top / 'build/mutants/coverage').exists(), results(top)
    # --retry after a test was made stronger: it now kills changes that survived
    test = top / 'tests/ir/test_clamp.c'
    test.write_text(test.read_text().replace('    nobody_asks(3);', '    for (int x = 5; x < 9; x++)\n'
                                             '        if (nobody_asks(x) != (x < 7 ? 7 : x)) return 2;'))
    assert score in tool(top, '--seed=1', '--report')[1], 'the report differs from the results'
    file = top / 'build/mutants/results.jsonl'
    file.write_text(''.join(line for line in file.read_text().splitlines(True) if '(x < 7) return 8' not in line))
    code, said = tool(top, '--seed=1', '--retry', '--suites=test_clamp', '--jobs=2')
    again = results(top)
    assert len(again) == len(found) - 1, again # only those that had survived
    assert sum(v == 'survived' for v, _ in again.values()) < sum(v == 'survived' for v, _ in found.values()), again
    assert (top / 'build/mutants/tree/ir/base/clamp.c').read_text() == FILES['ir/base/clamp.c'], 'a tree was left changed'


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder))
