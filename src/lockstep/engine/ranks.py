"""Several simulations of one workload, each of a part of the GPU: ranks.

Each reads the whole workload and runs the same CTA scheduler on the same messages; what their
machines have to tell each other goes through packets. So a result does not depend on their number.
In one process CTAs are made once and handed to all; a stop rule is asked once, for all. Of ranks in
several processes there is one here.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import repeat
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from lockstep.engine.checkpoint import Keep
from lockstep.engine.machine import Machine
from lockstep.engine.progress import Progress
from lockstep.engine.simulation import Simulation
from lockstep.engine.stop import Answer, KernelCounters, StopRule, counts_instructions, reader
from lockstep.engine.transport import RankLost, Transport, in_memory
from lockstep.errors import LockstepError, WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.host_calls import MemoryCopy
from lockstep.workload import ADDRESS, RUN, WARP, Command, Cta, Kernel
from lockstep.workload.warm import Warming

Item = TypeVar("Item")
NO_STREAMS = np.zeros(0, WARP), np.zeros(0, RUN), np.zeros(0, ADDRESS), np.zeros(0, np.int64)
WAIT = 0.1  # seconds between two looks at Ctrl-C


class Ranks:
    """Runs simulations side by side, in step; a single one as it is."""

    def __init__(
        self,
        gpu: GPU,
        ranks: int | Transport,
        threads: int,
        options: dict,
        progress: Progress | None,
    ):
        """``ranks``: how many in this process, or how the one here reaches those elsewhere.

        ``options`` are those of every simulation; the first one tells its ``progress``.
        """
        if isinstance(ranks, int) and ranks < 1:
            raise LockstepError(f"ranks = {ranks}: expected at least 1")
        size = ranks if isinstance(ranks, int) else ranks.size
        if size > 1 and options["outside"]:
            raise LockstepError(f"ranks = {size}: an outside memory is joined to a single one")
        if size > 1 and gpu.host.memory == "migrating":
            raise LockstepError(
                f"ranks = {size}: with host.memory = migrating SMs share the table of pages, "
                "which runs on one rank"
            )
        self.simulations: list[Simulation] = []
        self._keeps = False
        self._transports = [ranks] if not isinstance(ranks, int) else in_memory(ranks)
        rule, here = options["stop"], len(self._transports)
        rules = [rule] if rule is None or here == 1 else _asked_once(rule, here)
        for k, transport in enumerate(self._transports):
            through = transport if transport.size > 1 else None
            source = options["source"] or counts_instructions(rule)
            seat = options["seat"]
            machine = Machine(
                gpu,
                threads,
                options["policies"],
                through,
                source,
                options["outside"],
                seat.place if seat else None,
            )
            first = transport.rank == 0
            mine = options | {
                "progress": progress if first else None,
                "stop": rules[k % len(rules)],
            }
            self.simulations.append(Simulation(gpu, machine, mine))

    @property
    def several(self) -> bool:
        """Whether there is more than one, here or elsewhere."""
        return self._transports[0].size > 1

    def run(
        self, commands: list[Command], frozen: dict | None = None, keep: Keep | None = None
    ) -> None:
        """Run commands on all ranks. Ctrl-C stops all of them after the same window.

        ``frozen`` and ``keep``: see :meth:`Simulation.run`; of several ranks the first one saves.
        Raises what the first rank here that went wrong raised.
        """
        if not self.several:
            self.simulations[0].run(commands, frozen, keep)
            return
        self._keeps = keep is not None
        shared = _share(commands, len(self.simulations))
        ends = _Ends()
        keeps = [keep if transport.rank == 0 else None for transport in self._transports]
        threads = [
            threading.Thread(target=_run, args=(ends, *rank), daemon=True)
            for rank in zip(self.simulations, shared, repeat(frozen), keeps)
        ]
        for thread in threads:
            thread.start()
        while not ends.wait(len(threads), self._look):
            self.stop()
        if ends.errors:
            raise ends.errors[0]

    def repeat(self, commands: list[Command], frozen: dict) -> None:
        """As :meth:`Simulation.repeat`, on all ranks: what is executed again is so once."""
        here = len(self.simulations)
        shared = _share(commands, here) if self.several else [commands]
        for simulation, theirs in zip(self.simulations, shared):
            simulation.repeat(theirs, frozen)

    def stop(self) -> None:
        """Let several ranks stop after the window that they are in, with a last checkpoint."""
        self.simulations[0].machine.part.want(checkpoint=self._keeps)
        self._transports[0].hurried = True

    def _look(self) -> None:
        """Raise if another rank is lost, also while those here are busy with something else."""
        try:
            self._transports[0].look()
        except RankLost as error:
            error.cycle = self.simulations[0].now
            raise

    def close(self) -> None:
        """End the threads; nothing more can be run."""
        for simulation in self.simulations:
            simulation.machine.close()


class _Ends:
    """How the threads of ranks have ended.

    ``Thread.join`` is no way to learn it: in Python 3.11 a thread that runs on is taken for one
    that has ended when a signal interrupts its ``join``.
    """

    def __init__(self) -> None:
        self._ended: list[None] = []
        self._told: SimpleQueue[None] = SimpleQueue()
        self.errors: list[BaseException] = []  # in the order in which they came

    def note(self) -> None:
        """One has ended."""
        self._ended.append(None)
        self._told.put(None)

    def wait(self, count: int, look: Callable[[], None]) -> bool:
        """Whether so many have ended; else Ctrl-C was pressed. It looks around meanwhile."""
        try:
            while len(self._ended) < count:
                try:
                    self._told.get(timeout=WAIT)
                except Empty:
                    look()
        except KeyboardInterrupt:
            return False
        return True


def _run(ends: _Ends, simulation: Simulation, *what: Any) -> None:
    part = simulation.machine.part
    try:
        part.begin()
        simulation.run(*what)
        simulation.work = part.work
    except BaseException as error:
        if isinstance(error, RankLost):
            error.cycle = max(error.cycle, simulation.now)
        ends.errors.append(error)
        part.abort(str(error) or type(error).__name__)
    ends.note()


def _share(commands: list[Command], ranks: int) -> list[list[Command]]:
    """The commands for each rank; the CTAs of a kernel are made once."""
    shared: list[list[Command]] = [[] for _ in range(ranks)]
    for command in commands:
        for row, theirs in zip(shared, _for_each(command, ranks)):
            row.append(theirs)
    return shared


def _for_each(command: Command, ranks: int) -> list[Command]:
    if isinstance(command, Warming):
        kernels = _for_each(command.kernel, ranks)
        return [Warming(kernel) for kernel in kernels if isinstance(kernel, Kernel)]
    if isinstance(command, MemoryCopy) and command.perform is not None:
        once = _Performed(command.perform, ranks)
        return [replace(command, perform=once.reader(k)) for k in range(ranks)]
    if not isinstance(command, Kernel):
        return [command] * ranks
    if command.source is not None:
        raise WorkloadError(
            f"kernel {command.id} ({command.title}) is executed at issue, where all SMs share "
            "memory: it runs on one rank"
        )
    if ranks == 1:
        return [command]
    ctas = _Ctas(command.ctas, ranks)
    again = _Ctas(_only_executed(command.again), ranks) if command.again else None
    return [
        replace(command, ctas=ctas.reader(k), again=again.reader(k) if again else None)
        for k in range(ranks)
    ]


def _only_executed(again: Callable[[], Iterator[Cta]]) -> Callable[[], Iterator[Cta]]:
    """Executes a kernel again, once for all ranks; nobody reads its streams, so none is kept."""
    return lambda: (Cta(cta.index, *NO_STREAMS) for cta in again())


class _Once(Generic[Item]):
    """Items that are made once and read by several, each at its own pace."""

    def __init__(self, readers: int):
        self._lock = threading.Lock()
        self._items: deque[Item] = deque()
        self._first = 0  # number of the first item kept
        self._read = [0] * readers

    def take(self, k: int, make: Callable[[], Item]) -> Item:
        """The next item of reader ``k``; whoever comes first makes it."""
        with self._lock:
            if self._read[k] == self._first + len(self._items):
                self._items.append(make())
            item = self._items[self._read[k] - self._first]
            self._read[k] += 1
            while self._items and self._first < min(self._read):
                self._items.popleft()
                self._first += 1
            return item


class _Performed:
    """What moves the data of a copy: done when the first rank comes to it."""

    def __init__(self, perform: Callable[[], None], readers: int):
        self._perform, self._once = perform, _Once[None](readers)

    def reader(self, k: int) -> Callable[[], None]:
        """What reader ``k`` takes for the original."""
        return lambda: self._once.take(k, self._perform)


class _Ctas:
    """The CTAs of a kernel, or what went wrong as they were made."""

    def __init__(self, make: Callable[[], Iterator[Cta]], readers: int):
        self._make = make
        self._source: Iterator[Cta] | None = None
        self._once: _Once[Cta | Exception | None] = _Once(readers)

    def reader(self, k: int) -> Callable[[], Iterator[Cta]]:
        """What reader ``k`` takes for the original."""

        def items() -> Iterator[Cta]:
            while (item := self._once.take(k, self._next)) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item

        return items

    def _next(self) -> Cta | Exception | None:
        if self._source is None:
            self._source = self._make()
        try:
            return next(self._source, None)
        except Exception as error:
            return error


class _Asked:
    """A rule for one of several ranks: all see the same, and the first one asks for all."""

    def __init__(self, rule: StopRule, k: int, answers: _Once[Answer]):
        self._rule, self._k, self._answers = rule, k, answers
        self.counts_instructions = counts_instructions(rule)

    def __call__(self, kernel: Kernel, cycle: int, counters: KernelCounters) -> Answer:
        """As the rule has it."""
        return self._answers.take(self._k, lambda: self._rule(kernel, cycle, counters))


class _Told(_Asked):
    """A rule that is told of CTAs: the first rank that reads them tells it."""

    def __init__(self, rule: StopRule, k: int, answers: _Once[Answer], readings: _Once[None]):
        super().__init__(rule, k, answers)
        self._read, self._readings = reader(rule), readings

    def read(self, *what: Any) -> None:
        """Tell the rule."""
        assert self._read is not None, "it is told of CTAs"
        read = self._read
        self._readings.take(self._k, lambda: read(*what))


def _asked_once(rule: StopRule, ranks: int) -> list[StopRule]:
    answers: _Once[Answer] = _Once(ranks)
    if reader(rule) is None:
        return [_Asked(rule, k, answers) for k in range(ranks)]
    readings: _Once[None] = _Once(ranks)
    return [_Told(rule, k, answers, readings) for k in range(ranks)]
