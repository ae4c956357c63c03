"""The sizes that compare.py times: those of known models, and random ones. Needs no PyTorch."""
import random

import drawn
from drawn import between

# ---- of known models
# Products: M, N, K
LLM = [(2048, 4096, 4096), (2048, 6144, 4096), (2048, 28672, 4096), (2048, 4096, 14336), (4096, 6144, 4096), (4096, 4096, 14336),
       (8192, 4096, 4096), (1024, 4096, 4096), (512, 4096, 4096), (256, 14336, 4096), (128, 4096, 14336), (2048, 3072, 2048),
       (2048, 2048, 2048), (2048, 16384, 2048), (2048, 2048, 8192), (1021, 4093, 4099), (2039, 5471, 2053), (509, 8191, 1021),
       (4001, 4001, 4001), (3001, 2048, 2048), (2048, 10936, 2048), (8192, 1024, 8192), (1536, 4608, 1536), (8192, 8192, 2048)]
FEW = [(4096, 4096), (14336, 4096), (4096, 14336), (28672, 4096), (2048, 8192)]  # N, K of products of 1 to 64 rows
# Blocks: B, S, D, H, KV, hd, F, the presets of specs/llama-block.yaml
SHAPES = {"tiny-small": (8, 128, 512, 8, 8, 64, 2048), "tiny-medium": (16, 512, 1024, 16, 8, 64, 4096),
          "exercise": (4, 512, 2048, 32, 32, 64, 5468), "llama-1b": (1, 2048, 2048, 32, 8, 64, 8192),
          "llama-8b": (1, 4096, 4096, 32, 8, 128, 14336)}
# Blocks that generate one token per sequence, over a cache of L rows: name, B, L, D, H, KV, hd, F, goal (at most so many microseconds, or
# at least this speed-up over the best peer)
DECODE = [("Llama-1B", 1, 1024, 2048, 32, 8, 64, 8192, "<= 38 us"), ("Llama-1B", 8, 1024, 2048, 32, 8, 64, 8192, "<= 44 us"),
          ("exercise", 1, 512, 2048, 32, 32, 64, 5468, "<= 34 us"), ("Llama-8B", 1, 2048, 4096, 32, 8, 128, 14336, "<= 107 us"),
          ("Llama-8B", 16, 2048, 4096, 32, 8, 128, 14336, "<= 142 us"), ("D3584", 1, 4096, 3584, 28, 4, 128, 18944, ">= 1.10"),
          ("D3584", 4, 1000, 3584, 28, 4, 128, 18944, ">= 1.10"), ("D2048", 32, 2048, 2048, 32, 4, 64, 5632, ">= 1.10"),
          ("D3072", 64, 1024, 3072, 24, 8, 128, 8192, ">= 1.10"), ("D8192", 1, 8192, 8192, 64, 8, 128, 28672, ">= 1.10"),
          ("Llama-8B", 1, 131072, 4096, 32, 8, 128, 14336, "<= 250 us")]
PRESETS = [("tiny-small", 8, 128, 512, 8, 8, 64, 2048), ("tiny-medium", 16, 512, 1024, 16, 8, 64, 4096),
           ("exercise", 4, 512, 2048, 32, 32, 64, 5468), ("llama-1b", 1, 1024, 2048, 32, 8, 64, 8192),
           ("llama-8b", 1, 2048, 4096, 32, 8, 128, 14336)]  # specs/llama-decode.yaml


# ---- drawn
def drawn_shape(draw):
    """A random shape of a decode block: D of 512 to 8192, 1 to 64 sequences, 128 to 131072 keys, at most 4 GB of caches."""
    while True:
        hd = draw.choice((64, 64, 80, 96, 128, 128, 128))
        D, B, L = between(draw, 512, 8192, 64), between(draw, 1, 64, 1), between(draw, 128, 131072, 1)
        KV = draw.choice([n for n in (1, 2, 4, 8, 16, 32) if n * hd <= D])
        H = KV * draw.choice([g for g in (1, 2, 3, 4, 6, 7, 8) if KV * g * hd <= 2 * D])
        if 4 * B * KV * L * hd <= 4 << 30 and H * hd * 4 >= D:
            return B, L, D, H, KV, hd, between(draw, 2 * D, 5 * D, draw.choice((2, 16, 256)))


def drawn_rows(draw, count):
    for _ in range(count):
        name = draw.choice(("rmsnorm", "layernorm", "softmax", "add+rmsnorm"))
        yield "row", (name, between(draw, 512, 16384, 4), between(draw, 512, 8192, 8), "bf16")


def cases_of(count, seed):
    """The cases of compare.py's part tuned: (function of cases.py, its arguments). The presets come first, since a run
    may end before its last case; then `count` drawn row operations and twice as many cases that drawn.py draws."""
    cases = [("block", (name, "bf16")) for name in reversed(list(SHAPES))]
    cases += [("decode_block", case) for case in reversed(PRESETS)]
    cases += drawn_rows(random.Random(f"operations {seed}"), count)
    return cases + [("operation", (case,)) for case in drawn.cases_of(seed, 2 * count)]
