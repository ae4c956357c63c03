"""Fused layers in a model of HuggingFace's transformers (version 5): replace(model), or register() before from_pretrained.

    import tfgen.transformers
    model = tfgen.transformers.replace(AutoModelForCausalLM.from_pretrained(...).cuda())
    model.generate(**inputs)

`tfgen import` makes the specs of the layers from the model's config. Embeddings, the last norm and the head stay PyTorch's."""
import functools
import importlib
import inspect
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import weakref
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

import torch
from transformers import monkey_patching
from transformers.cache_utils import CacheLayerMixin, DynamicLayer, StaticLayer

from . import _binding
from ._arrays import TensorError
from ._layer import Kernels, Layer, Weights, compile, plan
from .torch import Module

LEAST_ROOM = 1024  # rows of a cache that grows
CHUNK = 1024  # most tokens per call of a "chunk" spec
CACHES = ("cache", "past_key_values")  # what transformers calls a layer's cache since 5.24, and before
DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
# Classes of layers that register() replaces, by the module of transformers.models.
CLASSES = {"LlamaDecoderLayer": "llama.modeling_llama", "Qwen3DecoderLayer": "qwen3.modeling_qwen3",
           "Gemma3DecoderLayer": "gemma3.modeling_gemma3", "BertLayer": "bert.modeling_bert"}
# Model types whose layers take and return what Fused does: tensors, with position_ids where they decode. tests/python tests them.
FAMILIES = {"llama", "mistral", "qwen2", "qwen3", "smollm3", "granite", "gemma", "gemma2", "gemma3_text", "gemma3", "olmo", "olmo2",
            "olmo3", "phi", "phi3", "glm4", "stablelm", "starcoder2", "nemotron", "cohere", "cohere2", "gpt2", "opt", "bert"}
logger = logging.getLogger("tfgen")


# ---- specs

class Specs(NamedTuple):
    texts: Dict[str, str]  # by the file's name
    layers: List[Dict[str, Any]]  # for each layer the names of its specs: "prefill" (whole texts), "decode", "chunk"
    prefix: str  # prefix of the names of a layer's tensors, with {layer}

    @property
    def decodes(self) -> bool:
        return "decode" in self.layers[0]


def command() -> str:
    """The command tfgen: $TFGEN, the wheel's, or the one that make built."""
    return os.environ.get("TFGEN") or _binding.bundled("tfgen") or os.path.join(_binding.HERE, "..", "..", "tfgen")


def specs_of(config: Any, *options: str) -> Specs:
    """options: of `tfgen import`. Raises SpecError or UnsupportedError where `tfgen import` refuses the config."""
    with tempfile.TemporaryDirectory() as folder:
        path, specs = os.path.join(folder, "config.json"), os.path.join(folder, "specs", "")
        with open(path, "w", encoding="utf-8") as f:
            f.write(config.to_json_string())
        call = [command(), "import", path, "-o", specs, "--quiet", *options]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode == 0 and not json.loads(read(specs + "layers.json"))["layers"][0].get("decode"):
            done = subprocess.run([*call, "--lengths"], capture_output=True, text=True)
        if done.returncode:
            kind = {3: _binding.SpecError, 4: _binding.UnsupportedError}.get(done.returncode, _binding.Error)
            raise kind(done.stderr.strip().replace(folder + os.sep, ""))
        texts = {name: read(specs + name) for name in os.listdir(specs)}
    index = json.loads(texts.pop("layers.json"))
    return Specs(texts, index["layers"], index["prefix"])


def read(path: str) -> str:
    with open(path, encoding="utf-8") as f:
        return f.read()


# ---- caches

