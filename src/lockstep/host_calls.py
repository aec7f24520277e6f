"""What the host of a GPU does beside launching kernels: copies, and calls that take time or wait.

A workload lists them among its kernels, in the order of the program. Where the host takes no time
(``GPU.host.copy`` is "instant") copies to the device alone have an effect.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

import msgspec
import numpy as np

from lockstep.errors import WorkloadError

_INTEGERS = (int, np.integer)  # an abstract class takes ten times as long to ask for

CallKind = Literal["register", "allocate", "free", "copy", "launch", "synchronize", "query"]
"""Kinds of calls with a cost of their own: the fields of ``GPU.host.call_ns``."""


class Direction(IntEnum):
    """Where a copy goes."""

    TO_DEVICE = 0
    TO_HOST = 1
    ON_DEVICE = 2  # within device memory
    FILL = 3  # device memory is filled with a value
    PEER = 4  # from the memory of one device to that of another


@dataclass(frozen=True, slots=True)
class MemoryCopy:
    """A copy. One from the host passes through the L2 and leaves its data there.

    Raises :class:`WorkloadError` for numbers that no copy has.
    """

    address: int  # of 64 bits; the upper half as negative numbers, the int64 of the same bits
    bytes: int
    direction: Direction = Direction.TO_DEVICE
    stream: int = 0
    blocking: bool = True  # the host waits for its end
    perform: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    """Moves the data, in the order of the streams; None: that was done."""

    def __post_init__(self) -> None:
        address, size = self.address, self.bytes
        if not isinstance(address, _INTEGERS) or not -(1 << 63) <= address < 1 << 63:
            raise WorkloadError(
                f"memory copy to {address!r}; expected an address of 64 signed bits"
            )
        if not isinstance(size, _INTEGERS) or not 0 <= size < 1 << 63:
            raise WorkloadError(f"memory copy of {size!r} bytes; expected 0 to {(1 << 63) - 1}")


@dataclass(frozen=True, slots=True)
class PeerCopy(MemoryCopy):
    """A copy from one device to another: a stream of any of them has it."""

    direction: Direction = Direction.PEER
    source: int = 0
    to: int = 0
    staged: bool = False  # by way of the host: one of them has no access to the other


class SetDevice(msgspec.Struct, frozen=True):
    """What follows is of another device: its streams, kernels, and copies between it and the host.

    Events are of no device; the first command of a run is of device 0.
    """

    device: int


class HostCall(msgspec.Struct, frozen=True):
    """What keeps the host busy and asks for nothing; ``picoseconds`` come on top.

    Without a kind it is no call, but what the program does between its calls.
    """

    kind: CallKind | None
    name: str = ""  # of the function
    picoseconds: int = 0


class Synchronize(msgspec.Struct, frozen=True):
    """The host waits for what a stream has so far (None: all streams), or for an event alone."""

    stream: int | None = None
    event: int | None = None
    kind: CallKind = "synchronize"


class OpenStream(msgspec.Struct, frozen=True):
    """A stream that waits for no other, and for which the default stream does not wait."""

    stream: int


class RecordEvent(msgspec.Struct, frozen=True):
    """Something happens when all that a stream has so far is done; ``event``: its number."""

    event: int
    stream: int = 0


class WaitEvent(msgspec.Struct, frozen=True):
    """What a stream gets from now on waits for an event that was recorded."""

    event: int
    stream: int = 0


class Managed(msgspec.Struct, frozen=True):
    """Memory is managed from now on, and the host has it; or it is not any more."""

    address: int
    bytes: int
    managed: bool = True


class HostAccess(msgspec.Struct, frozen=True):
    """The program accesses managed memory: pages that are on the GPU come back."""

    address: int
    bytes: int


HostCommand = (
    HostCall | Synchronize | OpenStream | RecordEvent | WaitEvent | Managed | HostAccess | SetDevice
)
"""What has no effect where the host takes no time."""
