#!/usr/bin/env python3
"""Fused layers in whole models of transformers on a GPU, weights drawn by a seed: greedy tokens beside the original's, the time to the
first token, and the time of a decode step, in turn with the original, torch.compile, and torch.compile with a static cache (and ours with
both); of BERT the encoder's results and the time of a pass. Exit code 1 where results are not those of the original (tokens may differ
where the two best logits nearly tie), or where a case was not done in the time.

usage: transformers.py [--within=N] [--batch=B] [--dynamic=eager] [--alone] [MODEL[:LAYERS]...]
TFGEN_LIBRARY, TFGEN: the library, the command
Each model and batch is a process. All begin at once, as compiling takes longest. Those that are ready are timed one after the other
while the others stand still: when all are ready, or after half the time. --within: cases that are not done after N seconds are ended, which
is reported, as are contenders that would begin to compile after half the time. --batch: sequences, default 1 and then 8. LAYERS: the first
ones of a model, as compiling all of them takes minutes. --dynamic=eager: the original is not compiled with a cache that grows, which takes
as long to compile as with a static one and makes no step faster. --alone: one case after the other in this process"""
import argparse
import copy
import inspect
import os
import selectors
import signal
import statistics
import subprocess
import sys
import time
import traceback

sys.path[:] = [p for p in sys.path if os.path.abspath(p) != os.path.dirname(os.path.abspath(__file__))]  # this file has the package's name

import torch  # noqa: E402
import transformers  # noqa: E402

import tfgen.transformers  # noqa: E402

MODELS = {
    "llama-1b": ("llama", dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                               num_key_value_heads=8, head_dim=64, vocab_size=128256, tie_word_embeddings=True)),
    "qwen3-0.6b": ("qwen3", dict(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
                                 num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True)),
    "gemma3-1b": ("gemma3_text", dict(hidden_size=1152, intermediate_size=6912, num_hidden_layers=26, num_attention_heads=4,
                                      num_key_value_heads=1, head_dim=256, sliding_window=512, vocab_size=262144,
                                      tie_word_embeddings=True)),
    "bert-base": ("bert", dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, vocab_size=30522)),
}
PROMPT, ROOM, STEPS = 64, 1024, 32
# (ours or theirs, static cache, compiled), those that compile fastest first. Our steps with a growing cache cannot be compiled, as they
# change Python objects.
CONTENDERS = [("original", False, False), ("tfgen", False, False), ("original", True, False), ("tfgen", True, False),
              ("tfgen", True, True), ("original", True, True), ("original", False, True)]
LIMIT = 1.5e-2  # bfloat16: relative RMS of an encoder's results
failed, begun, until, eager = 0, time.perf_counter(), float("inf"), False


def made(family, keys):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, max_position_embeddings=4096, pad_token_id=0, bos_token_id=1, eos_token_id=None,
                                               **keys)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        kind = transformers.AutoModel if family == "bert" else transformers.AutoModelForCausalLM
        model = kind.from_config(config).eval()
        torch.set_default_dtype(torch.float32)
    return model


class Stepper:
    """Greedy steps of a model: step() makes the next token of each sequence."""

    def __init__(self, model, ids, static, compiled):
        self.model, self.static = model, static
        self.name = next(n for n in tfgen.transformers.CACHES if n in inspect.signature(model.forward).parameters)
        self.cache = (transformers.StaticCache(model.config, max_cache_len=ROOM) if static
                      else transformers.DynamicCache(config=model.config))
        mode = dict(mode="reduce-overhead", fullgraph=True) if static else {}
        self.forward = torch.compile(model, **mode) if compiled else model
        start = time.perf_counter()
        out = model(ids, use_cache=True, logits_to_keep=1, **{self.name: self.cache})
        self.token = out.logits[:, -1:].argmax(-1)
        self.token.tolist()  # waits
        self.first = time.perf_counter() - start
        self.position = torch.full((1, 1), ids.shape[1], device=ids.device)

    def step(self):
        out = self.forward(self.token, use_cache=True, position_ids=self.position, **{self.name: self.cache})
        self.logits = out.logits[:, -1]
        self.token = self.logits.argmax(-1, keepdim=True).clone()
        self.position += 1


