"""Many configurations of L1 and L2 over the launches of one program, in one run of it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from lockstep.caches.accesses import ATOMIC, READ, WRITE, Coalescer
from lockstep.caches.order import Interleaver, Order, places_of
from lockstep.caches.points import CachePoint, l1_of, l2_of
from lockstep.caches.stacks import Level, Stacks
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.workload import Cta, Kernel, Workload

if TYPE_CHECKING:
    import pandas

Told = Callable[[int, str], None]
"""Gets the number of launches so far, and the kernel of the last one."""


class Sweep(msgspec.Struct, frozen=True):
    """What is looked at together: L1s, and L2s that all SMs share, each behind every L1."""

    l1: tuple[CachePoint, ...]
    l2: tuple[CachePoint, ...] = ()


class Exploration:
    """Takes the launches of a program, and then says how often each cache missed.

    ``gpu`` has the SMs, what they hold of CTAs, how an L1 treats writes, and whether launches begin
    with an empty one. Without sweeps it is the GPU's own L1 and L2 that are looked at. It is a
    watcher of a device, or ``explore`` takes the kernels of a workload. Copies of the host pass no
    cache here.
    """

    reads = True

    def __init__(
        self,
        gpu: GPU,
        *sweeps: Sweep,
        order: Order = "lrr",
        same: float = 0.0,
        seed: int = 0,
        told: Told | None = None,
    ):
        self._gpu, self._told = gpu, told
        self._order = Interleaver(gpu.sm.count, order, same=same, seed=seed)
        self._sweeps = [_passes(gpu, s.l1, s.l2) for s in sweeps or (own(gpu),)]
        self._passes = [each for passes in self._sweeps for each in passes]
        self._kernel: Kernel | None = None
        self._coalescer: Coalescer | None = None
        self.launches = 0

    def launched(self, launch: object) -> None:
        """A launch of a device begins: its CTAs will come."""

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """The next CTA of a launch, in grid order."""
        if self._kernel is None or self._coalescer is None:
            self._begin(kernel)
        assert self._coalescer is not None, "it has begun"
        if not self._order.wants:
            self._run(more=True)
        self._order.add(self._coalescer(cta))

    def ended(self, launch: object) -> None:
        """The launch has ended; its CTAs run to their ends."""
        self.end()

    def end(self) -> None:
        """The CTAs that came last run to their ends."""
        if self._kernel is None:
            return
        self._run(more=False)
        self.launches += 1
        if self._told:
            self._told(self.launches, self._kernel.name)
        self._kernel = self._coalescer = None

    def explore(self, workload: Workload) -> None:
        """Take all kernels of a workload."""
        for kernel in workload.kernels:
            if kernel.source is not None:
                raise WorkloadError(f"{kernel.name} is executed at issue: it has no stream")
            for cta in kernel.ctas():
                self.read(kernel, cta)
            self.end()

    def table(self, sweep: int = 0) -> "pandas.DataFrame":
        """A row a configuration of a sweep: what it is, accesses and misses of each level.

        An access is one of a warp instruction to a line, or to a sector where caches have sectors.
        ``l1_miss_rate`` is of reads; ``l2_miss_rate`` of all that reaches the L2.
        """
        import pandas as pd

        return pd.DataFrame([row for each in self._sweeps[sweep] for row in each.rows()])

    def _begin(self, kernel: Kernel) -> None:
        self._kernel, self._coalescer = kernel, Coalescer(kernel)
        self._order.begin(places_of(kernel, self._gpu), kernel.warps)
        for each in self._passes:
            each.launch(self._gpu.launch.flush_l1, self._gpu.launch.l2 == "flush")

    def _run(self, more: bool) -> None:
        again = True
        while again:
            count, again = self._order.run(more)
            for each in self._passes:
                each.take(self._order.entries, count)


def own(gpu: GPU) -> Sweep:
    """What a GPU itself has."""
    return Sweep((l1_of(gpu),), (l2_of(gpu),))


class _Pass:
    """One pass through L1s, and those through L2s of what one of them lets by."""

    def __init__(self, stacks: Stacks, points: Sequence[CachePoint], behind: Sequence["_Pass"]):
        self._stacks, self._points, self._behind = stacks, points, behind

    def launch(self, l1: bool, l2: bool) -> None:
        """A launch begins, with empty L1s or L2s, or those of the last one."""
        if l2 if self._stacks.level.l2 else l1:
            self._stacks.forget()
        for each in self._behind:
            each.launch(l1, l2)

    def take(self, entries, count: int) -> None:
        """Look some entries up."""
        missed = self._stacks.look_up(entries, count)
        for each in self._behind:
            each.take(missed, len(missed))

    def rows(self) -> Iterable[dict]:
        """A row for each configuration that the pass was for."""
        for point in self._points:
            mine = self._columns(point)
            if not self._behind:
                yield mine
            for each in self._behind:
                for theirs in each.rows():
                    yield mine | theirs

    def _columns(self, point: CachePoint) -> dict:
        accesses, misses = self._stacks.accesses, self._stacks.misses(point.ways)
        name = "l2" if self._stacks.level.l2 else "l1"
        made: dict[str, int | float] = {
            "bytes": point.bytes,
            "ways": point.ways,
            "line": point.line_bytes,
            "sets": point.sets.count,
            "sectored": point.sectored,
        }
        for kind, what in ((READ, "read"), (WRITE, "write"), (ATOMIC, "atomic")):
            made[f"{what}s"], made[f"{what}_misses"] = int(accesses[kind]), int(misses[kind])
        if name == "l1":
            made["miss_rate"] = _share(misses[READ], accesses[READ])
            made.pop("atomic_misses")  # atomics execute below
        else:
            made["miss_rate"] = _share(misses.sum(), accesses.sum())
        return {f"{name}_{key}": value for key, value in made.items()}


def _share(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else float("nan")


def _passes(gpu: GPU, l1: Sequence[CachePoint], l2: Sequence[CachePoint]) -> list[_Pass]:
    """As few passes as all these take."""
    for point in (*l1, *l2):
        if problem := point.problem:
            raise WorkloadError(f"a cache of {point.bytes} bytes, {point.ways} ways: {problem}")
    evict = gpu.l1.protocol == "write_evict"
    made = []
    for points in [[point] for point in l1] if l2 else _alike(l1):
        first, most = points[0], max(point.ways for point in points)
        level = Level(
            first.sets, most, gpu.sm.count, evict=evict, sectored=first.sectored,
            keeps=most if l2 else 0,
        )  # fmt: skip
        behind = []
        for below in _alike(l2):
            shared = Level(
                below[0].sets, max(p.ways for p in below), l2=True, sectored=below[0].sectored
            )
            behind.append(_Pass(Stacks(shared), below, ()))
        made.append(_Pass(Stacks(level), points, behind))
    return made


def _alike(points: Sequence[CachePoint]) -> list[list[CachePoint]]:
    """Groups of points that differ in their ways alone, and so in their size."""
    groups: dict[CachePoint, list[CachePoint]] = {}
    for point in points:
        set_bytes = point.bytes // point.ways
        groups.setdefault(msgspec.structs.replace(point, bytes=set_bytes, ways=1), []).append(point)
    return list(groups.values())
