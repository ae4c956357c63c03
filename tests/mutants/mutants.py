#!/usr/bin/env python3
"""In: the working tree, a seed and a count, or a list of changes. Out: which of them `make test`'s suites notice: a line each, the score,
and the survivors. Refuses: a tree whose suites fail as it is.

    make mutants SEED=1 COUNT=150     draws places in ir, gen, templates, runtime, reference and judge, as many in each (operators.py)
    make mutants LIST=holes           the planted bugs of tests/mutants/holes.txt
    make mutants ... AREAS=gen,ir     some areas alone
    make mutants ... FILES=ir/check   files whose names have this expression
    make mutants ... RETRY=1          survivors alone, again: after tests were written for them
    make mutants ... BUDGET=60        at most so many seconds of suites a mutant; who lives that long counts as a survivor

Works on a copy in build/mutants/tree, never on the working tree. build/mutants/results.jsonl has a line a mutant, added when it is judged:
whatever stops a run costs the mutant under way, and the next run goes on. A mutant that does not compile, or makes the same object code, is
passed over for the next; tests/mutants/equivalent.txt has those that nobody could tell apart, with the reason. Suites that never run the
line (coverage.py) are left out; of templates, suites that compile no kernel.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import operators
from coverage import Coverage

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
WORK = TOP / 'build' / 'mutants'
FLAGS = '-O1 -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration'

AREAS = {
    'ir': [f'ir/{part}/*.c' for part in ('base', 'program', 'read', 'lower', 'fuse', 'check', 'text')], 'gen': ['gen/*.c', 'gen/*/*.c'],
    'templates': ['templates/*/*.h'], 'runtime': ['runtime/*/*.c', 'runtime/host/hip_*.h'],
    'reference': ['ir/reference/*.c'], 'judge': ['runtime/cli/trial*.c', 'runtime/cli/verify*.c', 'runtime/cli/run.c'],
}
# Golden files. What draws specs by chance (runtime/cli/random) is in no area: changed, it draws others, and its suite takes minutes a
# change.
LEFT_OUT = r'\.spec\.'
# Suites to try first, by the name of the file; after these, what killed neighbours, then the cheapest.
LIKELY = [
    (r'ir/reference/', 'ref_golden ref ref_bounds op_properties models'), (r'ir/program/half', 'data ref ir runtime models'),
    (r'ir/(devices/|program/dtype)', 'facts api cli bench'),
    (r'ir/read/schema', 'data cli'), (r'ir/(read/|base/(nearest|diagnostic|number))', 'reader extent ir fuse data emit models'),
    (r'ir/base/arena', 'arena reader'), (r'ir/base/extent', 'extent reader ir'),
    (r'ir/(check|text|lower)/|ir/program/(segments|query|build)|ir/base/names', 'check ir fuse emit golden_models models'),
    (r'ir/(fuse/|program/)', 'fuse ir golden_models views scale emit'),
    (r'gen/(emit_attention|program/.*attention)|gen/program/(waves_)?(decode|combine)|gen/plan/split',
     'tiles decode_mma attention decode emit layers models'),
    (r'gen/(program/|tile|plan|layout|align)', 'tiles emit layers align ir models launches overlap'),
    (r'gen/manifest', 'emit api bundle launches'), (r'gen/', 'emit tiles models rows align overlap properties templates'),
    (r'templates/attention/decode_|templates/isa/(bulk|cache_ring|mma_cache|wave_cache|nvidia)', 'decode_mma races attention parts'),
    (r'templates/attention/decode', 'decode races attention templates models'),
    (r'templates/attention/', 'attention races mma layers templates decode models'),
    (r'templates/base/(ops|rope)', 'templates op_properties sums models'),
    (r'templates/(rows/|gemm/(pack|align)|base/sums)', 'rows races sums align templates models'),
    (r'templates/isa/(simt|amd|mfma|wmma)', 'races host_waves rows mma layers attention'),
    (r'templates/(isa|gemm|frame)/', 'races mma layers parts overlap attention models'),
    (r'templates/', 'races templates layers mma models overlap properties'),
    (r'runtime/host/(check|happens|fault|failure|place|log)', 'host_check host_faults host_engine'),
    (r'runtime/host/(wave|sched|fiber|launch|kernel_calls|watchdog)', 'host_waves host_engine host_faults host_check'),
    (r'runtime/host/mma', 'mma host_engine layers'), (r'runtime/host/', 'host_engine host_waves host_faults trust compilers models'),
    (r'runtime/cache', 'cache cache_shared trust cli'), (r'runtime/(data/safetensors|module/weights)', 'safetensors data api'),
    (r'runtime/(api|module)/|runtime/device/device\.', 'bundle api runtime launches cuda hip'),
    (r'runtime/(device/device_cuda|compile/nvrtc)', 'cuda doctor compilers bundle'),
    (r'runtime/(device/device_hip|compile/hiprtc)', 'hip hip_failures doctor compilers'),
    (r'runtime/compile/(codeobject|msgpack)', 'codeobject compilers'), (r'runtime/compile/matrix', 'explain'),
    (r'runtime/(compile|system)/', 'libclang compilers compile_failures trust'), (r'runtime/data/random', 'data ref ir runtime models'),
    (r'runtime/cli/(bench|record|compare)', 'bench compare cli'), (r'runtime/cli/build', 'bundle examples cli'),
    (r'runtime/cli/explain', 'explain cli'), (r'runtime/cli/(fit|footprint)', 'fit'), (r'runtime/cli/ablate', 'ablate'),
    (r'runtime/cli/predict', 'predict_command'),
    (r'runtime/cli/(trial|verify|run)', 'judge reports cli bench parts data models'),
    (r'runtime/cli/', 'cli reports data doctor bench emit'),
]


def say(*words):
    print(*words, flush=True)


def read_changes(path):
    """[(title, [removed], [added], reason)] of a list: a title line, `- ` lines, `+ ` lines, `= ` lines, a blank line between entries."""
    found = []
    for block in re.split(r'\n\s*\n', path.read_text()) if path.exists() else []:
        lines = [line for line in block.splitlines() if line and not line.startswith('#')]
        if not lines:
            continue
        by = {mark: [line[2:] for line in lines if line.startswith(mark + ' ') or line == mark] for mark in '-+='}
        found.append((lines[0].rstrip(':'), by['-'], by['+'], ' '.join(by['='])))
    return found


def source_files(areas, files=''):
    for area in areas:
        for path in sorted({p for pattern in AREAS[area] for p in TOP.glob(pattern)}):
            name = path.relative_to(TOP).as_posix()
            if re.search(LEFT_OUT, name) or not re.search(files, name) or (area == 'runtime'
                                                                           and any(Path(name).match(p) for p in AREAS['judge'])):
                continue
            yield area, name, path.read_text()


def listed(title, removed, added, sources):
    """The change of a list as a mutant: its text must stand in one place of all sources. White space does not matter."""
    pattern = r'\s+'.join(re.escape(word) for word in ' '.join(removed).split())
    hits = [(area, name, text, m) for area, name, text in sources for m in re.finditer(pattern, text)]
    if len(hits) != 1:
        return None, f'{title}: its text stands in {len(hits)} places' + ''.join(f' {name}' for _, name, _, _ in hits[:4])
    area, name, text, m = hits[0]
    inside = [f for f in operators.functions(operators.code_only(text)) if f[0] <= m.start() < f[1]]
    return operators.Mutant(area, name, text.count('\n', 0, m.start()) + 1, inside[-1][2] if inside else '', title, m.start(), m.end(),
                            '\n'.join(added), operators.squeezed(' '.join(removed)), operators.squeezed(' '.join(added)), True), None


class Tree:
    """A scratch copy: built incrementally, changed in one file at a time."""

    def __init__(self, folder, cc, flags):
        self.folder, self.built = folder, folder / 'build' / 'default'
        self.make = ['make', '-s', f'-j{min(2, os.cpu_count())}', f'CC={cc}', f'CFLAGS={flags}',
                     *(['LDFLAGS=--coverage'] if '--coverage' in flags else [])]
        self.copy()

    def copy(self):
        listed_files = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=TOP,
                                      capture_output=True, check=True).stdout
        names = {n for n in listed_files.decode().split('\0') if n and (TOP / n).is_file()}
        for name in sorted(names):
            source, copy = TOP / name, self.folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                shutil.copy(source, copy)
        for folder in ('ir', 'gen', 'runtime', 'templates', 'tests', 'specs'):
            for path in (self.folder / folder).rglob('*'):
                if path.is_file() and path.relative_to(self.folder).as_posix() not in names:
                    path.unlink()

    def build(self, *targets):
        r = subprocess.run([*self.make, *targets], cwd=self.folder, capture_output=True, text=True, errors='replace')
        return r.returncode == 0, r.stdout + r.stderr


class Suites:
    """`make test`'s programs, what each takes on the sound tree, and what it killed before."""

    def __init__(self, tree):
        self.tree, self.kills, self.sound = tree, [], {}
        self.names = sorted(p.stem for kind in ('test', 'fuzz') for p in (tree.folder / 'tests').glob('*/' + kind + '_*.c'))
        self.coverage = Coverage(Tree(WORK / 'covered', 'gcc', '-O0 --coverage'), WORK / 'coverage.json')
        self.file = WORK / 'suites.json'
        self.times = json.loads(self.file.read_text()) if self.file.exists() else {}

    def measure(self):
        """Each suite once: that it passes, what it runs (coverage.py), what it takes."""
        def passes(name):
            verdict, why, took = self.run(name, 1800, WORK / 'cache', self.coverage.tree)
            if verdict != 'passed':
                sys.exit(f'{name} fails on the sound tree: {why}')
            say(f'sound: {name} in {took:.1f} s')
        self.coverage.measure(self.names, passes)

    def is_sound(self, name):
        """Passes on the sound tree, now: asked before its first kill of a run is believed."""
        if name not in self.sound:
            self.sound[name] = self.run(name, 1800, WORK / 'cache')[0] == 'passed'
            if not self.sound[name]:
                say(f'{name} fails on the sound tree; it is left out')
                self.names.remove(name)
        return self.sound[name]

    def takes(self, name):
        """Seconds. A drawn spec that fails is made smaller before the test says so, which takes minutes: last of all."""
        return self.times.get(name, 10) + (300 if name == 'test_random' else 0)

    def order(self, mutant):
        seeing = self.coverage.running('module.c', 'host_compile') if mutant.path.endswith('.h') else self.coverage.suites(mutant)
        likely = next((words.split() for pattern, words in LIKELY if re.search(pattern, mutant.path)), [])
        weight = {}
        for name in [n for n in self.names if n in seeing] if seeing else self.names:
            place = likely.index(name.split('_', 1)[1]) if name.split('_', 1)[1] in likely else None
            kills = sum(8 if path == mutant.path else 2 if area == mutant.area else 0 for suite, path, area in self.kills if suite == name)
            weight[name] = (0.2 + kills + (12 / (1 + place) if place is not None else 0)) / (1 + self.takes(name))
        return sorted(weight, key=lambda n: -weight[n])

    def run(self, name, limit, cache, tree=None):
        """('passed' | 'killed' | 'hung' | 'uncompilable', why, seconds). Stops at the first failed check."""
        tree = tree or self.tree
        # What most suites start is the command alone; the libraries are what takes long to link.
        whole = 'libtfgen' in next((tree.folder / 'tests').glob(f'*/{name}.c')).read_text()
        good, log = tree.build('all' if whole else 'build/default/tfgen', 'build/default/tfgen-worker', f'build/default/tests/{name}')
        if not good:
            return 'uncompilable', log[-500:], 0
        tap, out = tree.folder / 'suite.tap', tree.folder / 'suite.log'
        tap.write_text('')
        environment = {**os.environ, 'TFGEN': 'build/default/tfgen', 'TFGEN_WORKER': str(tree.built / 'tfgen-worker'),
                       'TFGEN_CACHE_DIR': str(cache), 'TFGEN_HOST_OPTIMISE': '0', 'CK_TAP_LOG_FILE_NAME': str(tap),
                       'CK_TIMEOUT_MULTIPLIER': '5'}
        began = time.monotonic()
        with out.open('wb') as f:
            p = subprocess.Popen([f'build/default/tests/{name}'], cwd=tree.folder, env=environment, stdout=f,
                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            failed = ''
            try:
                while p.poll() is None and time.monotonic() - began < limit:
                    found = re.search(r'^not ok .*', tap.read_text(errors='replace'), re.M)
                    if found:
                        failed = found.group()
                        break
                    time.sleep(0.05)
                timed_out = p.poll() is None and not failed
            finally:
                stop(p)
        took = time.monotonic() - began
        text = out.read_text(errors='replace')
        found = re.search(r'^not ok .*', tap.read_text(errors='replace'), re.M)
        failed = failed or (found.group() if found else '')
        if timed_out or 'Test timeout expired' in failed:
            return 'hung', failed or f'no end after {took:.0f} s', took
        if failed or p.returncode:
            return 'killed', (failed or text[-300:])[:400], took
        if tree is not self.tree:
            took /= 3 # no optimisation, and counting
        if took < self.times.get(name, took + 1): # the first time, kernels were compiled
            self.times[name] = took
            self.file.write_text(json.dumps(self.times))
        return 'passed', '', took


def stop(p):
    """Ends a suite with the children that Check and tfgen started, in its own session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            if p.poll() is None or number == signal.SIGKILL:
                os.killpg(p.pid, number)
            p.wait(5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def fresh_cache():
    """The sound tree's kernels, as links: entries are never written in place, so what a mutant adds or removes is its own."""
    for old in WORK.glob('cache.*'): # a compiler that outlived its suite may still write there
        shutil.rmtree(old, ignore_errors=True)
    cache = WORK / f'cache.{time.monotonic_ns()}'
    shutil.copytree(WORK / 'cache', cache, copy_function=os.link)
    return cache


def judge(mutant, tree, suites, budget):
    """(verdict, by, why, seconds): killed, survived, uncompilable or same."""
    path = tree.folder / mutant.path
    sound = path.read_text()
    target = tree.built / Path(mutant.path).with_suffix('.o')
    before = None
    if path.suffix == '.c':
        tree.build(str(target.relative_to(tree.folder)))
        before = target.read_bytes()
    changed = sound[:mutant.start] + mutant.new + sound[mutant.end:]
    path.write_text(changed)
    spent, planned, hung = 0.0, 0.0, ''
    try:
        if before is not None:
            good, log = tree.build(str(target.relative_to(tree.folder)))
            if not good:
                return 'uncompilable', '', log[-200:], 0
            if target.read_bytes() == before:
                return 'same', '', 'the same object code', 0
        cache = fresh_cache()
        for name in suites.order(mutant):
            if budget and planned and planned + suites.takes(name) > budget: # as sound code takes: under load all the same suites run
                continue
            planned += suites.takes(name)
            verdict, why, took = suites.run(name, 60 + 20 * suites.times.get(name, 10), cache)
            spent += took
            if verdict == 'killed' and re.search(r'\.(h|hip|c):\d+:\d+: error: (?!static assertion)',
                                                 why + (tree.folder / 'suite.log').read_text(errors='replace')):
                verdict = 'uncompilable' if mutant.path.endswith('.h') else verdict
            if verdict == 'hung' and not mutant.loops: # a slow machine is no proof
                hung, verdict = f' ({name} hung)', 'passed'
            if verdict in ('killed', 'hung') and name not in suites.sound:
                path.write_text(sound)
                suites.is_sound(name)
                path.write_text(changed)
            if verdict != 'passed' and suites.sound.get(name, True):
                return 'killed' if verdict == 'hung' else verdict, name, why, spent
        return 'survived', '', hung, spent
    finally:
        path.write_text(sound)


def key_of(mutant):
    return [mutant.function, mutant.old_text, mutant.new_text]


def show(mutant):
    say(f'  {mutant.function}: {mutant.path}:{mutant.line}, {mutant.operator}\n  - {mutant.old_text}\n  + {mutant.new_text}')


class Results:
    def __init__(self):
        self.file, self.by_key = WORK / 'results.jsonl', {}
        for line in self.file.read_text().splitlines() if self.file.exists() else []:
            try:
                r = json.loads(line)
                self.by_key[tuple(r['key'])] = r
            except ValueError: # cut off when the run was stopped
                continue

    def add(self, mutant, verdict, by, why, seconds):
        r = {'key': key_of(mutant), 'area': mutant.area, 'path': mutant.path, 'operator': mutant.operator, 'verdict': verdict, 'by': by,
             'why': why, 'seconds': round(seconds, 1)}
        self.by_key[tuple(r['key'])] = r
        with self.file.open('a') as f:
            f.write(json.dumps(r) + '\n')
        return r


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('stopped'))
    options = argparse.ArgumentParser()
    options.add_argument('--seed', default='1')
    options.add_argument('--count', type=int, default=150)
    options.add_argument('--list', default='')
    options.add_argument('--areas', default='')
    options.add_argument('--files', default='')
    options.add_argument('--retry', action='store_true')
    options.add_argument('--budget', type=float, default=0)
    options.add_argument('--cc', default='gcc')
    o = options.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    tree = Tree(WORK / 'tree', o.cc, FLAGS)
    sources = list(source_files(o.areas.split(',') if o.areas else AREAS, o.files))
    argued = {(title.split(' ')[0].rstrip(':'), operators.squeezed(' '.join(a)), operators.squeezed(' '.join(b))): reason
              for title, a, b, reason in read_changes(HERE / 'equivalent.txt')}
    if o.list:
        pairs = [listed(title, removed, added, sources) for title, removed, added, _ in read_changes(HERE / f'{o.list}.txt')]
        for _, wrong in pairs:
            if wrong:
                say('stale:', wrong)
        drawn = [m for m, _ in pairs if m]
        stale = len(pairs) - len(drawn)
    else:
        everything = [m for area, name, text in sources for m in operators.mutants_of(area, name, text)]
        drawn, stale = operators.draw(everything, o.seed), 0
        for key in set(argued) - {tuple(key_of(m)) for m in everything} if not (o.areas or o.files) else ():
            say('stale: nothing makes what is argued of', key[0])
    good, log = tree.build('all')
    if not good:
        sys.exit(log)
    suites, results = Suites(tree), Results()
    suites.measure()
    suites.kills = [(r['by'], r['path'], r['area']) for r in results.by_key.values() if r['verdict'] == 'killed']
    counted, survivors = {}, []
    each = -(-o.count // len({m.area for m in drawn})) if drawn and not o.list else len(drawn)
    for m in drawn:
        if sum(counted.get(m.area, [])) >= each or tuple(key_of(m)) in argued:
            continue
        r = results.by_key.get(tuple(key_of(m)))
        if not r or (o.retry and r['verdict'] == 'survived'):
            r = results.add(m, *judge(m, tree, suites, o.budget))
            say(f"{time.strftime('%H:%M:%S')} {r['verdict']:12} {m.path}:{m.line} {m.operator}"
                f"{', by ' + r['by'] if r['by'] else ''}, {r['seconds']} s")
            if r['verdict'] == 'killed':
                suites.kills.append((r['by'], m.path, m.area))
        if r['verdict'] in ('killed', 'survived'):
            counted.setdefault(m.area, [0, 0])[r['verdict'] == 'survived'] += 1
        if r['verdict'] == 'survived':
            survivors.append(m)
    return report(counted, survivors, stale, bool(o.list))


def report(counted, survivors, stale, listed_only):
    say('\nsurvivors:' if survivors else '\nno survivors')
    for m in survivors:
        show(m)
    for area, (killed, lived) in sorted(counted.items()):
        say(f'{area:10} {killed:4} killed, {lived:3} survived, score {killed / (killed + lived):.3f}')
    killed, lived = (sum(c[i] for c in counted.values()) for i in (0, 1))
    say(f'{"all":10} {killed:4} killed, {lived:3} survived, score {killed / max(1, killed + lived):.3f}' +
        (f', {stale} stale' if stale else ''))
    return 0 if not stale and killed >= (1 if listed_only else 0.97) * (killed + lived) else 1


if __name__ == '__main__':
    sys.exit(main())
