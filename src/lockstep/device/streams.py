"""Streams and events: what may run at the same time, and when things happened."""

from typing import Protocol

from lockstep.device.launch import Launch
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError
from lockstep.gpus.clock import HostClock
from lockstep.host_calls import OpenStream, RecordEvent, Synchronize, WaitEvent


class Stream:
    """Launches of one stream run one after the other, those of several at the same time.

    Unlike CUDA's default stream, stream 0 waits for no other, unless the host takes time
    (``gpu.host.copy``).
    """

    def __init__(self, device: OwningDevice, number: int):
        self.device, self.number = device, number
        self.last: Launch | None = None

    def __repr__(self) -> str:
        return f"<Stream {self.number}>"

    @property
    def has_work(self) -> bool:
        """Whether launches of it are still to be simulated, or recorded as if they were."""
        timing, recorder = self.device.timing, self.device.recorder
        if timing is not None:
            return self.last is not None and timing.queues(self.last)
        return recorder is not None and recorder.awaits(self.number)

    def synchronize(self) -> None:
        """Wait for the launches of the stream."""
        self.device.asks(Synchronize(self.number))
        self.device.drain()

    def wait(self, event: "Event") -> None:
        """What the stream gets from now on waits for an event.

        Where the host takes no time, what is before the event is done at once instead, and
        everything else that waits with it.
        """
        self.device.asks(WaitEvent(event.number, self.number))
        if not self.device.host_takes_time and event.is_behind_others(self):
            event.device.drain()


class StreamTable:
    """The streams of a device, by their numbers; 0 is the default one."""

    def __init__(self, device: OwningDevice):
        self._device, self._streams = device, {0: Stream(device, 0)}

    def open(self, blocking: bool) -> Stream:
        """A new stream; one that is not ``blocking`` waits for no default stream."""
        number = len(self._streams)
        stream = self._streams[number] = Stream(self._device, number)
        if not blocking:
            self._device.asks(OpenStream(number))
        return stream

    def find(self, stream: "Stream | int | None") -> Stream:
        """A stream by itself or its number; raises :class:`LockstepError` for one of others."""
        number = stream.number if isinstance(stream, Stream) else stream or 0
        if number not in self._streams or getattr(stream, "device", self._device) is not (
            self._device
        ):
            raise LockstepError(f"{stream!r} is no stream of this device")
        return self._streams[number]


class StreamOwner(OwningDevice, Protocol):
    """A device that has streams."""

    default_stream: Stream

    def next_event(self) -> int:
        """The number of the next event that is recorded."""
        ...


class Event:
    """A point of a stream: after all that was launched in it before ``record``."""

    def __init__(self, device: StreamOwner):
        self.device = device
        self._number = 0  # 0 = not recorded
        self._after: Launch | None = None
        self._earliest = -1  # cycle; -1 = not recorded

    def record(self, stream: Stream | None = None) -> "Event":
        """Place the event behind what ``stream`` (the default one, if None) has so far.

        Raises :class:`LockstepError` for a stream of another device.
        """
        stream = self.device.default_stream if stream is None else stream
        if stream.device is not self.device:
            raise LockstepError(
                f"an event of GPU {self.device.index} in a stream of GPU {stream.device.index}: "
                "it is recorded in streams of its own; others may wait for it"
            )
        self._after, self._earliest = stream.last, self.device.clock
        self._number = self.device.next_event()
        self.device.asks(RecordEvent(self._number, stream.number))
        return self

    @property
    def number(self) -> int:
        """Of the place where it was recorded last; :class:`LockstepError` if it was not."""
        if self._number == 0:
            raise LockstepError("the event was not recorded")
        return self._number

    def is_behind_others(self, stream: Stream) -> bool:
        """Whether the event may be behind launches that ``stream`` would not come after anyway."""
        if self._after is None:
            return False
        if self.device is stream.device and self._after.stream == stream.number:
            return False
        return self.device.timing.queues(self._after)

    def synchronize(self) -> None:
        """Wait for what is before the event."""
        self.device.asks(Synchronize(event=self.number))
        self.device.drain()

    @property
    def cycle(self) -> int:
        """The core cycle at which the event happened."""
        number = self.number
        if self.device.host_takes_time:
            self.device.drain()
            return HostClock(self.device.gpu.clock_mhz).cycle(self._time(number))
        end = self._after.timed().end if self._after is not None else 0
        return max(self._earliest, end)

    def _time(self, number: int) -> int:
        """Picoseconds from the beginning of the run."""
        events = self.device.timing.host_run().events
        if number not in events:
            raise LockstepError("the simulation ended before the event happened")
        return events[number]

    def elapsed(self, later: "Event") -> float:
        """Simulated milliseconds from this event to a later one."""
        return (later.cycle - self.cycle) / (self.device.gpu.clock_mhz * 1e3)
