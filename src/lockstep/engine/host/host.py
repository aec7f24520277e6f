"""The host: one call after the other, what they ask for in streams, and when it may begin.

What is asked for is an *operation*: a kernel, a copy, or an event. It begins when it was asked for
and those before it have ended: the last one of its stream, those that its stream waits for, and by
the rules of CUDA's default stream: stream 0 waits for all streams, and they wait for it, but for
those that were opened to do neither.

The host is ahead of the GPU, by a window at most while kernels run. So it is known in time when a
kernel begins; the engine starts it, and says when it ended.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import count

import numpy as np

from lockstep._jit import Records
from lockstep.engine.host.copy_link import CopyLink, LinkRun
from lockstep.engine.host.costs import Costs
from lockstep.engine.host.fabric import Fabric
from lockstep.engine.host.operation import Enqueued, Operation
from lockstep.engine.host.pages import ManagedMemory
from lockstep.engine.host.record import CallRun, CopyRun, HostRun, PeerRun
from lockstep.engine.host.seat import HostSeat
from lockstep.engine.preparation import Preparation
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.gpus.system import GpuSystem
from lockstep.host_calls import (
    CallKind,
    Direction,
    HostAccess,
    HostCall,
    Managed,
    MemoryCopy,
    OpenStream,
    PeerCopy,
    RecordEvent,
    SetDevice,
    Synchronize,
)
from lockstep.model.clock import NEVER
from lockstep.model.modules.state import MemoryPlace
from lockstep.workload import Command, Kernel

Place = tuple[int, int]
"""A stream: its device, and its number there."""


class TimedHost:
    """The host of one run, its streams, and the GPUs at it."""

    def __init__(self) -> None:
        """A host without GPUs: see :func:`host_of` and :func:`host_of_system`."""
        self.run = HostRun()
        self.seats: list[HostSeat] = []
        self.fabric: Fabric | None = None
        self._seat = 0  # of the device that was set last
        self._time = 0  # of the host: its next call begins
        self._calls: deque[Command] = deque()
        self._call: CallRun | None = None  # that waits
        self._awaited: set[Operation] = set()  # by it
        self._last: dict[Place, Operation] = {}  # of each stream
        self._apart: set[Place] = set()  # streams without the rules of the default stream
        self._events: dict[int, Operation] = {}  # that recorded each
        self._open = 0  # operations that have not ended
        self._ends: list[tuple[int, int, Operation, CopyRun | PeerRun | None]] = []  # known, a heap
        self._number = count()
        self._before: list[Command] = []

    def take(self, commands: list[Command]) -> None:
        """What the host will do after what it has to do."""
        self._calls.extend(commands)

    @property
    def done(self) -> bool:
        """Whether the host has nothing to do any more, and all that it asked for has ended."""
        return not (self._calls or self._open or self._before)

    def rest(self, number: int) -> list[Command]:
        """What was to be done before a kernel of a GPU that did not come."""
        if self._calls or self._open or number != self._seat:
            return []
        rest, self._before = self._before, []
        return rest

    # Time

    def advance(self, near: int, far: int) -> None:
        """Do all before a time: ``far``, but ``near`` once a kernel may begin."""
        while (time := self.next) < (far if not self.has_launches else near):
            self._step(time)

    @property
    def has_launches(self) -> bool:
        """Whether kernels may begin."""
        return any(seat.first_launch < NEVER for seat in self.seats)

    def launch_elsewhere(self, number: int) -> int:
        """When a kernel may begin on another GPU, or NEVER."""
        others = (seat.first_launch for seat in self.seats if seat.number != number)
        return min(others, default=NEVER)

    @property
    def next(self) -> int:
        """When the next thing happens that no kernel has to end for, or NEVER."""
        return min(self._next_here, self.fabric.next if self.fabric else NEVER)

    @property
    def next_of_calls(self) -> int:
        """The same, accesses of kernels that are on links aside."""
        between = self.fabric.next if self.fabric and self.fabric.copies else NEVER
        return min(self._next_here, between)

    @property
    def _next_here(self) -> int:
        """The same, the fabric aside."""
        call = self._time if self._calls and self._call is None else NEVER
        end = self._ends[0][0] if self._ends else NEVER
        due = min(seat.memory.due if seat.memory else NEVER for seat in self.seats)
        engines = (each.next for seat in self.seats for each in seat.engines.values())
        return min(call, end, due, *engines)

    def _step(self, time: int) -> None:
        if self._ends and self._ends[0][0] == time:
            _, _, operation, run = heapq.heappop(self._ends)
            self.finish(operation, run)
        elif not (self._migrate(time) or self._move(time)):
            self._perform(self._calls.popleft())

    def _migrate(self, time: int) -> bool:
        """Let a page of managed memory move, if one is due; whether it was."""
        for seat in self.seats:
            if seat.memory and seat.memory.due == time:
                seat.memory.send(seat.engines[Direction.TO_DEVICE])
                return True
        return False

    def _move(self, time: int) -> bool:
        """Let a page or packet of a copy leave, if one does then; whether one did.

        Of a link that the host's copies share with those between GPUs both have their turns.
        """
        between = self.fabric is not None and self.fabric.next == time
        for seat in self.seats:
            for engines in seat.engines.values():
                if engines.next != time or (between and engines.wire.user == "engines"):
                    continue
                page, transfer = engines.step()
                if engines.direction is Direction.TO_DEVICE:
                    seat.arrive(page)
                if transfer:
                    self._will_end(transfer.operation, transfer.run.end, transfer.run)
                return True
        if between:
            assert self.fabric is not None, "it has something to do"
            if arrival := self.fabric.step():
                page, copy, over = arrival
                self.seats[copy.run.to].arrive(page)
                if over:
                    self._will_end(copy.operation, copy.run.end, copy.run)
        return between

    # Operations

    def _enqueue(self, command: Enqueued, ready: int, *awaited: "Operation") -> Operation:
        """Add an operation to its stream; it waits for some others, too."""
        operation = Operation(command, ready)
        self._open += 1
        place = (self._seat, command.stream)
        operation.seat = self._seat
        for earlier in (*self._predecessors(place), *awaited):
            if earlier.end < 0:
                earlier.followers.append(operation)
                operation.awaits += 1
            else:
                operation.ready = max(operation.ready, earlier.end)
        self._last[place] = operation
        if operation.awaits == 0:
            self._begin(operation)
        return operation

    def _predecessors(self, place: Place) -> list[Operation]:
        """The last operations of the streams that a stream waits for."""
        seat, stream = place
        others = {place}
        if stream == 0:
            others |= {each for each in self._last if each[0] == seat} - self._apart
        elif place not in self._apart:
            others.add((seat, 0))
        return [self._last[k] for k in sorted(others) if k in self._last]

    def _begin(self, operation: Operation) -> None:
        """All before an operation has ended."""
        command, seat = operation.command, self.seats[operation.seat]
        if isinstance(command, Kernel):
            seat.may_begin(operation)
        elif not isinstance(command, MemoryCopy) or command.bytes == 0:
            self._will_end(operation, operation.ready, None)
        elif isinstance(command, PeerCopy):
            assert self.fabric is not None, "a system has one"
            self.fabric.request(operation)
        elif command.direction in seat.engines:
            seat.engines[command.direction].request(operation)
        else:
            passes = 2 if command.direction is Direction.ON_DEVICE else 1
            time = seat.costs.in_dram(passes * command.bytes)
            start = max(operation.ready, seat.memory_free)
            seat.memory_free = start + time
            run = CopyRun(command.direction, 0, command.stream, command.address, command.bytes,
                          start, start + time, device=time, gpu=seat.number)  # fmt: skip
            self._will_end(operation, run.end, run)

    def _will_end(self, operation: Operation, time: int, run: CopyRun | PeerRun | None) -> None:
        operation.end = time
        heapq.heappush(self._ends, (time, next(self._number), operation, run))

    def finish(self, operation: Operation, run: CopyRun | PeerRun | None = None) -> None:
        """An operation has ended: others may begin, and the host may go on."""
        operation.over = True
        self._open -= 1
        command, end = operation.command, operation.end
        if isinstance(command, MemoryCopy) and command.perform is not None:
            command.perform()
        if isinstance(command, RecordEvent):
            self.run.events[command.event] = end
        if isinstance(run, PeerRun):
            self.run.peers.append(run)
        elif run is not None:
            self.run.copies.append(run)
            engines = self.seats[operation.seat].engines
            if run.direction in engines:
                engines[run.direction].release(run)
        self.run.end = max(self.run.end, end)
        for follower in operation.followers:
            follower.ready = max(follower.ready, end)
            follower.awaits -= 1
            if follower.awaits == 0:
                self._begin(follower)
        operation.followers.clear()
        if operation in self._awaited:
            self._awaited.remove(operation)
            self._hear(operation)
            self._go_on()

    # The host itself

    @property
    def _costs(self) -> Costs:
        """Of the device that was set last."""
        return self.seats[self._seat].costs

    def _perform(self, command: Command) -> None:
        """Make a call, at the host's time."""
        if isinstance(command, Preparation):
            self._before.append(command)
        elif isinstance(command, SetDevice):
            self._seat = command.device
        elif isinstance(command, OpenStream):
            self._apart.add((self._seat, command.stream))
        elif isinstance(command, HostCall):
            self._spend(command.kind, command.name, command.picoseconds)
        elif isinstance(command, Kernel):
            self._spend("launch", command.name)
            operation = self._enqueue(command, self._time + self._costs.latency)
            operation.before, self._before = self._before, []
        elif isinstance(command, MemoryCopy):
            self._spend("copy", "")
            operation = self._enqueue(command, self._time)
            if command.blocking or self._costs.coherent:
                self._wait([operation])
        elif isinstance(command, Synchronize):
            self._spend(command.kind, "")
            self._wait(self._before_now(command))
        elif isinstance(command, Managed | HostAccess):
            self._touch(command)
        elif isinstance(command, RecordEvent):
            self._spend("query", "record")
            self._events[command.event] = self._enqueue(command, self._time)
        else:
            self._spend("query", "wait for event")
            self._enqueue(command, self._time, self._recorded(command.event))

    def _touch(self, command: Managed | HostAccess) -> None:
        """Pages change their owner; the host waits for those that it needs."""
        memory = self.seats[self._seat].memory
        if memory is None:
            return
        if isinstance(command, Managed):
            memory.manage(command.address, command.bytes, command.managed)
            return
        link = self.seats[self._seat].engines[Direction.TO_HOST]
        start = self._time
        self._time = memory.bring_back(command.address, command.bytes, start, link)
        self.run.calls.append(CallRun("program", "access", start, self._time, self._time))
        self.run.end = max(self.run.end, self._time)

    def _before_now(self, command: Synchronize) -> list[Operation]:
        """What the host waits for."""
        if command.event is not None:
            return [self._recorded(command.event)]
        return [
            operation
            for (seat, stream), operation in self._last.items()
            if seat == self._seat and command.stream in (None, stream)
        ]

    def _recorded(self, event: int) -> Operation:
        if event not in self._events:
            raise WorkloadError(f"event {event} was not recorded: it cannot be waited for")
        return self._events[event]

    def _spend(self, kind: CallKind | None, name: str, more: int = 0) -> None:
        """The host is busy, with a call or without."""
        start = self._time
        self._time += (self._costs.calls[kind] if kind else 0) + more
        self.run.calls.append(CallRun(kind or "program", name, start, self._time, self._time))
        self.run.end = max(self.run.end, self._time)

    def _wait(self, operations: list[Operation]) -> None:
        """The call that was made last ends when the host has heard that operations have."""
        self._call = self.run.calls[-1]
        self._awaited = {each for each in operations if not each.over}
        for operation in operations:
            if operation.over:
                self._hear(operation)
        self._go_on()

    def _hear(self, operation: Operation) -> None:
        """Copies end at the host's end of the link, or are acknowledged there; others do not."""
        assert self._call is not None, "the host waits"
        command = operation.command
        seat = self.seats[operation.seat]
        crossed = isinstance(command, MemoryCopy) and command.direction in seat.engines
        end = operation.end + (0 if crossed else seat.costs.latency)
        self._call.end = max(self._call.end, end)
        self.run.end = max(self.run.end, end)

    def _go_on(self) -> None:
        """Make the next call when all has ended that the host waits for."""
        if not self._awaited and self._call is not None:
            self._time = self._call.end
            self._call = None


