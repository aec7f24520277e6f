"""The machine: all shards and links of a GPU, and the threads that take them through time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np
from msgspec.structs import replace

from lockstep._jit import SignalHold, phase_row, phases, without_collection
from lockstep.engine import attributed
from lockstep.engine.building import (
    build_memory_side,
    build_sms,
    compiled,
    groups,
    is_coherent,
    wires,
)
from lockstep.engine.groups import PARTITIONS, SMS, ends, in_rows, share_out
from lockstep.engine.outside import Outside
from lockstep.engine.part import Part
from lockstep.engine.rows import arrays_of, rows_of
from lockstep.engine.threads import Threads
from lockstep.engine.transport import Transport
from lockstep.engine.windows import BARRIER, VERDICT, Team, run_windows
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.model import contents, partition, witness
from lockstep.model import outside as outside_partitions
from lockstep.model.cache.prefetch import registry
from lockstep.model.core import between, constant
from lockstep.model.core.state import Sm
from lockstep.model.dispatch import dispatcher
from lockstep.model.dispatch import state as dispatch_state
from lockstep.model.modules import state as modules
from lockstep.model.modules.legs import legs
from lockstep.model.records import one_space, records
from lockstep.model.warming import passing, placed, walk
from lockstep.model.warming import state as walk_state
from lockstep.outside import OutsideMemory
from lockstep.workload.warm import L2_RUN, WarmSet

SMALL_PAGES = 1.0
"""Seconds of windows after which the state moves to large pages.

