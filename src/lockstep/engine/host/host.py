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
from itertools import count

import numpy as np

from lockstep._jit import Records
from lockstep.engine.host.costs import Costs
from lockstep.engine.host.engines import CopyEngines, Page
from lockstep.engine.host.operation import Enqueued, Operation
from lockstep.engine.host.pages import ManagedMemory
from lockstep.engine.host.record import CallRun, CopyRun, HostRun
from lockstep.engine.preparation import Preparation
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.host_calls import (
    CallKind,
    Direction,
    HostAccess,
    HostCall,
    Managed,
    MemoryCopy,
    OpenStream,
    RecordEvent,
    Synchronize,
)
from lockstep.model.clock import NEVER
from lockstep.workload import Command, Kernel


class TimedHost:
    """The host of one run, its streams, and the copy engines."""

    def __init__(self, gpu: GPU, away: np.ndarray, asks: Records):
        """``away`` and ``asks``: what SMs know of pages, and what they ask for."""
        host = gpu.host
        self.costs = Costs(gpu)
        self.run = HostRun()
        self._time = 0  # of the host: its next call begins
        self._calls: deque[Command] = deque()
        self._call: CallRun | None = None  # that waits
        self._awaited: set[Operation] = set()  # by it
        self._last: dict[int, Operation] = {}  # of each stream
        self._apart: set[int] = set()  # streams without the rules of the default stream
        self._events: dict[int, Operation] = {}  # that recorded each
        self._open = 0  # operations that have not ended
        self._launches: list[tuple[int, int, Operation]] = []  # kernels that may begin, a heap
        self._kernels: dict[int, Operation] = {}  # by slot
        self._ends: list[tuple[int, int, Operation, CopyRun | None]] = []  # known ones, a heap
        self._arrived: list[tuple[int, int, Page]] = []  # pages to place, a heap
        self._memory_free = 0  # of copies and fills on the device: one after the other
        self._number = count()
        self._before: list[Command] = []
        self._engines = {
            Direction.TO_DEVICE: CopyEngines(
                self.costs, Direction.TO_DEVICE, host.engines_to_device
            ),
            Direction.TO_HOST: CopyEngines(self.costs, Direction.TO_HOST, host.engines_to_host),
        }

        self._memory: ManagedMemory | None = None
        if host.memory == "migrating":
            self._memory = ManagedMemory(gpu, self.costs, away, asks, self.run.copies)
            self.run.pages = self._memory.counts

    def take(self, commands: list[Command]) -> None:
        """What the host will do after what it has to do."""
        self._calls.extend(commands)

    @property
    def done(self) -> bool:
        """Whether the host has nothing to do any more, and all that it asked for has ended."""
        return not (self._calls or self._open or self._before)

    @property
    def end(self) -> int:
        """The cycle in which all that has been done was done."""
        return self.costs.clock.cycle(self.run.end)

    def rest(self) -> list[Command]:
        """What was to be done before a kernel that did not come; once nothing else is left."""
        if self._calls or self._open:
            return []
        rest, self._before = self._before, []
        return rest

    # Time

    def advance(self, end: int, limit: int | None = None) -> None:
        """Do all before cycle ``end``, where the window that comes ends.

        ``limit``: nothing runs on the GPU, so that the host may go on up to this cycle until a
        kernel begins.
        """
        clock = self.costs.clock
        near = clock.time(end)
        far = near if limit is None else min(clock.time(max(limit, end)), NEVER)
        while (time := self._next()) < (far if not self._launches else near):
            self._step(time)

    def _next(self) -> int:
        """When the next thing happens that no kernel has to end for, or NEVER."""
        call = self._time if self._calls and self._call is None else NEVER
        end = self._ends[0][0] if self._ends else NEVER
        due = self._memory.due if self._memory else NEVER
        return min(call, end, due, *(engines.next for engines in self._engines.values()))

    def _step(self, time: int) -> None:
        if self._ends and self._ends[0][0] == time:
            _, _, operation, run = heapq.heappop(self._ends)
            self._finish(operation, run)
            return
        if self._memory and self._memory.due == time:
            self._memory.send(self._engines[Direction.TO_DEVICE])
            return
        for engines in self._engines.values():
            if engines.next == time:
                page, transfer = engines.step()
                if engines.direction is Direction.TO_DEVICE:
                    heapq.heappush(self._arrived, (page.arrives, next(self._number), page))
                if transfer:
                    self._will_end(transfer.operation, transfer.run.end, transfer.run)
                return
        self._perform(self._calls.popleft())

    def looks(self, now: int, window: int) -> int:
        """The first cycle behind ``now`` at which a window must not begin before :meth:`advance`.

        Or before :meth:`arrivals`. NEVER: there is none.
        """
        clock, time = self.costs.clock, self._next()
        look = NEVER if time >= NEVER else clock.cycle(time) - window + 1
        if self._arrived:
            look = min(look, clock.cycle(self._arrived[0][0]))
        if self._memory and self._memory.next < NEVER:
            look = min(look, clock.cycle(self._memory.next))
        return look if look >= NEVER else max(look, now + 1)

    def next_launch(self, now: int) -> int:
        """The first cycle behind ``now`` at which a kernel may begin, or NEVER."""
        cycles = (self.costs.clock.cycle(ready) for ready, _, _ in self._launches)
        return min((cycle for cycle in cycles if cycle > now), default=NEVER)

    # What the engine does

    def arrivals(self, now: int) -> list[Page]:
        """Pages that have arrived at the L2 by cycle ``now``."""
        pages, time = [], self.costs.clock.time(now)
        if self._memory:
            self._memory.answer(self._engines[Direction.TO_DEVICE])
            pages = self._memory.arrive(time)
        while self._arrived and self._arrived[0][0] <= time:
            pages.append(heapq.heappop(self._arrived)[2])
        return pages

    def launchable(self, now: int) -> Operation | None:
        """The kernel that may begin by cycle ``now``, of several the one that has been ready."""
        if self._launches and self.costs.clock.cycle(self._launches[0][0]) <= now:
            return self._launches[0][2]
        return None

    def launched(self, slot: int) -> None:
        """That kernel has begun."""
        self._kernels[slot] = heapq.heappop(self._launches)[2]

    def ended(self, slot: int, cycle: int) -> None:
        """The kernel in a slot has ended, or gets no more CTAs."""
        operation = self._kernels.pop(slot, None)
        if operation is not None:
            operation.end = self.costs.clock.time(cycle)
            self._finish(operation, None)

    # Operations

    def _enqueue(self, command: Enqueued, ready: int, *awaited: "Operation") -> Operation:
        """Add an operation to its stream; it waits for some others, too."""
        operation = Operation(command, ready)
        self._open += 1
        for earlier in (*self._predecessors(command.stream), *awaited):
            if earlier.end < 0:
                earlier.followers.append(operation)
                operation.awaits += 1
            else:
                operation.ready = max(operation.ready, earlier.end)
        self._last[command.stream] = operation
        if operation.awaits == 0:
            self._begin(operation)
        return operation

    def _predecessors(self, stream: int) -> list[Operation]:
        """The last operations of the streams that a stream waits for."""
        others = {stream}
        if stream == 0:
            others |= self._last.keys() - self._apart
        elif stream not in self._apart:
            others.add(0)
        return [self._last[k] for k in sorted(others) if k in self._last]

    def _begin(self, operation: Operation) -> None:
        """All before an operation has ended."""
        command = operation.command
        if isinstance(command, Kernel):
            entry = (operation.ready, next(self._number), operation)
            heapq.heappush(self._launches, entry)
        elif not isinstance(command, MemoryCopy) or command.bytes == 0:
            self._will_end(operation, operation.ready, None)
        elif command.direction in self._engines:
            self._engines[command.direction].request(operation)
        else:
            passes = 2 if command.direction is Direction.ON_DEVICE else 1
            time = self.costs.in_dram(passes * command.bytes)
            start = max(operation.ready, self._memory_free)
            self._memory_free = start + time
            run = CopyRun(command.direction, 0, command.stream, command.address, command.bytes,
                          start, start + time, device=time)  # fmt: skip
            self._will_end(operation, run.end, run)

    def _will_end(self, operation: Operation, time: int, run: CopyRun | None) -> None:
        operation.end = time
        heapq.heappush(self._ends, (time, next(self._number), operation, run))

    def _finish(self, operation: Operation, run: CopyRun | None) -> None:
        """An operation has ended: others may begin, and the host may go on."""
        operation.over = True
        self._open -= 1
        command, end = operation.command, operation.end
        if isinstance(command, MemoryCopy) and command.perform is not None:
            command.perform()
        if isinstance(command, RecordEvent):
            self.run.events[command.event] = end
        if run is not None:
            self.run.copies.append(run)
            if run.direction in self._engines:
                self._engines[run.direction].release(run)
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

    def _perform(self, command: Command) -> None:
        """Make a call, at the host's time."""
        if isinstance(command, Preparation):
            self._before.append(command)
        elif isinstance(command, OpenStream):
            self._apart.add(command.stream)
        elif isinstance(command, HostCall):
            self._spend(command.kind, command.name, command.picoseconds)
        elif isinstance(command, Kernel):
            self._spend("launch", command.name)
            operation = self._enqueue(command, self._time + self.costs.latency)
            operation.before, self._before = self._before, []
        elif isinstance(command, MemoryCopy):
            self._spend("copy", "")
            operation = self._enqueue(command, self._time)
            if command.blocking or self.costs.coherent:
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
        if self._memory is None:
            return
        if isinstance(command, Managed):
            self._memory.manage(command.address, command.bytes, command.managed)
            return
        link = self._engines[Direction.TO_HOST]
        start = self._time
        self._time = self._memory.bring_back(command.address, command.bytes, start, link)
        self.run.calls.append(CallRun("program", "access", start, self._time, self._time))
        self.run.end = max(self.run.end, self._time)

    def _before_now(self, command: Synchronize) -> list[Operation]:
        """What the host waits for."""
        if command.event is not None:
            return [self._recorded(command.event)]
        streams = self._last if command.stream is None else [command.stream]
        return [self._last[k] for k in streams if k in self._last]

    def _recorded(self, event: int) -> Operation:
        if event not in self._events:
            raise WorkloadError(f"event {event} was not recorded: it cannot be waited for")
        return self._events[event]

    def _spend(self, kind: CallKind | None, name: str, more: int = 0) -> None:
        """The host is busy, with a call or without."""
        start = self._time
        self._time += (self.costs.calls[kind] if kind else 0) + more
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
        crossed = isinstance(command, MemoryCopy) and command.direction in self._engines
        end = operation.end + (0 if crossed else self.costs.latency)
        self._call.end = max(self._call.end, end)
        self.run.end = max(self.run.end, end)

    def _go_on(self) -> None:
        """Make the next call when all has ended that the host waits for."""
        if not self._awaited and self._call is not None:
            self._time = self._call.end
            self._call = None
