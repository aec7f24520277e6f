"""Passes through caches: as few of them as all configurations take."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from lockstep._jit import Records
from lockstep.caches.accesses import ATOMIC, READ, WRITE
from lockstep.caches.ahead import FATES, Prefetching
from lockstep.caches.dram import DramBatch, DramPoint
from lockstep.caches.lookups import Level, StackShape
from lockstep.caches.points import CachePoint
from lockstep.caches.stacks import Stacks
from lockstep.caches.tagged import USER, Tagged
from lockstep.caches.uses import UseTimes
from lockstep.errors import WorkloadError
from lockstep.gpus.spec import GPU

Lookups = Stacks | Tagged
"""What accesses are looked up in."""


class Pass:
    """One pass through L1s or L2s, and what is behind one of them: passes through L2s, or DRAM."""

    def __init__(
        self,
        lookups: Lookups,
        points: Sequence[CachePoint],
        behind: "Sequence[Pass | DramBatch]" = (),
    ):
        self._lookups, self._points, self._behind = lookups, points, behind

    def launch(self, l1: bool, l2: bool) -> None:
        """A launch begins, with empty L1s or L2s, or those of the last one."""
        if l2 if self._lookups.level.l2 else l1:
            self._lookups.forget()
        for each in self._behind:
            if isinstance(each, Pass):
                each.launch(l1, l2)

    def end(self) -> None:
        """A launch has ended."""
        for each in self._behind:
            each.end()

    def take(self, entries, count: int) -> None:
        """Look some entries up."""
        missed = self._lookups.look_up(entries, count)
        for each in self._behind:
            each.take(missed, len(missed))

    def rows(self) -> Iterable[tuple[tuple[CachePoint | DramPoint, ...], dict]]:
        """Each configuration that the pass was for, with its columns."""
        for point in self._points:
            mine = self._columns(point)
            if not self._behind:
                yield (point,), mine
            for each in self._behind:
                for others, theirs in each.rows():
                    yield (point, *others), mine | theirs

    def _columns(self, point: CachePoint) -> dict:
        accesses, misses = (
            self._lookups.accesses,
            self._lookups.misses(point.sets.count, point.ways),
        )
        name = "l2" if self._lookups.level.l2 else "l1"
        made: dict[str, int | float | str] = {
            "bytes": point.bytes,
            "ways": point.ways,
            "line": point.line_bytes,
            "sets": point.sets.count,
            "sectored": point.sectored,
            "replacement": point.replacement,
            "prefetcher": point.prefetcher,
        }
        for kind, what in ((READ, "read"), (WRITE, "write"), (ATOMIC, "atomic")):
            made[f"{what}s"], made[f"{what}_misses"] = int(accesses[kind]), int(misses[kind])
        if name == "l1":
            made["miss_rate"] = _share(misses[READ], accesses[READ])
            made.pop("atomic_misses")  # atomics execute below
        else:
            made["miss_rate"] = _share(misses.sum(), accesses.sum())
        if isinstance(self._lookups, Tagged) and point.prefetcher != "none":
            made |= {each: getattr(point, each) for each in ("degree", "distance", "window")}
            made |= zip(FATES, self._lookups.fates.tolist())
        return {f"{name}_{key}": value for key, value in made.items()}


def _share(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else float("nan")


class PassPlan:
    """Decides on passes: as few as all configurations take."""

    def __init__(self, gpu: GPU, policies: Mapping[str, Callable]):
        self._gpu, self._policies = gpu, policies
        self._uses = UseTimes(shared=True)  # of what comes to L1s
        self._evict = gpu.l1.protocol == "write_evict"

    def take(self, passes: Iterable[Pass], entries: Records, count: int) -> None:
        """Look some entries up in passes through L1s."""
        self._uses.follow()
        for each in passes:
            each.take(entries, count)

    def passes(
        self,
        l1: Sequence[CachePoint],
        l2: Sequence[CachePoint] = (),
        dram: tuple[DramPoint, ...] = (),
    ) -> list[Pass]:
        """Those through L1s, each with those behind it."""
        for point in (*l1, *l2):
            if problem := point.problem:
                raise WorkloadError(f"a cache of {point.bytes} bytes, {point.ways} ways: {problem}")
        if dram and not l2:
            raise WorkloadError("a memory is looked at behind an L2: none is given")
        made = []
        for points in [[point] for point in l1] if l2 else _alike(l1):
            if dram:
                behind = [Pass(self._writer(p), [p], [DramBatch(self._gpu, dram)]) for p in l2]
            else:
                behind = [Pass(self._l2(below), below) for below in _alike(l2)]
            made.append(Pass(self._l1(points, bool(l2)), points, behind))
        return made

    def _l1(self, points: Sequence[CachePoint], filters: bool) -> Lookups:
        shapes = _shapes(points)
        keeps = shapes[0].ways if filters else 0
        level = self._level(points, shapes, self._gpu.sm.count, evict=self._evict, keeps=keeps)
        if points[0].in_stack:
            return Stacks(level, shapes[1:], self._uses)
        return self._tagged(level, points[0])

    def _l2(self, points: Sequence[CachePoint]) -> Lookups:
        shapes = _shapes(points)
        level = self._level(points, shapes, 1, l2=True)
        return Stacks(level, shapes[1:]) if points[0].in_stack else self._tagged(level, points[0])

    def _level(
        self, points: Sequence[CachePoint], shapes: Sequence[StackShape], n: int, **of
    ) -> Level:
        first = max(points, key=lambda point: point.sets.count)
        return Level(first.sets, shapes[0].ways, n, sectored=first.sectored, **of)

    def _writer(self, point: CachePoint) -> Tagged:
        """An L2 that knows what was written, for the memory behind it."""
        level = Level(point.sets, point.ways, l2=True, sectored=point.sectored, keeps=point.ways)
        return self._tagged(level, point)

    def _tagged(self, level: Level, point: CachePoint) -> Tagged:
        name, other = ("l2", "stride") if level.l2 else ("l1", "stream")
        if point.prefetcher == other:
            raise WorkloadError(f"{other} is no prefetcher of an {name.upper()}")
        prefetcher = self._policy(point.prefetcher, f"{name}_prefetcher")
        return Tagged(
            level,
            point.replacement,
            self._policy(point.replacement, f"{name}_replacement"),
            self._gpu.l2.protocol == "write_fetch",
            Prefetching(point.prefetcher, point.degree, point.distance, point.window, prefetcher),
        )

    def _policy(self, how: str, name: str) -> Callable | None:
        if how != USER:
            return None
        if name not in self._policies:
            raise WorkloadError(f"'user' takes a policy {name}")
        return self._policies[name]


def _alike(points: Sequence[CachePoint]) -> list[list[CachePoint]]:
    """Groups of points that one pass serves: those in a stack that differ in their ways alone, or
    in the number of their sets where these nest."""
    groups: dict[CachePoint, list[CachePoint]] = {}
    for point in points:
        alike = point
        if point.in_stack:
            size = point.line_bytes if point.sets.nest else point.bytes // point.ways
            alike = msgspec.structs.replace(point, bytes=size, ways=1)
        groups.setdefault(alike, []).append(point)
    return list(groups.values())


def _shapes(points: Sequence[CachePoint]) -> list[StackShape]:
    """The sets of some points, most first, each with the most ways that are asked for."""
    ways: dict[int, int] = {}
    for point in points:
        ways[point.sets.count] = max(point.ways, ways.get(point.sets.count, 0))
    return [StackShape(sets, ways[sets]) for sets in sorted(ways, reverse=True)]
