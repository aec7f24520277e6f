"""From the launches of a program to its proxy: of a device that is watched, or of a workload."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from lockstep.errors import WorkloadError, unknown
from lockstep.frontend.proxy import (
    LEVELS,
    KernelModel,
    Proxy,
    ProxyAllocation,
    ProxyCopy,
    ProxyLaunch,
)
from lockstep.proxies.leaks import AccessTraces, Leaks
from lockstep.proxies.levels import EPSILON, at_level, without_literals
from lockstep.proxies.profiles import LaunchProfile
from lockstep.proxies.regions import PageCollector, Regions
from lockstep.workload import Cta, Kernel, MemoryCopy, Workload

METHODS = {"affine": "lockstep.proxies.affine", "gmap": "lockstep.proxies.gmap"}
"""How models are made, and the module that has the function ``begin`` of each."""
DEFAULT = "affine"
Told = Callable[[int, str], None]
"""Gets the number of launches so far, and the kernel of the last one."""


class ProxyProfiler:
    """Makes a proxy of the launches that it is told of: a watcher of a device.

    ``level``: how much it tells, one of :data:`.proxy.LEVELS`; ``epsilon``: of a blurred one's
    noise. ``leaks``: keep what says how much of the accesses the proxy tells. ``told`` is called
    for each launch that has ended. Raises :class:`WorkloadError` for a method that does not exist.
    """

    reads = True

    def __init__(
        self,
        method: str = DEFAULT,
        told: Told | None = None,
        *,
        level: str = LEVELS[0],
        epsilon: float = EPSILON,
        leaks: bool = False,
    ):
        if method not in METHODS:
            raise WorkloadError(unknown("method of proxies", method, METHODS))
        begin = import_module(METHODS[method]).begin
        self._begin = begin if level == LEVELS[0] else without_literals(begin)
        self._level, self._epsilon = level, epsilon
        self.method, self.told = method, told
        self._traces = AccessTraces() if leaks else None
        self._open: dict[int, tuple[Kernel, LaunchProfile]] = {}
        self._regions: dict[int, Regions] = {}
        self._models: dict[tuple, int] = {}
        self._kept: list[KernelModel] = []
        self._allocations: dict[tuple[int, int], int] = {}
        self._commands: list[ProxyLaunch | ProxyCopy] = []
        self.launches = 0

    def launched(self, launch: Any) -> None:
        """A launch of a device begins: note its memory, which may be somebody else's later."""
        self._regions[launch.id] = _regions(launch.device.memory.allocations())

    def host_wrote(self, copy: MemoryCopy, allocations: Iterable[tuple[int, int]]) -> None:
        """The host writes memory of a device: the L2 of a proxy is warm, too."""
        self._copy(copy, _regions(allocations))

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """The next CTA of a launch."""
        if kernel.id not in self._open:
            self._open[kernel.id] = kernel, self._begin(kernel)
        self._open[kernel.id][1].add(cta)
        if self._traces is not None:
            self._traces.read(kernel, cta)

    def ended(self, launch: Any) -> None:
        """A launch of a device has ended: make its model."""
        regions = self._regions.pop(launch.id)
        if launch.id in self._open:
            self._end(launch.id, regions)

    def take(self, workload: Workload) -> None:
        """Read a whole workload, twice. Raises :class:`WorkloadError` if it has no streams."""
        pages = PageCollector()
        for kernel in workload.kernels:
            if kernel.source is not None:
                raise WorkloadError(f"{kernel.name} is executed at issue: it has no stream")
            for cta in kernel.ctas():
                pages.add(cta)
        copies = [c for c in workload.commands if isinstance(c, MemoryCopy)]
        regions = pages.regions(copies)
        for command in workload.commands:
            if isinstance(command, MemoryCopy):
                self._copy(command, regions)
            elif isinstance(command, Kernel):
                for cta in command.ctas():
                    self.read(command, cta)
                self._end(command.id, regions)

    def proxy(self, name: str, gpu: str = "") -> Proxy:
        """The proxy of what has ended so far. Raises :class:`WorkloadError` if nothing has."""
        if not self.launches:
            raise WorkloadError("no launch has come to its end: there is no proxy")
        allocations = [ProxyAllocation(*place) for place in self._allocations]
        proxy = Proxy(name, self.method, self._kept, self._commands, allocations, gpu=gpu)
        return at_level(proxy, self._level, self._epsilon)

    def leaks(self, proxy: Proxy) -> Leaks:
        """What a proxy tells of what has been read; of a profiler that keeps ``leaks``."""
        assert self._traces is not None, "leaks are kept"
        other = AccessTraces()
        other.take(proxy.workload())
        return self._traces.leaks(other)

    def _copy(self, copy: MemoryCopy, regions: Regions) -> None:
        region = int(regions.of(np.array([copy.address]))[0])
        if region >= 0 and copy.address + copy.bytes <= regions.end(region):
            allocation = self._allocation(regions, region)
            offset = copy.address - int(regions.base[region])
            self._commands.append(ProxyCopy(allocation, offset, copy.bytes))

    def _allocation(self, regions: Regions, region: int) -> int:
        place = int(regions.base[region]), int(regions.bytes[region])
        return self._allocations.setdefault(place, len(self._allocations))

    def _end(self, number: int, regions: Regions) -> None:
        kernel, profile = self._open.pop(number)
        fitted = profile.fitted(regions)
        model = fitted.model
        key = (repr(model.facts()), *(c.tobytes() for c in model.columns().values()))
        place = self._models.setdefault(key, len(self._kept))
        if place == len(self._kept):
            self._kept.append(model)
        known = tuple(self._allocation(regions, region) for region in fitted.regions)
        launch = ProxyLaunch(
            place,
            kernel.name,
            kernel.grid,
            kernel.block,
            known,
            registers=kernel.registers,
            shared_bytes=kernel.shared_bytes,
            stream=kernel.stream,
            architecture=kernel.architecture,
            shared_base=kernel.shared_base,
            local_base=kernel.local_base,
            cluster=kernel.cluster,
            warp_size=kernel.warp_size,
            scalar_registers=kernel.scalar_registers,
        )
        self._commands.append(launch)
        self.launches += 1
        if self.told:
            self.told(self.launches, kernel.name)


def _regions(allocations: Iterable[tuple[int, int]]) -> Regions:
    """Device memory as it is allocated: addresses and bytes."""
    memory = np.array([*allocations], np.int64).reshape(-1, 2)
    return Regions(memory[:, 0], memory[:, 1])


def profile(
    workload: Workload, method: str = DEFAULT, told: Told | None = None, **options: Any
) -> Proxy:
    """The proxy of a workload; ``options``: level and epsilon, as of :class:`ProxyProfiler`."""
    profiler = ProxyProfiler(method, told, **options)
    profiler.take(workload)
    return profiler.proxy(workload.name, workload.gpu)
