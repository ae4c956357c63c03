#!/usr/bin/env python3
"""Tests tfgen.transformers on the host engine with PyTorch and transformers: fused models generate the tokens that the originals do, with
each kind of cache, and refuse what they would get wrong. Exit code 77 where these are not installed.

usage: transformers_test.py [FAMILY...]        TFGEN_LIBRARY and TFGEN name the library and the command"""
import copy
import gc
import inspect
import os
import sys
import threading
import weakref

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
try:
    import torch
    import transformers
except ImportError as e:
    print(f"skipped: {sys.executable}: {e}")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
import tfgen  # noqa: E402
import tfgen.transformers  # noqa: E402

SMALL = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=120,
             max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=None)
HEAD = dict(SMALL, head_dim=16)
WINDOW = dict(HEAD, num_hidden_layers=6, sliding_window=8, query_pre_attn_scalar=24)
MODELS = {"llama": SMALL, "qwen3": HEAD, "gemma3_text": WINDOW}
PLAIN = {k: v for k, v in SMALL.items() if k != "num_key_value_heads"}
IDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=None, vocab_size=120)
FOUR = dict(SMALL, num_hidden_layers=4, sliding_window=8)
OTHERS = {  # families that are tested with a dynamic cache and sixteen tokens only
    "mistral": dict(SMALL, sliding_window=8), "qwen2": SMALL, "smollm3": dict(SMALL, num_hidden_layers=4), "granite": SMALL, "gemma": HEAD,
    "gemma2": dict(HEAD, sliding_window=8, query_pre_attn_scalar=24), "olmo": SMALL, "olmo2": SMALL, "olmo3": FOUR, "phi": SMALL,
    "phi3": SMALL, "glm4": HEAD, "stablelm": SMALL, "starcoder2": dict(SMALL, sliding_window=8), "nemotron": HEAD, "cohere": SMALL,
    "cohere2": dict(FOUR, head_dim=16), "gpt2": dict(IDS, n_embd=64, n_layer=2, n_head=4, n_positions=128),
    "opt": dict(IDS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=96, max_position_embeddings=128,
                word_embed_proj_dim=64)}
MORE, ROOM = 64, 96
CACHE = next(n for n in tfgen.transformers.CACHES if n in inspect.signature(transformers.LlamaForCausalLM.forward).parameters)
failed = 0


def expect(what, good):
    global failed
    print(("ok    " if good else "WRONG ") + what, flush=True)
    failed += not good


def refused(what, kind, call, *words):
    try:
        call()
    except kind as e:
        expect(f"{what}: {str(e)[:200]}", all(w in str(e) for w in words))
    else:
        expect(what + " was taken", False)


def made(family, dtype=torch.float32, auto=transformers.AutoModelForCausalLM, **keys):
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(family, **(MODELS.get(family) or OTHERS.get(family) or {}), **keys)
    model = auto.from_config(config).eval().to(dtype)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape) * (0.3 if p.dim() > 1 else 0.1) + (p.dim() == 1) * ("norm" in name))
    return model


def fused(model, **options):
    return tfgen.transformers.replace(copy.deepcopy(model), wisdom="none", **options)


def generated(model, ids, more=MORE, **options):
    with torch.no_grad():
        return model.generate(input_ids=ids, max_new_tokens=more, min_new_tokens=more, do_sample=False, **options).tolist()


def ids_of(batch, tokens):
    return torch.randint(5, 120, (batch, tokens), generator=torch.Generator().manual_seed(3))