class Rows(CacheLayerMixin):
    """A layer's cache as the specs have it: all rows of each sequence in one tensor [B, KV, L, hd], of which `length` are filled. L is
    `room`, or grows to the next power of two. Layers with a window keep all rows, too."""

    is_sliding = False
    is_croppable = True

    def __init__(self, room: Optional[int] = None) -> None:
        super().__init__()
        self.room, self.length = room, 0
        self.first: Optional[torch.Tensor] = None  # [B]: rows of padding on the left of each text; None: no text has any

    def reserve(self, shape: Tuple[int, int, int], more: int, dtype: torch.dtype, device: torch.device) -> int:
        """Makes room for `more` rows behind those that are filled; returns L, the rows that the tensors then have. shape: B, KV, hd."""
        batch, heads, size = shape
        need, have = self.length + more, self.keys.shape[2] if self.is_initialized else 0
        if self.is_initialized and self.keys.shape[0] != batch:
            raise TensorError(f"the cache has {self.keys.shape[0]} sequences, hidden_states {batch}")
        if need > have or not self.is_initialized:
            rows = self.room or max(LEAST_ROOM, 1 << (need - 1).bit_length())
            if need > rows:
                raise TensorError(f"{need} tokens; replace(model, room={rows}) allows {rows}")
            old = (self.keys, self.values)
            self.keys, self.values = (torch.zeros(batch, heads, rows, size, dtype=dtype, device=device) for _ in range(2))
            if have:
                self.keys[:, :, :have], self.values[:, :, :have] = old
            self.dtype, self.device, self.is_initialized = dtype, device, True
        return self.keys.shape[2]

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        batch, heads, _, size = key_states.shape
        self.reserve((batch, heads, size), 0, key_states.dtype, key_states.device)

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> Tuple[torch.Tensor, torch.Tensor]:
        batch, heads, more, size = key_states.shape
        self.reserve((batch, heads, size), more, key_states.dtype, key_states.device)
        self.keys[:, :, self.length:self.length + more] = key_states
        self.values[:, :, self.length:self.length + more] = value_states
        self.length += more
        return self.keys[:, :, :self.length], self.values[:, :, :self.length]

    def get_mask_sizes(self, query_length: int) -> Tuple[int, int]:
        return self.length + query_length, 0

    def get_seq_length(self) -> int:
        return self.length

    def get_max_length(self) -> int:
        return self.room or -1

    def reset(self) -> None:
        self.length, self.first = 0, None

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        self.batch_select_indices(beam_idx)

    def crop(self, tokens_to_remove: int) -> None:
        if tokens_to_remove > 0:
            raise ValueError("crop() takes a negative number, of tokens to remove")
        self.length += tokens_to_remove

    def batch_repeat_interleave(self, repeats: int) -> None:
        if self.is_initialized:
            self.keys, self.values = (t.repeat_interleave(repeats, dim=0) for t in (self.keys, self.values))
            self.first = self.first.repeat_interleave(repeats) if self.first is not None else None

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        if self.is_initialized:
            self.keys, self.values = (t[indices].contiguous() for t in (self.keys, self.values))
            self.first = self.first[indices] if self.first is not None else None


class Static(StaticLayer):
    """A layer of a StaticCache that also records how its texts are padded."""

    first: Optional[torch.Tensor] = None  # as in Rows

    def reset(self) -> None:
        super().reset()
        self.first = None


def rows_of(cache: Any, index: int, room: Optional[int]) -> Any:
    """The cache of a layer: Static in place of a static layer, also of one that keeps a window only, or Rows in place of an empty dynamic
    layer."""
    if type(cache).__name__ == "EncoderDecoderCache" or not hasattr(cache, "layers") or getattr(cache, "offloading", False):
        raise TensorError(f"the cache is a {type(cache).__name__}, or offloaded: DynamicCache and StaticCache are known")
    while len(cache.layers) <= index and cache.layer_class_to_replicate is not None:
        cache.layers.append(cache.layer_class_to_replicate())
    layer = cache.layers[index]
    if type(layer) is Rows or type(layer) is Static:
        return layer
    if type(layer) is StaticLayer:
        layer.__class__ = Static  # in place: it may be initialised
        return layer
    if not isinstance(layer, (DynamicLayer, StaticLayer)) or "Indexed" in type(layer).__name__ or "Quantized" in type(layer).__name__:
        raise TensorError(f"layer {index} of the cache is a {type(layer).__name__}: DynamicCache and StaticCache are known")
    if layer.is_initialized and int(layer.get_seq_length()):
        raise TensorError(f"layer {index} of the cache was filled by another model")
    if isinstance(layer, StaticLayer):
        room = max((c.max_cache_len for c in cache.layers if type(c) in (Static, StaticLayer)), default=room or 0)
        if not room:
            raise TensorError("a StaticCache of windows only does not say how long texts are: replace(model, room=TOKENS) does")
    cache.layers[index] = made = Static(room) if isinstance(layer, StaticLayer) else Rows(room)
    return made


