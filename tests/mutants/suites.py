"""In: a copy of the tree, and the name of a suite. Out: whether the suite passes there, why not, and the order in which suites are tried on
a change. Stops if a suite fails on the unchanged ("sound") tree, unless such suites may be left out."""
import collections
import concurrent.futures
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from coverage import Coverage

# As tests/run.sh has them. The time limit for a mutant is shorter than that for a slow machine.
USUAL = {'TFGEN': 'build/default/tfgen', 'TFGEN_HOST_OPTIMISE': '0', 'TFGEN_WISDOM': 'none', 'CK_EXCLUDE_TAGS': 'long',
         'CK_DEFAULT_TIMEOUT': '20', 'CK_TIMEOUT_MULTIPLIER': '2'}
PATIENT = {'CK_DEFAULT_TIMEOUT': '60', 'CK_TIMEOUT_MULTIPLIER': '20'}

# (pattern of a changed file's path, suites that probably notice, likeliest first); the first pattern that is found counts. Suites that
# killed mutants nearby and suites that take little time also go first (order()).
LIKELY = [
    (r'ir/reference/', 'ref_golden ref ref_bounds ref_sources op_properties models'), (r'ir/graph/half', 'data ref ir runtime models'),
    (r'ir/(devices/|program/dtype)', 'facts api cli bench'),
    (r'ir/read/schema', 'data cli'), (r'ir/(read/|base/(nearest|diagnostic|number))', 'reader extent ir fuse data emit models'),
    (r'ir/base/arena', 'arena reader'), (r'ir/base/extent', 'extent reader ir'),
    (r'ir/(check|text|lower)/|ir/graph/(segments|query|build)|ir/base/names', 'check ir fuse emit golden_models models'),
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
    print(' '.join(map(str, words)) + '\n', end='', flush=True) # one write, as many threads print


class Tree:
    """A scratch copy of `top`: built incrementally, changed in one file at a time. `twin` is a built copy to begin from."""

    def __init__(self, top, folder, cc, flags, twin=None):
        self.top, self.folder, self.built = top, folder, folder / 'build' / 'default'
        self.make = ['make', '-s', f'CC={cc}', f'CFLAGS={flags}', *(['LDFLAGS=--coverage'] if '--coverage' in flags else [])]
        if twin and not folder.exists():
            subprocess.run(['cp', '-a', '--reflink=auto', twin.folder, folder], check=True)
        self.copy()

    def names(self):
        """Source files of the tree: those that git tracks, or without git those that no build made."""
        listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=self.top, capture_output=True)
        if listed.returncode == 0:
            return {n for n in listed.stdout.decode().split('\0') if n and (self.top / n).is_file()}
        found = set()
        for folder, inner, files in os.walk(self.top):
            inner[:] = [name for name in inner if name not in ('.git', '__pycache__') and (folder != str(self.top) or name != 'build')]
            found |= {(Path(folder) / name).relative_to(self.top).as_posix() for name in files}
        return {n for n in found if not re.fullmatch(r'tfgen(-worker)?|libtfgen\.(a|so[.\d]*)', n) and (self.top / n).is_file()}

    def copy(self):
        names = self.names()
        for name in sorted(names):
            source, copy = self.top / name, self.folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                shutil.copy(source, copy)
        for folder in ('ir', 'gen', 'runtime', 'templates', 'tests', 'specs'):
            for path in (self.folder / folder).rglob('*'):
                if path.is_file() and path.relative_to(self.folder).as_posix() not in names:
                    path.unlink()

    def build(self, *targets, jobs=2):
        r = subprocess.run([*self.make, f'-j{jobs}', *targets], cwd=self.folder, capture_output=True, text=True, errors='replace')
        return r.returncode == 0, r.stdout + r.stderr

    def program(self, name):
        return f'build/default/tests/{name}'

    def needs(self, name):
        """What is built before a suite runs. Most suites only need the command; linking the libraries takes long."""
        whole = 'libtfgen' in next((self.folder / 'tests').glob(f'*/{name}.c')).read_text()
        return ['all' if whole else 'build/default/tfgen', 'build/default/tfgen-worker', self.program(name)]


