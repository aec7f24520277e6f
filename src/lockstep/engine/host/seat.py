"""One GPU's place at the host: its copy engines, what may begin on it, and what runs on it.

The host counts picoseconds for all GPUs; each GPU counts cycles of its own clock. A seat is what a
simulation of one GPU talks to, in its cycles.
"""

import heapq
from itertools import count
from typing import Protocol

from lockstep.engine.host.copy_link import CopyLink
from lockstep.engine.host.costs import Costs
from lockstep.engine.host.engines import CopyEngines, Page
from lockstep.engine.host.operation import Operation
from lockstep.engine.host.pages import ManagedMemory
from lockstep.engine.host.record import CopyRun, HostRun, PeerRun
from lockstep.gpus.spec import GPU
from lockstep.host_calls import Direction
from lockstep.model.clock import NEVER
from lockstep.model.modules.state import MemoryPlace
from lockstep.workload import Command


class SeatedHost(Protocol):
    """The host, as far as a GPU at it needs it; :class:`.TimedHost` is one."""

    run: HostRun

    def take(self, commands: list[Command]) -> None:
        """Have more to do."""
        ...

    @property
    def done(self) -> bool:
        """Whether nothing is left, and all that was asked for has ended."""
        ...

    @property
    def next_of_calls(self) -> int:
        """When the next thing happens that no kernel has to end for, or NEVER.

        Accesses of kernels that are on links aside.
        """
        ...

    def rest(self, number: int) -> list[Command]:
        """What was to be done before a kernel of a GPU that did not come."""
        ...

    def advance(self, near: int, far: int) -> None:
        """Do all before a time: ``far``, but ``near`` once a kernel may begin."""
        ...

    def launch_elsewhere(self, number: int) -> int:
        """When a kernel may begin on another GPU, or NEVER."""
        ...

    def finish(self, operation: Operation, run: CopyRun | PeerRun | None = None) -> None:
        """An operation has ended."""
        ...


class HostSeat:
    """A GPU at the host. Times in picoseconds, cycles of its clock where a name says so."""

    def __init__(
        self,
        host: SeatedHost,
        gpu: GPU,
        number: int,
        wires: dict[Direction, CopyLink] | None = None,
        place: MemoryPlace | None = None,
    ):
        """``number``: of the GPU; ``wires``: its link to the host, if others use it, too.

        ``place``: of its memory among those of GPUs whose kernels access each other's.
        """
        self.host, self.number, self.costs, self.place = host, number, Costs(gpu), place
        self._wires = wires or {Direction.TO_DEVICE: CopyLink(), Direction.TO_HOST: CopyLink()}
        counts = {
            Direction.TO_DEVICE: gpu.host.engines_to_device,
            Direction.TO_HOST: gpu.host.engines_to_host,
        }
        self.engines = {
            direction: CopyEngines(self.costs, direction, some, self._wires[direction], number)
            for direction, some in counts.items()
        }
        self.memory: ManagedMemory | None = None
        self.memory_free = 0  # of copies and fills on the device: one after the other
        self._number = count()
        self._launches: list[tuple[int, int, Operation]] = []  # kernels that may begin, a heap
        self._kernels: dict[int, Operation] = {}  # by slot
        self._arrived: list[tuple[int, int, Page]] = []  # pages to place, a heap

    # What the host does

    def arrive(self, page: Page) -> None:
        """A page will be at the L2."""
        heapq.heappush(self._arrived, (page.arrives, next(self._number), page))

    def may_begin(self, operation: Operation) -> None:
        """A kernel may begin when it is ready."""
        heapq.heappush(self._launches, (operation.ready, next(self._number), operation))

    @property
    def first_launch(self) -> int:
        """When the first kernel that waits may begin, or NEVER."""
        return self._launches[0][0] if self._launches else NEVER

    # What the simulation of the GPU does

    @property
    def run(self) -> HostRun:
        """What the host tells of its run."""
        return self.host.run

    def take(self, commands: list[Command]) -> None:
        """What the host will do after what it has to do."""
        self.host.take(commands)

    @property
    def done(self) -> bool:
        """Whether the host has nothing to do any more, and all that it asked for has ended."""
        return self.host.done

    @property
    def end(self) -> int:
        """The cycle in which all that has been done was done."""
        return self.costs.clock.cycle(self.run.end)

    def rest(self) -> list[Command]:
        """What was to be done before a kernel that did not come; once nothing else is left."""
        return self.host.rest(self.number)

    def advance(self, end: int, limit: int | None = None) -> None:
        """Do all before cycle ``end``, where the window that comes ends.

        ``limit``: nothing runs on the GPU, so that the host may go on up to this cycle until a
        kernel begins.
        """
        clock = self.costs.clock
        near = clock.time(end)
        far = near if limit is None else min(clock.time(max(limit, end)), NEVER)
        self.host.advance(near, far)

    def looks(self, now: int, window: int) -> int:
        """The first cycle behind ``now`` at which a window must not begin before :meth:`advance`.

        Or before :meth:`arrivals`. NEVER: there is none.
        """
        clock = self.costs.clock
        time = min(self.host.next_of_calls, self.host.launch_elsewhere(self.number))
        look = NEVER if time >= NEVER else clock.cycle(time) - window + 1
        if self._arrived:
            look = min(look, clock.cycle(self._arrived[0][0]))
        if self.memory and self.memory.next < NEVER:
            look = min(look, clock.cycle(self.memory.next))
        return look if look >= NEVER else max(look, now + 1)

    def next_launch(self, now: int) -> int:
        """The first cycle behind ``now`` at which a kernel may begin, or NEVER."""
        cycles = (self.costs.clock.cycle(ready) for ready, _, _ in self._launches)
        return min((cycle for cycle in cycles if cycle > now), default=NEVER)

    def arrivals(self, now: int) -> list[Page]:
        """Pages that have arrived at the L2 by cycle ``now``."""
        pages, time = [], self.costs.clock.time(now)
        if self.memory:
            self.memory.answer(self.engines[Direction.TO_DEVICE])
            pages = self.memory.arrive(time)
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
            self.host.finish(operation)