# ---- layers

class Shared:
    """What the layers of a model have in common: specs, kernels by spec and rows of the cache, and the result of checks that are made once
    per call of the model (attention masks and positions). Threads may call the model at once: a result is reused only for the very tensors
    that were checked. A layer's *form* is one of its specs: "prefill", "decode" or "chunk" (Specs.layers)."""

    def __init__(self, config: Any, room: Optional[int], options: Mapping[str, Any]) -> None:
        if config.model_type not in FAMILIES:
            raise _binding.UnsupportedError(f"{config.model_type}: replace() knows {', '.join(sorted(FAMILIES))}")
        self.config, self.specs, self.room, self.options = config, specs_of(config), room, dict(options)
        self.text_config = config.get_text_config()
        self._padded: Optional[Specs] = None
        self.kernels: Dict[Tuple[Any, ...], Kernels] = {}
        self.forms: Dict[Tuple[Any, ...], List[Tuple[str, Optional[int]]]] = {}
        self.checked: Dict[Any, Tuple[Tuple[Any, ...], Any]] = {}
        self.leaders: Dict[Optional[int], int] = {}  # the first layer of each window
        self.filled: Tuple[Any, Any] = (None, None)

    def causal(self) -> bool:
        """Whether transformers makes causal masks now. `tfgen import` refuses a config with is_causal, but it may be set later."""
        return self.specs.decodes and getattr(self.text_config, "is_causal", True)

    def compiled(self, layer: int, form: str, rows: Optional[int], padded: bool, like: torch.Tensor) -> Kernels:
        key = (self.specs.layers[layer][form], rows, padded, like.dtype, like.device)
        if key not in self.kernels:
            self.kernels[key] = compile(device=like.device, **self._options(layer, form, rows, padded, like), **self.options).kernels
        return self.kernels[key]

    def _options(self, layer: int, form: str, rows: Optional[int], padded: bool, like: torch.Tensor) -> Dict[str, Any]:
        """The arguments of compile() and plan() for a form: its spec, name, dtype and dims."""
        if padded and self._padded is None:
            self._padded = specs_of(self.config, "--left-padded")
        name = self.specs.layers[layer][form]
        text, dims = (self._padded if padded and self._padded else self.specs).texts[name], {}  # type: str, Dict[str, int]
        if rows is not None:
            dims["L"] = rows
        if form == "chunk":
            most = min(rows or CHUNK, CHUNK)
            dims["S"] = min(128, most)
            text, found = re.subn(r"(?m)^(dynamic: .*\bS: \[\d+), (\d+)\]", lambda m: f"{m[1]}, {min(most, int(m[2]))}]", text)
            assert found == 1, name
        if like.dtype not in DTYPES:
            raise TensorError(f"layer {layer} has weights of {like.dtype}; float32, float16 and bfloat16 are known")
        return {"spec": text, "name": name, "dtype": DTYPES[like.dtype], "dims": dims}

    def packed_forms(self, layer: int, like: torch.Tensor, target: str) -> List[Tuple[str, Optional[int]]]:
        """The fewest forms of a layer, with rows of their caches, that read all weights that any call will read, in every layout. One form
        may not do: on sm_90a prompts in f32 read TF32 terms of the weights, and steps of one token the weights themselves."""
        room = self.room or LEAST_ROOM
        forms = [("chunk", room), ("decode", room), ("prefill", None)] if self.specs.decodes else [("prefill", None)]
        key = (tuple(self.specs.layers[layer][form] for form, _ in forms), like.dtype, target)
        if key not in self.forms:
            options = {k: v for k, v in self.options.items() if k not in ("jobs", "cache_dir")}
            read: Set[str] = set()
            self.forms[key] = needed = []
            for form, rows in forms:
                weights = plan(target=target, **self._options(layer, form, rows, False, like), **options).weights
                if not weights <= read:
                    needed.append((form, rows))
                    read |= weights
        return self.forms[key]

    def rows_filled(self, filled: Any, positions: torch.Tensor, first: Optional[torch.Tensor], S: int, leads: bool,
                    batch: int) -> torch.Tensor:
        """Filled rows of each sequence's cache, [B]. filled: an int, or a tensor of one number. Each layer has such a tensor of its own, so
        a step of one token computes the rows from the positions instead, which all layers share and which were checked against the tensor.
        first: padding on the left of each text."""
        if isinstance(filled, int):
            key: Any = filled
        elif S > 1:
            return filled.to(torch.int32).expand(batch).contiguous()
        else:
            key = positions
        known, made = self.filled
        if torch.compiler.is_compiling() or leads or known is not key or len(made) != batch:
            if isinstance(filled, int):
                made = torch.full((batch,), filled, dtype=torch.int32, device=positions.device)
            else:
                made = positions[:, 0].to(torch.int32).expand(batch).contiguous()
                made = made if first is None else made + first
            if not torch.compiler.is_compiling():
                self.filled = key, made
        return made

    def recall(self, key: Any, leads: bool, *tensors: Optional[torch.Tensor]) -> Tuple[bool, Any]:
        """(True, the kept result) if these very tensors were checked before, else (False, None). The first layer of each kind (`leads`)
        always gets False, so that it checks in each call of the model; other layers check only if their tensors are others."""
        refs, kept = self.checked.get(key, (None, None))
        if leads or refs is None or any((r() if r else None) is not t for r, t in zip(refs, tensors)):
            return False, None
        return True, kept

    def keep(self, key: Any, kept: Any, *tensors: Optional[torch.Tensor]) -> None:
        self.checked[key] = tuple(weakref.ref(t) if t is not None else None for t in tensors), kept


