"""Layers as an op and modules of PyTorch, for torch.compile, torch.export and CUDA graphs. Importing it imports PyTorch.

    import tfgen.torch
    block = tfgen.torch.Module(tfgen.compile("block.yaml", params=state_dict, device="cuda"))
    y = torch.compile(block, fullgraph=True)(x)

The ops are tfgen::execute_N(int layer, Tensor[] inputs) -> (Tensor, ...) and, of layers with states, which they change in place,
tfgen::update_N(int layer, Tensor[] inputs, Tensor(a!)[] states) -> (Tensor, ...): one for each number N of outputs, as PyTorch
functionalises no op that changes tensors and returns a list. `layer` is a number that names a Layer in this process: an exported program
runs only where that layer still exists. tfgen::all_true(Tensor x) -> Tensor is of use to tfgen.transformers alone."""
import functools
import itertools
import operator
import weakref
from typing import Any, List, Mapping, Sequence, Tuple, Union

import torch
from torch.autograd import forward_ad

from . import _arrays
from ._layer import Kernels, Layer

_layers: "weakref.WeakValueDictionary[int, Layer]" = weakref.WeakValueDictionary()
_numbers = itertools.count(1)
_library = torch.library.Library("tfgen", "DEF")


# One bool: whether all elements of a bool tensor are true. Inductor does not see through it: x.all() followed by an assertion becomes
# one Triton kernel that is compiled with overflow checks, which takes Triton 3.6 minutes from 8192 elements on.
_library.define("all_true(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.impl("all_true", lambda x: x.all(), "CompositeExplicitAutograd")
torch.library.register_fake("tfgen::all_true", lambda x: x.new_empty((), dtype=torch.bool), lib=_library)


def number_of(layer: Layer) -> int:
    """The number by which the op knows a layer; the layer must be kept alive as long as it is called."""
    number = layer.__dict__.get("_number")
    if number is None:
        number = layer._number = next(_numbers)  # type: ignore[attr-defined]
        _layers[number] = layer
    return number


def _named(number: int) -> Layer:
    layer = _layers.get(int(number))
    if layer is None:
        raise RuntimeError(f"tfgen: there is no layer {int(number)} in this process: it was freed, or made in another one")
    return layer


def names_of(kernels: Kernels) -> Tuple[List[str], List[str]]:
    """Names of a call's inputs (and params of dynamic shape), and of its states, in the spec's order."""
    given = [kernels.plan.tensors[i] for i in kernels.given]
    return [t.name for t in given if t.kind != "state"], [t.name for t in given if t.kind == "state"]


def _given(layer: Layer, inputs: Sequence[torch.Tensor], states: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """The tensors in the order of the kernels' `given`."""
    ins, kept = layer.__dict__.get("_names") or layer.__dict__.setdefault("_names", names_of(layer.kernels))
    if len(inputs) != len(ins) or len(states) != len(kept):
        raise RuntimeError(f"tfgen: the layer takes inputs [{', '.join(ins)}] and states [{', '.join(kept)}]")
    return layer.kernels.in_order(dict(zip((*ins, *kept), (*inputs, *states))))


def _execute(number: int, inputs: List[torch.Tensor], states: Sequence[torch.Tensor] = ()) -> Tuple[torch.Tensor, ...]:
    layer = _named(number)
    outputs = layer.issue(_arrays.torch_arrays(torch, layer.kernels.device_name), _given(layer, inputs, states))
    if states:
        torch.autograd.graph.increment_version(states)
    return tuple(outputs)


def _fake(number: int, inputs: List[torch.Tensor], states: Sequence[torch.Tensor] = ()) -> Tuple[torch.Tensor, ...]:
    """Shapes and dtypes of the outputs; sizes may be symbolic. Refuses what the layer would."""
    layer = _named(number)
    kernels, given = layer.kernels, _given(layer, inputs, states)
    arrays = _arrays.torch_arrays(torch, kernels.device_name)
    dims = kernels.bind(arrays.gather(kernels.given_specs, given, None))
    return tuple(arrays.empty(kernels.plan.tensors[i], kernels.axes[i].shape(dims)) for i in kernels.outputs)


def _refuse_gradients(outputs: int, changes: bool) -> Any:
    """The op's kernel for autograd: without one PyTorch would only warn, in the backward pass, and take gradients of zero."""
    def below(keys: Any, number: int, inputs: Sequence[torch.Tensor], *states: Sequence[torch.Tensor]) -> Any:
        tensors = (*inputs, *(states[0] if states else ()))
        if forward_ad._current_level >= 0:
            layer = _named(number)
            _arrays.torch_arrays(torch, layer.device).refuse_tangents(layer.plan.block, tensors)
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            layer = _named(number)
            given = zip(layer.kernels.given_specs, _given(layer, inputs, states[0] if states else ()))
            arrays = _arrays.torch_arrays(torch, layer.device)
            raise next(arrays.refusal(spec, t) for (_, spec), t in given if t.requires_grad)
        with torch._C._AutoDispatchBelowAutograd():
            return op_of(outputs, changes).redispatch(keys & torch._C._after_autograd_keyset, number, inputs, *states)
    return below


def _refuse_negated(number: int, inputs: Sequence[torch.Tensor], states: Sequence[torch.Tensor] = ()) -> None:
    """Refuses tensors that PyTorch would otherwise copy: an update of a state would then change the copy."""
    layer = _named(number)
    given = _given(layer, inputs, states)
    _arrays.torch_arrays(torch, layer.device).gather(layer.kernels.given_specs, given, None)


@functools.lru_cache(maxsize=None)
def op_of(outputs: int, changes: bool) -> Any:
    """The op of layers with this number of outputs, with or without states."""
    name, states = (f"update_{outputs}", ", Tensor(a!)[] states") if changes else (f"execute_{outputs}", "")
    returned = "Tensor" if outputs == 1 else "(" + ", ".join(["Tensor"] * outputs) + ")"
    _library.define(f"{name}(int layer, Tensor[] inputs{states}) -> {returned}", tags=(torch.Tag.pt2_compliant_tag,))
    one, fake = (_execute, _fake) if outputs > 1 else (lambda *a: _execute(*a)[0], lambda *a: _fake(*a)[0])
    for key in ("CPU", "CUDA"):
        _library.impl(name, one, key)
    _library.impl(name, _refuse_negated, "Negative")
    _library.impl(name, _refuse_gradients(outputs, changes), "Autograd", with_keyset=True)
    torch.library.register_fake(f"tfgen::{name}", fake, lib=_library)
    return getattr(torch.ops.tfgen, name).default


def call(layer: Layer, given: Sequence[torch.Tensor]) -> Any:
    """A call by the op, with tensors in the order of the kernels' `given`; its result."""
    number, (ins, kept) = number_of(layer), layer.__dict__.get("_names") or layer.__dict__.setdefault("_names", names_of(layer.kernels))
    wrong = next(((spec, t) for (_, spec), t in zip(layer.kernels.given_specs, given) if not isinstance(t, torch.Tensor)), None)
    if wrong:
        raise _arrays.torch_arrays(torch, layer.device).refusal(*wrong)
    by_name = dict(zip(layer.kernels.names, given))
    op, inputs = op_of(len(layer.kernels.outputs), bool(kept)), [by_name[n] for n in ins]
    return op(number, inputs, [by_name[n] for n in kept]) if kept else op(number, inputs)


class Module(torch.nn.Module):
    """A layer as a module without parameters: its weights are packed, and belong to the layer.

    forward takes the inputs and states in the spec's order, or by name, and returns the output, or a tuple of them. Tensors: as Layer says.
    There are no gradients: train() raises RuntimeError, and so does a tensor that requires one while they are recorded."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.layer, self.number = layer, number_of(layer)
        self.inputs, self.states = names_of(layer.kernels)
        self.order = tuple(layer.kernels.names)
        self.arrays = _arrays.torch_arrays(torch, layer.kernels.device_name)
        places = [i for i, name in enumerate(self.order) if name in self.states]
        self.states_of = operator.itemgetter(*places) if places else None  # picks the states from a call's tensors
        self.op = op_of(len(layer.kernels.outputs), bool(self.states))
        super().train(False)

    def train(self, mode: bool = True) -> "Module":
        if mode:
            raise RuntimeError(f"{self.layer.plan.block}: a fused layer has no gradients: call eval(), or train the model without it")
        return super().train(False)

    def forward(self, *tensors: torch.Tensor, **named: torch.Tensor) -> Union[torch.Tensor, Tuple[torch.Tensor, ...]]:
        given = tensors if len(tensors) == len(self.order) and not named else self._in_order(tensors, named)
        if self.arrays.unobserved(given):
            outputs = self.layer.issue(self.arrays, given)
            if self.states_of:
                torch.autograd.graph.increment_version(self.states_of(given))
            return tuple(outputs) if len(outputs) > 1 else outputs[0]
        by_name = dict(zip(self.order, given))
        inputs = [by_name[n] for n in self.inputs]
        if self.states:
            return self.op(self.number, inputs, [by_name[n] for n in self.states])
        return self.op(self.number, inputs)

    def _in_order(self, tensors: Sequence[torch.Tensor], named: Mapping[str, torch.Tensor]) -> Sequence[torch.Tensor]:
        if len(tensors) > len(self.order):
            raise TypeError(f"{len(tensors)} tensors; the layer takes {', '.join(self.order)}")
        given = dict(zip(self.order, tensors))
        for name, tensor in named.items():
            if name not in self.order or name in given:
                raise TypeError(f"{name}: {'given twice' if name in given else 'the plan has no such tensor'}; the layer takes "
                                f"{', '.join(self.order)}")
            given[name] = tensor
        for name in self.order:
            if name not in given:
                raise TypeError(f"{name}: missing; the layer takes {', '.join(self.order)}")
        return [given[name] for name in self.order]

    def extra_repr(self) -> str:
        return f"{self.layer.plan.block} on {self.layer.device}"
