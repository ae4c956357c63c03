#!/usr/bin/env python3
"""usage: layers.py TFGEN [FAMILY...]

Compares layers of small models with weights drawn by a seed: transformers (float32, CPU) with the specs that `tfgen import` writes for
the folder that transformers saved. Each layer of each family computes a prompt of two sequences and then one step of generation, beyond
the window if there is one; some layers also compute a batch padded on the left. The relative RMS error is at most 3e-6. In bfloat16, on
the same inputs, each layer is at most 1.5 times as far from float64 as transformers' own bfloat16 layer. A config in the spelling of
transformers 4 gives the same specs. Needs torch, transformers and safetensors; where they are missing, says SKIP with the reason, exit
code 77."""
import copy, inspect, json, os, re, sys, tempfile
from shared import *

BOUND, MOST_ROUNDING = 3e-6, 1.5
TOKENS, BATCH, ROOM = 11, 2, 16
LEFT = "--left-padded"
# family, variant: keys of its config. Heads of another size than D/H, grouped heads, biases, windows shorter than the prompt.
CASES = [
    ("llama", dict(SMALL, head_dim=16, rope_parameters=LLAMA3)),
    ("llama", dict(SMALL, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3,
                   rope_parameters=dict(rope_type="linear", factor=2.0, rope_theta=1e4))),
    ("llama", dict(SMALL, hidden_act="leaky_relu", rope_parameters=dict(rope_type="dynamic", factor=4.0, rope_theta=1e4))),
    ("llama", dict(SMALL, rope_parameters=dict(rope_type="yarn", factor=4.0, rope_theta=1e4, original_max_position_embeddings=16,
                                               mscale=0.7, mscale_all_dim=0.5, beta_fast=8.0, beta_slow=0.5, truncate=False))),
    ("mistral", dict(SMALL, sliding_window=4, head_dim=16)),
    ("mistral", dict(SMALL, sliding_window=None, head_dim=8)),
    ("ministral", dict(SMALL, sliding_window=4, head_dim=8)),
    ("qwen2", dict(SMALL, use_sliding_window=True, sliding_window=4, max_window_layers=1)),
    ("qwen2", dict(SMALL, use_sliding_window=False, sliding_window=4)),
    ("qwen3", dict(SMALL, head_dim=16)),
    ("qwen3", dict(SMALL, head_dim=16, rope_parameters=dict(rope_type="yarn", factor=4.0, rope_theta=1e4,
                                                            original_max_position_embeddings=8))),
    ("smollm3", dict(SMALL, num_hidden_layers=4, pad_token_id=0)),
    ("granite", dict(SMALL, attention_multiplier=0.3, residual_multiplier=0.22)),
    ("gemma", dict(SMALL, head_dim=16)),
    ("gemma2", dict(SMALL, head_dim=16, sliding_window=4, query_pre_attn_scalar=24, attn_logit_softcapping=2.0)),
    ("gemma3_text", dict(SMALL, num_hidden_layers=6, head_dim=16, sliding_window=4, query_pre_attn_scalar=24)),
    ("gemma3_text", dict(SMALL, num_hidden_layers=6, head_dim=16, sliding_window=4, rope_parameters=dict(
        sliding_attention=dict(rope_type="default", rope_theta=1e4),
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1e6)))),
    ("olmo", dict(SMALL, clip_qkv=0.5)),
    ("olmo2", dict(SMALL)),
    ("olmo3", dict(SMALL, num_hidden_layers=4, sliding_window=4)),
    ("olmo3", dict(SMALL, num_hidden_layers=4, sliding_window=4, rope_parameters=dict(
        sliding_attention=dict(rope_type="default", rope_theta=5e5),
        full_attention=dict(rope_type="yarn", factor=4.0, rope_theta=5e5, original_max_position_embeddings=16, attention_factor=1.3)))),
    ("phi3", dict(SMALL, pad_token_id=0, rope_parameters=dict(rope_type="default", rope_theta=1e4, partial_rotary_factor=0.75),
                  hidden_size=64)),
    ("phi3", dict(SMALL, pad_token_id=0, sliding_window=4)),
    ("phi3", dict(SMALL, pad_token_id=0, original_max_position_embeddings=32, rope_parameters=LONGROPE)),
    ("phi3", dict(SMALL, pad_token_id=0, original_max_position_embeddings=8, rope_parameters=LONGROPE), "--length=48"),
    ("glm4", dict(SMALL, head_dim=8, pad_token_id=0)),
    ("stablelm", dict(SMALL, use_qkv_bias=True)),
    ("stablelm", dict(SMALL, use_parallel_residual=True,
                      rope_parameters=dict(rope_type="default", rope_theta=1e4, partial_rotary_factor=0.5))),
    ("stablelm", dict(SMALL, qk_layernorm=True, use_parallel_residual=True, use_qkv_bias=True)),
    ("stablelm", dict(SMALL, qk_layernorm=True, hidden_size=144, num_attention_heads=18, num_key_value_heads=1)),
    ("starcoder2", dict(SMALL, sliding_window=4)),
    ("starcoder2", dict(SMALL, use_bias=False, hidden_act="leaky_relu")),
    ("nemotron", dict(SMALL, head_dim=8)),
    ("cohere", dict(SMALL, pad_token_id=0)),
    ("cohere", dict(SMALL, use_qk_norm=True, attention_bias=True, pad_token_id=0)),
    ("cohere2", dict(SMALL, num_hidden_layers=4, sliding_window=4, head_dim=8, pad_token_id=0)),
    ("phi", dict(SMALL)),
    ("phi", dict(SMALL, qk_layernorm=True)),
    ("gpt_neox", dict(ENCODER, rope_parameters=dict(rope_type="default", rope_theta=1e4, partial_rotary_factor=0.25))),
    ("gpt_neox", dict(ENCODER, use_parallel_residual=False, attention_bias=False)),
    ("gptj", dict(n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64, vocab_size=60)),
    ("gpt2", dict(n_embd=32, n_layer=2, n_head=4, n_positions=64, vocab_size=60)),
    ("gpt2", dict(n_embd=32, n_layer=2, n_head=4, n_positions=64, vocab_size=60, n_inner=40, scale_attn_by_inverse_layer_idx=True)),
    ("opt", OPT), ("opt", dict(OPT, do_layer_norm_before=False)),
    ("falcon", FALCON), ("falcon", dict(FALCON, num_kv_heads=2, new_decoder_architecture=True, bias=True, activation="leaky_relu")),
    ("falcon", dict(FALCON, multi_query=False, parallel_attn=False)),
    ("bloom", BLOOM), ("bloom", dict(BLOOM, n_head=4)), ("mpt", MPT), ("mpt", dict(MPT, n_heads=4, attn_config=dict(softmax_scale=0.4))),
    ("llama", dict(SMALL, head_dim=16, rope_parameters=LLAMA3), LEFT),
    ("mistral", dict(SMALL, sliding_window=4, head_dim=16), LEFT),
    ("gemma3_text", dict(SMALL, num_hidden_layers=6, head_dim=16, sliding_window=4, query_pre_attn_scalar=24), LEFT),
    ("bloom", BLOOM, LEFT), ("mpt", MPT, LEFT), ("bert", ENCODER, LEFT),
    ("modernbert", dict(ENCODER, num_hidden_layers=4, local_attention=8, pad_token_id=0)),
    ("modernbert", dict(ENCODER, num_hidden_layers=4, local_attention=6, attention_bias=True, mlp_bias=True, pad_token_id=0)),
    ("bert", ENCODER), ("roberta", ENCODER), ("xlm-roberta", ENCODER), ("camembert", ENCODER),
    ("electra", dict(ENCODER, embedding_size=32)),
    ("distilbert", dict(dim=32, n_layers=2, n_heads=4, hidden_dim=48, vocab_size=60, max_position_embeddings=64)),
    ("vit", VISION), ("dinov2", DINOV2), ("dinov2", dict(DINOV2, use_swiglu_ffn=True, mlp_ratio=3, hidden_act="relu")),
    ("clip_vision_model", VISION), ("siglip_vision_model", VISION),
    ("clip_text_model", ENCODER), ("siglip_text_model", dict(ENCODER, projection_size=32)),
    ("whisper", dict(d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=48, decoder_layers=1, decoder_ffn_dim=48,
                     decoder_attention_heads=4, vocab_size=60, max_source_positions=10, num_mel_bins=8, pad_token_id=0, bos_token_id=1,
                     eos_token_id=2, decoder_start_token_id=1)),
]
MODELS = {"siglip_text_model": transformers.SiglipTextModel, "whisper": transformers.WhisperModel}  # of which AutoModel knows nothing
NO_V4 = {"bloom", "mpt", "gpt2", "gptj", "opt", "bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "vit", "dinov2",
         "clip_vision_model", "clip_text_model", "siglip_vision_model", "siglip_text_model", "whisper"}


