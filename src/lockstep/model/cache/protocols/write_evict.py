"""L1: as write-through, but a write takes the line along if other threads may see it.

Lines of local memory, which are a thread's own, are updated (GPGPU-Sim's ``L`` and ``E``).
"""

from lockstep._jit import inline
from lockstep.model.cache.protocols.write_through import atomic, fill, probe, readable

__all__ = ["atomic", "fill", "probe", "readable", "write"]


@inline
def write(way, sectors, full, local):
    """The line goes, but for a thread's own memory."""
    return local != 0