def decoder(family):
    model = made(family)
    mine = fused(model, room=ROOM)
    ids = ids_of(2, 23)
    want = generated(model, ids)
    expect(f"{family}: 64 tokens with a dynamic cache", generated(mine, ids) == want)
    expect(f"{family}: 64 tokens with a static cache", generated(mine, ids, cache_implementation="static") == want)
    expect(f"{family}: three beams", generated(mine, ids, num_beams=3) == generated(model, ids, num_beams=3))
    with torch.no_grad():
        a, b = (m(ids, use_cache=False, output_hidden_states=True) for m in (model, mine))
    near = torch.allclose(a.logits, b.logits, rtol=1e-4, atol=1e-4)
    expect(f"{family}: logits and hidden states without a cache", near and len(a.hidden_states) == len(b.hidden_states) and
           all(torch.allclose(x, y, rtol=1e-4, atol=1e-4) for x, y in zip(a.hidden_states, b.hidden_states)))
    expect(f"{family}: no parameters of layers are left", not any("layers" in n for n, _ in mine.named_parameters()))
    cache = transformers.StaticCache(model.config, max_cache_len=64)
    graphs: list = []
    aot = torch._dynamo.lookup_backend("aot_eager")
    step = torch.compile(mine, backend=lambda graph, inputs: graphs.append(graph) or aot(graph, inputs), fullgraph=True)
    with torch.no_grad():
        got, now = [], mine(ids, use_cache=True, **{CACHE: cache})
        for i in range(9):
            got.append(now.logits[:, -1:].argmax(-1))
            now = step(got[-1], use_cache=True, **{CACHE: cache}, position_ids=torch.tensor([[23 + i]]))
        cache, where, one = transformers.DynamicCache(config=model.config), torch.tensor([[22]]), []
        now = mine(ids, use_cache=True, **{CACHE: cache})
        for i in range(9):
            one.append(now.logits[:, -1:].argmax(-1))
            where += 1  # in place
            now = mine(one[-1], use_cache=True, **{CACHE: cache}, position_ids=where)
    expect(f"{family}: nine steps with positions changed in place", torch.cat(one, 1).tolist() == [w[23:32] for w in want])
    checks = [n for g in graphs for n in g.graph.nodes if n.target is torch.ops.tfgen.all_true]
    expect(f"{family}: a compiled step reduces the mask outside of the assertion's kernel", bool(checks))
    expect(f"{family}: nine compiled steps", torch.cat(got, 1).tolist() == [w[23:32] for w in want])
    padded = torch.tensor([[0] * 9 + [1] * 14, [1] * 23])
    for kind in (None, "static"):
        a, b = (generated(m, ids, attention_mask=padded, cache_implementation=kind) for m in (model, mine))
        expect(f"{family}: padded on the left, cache {kind}", a == b)
    holes = torch.tensor([[1] * 9 + [0] * 3 + [1] * 11, [1] * 23])
    refused(f"{family}: a hole in a text", tfgen.TensorError, lambda: generated(mine, ids, attention_mask=holes), "no other masks")
    with torch.no_grad():
        a, b = (m(ids, attention_mask=padded.flip(1)).logits for m in (model, mine))
    expect(f"{family}: padded on the right", torch.allclose(a[0, :14], b[0, :14], rtol=1e-4, atol=1e-4) and
           torch.allclose(a[1], b[1], rtol=1e-4, atol=1e-4))
    refused(f"{family}: too long a text", tfgen.TensorError, lambda: generated(mine, ids_of(1, 90)), f"room={ROOM}")
    refused(f"{family}: train()", RuntimeError, lambda: mine.train(), "no gradients")
    return mine, ids


def kept():
    """A call does not mistake what another call left in a cache for its own tokens."""
    model = made("llama")
    mine = fused(model, room=ROOM)
    ids, ones = ids_of(2, 23), torch.ones(2, 23, dtype=torch.int64)
    left = torch.tensor([[0] * 9 + [1] * 14, [1] * 23])
    texts = [(ids, left), (ids, ones), (ids[:, :1], ones[:, :1]), (ids, left.flip(0))]
    want = [generated(model, i, 4, attention_mask=m) for i, m in texts]
    cache, got = transformers.StaticCache(model.config, max_cache_len=ROOM), []
    for i, m in texts:
        got.append(generated(mine, i, 4, attention_mask=m, **{CACHE: cache}))
        cache.reset()
    expect("a static cache after reset()", got == want)
    wrong = []

    def call(text, tokens):
        try:
            wrong.extend([1] * sum(generated(mine, text[0], 4, attention_mask=text[1]) != tokens for _ in range(6)))
        except RuntimeError as e:
            wrong.append(e)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=call, args=case) for case in zip(texts, want)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.setswitchinterval(interval)
    expect(f"four threads: {wrong}", not wrong)