def version_4(c, family):
    """The same config as transformers 4 wrote it."""
    c = dict(c)
    ropes = c.pop("rope_parameters", None) or {}
    if "full_attention" in ropes or "sliding_attention" in ropes:
        local = ropes.get("sliding_attention") or {}
        ropes = dict(ropes.get("full_attention") or {})
        if family.startswith("gemma3"):
            c["rope_local_base_freq"] = local["rope_theta"]
        if family == "modernbert":
            c["local_rope_theta"], c["global_rope_theta"] = local["rope_theta"], ropes.pop("rope_theta")
    ropes = dict(ropes)
    theta, partial = ropes.pop("rope_theta", None), ropes.pop("partial_rotary_factor", None)
    if theta is not None:
        c["rotary_emb_base" if family == "gpt_neox" else "rope_theta"] = theta
    if partial is not None and partial != 1.0:
        c["rotary_pct" if family == "gpt_neox" else "partial_rotary_factor"] = partial
    if ropes.get("rope_type", "default") != "default":
        ropes["type"] = ropes.pop("rope_type")
        c["rope_scaling"] = ropes
    c.pop("layer_types", None)
    c.pop("no_rope_layers", None)
    c["torch_dtype"] = c.pop("dtype", "float32")
    return c


def layers_of(model):
    if hasattr(model, "encoder") and hasattr(model, "decoder"):
        return model.encoder.layers
    found = [m for m in model.modules() if isinstance(m, torch.nn.ModuleList)]
    return max(found, key=lambda m: sum(1 for _ in m.parameters()))


