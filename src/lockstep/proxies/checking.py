"""A program and its proxy, side by side: errors over caches, and what the proxy tells."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lockstep.gpus.spec import GPU
from lockstep.proxies.agreement import SETS, PointSet, compare, explorations, summarise
from lockstep.proxies.leaks import AccessTraces, Leaks
from lockstep.workload import Cta, Kernel, Workload

if TYPE_CHECKING:
    import pandas

Told = Callable[[int, str], None]
"""Gets the number of launches so far, and the kernel of the last one."""


class Agreement(NamedTuple):
    """``rows``: as of :func:`.agreement.compare`; ``errors``: of its sets, as of ``summarise``."""

    rows: "pandas.DataFrame"
    errors: "pandas.DataFrame"
    leaks: Leaks


class OriginalAccesses:
    """Takes the launches of an original: a watcher of a device, or ``take`` a workload."""

    reads = True

    def __init__(self, gpu: GPU, sets: Sequence[PointSet] = SETS, told: Told | None = None):
        self._gpu, self._sets, self._told = gpu, sets, told
        self._seen, self._traces = explorations(gpu, sets), AccessTraces()
        self.launches = 0

    def launched(self, launch: Any) -> None:
        """A launch of a device begins."""

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """The next CTA of a launch."""
        for each in self._seen.values():
            each.read(kernel, cta)
        self._traces.read(kernel, cta)

    def ended(self, launch: Any) -> None:
        """A launch of a device has ended."""
        self._end(launch.kernel.name)

    def take(self, workload: Workload) -> None:
        """All kernels of a workload."""
        for kernel in workload.kernels:
            for cta in kernel.ctas():
                self.read(kernel, cta)
            self._end(kernel.name)

    def check(self, proxy: Workload) -> Agreement:
        """What a proxy's workload does in the same configurations."""
        other = OriginalAccesses(self._gpu, self._sets)
        other.take(proxy)
        rows = compare(self._seen, other._seen, self._sets)
        return Agreement(rows, summarise(rows), self._traces.leaks(other._traces))

    def _end(self, name: str) -> None:
        for each in self._seen.values():
            each.end()
        self.launches += 1
        if self._told:
            self._told(self.launches, name)
