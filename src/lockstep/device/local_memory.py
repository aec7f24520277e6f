"""Local memory as an argument of a kernel."""

import msgspec

from lockstep.errors import WorkloadError


class LocalMemory(msgspec.Struct, frozen=True):
    """So many bytes for a ``__local`` pointer, in each work-group."""

    bytes: int


def local(size: int) -> LocalMemory:
    """``size`` bytes of local memory, for a ``__local`` pointer of an OpenCL kernel.

    ``module["matrixTranspose"][(64, 64), (16, 16)](out, in_, lockstep.local(4096), 64, 64, 16)``
    Raises :class:`WorkloadError` unless ``size`` is a whole number from 0 on.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise WorkloadError(f"local({size!r}): expected bytes, a whole number from 0 on")
    return LocalMemory(size)
