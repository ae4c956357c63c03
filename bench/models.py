#!/usr/bin/env python3
"""One layer of each kind of well-known models beside eager PyTorch and torch.compile on one GPU, in one process and in turn: decode at 1, 8
and 64 rows over a cache of 1024 keys, a prompt of 2048 tokens, encoders at batches of 1 and 32, in bf16; of T5-large only the attention
of its encoder. Specs are what `tfgen import` makes of a config with the model's sizes; weights are drawn.

usage: models.py [--models=qwen3-4b,...] [--rows=1,8,64] [--within=SECONDS] [--state=FILE] [--jobs=N] [--rehearse]

Results are compared with the spec's ops in float64 before a time counts. Options are those of ops.py. TFGEN names the command and
TFGEN_LIBRARY libtfgen.so. Needs PyTorch."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import drawn  # noqa: E402
import ops  # noqa: E402

LONGEST = 4096  # positions; a prompt has half as many
KEYS = 1024
LLAMA_LIKE = {"rms_norm_eps": 1e-6, "hidden_act": "silu", "vocab_size": 32000, "max_position_embeddings": LONGEST}


def qwen3(D, F, H):
    return {**LLAMA_LIKE, "model_type": "qwen3", "hidden_size": D, "intermediate_size": F, "num_attention_heads": H,
            "num_key_value_heads": 8, "head_dim": 128, "rope_theta": 1000000, "num_hidden_layers": 1}


def gemma3(D, F, H, KV):
    return {"model_type": "gemma3_text", "hidden_size": D, "intermediate_size": F, "num_attention_heads": H, "num_key_value_heads": KV,
            "head_dim": 256, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "rope_local_base_freq": 10000,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window": 1024, "sliding_window_pattern": 6,
            "num_hidden_layers": 6, "hidden_activation": "gelu_pytorch_tanh", "vocab_size": 32000, "max_position_embeddings": LONGEST}


# Sizes of the models whose names these are.
MODELS = {
    "qwen3-0.6b": qwen3(1024, 3072, 16),
    "qwen3-4b": qwen3(2560, 9728, 32),
    "qwen3-8b": qwen3(4096, 12288, 32),
    "gemma3-4b": gemma3(2560, 10240, 8, 4),
    "gemma3-12b": gemma3(3840, 15360, 16, 8),
    "phi-4": {**LLAMA_LIKE, "model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920, "num_attention_heads": 40,
              "num_key_value_heads": 10, "rope_theta": 250000, "num_hidden_layers": 1, "original_max_position_embeddings": LONGEST},
    "olmo2-7b": {**LLAMA_LIKE, "model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
                 "num_key_value_heads": 32, "rope_theta": 500000, "num_hidden_layers": 1},
    "neox-20b": {"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576, "num_attention_heads": 64,
                 "layer_norm_eps": 1e-5, "rotary_pct": 0.25, "rotary_emb_base": 10000, "hidden_act": "gelu_fast", "num_hidden_layers": 1,
                 "use_parallel_residual": True, "vocab_size": 32000, "max_position_embeddings": LONGEST},
    "gemma2-9b": {"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_attention_heads": 16,
                  "num_key_value_heads": 8, "head_dim": 256, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000,
                  "sliding_window": 4096, "num_hidden_layers": 2, "hidden_activation": "gelu_pytorch_tanh",
                  "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "vocab_size": 32000,
                  "max_position_embeddings": LONGEST},
    "phi-2": {"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_attention_heads": 32, "num_key_value_heads": 32,
              "layer_norm_eps": 1e-5, "partial_rotary_factor": 0.4, "rope_theta": 10000, "hidden_act": "gelu_new", "num_hidden_layers": 1,
              "vocab_size": 32000, "max_position_embeddings": LONGEST},
    "vit-l": {"model_type": "vit", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "layer_norm_eps": 1e-12,
              "hidden_act": "gelu", "image_size": 224, "patch_size": 16, "qkv_bias": True, "num_hidden_layers": 1},
    "modernbert-large": {"model_type": "modernbert", "hidden_size": 1024, "intermediate_size": 2624, "num_attention_heads": 16,
                         "norm_eps": 1e-5, "hidden_activation": "gelu", "local_attention": 128, "global_attn_every_n_layers": 3,
                         "global_rope_theta": 160000, "local_rope_theta": 10000, "num_hidden_layers": 4, "vocab_size": 32000,
                         "max_position_embeddings": LONGEST},
}
LAYERS = {"gemma2-9b": {"local": 0, "global": 1}, "gemma3-4b": {"local": 0, "global": 5}, "gemma3-12b": {"local": 0, "global": 5},
          "modernbert-large": {"local": 1, "global": 3}}
ENCODERS = {"vit-l": 197, "modernbert-large": 512}  # tokens
# The attention of an encoder layer of T5-large, whose relative positions are a bias of each head. (T5's weights scale its scores.)
T5_ATTENTION = b"""block: t5_attention
dtype: bf16
dims: {B: 16, S: 512, H: 16, hd: 64, D: H*hd}
dynamic: {B: [1, 64]}
inputs: {q: [B, S, D], k: [B, S, D], v: [B, S, D]}
params: {bias: [H, S, S]}
ops:
  - {out: y, op: attention, in: [q, k, v], heads: H, scale: 0.125, bias: bias}
