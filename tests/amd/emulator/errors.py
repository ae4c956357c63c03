"""What the emulator raises."""


class EmulatorError(RuntimeError):
    """The code object or an instruction cannot be emulated, or a limit was reached."""


class GpuFault(EmulatorError):
    """The kernel itself is wrong: an access outside every buffer, LDS or scratch, or a jump out of the code."""