def visible(mask: torch.Tensor) -> torch.Tensor:
    return mask if mask.dtype is torch.bool else mask == 0 if mask.is_floating_point() else mask != 0


def all_true(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.tfgen.all_true(x) if torch.compiler.is_compiling() else x.all()  # type: ignore[no-any-return]


def insist(good: torch.Tensor, text: str, wait: bool) -> None:
    """Fails unless `good`. wait (for a prompt): waits for the device and raises TensorError. Else (a step of one token, or a graph) it does
    not wait: the device itself stops with an assertion."""
    if wait:
        if not bool(good):
            raise TensorError(text)
    else:
        torch._assert_async(good, text)


REFUSED = ("attention_mask or position_ids are not those of texts: fused layers know padding on the left and on the right, and causal "
           "attention, but no packed texts and no other masks")
KEPT = "a fused layer is neither copied nor saved, and loads nothing, because its weights are packed: do that before replace()"


class Fused:
    """A layer's forward. It keeps packed weights; the layer's own modules are dropped."""

    def __init__(self, shared: Shared, index: int, layer: torch.nn.Module) -> None:
        self.shared, self.index, self.names = shared, index, list(inspect.signature(type(layer).forward).parameters)[1:]
        self.like = next(layer.parameters())
        specs = shared.specs
        self.decodes = specs.decodes
        text = specs.texts[specs.layers[index]["prefill"]]
        window = re.search(r"\bwindow: (\d+)", text)
        self.window = int(window[1]) if window else None
        self.leads = shared.leaders.setdefault(self.window, index) == index
        self.modules: Dict[Tuple[str, Optional[int], bool], Module] = {}  # by form, rows of the cache, and whether padded on the left
        self.weights: Optional[Weights] = None
        first = ("chunk", shared.room or LEAST_ROOM) if self.decodes else ("prefill", None)
        target = shared.compiled(index, *first, False, self.like).plan.manifest["target"]
        for form, rows in shared.packed_forms(index, self.like, target):
            self._module(form, rows, params=layer.state_dict())
        self.like = torch.empty(0, dtype=self.like.dtype, device=self.like.device)

    def _module(self, form: str, rows: Optional[int], padded: bool = False, params: Optional[Mapping[str, Any]] = None) -> Module:
        found = self.modules.get((form, rows, padded))
        return self._new_module(form, rows, padded, params) if found is None else found

    @torch.compiler.disable
    def _new_module(self, form: str, rows: Optional[int], padded: bool, params: Optional[Mapping[str, Any]]) -> Module:
        kernels = self.shared.compiled(self.index, form, rows, padded, self.like)
        self.weights = kernels.pack(params or {}) if self.weights is None else kernels.add_to(self.weights, params)
        made = self.modules[form, rows, padded] = Module(Layer(kernels, self.weights))
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        given = {**dict(zip(self.names, args)), **kwargs}
        for name in ("output_attentions", "encoder_hidden_states"):
            if given.get(name) is not None and given[name] is not False:
                raise TensorError(f"{name}: a fused layer has none")
        causal = given.get("is_causal")
        if causal is None and self.leads:
            causal = self.shared.causal()
        if causal is not None and causal is not self.decodes:
            raise TensorError(f"is_causal is {causal}: the specs of this model are {'' if self.decodes else 'not '}causal")
        x, mask = given["hidden_states"], given.get("attention_mask")
        cache = next((given[n] for n in CACHES if given.get(n) is not None), None)
        x = x if x.is_contiguous() else x.contiguous()
        if isinstance(mask, dict):
            raise TensorError("attention_mask should be a tensor")
        if not self.decodes:
            return self._encode(x, mask)
        positions = given.get("position_ids")
        if positions is None:
            raise TensorError("position_ids: a fused layer needs them")
        if cache is None:
            first = self._check(mask, positions, 0, None, None, x)
            return self._module("prefill", None)(x) if first is None else self._module("prefill", None, True)(x, first)
        return self._cached(x, mask, positions, rows_of(cache, self.index, self.shared.room))

    def _check(self, mask: Optional[torch.Tensor], positions: torch.Tensor, filled: Any, rows: Optional[int],
               first: Optional[torch.Tensor], x: torch.Tensor) -> Optional[torch.Tensor]:
        """Fails unless the mask is that of causal texts, padded on the right or on the left, and positions continue those of the cache.
        Returns the rows of padding on the left of each text, [B], or None if there are none. filled: tokens in the cache, an int or a
        tensor of one number. rows: of the cache. first: the padding that the cache recorded. Layers of a kind share one check per call of
        the model."""
        S, compiling, shared = x.shape[1], torch.compiler.is_compiling(), self.shared
        same, kept = (not self.leads, first) if compiling else shared.recall(self.window, self.leads, mask, positions)
        if same:
            return kept
        wait = S > 1 and not compiling and not (x.is_cuda and torch.cuda.is_current_stream_capturing())
        where = torch.arange(S, device=x.device) + filled
        if mask is not None and wait and first is None and isinstance(filled, int) and filled == 0:
            keys = visible(mask).flatten(1, -2).any(1) if mask.dim() == 4 else visible(mask)
            first = keys.to(torch.int32).argmax(-1).to(torch.int32).expand(x.shape[0]).contiguous()
            first = first if bool(first.any()) else None
        ahead = torch.zeros(1, 1, dtype=torch.int64, device=x.device) if first is None else first[:, None]
        good = ((positions == where - ahead) | (where < ahead)).all()
        if rows is not None:
            good = good & (where[-1] < rows)
        if mask is not None:
            good = good & self._causal(visible(mask), where, ahead, S)
        insist(good, REFUSED, wait)
        if not compiling:
            shared.keep(self.window, first, mask, positions)
        return first

    def _causal(self, seen: torch.Tensor, where: torch.Tensor, ahead: torch.Tensor, S: int) -> torch.Tensor:
        """Whether a mask [B, 1, S, L] or [B, L] hides nothing but padding, later tokens and those before the window. What padding sees does
        not matter."""
        keys = torch.arange(seen.shape[-1], device=seen.device)
        ends = (seen * (keys + 1)).flatten(1).amax(1)[:, None] if S > 1 else keys[-1:] + 1  # padding on the right begins there
        text = (keys >= ahead) & (keys < ends)
        if seen.dim() == 2:
            return all_true(seen == text)
        want = keys <= where[:, None]
        if self.window:
            want = want & (keys > where[:, None] - self.window)
        return all_true((seen == (want & text[:, None, None])) | (where < ahead)[:, None, :, None])

    def _cached(self, x: torch.Tensor, mask: Optional[torch.Tensor], positions: torch.Tensor, cache: Any) -> torch.Tensor:
        batch, S, _ = x.shape
        shape, compiling = self._cache_shape(), torch.compiler.is_compiling()
        if type(cache) is Rows:
            rows, filled = cache.reserve((batch, *shape), S, x.dtype, x.device), cache.length
        else:
            if not cache.is_initialized:
                none = torch.empty(batch, shape[0], 0, shape[1], dtype=x.dtype, device=x.device)
                cache.lazy_initialization(none, none)
            rows, filled = cache.max_cache_len, cache.cumulative_length
            filled = 0 if S > 1 and not compiling and not int(filled) else filled
        cache.first = first = self._check(mask, positions, filled, rows, cache.first, x)
        if type(cache) is not Rows and not compiling:
            self._module("decode", rows, first is not None)  # made here, as a compiled step cannot make it
        at = self.shared.rows_filled(filled, positions, first, S, self.leads, batch)
        if S == 1:
            y = self._call("decode", rows, first, x, at, cache)
        else:
            parts = []
            for i in range(0, S, min(CHUNK, rows)):
                parts.append(self._call("chunk", rows, first, x[:, i:i + min(CHUNK, rows)].contiguous(), at + i if i else at, cache))
            y = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
        if type(cache) is Rows:
            cache.length += S
        else:
            cache.cumulative_length.add_(S)
        return y

    def _call(self, form: str, rows: int, first: Optional[torch.Tensor], x: torch.Tensor, at: torch.Tensor, cache: Any) -> torch.Tensor:
        padding = {} if first is None else {"first": first}
        return self._module(form, rows, first is not None)(x=x, pos=at, k_cache=cache.keys, v_cache=cache.values, **padding)

    def _cache_shape(self) -> Tuple[int, int]:
        """KV and hd of the cache."""
        tensors = next(iter(self.modules.values())).layer.tensors
        _, heads, _, size = next(t.shape for t in tensors if t.kind == "state")
        return heads, size

    def _encode(self, x: torch.Tensor, mask: Optional[torch.Tensor]) -> torch.Tensor:
        compiling = torch.compiler.is_compiling()
        same, kept = (False, None) if compiling else self.shared.recall("encoder", self.leads, mask)
        if same and kept[0] == x.shape[:2]:
            lengths = kept[1]
        else:
            lengths = self._lengths(*x.shape[:2], mask, x.device)
            if not compiling:
                self.shared.keep("encoder", (x.shape[:2], lengths), mask)
        return self._module("prefill", None)(x, lengths)

    def _lengths(self, batch: int, S: int, mask: Optional[torch.Tensor], device: torch.device) -> torch.Tensor:
        """The number of tokens in each of an encoder's texts. A compiled graph counts them in every layer, but checks the mask only in the
        first."""
        if mask is None:
            return torch.full((batch,), S, dtype=torch.int32, device=device)
        seen = visible(mask)
        first = seen[:, 0, 0] if mask.dim() == 4 else seen
        n = first.sum(-1)
        want = torch.arange(S, device=device) < n[:, None]
        compiling = torch.compiler.is_compiling()
        if self.leads or not compiling:
            good = all_true(seen == (want[:, None, None] if mask.dim() == 4 else want)) & all_true(n > 0)
            insist(good, REFUSED, not compiling)
        return n.to(torch.int32).expand(batch).contiguous()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError(KEPT)


@functools.lru_cache(maxsize=None)
def fused_class(original: type) -> type:
    """The class of fused layers: derived from the original class, so that transformers still records hidden states, but without the
    original's submodules."""

    class FusedLayer(original):  # type: ignore[misc, valid-type]
        def forward(self, *args: Any, **kwargs: Any) -> torch.Tensor:
            return self.fused(*args, **kwargs)

        def train(self, mode: bool = True) -> torch.nn.Module:
            if mode:
                raise RuntimeError("a fused layer has no gradients: train the model before replace()")
            return super().train(False)

        def _save_to_state_dict(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError(KEPT)  # otherwise a checkpoint would lack these layers

        def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError(KEPT)

    FusedLayer.__name__ = FusedLayer.__qualname__ = original.__name__
    return FusedLayer


def check_whole(layer: torch.nn.Module, index: int) -> None:
    """Refuses a layer whose forward is wrapped, or whose weights are elsewhere: accelerate does both, by hooks."""
    for name, m in layer.named_modules():
        forward = vars(m).get("forward")  # accelerate leaves the class's own where it removed a hook
        if hasattr(m, "_hf_hook") or (forward is not None and getattr(forward, "__func__", None) is not type(m).forward):
            raise RuntimeError(f"layer {index}{'.' * bool(name)}{name}: its forward is wrapped, by accelerate's hooks for example "
                               "(device_map, offloading): load the model onto one device without them, or call "
                               "accelerate.hooks.remove_hook_from_module(model, recurse=True)")
    elsewhere = next((n for n, p in layer.named_parameters() if p.is_meta), None)
    if elsewhere:
        raise RuntimeError(f"layer {index}: {elsewhere} is on the device meta, so its numbers are not loaded, or were offloaded")


def fuse(layer: torch.nn.Module, index: int, shared: Shared) -> None:
    """Makes a layer of transformers run fused, in place."""
    check_whole(layer, index)
    fused = Fused(shared, index, layer)
    layer._modules.clear()
    vars(layer).pop("forward", None)
    layer.__class__ = fused_class(type(layer))
    layer.fused = fused  # type: ignore[assignment]


def layers_of(model: torch.nn.Module, specs: Specs) -> torch.nn.ModuleList:
    """The model's list of layers: the ModuleList of the name that `tfgen import` gives, with as many entries as the specs have layers."""
    last = specs.prefix.split(".{layer}")[0].split(".")[-1]
    found = [m for name, m in model.named_modules()
             if isinstance(m, torch.nn.ModuleList) and name.split(".")[-1] == last and len(m) == len(specs.layers)]
    if any("fused" in vars(layer) for m in found for layer in m):
        raise RuntimeError("the model's layers are fused already")
    if len(found) != 1:
        raise _binding.UnsupportedError(f"{type(model).__name__}: {len(found)} lists `{last}` of {len(specs.layers)} layers")
    return found[0]


def replace(model: torch.nn.Module, *, room: Optional[int] = None, **options: Any) -> torch.nn.Module:
    """Fuses the layers of a model of transformers, in place, and returns it. Weights are packed, and the originals freed, layer by
    layer: memory never holds two copies of more than one. Where prompts and steps read weights in two layouts it holds both
    (docs/python.md).

    model: on its device, in eval mode (float32, float16 or bfloat16).
    room: the longest text, generated tokens included; then caches have that size from the beginning. None: caches grow by powers of two,
        from 1024 rows; for each size, kernels are compiled or come from the cache on disk.
    options: those of tfgen.compile(): wisdom, tiles, fusion, jobs, cache_dir.

    model.generate() works with its default DynamicCache and with a StaticCache, greedy, sampling or beams. Texts may be padded, prompts
    of generate() on the left; other masks raise TensorError (for a prompt; in a step of one token the device asserts).
    torch.compile() takes steps with a StaticCache whole, after a first call without it, as generate() calls them. Threads may call the
    model at once, each with its own cache. There are no gradients and no attention weights. Copying the model, state_dict() and
    load_state_dict() raise RuntimeError. Raises UnsupportedError or SpecError for models of other families than FAMILIES, and for those
    that `tfgen import` refuses (docs/import.md)."""
    if model.training:
        raise RuntimeError("a fused layer has no gradients: call model.eval() first")
    shared = Shared(model.config, room, options)
    layers = layers_of(model, shared.specs)
    given = packed = 0
    for i, layer in enumerate(layers):
        check_whole(layer, i)  # all of them before the first is changed
    with torch.no_grad():
        for i, layer in enumerate(layers):
            given += sum(p.numel() * p.element_size() for p in layer.parameters())
            fuse(layer, i, shared)
            packed += layer.fused.weights.bytes
    logger.info("%d layers fused: %d bytes of weights packed into %d, and the originals freed", len(layers), given, packed)
    return model


# ---- before from_pretrained

# By id() of the config. A model's fused layers keep its Shared alive, which keeps the config, so no other object gets that id().
_shared: "weakref.WeakValueDictionary[int, Shared]" = weakref.WeakValueDictionary()


def patched(original: type, room: Optional[int], options: Mapping[str, Any]) -> type:
    """A subclass that is fused at its first call, when its weights are there."""

    class Patched(original):  # type: ignore[misc, valid-type]
        def __init__(self, config: Any, layer_idx: Optional[int] = None) -> None:
            super().__init__(config, layer_idx)
            self._tfgen = config, layer_idx

        @functools.wraps(original.forward)
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            config, index = self._tfgen
            if self.training:
                raise RuntimeError("a fused layer has no gradients: call model.eval() first")
            shared = _shared.get(id(config))
            if shared is None:
                shared = _shared[id(config)] = Shared(config, room, options)
            with torch.no_grad():
                fuse(self, index, shared)
            return self.forward(*args, **kwargs)

    Patched.__name__ = Patched.__qualname__ = original.__name__
    return Patched


def hide_missing() -> None:
    """from_pretrained calls dir() on all modules of transformers to find the classes to replace. For some lazy modules dir() imports
    torchvision or Pillow, and fails where these are missing: from now on dir() of such a module is empty."""
    for name, module in list(sys.modules.items()):
        if name.startswith("transformers.") and module is not None:
            try:
                dir(module)
            except Exception:  # ImportError, and NameError of what an import would have defined
                module.__dir__ = list  # type: ignore[method-assign]


def register(*, room: Optional[int] = None, **options: Any) -> None:
    """Layers of Llama, Qwen3, Gemma 3 and BERT are fused in every model made from now on, by transformers' register_patch_mapping(): at
    their first call, when their weights are loaded. room, options: as of replace()."""
    mapping = {}
    for name, module in CLASSES.items():
        mapping[name] = patched(getattr(importlib.import_module(f"transformers.models.{module}"), name), room, options)
    hide_missing()
    monkey_patching.register_patch_mapping(mapping, overwrite=True)


def unregister() -> None:
    """Models that are made from now on have their own layers."""
    monkey_patching.unregister_patch_mapping(list(CLASSES))