class Suites:
    """`make test`'s programs, how long each takes on the unchanged tree, and which mutants it killed. Many threads may call this."""

    def __init__(self, top, work, jobs, only=(), lenient=False):
        self.top, self.work, self.jobs, self.lenient = top, work, jobs, lenient
        self.names = sorted(p.stem for kind in ('test', 'fuzz') for p in (top / 'tests').glob('*/' + kind + '_*.c')
                            if not only or p.stem in only)
        unknown = sorted(set(only) - set(self.names))
        if unknown:
            sys.exit(f'no suite is called {unknown[0]}; SUITES has names with commas between them')
        self.kills, self.sound, self.left_out = [], {}, []
        self.coverage = Coverage(work / 'coverage', top)
        self.file = work / 'suites.json'
        self.times = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.lock, self.asking = threading.RLock(), collections.defaultdict(threading.Lock)
        self.running, self.stopped, self.everywhere = set(), False, set()

    def measure(self, unmeasured=False):
        """Runs each suite once if its source has changed: records whether it passes, the lines that it runs (coverage.py), and its seconds.
        Suites that were not measured are tried on every change."""
        stale = self.coverage.stale(self.names)
        self.everywhere = set(stale) if unmeasured else set()
        if not stale or unmeasured:
            return self.coverage.take(self.names)
        tree = Tree(self.top, self.work / 'covered', 'gcc', '-O0 --coverage')
        good, log = tree.build('all', *map(tree.program, stale), jobs=max(2, self.jobs))
        if not good:
            sys.exit(log)

        free = queue.SimpleQueue()
        for number in range(self.jobs):
            free.put(number)

        def one(name):
            counts = self.work / 'counts' / name
            shutil.rmtree(counts, ignore_errors=True)
            number = free.get() # threads of a suite on many cores would wait for each other's counts
            verdict, why, took = self.run(name, 1800, self.work / 'cache', tree, {'GCOV_PREFIX': str(counts), **PATIENT}, number)
            free.put(number)
            if verdict == 'passed':
                say(f'sound: {name} in {took:.1f} s')
                self.remember(name, took / 3) # built without optimisation and with counters of lines, taken to be three times as slow
                self.coverage.add(name, tree, counts)
                self.sound[name] = True
            elif self.lenient:
                self.leave_out(name, why)
            else:
                raise SystemExit(f'{name} fails on the sound tree: {why}')
            shutil.rmtree(counts, ignore_errors=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            try:
                for done in [pool.submit(one, name) for name in sorted(stale, key=lambda n: -self.takes(n))]:
                    done.result()
            except BaseException:
                self.stop() # so that the pool does not wait for all of them
                raise
        self.coverage.take(self.names)

    def leave_out(self, name, why):
        with self.lock:
            say(f'{name} fails on the sound tree; it is left out: {" ".join(why.split())[:200]}')
            self.left_out.append(name)
            self.names = [n for n in self.names if n != name]

    def is_sound(self, name, tree, number=0):
        """True if the suite passes on the unchanged tree, now; checked before the first mutant that it kills counts."""
        with self.asking[name]:
            if name not in self.sound:
                verdict, why, _ = self.try_on(name, 1800, self.work / 'cache', tree, PATIENT, number)
                self.sound[name] = verdict == 'passed'
                if not self.sound[name]:
                    self.leave_out(name, why)
            return self.sound[name]

    def remember(self, name, took):
        with self.lock:
            if took < self.times.get(name, took + 1): # the least so far: the first run also compiles kernels
                self.times[name] = took
                self.file.write_text(json.dumps(self.times))

    def takes(self, name):
        """Seconds that the suite takes. Suites of drawn specs come last: they reduce a failing spec first, which takes minutes."""
        return self.times.get(name, 10) + (300 if name == 'test_random' else 0)

    def order(self, mutant):
        seeing = self.coverage.running('module.c', 'host_compile') if mutant.path.endswith('.h') else self.coverage.suites(mutant)
        likely = next((words.split() for pattern, words in LIKELY if re.search(pattern, mutant.path)), [])
        weight = {}
        for name in [n for n in self.names if not seeing or n in seeing or n in self.everywhere]:
            place = likely.index(name.split('_', 1)[1]) if name.split('_', 1)[1] in likely else None
            kills = sum(8 if path == mutant.path else 2 if area == mutant.area else 0 for suite, path, area in self.kills if suite == name)
            weight[name] = (0.2 + kills + (12 / (1 + place) if place is not None else 0)) / (1 + self.takes(name))
        return sorted(weight, key=lambda n: -weight[n])

    def on(self, number):
        """Words to put before a command: they keep it on the CPUs of the job `number`. No words if there is one job, or no taskset."""
        cpus = sorted(os.sched_getaffinity(0))
        width, first = max(2, len(cpus) // self.jobs), number * len(cpus) // self.jobs
        mine = sorted({cpus[(first + i) % len(cpus)] for i in range(width)})
        return ['taskset', '-c', ','.join(map(str, mine))] if self.jobs > 1 and shutil.which('taskset') else []

    def try_on(self, name, limit, cache, tree, more={}, number=0):
        """As run(), of a tree that may have been changed since it was built."""
        good, log = tree.build(*tree.needs(name))
        if not good:
            return 'uncompilable', log[-500:], 0
        verdict, why, took = self.run(name, limit, cache, tree, more, number)
        if verdict == 'passed':
            self.remember(name, took)
        return verdict, why, took

    def run(self, name, limit, cache, tree, more={}, number=0):
        """('passed' | 'killed' | 'hung' | 'uncompilable', why, seconds). Stops at the first failed check."""
        tap, out = tree.folder / f'{name}.tap', tree.folder / f'{name}.log'
        tap.write_text('')
        environment = {**os.environ, **USUAL, 'TFGEN_WORKER': str(tree.built / 'tfgen-worker'), 'TFGEN_CACHE_DIR': str(cache),
                       'CK_TAP_LOG_FILE_NAME': str(tap), **more}
        began = time.monotonic()
        with out.open('wb') as f:
            p = self.begin([*self.on(number), tree.program(name)], cwd=tree.folder, env=environment, stdout=f, stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL, start_new_session=True)
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
                self.end(p)
        took = time.monotonic() - began
        text = out.read_text(errors='replace')
        found = re.search(r'^not ok .*', tap.read_text(errors='replace'), re.M)
        failed = failed or (found.group() if found else '')
        if timed_out or 'Test timeout expired' in failed:
            return 'hung', failed or f'no end after {took:.0f} s', took
        if failed or p.returncode:
            return 'killed', (failed or text[-300:])[:400], took
        return 'passed', '', took

    def begin(self, *words, **how):
        with self.lock:
            if self.stopped:
                raise SystemExit
            p = subprocess.Popen(*words, **how)
            self.running.add(p)
            return p

    def end(self, p):
        """Ends p, which began a session, and with it the children that Check and tfgen started there."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                if p.poll() is None or number == signal.SIGKILL:
                    os.killpg(p.pid, number)
                p.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        with self.lock:
            self.running.discard(p)
            if self.stopped:
                raise SystemExit

    def stop(self):
        """Kills running suites; threads that wait for them return."""
        with self.lock:
            self.stopped = True
            for p in self.running:
                try:
                    os.killpg(p.pid, signal.SIGTERM)
                except ProcessLookupError:
                    continue
