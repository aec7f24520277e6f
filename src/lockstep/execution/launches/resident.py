"""The memory of the CTAs that are resident together: registers, shared, local, bookkeeping."""

import ctypes

import numpy as np

from lockstep._jit import DISABLED, as_records
from lockstep.execution.checks.launch import Checking
from lockstep.execution.device_runtime.tasks import GridTasks, Launchables
from lockstep.execution.launches.geometry import Geometry, Limits
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.memory.storage import Region, StorageLayout
from lockstep.execution.programs.code import BlockCode
from lockstep.execution.programs.program import Program, Recording
from lockstep.execution.scheduling.access import check, entry_points
from lockstep.execution.scheduling.machine import (
    ALL_BARRIERS,
    BARRIER_STATE,
    ENDED,
    MOST_ENDED,
    MOST_LEFT,
    RUNNING,
    Machine,
)
from lockstep.execution.state import (
    COUNTER,
    CTA,
    FAULT,
    LAUNCH,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    SITE,
    TAG_SHIFT,
    WARP,
    WINDOW_BYTES,
    scratch_words,
)

WORKSPACE_BYTES = 8  # what cooperative_groups::this_grid().sync() uses: a word of its own, a count
_WIDEST = 16  # bytes of an access
NO_ALLOCATION = 1 << 62  # where a site looks that has accessed nothing yet


