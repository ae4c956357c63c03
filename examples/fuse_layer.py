#!/usr/bin/env python3
"""Fuses a layer of a transformers model, in cells that can be run one by one: imports its spec, compiles it, compares results and times
with the original layer's, and draws a timeline.

usage: fuse_layer.py [FOLDER]        FOLDER: where layer.yaml and timeline.svg are written, default: the current one

In the source tree, the package of python/ is used; set TFGEN_LIBRARY to libtfgen.so and TFGEN to the command. Exit code 77: transformers
is not installed."""
# %% A model of any family of docs/python.md. This one is small and has random weights.
import os
import subprocess
import sys
import time

try:
    import torch
    import transformers
except ImportError as e:
    print(f"skipped: {sys.executable}: {e}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import tfgen  # noqa: E402
import tfgen.transformers  # noqa: E402

torch.manual_seed(1)
torch.set_grad_enabled(False)
folder, device = sys.argv[1] if len(sys.argv) > 1 else ".", "cuda" if torch.cuda.is_available() else "cpu"
config = transformers.AutoConfig.for_model("llama", hidden_size=64, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4,
                                           num_key_value_heads=2, vocab_size=120, max_position_embeddings=128)
model = transformers.AutoModelForCausalLM.from_config(config).eval().to(device)
original = model.model.layers[0]

# %% The spec of its layer for prompts, as `tfgen import` writes it.
specs = tfgen.transformers.specs_of(config)
text, path = specs.texts[specs.layers[0]["prefill"]], os.path.join(folder, "layer.yaml")
with open(path, "w", encoding="utf-8") as f:
    f.write(text)

# %% Compile the spec and pack the weights. The spec has the names that tensors have in the checkpoint.
layer = tfgen.compile(text, name="layer.yaml", params=original.state_dict(), dtype="f32", device=device, dims={"S": 16})
print(f"{len(layer.plan.sources)} kernels: {', '.join(layer.plan.sources)}; {layer.weights.bytes} bytes of weights")

# %% Compare the results with the original layer's.
x = torch.randn(2, 16, config.hidden_size, device=device)
positions = torch.arange(16, device=device)[None]
turns = model.model.rotary_emb(x, positions)
name, = (t.name for t in layer.tensors if t.kind == "input")


def theirs():
    y = original(x, position_embeddings=turns, position_ids=positions, attention_mask=None)
    return y if isinstance(y, torch.Tensor) else y[0]


def ours():
    y, = layer(**{name: x}).values()
    return y


error = ((ours() - theirs()).norm() / theirs().norm()).item()
print(f"relative error {error:.2g}")
assert error < 1e-4


# %% Time both layers in turn.
def us(call, count=20):
    start = time.perf_counter()
    for _ in range(count):
        call()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / count * 1e6


times = [(us(theirs), us(ours)) for _ in range(3)]
print("us a call: original {:.0f}, fused {:.0f}".format(*map(min, zip(*times))))

# %% Draw when each tile was computed, and on which unit.
timeline = os.path.join(folder, "timeline.svg")
subprocess.run([tfgen.transformers.command(), "trace", path, "--dim=S=16", "--dtype=f32", "--quiet", "--seconds=0.1", f"--svg={timeline}"],
               check=True)
print(f"{timeline}: {os.path.getsize(timeline)} bytes")
