"""The streams and events of one program, and the calls about them."""

from collections.abc import Callable

from lockstep.device import Device, Stream
from lockstep.frontend.cuda.calls import BLOCKING, NON_BLOCKING
from lockstep.host_calls import Synchronize
from lockstep.runtime.answers import CallAnswer, Handles, Refused
from lockstep.runtime.simulator import Moment, Simulator
from lockstep.runtime.status import Status

FIRST_HANDLE = 0x1000  # above the numbers that CUDA gives to its default streams


class ProgramStreams:
    """Streams and events by their handles."""

    def __init__(
        self, simulator: Simulator, new_handle: Callable[[], int], current: Callable[[], Device]
    ):
        """``current``: the device that the program has set."""
        self.simulator, self._new_handle, self._current = simulator, new_handle, current
        self._streams: dict[int, Stream] = Handles()
        self._events: dict[int, Moment | None] = Handles()
        self._homes: dict[int, Device] = {}  # of the events
        # those that the default stream waits for, and they for it
        self._blocking: list[Stream] = []

    @property
    def device(self) -> Device:
        """That the program has set."""
        return self._current()

    def find(self, handle: int) -> Stream:
        """A stream; CUDA's numbers for the default one stand for stream 0 of the device."""
        return self.device.default_stream if handle < FIRST_HANDLE else self._streams[handle]

    def find_for_kernel(self, handle: int) -> Stream:
        """The stream of a launch, which must be of the device that the program has set."""
        stream = self.find(handle)
        if stream.device is not self.device:
            raise Refused(
                Status.INVALID_HANDLE,
                f"a kernel is launched on GPU {self.device.index} in a stream of GPU "
                f"{stream.device.index}: call cudaSetDevice({stream.device.index}) before",
            )
        if not stream.device.host_takes_time:
            self._follow(stream)
        return stream

    def _follow(self, stream: Stream) -> None:
        """Let what the default stream and another would do at the same time be done before."""
        device = self.device
        others = [device.default_stream] if stream in self._blocking else []
        if stream is device.default_stream:
            others = [other for other in self._blocking if other.device is device]
        if any(other.has_work for other in others):
            device.drain()

    def find_for_copy(self, handle: int) -> tuple[Stream, bool]:
        """The stream of a copy, and whether the program waits for it."""
        return self.find(handle), handle == BLOCKING

    def clear(self) -> None:
        """Forget all of them."""
        self._streams.clear()
        self._events.clear()
        self._homes.clear()
        self._blocking.clear()

    def synchronize(self, fields: dict, data: bytes) -> CallAnswer:
        """Wait for all launches; in the model's time for a stream or an event, if one is given."""
        stream, event = self.find(fields["stream"]), fields["event"]
        moment = self._events[event] if event else None
        if moment is not None and moment.event is not None:
            self.device.asks(Synchronize(event=moment.event.number))
        else:
            stream.device.asks(Synchronize(stream.number or None))
        self.device.drain()
        return CallAnswer()

    def create_stream(self, fields: dict, data: bytes) -> CallAnswer:
        """A new stream."""
        handle, blocking = self._new_handle(), not fields["flags"] & NON_BLOCKING
        self._streams[handle] = stream = self.device.stream(blocking)
        if blocking:
            self._blocking.append(stream)
        return CallAnswer((handle,))

    def destroy_stream(self, fields: dict, data: bytes) -> CallAnswer:
        """Forget a stream."""
        stream = self._streams[fields["stream"]]
        del self._streams[fields["stream"]]
        self._blocking = [o for o in self._blocking if o is not stream or o.has_work]
        return CallAnswer()

    def create_event(self, fields: dict, data: bytes) -> CallAnswer:
        """A new event."""
        handle = self._new_handle()
        self._events[handle] = None
        self._homes[handle] = self.device
        return CallAnswer((handle,))

    def destroy_event(self, fields: dict, data: bytes) -> CallAnswer:
        """Forget an event."""
        del self._events[fields["event"]]
        del self._homes[fields["event"]]
        return CallAnswer()

    def record_event(self, fields: dict, data: bytes) -> CallAnswer:
        """Place an event in a stream."""
        if fields["event"] not in self._events:
            raise Refused(Status.INVALID_HANDLE)
        stream, home = self.find(fields["stream"]), self._homes[fields["event"]]
        if stream.device is not home:
            raise Refused(
                Status.INVALID_HANDLE,
                f"an event of GPU {home.index} is recorded in a stream of GPU "
                f"{stream.device.index}",
            )
        self._events[fields["event"]] = self.simulator.moment(stream)
        return CallAnswer()

    def wait_event(self, fields: dict, data: bytes) -> CallAnswer:
        """Let a stream wait for an event; for one that was not recorded nobody waits."""
        stream, moment = self.find(fields["stream"]), self._events[fields["event"]]
        if moment is not None and moment.event is not None:
            stream.wait(moment.event)
        elif moment is not None and moment.stream is not stream and moment.stream.has_work:
            moment.stream.device.drain()
        return CallAnswer()

    def elapsed(self, fields: dict, data: bytes) -> CallAnswer:
        """Simulated time between two events."""
        start, end = self._events[fields["start"]], self._events[fields["end"]]
        if start is None or end is None:
            raise Refused(Status.INVALID_HANDLE)
        one, other = start.stream.device, end.stream.device
        if one is not other:
            raise Refused(
                Status.INVALID_HANDLE,
                f"the time between events of GPU {one.index} and GPU {other.index} is asked for: "
                "both must be of one GPU",
            )
        one.drain()
        return CallAnswer((self.simulator.nanoseconds(start, end),))
