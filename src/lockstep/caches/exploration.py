"""Many configurations of L1 and L2 over the launches of one program, in one run of it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lockstep.caches.accesses import LINE_BYTES
from lockstep.caches.beside import Beside
from lockstep.caches.coalescer import Coalescer
from lockstep.caches.dram import DramPoint
from lockstep.caches.order import Interleaver, Order, places_of
from lockstep.caches.passes import PassPlan
from lockstep.caches.points import CachePoint, l1_of, l2_of
from lockstep.caches.written import WrittenCoalescer
from lockstep.errors import WorkloadError
from lockstep.execution.streams.written import WrittenCtas
from lockstep.gpus.spec import GPU
from lockstep.workload import Cta, Kernel, Workload

if TYPE_CHECKING:
    import pandas

TOGETHER = 64  # CTAs that are coalesced at a time, or of so many addresses:
MOST_WORDS = 1 << 18

Told = Callable[[int, str], None]
"""Gets the number of launches so far, and the kernel of the last one."""


class Sweep(msgspec.Struct, frozen=True):
    """What is looked at together: L1s, L2s that all SMs share, each behind every L1, and memories,
    each behind every L2."""

    l1: tuple[CachePoint, ...]
    l2: tuple[CachePoint, ...] = ()
    dram: tuple[DramPoint, ...] = ()


class Exploration:
    """Takes the launches of a program, and then says how often each cache missed.

    ``gpu`` has the SMs, what they hold of CTAs, how an L1 treats writes, and whether launches begin
    with an empty one. Without sweeps it is the GPU's own L1 and L2 that are looked at. It is a
    watcher of a device, or ``explore`` takes the kernels of a workload. Copies of the host pass no
    cache here. ``policies`` are a user's functions, for points whose replacement or prefetcher is
    "user": ``l1_replacement``, ``l1_prefetcher``, and those of an L2.
    """

    reads = True

    def __init__(
        self,
        gpu: GPU,
        *sweeps: Sweep,
        order: Order = "lrr",
        same: float = 0.0,
        seed: int = 0,
        policies: Mapping[str, Callable] | None = None,
        told: Told | None = None,
    ):
        self._gpu, self._told = gpu, told
        self._order = Interleaver(gpu.sm.count, order, same=same, seed=seed)
        self._plan = PassPlan(gpu, policies or {})
        self._sweeps = sweeps or (own(gpu),)
        self._of_sweeps = [self._plan.passes(s.l1, s.l2, s.dram) for s in self._sweeps]
        self._passes = [each for passes in self._of_sweeps for each in passes]
        self._look_up = partial(self._plan.take, self._passes)
        self._beside = Beside()
        self._kernel: Kernel | None = None
        self._coalescer: Coalescer | None = None
        self._written: dict[int, WrittenCoalescer] = {}  # by the identity of their programs
        self._writer: WrittenCoalescer | None = None  # that of this launch
        self._waiting: list[Cta] = []
        self._words = 0  # of their addresses
        self.launches = 0

    def launched(self, launch: object) -> None:
        """A launch of a device begins: its CTAs will come."""

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """The next CTA of a launch, in grid order."""
        if self._kernel is None:
            self._begin(kernel)
        self._waiting.append(cta)
        self._words += len(cta.addresses) + len(cta.pool)
        if len(self._waiting) == TOGETHER or self._words > MOST_WORDS:
            self._take_waiting()
            self._run(more=True)

    def read_written(self, kernel: Kernel, ctas: WrittenCtas) -> None:
        """The next CTAs of a launch of a device, as their blocks wrote them."""
        if self._kernel is None:
            self._begin(kernel)
        if self._writer is None:
            known = self._written.get(id(ctas.program)) or WrittenCoalescer(ctas.program)
            self._written[id(ctas.program)] = known
            known.begin(kernel, self._gpu.sm.warps * kernel.warp_size)
            self._writer = known
        self._order.add(self._writer.batch(ctas))
        self._run(more=True)

    def ended(self, launch: object) -> None:
        """The launch has ended; its CTAs run to their ends."""
        self.end()

    def end(self) -> None:
        """The CTAs that came last run to their ends."""
        if self._kernel is None:
            return
        self._take_waiting()
        self._run(more=False)
        self._beside.call(self._end_passes)
        self.launches += 1
        if self._told:
            self._told(self.launches, self._kernel.name)
        self._kernel = self._coalescer = self._writer = None

    def explore(self, workload: Workload) -> None:
        """Take all kernels of a workload.

        Raises :class:`WorkloadError` for one that is executed at issue: it has no streams.
        """
        for kernel in workload.kernels:
            if kernel.source is not None:
                raise WorkloadError(f"{kernel.name} is executed at issue: it has no stream")
            for cta in kernel.ctas():
                self.read(kernel, cta)
            self.end()

    def table(self, sweep: int = 0) -> "pandas.DataFrame":
        """A row a configuration of a sweep, in its order: accesses and misses of each level.

        An access is one of a warp instruction to a line, or to a sector where caches have sectors.
        ``l1_miss_rate`` is of reads; ``l2_miss_rate`` of all that reaches the L2.
        """
        import pandas as pd

        self._beside.settle()
        mine = self._sweeps[sweep]
        given: tuple[tuple[object, ...], ...] = (mine.l1, mine.l2, mine.dram)
        rank = [{point: k for k, point in enumerate(points)} for points in given]
        rows = [row for each in self._of_sweeps[sweep] for row in each.rows()]
        rows.sort(key=lambda row: [places[point] for places, point in zip(rank, row[0])])
        return pd.DataFrame([columns for _, columns in rows])

    def _begin(self, kernel: Kernel) -> None:
        self._kernel = kernel
        apart = kernel.warps * kernel.warp_size * 4 // LINE_BYTES
        self._order.begin(places_of(kernel, self._gpu), kernel.warps, apart)
        self._beside.call(self._launch_passes)

    def _launch_passes(self) -> None:
        for each in self._passes:
            each.launch(self._gpu.launch.flush_l1, self._gpu.launch.l2 == "flush")

    def _end_passes(self) -> None:
        for each in self._passes:
            each.end()

    def _take_waiting(self) -> None:
        """The CTAs that wait can begin."""
        if self._waiting:
            assert self._kernel is not None, "it has begun"
            if self._coalescer is None:
                threads = self._gpu.sm.warps * self._kernel.warp_size
                self._coalescer = Coalescer(self._kernel, threads)
            self._order.add(self._coalescer.batch(self._waiting))
        self._waiting, self._words = [], 0

    def _run(self, more: bool) -> None:
        again = True
        while again:
            count, again = self._order.run(more)
            if count:
                self._beside.take(self._look_up, self._order.entries, count)


def own(gpu: GPU) -> Sweep:
    """What a GPU itself has."""
    return Sweep((l1_of(gpu),), (l2_of(gpu),))
