"""Streams and events: what may run at the same time, and when things happened."""

from typing import Protocol

from lockstep.device.launch import Launch
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError


class Stream:
    """Launches of one stream run one after the other, those of several at the same time.

    Unlike CUDA's default stream, stream 0 waits for no other.
    """

    def __init__(self, device: OwningDevice, number: int):
        self.device, self.number = device, number
        self.last: Launch | None = None

    def __repr__(self) -> str:
        return f"<Stream {self.number}>"

    def synchronize(self) -> None:
        """Wait for the launches of the stream."""
        self.device.synchronize()


class StreamOwner(OwningDevice, Protocol):
    """A device that has streams."""

    default_stream: Stream


class Event:
    """A point of a stream: after all that was launched in it before ``record``."""

    def __init__(self, device: StreamOwner):
        self.device = device
        self._after: Launch | None = None
        self._earliest = -1  # cycle; -1 = not recorded

    def record(self, stream: Stream | None = None) -> "Event":
        """Place the event behind what ``stream`` (the default one, if None) has so far."""
        stream = self.device.default_stream if stream is None else stream
        self._after, self._earliest = stream.last, self.device.clock
        return self

    def synchronize(self) -> None:
        """Wait for what is before the event."""
        self.device.synchronize()

    @property
    def cycle(self) -> int:
        """The core cycle at which the event happened."""
        if self._earliest < 0:
            raise LockstepError("the event was not recorded")
        end = self._after.timed().end if self._after is not None else 0
        return max(self._earliest, end)

    def elapsed(self, later: "Event") -> float:
        """Simulated milliseconds from this event to a later one."""
        return (later.cycle - self.cycle) / (self.device.gpu.clock_mhz * 1e3)
