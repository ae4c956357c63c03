#!/usr/bin/env python3
"""usage: generate.py TFGEN [FAMILY...]

Whole small models with weights drawn by a seed: `tfgen generate` on the very folder that transformers saved, beside model.generate() of
transformers (CPU, greedy): two texts of different lengths, which transformers pads on the left, 64 tokens each. In float32 the ids are
equal. In bfloat16 they are equal up to a place where the two best logits are so close that bfloat16 cannot tell them apart: in float64
they differ by at most four times the largest error of transformers' own bfloat16 logits at that place (tfgen and transformers may each
be wrong by that much in each of the two logits). A token of eos_token_id ends the text. Windows are shorter than the prompt, and the
texts grow beyond original_max_position_embeddings."""
import json, os, re, sys, tempfile
from shared import *

MORE = 64
MODEL = dict(SMALL, num_hidden_layers=3, vocab_size=120, max_position_embeddings=128)
PLAIN = {k: v for k, v in MODEL.items() if k != "num_key_value_heads"}
GPT = dict(n_embd=32, n_layer=3, n_head=4, n_positions=128, vocab_size=120)
YARN = dict(rope_type="yarn", factor=4.0, rope_theta=1e4, original_max_position_embeddings=32)
CASES = [
    ("llama", dict(MODEL, head_dim=16, rope_parameters=LLAMA3)), ("llama", dict(MODEL, tie_word_embeddings=True)),
    ("mistral", dict(MODEL, sliding_window=8)), ("ministral", dict(MODEL, sliding_window=8, head_dim=8)),
    ("qwen2", dict(MODEL, use_sliding_window=True, sliding_window=8, max_window_layers=1)),
    ("qwen3", dict(MODEL, head_dim=16)), ("qwen3", dict(MODEL, head_dim=16, tie_word_embeddings=True, rope_parameters=YARN)),
    ("smollm3", dict(MODEL, num_hidden_layers=4)), ("granite", dict(MODEL, attention_multiplier=0.3, residual_multiplier=0.22,
                                                                    embedding_multiplier=6.0, logits_scaling=4.0)),
    ("gemma", dict(MODEL, head_dim=16)), ("gemma2", dict(MODEL, head_dim=16, sliding_window=8, query_pre_attn_scalar=24)),
    ("gemma3_text", dict(MODEL, num_hidden_layers=6, head_dim=16, sliding_window=8, query_pre_attn_scalar=24)),
    ("olmo", dict(MODEL)), ("olmo2", dict(MODEL)), ("olmo3", dict(MODEL, num_hidden_layers=4, sliding_window=8)),
    ("phi3", dict(MODEL)), ("phi3", dict(MODEL, original_max_position_embeddings=32, rope_parameters=LONGROPE)),
    ("glm4", dict(MODEL, head_dim=8)), ("stablelm", dict(MODEL)), ("starcoder2", dict(MODEL, sliding_window=8)),
    ("nemotron", dict(MODEL, head_dim=8)), ("cohere", dict(MODEL)),
    ("cohere2", dict(MODEL, num_hidden_layers=4, sliding_window=8, head_dim=8)), ("phi", dict(MODEL)),
    ("gpt_neox", dict(PLAIN)), ("gptj", dict(GPT, rotary_dim=4)), ("gpt2", GPT),
    ("opt", dict(OPT, vocab_size=120, max_position_embeddings=128)),
    ("falcon", dict(FALCON, vocab_size=120, max_position_embeddings=128)), ("bloom", dict(BLOOM, vocab_size=120)),
    ("mpt", dict(MPT, vocab_size=120, max_seq_len=128)),
]


def make(family, keys):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, **dict(keys, pad_token_id=0, bos_token_id=1, eos_token_id=None))
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval().float()
    draw(model)
    model.generation_config = transformers.GenerationConfig(pad_token_id=0)
    return model


def prompts():
    generator = torch.Generator().manual_seed(3)
    return [torch.randint(5, 120, (n,), generator=generator).tolist() for n in (23, 9)]


def theirs(model, texts):
    longest = max(map(len, texts))
    ids = torch.tensor([[0] * (longest - len(t)) + t for t in texts])
    mask = torch.tensor([[0] * (longest - len(t)) + [1] * len(t) for t in texts])
    with torch.no_grad():
        out = model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=MORE, min_new_tokens=MORE, do_sample=False)
    return [o[longest:].tolist() for o in out]


def ours(folder, texts, *options):
    prompt = ";".join(",".join(map(str, t)) for t in texts)
    return json.loads(tfgen("generate", folder, f"--prompt-ids={prompt}", f"--tokens={MORE}", "--json", *options))


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0, -1].double()


def open_choice(model, exact, text, mine, their):
    """Where the two texts part: the distance of the two tokens' float64 logits, as a share of what bfloat16 leaves open."""
    at = next((i for i in range(MORE) if mine[i] != their[i]), None)
    if at is None:
        return 0.0
    ids = text + their[:at]
    precise = logits(exact, ids)
    bound = 4 * (logits(model, ids) - precise).abs().max()
    return ((precise[their[at]] - precise[mine[at]]).abs() / bound).item()


