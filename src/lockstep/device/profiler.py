"""What the L2 holds when a profiler runs a kernel once more, with ``launch.l2 = "replay"``.

Nsight Compute runs a kernel as often as its counters need. It keeps copies of all memory, runs the
kernel, looks what has changed, and restores that before it runs the kernel again; so says
https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#kernel-replay. By what pieces it
restores was measured: of twenty kernels of Triton on an H100 all read what lies in ``BLOCK`` bytes
with something that they write from the L2, and everything else from DRAM. All memory is read twice,
when it is copied and when it is compared, by whatever SM: on an L2 with two sides half of the lines
are then on both.
"""

from collections.abc import Iterator
from contextlib import suppress

from lockstep.device.changes import content, differing
from lockstep.device.launch import Launch
from lockstep.errors import LockstepError
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.programs.program import Recording
from lockstep.gpus.library import totals
from lockstep.gpus.spec import GPU
from lockstep.workload.warm import MemoryPass

BLOCK = 4 << 20  # bytes of an allocation, from its begin on, that are restored together
COPIES = 1 << 43  # bytes from device memory to where copies are kept; a guess
OTHERS = 1 << 44  # where nobody's data lie


class KernelReplay:
    """What passes through the L2 before each launch of a device."""

    def __init__(self, gpu: GPU, memory: DeviceMemory):
        self._memory = memory
        self._before = 2 * totals(gpu).l2_bytes  # bytes: the L2 was in use before all launches

    def passes(self, launch: Launch) -> Iterator[MemoryPass]:
        """What is compared and restored; everything before the launch must have been done."""
        if self._before:
            yield MemoryPass(OTHERS, self._before)
            self._before = 0
        for address, size in self._memory.allocations():
            if size:
                yield MemoryPass(address, size)
                yield MemoryPass(address + COPIES, size)
        for address, size in self._changed(launch):
            yield MemoryPass(address + COPIES, size)
            yield MemoryPass(address, size, written=True)

    def _changed(self, launch: Launch) -> list[tuple[int, int]]:
        """The blocks (address, bytes) that a launch changes: it is executed, and undone.

        Of one that asks the host for something, which cannot be undone, nothing is known: none.
        """
        executor = launch.kernel.executor(Recording.NOTHING)
        if executor.program.asks_host:
            return []
        before, services = content(self._memory), executor.services
        told = services.launches, services.nanoseconds
        with suppress(LockstepError):  # it fails again when it is simulated
            executor.run(launch.geometry, launch.kernel.block(launch.parameters, launch.geometry))
        services.launches, services.nanoseconds = told
        changed = []
        for address, old in before.items():
            now = self._memory.view(address, len(old))
            for start in differing(old, now, BLOCK):
                changed.append((address + start, min(BLOCK, len(old) - start)))
            now[:] = old
        return changed
