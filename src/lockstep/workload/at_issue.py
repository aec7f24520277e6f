"""Kernels that are executed while they are simulated: how the model and their sources talk."""

from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

import msgspec
import numpy as np

from lockstep.workload.streams import Cta


class Ask(IntEnum):
    """What the model wants of a kernel's :class:`Source`."""

    START = 0  # begin a CTA: the answer is its ``place``
    LOOK = 1  # where does the warp go on
    EXECUTE = 2  # execute the block that it was told then


class Answer(IntEnum):
    """What a :class:`Source` says of a warp."""

    ENDED = 0
    WAITS = 1  # for other warps: ask again later
    READY = 2


STEP_RUNS = 64
"""Most runs of a block that is executed at issue."""

STEP = np.dtype(
    [
        ("ask", "i8"),  # Ask
        ("cta", "i8"),  # linear id; to start one
        ("sm", "i8"),  # where it starts
        ("place", "i8"),  # of the CTA: said by the source
        ("warp", "i8"),  # in the CTA
        ("cycle", "i8"),  # now
        ("static", "i8"),  # READY to LOOK: the first instruction of the next block
        ("mask", "i8"),  # ... and the lanes that will execute it
        ("runs", "i8"),  # READY to EXECUTE: runs of the block, 1 to STEP_RUNS
        ("addresses", "i8"),  # ... and its address records, 0 or 1
        ("comes", "i8"),  # ... and the barrier at which all living lanes now wait, or -1
    ]
)
"""One question of the model to a kernel's source, and the answer."""


class Exchange(msgspec.Struct, frozen=True):
    """Memory in which the model and a source meet; the source writes all but the questions.

    Pool places in an address record count from the start of ``pool``.
    """

    step: np.ndarray  # STEP [1]
    runs: np.ndarray  # RUN [STEP_RUNS]
    addresses: np.ndarray  # ADDRESS [1]
    pool: np.ndarray  # int64 [threads of a warp]


class Source(Protocol):
    """Executes a kernel while it is simulated, a block when its first instruction issues.

    So a program whose path depends on time takes the path of the simulated time. Machine code at
    ``function``, ``int64 f(void *context, int32)``, answers one question in the exchange; the
    simulation calls it from one thread. A block holds at most one memory access, its first
    instruction.
    """

    @property
    def function(self) -> int:
        """Address of the machine code."""
        ...

    @property
    def context(self) -> int:
        """What it is called with."""
        ...

    @property
    def warp_instructions(self) -> int:
        """Executed so far."""
        ...

    @property
    def thread_instructions(self) -> int:
        """The same, times active lanes."""
        ...

    def failed(self) -> bool:
        """Whether the kernel ended early; all its warps end as soon as they ask."""
        ...

    def close(self) -> None:
        """The kernel has ended."""
        ...


Keep = Callable[[Cta], None]
"""Takes the streams of a CTA that was executed at issue, once it has ended."""
