"""An instruction emulator for AMD GPU code objects (gfx90a, gfx942, gfx950, gfx11, gfx12) on the CPU.

Instruction semantics come from tinygrad's emulator (a checkout named by TINYGRAD_DIR): each instruction becomes a small native
function. The C files here dispatch them and replace those that are missing or wrong there: matrix, memory and LDS instructions.
"""
from .code_object import CodeObject
from .launch import Machine, Result
from .errors import EmulatorError, GpuFault

__all__ = ["CodeObject", "Machine", "Result", "EmulatorError", "GpuFault"]