class Resident:
    """State of one launch at a time, of all CTAs that may be resident together.

    What is large lies in memory that is borrowed for the launch.
    """

    def __init__(
        self,
        program: Program,
        geometry: Geometry,
        code: BlockCode,
        symbols: np.ndarray,
        memory: DeviceMemory,
        limits: Limits,
        checking: Checking,
    ):
        self.program, self.geometry = program, geometry
        self.kernels: Launchables | None = None  # that it may launch
        self.tasks: GridTasks | None = None  # of the launch, if it left any
        self._local_bytes = program.thread_bytes(geometry.stack_bytes)
        self._shared_bytes = (
            program.reserved_shared + program.shared_bytes + geometry.dynamic_shared
        )
        # Machine code reads several variables at once, and past the last.
        unit = 1 if program.targets is None else _WIDEST
        self._shared_limit = -(-self._shared_bytes // unit) * unit
        self._shared_stride = max(-(-self._shared_bytes // 64) * 64, 64)
        self._symbols, self._table = symbols, memory.table
        self._own = self._allocate(code)
        self._threads, self.counters = self._own.pop("threads"), self._own.pop("counters")
        self._large, self._checking = self._lay_out(), checking
        checking.prepare(geometry, self._shared_stride)
        self._region: Region | None = None
        # What each launch writes: the elements of record arrays are slow from Python.
        self._launch, self._running = self._own["launch"][0], self._own["running"][0]
        self._sites = self._own["sites"]
        tells = bool(program.blocks["stream_words"].any())
        self._recording = tells or Recording.ACCESSES in program.recording
        self._describe_launch(limits, code)
        self._describe_running()

    @property
    def bytes_to_borrow(self) -> int:
        """Of the region that :meth:`start` takes."""
        return self._large.bytes

    def _lay_out(self) -> StorageLayout:
        """What a launch writes before it reads it; shared memory, of which not all do, first."""
        places, slots = self.geometry.room, max(self.program.register_bytes // 8, 8)
        rows, lanes = places * self.geometry.warps, self.geometry.lanes
        return StorageLayout(
            shared=(np.uint8, places * self._shared_stride),
            group_block=(np.int64, rows, lanes),
            group_lanes=(np.int64, rows, lanes),
            group_state=(np.int64, rows, lanes),
            registers=(np.int64, rows * slots),
            scratch=(np.int64, rows, scratch_words(lanes)),
            local=(np.uint8, rows * lanes * max(self._local_bytes, 16)),
        )

    def _allocate(self, code: BlockCode) -> dict[str, np.ndarray]:
        """What stays from one launch to the next."""
        program, places = self.program, self.geometry.room
        n = len(program.blocks)
        own = StorageLayout(
            launch=(LAUNCH, 1),
            running=(RUNNING, 1),
            ctas=(CTA, places),
            ended=(ENDED, MOST_ENDED),
            warps=(WARP, places * self.geometry.warps),
            left_of=(np.int64, places * self.geometry.warps, MOST_LEFT),
            left_by=(np.int64, places * self.geometry.warps, MOST_LEFT),
            barriers=(BARRIER_STATE, places, ALL_BARRIERS),
            times=(np.int64, n),
            lanes=(np.int64, n),
            fault=(FAULT, 1),
            sites=(SITE, max(len(program.sites), 1)),
            known=(np.int64, 1),
            threads=(np.int32, self.geometry.warps, 3, self.geometry.lanes),
            counters=(COUNTER, 0 if program.guarded is None else len(program.guarded)),
        ).zeros()
        own["blocks"], own["functions"] = np.ascontiguousarray(program.blocks), code.addresses
        own["sites"]["space"][: len(program.sites)] = [window for _, window in program.sites]
        own["threads"][:] = thread_ids(self.geometry)
        return own

    def _occupy(self, region: Region) -> None:
        """Put what is large into borrowed memory; mostly it is there already.

        What another kernel left in shared memory is cleared: nobody is told of it, and programs
        that read what they did not write shall do the same in every order.
        """
        if region.layout is not self._large:
            region.clear(self.geometry.room * self._shared_stride)
            region.layout = self._large
        if region is self._region:
            return
        self._region = region
        arrays = {"allocations": self._table, **self._own, **self._large.arrays(region.bytes)}
        arrays |= self._checking.arrays
        for name in ("registers", "scratch", "local", "shared"):
            self._running[f"{name}_address"] = arrays[name].ctypes.data
        fields = {name: arrays[name] for name in Machine._fields if name in arrays}
        self.machine = Machine(
            checked=self._checking.state,
            **{k: as_records(a) if a.dtype.names else a for k, a in fields.items()},
        )
        self._attach()

    def _describe_launch(self, limits: Limits, code: BlockCode) -> None:
        launch, own = self._launch, self._own
        launch["fetch"] = code.fetch
        launch["symbols"] = self._symbols.ctypes.data
        launch["sites"] = own["sites"].ctypes.data
        launch["counters"] = self.counters.ctypes.data
        targets = self.program.targets
        if targets is not None:
            launch["targets"], launch["target_count"] = targets.ctypes.data, len(targets)
        launch["ntid_x"], launch["ntid_y"], launch["ntid_z"] = self.geometry.block
        launch["shared_bytes"] = self._shared_bytes
        launch["shared_limit"] = self._shared_limit
        launch["dynamic_shared_bytes"] = self.geometry.dynamic_shared
        launch["local_bytes"], launch["warps"] = self._local_bytes, self.geometry.warps
        launch["sms"], launch["lanes"] = limits.sms, self.geometry.lanes

    def _describe_running(self) -> None:
        program, running, own = self.program, self._running, self._own
        running["register_bytes"] = program.register_bytes
        running["cleared_bytes"] = program.cleared_bytes
        running["entry"], running["threads"] = program.entry, self.geometry.threads
        running["launch_address"] = own["launch"].ctypes.data
        running["ctas_address"] = own["ctas"].ctypes.data
        running["warps_address"] = own["warps"].ctypes.data
        running["threads_address"] = self._threads.ctypes.data
        running["shared_stride"] = self._shared_stride
        first = self._shared_bytes - program.reserved_shared if program.reserved_last else 0
        running["reserved_first"] = first
        running["reserved_behind"] = first + program.reserved_shared

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
        self._checking.attach(machine)

    def start(
        self,
        geometry: Geometry,
        parameters: np.ndarray,
        memory: DeviceMemory,
        region: Region,
        number: int,
        now: int,
    ) -> None:
        """Begin a launch of the same shape: the device's nth, at ``now`` nanoseconds."""
        self.geometry, self._parameters, self.tasks = geometry, parameters, None
        self._occupy(region)
        self.follow(memory)
        machine, launch, running = self.machine, self._launch, self._running
        launch["parameters"] = parameters.ctypes.data
        launch["parameter_bytes"] = len(parameters)
        launch["memory"], launch["memory_bytes"] = memory.base, memory.capacity
        if self.notes_lines:
            memory.touched.describe(launch)
        launch["nctaid_x"], launch["nctaid_y"], launch["nctaid_z"] = geometry.grid
        self._describe_clusters(geometry)
        launch["grid_id"], launch["nanoseconds"], launch["clock"] = number, now, 0
        launch["workspace"] = geometry.workspace
        running["place"] = running["next_cta"] = running["executed"] = 0
        running["ended"] = running["forced"] = 0
        running["places"], running["most_places"] = geometry.cluster_ctas, geometry.places
        running["ctas"], running["recording"] = geometry.ctas, self._recording
        machine.ctas.linear[: geometry.cluster_ctas] = -1
        machine.fault.raised[:] = 0
        machine.times[:] = 0
        machine.lanes[:] = 0
        self.counters.view(np.int64)[:] = 0
        self._checking.begin(machine)

    @property
    def notes_lines(self) -> bool:
        """Whether it notes which lines it touches."""
        return Recording.LINES in self.program.recording

    def end(self, memory: DeviceMemory) -> None:
        """The launch has ended."""
        if self.notes_lines:
            memory.touched.end(self._launch)

    def _describe_clusters(self, geometry: Geometry) -> None:
        launch = self._launch
        for axis, blocks, ctas in zip("xyz", geometry.grid, geometry.cluster):
            launch[f"cluster_{axis}"], launch[f"nclusterid_{axis}"] = ctas, blocks // ctas
        launch["cluster_ctas"] = geometry.cluster_ctas
        launch["explicit_cluster"] = geometry.explicit
        launch["tag"] = 1 << TAG_SHIFT if self.program.clustered else 0

    def follow(self, memory: DeviceMemory) -> None:
        """Take over the allocations of device memory, and forget those that sites know."""
        table, count = memory.accessible
        if table is not self._table:
            self._table = table
            self.machine = self.machine._replace(allocations=as_records(self._table))
            self._attach()
        self.machine.known[0] = count
        self._sites["low"] = NO_ALLOCATION

    @property
    def place(self) -> int:
        """Of the CTA that runs."""
        return int(self._running["place"])

    @property
    def executed(self) -> int:
        """Warp instructions of the launch so far."""
        return int(self._running["executed"])

    @property
    def nanoseconds(self) -> int:
        """Time of the launch so far, an instruction a nanosecond; at issue without sleeps."""
        if Recording.AT_ISSUE in self.program.recording:
            return self.executed
        return int(self._launch["clock"])

    @property
    def forced(self) -> int:
        """Times that lanes of the launch went on without those whom they waited for."""
        return int(self._running["forced"])

    @property
    def forced_at(self) -> int:
        """Static index of where they first did."""
        return int(self._running["forced_at"])

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
            *((window, start, self._shared_limit) for window, start in shared[::-1]),
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
        number = w % self.geometry.warps * self.geometry.lanes + lane
        x, y, _ = self.geometry.block
        return number % x, number // x % y, number // (x * y)


def thread_ids(geometry: Geometry) -> np.ndarray:
    """tid.x, tid.y, tid.z of each lane: [warps, 3, lanes]."""
    x, y, _ = geometry.block
    linear = np.arange(geometry.warps * geometry.lanes)
    axes = [linear % x, linear // x % y, linear // (x * y)]
    return np.stack([axis.reshape(geometry.warps, geometry.lanes) for axis in axes], axis=1)