def timed(calls, rounds=5):
    """Microseconds of each call by round; one of more than 5 ms is called less often."""
    times, often = {name: [] for name in calls}, {name: STEPS for name in calls}
    for _ in range(rounds):
        for name in (list(calls)[i] for i in torch.randperm(len(calls)).tolist()):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(often[name]):
                calls[name]()
            torch.cuda.synchronize()
            times[name].append((time.perf_counter() - start) / often[name] * 1e6)
            often[name] = STEPS if times[name][-1] < 5000 else 4
    return times


def wait_for_turn(alone):
    if not alone:
        print("ready", flush=True)
        sys.stdin.readline()


def report(title, calls, what):
    times = timed(calls)
    best = min(statistics.median(t) for n, t in times.items() if n.startswith("original"))
    print(title, flush=True)
    for label, t in times.items():
        middle = statistics.median(t)
        print(f"  {label:36s} {middle:8.0f} us a {what} ({min(t):.0f}, {max(t):.0f})  {best / middle:.2f} of the best original", flush=True)


def attempted(label, make):
    """What make() returns, or None where a contender cannot do the case."""
    global failed
    start = time.perf_counter()
    try:
        made_ = make()
        torch.cuda.synchronize()
        print(f"  {label}: ready after {time.perf_counter() - start:.1f} s", flush=True)
        return made_
    except Exception as e:
        print(f"  {label}: {type(e).__name__}: {str(e)[:300]}", flush=True)
        failed += label.startswith("tfgen")
        return None


def stepping(model, ids, static, compiled):
    s = Stepper(model, ids, static, compiled)
    for _ in range(4):
        s.step()
    return s


def label_of(who, static, compiled):
    return f"{who}{', static cache' if static else ''}{', compiled' if compiled else ''}"


def replaced(model):
    start = time.perf_counter()
    mine = tfgen.transformers.replace(copy.deepcopy(model), room=ROOM)
    return mine, time.perf_counter() - start


def beside(name, batch, alone):
    name, _, layers = name.partition(":")
    family, keys = MODELS[name]
    layers = int(layers or keys["num_hidden_layers"])
    model = made(family, keys | {"num_hidden_layers": layers})
    ids = torch.randint(5, 1000, (batch, PROMPT), device="cuda")
    mine, seconds = replaced(model)
    title = f"{name}, {layers} layers, B{batch}: replace() {seconds:.1f} s"
    if family == "bert":
        encoder(title, model, mine, ids, alone)
        return
    steppers = {}
    for who, static, compiled in CONTENDERS:
        label = label_of(who, static, compiled)
        if compiled and not static and eager:
            continue
        if compiled and time.perf_counter() - begun > until:
            print(f"  {label}: left out after {until:.0f} s", flush=True)
            continue
        steppers[label] = attempted(label, lambda: stepping(model if who == "original" else mine, ids, static, compiled))
    steppers = {label: s for label, s in steppers.items() if s}
    wait_for_turn(alone)
    print("  first token: " + ", ".join(f"{label} {s.first:.2f} s" for label, s in steppers.items()))
    report(title, {label: s.step for label, s in steppers.items()}, "step")
    same(name, model, mine, ids)


def encoder(title, model, mine, ids, alone):
    """A pass over texts of 128 tokens without padding; results beside the original in float32, also with padding on the right."""
    global failed
    ids = torch.cat([ids, ids], 1)
    ways = {"original": model, "tfgen": mine, "tfgen, compiled": torch.compile(mine, mode="reduce-overhead"),
            "original, compiled": torch.compile(model, mode="reduce-overhead")}
    calls = {label: (lambda m=m: m(ids).last_hidden_state) for label, m in ways.items()}
    calls = {label: call for label, call in calls.items() if attempted(label, lambda: [call() for _ in range(4)]) is not None}
    exact = copy.deepcopy(model).float()
    mask = torch.arange(ids.shape[1], device="cuda")[None] < torch.arange(100, 100 + len(ids), device="cuda")[:, None]
    for what, m in (("whole texts", None), ("padded", mask.long())):
        want, got, theirs = (f(ids, attention_mask=m).last_hidden_state.double() for f in (exact, mine, model))
        keep = mask[:, :, None] if m is not None else 1
        off, of_theirs = (((x - want) * keep).norm().item() / (want * keep).norm().item() for x in (got, theirs))
        failed += not off <= LIMIT
        print(f"  {what}: relative difference from float32 {off:.3g}, the original's {of_theirs:.3g}{'' if off <= LIMIT else '  WRONG'}")
    wait_for_turn(alone)
    report(title, calls, "pass")