outputs: {y: y}
"""


def imported(model, layer, decode):
    """The spec's text."""
    command = os.environ.get("TFGEN", os.path.join(HERE, "..", "tfgen"))
    with tempfile.TemporaryDirectory() as folder:
        config, spec = os.path.join(folder, "config.json"), os.path.join(folder, "layer.yaml")
        with open(config, "w", encoding="utf-8") as f:
            json.dump(MODELS[model], f)
        subprocess.run([command, "import", config, f"--layer={layer}", "-o", spec, *(["--decode"] if decode else [])],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with open(spec, "rb") as f:
            return f.read()


def case_of(index, name, text, dims, kind):
    """multiplies and elements as the spec's products and caches have them."""
    from evaluate import Spec
    spec = Spec(text, None, "bf16", dims)
    weights = sum(math.prod(shape) for _, _, shape in spec.items("params") if len(shape) > 1)
    caches = sum(math.prod(shape) for _, _, shape in spec.items("state"))
    d = spec.dims
    rows, keys = d["B"] * d["S"], d["L"] if caches else d["S"]
    scores = 2.0 * rows * d["H"] * d["hd"] * keys / (1 if caches or kind == "encoder" else 2)
    return drawn.Case("models", index, "decode" if caches else "prefill", name, text, d, "bf16", rows * weights + scores,
                      weights + caches + 2 * rows * d["D"])


def t5_attention(index):
    B, S, H, hd = 16, 512, 16, 64
    return drawn.Case("models", index, "prefill", f"t5-large attention B{B} S{S}", T5_ATTENTION, {"B": B, "S": S}, "bf16",
                      2.0 * B * S * S * H * hd, 4 * B * S * H * hd + H * S * S)


def cases(models, rows):
    out = []
    for model in models:
        if model == "t5-large":
            continue
        for layer, number in LAYERS.get(model, {"": 0}).items():
            name = f"{model} {layer}".strip()
            if model in ENCODERS:
                text = imported(model, number, False)
                out += [(f"{name} B{B} S{ENCODERS[model]}", text, {"B": B, "S": ENCODERS[model]}, "encoder") for B in (1, 32)]
                continue
            text, step = imported(model, number, False), imported(model, number, True)
            out += [(f"{name} B{B} L{KEYS}", step, {"B": B, "L": KEYS}, "decode") for B in rows]
            out.append((f"{name} S{LONGEST // 2}", text, {"B": 1, "S": LONGEST // 2}, "prefill"))
    made = [case_of(i, *c) for i, c in enumerate(out)]
    return made + ([t5_attention(len(made))] if "t5-large" in models else [])


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join([*MODELS, "t5-large"]))
    parser.add_argument("--rows", default="1,8,64")
    ops.add_options(parser)
    options = parser.parse_args(arguments)
    options.seed = "models"
    return options


if __name__ == "__main__":
    chosen = options_of(sys.argv[1:])
    sys.exit(ops.run(chosen, cases(chosen.models.split(","), [int(n) for n in chosen.rows.split(",")])))
