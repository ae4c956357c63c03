"""What the comparisons with transformers share: small configs, weights drawn by a seed, the command. The first argument of each script is
the command. Says SKIP with the reason, exit code 77, where torch, transformers or safetensors are not there."""
import os, subprocess, sys

try:
    import torch, transformers
    from safetensors.torch import load_file, save_file
except ImportError as why:
    print(f"SKIP: {why}; pip install torch transformers safetensors")
    sys.exit(77)

TFGEN = os.path.abspath(sys.argv[1])
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48, vocab_size=60,
             max_position_embeddings=64)
ENCODER = {k: v for k, v in SMALL.items() if k != "num_key_value_heads"}
LLAMA3 = dict(rope_type="llama3", rope_theta=1000.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
LONGROPE = dict(rope_type="longrope", rope_theta=1e4, short_factor=[1.0, 1.25, 1.5, 2.0], long_factor=[1.5, 2.0, 4.0, 8.0])
VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=8, patch_size=4)
DINOV2 = dict({k: v for k, v in VISION.items() if k != "intermediate_size"}, mlp_ratio=2)

OPT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48, max_position_embeddings=64, vocab_size=60,
           word_embed_proj_dim=32)
FALCON = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, vocab_size=60, max_position_embeddings=64)
BLOOM = dict(hidden_size=48, n_layer=2, n_head=6, vocab_size=60)
MPT = dict(d_model=48, n_layers=2, n_heads=6, max_seq_len=64, vocab_size=60, attn_config=dict(clip_qkv=0.5))


def tfgen(*arguments):
    run = subprocess.run([TFGEN, *arguments], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"tfgen {' '.join(arguments)}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def draw(model):
    """Random weights; those of norms are near 1 and biases near 0, but none equals them, so that each changes the result."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            is_norm = "norm" in name.lower() and p.dim() == 1 and "bias" not in name
            p.copy_(torch.randn(p.shape, generator=generator) * (0.3 if p.dim() > 1 else 0.2) + (1.0 if is_norm else 0.0))
