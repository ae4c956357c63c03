#!/usr/bin/env python3
"""In: the working tree, seeds and a count, or a list of changes. Out: which of them `make test`'s suites notice: a line each, the score
(the share that they notice), and the survivors. Refuses: a tree whose suites fail before any change.

    make mutants SEED=1 COUNT=150     draws places in ir, gen, templates, runtime, reference and judge, as many in each (operators.py)
    make mutants SEED="3 2:gen,ir"    several seeds, COUNT places each, and one score; SEED:AREAS limits a seed to these areas
    make mutants LIST=holes           the planted bugs of tests/mutants/holes.txt (with SEED=: those and drawn ones)
    make mutants ... AREAS=gen,ir     only these areas
    make mutants ... FILES=ir/check   only files whose names match this expression
    make mutants ... SUITES=test_ir   only these suites
    make mutants ... RETRY=1          only the survivors of earlier runs, after tests were written for them
    make mutants ... BUDGET=60        at most so many seconds of suites per mutant; one that no suite noticed by then counts as a survivor
    make mutants ... JOBS=8           so many mutants at a time, each in its own tree; the mutants drawn are the same
    make mutants ... LENIENT=1        suites that fail before any change are left out and named
    make mutants ... UNMEASURED=1     suites whose coverage is not known are tried on every change, not measured first
    make mutants ... REPORT=1         prints the results of earlier runs; builds and runs nothing

Works on copies in build/mutants, never on the working tree. build/mutants/results.jsonl has a line a mutant, added when it is judged:
an interrupted run loses only the mutants under way, and the next run goes on from there. A mutant that does not compile, or compiles to
the same object code, is replaced by the next; tests/mutants/equivalent.txt lists mutants whose behaviour no test can tell from
the original's, with the reason. Suites that never run the changed line (coverage.py) are left out; for templates,
suites that compile no kernel.
"""
import argparse
import json
import os
import re
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import operators
from draws import Draw, Queue, key_of
from suites import Suites, Tree, say

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
WORK = TOP / 'build' / 'mutants'
FLAGS = '-O1 -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration'

AREAS = {
    'ir': [f'ir/{part}/*.c' for part in ('base', 'program', 'read', 'lower', 'fuse', 'check', 'text')], 'gen': ['gen/*.c', 'gen/*/*.c'],
    'templates': ['templates/*/*.h'], 'runtime': ['runtime/*/*.c', 'runtime/host/hip_*.h'],
    'reference': ['ir/reference/*.c'], 'judge': ['runtime/cli/trial*.c', 'runtime/cli/verify*.c', 'runtime/cli/run.c'],
}
# Only for lists: draws of a seed stay as they are.
LISTED = {'command': ['runtime/cli/*/*.c']}
# Golden files. What draws specs by chance (runtime/cli/random) is in no area: changed, it draws others, and its suite takes minutes a
# change.
LEFT_OUT = r'\.spec\.'
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
        for path in sorted({p for pattern in {**AREAS, **LISTED}[area] for p in TOP.glob(pattern)}):
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


