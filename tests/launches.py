#!/usr/bin/env python3
"""usage: launches.py TFGEN

Compares README's table of launches by family with the plans of imported layers of a usual size: bf16, sm_90a, a prompt of 2048 tokens and
a step of 64 sequences with 2048 cached tokens each. Prints the rows that differ, with exit code 1."""
import json, os, re, subprocess, sys, tempfile

ROOT = os.environ.get("ROOT", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SIZES = {  # replaces the values of these keys in a config, whichever of them its family has
    "hidden_size": 4096, "n_embd": 4096, "d_model": 4096, "dim": 4096, "num_attention_heads": 32, "n_head": 32, "n_heads": 32,
    "encoder_attention_heads": 32, "num_key_value_heads": 8, "num_kv_heads": 8, "head_dim": 128, "intermediate_size": 14336,
    "n_inner": None, "ffn_dim": 16384, "hidden_dim": 16384, "encoder_ffn_dim": 16384, "max_position_embeddings": 8192, "n_positions": 8192,
    "max_seq_len": 8192, "seq_length": 8192, "max_source_positions": 8192, "sliding_window": 4096, "local_attention": 128,
    "rotary_dim": 64, "query_pre_attn_scalar": 128, "vocab_size": 32000, "torch_dtype": "bfloat16", "dtype": "bfloat16",
    "clip_qkv": None, "attn_config": {},
}
# Models in the README's table that are not called as their file in tests/models: that file, and the keys to change besides SIZES.
NAMES = {
    "Cohere": ("cohere", {"use_qk_norm": False}), "Cohere with norms of q and k": ("cohere", {"use_qk_norm": True}),
    "Falcon 7B": ("falcon-7b", {}), "Falcon 40B": ("falcon", {"new_decoder_architecture": True}), "GPT-2": ("gpt2", {}),
    "GPT-J": ("gptj", {}), "GPT-NeoX": ("gpt_neox", {}), "StarCoder 2": ("starcoder2", {}), "CLIP": ("clip_text_model", {}),
    "SigLIP": ("siglip_vision_model", {}), "RoBERTa": ("bert", {"model_type": "roberta"}), "ELECTRA": ("bert", {"model_type": "electra"}),
    "Phi 3": ("phi3", {"num_attention_heads": 32, "num_key_value_heads": 32, "rope_scaling": None, "partial_rotary_factor": 1.0}),
}


def config(name):
    model, more = NAMES.get(name, (name.lower().replace(" ", ""), {}))
    with open(f"{ROOT}/tests/models/{model}.json") as f:
        keys = json.load(f)
    keys = keys.get("text_config", keys)
    return {**{k: SIZES.get(k, v) for k, v in keys.items()}, **more}


def launches(tfgen, spec, dims):
    run = subprocess.run([tfgen, "emit", spec, "--target=sm_90a", f"--dim={dims}", "--dump=plan", "--quiet"], capture_output=True,
                         text=True, check=True)
    return len(re.findall("^kernel ", run.stdout, re.M))


def planned(tfgen, name, folder):
    """Number of launches of each kind of layer: "PROMPT, STEP", or "PROMPT" of an encoder; without repetitions."""
    with open(f"{folder}/config.json", "w") as f:
        json.dump(config(name), f)
    subprocess.run([tfgen, "import", f"{folder}/config.json", "-o", f"{folder}/{name}/", "--quiet"], check=True)
    with open(f"{folder}/{name}/layers.json") as f:
        layers = json.load(f)["layers"]
    seen = []
    for one in layers:
        prompt = launches(tfgen, f"{folder}/{name}/{one['prefill']}", "B=1,S=2048")
        step = [launches(tfgen, f"{folder}/{name}/{one['decode']}", "B=64,L=2048")] if "decode" in one else []
        row = ", ".join(map(str, [prompt, *step]))
        if row not in seen:
            seen.append(row)
    return seen


def main():
    with open(f"{ROOT}/README.md") as f:
        table = re.search(r"\| launches \| families \|\n\|.*\n((?:\|.*\n)*)", f.read())[1]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in table.splitlines():
            said, names = (cell.strip() for cell in row.strip("|").split("|"))
            for name in names.split(", "):
                first = re.search(r" \(its first layer (\d+)\)$", name)
                got = planned(os.path.abspath(sys.argv[1]), name[: first.start()] if first else name, folder)
                if sorted(got) != sorted([said, *([first[1]] if first else [])]):
                    wrong += 1
                    print(f"README.md says {said} launches of {name}; planned are {' and '.join(got)}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
