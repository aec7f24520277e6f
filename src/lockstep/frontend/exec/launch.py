"""Running a kernel: geometry, state, and the loop around the scheduler."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lockstep.frontend.exec.access import Fault, entry_points
from lockstep.frontend.exec.memory import DeviceMemory
from lockstep.frontend.exec.native import Loaded
from lockstep.frontend.exec.program import Program
from lockstep.frontend.exec.schedule import (
    BARRIER_STATE,
    BARRIERS,
    RUNNING,
    Machine,
    Stop,
    run,
)
from lockstep.frontend.exec.state import (
    CTA,
    FAULT,
    LANES,
    LAUNCH,
    SCRATCH_WORDS,
    SITE,
    WARP,
)
from lockstep.frontend.exec.stream import Expander
from lockstep.workload import Cta

SLICE = 1 << 18  # blocks between looks at Ctrl-C and limits
FIRST_STREAM_WORDS = 1 << 16
FEW_STREAM_WORDS = 1 << 14  # read at once while they are in the cache


@dataclass(frozen=True)
class Geometry:
    """Shape of a launch; ``places`` is how many CTAs the GPU holds at once."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int = 0
    places: int = 1

    @property
    def threads(self) -> int:
        """Threads in a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps in a CTA."""
        return -(-self.threads // LANES)


def aligned(count: int, dtype, alignment: int = 64) -> np.ndarray:
    """A zeroed array whose address is a multiple of ``alignment`` bytes."""
    dtype = np.dtype(dtype)
    raw = np.zeros(count * dtype.itemsize + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + count * dtype.itemsize].view(dtype)


class Executor:
    """A program loaded into this process, with the state of its resident CTAs."""

    def __init__(self, program: Program, memory: DeviceMemory, symbols: np.ndarray):
        self.program, self.memory = program, memory
        self._loaded = Loaded(program.objects)
        self._functions = np.array([self._loaded.address(f) for f in program.functions])
        self._symbols = symbols
        self._machines: dict[Geometry, Machine] = {}
        self._keep: list = []

    def machine(self, geometry: Geometry) -> Machine:
        """State for a geometry, made once."""
        if geometry not in self._machines:
            self._machines[geometry] = self._build(geometry)
        return self._machines[geometry]

    def _build(self, geometry: Geometry) -> Machine:
        program, places = self.program, geometry.places
        rows = places * geometry.warps
        n = len(program.blocks)
        shared_bytes = program.shared_bytes + geometry.dynamic_shared
        shared = aligned(places * max(-(-shared_bytes // 64) * 64, 64), np.uint8)
        local = aligned(rows * LANES * max(program.local_bytes, 16), np.uint8)
        machine = Machine(
            launch=aligned(1, LAUNCH).view(np.recarray),
            running=aligned(1, RUNNING).view(np.recarray),
            ctas=aligned(places, CTA).view(np.recarray),
            warps=aligned(rows, WARP).view(np.recarray),
            group_block=np.zeros((rows, LANES), np.int64),
            group_lanes=np.zeros((rows, LANES), np.int64),
            group_state=np.zeros((rows, LANES), np.int64),
            barriers=np.zeros((places, BARRIERS), BARRIER_STATE).view(np.recarray),
            blocks=np.ascontiguousarray(program.blocks).view(np.recarray),
            functions=self._functions,
            times=np.zeros(n, np.int64),
            lanes=np.zeros(n, np.int64),
            registers=aligned(rows * max(program.register_bytes // 8, 8), np.int64),
            scratch=aligned(rows * SCRATCH_WORDS, np.int64).reshape(rows, SCRATCH_WORDS),
            fault=np.zeros(1, FAULT).view(np.recarray),
            sites=np.zeros(max(len(program.sites), 1), SITE).view(np.recarray),
            allocations=self.memory.table.view(np.recarray),
            known=np.zeros(1, np.int64),
        )
        threads = thread_ids(geometry)
        for k, (_, window) in enumerate(program.sites):
            machine.sites[k].low, machine.sites[k].space = 1 << 62, window
        launch = machine.launch[0]
        check = entry_points(machine.kind)
        launch.symbols = self._symbols.ctypes.data
        launch.sites = machine.sites.ctypes.data
        if program.targets is not None:
            launch.targets, launch.target_count = program.targets.ctypes.data, len(program.targets)
        launch.context = machine._address
        launch.check = check.address
        launch.ntid_x, launch.ntid_y, launch.ntid_z = geometry.block
        launch.nctaid_x, launch.nctaid_y, launch.nctaid_z = geometry.grid
        launch.shared_bytes, launch.dynamic_shared_bytes = shared_bytes, geometry.dynamic_shared
        launch.local_bytes, launch.warps = program.local_bytes, geometry.warps
        running = machine.running[0]
        running.most_places = places
        running.ctas = geometry.grid[0] * geometry.grid[1] * geometry.grid[2]
        running.register_bytes = program.register_bytes
        running.cleared_bytes = program.cleared_bytes
        running.warps_address = machine.warps.ctypes.data
        running.entry, running.threads = program.entry, geometry.threads
        size = shared.nbytes // places
        for place in range(places):
            machine.ctas[place].shared = shared.ctypes.data + place * size
        for w in range(rows):
            warp = machine.warps[w]
            place, index = divmod(w, geometry.warps)
            warp.registers = machine.registers.ctypes.data + w * program.register_bytes
            warp.launch = machine.launch.ctypes.data
            warp.cta = machine.ctas.ctypes.data + place * CTA.itemsize
            warp.threads = threads.ctypes.data + index * 12 * LANES
            warp.local = local.ctypes.data + w * LANES * program.local_bytes
            warp.index, warp.number = index, w
            warp.scratch = machine.scratch.ctypes.data + w * 8 * SCRATCH_WORDS
        self._keep += [shared, local, threads, check]
        return machine

    def run(self, geometry: Geometry, parameters: np.ndarray) -> None:
        """Run a launch to its end."""
        machine = self._begin(geometry, parameters)
        while (stop := run(machine, SLICE)) == Stop.TIME:
            pass
        if stop != Stop.DONE:
            raise self._problem(machine, stop)

    def run_recorded(
        self, geometry: Geometry, parameters: np.ndarray, read: Callable[[np.ndarray], None]
    ) -> None:
        """Run a launch to its end; ``read`` is given the streams of all CTAs piece by piece.

        The program must have been translated for recording.
        """
        machine = self._begin(geometry, parameters)
        machine.running[0].recording = False  # no stop at the end of each CTA
        streams = Streams(machine, FEW_STREAM_WORDS)
        while (stop := run(machine, SLICE)) != Stop.DONE:
            if stop == Stop.SPACE:
                place = int(machine.running[0].place)
                if not streams.drain(place, read):
                    streams.grow(place)
            elif stop != Stop.TIME:
                raise self._problem(machine, stop)
        for place in range(len(machine.ctas)):
            streams.drain(place, read)

    def ctas(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        read: Callable[[np.ndarray], None] | None = None,
    ) -> Iterator[Cta]:
        """Run a launch CTA by CTA and yield what the timing model reads of each, in grid order.

        The program must have been translated for recording. ``read`` is given the streams, too.
        """
        machine = self._begin(geometry, parameters)
        expander = Expander(self.program, geometry.warps)
        streams = Streams(machine)
        ended: dict[int, Cta] = {}
        wanted = 0
        while (stop := run(machine, SLICE)) != Stop.DONE:
            place = int(machine.running[0].place)
            if stop == Stop.SPACE:
                streams.grow(place)
            elif stop == Stop.CTA_ENDED:
                number, index, words = streams.take(place)
                if read is not None:
                    read(words)
                ended[number] = expander.cta(index, words)
            elif stop != Stop.TIME:
                raise self._problem(machine, stop)
            while wanted in ended:
                yield ended.pop(wanted)
                wanted += 1

    def _begin(self, geometry: Geometry, parameters: np.ndarray) -> Machine:
        machine = self.machine(geometry)
        machine.launch[0].parameters = parameters.ctypes.data
        machine.launch[0].parameter_bytes = len(parameters)
        machine.known[0] = len(self.memory)
        running = machine.running[0]
        running.place = running.next_cta = running.idle = 0
        running.places = 1
        running.recording = bool(self.program.blocks["stream_words"].any())
        machine.ctas.linear[:] = -1
        return machine

    def _problem(self, machine: Machine, stop: int) -> Exception:
        return RuntimeError((Stop(stop), Fault(machine.fault[0].kind), machine.fault[0]))


class Streams:
    """The stream buffers of the CTAs that run, one a place; they grow as needed."""

    def __init__(self, machine: Machine, first: int = FIRST_STREAM_WORDS):
        """``first``: words of a buffer when it is first needed."""
        self._machine, self._first = machine, first
        self._buffers = [np.empty(0, np.int64)] * len(machine.ctas)
        for cta in machine.ctas:
            cta.stream = cta.stream_end = 0

    def _used(self, place: int) -> int:
        buffer = self._buffers[place]
        return (
            (int(self._machine.ctas[place].stream) - buffer.ctypes.data) // 8 if len(buffer) else 0
        )

    def grow(self, place: int) -> None:
        """Twice the room, with what is there already."""
        used = self._used(place)
        buffer = np.empty(max(2 * len(self._buffers[place]), self._first), np.int64)
        buffer[:used] = self._buffers[place][:used]
        self._buffers[place] = buffer
        cta = self._machine.ctas[place]
        cta.stream = buffer.ctypes.data + 8 * used
        cta.stream_end = buffer.ctypes.data + buffer.nbytes

    def drain(self, place: int, read: Callable[[np.ndarray], None]) -> bool:
        """Empty a buffer after ``read`` has seen its words; false if there were none."""
        words = self._buffers[place][: self._used(place)]
        if len(words):
            read(words)
            self._machine.ctas[place].stream = self._buffers[place].ctypes.data
        return len(words) > 0

    def take(self, place: int) -> tuple[int, tuple[int, int, int], np.ndarray]:
        """Number, index and stream words of the CTA that ended; its place becomes free."""
        cta = self._machine.ctas[place]
        words = self._buffers[place][: self._used(place)]
        cta.stream = self._buffers[place].ctypes.data
        number = int(cta.linear)
        cta.linear = -1
        return number, (int(cta.ctaid_x), int(cta.ctaid_y), int(cta.ctaid_z)), words


def thread_ids(geometry: Geometry) -> np.ndarray:
    """tid.x, tid.y, tid.z of each lane: int32 [warps, 3, LANES]."""
    x, y, _ = geometry.block
    linear = np.arange(geometry.warps * LANES)
    axes = [linear % x, linear // x % y, linear // (x * y)]
    threads = aligned(geometry.warps * 3 * LANES, np.int32).reshape(geometry.warps, 3, LANES)
    for k, axis in enumerate(axes):
        threads[:, k] = axis.reshape(geometry.warps, LANES)
    return threads
