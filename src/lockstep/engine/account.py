"""What a run will tell: kernels that have ended, what each added to the counters, samples, CTAs."""

from copy import copy

import numpy as np

from lockstep.engine.attributed import InstructionCounts, counts_of
from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.record import (
    SAMPLE,
    KernelRun,
    covered,
    frozen_kernels,
    stacked,
    thawed_kernels,
    totals,
)
from lockstep.engine.running import Running
from lockstep.engine.stop import KernelCounters, counts_instructions
from lockstep.gpus.spec import GPU
from lockstep.model.clock import NEVER
from lockstep.model.core import bind
from lockstep.model.counters import PARTITION_COUNTERS, SM_COUNTERS
from lockstep.plain_bytes import copied, together

_FROZEN = ("finish_order", "events", "next_sample")
"""What a checkpoint holds as it is."""


class Account:
    """Keeps the counters as they were at each launch, and what was recorded since."""

    def __init__(self, gpu: GPU, machine: Machine, table: KernelTable, options: dict):
        """``options``: of a :class:`~lockstep.engine.Session`, what is recorded among them."""
        self._gpu, self._machine, self._table = gpu, machine, table
        self._interval, self._lists_events = options["interval"], options["cta_events"]
        self._source, self._shows = options["source"], counts_instructions(options["stop"])
        self.finished: list[KernelRun] = []
        self.finish_order: list[int] = []  # launch number of each finished kernel
        self.samples: list[np.ndarray] = []
        self.module_samples: list[np.ndarray] = []  # of several modules, as many
        self.events: list[tuple[int, int, int, int, int]] = []
        self.next_sample = self._interval or NEVER
        self._drained: list[tuple[int, int]] = []  # of kernels stopped: cycles until all CTAs ended
        self._baselines: dict[int, tuple[np.ndarray, ...]] = {}  # of what runs on this machine

    def launch(self, slot: int, now: int) -> None:
        """A kernel is about to get a slot: what is counted from now on is its own."""
        self._machine.settle(now)
        self._baselines[slot] = tuple(map(copied, self._machine.counters))

    def counters(self, run: Running) -> KernelCounters:
        """What a kernel has done; the machine is settled."""
        sm, partition, _ = self._added(run)
        return KernelCounters(
            launched=run.launched,
            started=self._table.started(run),
            ctas=run.kernel.n_ctas - run.first_cta,
            wave=self._table.wave(run),
            begun=self._table.begun(run),
            ctas_done=run.done,
            skipped=run.skipped,
            skipped_instructions=sum(each.warp_instructions for each in run.left_out),
            ended=run.ended,
            sm=totals(sm),
            partition=totals(partition),
            instructions=self._of_instructions(run) if self._shows else None,
        )

    def retire(self, run: Running, cta: int, s: int, start: int, end: int) -> None:
        """A CTA has ended."""
        if self._lists_events:
            self.events.append((run.order, cta, s, start, end))

    def close(self, run: Running, now: int, ended: bool) -> None:
        """Record a kernel; one that has not ended as it stands now."""
        self._machine.settle(now)
        kernel = run.kernel
        started = self._table.started(run)
        end = run.end if ended else now
        fit, limiter = bind.occupancy(kernel, self._gpu)
        sm, partition, modules = self._added(run)
        run.ask_source()
        warp_instructions, thread_instructions = self._table.instructions(run)
        if not ended:
            warp_instructions = int(sm["warp_instructions"].sum())
            thread_instructions = int(sm["thread_instructions"].sum())
        self.finished.append(
            KernelRun(
                id=kernel.id,
                name=kernel.name,
                grid=kernel.grid,
                block=kernel.block,
                stream=kernel.stream,
                registers=kernel.registers,
                shared_bytes=kernel.shared_bytes,
                architecture=kernel.architecture,
                dependence=bind.dependence(run.control, self._gpu),
                ctas_per_sm=fit,
                limiter=limiter,
                launched=run.launched,
                start=started if started >= 0 else end,
                end=end,
                running=self._running_cycles(run, started, end, now),
                warp_instructions=warp_instructions,
                thread_instructions=thread_instructions,
                sm=sm,
                partition=partition,
                modules=modules,
                unknown=dict(run.unknown),
                complete=ended and run.first_cta == 0 and not run.skipped,
                first_cta=run.first_cta,
                ctas_done=run.done,
                left_out=list(run.left_out),
                stopped=run.stopped,
                limits=bind.ctas_by_limit(kernel, self._gpu),
                source=self._by_instruction(run),
            )
        )
        self.finish_order.append(run.order)

    def _by_instruction(self, run: Running) -> InstructionCounts | None:
        """What the instructions of a kernel did, if that was asked for."""
        return counts_of(run.kernel.code, self._of_instructions(run)) if self._source else None

    def _of_instructions(self, run: Running) -> np.ndarray:
        """Counters of each static instruction of a kernel, ATTRIBUTED."""
        first = int(self._machine.sm.kernels[run.slot].code)
        return self._machine.by_instruction(first, run.bound)

    def drain(self, run: Running) -> None:
        """The last CTA of a kernel that was stopped has ended."""
        self._drained.append((run.stopped_at, max(run.end, run.stopped_at)))

    def spans(self, now: int) -> list[tuple[int, int]]:
        """The first cycles and ends of all times in which CTAs ran."""
        running = self._table.running.values()
        draining = [(run.stopped_at, now) for run in running if run.stopped]
        return [(k.start, k.end) for k in self.finished] + self._drained + draining

    def sample(self, now: int, event: int) -> None:
        """Keep the counters as they are now; the next sample is due after ``event``."""
        self.last_sample(now)
        assert self._interval is not None, "no sample is due without"
        self.next_sample = event - event % self._interval + self._interval

    def last_sample(self, now: int) -> None:
        """Keep the counters as they are now, if samples are wanted."""
        if not self._interval:
            return
        self._machine.settle(now)
        self._machine.share_counters()
        sample = np.zeros(1, SAMPLE)
        sample["cycle"] = now
        sample["sm"] = totals(self._machine.sm.counters)
        sample["partition"] = totals(self._machine.memory.counters)
        if self.samples and self.samples[-1]["cycle"][0] == now:  # no interval is empty
            self.samples.pop()
            del self.module_samples[len(self.samples) :]
        self.samples.append(sample)
        if self._gpu.modules.count > 1:
            self.module_samples.append(np.array(self._machine.modules.counters.view(np.ndarray)))

    def freeze(self) -> dict:
        """All of it, as plain values and arrays."""
        plain = {name: getattr(self, name) for name in _FROZEN}
        samples = together([np.zeros(0, SAMPLE), *self.samples], SAMPLE)
        modules = stacked(self.module_samples)
        for counted in self._baselines.values():
            self._machine.share_rows(counted)
        baselines = {str(slot): counted for slot, counted in self._baselines.items()}
        finished = frozen_kernels(self.finished)
        kept = {"samples": samples, "modules": modules, "finished": finished}
        return plain | kept | {"baselines": baselines}

    def repeat(self, frozen: dict, count: int) -> None:
        """Have the first ``count`` kernels that had ended when ``freeze`` was called."""
        self.finished += thawed_kernels(frozen["finished"], len(self.finished), count)

    def thaw(self, frozen: dict) -> None:
        """Go on where ``freeze`` was called."""
        for name in _FROZEN:
            setattr(self, name, copy(frozen[name]))
        self.samples = [frozen["samples"][k : k + 1] for k in range(len(frozen["samples"]))]
        self.module_samples = list(frozen["modules"])
        self.repeat(frozen, len(frozen["finished"]["plain"]))
        self._baselines = {int(slot): tuple(both) for slot, both in frozen["baselines"].items()}

    def _added(self, run: Running) -> list[np.ndarray]:
        """What counters gained since a kernel's launch, shard by shard, on all machines."""
        gained = list(map(_difference, self._machine.counters, self._baselines[run.slot]))
        self._machine.share_rows(gained)
        return gained

    def _running_cycles(self, running: Running, started: int, end: int, now: int) -> int:
        """Cycles since a kernel's launch in which any kernel had a CTA.

        Other kernels count up to now, as their counters do, not to the kernel's end.
        """
        launched, spans = running.launched, [(started, end)] if started >= 0 else []
        for other in self._table.running.values():
            begin = self._table.started(other)
            if other is not running and begin >= 0:
                spans.append((begin, other.end if other.over else now))
        before = launched - self._machine.window
        for earlier in reversed(self.finished):  # in the order of their ends, but for a window
            if earlier.end <= before:
                break
            spans.append((earlier.start, earlier.end))
        for stopped_at, left in reversed(self._drained):
            if left <= before:
                break
            spans.append((stopped_at, left))
        return covered((max(a, launched), b) for a, b in spans if b > launched)


def _difference(now: np.ndarray, before: np.ndarray) -> np.ndarray:
    """What counters gained, shard by shard."""
    after = copied(now)
    flat = after.view(np.int64)
    flat -= np.ascontiguousarray(before.view(np.ndarray)).view(np.int64)
    return after


assert SM_COUNTERS.itemsize % 8 == 0 and PARTITION_COUNTERS.itemsize % 8 == 0