PADDED = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "modernbert"}
LENGTHS = [TOKENS, 7]  # of the texts of a padded batch


def padding(options):
    """The input of the specs that says where the texts of a padded batch are, and the places of each text."""
    if LEFT in options:
        return {"first": torch.tensor([TOKENS - n for n in LENGTHS], dtype=torch.int32)}, [slice(TOKENS - n, TOKENS) for n in LENGTHS]
    if "--lengths" in options:
        return {"n": torch.tensor(LENGTHS, dtype=torch.int32)}, [slice(0, n) for n in LENGTHS]
    return {}, None


def texts(t, places):
    """The elements of t that are not padding."""
    return t if places is None else torch.cat([t[i, at] for i, at in enumerate(places)])


def forward(model, family, inputs=None, options=(), counted=True):
    """Inputs and outputs of each layer, and the cache's keys and values after it (None of an encoder). inputs: given to the layers instead
    of their own. counted: positions of texts padded on the left begin at 0, as in generate(); False: positions include the padding."""
    seen, dtype = [], next(model.parameters()).dtype

    def look(module, arguments, keywords, result):
        x = arguments[0] if arguments else keywords["hidden_states"]
        seen.append((x.detach().clone(), (result if torch.is_tensor(result) else result[0]).detach().clone()))

    def give(i):
        def change(module, arguments, keywords):
            x = inputs[i].to(dtype)
            return ((x, *arguments[1:]), keywords) if arguments else (arguments, dict(keywords, hidden_states=x))
        return change

    hooks = [m.register_forward_hook(look, with_kwargs=True) for m in layers_of(model)]
    if inputs:
        hooks += [m.register_forward_pre_hook(give(i), with_kwargs=True) for i, m in enumerate(layers_of(model))]
    generator = torch.Generator().manual_seed(3)
    cache = None
    left = LEFT in options
    mask = {}
    if left or family in PADDED:
        mask["attention_mask"] = torch.tensor([[left and i >= TOKENS - n or not left and i < n for i in range(TOKENS)]
                                               for n in LENGTHS]).long()
    if left and counted and "position_ids" in inspect.signature(model.forward).parameters and family not in PADDED:
        mask["position_ids"] = (mask["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        if "vision" in family or family in ("vit", "dinov2"):
            model(pixel_values=torch.randn(BATCH, 3, model.config.image_size, model.config.image_size, generator=generator).to(dtype))
        elif family == "whisper":
            frames = torch.randn(BATCH, model.config.num_mel_bins, 2 * model.config.max_source_positions, generator=generator)
            model.encoder(frames.to(dtype))
        elif family in ENCODERS:
            model(input_ids=torch.randint(5, 60, (BATCH, TOKENS), generator=generator), **mask)
        else:
            cache = transformers.DynamicCache()
            name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"  # the former since 5.24
            model(input_ids=torch.randint(5, 60, (BATCH, TOKENS), generator=generator), use_cache=True, **{name: cache}, **mask)
    for h in hooks:
        h.remove()
    return seen, cache


ENCODERS = PADDED | {"clip_text_model", "siglip_text_model", "vit", "dinov2", "clip_vision_model", "siglip_vision_model"}


def error(ours, theirs):
    return ((ours.double() - theirs.double()).pow(2).mean().sqrt() / theirs.double().pow(2).mean().sqrt()).item()


def check_layer(folder, specs, layer, names, x, y, cache, repeated):
    worst = {}
    dims = f"--dim=B={x.shape[0]},S={x.shape[1]}"
    padded, places = padding(names["options"])
    save_file(dict(padded, x=x.contiguous()), f"{folder}/in.safetensors")
    run = ["--target=host", f"--weights={folder}", f"--layer={layer}", f"--input={folder}/in.safetensors", "--reference=never",
           "--repeat=0", f"--output={folder}/out.safetensors"]
    tfgen("run", f"{specs}/{names['prefill']}", dims, *run)
    got = load_file(f"{folder}/out.safetensors")["y"]
    worst["prompt"] = error(texts(got, places), texts(y, places))  # nobody reads the padding
    if "decode" not in names:
        return worst
    if hasattr(cache, "layers"):
        keys, values = cache.layers[layer].keys, cache.layers[layer].values
    keys, values = (t[:, ::repeated].contiguous() for t in (keys, values))
    last = x.shape[1] - 1
    k_cache, v_cache = (torch.zeros(t.shape[0], t.shape[1], ROOM, t.shape[3]) for t in (keys, values))
    k_cache[:, :, :last], v_cache[:, :, :last] = keys[:, :, :last], values[:, :, :last]
    given = {**padded, "x": x[:, last:].contiguous(), "pos": torch.full((x.shape[0],), last, dtype=torch.int32)}
    save_file(dict(given, k_cache=k_cache, v_cache=v_cache), f"{folder}/in.safetensors")
    tfgen("run", f"{specs}/{names['decode']}", f"--dim=B={x.shape[0]},L={ROOM}", *run)
    got = load_file(f"{folder}/out.safetensors")
    worst["step"] = error(got["y"], y[:, last:])
    worst["cache"] = max(error(got["k_cache"][:, :, : last + 1], keys), error(got["v_cache"][:, :, : last + 1], values))
    return worst


def rounding(folder, specs, index, model, family, options):
    """The distance of our bfloat16 layer from float64 over that of transformers' own, on the same inputs: the worst ratio of prompt and
    step."""
    half = copy.deepcopy(model).bfloat16()
    exact = copy.deepcopy(half).double()
    ours, _ = forward(half, family, options=options)
    precise, _ = forward(exact, family, [x for x, _ in ours], options)
    padded, places = padding(options)
    worst, done = 0, set()
    for layer, (names, (x, theirs), (_, y)) in enumerate(zip(index, ours, precise)):
        if names["prefill"] in done:
            continue
        done.add(names["prefill"])
        save_file(dict(padded, x=x.contiguous()), f"{folder}/in.safetensors")
        tfgen("run", f"{specs}/{names['prefill']}", f"--dim=B={x.shape[0]},S={x.shape[1]}", "--dtype=bf16", "--target=host",
              f"--weights={folder}", f"--layer={layer}", f"--input={folder}/in.safetensors", "--reference=never", "--repeat=0",
              f"--output={folder}/out.safetensors")
        got = load_file(f"{folder}/out.safetensors")["y"]
        got, theirs, y = (texts(t, places) for t in (got, theirs, y))
        worst = max(worst, error(got, y) / error(theirs, y))
    return worst


def own_error(model, family, seen, options):
    """How far transformers' own layers are from float64, on the same inputs: the worst of them."""
    places = padding(options)[1]
    precise, _ = forward(copy.deepcopy(model).double(), family, [x for x, _ in seen], options)
    return max(error(texts(y, places), texts(z, places)) for (_, y), (_, z) in zip(seen, precise))


def check(family, keys, *options):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, **keys)
    config._attn_implementation = "eager"
    model = (MODELS[family](config) if family in MODELS else transformers.AutoModel.from_config(config)).eval().float()
    draw(model)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        specs = f"{folder}/specs"
        tfgen("import", folder, f"--output={specs}/", "--quiet", *options)
        if family not in NO_V4:
            old = f"{folder}/old"
            os.mkdir(old)
            with open(f"{folder}/config.json") as f:
                spelled = version_4(json.load(f), family)
            with open(f"{old}/config.json", "w") as f:
                json.dump(spelled, f)
            tfgen("import", f"{old}/config.json", f"--output={old}/specs/", "--quiet", *options)
            for name in sorted(os.listdir(specs)):
                both = [open(f"{p}/{name}").read() for p in (specs, f"{old}/specs")]
                # the tensors of the saved base model lack these prefixes
                both = [re.sub(r"from: (model|transformer|gpt_neox)\.(decoder\.)?", "from: ", text) for text in both]
                lines = [[l for l in text.split("\n") if not l.startswith("prefix:") and name != "layers.json"] for text in both]
                assert lines[0] == lines[1], f"{name} differs with the config of transformers 4"
        with open(f"{specs}/layers.json") as f:
            index = json.load(f)["layers"]
        seen, cache = forward(model, family, options=options)
        if LEFT in options and cache:  # the cache that the specs expect: positions include the padding
            cache = forward(model, family, options=options, counted=False)[1]
        assert len(seen) == len(index), f"{len(seen)} layers ran, {len(index)} were imported"
        worst, done = {}, set()
        grouped = getattr(config, "new_decoder_architecture", False)
        repeated = config.num_attention_heads // config.num_kv_heads if grouped else 1  # Falcon's cache has each key once per query head
        for layer, names in enumerate(index):
            if names["prefill"] in done and layer not in (0, len(index) - 1):
                continue
            done.add(names["prefill"])
            names["options"] = options
            for what, e in check_layer(folder, specs, layer, names, *seen[layer], cache, repeated).items():
                worst[what] = max(worst.get(what, 0), e)
        share = rounding(folder, specs, index, model, family, options)
        own = own_error(model, family, seen, options)
    return worst, share, own


def check_parts(family):
    """Both encoders of a saved model of two, with --part, by `tfgen run FOLDER --layers`."""
    sizes = {k: v for k, v in ENCODER.items() if k not in ("vocab_size", "max_position_embeddings")}
    config = transformers.AutoConfig.for_model(
        family, text_config=dict(sizes, vocab_size=60, max_position_embeddings=20, projection_size=32, bos_token_id=0, pad_token_id=1,
                                 eos_token_id=2), vision_config=dict(sizes, image_size=8, patch_size=4), projection_dim=16)
    config._attn_implementation = "eager"
    model = transformers.AutoModel.from_config(config).eval().float()
    draw(model)
    x = torch.randn(BATCH, TOKENS, 32, generator=torch.Generator().manual_seed(3))
    causal = torch.full((TOKENS, TOKENS), float("-inf")).triu(1)[None, None]
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        for part in ("text", "vision"):
            y = x
            with torch.no_grad():
                for layer in getattr(model, f"{part}_model").encoder.layers:
                    y = layer(y, causal if (family, part) == ("clip", "text") else None)
                    y = y if torch.is_tensor(y) else y[0]
            tfgen("import", folder, f"--part={part}", f"--output={folder}/{part}/", "--quiet")
            with tempfile.TemporaryDirectory() as data:
                save_file(dict(x=x), f"{data}/in.safetensors")
                tfgen("run", folder, "--layers=0-1", f"--part={part}", f"--input={data}/in.safetensors", f"--output={data}/out.safetensors",
                      "--target=host")
                worst = max(worst, error(load_file(f"{data}/out.safetensors")["y"], y))
    return worst


# Families whose config, as the text_config of another model, leaves out sizes that are the class's defaults.
PARTIAL = {"llama", "mistral", "ministral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "smollm3", "granite", "olmo3", "phi3",
           "glm4", "starcoder2", "nemotron", "cohere2"}


def check_defaults(family):
    """`tfgen import` takes the default config of a family's class, and one that leaves everything to the class's defaults."""
    with tempfile.TemporaryDirectory() as folder:
        configs = {"whole": transformers.AutoConfig.for_model(family).to_dict(), "partial": {"text_config": {"model_type": family}}}
        for name, config in configs.items():
            if name == "partial" and family not in PARTIAL:
                continue
            with open(f"{folder}/{name}.json", "w") as f:
                json.dump(config, f)
            tfgen("import", f"{folder}/{name}.json", f"--output={folder}/{name}/", "--quiet")
            for spec in os.listdir(f"{folder}/{name}"):
                same = spec == "layers.json" or open(f"{folder}/{name}/{spec}").read() == open(f"{folder}/whole/{spec}").read()
                assert same, f"{spec} of a config that leaves things to the class differs"


def report(family, keys, options, times_own=0):
    """Prints how far the layers are from transformers'. True if within BOUND or `times_own` times transformers' own error in float32."""
    try:
        worst, share, own = check(family, keys, *options)
        good = all(e <= max(BOUND, times_own * own) for e in worst.values()) and share <= MOST_ROUNDING
        print(f"{'good' if good else 'BAD '} {family:20} " + "  ".join(f"{k} {e:.2e}" for k, e in worst.items()) +
              f"  bfloat16 {share:.2f} times transformers' error", flush=True)
    except Exception as why:
        good = False
        print(f"BAD  {family:20} {keys}: {type(why).__name__}: {why}", flush=True)
    return good


def main(asked):
    failed = 0
    for family in ("clip", "siglip"):
        if asked and family not in asked:
            continue
        try:
            worst = check_parts(family)
            failed += worst > BOUND
            print(f"{'good' if worst <= BOUND else 'BAD '} {family:20} both encoders {worst:.2e}", flush=True)
        except Exception as why:
            failed += 1
            print(f"BAD  {family:20} {type(why).__name__}: {why}", flush=True)
    for family, keys, *options in CASES:
        if asked and family not in asked:
            continue
        try:
            check_defaults(family)
        except Exception as why:
            failed += 1
            print(f"BAD  {family:20} defaults: {type(why).__name__}: {why}", flush=True)
        failed += not report(family, keys, ["--lengths"] if family in PADDED and not options else options)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
