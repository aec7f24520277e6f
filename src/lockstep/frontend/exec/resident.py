"""The memory of the CTAs that are resident together: registers, shared, local, bookkeeping."""

import ctypes
import mmap
from dataclasses import dataclass

import numpy as np

from lockstep._jit import DISABLED
from lockstep.frontend.exec.access import check, entry_points
from lockstep.frontend.exec.machine import (
    ALL_BARRIERS,
    BARRIER_STATE,
    ENDED,
    MOST_ENDED,
    RUNNING,
    Machine,
)
from lockstep.frontend.exec.memory import NORESERVE, DeviceMemory
from lockstep.frontend.exec.program import Program
from lockstep.frontend.exec.state import (
    COUNTER,
    CTA,
    FAULT,
    LANES,
    LAUNCH,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    SCRATCH_WORDS,
    SHARED_WINDOW,
    SITE,
    TAG_SHIFT,
    WARP,
    WINDOW_BYTES,
)

STACK_BYTES = 16384  # of a thread, for recursive functions, where nobody asks for more
LARGE = 1 << 16  # bytes for which memory is mapped; np.zeros may clear them
WORKSPACE_BYTES = 8  # what cooperative_groups::this_grid().sync() uses: a word of its own, a count
NO_ALLOCATION = 1 << 62  # where a site looks that has accessed nothing yet