def refusals():
    mine, ids = fused(made("llama"), room=ROOM), ids_of(2, 23)
    biased = torch.full((2, 1, 23, 23), float("-inf")).triu(1) + torch.full((23, 23), 2.0).tril(-3)
    with torch.no_grad():
        refused("a mask that adds a bias", tfgen.TensorError, lambda: mine(ids, attention_mask=biased), "no other masks")
        refused("is_causal=False", tfgen.TensorError, lambda: mine(ids, is_causal=False), "is_causal is False")
        mine.config.is_causal = False
        refused("config.is_causal changed later", tfgen.TensorError, lambda: mine(ids), "is_causal is False")
        mine.config.is_causal = True
        del mine.config.is_causal
        expect("config.is_causal as before", mine(ids).logits.shape[:2] == ids.shape)
    refused("state_dict()", RuntimeError, mine.state_dict, "neither copied nor saved")
    refused("load_state_dict()", RuntimeError, lambda: mine.load_state_dict({}, strict=False), "loads nothing")
    refused("deepcopy()", RuntimeError, lambda: copy.deepcopy(mine), "neither copied nor saved")
    refused("replace() of a fused model", RuntimeError, lambda: tfgen.transformers.replace(mine), "already")
    hooked = made("llama")
    mlp, wrapped = hooked.model.layers[1].mlp, hooked.model.layers[1].mlp.forward
    mlp.forward = lambda x: wrapped(x)  # as a hook of accelerate does
    refused("a wrapped forward", RuntimeError, lambda: tfgen.transformers.replace(hooked), "layer 1.mlp", "remove_hook_from_module")
    expect("no layer was changed", "fused" not in vars(hooked.model.layers[0]))
    for layer in hooked.model.layers:
        layer.forward = layer.forward  # what accelerate leaves after it removed a hook
    mlp.forward = wrapped
    want = generated(hooked, ids, 4)
    expect("after hooks were removed", generated(tfgen.transformers.replace(hooked, room=ROOM, wisdom="none"), ids, 4) == want and
           not any("forward" in vars(layer) for layer in hooked.model.layers))
    empty = made("llama")
    empty.model.layers[1].mlp.up_proj.to("meta")
    refused("offloaded weights", RuntimeError, lambda: tfgen.transformers.replace(empty), "layer 1: mlp.up_proj.weight", "meta")


def names():
    """A layer takes its cache by both of the names that transformers has given it."""
    model = made("llama")
    mine = fused(model, room=ROOM).model.layers[0]
    x, where, got = torch.randn(2, 3, 64), torch.arange(3)[None], []
    for name in tfgen.transformers.CACHES:
        cache = transformers.DynamicCache(config=model.config)
        with torch.no_grad():
            mine(x, position_ids=where, **{name: cache})
            got.append(mine(x, position_ids=where + 3, **{name: cache}))
        expect(f"a layer's cache as {name}", cache.get_seq_length() == 6 and torch.equal(got[0], got[-1]))


def empty_cache():
    """lazy_initialization() makes tensors although no row is asked for, as transformers' own layers of a cache do."""
    rows = tfgen.transformers.Rows(ROOM)
    rows.lazy_initialization(torch.empty(2, 3, 0, 16), torch.empty(2, 3, 0, 16))
    expect("lazy_initialization()", rows.is_initialized and rows.keys.shape == rows.values.shape == (2, 3, ROOM, 16)
           and rows.get_seq_length() == 0)
    rows.lazy_initialization(torch.empty(2, 3, 0, 16), torch.empty(2, 3, 0, 16))
    keys, _ = rows.update(torch.ones(2, 3, 5, 16), torch.ones(2, 3, 5, 16))
    expect("rows after it", rows.keys.shape[2] == ROOM and torch.equal(keys, torch.ones(2, 3, 5, 16)))


