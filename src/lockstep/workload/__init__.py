"""What front ends produce and the model consumes: a workload of kernels, served CTA by CTA.

Read ``workload.py``, ``kernel.py`` and ``code.py``, then ``streams.py``: what a CTA is. Here is
what every front end needs. Beside it: ``bulk_copies.py``, how such copies and what waits for them
are told; ``at_issue.py``, for kernels that are executed as they are simulated; ``warm.py``, what
caches hold before a launch; ``digest.py``, by which results know what they are of.
"""

from lockstep.host_calls import MemoryCopy
from lockstep.workload.code import Code, Origin
from lockstep.workload.kernel import (
    MOST_BLOCK,
    MOST_GRID,
    MOST_REGISTERS,
    MOST_SHARED_BYTES,
    NEWEST_ARCHITECTURE,
    Kernel,
)
from lockstep.workload.streams import ADDRESS, NOWHERE, RUN, WARP, Cta
from lockstep.workload.workload import Command, Workload

__all__ = [
    "ADDRESS",
    "MOST_BLOCK",
    "MOST_GRID",
    "MOST_REGISTERS",
    "MOST_SHARED_BYTES",
    "NEWEST_ARCHITECTURE",
    "NOWHERE",
    "RUN",
    "WARP",
    "Code",
    "Command",
    "Cta",
    "Kernel",
    "MemoryCopy",
    "Origin",
    "Workload",
]
