"""The state of a checked launch: shadow of shared memory, records, clocks."""

import ctypes

import numpy as np

from lockstep._jit import DISABLED, as_records
from lockstep.execution.checks import races, unwritten
from lockstep.execution.checks.kinds import Check
from lockstep.execution.checks.record import FINDING, MOST_FINDINGS
from lockstep.execution.checks.shadow import Shadow
from lockstep.execution.checks.state import MEETINGS, PLANES, Checked, unchecked
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.memory.storage import Region
from lockstep.execution.scheduling.machine import ALL_BARRIERS, Machine
from lockstep.execution.state import MOST_LANES, SINK_BYTES


class Checking:
    """What launches of one shape look for, and where they keep what they need for that.

    Of shared memory, 2 ** ``granule`` bytes have records of their own.
    """

    def __init__(self, checks: Check, shadow: Shadow | None, granule: int):
        self.checks, self._shadow, self._granule = checks, shadow, granule
        self.state = unchecked()
        self.arrays: dict[str, np.ndarray] = {}  # of the machine, that lie somewhere else
        self._functions: dict[str, tuple] = {}
        if Check.MEMORY in checks:
            size = MOST_LANES * SINK_BYTES
            self._sink = shadow.array(size) if shadow else Region(size).bytes
            if shadow:
                shadow.mark(self._sink.ctypes.data, size)

    def prepare(self, geometry: Geometry, stride: int) -> None:
        """Make room for launches of a shape, with so many bytes of shared memory for a CTA."""
        if not self.checks:
            return
        places, warps = geometry.room, geometry.warps
        written, records, count = np.zeros(0, np.uint8), 0, 0
        if self._shadow:
            shared = self._shadow.array(places * stride)
            written = self._shadow.of(shared.ctypes.data, len(shared))
            self.arrays["shared"] = shared
        if Check.RACES in self.checks:
            records, count = places * stride >> self._granule, geometry.cluster_ctas * warps
        rows = places if count else 0
        size = PLANES * records
        self.state = Checked(
            findings=as_records(np.zeros(MOST_FINDINGS, FINDING)),
            found=np.zeros(2, np.int64),
            written=written,
            races=Region(max(8 * size, 1))
            .bytes[: 8 * size]
            .view(np.int64)
            .reshape(PLANES, records),
            clocks=np.zeros((rows * warps, count), np.int64),
            arrivals=np.zeros((rows, ALL_BARRIERS, count), np.int64),
            meetings=np.zeros((rows, MEETINGS + 1, count), np.int64),
        )

    def attach(self, machine: Machine) -> None:
        """Tell generated code where all that is."""
        launch, running = machine.launch[0], machine.running[0]
        running.granule = self._granule
        if Check.MEMORY in self.checks:
            launch.sink = self._sink.ctypes.data
        if self.checks:
            records = machine.checked.races
            offset = running.shared_address >> self._granule << 3
            launch.races = records.ctypes.data - offset
            launch.race_plane = records.shape[1] * 8
            self._functions = _pointers(machine)
            for name, (address, _) in self._functions.items():
                launch[name] = address

    def begin(self, machine: Machine) -> None:
        """A launch begins."""
        if self.checks:
            machine.launch[0].fenced = 0
            self.state.found[:] = 0


def _pointers(machine: Machine) -> dict[str, tuple]:
    """By name the address of each runtime function, and what keeps it alive."""
    names = ("watch", "collide", "order", "unwritten")
    if not DISABLED:
        compiled = (*races.entry_points(machine.kind), unwritten.entry_points(machine.kind))
        return {name: (f.address, f) for name, f in zip(names, compiled)}
    functions = (*races.FUNCTIONS, (unwritten.unwritten, 4))
    found = {}
    for name, (function, integers) in zip(names, functions):
        words = [ctypes.c_int64] * integers
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *words)
        kept = signature(lambda _, *numbers, call=function: int(call(machine, *numbers)))
        found[name] = (ctypes.cast(kept, ctypes.c_void_p).value, kept)
    return found