def check_end(folder, texts, expected):
    """The text ends with the first token of a list of ends; transformers includes it."""
    end = expected[0][20]
    with open(f"{folder}/generation_config.json", "w") as f:
        json.dump({"eos_token_id": [end, 119999]}, f)
    got = ours(folder, texts, "--target=host")
    for text, all_tokens in zip(got["texts"], expected):
        tokens = all_tokens[: all_tokens.index(end) + 1] if end in all_tokens else all_tokens
        assert text["tokens"] == tokens, f"with eos_token_id {end}: {text['tokens']} instead of {tokens}"
        assert text["ended_by"] == ("eos" if end in all_tokens else "count")


def check(family, keys):
    model, texts = make(family, keys), prompts()
    if keys.get("rope_parameters", {}).get("rope_type") == "longrope":
        texts = texts[:1]  # a batch is refused: transformers chooses the factors of all texts by the longest
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        expected = theirs(model, texts)
        for text, tokens in zip(ours(folder, texts, "--target=host")["texts"], expected):
            assert text["tokens"] == tokens, f"float32: {text['tokens']} instead of {tokens}"
        mine = [t["tokens"] for t in ours(folder, texts, "--target=host", "--dtype=bf16")["texts"]]
        check_end(folder, texts, expected)
        exact = make(family, keys).double()
        half = make(family, keys).bfloat16()
        worst = max(open_choice(half, exact, t, m, e) for t, m, e in zip(texts, mine, theirs(half, texts)))
    assert worst <= 1, f"bfloat16: another token although the logits differ by {worst:.2g} of what bfloat16 leaves open"
    return worst


def formula(k, p, is_norm):
    """The weights of tests/runtime/test_generate.c."""
    state, out = 12345 + 1000 * k, []
    for _ in range(p.numel()):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out.append((state / 2147483648 - 0.5) * (0.6 if is_norm else 1.5) + is_norm)
    return torch.tensor(out, dtype=torch.float64).float().reshape(p.shape)


def check_golden():
    """The ids that tests/runtime/test_generate.c expects are those of transformers."""
    source = open(os.path.join(os.path.dirname(__file__), "..", "runtime", "test_generate.c")).read()
    golden = [[int(i) for i in re.search(rf'#define {name} "([^"]*)"', source)[1].split(",")] for name in ("FIRST", "SECOND")]
    model = make("qwen3", dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=8,
                               intermediate_size=24, vocab_size=40, max_position_embeddings=64, tie_word_embeddings=True))
    named = dict(model.named_parameters())
    layer = ["input_layernorm", "mlp.down_proj", "mlp.gate_proj", "mlp.up_proj", "post_attention_layernorm", "self_attn.k_norm",
             "self_attn.k_proj", "self_attn.o_proj", "self_attn.q_norm", "self_attn.q_proj", "self_attn.v_proj"]
    names = ["model.embed_tokens", *(f"model.layers.{i}.{n}" for i in range(2) for n in layer), "model.norm"]
    with torch.no_grad():
        for k, name in enumerate(names):
            p = named[name + ".weight"]
            p.copy_(formula(k, p, p.dim() == 1))
    got = [t[: len(g)] for t, g in zip(theirs(model, [[3, 14, 15, 9, 26], [5]]), golden)]
    assert got == golden, f"transformers: {got}"


def check_parts():
    """Models with an unused image part: names and tied weights of the text part are those of the whole model."""
    text, sees = dict(MODEL, model_type="llama"), dict(VISION, num_hidden_layers=1, image_size=16)
    sliding = dict(MODEL, num_hidden_layers=6, head_dim=16, sliding_window=8, query_pre_attn_scalar=24, pad_token_id=0)
    configs = [("gemma3", dict(text_config=sliding, vision_config=sees, mm_tokens_per_image=4, image_token_index=119, boi_token_index=118,
                               eoi_token_index=117)),
               ("llava", dict(text_config=text, vision_config=dict(sees, model_type="clip_vision_model"), image_token_index=119))]
    for family, keys in configs:
        torch.manual_seed(1)
        config = transformers.AutoConfig.for_model(family, **keys)
        config._attn_implementation = "eager"
        model = transformers.AutoModelForImageTextToText.from_config(config).eval().float()
        draw(model)
        model.generation_config = transformers.GenerationConfig(pad_token_id=0)
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            expected = theirs(model, prompts())
            got = [t["tokens"] for t in ours(folder, prompts(), "--target=host")["texts"]]
        assert got == expected, f"{family} with parts: {got} instead of {expected}"


if not sys.argv[2:]:
    check_golden()
    check_parts()
failed = 0
for family, keys in CASES:
    if sys.argv[2:] and family not in sys.argv[2:]:
        continue
    try:
        print(f"good {family:20} bfloat16: choices open by {check(family, keys):.2f} of the bound", flush=True)
    except Exception as why:
        failed += 1
        print(f"BAD  {family:20} {keys}: {type(why).__name__}: {why}", flush=True)
print(f"{failed} failed")
sys.exit(1 if failed else 0)