def same(name, model, mine, ids):
    """64 greedy tokens; where they differ, how close the two logits are, in units of bfloat16's rounding."""
    global failed
    ours, theirs = (m.generate(input_ids=ids, max_new_tokens=64, min_new_tokens=64, do_sample=False)[:, PROMPT:] for m in (mine, model))
    for row, (a, b) in enumerate(zip(ours.tolist(), theirs.tolist())):
        at = next((i for i in range(64) if a[i] != b[i]), None)
        if at is None:
            print(f"  {name}: sequence {row}: 64 tokens equal")
            continue
        text = torch.cat([ids[row], theirs[row, :at]])[None]
        x, y = (m(text, use_cache=False).logits[0, -1].double() for m in (model, mine))
        gap, noise = (x[b[at]] - x[a[at]]).abs().item(), 4 * (x - y).abs().max().item()
        good = gap <= noise
        failed += not good
        print(f"  {name}: sequence {row}: tokens part at {at}, logits {gap:.3g} apart, bound {noise:.3g}{'' if good else '  WRONG'}")


class Case:
    """A case in a process of its own. Its lines are printed as they come."""

    def __init__(self, name, batch, processes, until, dynamic):
        self.name, self.state, self.rest = f"{name} B{batch}", "compiles", b""
        environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": str(max(1, (os.cpu_count() or 1) // processes))}
        command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), "--alone", f"--batch={batch}", name,
                   f"--until={until}", f"--dynamic={dynamic}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        start_new_session=True, env=environment)

    def signal(self, which):
        if self.state != "done":
            os.killpg(self.process.pid, which)

    def read(self):
        new = os.read(self.process.stdout.fileno(), 65536)
        *lines, self.rest = (self.rest + new).split(b"\n")
        for line in lines:
            if line == b"ready":
                self.state = "ready"
            else:
                print(f"[{self.name}] {line.decode()}", flush=True)
        if not new:
            self.state, code = "done", self.process.wait()
            print(f"[{self.name}] exit code {code}", flush=True)

    def go(self):
        self.state = "timed"
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()


def in_turn(cases, within):
    """Runs all cases; the exit code. A case is timed while those that still compile are stopped."""
    begun, stopped = time.monotonic(), False
    ready = selectors.DefaultSelector()
    for case in cases:
        ready.register(case.process.stdout, selectors.EVENT_READ, case)
    while (spent := time.monotonic() - begun) < within and any(c.state != "done" for c in cases):
        waiting, compiling = ([c for c in cases if c.state == state] for state in ("ready", "compiles"))
        if not any(c.state == "timed" for c in cases):
            if waiting and (not compiling or spent > within / 2):
                for c in compiling:
                    c.signal(signal.SIGSTOP)
                stopped = True
                waiting[0].go()
            elif stopped:
                stopped = False
                for c in compiling:
                    c.signal(signal.SIGCONT)
        for key, _ in ready.select(0.2):
            key.data.read()
            if key.data.state == "done":
                ready.unregister(key.fileobj)
    for c in cases:
        if c.state != "done":
            print(f"[{c.name}] ended after {spent:.0f} s: it {'is not timed yet' if c.state == 'ready' else c.state}")
            c.signal(signal.SIGKILL)
    return 1 if any(c.process.wait() for c in cases) else 0


def main():
    global failed, until, eager
    p = argparse.ArgumentParser()
    p.add_argument("--within", type=float, default=float("inf"))
    p.add_argument("--batch", type=int, action="append")
    p.add_argument("--dynamic", choices=("eager", "compiled"), default="compiled")
    p.add_argument("--alone", action="store_true")
    p.add_argument("--until", type=float, help=argparse.SUPPRESS)  # a process that in_turn() began
    p.add_argument("models", nargs="*")
    o = p.parse_args()
    cases = [(name, batch) for batch in o.batch or (1, 8) for name in o.models or MODELS]
    if not o.alone:
        print(torch.cuda.get_device_name(), torch.__version__, transformers.__version__, flush=True)
        return in_turn([Case(*case, len(cases), o.within / 2, o.dynamic) for case in cases], o.within)
    until, eager = o.until or until, o.dynamic == "eager"
    with torch.no_grad():
        for name, batch in cases:
            try:
                beside(name, batch, o.until is None)
            except Exception:
                print(traceback.format_exc(), flush=True)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
