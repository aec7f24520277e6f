"""What crosses between a GPU's SMs here and its memory in another simulator.

Both sides go through time in windows. When the SMs have gone through one that ends at cycle
``end``, the memory hears what they sent in it, goes on to ``end`` itself, and tells what it has
answered by then. A request arrives at a partition ``latency`` cycles after it was sent, an answer
at the SM as long after it left: no window is longer, so neither side hears of anything too late.
"""

import enum
from typing import Protocol

import msgspec
import numpy as np

REQUEST = np.dtype(
    [
        ("id", "i8"),  # to be named in the answer; the least that is free
        ("address", "i8"),  # of the line
        ("cycle", "i8"),  # at which it is at the partition; no earlier than the window's end
        ("sm", "i4"),
        ("partition", "i4"),
        ("bytes", "i4"),  # of all its sectors
        ("full", "u2"),  # bit s: all of sector s is written; atomics: most lanes on one word
        ("kind", "u1"),  # one of Kind
        ("sectors", "u1"),  # bit s: sector s of the line is meant
    ]
)
ANSWER = np.dtype(
    [
        ("id", "i8"),
        ("cycle", "i8"),  # at which it leaves the partition, in the window that has ended
    ]
)


class Kind(enum.IntEnum):
    """What a request asks for. Reads and atomics are answered with data, others acknowledged."""

    READ = 0
    WRITE = 1
    ATOMIC = 2
    REDUCTION = 3  # an atomic operation without a result


class Interface(msgspec.Struct, frozen=True):
    """What a memory is told of a GPU before the first window."""

    gpu: str
    sms: int
    partitions: int
    line_bytes: int
    sector_bytes: int
    latency: int  # cycles from an SM to a partition, and back; the longest window
    in_flight: int  # most requests that are not answered at any time
    clock_hz: float  # of cycles


class OutsideMemory(Protocol):
    """A model of all that is behind the crossbar: L2, memory controllers, DRAM."""

    def begin(self, interface: Interface) -> None:
        """A run begins at cycle 0."""
        ...

    def exchange(self, end: int, requests: np.ndarray) -> np.ndarray:
        """Go through time up to cycle ``end``; ANSWER records of what left before it.

        ``requests``: REQUEST records of what SMs have sent in the window that ends there, by SM, in
        the order of sending. They arrive at ``end`` or later. The order of answers does not matter.
        """
        ...

    def close(self) -> None:
        """The run is over."""
        ...
