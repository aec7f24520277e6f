"""Several modelled GPUs at one host."""

from collections.abc import Iterator
from itertools import count
from mmap import PAGESIZE
from numbers import Integral
from pathlib import Path
from typing import Any, Self

from lockstep import notebook
from lockstep.device.device import Device
from lockstep.device.options import DeviceOptions
from lockstep.device.peers import PeerTable, Seat
from lockstep.device.timing import JointTiming
from lockstep.errors import LockstepError
from lockstep.execution.checks.kinds import checks_of
from lockstep.execution.memory.address_range import LONGEST, AddressRange
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.gpus import systems
from lockstep.gpus.system import GpuSystem
from lockstep.host_calls import Synchronize
from lockstep.metrics.system import SystemResult

_ALONE = ("ranks", "checkpoint", "resume", "stop")
"""Options of a device that several of them cannot have."""


class System:
    """The GPUs of a system, each a :class:`lockstep.Device`, joined by a fabric.

    ``system``: the name of a preset, a data file, or what :func:`lockstep.gpus.systems.system`
    gives; ``gpus``: only the first so many. The options are those of a device, and hold for all;
    without ``ranks``, ``checkpoint``, ``resume`` and ``stop``. With ``timing`` the host takes time
    (docs/host.md): it asks all of them, copies cross the links, streams of several GPUs overlap.

    A context manager: closes at its end.
    """

    def __init__(
        self,
        system: str | Path | GpuSystem,
        gpus: int | None = None,
        **options: Any,
    ):
        if gpus is not None and not isinstance(gpus, Integral):
            raise LockstepError(f"gpus={gpus!r}: expected a number of GPUs")
        if not isinstance(system, GpuSystem):
            system = systems.system(system, gpus)
        elif gpus is not None:
            raise LockstepError("gpus is for systems that are named: this one has its GPUs")
        made = DeviceOptions.of(options)
        for name in _ALONE:
            if getattr(made, name) != getattr(DeviceOptions, name):
                raise LockstepError(f"{name} is for one device: a system has none")
        self.spec = system
        memories = _memories(system, made)
        self.peers = PeerTable(system, memories)
        joint = JointTiming.of_system(system, memories, **made.simulation) if made.timing else None
        events, self._joint = count(1), joint
        self.peers.cross_fabric = joint is not None and joint.crosses_fabric
        self.devices = tuple(
            Device.seated(gpu, made, Seat(k, memory, self.peers, events), joint)
            for k, (gpu, memory) in enumerate(zip(system.gpus, memories))
        )

    def __len__(self) -> int:
        return len(self.devices)

    def __getitem__(self, index: int) -> Device:
        if index not in range(len(self.devices)):
            raise LockstepError(
                f"GPU {index} of {self.spec.name}: it has 0 to {len(self.devices) - 1}"
            )
        return self.devices[index]

    def __iter__(self) -> Iterator[Device]:
        return iter(self.devices)

    def __repr__(self) -> str:
        how = "timed" if self._joint else "functional"
        return f"<System {self.spec.name}, {len(self.devices)} GPUs, {how}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        names = [gpu.name for gpu in self.spec.gpus]
        values = {"GPUs": ", ".join(names), "timing": self._joint is not None}
        return notebook.facts(f"System {self.spec.name}", values)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        try:
            if kind is None:
                self.devices[0].drain()
        finally:
            self.close()

    def enable_peers(self) -> None:
        """Let each GPU access the memory of all that it is joined with."""
        for one in range(len(self.devices)):
            for other in range(len(self.devices)):
                if self.peers.can_access(one, other) and not self.peers.has_access(one, other):
                    self.peers.enable(one, other)

    def synchronize(self) -> None:
        """Wait for all launches and copies; raises the first error of a launch."""
        if self._joint and self._joint.queue:
            for device in self.devices:
                device.asks(Synchronize())
        for device in self.devices:
            device.drain()

    @property
    def result(self) -> SystemResult:
        """What was simulated so far, of all GPUs and links; waits for all launches."""
        if self._joint is None:
            raise LockstepError("nothing was simulated: create the system with timing=True")
        self.synchronize()
        return self.partial_result()

    def partial_result(self) -> SystemResult:
        """The same without waiting for more."""
        timing = self.devices[0].timing
        if timing is None:
            raise LockstepError("nothing was simulated: create the system with timing=True")
        host = timing.host_run()
        assert host is not None, "the host of a system takes time"
        results = tuple(device.partial_result() for device in self.devices)
        return SystemResult(self.spec, results, host, self.peers.accesses)

    def close(self) -> None:
        """Free everything; nothing of the devices can be used any more."""
        for device in self.devices:
            device.close()


def _memories(system: GpuSystem, options: DeviceOptions) -> list[DeviceMemory]:
    """The memories of the GPUs, whole pages, one behind the other."""
    sizes = [-(-options.memory_of(gpu) // PAGESIZE) * PAGESIZE for gpu in system.gpus]
    if sum(sizes) > LONGEST:
        raise LockstepError(
            f"the GPUs of {system.name} have {sum(sizes)} bytes of memory together; at most "
            f"{LONGEST} (1 TiB) are possible: give less of each by --memory or memory_bytes="
        )
    everything, checks = AddressRange(sum(sizes), options.shared_memory), checks_of(options.check)
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    return [
        DeviceMemory(size, checks=checks, place=(everything, start))
        for size, start in zip(sizes, starts)
    ]
