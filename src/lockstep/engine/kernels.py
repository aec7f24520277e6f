"""Kernel slots: binding a kernel to the machine, feeding it with CTAs, and its end."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from lockstep._jit import working_seconds
from lockstep.engine.code_arena import CodeArena
from lockstep.engine.parts_of_grids import check_parts, has_parts, in_parts
from lockstep.engine.readings import Readings, Repetition, ctas_from, linear
from lockstep.engine.rings import ring_length, rings
from lockstep.engine.running import FROZEN, Running
from lockstep.engine.streams import Streams
from lockstep.errors import EndOfKernel, WorkloadError
from lockstep.gpus.spec import GPU
from lockstep.isa import sass
from lockstep.isa.instruction import CONSTANT_BANK, CONSTANT_BANKS
from lockstep.model.core import bind
from lockstep.model.dispatch.gpc import check_cluster
from lockstep.plain_bytes import together
from lockstep.workload import RUN, Cta, Kernel
from lockstep.workload.at_issue import Exchange

FETCH_SPACING = 1 << 24  # instruction cache lines between the codes of two kernels
CONSTANTS = 1 << 60  # where those of the first launch begin: above the addresses of all memory
_NOT_KEPT = "no checkpoint while kernel {0.id} ({0.title}) runs: it is executed at issue"
BATCH_RECORDS = 1 << 16  # runs and listed addresses of CTAs that are copied together
Read = Callable[[Kernel, Sequence[Cta], int], None]  # as of ``stop.ReadingRule``


class KernelTable:
    """All slots of the machine."""

    def __init__(self, streams: Streams, gpu: GPU, read: Read | None = None):
        """``read``: is told of CTAs, see :class:`~lockstep.engine.stop.ReadingRule`."""
        self.streams, self.dispatcher, self.gpu = streams, streams.dispatcher, gpu
        self._tell = read
        self.running: dict[int, Running] = {}
        self.read_seconds = 0.0
        self._names: dict[str, int] = {}
        self._code = CodeArena(streams, gpu)
        self._launched = 0
        self._readings = Readings()

    @property
    def tells(self) -> bool:
        """Whether somebody is told of all CTAs."""
        return self._tell is not None

    def freeze(self) -> dict:
        """Where reading and running stand, while :meth:`unkept` has nothing against it."""
        running = []
        for run in self.running.values():
            plain = {name: getattr(run, name) for name in FROZEN}
            incomplete = [list(members) for members in run.clusters.values()]
            seen = np.array(sorted(run.seen), np.int64)
            running.append(plain | {"seen": seen, "incomplete": incomplete})
        counts = {"names": self._names, "code_used": self._code.used, "launched": self._launched}
        return {"running": running, "readings": self._readings.freeze(), **counts}

    def thaw(self, frozen: dict, kernels: list[Kernel], first: int) -> None:
        """Go on where ``freeze`` was called; ``kernels`` are all launches by their numbers.

        CTAs that had been read are read again, and passed; what was executed is executed again,
        from launch ``first`` on.
        """
        self._names, self._code.used = dict(frozen["names"]), frozen["code_used"]
        waiting = {}
        for state in frozen["running"]:
            kernel = kernels[state["order"]]
            ctas = self._ctas(kernel, state["first_cta"])
            run = Running(kernel, state["slot"], state["order"], False, ctas, 0, 0)
            for name in FROZEN:
                setattr(run, name, state[name])
            run.unknown = Counter(run.unknown)
            run.seen = set(state["seen"].tolist())
            waiting[run.order] = {number for members in state["incomplete"] for number in members}
            self.running[run.slot] = run
        running = {run.order: run for run in self.running.values()}
        repetition = Repetition(kernels)
        for order, count in frozen["readings"].tolist():
            if order in running:
                self._pass_over(running[order], count, waiting[order])
            elif order >= first:
                repetition.ask(order, count)
        self._launched = frozen["launched"]
        self._readings.thaw(frozen["readings"])

    def repeat(self, frozen: dict, kernels: list[Kernel], first: int) -> None:
        """Execute launches from ``first`` on again, all of which had ended before ``freeze``."""
        repetition = Repetition(kernels)
        readings = frozen["readings"]
        theirs = (first <= readings[:, 0]) & (readings[:, 0] < len(kernels))
        for order, count in readings[theirs].tolist():
            repetition.ask(order, count)

    def _pass_over(self, run: Running, count: int, waiting: set[int]) -> None:
        """Read CTAs again; those whose clusters are not complete wait for the others."""
        for _ in range(count):
            cta = self._next(run)  # or an error if there are fewer now
            if cta is not None and (number := linear(run.kernel, cta)) in waiting:
                self._complete_clusters(run, {number: cta})

    def unkept(self) -> str:
        """Why the state cannot be kept now, or ""."""
        at_issue = (run.kernel for run in self.running.values() if run.source is not None)
        return next((_NOT_KEPT.format(kernel) for kernel in at_issue), "")

    def free_slot(self) -> int | None:
        """A slot that no kernel occupies, or None."""
        slots = len(self.streams.sm.kernels)
        return next((k for k in range(slots) if k not in self.running), None)

    def start(self, kernel: Kernel, now: int, first_cta: int = 0) -> Running:
        """Give a kernel a slot; its CTAs may be dispatched after the launch overhead.

        Those before ``first_cta`` are read and dropped.
        """
        slot = self.free_slot()
        assert slot is not None, "who starts a kernel has asked"
        bind.occupancy(kernel, self.gpu)  # at least one CTA fits
        check_cluster(kernel, self.gpu)
        check_parts(kernel, self.gpu)
        if not self.running:
            self._code.clear()
            self.streams.drop_all()
        ready = now + self.gpu.launch.overhead
        run = Running(kernel, slot, self._launched, False, iter(()), now, ready, first_cta)
        self._launched += 1
        self.running[slot] = run
        self.streams.sm.kernels[slot] = 0
        state = self.streams.sm.kernels[slot]
        state.active, state.warps, state.cluster = 1, kernel.warps, kernel.cluster_ctas
        self.streams.sm.parameters[:, slot] = 0
        self._describe(run)
        state.shared_base, state.local_base = kernel.shared_base, kernel.local_base
        number = self._names.setdefault(kernel.name, len(self._names))
        state.fetch_base = number * FETCH_SPACING
        state.constant_base = CONSTANTS + run.order * CONSTANT_BANKS * CONSTANT_BANK
        run.ctas = self._connect(run) if kernel.source else self._ctas(kernel, first_cta)
        self._read(run)  # a trace reveals its code, and its control bits, with its CTAs
        run.control = bind.uses_control(kernel, self.gpu)
        self.streams.sm.kernels[slot].control = run.control
        self._code.bind(run)
        return run

    def _describe(self, run: Running) -> None:
        """Tell the CTA scheduler what there is to know of a grid."""
        d, kernel = self.dispatcher, run.kernel
        d.grids[run.slot] = d.progress[run.slot] = 0
        grid, progress = d.grids[run.slot], d.progress[run.slot]
        progress.started = -1
        for name, need in bind.cta_needs(kernel, self.gpu).items():
            grid[name] = need
        grid.cluster, grid.ctas, grid.more = kernel.cluster_ctas, run.expected, 1
        grid.filling = bind.occupancy(kernel, self.gpu)[0] * self.gpu.sm.count
        grid.share = -(-run.expected // self.gpu.sm.count)
        grid.executed, grid.total = kernel.source is not None, kernel.n_ctas
        d.given[:, run.slot] = d.storing[:, run.slot] = 0

    def _ctas(self, kernel: Kernel, first: int) -> Iterator[Cta]:
        """The CTAs of a kernel from a number on, in the order in which they are queued."""
        ctas = ctas_from(kernel, first)
        return in_parts(kernel, self.gpu, ctas) if has_parts(self.gpu) else ctas

    def serve(self, runs: list[Running]) -> None:
        """Let the CTA scheduler serve these kernels, in this order."""
        self.dispatcher.order[: len(runs)] = [run.slot for run in runs]
        self.dispatcher.state[0].kernels = len(runs)

    def storing(self, run: Running) -> bool:
        """Whether stores of CTAs of a kernel that have ended are on their way."""
        return self.dispatcher.progress[run.slot].storing > 0

    def started(self, run: Running) -> int:
        """The cycle in which a kernel's first CTA was dispatched, or -1."""
        return int(self.dispatcher.progress[run.slot].started)

    def wave(self, run: Running) -> int:
        """How many CTAs of a kernel the GPU holds at once."""
        return int(self.dispatcher.grids[run.slot].filling)

    def begun(self, run: Running) -> int:
        """How many CTAs of a kernel were dispatched."""
        return int(self.dispatcher.progress[run.slot].taken)

    def _connect(self, run: Running) -> Iterator[Cta]:
        """Let a kernel's source and the machine meet; the kernel's CTAs, yet to be executed."""
        sm = self.streams.sm
        exchange = Exchange(sm.step, sm.step_runs, sm.step_addresses, sm.step_pool)
        assert run.kernel.source is not None, "it is executed at issue"
        run.source = run.kernel.source(exchange)
        state = sm.kernels[run.slot]
        state.source, state.source_context = run.source.function, run.source.context
        state.ring = ring_length(self.gpu)
        return rings(run.kernel, run.source, int(state.ring))

    def feed(self, run: Running, asked: Callable[[], bool] = lambda: False) -> None:
        """Read CTAs until the kernel's ring is full, it has no more, or is ``asked`` to stop."""
        self._read(run, asked)
        if len(run.kernel.code) > run.bound:
            self._code.bind(run)

    def instructions(self, run: Running) -> tuple[int, int]:
        """(warp, thread) instructions of the CTAs that started."""
        if run.source is not None:
            return run.source.warp_instructions, run.source.thread_instructions
        progress = self.dispatcher.progress[run.slot]
        return int(progress.warp_instructions), int(progress.thread_instructions)

    def _read(self, run: Running, asked: Callable[[], bool] = lambda: False) -> None:
        """Fill the queue in batches: copying small CTAs one by one takes as long as running them.

        One CTA may complete a whole cluster, for which there must be room. Fewer large CTAs wait.
        """
        cluster = run.kernel.cluster_ctas
        room = self.dispatcher.pending.shape[1] - cluster
        records = 0
        while not run.exhausted and (free := room - self.streams.waiting(run.slot)) >= 0:
            if asked() or (records >= BATCH_RECORDS and free < room // 2):
                break
            begin = working_seconds()
            try:
                batch = self._batch(run, free + 1 if cluster == 1 else 1, asked)
            finally:
                self.read_seconds += working_seconds() - begin
            self._told(run, list(batch.values()))
            self._add(run, batch)
            records += sum(map(_records, batch.values()))
        grid = self.dispatcher.grids[run.slot]
        grid.more = not run.exhausted
        if run.failed:
            grid.ctas = len(run.seen)

    def _batch(self, run: Running, most: int, asked: Callable[[], bool]) -> dict[int, Cta]:
        """Read CTAs that can be copied together, by linear id; fewer if there are no more."""
        batch: dict[int, Cta] = {}
        records, warps, seen = 0, run.kernel.warps, run.seen
        while len(batch) < most and records < BATCH_RECORDS and not asked():
            cta = self._next(run)
            if cta is None:
                break
            number = linear(run.kernel, cta)
            if len(cta.warps) != warps or number in seen:
                raise _unexpected(run, cta)
            seen.add(number)
            batch[number] = cta
            records += _records(cta)
        return batch

    def _next(self, run: Running) -> Cta | None:
        if run.source is None:
            self._readings.note(run.order)
        try:
            cta = next(run.ctas, None)
        except EndOfKernel:
            run.failed = run.exhausted = True
            return None
        if cta is None:
            self._check_count(run)
            run.exhausted = True
        return cta

    def read_rest(self, run: Running) -> None:
        """Read the CTAs of a kernel that will not run: others see what they do."""
        begin = working_seconds()
        try:
            for cta in run.ctas:
                self._told(run, [cta])
        except EndOfKernel:  # who ended it knows
            pass
        self.read_seconds += working_seconds() - begin

    def _told(self, run: Running, ctas: list[Cta]) -> None:
        """Tell a rule of CTAs that were read."""
        if self._tell is not None and ctas and run.source is None:
            self._tell(run.kernel, ctas, run.told)
            run.told += len(ctas)

    def retire(self, slot: int, number: int, end: int) -> None:
        """A CTA of a slot finished."""
        run = self.running[slot]
        run.done += 1
        run.reach(end)
        self.streams.retire(slot, number)

    def finish(self, run: Running) -> None:
        """Free the slot of a kernel."""
        if run.source is not None:
            run.source.close()
            self._readings.note(run.order)
        self.streams.sm.kernels[run.slot].active = 0
        del self.running[run.slot]

    def _add(self, run: Running, batch: dict[int, Cta]) -> None:
        """Queue CTAs; those of a cluster wait for each other and follow in the order of ranks."""
        if batch and (run.looked < len(run.kernel.code) or run.unknown_code):
            self._count_unknown(run, batch.values())
        if run.kernel.cluster != (1, 1, 1):
            batch = self._complete_clusters(run, batch)
        if batch:
            self.streams.add(run.slot, batch)
        if run.failed:  # the others of these clusters will never come
            for members in run.clusters.values():
                run.seen.difference_update(members)
            run.clusters.clear()

    def _complete_clusters(self, run: Running, batch: dict[int, Cta]) -> dict[int, Cta]:
        """Those CTAs whose cluster is complete with this batch, cluster by cluster."""
        shape = run.kernel.cluster
        complete: dict[int, Cta] = {}
        for number, cta in batch.items():
            key = tuple(i // c for i, c in zip(cta.index, shape))
            members = run.clusters.setdefault(key, {})
            members[number] = cta
            if len(members) == run.kernel.cluster_ctas:
                complete |= sorted(run.clusters.pop(key).items())
        return complete

    def _check_count(self, run: Running) -> None:
        if len(run.seen) != run.expected:
            read = run.first_cta + run.skipped + len(run.seen)
            raise WorkloadError(
                f"kernel {run.kernel.id} ({run.kernel.name}): {read} CTAs; "
                f"its grid has {run.kernel.n_ctas}"
            )

    def _count_unknown(self, run: Running, ctas: Iterable[Cta]) -> None:
        """Count the instructions of some CTAs that the opcode tables do not know."""
        code = run.kernel.code
        architecture = run.kernel.architecture
        fresh = sass.unlisted(code.instructions[run.looked :], code.texts, architecture)
        run.unknown_code += (run.looked + np.flatnonzero(fresh)).tolist()
        run.looked = len(code)
        if not run.unknown_code:
            return
        runs = together([cta.runs for cta in ctas], RUN)
        first = runs["static"]
        for static in run.unknown_code:
            inside = (first <= static) & (static < first + runs["count"])
            text = code.texts[code.instructions["text"][static]]
            run.unknown[text] += int(inside.sum())


def _records(cta: Cta) -> int:
    """What a CTA takes in a batch."""
    return len(cta.runs) + len(cta.pool)


def _unexpected(run: Running, cta: Cta) -> WorkloadError:
    """What is wrong with a CTA that was read before, or has another number of warps."""
    kernel, (x, y, z) = run.kernel, cta.index
    if len(cta.warps) == kernel.warps:
        return WorkloadError(f"kernel {kernel.id}: CTA {x},{y},{z} appears twice")
    return WorkloadError(
        f"kernel {kernel.id} ({kernel.name}), CTA {x},{y},{z}: "
        f"{len(cta.warps)} warps; expected {kernel.warps}"
    )
