"""The device that programs run on, which launches are timed, and what is counted of all of them."""

import sys
from collections import Counter
from functools import partial
from typing import Any

import msgspec

from lockstep.device import Device, Event, Launch, Stream, System, Treatment
from lockstep.device.device import Geometry
from lockstep.device.launch import LaunchedKernel
from lockstep.engine.record import KernelRun
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.gpus.system import GpuSystem
from lockstep.metrics.result import Result
from lockstep.metrics.system import SystemResult
from lockstep.report.figures import clean
from lockstep.runtime.images import Entry


class KernelCount(msgspec.Struct):
    """The launches of one kernel."""

    code: str = ""  # what was executed, such as "PTX"
    launches: int = 0
    timed: list[Launch] = []
    forced_untimed: int = 0

    @property
    def forced(self) -> int:
        """Times that lanes went on without others that they waited for, which could not come."""
        return self.forced_untimed + sum(launch.forced for launch in self.timed)

    @property
    def runs(self) -> list[KernelRun]:
        """The launches whose simulation has ended."""
        return [launch.run for launch in self.timed if launch.run is not None]

    @property
    def cycles(self) -> list[int]:
        """Core cycles of these."""
        return [run.cycles for run in self.runs]

    @property
    def last_cycles(self) -> int:
        """Core cycles of the last one of these; 0 if there is none."""
        return next((x.run.cycles for x in reversed(self.timed) if x.run is not None), 0)


class Traffic(msgspec.Struct):
    """Copies in one direction."""

    count: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        """Count a copy."""
        self.count += 1
        self.bytes += size


class Moment(msgspec.Struct, frozen=True):
    """When an event happened: a place in the timed launches, and the estimate of the others.

    ``stream``: where; ``event``: if launches are simulated.
    """

    stream: Stream
    event: Event | None
    untimed_cycles: float


class Simulator:
    """One modelled GPU, or those of a system, and the programs on them.

    ``timed``: whether launches are simulated; ``choose``, of the options, says which, if not all.
    ``ptx``: PTX is executed even where programs have machine code that the GPU runs. ``options``
    are those of :class:`lockstep.Device`. Raises :class:`LockstepError` for a GPU that runs none.
    """

    def __init__(
        self, gpu: GPU | GpuSystem, timed: bool = False, ptx: bool = False, **options: Any
    ):
        self.timed, self.ptx = timed, ptx
        for one in gpu.gpus if isinstance(gpu, GpuSystem) else (gpu,):
            if one.core == "cu":
                what = (
                    "executes kernels for Southern Islands (lockstep opencl), and no CUDA program"
                )
                raise LockstepError(f"{one.name} {what}: another --gpu does")
        if not timed:
            options = {k: v for k, v in options.items() if k not in _TIMING_OPTIONS}
        options |= {"timing": timed, "shared_memory": True}
        self.system = System(gpu, **options) if isinstance(gpu, GpuSystem) else None
        if isinstance(gpu, GpuSystem):
            assert self.system is not None, "it was made"
            self.devices = self.system.devices
        else:
            self.devices = (Device(gpu, **options),)
        self.device = self.devices[0]
        for device in self.devices:
            device.tell_child = partial(self._count_child, device)
        memories = [device.memory for device in self.devices]
        spans = [range(memory.base, memory.base + memory.capacity) for memory in memories]
        self._spans = list(zip(self.devices, spans))  # also of devices that are closed
        self.kernels: dict[str, KernelCount] = {}
        self.copies = {name: Traffic() for name in ("to device", "to host", "on device", "fills")}
        self.unsupported: Counter[str] = Counter()
        self.problems: list[str] = []
        self.printed = bytearray()  # by kernels, for the program that is served
        self.stuck = False  # a launch could not move, or reached a limit
        self.untimed_cycles = 0.0

    @property
    def launches(self) -> int:
        """All launches so far."""
        return sum(count.launches for count in self.kernels.values())

    @property
    def name(self) -> str:
        """Of the GPU, or of the system."""
        return self.system.spec.name if self.system else self.device.gpu.name

    def home(self, address: int) -> Device:
        """The device whose memory an address lies in; the first one, if it is no device's."""
        return next((d for d, span in self._spans if address in span), self.device)

    def keep_printed(self) -> None:
        """Leave in ``printed`` what kernels print from now on."""
        for device in self.devices:
            device.services.write_printed = self.printed.extend

    def partial_result(self) -> Result | SystemResult:
        """Of what was simulated so far."""
        if self.system is not None:
            return self.system.partial_result()
        return self.device.partial_result()

    def launch(self, entry: Entry, geometry: Geometry, parameters: bytes, stream: Stream) -> None:
        """Launch a kernel, timed or not."""
        count = self._count(entry.kernel)
        device = self.devices[stream.device.index]
        self._note(count, device, device.launch(entry.kernel, geometry, parameters, stream, ()))

    def _count(self, kernel: LaunchedKernel) -> KernelCount:
        """One launch more of a kernel."""
        count = self.kernels.setdefault(kernel.name, KernelCount())
        count.launches += 1
        count.code = kernel.module.code
        return count

    def _count_child(self, device: Device, launch: Launch) -> None:
        """A kernel launched another one."""
        self._note(self._count(launch.kernel), device, launch)

    def _note(self, count: KernelCount, device: Device, launch: Launch) -> None:
        """What becomes of a launch."""
        if self.timed and launch.treatment is Treatment.SIMULATE:
            count.timed.append(launch)
            return
        count.forced_untimed += launch.forced
        if count.timed and not count.last_cycles:  # what it counts as is queued
            device.drain()
        self.untimed_cycles += count.last_cycles

    def moment(self, stream: Stream) -> Moment:
        """Now, in a stream."""
        event = self.devices[stream.device.index].event().record(stream) if self.timed else None
        return Moment(stream, event, self.untimed_cycles)

    def nanoseconds(self, start: Moment, end: Moment) -> int:
        """Simulated time between two moments: the timed launches, and an estimate of the others.

        Launches of a kernel that are not timed count as the last timed one; without timing, no
        time passes.
        """
        if start.event is None or end.event is None:
            return 0
        if self.device.host_takes_time and self.untimed_cycles == 0:
            return round(start.event.elapsed(end.event) * 1e6)
        cycles = end.event.cycle - start.event.cycle + end.untimed_cycles - start.untimed_cycles
        return round(cycles * 1000 / self.device.gpu.clock_mhz)

    def interrupt(self) -> None:
        """Say, also in the results, that a signal ended the run."""
        if self.device.timing is not None:
            self.device.timing.interrupt()
        self.report("interrupted; the figures are partial")

    def close(self) -> None:
        """Free the device."""
        for device in self.devices:
            device.close()

    def report(self, problem: object) -> None:
        """Say on stderr what went wrong; once, if it is said again and again."""
        text = clean(" ".join(str(problem).splitlines()))
        text = text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 3] + "..."
        if text not in self.problems:
            self.problems.append(text)
            sys.stdout.flush()
            print(f"lockstep: {text}", file=sys.stderr, flush=True)


_LONGEST_LINE = 1000  # characters: names come from the program
_TIMING_OPTIONS = ("threads", "interval", "timeline", "source", "progress", "choose")