class Worker:
    """Judges one mutant after another in a tree of its own."""

    def __init__(self, number, tree, suites, budget):
        self.number, self.tree, self.suites, self.budget = number, tree, suites, budget

    def fresh_cache(self):
        """The sound tree's kernels, as links: entries are never written in place, so what a mutant adds or removes is its own."""
        for old in WORK.glob(f'cache.{self.number}.*'): # a compiler that outlived its suite may still write there
            shutil.rmtree(old, ignore_errors=True)
        cache = WORK / f'cache.{self.number}.{time.monotonic_ns()}'
        (WORK / 'cache').mkdir(mode=0o700, exist_ok=True)
        shutil.copytree(WORK / 'cache', cache, copy_function=link)
        return cache

    def judge(self, mutant):
        """(verdict, by, why, seconds): killed, survived, uncompilable or same."""
        path = self.tree.folder / mutant.path
        sound = path.read_text()
        changed = sound[:mutant.start] + mutant.new + sound[mutant.end:]
        try:
            wrong = self.compile(mutant, path, changed)
            return wrong or self.try_all(mutant, path, sound, changed)
        finally:
            path.write_text(sound)

    def compile(self, mutant, path, changed):
        """Writes the change; returns a verdict if no suite is needed."""
        if path.suffix != '.c':
            path.write_text(changed)
            return None
        target = self.tree.built / Path(mutant.path).with_suffix('.o')
        name = str(target.relative_to(self.tree.folder))
        self.tree.build(name)
        before = target.read_bytes()
        path.write_text(changed)
        good, log = self.tree.build(name)
        if not good:
            return 'uncompilable', '', log[-200:], 0
        return ('same', '', 'the same object code', 0) if target.read_bytes() == before else None

    def try_all(self, mutant, path, sound, changed):
        cache, suites = self.fresh_cache(), self.suites
        spent, planned, hung = 0.0, 0.0, ''
        for name in suites.order(mutant):
            # as long as the unchanged code takes: under load the same suites run
            if self.budget and planned and planned + suites.takes(name) > self.budget:
                continue
            planned += suites.takes(name)
            verdict, why, took = suites.try_on(name, 60 + 20 * suites.times.get(name, 10), cache, self.tree, number=self.number - 1)
            spent += took
            if verdict == 'killed' and mutant.path.endswith('.h') and self.does_not_compile(name, why):
                verdict = 'uncompilable'
            if verdict == 'hung' and not mutant.loops: # a timeout on a slow machine proves nothing
                hung, verdict = f' ({name} hung)', 'passed'
            if verdict in ('killed', 'hung') and name not in suites.sound:
                path.write_text(sound)
                suites.is_sound(name, self.tree, self.number - 1)
                path.write_text(changed)
            if verdict != 'passed' and suites.sound.get(name, True):
                return 'killed' if verdict == 'hung' else verdict, name, why, spent
        return 'survived', '', hung, spent

    def does_not_compile(self, name, why):
        return re.search(r'\.(h|hip|c):\d+:\d+: error: (?!static assertion)',
                         why + (self.tree.folder / f'{name}.log').read_text(errors='replace'))


def link(source, copy):
    try:
        os.link(source, copy)
    except FileNotFoundError: # removed since it was listed
        pass


def show(mutant):
    say(f'  {mutant.function}: {mutant.path}:{mutant.line}, {mutant.operator}\n  - {mutant.old_text}\n  + {mutant.new_text}')


class Results:
    """Verdicts of this and earlier runs; with --retry, earlier survivors do not count."""

    def __init__(self, retry):
        self.file, self.by_key, self.retry, self.now, self.lock = WORK / 'results.jsonl', {}, retry, set(), threading.Lock()
        for line in self.file.read_text().splitlines() if self.file.exists() else []:
            try:
                r = json.loads(line)
                self.by_key[tuple(r['key'])] = r
            except ValueError: # cut off when the run was stopped
                continue

    def known(self, mutant):
        r = self.by_key.get(key_of(mutant))
        again = r and self.retry and r['verdict'] == 'survived' and key_of(mutant) not in self.now
        return r['verdict'] if r and not again else None

    def add(self, mutant, verdict, by, why, seconds):
        r = {'key': key_of(mutant), 'area': mutant.area, 'path': mutant.path, 'operator': mutant.operator, 'verdict': verdict, 'by': by,
             'why': why, 'seconds': round(seconds, 1)}
        with self.lock:
            self.by_key[key_of(mutant)] = r
            self.now.add(key_of(mutant))
            with self.file.open('a') as f:
                f.write(json.dumps(r) + '\n')
        return r


def work(worker, queue, results):
    while True:
        found = queue.take()
        if not found:
            return
        share, m = found
        r = results.add(m, *worker.judge(m))
        say(f"{time.strftime('%H:%M:%S')} {r['verdict']:12} {m.path}:{m.line} {m.operator}"
            f"{', by ' + r['by'] if r['by'] else ''}, {r['seconds']} s")
        if r['verdict'] == 'killed':
            worker.suites.kills.append((r['by'], m.path, m.area))
        queue.give(share, m, r['verdict'])