That takes 0.01 to 0.15 s; gather-256x256 takes a seventh less time from then on, gemm-512 as much
as before.
"""


class Machine:
    """A GPU's state and the threads that run it."""

    def __init__(
        self,
        gpu: GPU,
        threads: int,
        policies: dict,
        transport: Transport | None = None,
        source: bool = False,
        memory: OutsideMemory | None = None,
        place: modules.MemoryPlace | None = None,
    ):
        """``transport``: reaches the machines that run the other parts of the GPU.

        ``source``: whether events are counted by instruction, too. ``memory``: models what is
        behind the crossbar, in place of the partitions here. ``place``: of its memory among those
        of other GPUs, to which its shards send messages that the fabric takes between two windows.
        """
        self.gpu, self.window = gpu, legs(gpu).window
        self._small_pages = SMALL_PAGES  # seconds left
        self._is_joined = place is not None
        policies = registry.chosen(gpu) | policies
        with without_collection(), one_space() as self._space:
            self.links, self.memory = build_memory_side(gpu, policies, place)
            attributing = threads if source else 0
            self._sm = build_sms(gpu, self.memory, self.links, policies, attributing, place)
            self.modules = modules.build(gpu)
            homes = self.memory.slices.pages
            self.dispatcher = dispatch_state.build(gpu, self._sm.control, homes)
        self._groups = groups(self.links, self._sm, self.memory, self.modules)
        self.outside: Outside | None = None
        if memory is not None:
            self.outside = Outside(gpu, self.links.requests, self.links.replies, memory)
            self._groups[PARTITIONS] = replace(
                self._groups[PARTITIONS],
                run=outside_partitions.run_linked,
                state=self.outside.state,
            )
        self._wires = wires(self.links)
        self._links = tuple(wire.link for wire in self._wires)
        self._phases = phases([(compiled(group), group.state) for group in self._groups])
        self._verdict = records(1, VERDICT)
        starts = self._groups[SMS].starts
        self.part = Part(gpu.name, [g.shards for g in self._groups], transport, starts)
        self.part.join(self._sm.control, self._wires, self._verdict[0])
        if self.outside:
            self.outside.join(self._verdict[0])
        self._alone = self._make_team(1)
        self._team = self._alone if threads == 1 else self._make_team(threads)
        self._threads = Threads(len(self._team.rows))
        if source:
            mine = self.own_sms
            self._sm.attribution.tables[mine] = self._team.owners[SMS, mine]

    def _make_team(self, threads: int) -> Team:
        """Shards for threads that take part, as many as there are SMs here at most."""
        mine, starts = self.part.shards, self._groups[SMS].starts
        size = threads
        if threads > 1:
            units = share_out(mine[SMS], len(mine[SMS]), starts)
            size = max(1, min(threads, len(set(units.tolist()))))
        owners = np.full((len(mine), max(g.shards for g in self._groups)), -1, np.int64)
        for g, (shards, group) in enumerate(zip(mine, self._groups)):
            owners[g, shards] = share_out(shards, size, group.starts, g == SMS)
        rows = [
            [
                in_rows(np.flatnonzero(row == k), close=len(group.starts) > 0)
                for row, group in zip(owners, self._groups)
            ]
            for k in range(size)
        ]
        most = max(len(each) for of_thread in rows for each in of_thread)
        cuts = np.zeros((size, len(mine), most, 3), np.int64)
        for k, of_thread in enumerate(rows):
            for g, each in enumerate(of_thread):
                if each:
                    cuts[k, g, : len(each)] = each
        return Team(
            self._phases,
            cuts,
            owners,
            ends(self._wires),
            np.zeros(BARRIER, np.int64),
            np.zeros((2, size), np.int64),
            self._verdict,
            self.part.near,
            np.array([self._is_joined], np.int64),
            self.links.between.requests,
            self.links.between.replies,
            np.array([(self.outside or self.part).address], np.int64),
        )

    @cached_property
    def _walk(self) -> walk_state.WarmWalk:
        """Takes kernels that are warmed through the caches: most runs have none."""
        return walk_state.build(self.gpu, self._sm, self.memory)

    @property
    def own_sms(self) -> np.ndarray:
        """Numbers of the SMs that run here."""
        return self.part.shards[SMS]

    @property
    def stopped(self) -> bool:
        """Whether somebody wants nothing to run after the last window."""
        return self.part.stopped or (self.outside is not None and self.outside.stopped)

    @property
    def sm(self) -> Sm:
        """The SMs. Put others there where arrays have grown."""
        return self._sm

    @sm.setter
    def sm(self, sms: Sm) -> None:
        if sms is self._sm:
            return
        self._sm = sms
        group = self._groups[SMS] = groups(self.links, sms, self.memory, self.modules)[SMS]
        self._phases[SMS] = phase_row(compiled(group), group.state)

    def witness(self, room: int) -> None:
        """Note what memory operations do from now on, so many for each SM and each partition."""
        self._sm = self._sm._replace(witness=witness.build(len(self._sm.sms), room))
        l2 = self.memory.l2._replace(witness=witness.build(len(self.memory.next), room))
        self.memory = self.memory._replace(l2=l2)
        self._groups = groups(self.links, self._sm, self.memory, self.modules)
        for place, group in enumerate(self._groups):
            self._phases[place] = phase_row(compiled(group), group.state)

    def arrays(self) -> dict[str, np.ndarray]:
        """The whole state between two windows, as this machine has it, by dotted name."""
        names = ("sm", "memory", "links", "dispatcher", "modules")
        arrays = dict(pair for name in names for pair in arrays_of(name, getattr(self, name)))
        return {path: array for path, array in arrays.items() if path not in attributed.OF_HOST}

    def gather(self) -> dict[str, np.ndarray] | None:
        """The same of the whole GPU, on the first machine; None on others."""
        return self.part.gather(self.arrays(), lambda path, rows: rows_of(path, rows, self.gpu))

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Have the state of the whole GPU that :meth:`gather` gave; ``sm`` is as large as then."""
        for path, array in self.arrays().items():
            array.view(np.ndarray)[...] = arrays[path]

    def by_instruction(self, first: int = 0, count: int | None = None) -> np.ndarray:
        """ATTRIBUTED of some records of the arena of code, or of all, over the whole GPU.

        All machines ask for it between the same windows, with settled counters.
        """
        rows = self.sm.attribution.rows.shape[1] if count is None else count
        return attributed.summed(self.sm, first, rows, self.part.add)

    def close(self) -> None:
        """End the threads."""
        self._threads.close()
        if self.outside:
            self.outside.close()

    def run_windows(
        self, start: int, cut: int, stop: int, most: int, alone: bool = False
    ) -> tuple[int, int]:
        """Run windows from cycle ``start`` on, see :func:`lockstep.engine.windows.run_windows`.

        ``alone``: in the caller's thread only, SM after SM, because kernels are executed at issue
        and share memory. Returns the end of the last window and the next event from there on, or
        NEVER.
        """
        numbers = start, self.window, cut, stop, most
        dispatcher.dispatch(self.dispatcher, start, min(start + self.window, cut))
        team = self._alone if alone else self._team
        state = team, self._links, self.dispatcher
        begin = perf_counter()
        if alone:
            with SignalHold().held():  # what executes kernels at issue calls Python
                end = run_windows(*state, 0, *numbers)
        else:
            tasks = [partial(run_windows, *state, k, *numbers) for k in range(self._threads.size)]
            end = self._threads.run(tasks)[0]
        self._count(perf_counter() - begin)
        (self.outside or self.part).check()
        if is_coherent(self.gpu):
            from lockstep.model.coherence import faults  # only where it is: start-up time is felt

            faults.look(self.gpu.coherence.table, self.sm.coherent.caches, self.memory.homes.slices)
        return end, int(self._verdict[0].event)

    def _count(self, seconds: float) -> None:
        """Windows took so long: a run that goes on for long gets large pages."""
        if 0 < self._small_pages <= seconds:
            self._space.use_large_pages()
        self._small_pages -= seconds

    def next_dispatch(self, end: int) -> int:
        """The next cycle from ``end`` on at which a waiting CTA may be dispatched, or NEVER."""
        return dispatcher.next_dispatch(self.dispatcher, end)

    def take_retired(self) -> list[tuple[int, int, int, int, int, int]]:
        """(kernel slot, CTA, SM, start, end, lasted) of CTAs that have ended since the last call.

        ``lasted``: cycles of their warps, all together.
        """
        state = self.dispatcher.state[0]
        retired = self.dispatcher.retired[: state.retired].view(np.ndarray).tolist()
        state.retired = 0
        return retired

    def copy_to_device(self, address: int, size: int) -> None:
        """A host copy passes through the L2; of an outside memory's nothing is known."""
        if self.outside:
            return
        contents.copy_to_device(self.memory, address, size)

    def pass_through(self, address: int, size: int, written: bool) -> None:
        """Memory passes through the L2 before a kernel."""
        self._need_l2("launch.l2 = replay")
        contents.pass_through(self.memory, address, size, written)

    def hold(self, warm: WarmSet) -> None:
        """The L2 holds the lines of a warm set, and with them what it has, or nothing."""
        self._need_l2("live points")
        if warm.alone:
            contents.flush(self.memory)
            placed.forget_code(self.sm, self.dispatcher)
        columns = (np.ascontiguousarray(warm.runs[n]) for n in L2_RUN.names or ())
        contents.hold(self.memory, *columns)

    def _need_l2(self, what: str) -> None:
        """Raise for what changes an L2 that is outside."""
        if self.outside:
            raise LockstepError(f"{what}: it changes the L2, which an outside memory has")

    def hold_code(self, slot: int, count: int, warm: WarmSet, now: int) -> None:
        """SMs have the code of a kernel slot, of ``count`` instructions, and are next."""
        launches = warm.launches
        rows = np.ascontiguousarray(launches).view(np.int64).reshape(len(launches), 2)
        marks = np.zeros(len(self.sm.sms), np.int64)
        number = int(rows[-1, 0])
        about = rows[:-1], number, warm.there, marks
        placed.hold_code(self.sm, self.dispatcher, slot, count, *about, now)
        constant.hold(self.sm, warm.constants, now)

    def pass_ctas(self, slot: int, count: int) -> int:
        """Let what the first CTAs in a slot's queue access pass through the L2: they do not run.

        Returns the sectors that they would have moved between the L2 and the memory.
        """
        self._need_l2("CTAs that are left out")
        cursors = records(count * int(self.sm.kernels[slot].warps), passing.CURSOR)
        return passing.pass_ctas(self.sm, self.memory, self.dispatcher, slot, count, cursors)

    def prepare_caches(self, ways: int) -> None:
        """A kernel starts alone: the L1's share of the unified memory, and what is flushed."""
        if self.gpu.launch.flush_l1 and is_coherent(self.gpu):
            from lockstep.model.coherence import rest  # as above

            self._share_lines()
            rest.empty_l1s(self.sm, self.memory)
        between.prepare_l1(self.sm, ways, self.gpu.launch.flush_l1)
        if self.gpu.launch.l2 == "flush":
            contents.flush(self.memory)

    def bring_constants(self, base: int, size: int, now: int) -> None:
        """A launch brings constants of its kernel to the SMs."""
        constant.bring(self.sm, base, size, now)

    @contextmanager
    def warming(self, now: int) -> Iterator[Callable[[int], None]]:
        """A kernel is warmed, in no time and uncounted: what takes CTAs of a slot along.

        What caches on other machines hold is known here: it decides who is ahead of whom.
        """
        self._need_l2("a kernel that is warmed")
        counters = self.sm.counters, self.memory.counters
        before = [each.copy() for each in counters]
        self._share_caches()
        try:
            yield lambda slot: walk.run(
                self.sm, self.memory, self.dispatcher, self._walk, slot, now
            )
        finally:
            walk.settle(self.sm, self._walk, now)
            for counted, was in zip(counters, before):
                counted[...] = was

    def _share_lines(self) -> None:
        """Learn which lines L1s and homes on other machines hold, under a coherence protocol."""
        rows: list[Any] = []
        of_sms, of_homes = self.sm.l1.tags, self.memory.l2.tags
        l1s = (of_sms.lines, of_sms.keys, self.sm.coherent.ways)
        homes = (of_homes.lines, of_homes.keys, of_homes.held, self.memory.homes.ways)
        for arrays, group in ((l1s, SMS), (homes, PARTITIONS)):
            n = self._groups[group].shards
            rows += [array.reshape(n, -1) for array in arrays]
        self.part.share(rows, [SMS] * len(l1s) + [PARTITIONS] * len(homes))

    def _share_caches(self) -> None:
        """Learn what the L1s and the L2 slices on other machines hold."""
        rows: list[Any] = [self.sm.l1.caches, self.sm.l1.entries, self.sm.l1.buckets]
        groups = [SMS] * len(rows)
        for tags, group in ((self.sm.l1.tags, SMS), (self.memory.l2.tags, PARTITIONS)):
            n = (len(self.sm.sms), len(self.memory.next))[group]
            each = [a.reshape(n, -1) for _, a in arrays_of("", tags) if len(a) % n == 0]
            rows += each
            groups += [group] * len(each)
        self.part.share(rows, groups)

    def settle(self, now: int) -> None:
        """Bring the counters of what runs here up to ``now``."""
        between.settle_all(self.sm, now)
        partition.settle(self.memory, now)

    def share_waits(self) -> None:
        """Learn who waits for what on other machines."""
        sm, channels = self.sm, self.memory.l2.dram.channels
        rows = [sm.sms, sm.subcores, sm.warps, sm.looks, sm.order, sm.ready, sm.ctas, sm.barriers]
        rows += [sm.objects, sm.l1.caches, sm.l1.entries, sm.candidates.reshape(len(sm.sms), -1)]
        if is_coherent(self.gpu):
            rows += [sm.coherent.caches, sm.coherent.lines, sm.coherent.buckets]
            rows.append(sm.coherent.retries)
            self._share_lines()
        self.part.share([*rows, channels], [SMS] * len(rows) + [PARTITIONS])

    @property
    def counters(self) -> tuple[np.ndarray, ...]:
        """The records of SMs, of partitions and of modules."""
        return self.sm.counters, self.memory.counters, self.modules.counters

    @property
    def warp_instructions(self) -> int:
        """Of the whole GPU so far; SMs of other machines are taken to have done as many as here."""
        mine = self.own_sms
        here = self.sm.counters["warp_instructions"].view(np.ndarray)[mine].sum()
        return int(here) * len(self.sm.counters) // len(mine)

    def share_counters(self) -> None:
        """Learn the counters of what other machines run."""
        self.share_rows(self.counters)

    def share_rows(self, counted: Sequence[np.ndarray]) -> None:
        """Learn what other machines have counted; arrays as of ``counters``."""
        owners = list(range(len(self._groups)))
        self.part.share(list(counted[: len(owners)]), owners)
