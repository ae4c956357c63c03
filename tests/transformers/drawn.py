#!/usr/bin/env python3
"""usage: drawn.py TFGEN [--seed=N] [--count=N] [FAMILY...]

layers.py with configs drawn by a seed, which it prints: --count of each family (default 1), with arbitrary sizes (odd widths, heads
of 2 to 40, groups, windows shorter and longer than the prompt), activations, biases, epsilons and ropes among those that the family's class
has. A config that `tfgen import` refuses with exit code 3 or 4 and the key that says why is counted apart; one that transformers
itself cannot run is drawn again. The same seed draws the same configs."""
import argparse, os, random, re, tempfile
import layers
from shared import *

ACTIVATIONS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "relu2", "quick_gelu", "gelu_fast", "gelu_python", "mish",
               "leaky_relu", "tanh", "sigmoid", "linear"]
ACTIVATION_KEYS = ("hidden_act", "hidden_activation", "activation_function", "activation")
NAMES = { # the keys that configs of different families have for one size
    "hidden": ("hidden_size", "n_embd", "d_model", "dim"), "layers": ("num_hidden_layers", "n_layer", "n_layers", "encoder_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads"),
    "inner": ("intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "encoder_ffn_dim"),
    "positions": ("max_position_embeddings", "n_positions", "max_seq_len"),
    "eps": ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps"),
}
FLAGS = ("attention_bias", "mlp_bias", "use_qkv_bias", "qkv_bias", "use_bias", "bias", "enable_bias", "use_parallel_residual",
         "qk_layernorm", "use_qk_norm", "do_layer_norm_before", "scale_attn_by_inverse_layer_idx", "use_swiglu_ffn", "multi_query",
         "new_decoder_architecture", "parallel_attn")
TIMES_OWN = 3  # drawn weights may need more than layers.BOUND: float32 of GLM 4 was off by 2.8e-6 in transformers, 3.3e-6 here
ROTATED = {"phi3", "glm4", "stablelm", "nemotron", "phi", "gpt_neox"}  # whose classes read partial_rotary_factor
BY_TYPE = {"gemma3_text", "modernbert", "olmo3"}  # have a rope for each type of layer


def rope(draw, family, size, positions):
    theta = draw.choice([1e3, 1e4, 12345.0, 5e5, 1e6])
    kind = draw.choice(["default", "default", "linear", "dynamic", "yarn", "llama3"])
    partial = draw.choice([p for p in (0.25, 0.5, 0.75, 1.0) if int(size * p) % 2 == 0 and int(size * p) > 0] or [1.0])
    keys = dict(rope_type=kind, rope_theta=theta)
    if kind != "default":
        keys["factor"] = draw.choice([1.5, 2.0, 4.0, 7.0])
    if kind in ("yarn", "llama3"):
        keys["original_max_position_embeddings"] = draw.choice([8, 16, 24])
    if kind == "llama3":
        keys.update(low_freq_factor=1.0, high_freq_factor=draw.choice([2.0, 4.0]))
    if kind == "yarn" and draw.random() < 0.5:
        keys.update(beta_fast=draw.choice([16.0, 32.0]), beta_slow=draw.choice([0.5, 1.0]))
    if family in ROTATED and partial != 1.0:
        keys["partial_rotary_factor"] = partial
    return keys


def sizes(draw, has, family):
    """Heads, head size and hidden size. A hidden size that heads do not divide needs head_dim."""
    size, heads = 2 * draw.randint(1, 20), draw.randint(1, 7)
    free = "head_dim" in has and draw.random() < 0.7
    keys = {"heads": heads, "hidden": draw.randint(9, 90) if free else heads * size, "inner": draw.randint(5, 99),
            "layers": draw.randint(2, 5), "positions": draw.choice([32, 48, 64]), "eps": draw.choice([1e-6, 1e-5, 1e-3])}
    if family in ("mpt", "falcon"):
        keys["hidden"] = heads * size
    return keys, heads, size, free


def drawn(draw, family):
    """A config's keys."""
    has = transformers.AutoConfig.for_model(family).to_dict()
    keys, heads, size, free = sizes(draw, has, family)
    out = {}
    for what, value in keys.items():
        out.update({name: value for name in NAMES[what] if name in has or name == "hidden_size" and what == "hidden"})
    if free:
        out["head_dim"] = size
    elif "head_dim" in has and has["head_dim"] is not None:
        out["head_dim"] = size
    groups = draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
    for name in ("num_key_value_heads", "num_kv_heads"):
        if name in has:
            out[name] = groups
    out.update({name: draw.random() < 0.5 for name in FLAGS if name in has})
    out.update({name: draw.choice(ACTIVATIONS) for name in ACTIVATION_KEYS if name in has and draw.random() < 0.6})
    if "sliding_window" in has:
        out["sliding_window"] = draw.choice([2, 3, 5, 8, 40])
        if "use_sliding_window" in has:
            out["use_sliding_window"], out["max_window_layers"] = draw.random() < 0.7, draw.randint(0, 3)
    if "rope_parameters" in has and family not in BY_TYPE:
        out["rope_parameters"] = rope(draw, family, size, keys["positions"])
    if family in BY_TYPE:
        out["rope_parameters"] = {t: {k: v for k, v in rope(draw, family, size, 64).items() if t != "sliding_attention" or
                                      k in ("rope_theta",)} for t in ("full_attention", "sliding_attention")}
        out["rope_parameters"]["sliding_attention"]["rope_type"] = "default"
    if family == "modernbert":  # of which transformers 4 scales no ropes
        out["rope_parameters"]["full_attention"] = {"rope_type": "default", "rope_theta": draw.choice([1e4, 12345.0, 1e6])}
    if family == "olmo3":  # of which transformers 4 has one theta for all layers
        out["rope_parameters"]["sliding_attention"]["rope_theta"] = out["rope_parameters"]["full_attention"]["rope_theta"]
    more = {"attention_multiplier": 0.37, "residual_multiplier": 0.22, "query_pre_attn_scalar": draw.randint(3, 90),
            "attn_logit_softcapping": draw.choice([None, 1.5, 20.0]), "clip_qkv": draw.choice([None, 0.6]),
            "local_attention": 2 * draw.randint(1, 9), "rotary_dim": 2 * draw.randint(1, size // 2), "vocab_size": 60}
    out.update({k: v for k, v in more.items() if k in has})
    if "mlp_ratio" in has:
        out["mlp_ratio"] = draw.randint(1, 3)
    out.update({"pad_token_id": 0} if "pad_token_id" in has else {})
    if "word_embed_proj_dim" in has:
        out["word_embed_proj_dim"] = out["hidden_size"]
    if family == "electra":
        out["embedding_size"] = out["hidden_size"]
    if family == "siglip_text_model":
        out["projection_size"] = out["hidden_size"]
    if family in ("vit", "dinov2", "clip_vision_model", "siglip_vision_model"):
        out.update(image_size=draw.choice([8, 12]), patch_size=4)
    if family == "whisper":
        out.update(decoder_layers=1, decoder_ffn_dim=8, decoder_attention_heads=heads, max_source_positions=10, num_mel_bins=8,
                   bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    if family == "mpt":
        out["attn_config"] = dict(clip_qkv=draw.choice([None, 0.7]), softmax_scale=draw.choice([None, 0.3]))
    return out


def taken(draw, family, tries=30):
    """The first drawn config that transformers' own class takes and with which it computes something finite."""
    for _ in range(tries):
        keys = drawn(draw, family)
        why = trouble(family, keys)
        if not why:
            return keys
    print(f"none {family:20} transformers: {why}", flush=True)
    return None


def trouble(family, keys):
    try:
        config = transformers.AutoConfig.for_model(family, **keys)
        config._attn_implementation = "eager"
        made = layers.MODELS[family](config) if family in layers.MODELS else transformers.AutoModel.from_config(config)
        model = made.eval().float()
        draw(model)
        seen, _ = layers.forward(model, family)
        return None if all(torch.isfinite(y).all() for _, y in seen) else "not finite"
    except Exception as why:
        return f"{type(why).__name__}: {str(why)[:90]}"


def refusal(family, keys):
    """What `tfgen import` says of the config if it refuses it by a key's name."""
    with tempfile.TemporaryDirectory() as folder:
        transformers.AutoConfig.for_model(family, **keys).save_pretrained(folder)
        run = subprocess.run([TFGEN, "import", f"{folder}/config.json", f"--output={folder}/specs/", "--quiet"], capture_output=True,
                             text=True)
    named = re.search(r"error: ((?:\w+\.)*[a-z_]+: .*)", run.stderr)
    return named and named[1] if run.returncode in (3, 4) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("families", nargs="*")
    options = parser.parse_args(sys.argv[2:])
    print(f"seed {options.seed}", flush=True)
    good = refused = failed = 0
    for family in options.families or dict.fromkeys(case[0] for case in layers.CASES):
        generator = random.Random(f"{options.seed} {family}")
        for _ in range(options.count):
            keys = taken(generator, family)
            why = keys and refusal(family, keys)
            if why:
                refused += 1
                print(f"no   {family:20} {why}", flush=True)
            elif keys:
                right = layers.report(family, keys, ["--lengths"] if family in layers.PADDED else [], TIMES_OWN)
                good, failed = good + right, failed + (not right)
                if not right:
                    print(f"     {keys}", flush=True)
    print(f"{good} good, {refused} refused by name, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
