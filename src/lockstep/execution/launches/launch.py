"""Running a kernel: the loop around the scheduler."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from lockstep._jit import is_compiled
from lockstep.errors import LockstepError
from lockstep.execution.checks.findings import Findings
from lockstep.execution.checks.kinds import Check
from lockstep.execution.checks.launch import Checking
from lockstep.execution.device_runtime.tasks import Launchables
from lockstep.execution.launches.faults import describe_problem, hottest_places
from lockstep.execution.launches.geometry import Geometry, Limits
from lockstep.execution.launches.resident import Resident
from lockstep.execution.launches.services import Services
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.memory.storage import Storage
from lockstep.execution.programs.code import BlockCode
from lockstep.execution.programs.profile import Profile
from lockstep.execution.programs.program import Program
from lockstep.execution.scheduling.machine import MOST_ENDED, Stop
from lockstep.execution.scheduling.schedule import run
from lockstep.execution.streams.buffers import MANY_WORDS, StreamBuffers
from lockstep.execution.streams.stream import Expander
from lockstep.execution.streams.written import Taken, WrittenCtas, in_grid_order
from lockstep.names import demangled
from lockstep.workload import Cta

SLICE = 1 << 20  # warp instructions between looks at Ctrl-C and limits
NOTICE = "Compiling the executor: this happens once for each version, and takes ten seconds."


def announce_compilation(notice: Callable[[str], None]) -> None:
    """Tell ``notice`` if the first launch will compile, and not only load, the scheduler."""
    if not is_compiled(run):
        notice(NOTICE)


class Executor:
    """A program loaded into this process, with the state of its resident CTAs."""

    def __init__(
        self,
        program: Program,
        memory: DeviceMemory,
        symbols: np.ndarray,
        services: Services | None = None,
        limits: Limits | None = None,
        storage: Storage | None = None,
        findings: Findings | None = None,
        kernels: Launchables | None = None,
    ):
        """``symbols``: the address of each of the program's global variables.

        ``storage``: where launches keep what is large, shared with other programs. ``findings``
        gets what the checks find for which the program was translated. ``kernels``: those that it
        may launch.
        """
        self.program, self.memory, self.limits = program, memory, limits or Limits()
        self.services = services or Services(memory)
        self.storage = storage or Storage()
        self._code = BlockCode(program)
        self._symbols, self._kernels = symbols, kernels
        self._findings = findings
        self._idle: dict[tuple, list[Resident]] = {}

    @contextmanager
    def begin(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        profile: Profile | None = None,
        tell: Callable[[Resident], None] | None = None,
    ) -> Iterator[Resident]:
        """State for a launch, nobody else's meanwhile: launches of a kernel may overlap.

        ``profile`` gets what was counted, if the program was translated for counting. ``tell`` is
        called when the launch has ended, however.
        """
        idle = self._idle.setdefault(geometry.shape, [])
        resident = idle.pop() if idle else self._build(geometry)
        services, memory = self.services, self.memory
        region = self.storage.borrow(resident.bytes_to_borrow)
        services.launches += 1
        now = services.nanoseconds
        resident.start(geometry, parameters, memory, region, services.launches, now)
        try:
            yield resident
        except KeyboardInterrupt as error:
            name = demangled(self.program.name)
            error.add_note(f"kernel {name} ran: {hottest_places(resident)}")
            raise
        finally:
            services.nanoseconds += resident.nanoseconds
            resident.end(memory)
            if self._findings is not None:
                self._findings.take(resident)
            if resident.forced:
                services.remarks.on_forced(self.program, resident.forced_at)
            if self.program.clock_reads:
                services.remarks.on_clocks(self.program, resident.machine.times)
            if tell is not None:
                tell(resident)
            if profile is not None:
                profile.take(resident.machine.times, resident.machine.lanes, resident.counters)
            idle.append(resident)
            self.storage.give_back(region)

    def _build(self, geometry: Geometry) -> Resident:
        memory, limits = self.memory, self.limits
        checks = Check.NOTHING if self._findings is None else self._findings.checks
        checking = Checking(checks, memory.shadow, self.program.granule)
        program, code, symbols = self.program, self._code, self._symbols
        resident = Resident(program, geometry, code, symbols, memory, limits, checking)
        resident.kernels = self._kernels
        return resident

    def problem(self, resident: Resident, stop: Stop) -> BaseException:
        """Why a launch cannot go on."""
        problem, self._code.problem = self._code.problem, None
        return problem or describe_problem(resident, self.memory, stop)

    def _advance(self, resident: Resident) -> Stop:
        """Run until something happens that callers deal with; services are done here.

        Raises :class:`LaunchError` if the launch cannot go on.
        """
        most = self.limits.instructions or sys.maxsize
        while True:
            if resident.executed > most:  # the last CTA that was asked for took more
                raise self.problem(resident, Stop.TIME)
            with self._code.hold.held(not self._code.complete):
                stop = Stop(run(resident.machine, min(SLICE, most - resident.executed)))
            if stop == Stop.HOST:
                self.services.perform(resident)
            elif stop == Stop.TIME:
                if resident.executed >= most:
                    raise self.problem(resident, stop)
            elif stop in (Stop.FAULT, Stop.DEADLOCK):
                raise self.problem(resident, stop)
            else:
                return stop

    def run(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        profile: Profile | None = None,
        tell: Callable[[Resident], None] | None = None,
    ) -> None:
        """Run a launch to its end."""
        with self.begin(geometry, parameters, profile, tell) as resident:
            self._advance(resident)

    def ctas(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        profile: Profile | None = None,
        tell: Callable[[Resident], None] | None = None,
    ) -> Iterator[Cta]:
        """Run a launch CTA by CTA and yield what the timing model reads of each, in grid order.

        Clusters come one after the other, each CTA by CTA.
        The program must have been translated for recording.
        """
        ended: dict[int, Cta] = {}
        wanted = 0
        with self.begin(geometry, parameters, profile, tell) as resident:
            for number, cta in self._ended(resident):
                ended[number if geometry.cluster_ctas == 1 else geometry.turn(cta.index)] = cta
                while wanted in ended:
                    yield ended.pop(wanted)
                    wanted += 1

    def written(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        profile: Profile | None = None,
        tell: Callable[[Resident], None] | None = None,
    ) -> Iterator[WrittenCtas]:
        """As :meth:`ctas`, of a launch without clusters, as blocks wrote them: some at a time."""
        with self.begin(geometry, parameters, profile, tell) as resident:
            yield from in_grid_order(self.program, self._taken(resident, MANY_WORDS))

    def _ended(self, resident: Resident) -> Iterator[tuple[int, Cta]]:
        """Run a launch and yield its CTAs, with their numbers, as they end."""
        expander = Expander(self.program, resident.geometry.warps, MOST_ENDED)
        for numbers, *rest in self._taken(resident):
            yield from zip(numbers, expander.ctas(*rest))

    def _taken(self, resident: Resident, words: int = 0) -> Iterator[Taken]:
        """Run a launch and yield the streams of its CTAs as they end; ``words``: of the buffers."""
        streams = StreamBuffers(resident.machine, words)
        stop = Stop.TIME
        while stop != Stop.DONE:
            try:
                stop = self._advance(resident)
            except LockstepError:
                yield from streams.take()
                raise
            ended = False
            for taken in streams.take():
                ended = True
                yield taken
            if stop == Stop.SPACE and not ended:
                streams.grow(resident.place)
