#!/usr/bin/env python3
"""Fused layers in whole models of transformers on a GPU, weights drawn by a seed: greedy tokens beside the original's, the time to the
first token, and the time of a decode step, in turn with the original, torch.compile, and torch.compile with a static cache (and ours with
both). Exit code 1 where tokens differ although the two best logits do not nearly tie.

usage: transformers.py [--seconds=N] [--batch=B] [--layers=N] [MODEL...]        TFGEN_LIBRARY, TFGEN: the library, the command
--seconds: contenders that would be compiled later than N seconds after the start are left out, which is reported; --batch: sequences,
default 1 and then 8; --layers: the first N layers of a model, as compiling all of them takes minutes"""
import argparse
import copy
import statistics
import sys
import time

import torch
import transformers

import tfgen.transformers

MODELS = {
    "llama-1b": ("llama", dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                               num_key_value_heads=8, head_dim=64, vocab_size=128256, tie_word_embeddings=True)),
    "qwen3-0.6b": ("qwen3", dict(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
                                 num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True)),
    "gemma3-1b": ("gemma3_text", dict(hidden_size=1152, intermediate_size=6912, num_hidden_layers=26, num_attention_heads=4,
                                      num_key_value_heads=1, head_dim=256, sliding_window=512, vocab_size=262144,
                                      tie_word_embeddings=True)),
}
PROMPT, ROOM, STEPS = 64, 1024, 32
# (ours or theirs, static cache, compiled), those that compile fastest first. Our steps with a growing cache cannot be compiled, as they
# change Python objects.
CONTENDERS = [("original", False, False), ("tfgen", False, False), ("original", True, False), ("tfgen", True, False),
              ("tfgen", True, True), ("original", True, True), ("original", False, True)]
failed, begun, seconds = 0, time.perf_counter(), float("inf")


def made(family, keys):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, max_position_embeddings=4096, pad_token_id=0, bos_token_id=1, eos_token_id=None,
                                               **keys)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        torch.set_default_dtype(torch.float32)
    return model


class Stepper:
    """Greedy steps of a model: step() makes the next token of each sequence."""

    def __init__(self, model, ids, static, compiled):
        self.model, self.static = model, static
        self.cache = (transformers.StaticCache(model.config, max_cache_len=ROOM) if static
                      else transformers.DynamicCache(config=model.config))
        mode = dict(mode="reduce-overhead", fullgraph=True) if static else {}
        self.forward = torch.compile(model, **mode) if compiled else model
        start = time.perf_counter()
        out = model(ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
        self.token = out.logits[:, -1:].argmax(-1)
        self.token.tolist()  # waits
        self.first = time.perf_counter() - start
        self.position = torch.full((1, 1), ids.shape[1], device=ids.device)

    def step(self):
        out = self.forward(self.token, past_key_values=self.cache, use_cache=True, position_ids=self.position)
        self.logits = out.logits[:, -1]
        self.token = self.logits.argmax(-1, keepdim=True).clone()
        self.position += 1


def timed(steppers, rounds=5):
    times = {name: [] for name in steppers}
    for _ in range(rounds):
        for name in torch.randperm(len(steppers)).tolist():
            name = list(steppers)[name]
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(STEPS):
                steppers[name].step()
            torch.cuda.synchronize()
            times[name].append((time.perf_counter() - start) / STEPS * 1e6)
    return times


def beside(name, batch, layers):
    global failed
    family, keys = MODELS[name]
    layers = min(layers or keys["num_hidden_layers"], keys["num_hidden_layers"])
    model = made(family, keys | {"num_hidden_layers": layers})
    ids = torch.randint(5, 1000, (batch, PROMPT), device="cuda")
    torch._dynamo.reset()
    start = time.perf_counter()
    mine = tfgen.transformers.replace(copy.deepcopy(model), room=ROOM)
    replaced = time.perf_counter() - start
    steppers = {}
    for who, static, compiled in CONTENDERS:
        label = f"{who}{', static cache' if static else ''}{', compiled' if compiled else ''}"
        start = time.perf_counter()
        if compiled and start - begun > seconds:
            print(f"  {label}: left out after {start - begun:.0f} s")
            continue
        try:
            s = Stepper(model if who == "original" else mine, ids, static, compiled)
            for _ in range(4):
                s.step()
            torch.cuda.synchronize()
            steppers[label] = s
            print(f"  {label}: first token {s.first:.2f} s, with four steps {time.perf_counter() - start:.1f} s", flush=True)
        except Exception as e:
            print(f"  {label}: {type(e).__name__}: {str(e)[:300]}", flush=True)
            failed += who == "tfgen"
    times = timed(steppers)
    best = min(statistics.median(t) for n, t in times.items() if n.startswith("original"))
    print(f"{name}, {layers} layers, B{batch}: replace() {replaced:.1f} s")
    for label, t in times.items():
        middle = statistics.median(t)
        print(f"  {label:36s} {middle:8.0f} us a step ({min(t):.0f}, {max(t):.0f})  {best / middle:.2f} of the best original")
    with torch.no_grad():
        same(name, model, mine, ids)


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


def main():
    global seconds
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=seconds)
    p.add_argument("--batch", type=int, action="append")
    p.add_argument("--layers", type=int)
    p.add_argument("models", nargs="*")
    o = p.parse_args()
    seconds = o.seconds
    print(torch.cuda.get_device_name(), torch.__version__, transformers.__version__)
    with torch.no_grad():
        for name in o.models or MODELS:
            for batch in o.batch or (1, 8):
                beside(name, batch, o.layers)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
