"""Fused transformer layers from a YAML graph of ops, compiled at run time for the GPU, or the processor, at hand.

    import tfgen
    layer = tfgen.compile("swiglu.yaml", params=state_dict, dims={"B": 4, "S": 512}, dtype="bf16", device="cuda:0")
    y = layer(x=x)["y"]

compile() gives a Layer, plan() the kernels' sources without a device, tfgen.torch ops and modules for torch.compile and torch.export."""
from ._arrays import TensorError, TensorSpec
from ._binding import CompileError, DeviceError, Error, SpecError, UnsupportedError, UsageError, library as _library
from ._layer import Call, Device, Layer, Plan, Weights, compile, devices, plan

__all__ = ["Call", "CompileError", "Device", "DeviceError", "Error", "Layer", "Plan", "SpecError", "TensorError", "TensorSpec",
           "UnsupportedError", "UsageError", "Weights", "compile", "devices", "plan", "version"]


def version() -> str:
    """Version of the loaded libtfgen."""
    return _library().c.tfgen_version().decode()