def work_all(o, queue, results):
    """Runs one worker per job, until no mutant is left or the run is stopped."""
    tree = Tree(TOP, WORK / 'tree', o.cc, FLAGS)
    suites = Suites(TOP, WORK, o.jobs, o.suites.split(',') if o.suites else (), o.lenient)
    objects = [f'{tree.program(name)}.o' for name in suites.names]
    good, log = tree.build('all', *objects, jobs=max(2, o.jobs))
    if not good:
        sys.exit(log)
    suites.kills = [(r['by'], r['path'], r['area']) for r in results.by_key.values() if r['verdict'] == 'killed']
    failed = []

    def one(number):
        try:
            mine = tree if number == 1 else Tree(TOP, WORK / f'tree.{number}', o.cc, FLAGS, twin=tree)
            begin.wait()
            work(Worker(number, mine, suites, o.budget), queue, results)
        except threading.BrokenBarrierError:
            return
        except Exception as e: # a worker that dies must not leave the others waiting
            failed.append(e)
            begin.abort()
    begin = threading.Barrier(o.jobs + 1) # the first tree is copied before it is changed
    workers = [threading.Thread(target=one, args=(i + 1,), daemon=True) for i in range(o.jobs)]
    try:
        for w in workers:
            w.start()
        suites.measure(o.unmeasured)
        if not failed:
            begin.wait()
        while any(w.is_alive() for w in workers) and not failed:
            time.sleep(0.2)
    except threading.BrokenBarrierError:
        say('stopped')
    finally:
        begin.abort()
        queue.close()
        suites.stop()
        for w in workers:
            w.join(30)
    if failed:
        raise failed[0]
    return suites


def drawn_by(o, sources, argued):
    """([Draw], how many entries of lists are stale)."""
    draws, stale = [], 0
    if o.list:
        wide = sources + ([] if o.areas else list(source_files(LISTED, o.files)))
        pairs = [listed(title, removed, added, wide) for title, removed, added, _ in read_changes(HERE / f'{o.list}.txt')]
        for _, wrong in pairs:
            if wrong:
                say('stale:', wrong)
                stale += 1
        draws.append(Draw(o.list, [m for m, _ in pairs if m]))
    if o.seed:
        everything = [m for area, name, text in sources for m in operators.mutants_of(area, name, text)]
        each = -(-o.count // len({m.area for m in everything})) if everything else 0
        for seed, _, areas in (word.partition(':') for word in o.seed.split()):
            found = operators.draw(everything, seed)
            draws.append(Draw(f'seed {seed}', [m for m in found if not areas or m.area in areas.split(',')], each))
        for key in set(argued) - {key_of(m) for m in everything} if not (o.areas or o.files) else ():
            say('stale: nothing makes what is argued of', key[0])
    return draws, stale


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('stopped'))
    options = argparse.ArgumentParser()
    for name in ('seed', 'list', 'areas', 'files', 'suites'):
        options.add_argument(f'--{name}', default='')
    for name in ('retry', 'lenient', 'report', 'unmeasured'):
        options.add_argument(f'--{name}', action='store_true')
    options.add_argument('--count', type=int, default=150)
    options.add_argument('--jobs', type=int, default=1)
    options.add_argument('--budget', type=float, default=0)
    options.add_argument('--cc', default='gcc')
    o = options.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    sources = list(source_files(o.areas.split(',') if o.areas else AREAS, o.files))
    argued = {(title.split(' ')[0].rstrip(':'), operators.squeezed(' '.join(a)), operators.squeezed(' '.join(b))): reason
              for title, a, b, reason in read_changes(HERE / 'equivalent.txt')}
    draws, stale = drawn_by(o, sources, argued)
    results = Results(o.retry and not o.report)
    queue = Queue(draws, results.known, lambda m: key_of(m) in argued or o.retry and key_of(m) not in results.by_key)
    if o.report:
        queue.settle_known()
    left_out = [] if o.report else work_all(o, queue, results).left_out
    return report(draws, stale, left_out)


def report(draws, stale, left_out):
    survivors = {key_of(m): m for draw in draws for share in draw.shares for m, verdict in share.counted if verdict == 'survived'}
    say('\nsurvivors:' if survivors else '\nno survivors')
    for m in survivors.values():
        show(m)
    total = [0, 0]
    for draw in draws:
        for share in draw.shares:
            lived = sum(verdict == 'survived' for _, verdict in share.counted)
            killed = len(share.counted) - lived
            total[0] += killed
            total[1] += lived
            if share.counted:
                say(f'{draw.name:8} {share.area:10} {killed:4} killed, {lived:3} survived, score {killed / (killed + lived):.3f}' +
                    (f', {share.unknown} not judged' if share.unknown else ''))
    killed, lived = total
    say(f'{"all":19} {killed:4} killed, {lived:3} survived, score {killed / max(1, killed + lived):.3f}' +
        (f', {stale} stale' if stale else ''))
    if left_out:
        say('left out, since they fail as the tree is:', *sorted(left_out))
    listed_only = not any(draw.name.startswith('seed') for draw in draws)
    return 0 if not stale and killed >= (1 if listed_only else 0.97) * (killed + lived) else 1


if __name__ == '__main__':
    sys.exit(main())