def host_of(gpu: GPU, away: np.ndarray, asks: Records) -> HostSeat:
    """The only GPU at a host; ``away`` and ``asks``: what SMs know of pages, and ask for."""
    host = TimedHost()
    seat = HostSeat(host, gpu, 0)
    host.seats.append(seat)
    if gpu.host.memory == "migrating":
        seat.memory = ManagedMemory(gpu, seat.costs, away, asks, host.run.copies)
        host.run.pages = seat.memory.counts
    return seat


def host_of_system(system: GpuSystem, places: Sequence[MemoryPlace] = ()) -> TimedHost:
    """A host with the GPUs of a system, and what joins them.

    ``places``: of their memories, where kernels access those of other GPUs over the fabric.
    """
    host = TimedHost()
    wires: dict[tuple[int, Direction], CopyLink] = {}
    for number, gpu in enumerate(system.gpus):
        names = {
            Direction.TO_DEVICE: f"host > GPU {number}",
            Direction.TO_HOST: f"GPU {number} > host",
        }
        runs = {way: LinkRun(name, gpu.host.link_bandwidth) for way, name in names.items()}
        own = {way: CopyLink(run) for way, run in runs.items()}
        place = places[number] if places else None
        host.seats.append(HostSeat(host, gpu, number, own, place))
        host.run.links += runs.values()
        wires |= {(number, way): wire for way, wire in own.items()}
    host.fabric = Fabric(system, [seat.costs for seat in host.seats], wires)
    host.run.links += host.fabric.runs
    return host