@dataclass(frozen=True)
class Geometry:
    """Shape of a launch; ``places`` is how many CTAs the GPU holds at once, in whole clusters.

    ``cluster``: CTAs of a cluster, divisors of the grid. ``explicit``: somebody asked for it.

    ``workspace``: device address of the barrier of the grid, 0 if the launch is not cooperative. It
    has WORKSPACE_BYTES, which are zero before the first launch; a launch leaves them ready for
    another one. ``stack_bytes``: of a thread, for recursive functions.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int = 0
    places: int = 1
    workspace: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    explicit: bool = False
    stack_bytes: int = STACK_BYTES

    @property
    def threads(self) -> int:
        """Threads in a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps in a CTA."""
        return -(-self.threads // LANES)

    @property
    def ctas(self) -> int:
        """CTAs in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster_ctas(self) -> int:
        """CTAs in a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def turn(self, index: tuple[int, int, int]) -> int:
        """Place of a CTA in the order in which CTAs start: cluster by cluster, in each by rank."""
        number = rank = 0
        for k, ctas, blocks in zip(index[::-1], self.cluster[::-1], self.grid[::-1]):
            number, rank = number * (blocks // ctas) + k // ctas, rank * ctas + k % ctas
        return number * self.cluster_ctas + rank

    @property
    def room(self) -> int:
        """Places that the state of resident CTAs has: a few sizes serve all grids."""
        return 1 << (self.places - 1).bit_length()

    @property
    def shape(self) -> tuple:
        """What the state of resident CTAs depends on."""
        return self.block, self.dynamic_shared, self.room, self.stack_bytes


@dataclass(frozen=True)
class Limits:
    """What bounds a launch, beside the GPU."""

    instructions: int | None = None  # that the warps of a launch may execute; None = no limit
    sms: int = 1  # as the kernel sees them


def aligned(count: int, dtype, alignment: int = 64) -> np.ndarray:
    """A zeroed array whose address is a multiple of ``alignment`` bytes.

    Large ones take memory when they are first touched.
    """
    dtype = np.dtype(dtype)
    size = count * dtype.itemsize
    if size >= LARGE:
        return np.frombuffer(_mapped(size), dtype)
    raw = np.zeros(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + size].view(dtype)


def _mapped(size: int) -> mmap.mmap:
    """Memory that the system does not set aside: deep stacks are seldom used to their end."""
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | NORESERVE)
    except OSError as error:
        raise MemoryError(f"{size} bytes for the CTAs of a launch: {error.strerror}") from error


class Resident:
    """State of one launch at a time, of all CTAs that may be resident together."""

    def __init__(
        self,
        program: Program,
        geometry: Geometry,
        functions: np.ndarray,
        symbols: np.ndarray,
        table: np.ndarray,
        limits: Limits,
    ):
        """``functions``: address of each block. ``table``: the allocations of device memory."""
        self.program, self.geometry = program, geometry
        self._local_bytes = program.thread_bytes(geometry.stack_bytes)
        rows = geometry.room * geometry.warps
        self._shared_bytes = (
            program.reserved_shared + program.shared_bytes + geometry.dynamic_shared
        )
        self._shared_stride = max(-(-self._shared_bytes // 64) * 64, 64)
        self._shared = aligned(geometry.room * self._shared_stride, np.uint8)
        self._local = aligned(rows * LANES * max(self._local_bytes, 16), np.uint8)
        self._threads = thread_ids(geometry)
        self._symbols, self._table = symbols, table
        self.counters = aligned(0 if program.guarded is None else len(program.guarded), COUNTER)
        self.machine = self._allocate(rows, functions)
        # What each launch writes: the elements of record arrays are slow from Python.
        self._launch = self.machine.launch.view(np.ndarray)[0]
        self._running = self.machine.running.view(np.ndarray)[0]
        self._sites = self.machine.sites.view(np.ndarray)
        self._recording = bool(program.blocks["stream_words"].any())
        self._describe_launch(limits)
        self._describe_running()
        self._attach()

    def _allocate(self, rows: int, functions: np.ndarray) -> Machine:
        program, places = self.program, self.geometry.room
        n = len(program.blocks)
        machine = Machine(
            launch=aligned(1, LAUNCH).view(np.recarray),
            running=aligned(1, RUNNING).view(np.recarray),
            ctas=aligned(places, CTA).view(np.recarray),
            ended=aligned(MOST_ENDED, ENDED).view(np.recarray),
            warps=aligned(rows, WARP).view(np.recarray),
            group_block=aligned(rows * LANES, np.int64).reshape(rows, LANES),
            group_lanes=aligned(rows * LANES, np.int64).reshape(rows, LANES),
            group_state=aligned(rows * LANES, np.int64).reshape(rows, LANES),
            barriers=aligned(places * ALL_BARRIERS, BARRIER_STATE)
            .reshape(places, ALL_BARRIERS)
            .view(np.recarray),
            blocks=np.ascontiguousarray(program.blocks).view(np.recarray),
            functions=functions,
            times=np.zeros(n, np.int64),
            lanes=np.zeros(n, np.int64),
            registers=aligned(rows * max(program.register_bytes // 8, 8), np.int64),
            scratch=aligned(rows * SCRATCH_WORDS, np.int64).reshape(rows, SCRATCH_WORDS),
            fault=np.zeros(1, FAULT).view(np.recarray),
            sites=np.zeros(max(len(program.sites), 1), SITE).view(np.recarray),
            allocations=self._table.view(np.recarray),
            known=np.zeros(1, np.int64),
        )
        for k, (_, window) in enumerate(program.sites):
            machine.sites[k].space = window
        return machine

    def _describe_launch(self, limits: Limits) -> None:
        launch = self.machine.launch[0]
        launch.symbols = self._symbols.ctypes.data
        launch.sites = self.machine.sites.ctypes.data
        launch.counters = self.counters.ctypes.data
        targets = self.program.targets
        if targets is not None:
            launch.targets, launch.target_count = targets.ctypes.data, len(targets)
        launch.ntid_x, launch.ntid_y, launch.ntid_z = self.geometry.block
        launch.shared_bytes = self._shared_bytes
        launch.dynamic_shared_bytes = self.geometry.dynamic_shared
        launch.local_bytes, launch.warps = self._local_bytes, self.geometry.warps
        launch.sms = limits.sms

    def _describe_running(self) -> None:
        machine, program = self.machine, self.program
        running = machine.running[0]
        running.register_bytes = program.register_bytes
        running.cleared_bytes = program.cleared_bytes
        running.entry, running.threads = program.entry, self.geometry.threads
        running.launch_address = machine.launch.ctypes.data
        running.ctas_address = machine.ctas.ctypes.data
        running.warps_address = machine.warps.ctypes.data
        running.registers_address = machine.registers.ctypes.data
        running.scratch_address = machine.scratch.ctypes.data
        running.threads_address = self._threads.ctypes.data
        running.local_address = self._local.ctypes.data
        running.shared_address, running.shared_stride = (
            self._shared.ctypes.data,
            self._shared_stride,
        )

    def _attach(self) -> None:
        """Tell generated code where the runtime and its state are."""
        machine, launch = self.machine, self.machine.launch[0]
        if DISABLED:
            signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * 4)
            self._check = signature(lambda _, *numbers: int(check(machine, *numbers)))
            launch.check = ctypes.cast(self._check, ctypes.c_void_p).value
        else:
            self._check = entry_points(machine.kind)
            launch.check, launch.context = self._check.address, machine._address

    def start(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        memory: DeviceMemory,
        number: int,
        now: int,
    ) -> None:
        """Begin a launch of the same shape: the device's nth, at ``now`` nanoseconds."""
        self.geometry, self._parameters = geometry, parameters
        self.follow(memory)
        machine, launch, running = self.machine, self._launch, self._running
        launch["parameters"] = parameters.ctypes.data
        launch["parameter_bytes"] = len(parameters)
        launch["memory"], launch["memory_bytes"] = memory.base, memory.capacity
        launch["nctaid_x"], launch["nctaid_y"], launch["nctaid_z"] = geometry.grid
        self._describe_clusters(geometry)
        launch["grid_id"], launch["nanoseconds"], launch["clock"] = number, now, 0
        launch["workspace"] = geometry.workspace
        running["place"] = running["next_cta"] = running["executed"] = 0
        running["ended"] = 0
        running["places"], running["most_places"] = geometry.cluster_ctas, geometry.places
        running["ctas"], running["recording"] = geometry.ctas, self._recording
        machine.ctas.linear[: geometry.cluster_ctas] = -1
        machine.times[:] = 0
        machine.lanes[:] = 0
        self.counters.view(np.int64)[:] = 0

    def _describe_clusters(self, geometry: Geometry) -> None:
        launch = self._launch
        for axis, blocks, ctas in zip("xyz", geometry.grid, geometry.cluster):
            launch[f"cluster_{axis}"], launch[f"nclusterid_{axis}"] = ctas, blocks // ctas
        launch["cluster_ctas"] = geometry.cluster_ctas
        launch["explicit_cluster"] = geometry.explicit
        launch["tag"] = 1 << TAG_SHIFT if self.program.clustered else 0

    def follow(self, memory: DeviceMemory) -> None:
        """Take over the allocations of device memory, and forget those that sites know."""
        if memory.table is not self._table:
            self._table = memory.table
            self.machine = self.machine._replace(allocations=self._table.view(np.recarray))
            self._attach()
        self.machine.known[0] = len(memory)
        self._sites["low"] = NO_ALLOCATION

    @property
    def place(self) -> int:
        """Of the CTA that runs."""
        return int(self._running["place"])

    @property
    def executed(self) -> int:
        """Warp instructions of the launch so far."""
        return int(self._running["executed"])

    def host_address(self, w: int, lane: int, address: int) -> tuple[int, int] | None:
        """Where a generic address of a thread is in this process, and how many bytes follow it.

        None for addresses outside shared and local memory and the parameters.
        """
        launch, warp = self.machine.launch[0], self.machine.warps[w]
        cta = self.machine.ctas[w // self.geometry.warps]
        local = int(warp.local) + lane * self._local_bytes
        first = w // self.geometry.warps - int(cta.rank)
        tag = int(launch.tag)
        shared = [
            (SHARED_WINDOW + rank * tag, int(self.machine.ctas[first + rank].shared))
            for rank in range(self.geometry.cluster_ctas if tag else 1)
        ]
        for window, start, size in (
            *((window, start, self._shared_bytes) for window, start in shared[::-1]),
            (LOCAL_WINDOW, local, self._local_bytes),
            (PARAMETER_WINDOW, int(launch.parameters), int(launch.parameter_bytes)),
        ):
            if window <= address < window + WINDOW_BYTES:
                return start + address - window, size - (address - window)
        return None

    def cta_index(self, number: int) -> tuple[int, int, int]:
        """%ctaid of the nth CTA of the grid."""
        x, y, _ = self.geometry.grid
        return number % x, number // x % y, number // (x * y)

    def thread_index(self, w: int, lane: int) -> tuple[int, int, int]:
        """%tid of a lane of a row of warps."""
        number = w % self.geometry.warps * LANES + lane
        x, y, _ = self.geometry.block
        return number % x, number // x % y, number // (x * y)


def thread_ids(geometry: Geometry) -> np.ndarray:
    """tid.x, tid.y, tid.z of each lane: int32 [warps, 3, LANES]."""
    x, y, _ = geometry.block
    linear = np.arange(geometry.warps * LANES)
    axes = [linear % x, linear // x % y, linear // (x * y)]
    threads = aligned(geometry.warps * 3 * LANES, np.int32).reshape(geometry.warps, 3, LANES)
    for k, axis in enumerate(axes):
        threads[:, k] = axis.reshape(geometry.warps, LANES)
    return threads