def growing():
    """In bf16, logits of a prompt that outgrows the cache's first size and is computed in several chunks."""
    tfgen.transformers.LEAST_ROOM, tfgen.transformers.CHUNK = 32, 16
    model = made("qwen3", torch.bfloat16)
    mine = fused(model)
    tfgen.transformers.LEAST_ROOM, tfgen.transformers.CHUNK = 1024, 1024
    ids = ids_of(2, 23)
    with torch.no_grad():
        a, b = model.double()(ids).logits, mine(ids).logits.double()
        c = made("qwen3", torch.bfloat16)(ids).logits.double()
    error, theirs = ((x - a).norm() / a.norm() for x in (b, c))
    expect(f"bf16: relative RMS {error:.4f}, of transformers {theirs:.4f}", error <= 1.5 * theirs)


def layouts():
    """Whatever calls will read is packed while the originals are there. On sm_90a prompts and steps in f32 read other layouts."""
    config = transformers.AutoConfig.for_model("llama", **dict(SMALL, hidden_size=128, intermediate_size=256))
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    shared = tfgen.transformers.Shared(config, None, {"wisdom": "none"})

    def forms(dtype, target):
        return [form for form, _ in shared.packed_forms(0, torch.empty(0, dtype=dtype), target)]
    expect("layouts of f32 on sm_90a", forms(torch.float32, "sm_90a") == ["chunk", "decode"])
    expect("one layout of bf16 on sm_90a", forms(torch.bfloat16, "sm_90a") == ["chunk"])
    expect("one layout on the host", forms(torch.float32, "host") == ["chunk"])
    shared.forms[next(k for k in shared.forms if k[2] == "host")] = [("chunk", 1024), ("decode", 1024)]  # as if two forms were needed
    packed = tfgen.transformers.Fused(shared, 0, model.model.layers[0]).modules
    expect(f"modules before the first call: {list(packed)}", list(packed) == [("chunk", 1024, False), ("decode", 1024, False)])


def registered():
    tfgen.transformers.register(room=ROOM, wisdom="none")
    try:
        mine = made("llama")
    finally:
        tfgen.transformers.unregister()
    model, ids = made("llama"), ids_of(1, 5)
    mine.load_state_dict(model.state_dict())
    refused("register(): a call in training mode", RuntimeError, lambda: mine.train()(ids), "no gradients")
    mine.eval()
    expect("register(): 64 tokens", generated(mine, ids) == generated(model, ids))
    gone = weakref.ref(mine), weakref.ref(mine.config), weakref.ref(mine.model.layers[0].fused.shared)
    del mine
    gc.collect()
    expect("register() keeps no model, config or kernels", not any(r() for r in gone) and not tfgen.transformers._shared)
    expect("unregister()", type(model.model.layers[0]).__module__.startswith("transformers"))


def encoder():
    keys = {k: v for k, v in PLAIN.items() if not k.endswith("token_id")}
    model = made("bert", auto=transformers.AutoModel, **keys)
    mine = fused(model)
    ids, right = ids_of(2, 23), torch.tensor([[1] * 9 + [0] * 14, [1] * 23])
    with torch.no_grad():
        for what, mask in (("", None), (", padded on the right", right)):
            a, b = (m(ids, attention_mask=mask).last_hidden_state for m in (model, mine))
            keep = slice(None) if mask is None else right.bool()
            expect(f"bert{what}", torch.allclose(a[keep], b[keep], rtol=1e-4, atol=1e-4))
            graph = torch.compile(mine, backend="aot_eager", fullgraph=True)
            expect(f"bert{what}, in one graph", torch.equal(graph(ids, attention_mask=mask).last_hidden_state[keep], b[keep]))
        refused("bert: padded on the left, in a graph", RuntimeError, lambda: graph(ids, attention_mask=right.flip(1)), "attention_mask")
        refused("bert: padded on the left", tfgen.TensorError, lambda: mine(ids, attention_mask=right.flip(1)), "attention_mask")


def main(families):
    for family in families or MODELS:
        decoder(family)
    if not families:
        for family in OTHERS:
            model, ids = made(family), ids_of(2, 12)
            expect(f"{family}: 16 tokens", generated(fused(model, room=64), ids, 16) == generated(model, ids, 16))
        names()
        kept()
        refusals()
        empty_cache()
        growing()
        registered()
        layouts()
        encoder()
        refused("a family with experts", tfgen.Error, lambda: fused(made("mixtral", **SMALL)), "mixtral")
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
