"""One run: kernels in, windows of time, counters out."""

from collections.abc import Callable
from dataclasses import asdict, astuple
from time import perf_counter

import numpy as np

from lockstep._jit import Records
from lockstep.engine.checkpoint import arrays_of
from lockstep.engine.kernels import KernelTable, Running
from lockstep.engine.machine import Machine
from lockstep.engine.record import SAMPLE, KernelRun, covered
from lockstep.engine.streams import ARENAS, Streams
from lockstep.engine.watchdog import explain, patience
from lockstep.gpus.spec import GPU
from lockstep.model.clock import NEVER
from lockstep.model.control import STORED
from lockstep.model.counters import PARTITION_COUNTERS, SM_COUNTERS
from lockstep.model.sm import bind
from lockstep.workload import Command, Kernel, MemoryCopy, MemoryPass

PROGRESS_SECONDS = 0.2
MOST_WINDOWS = 256  # in a row without a look at progress, limits and Ctrl-C
PROGRESS = ("warp_instructions", "noc_requests", "noc_replies", "ctas")
MEMORY_PROGRESS = ("dram_reads", "dram_writes")  # a long queue of writes drains in silence
Progress = Callable[[int, int, int, int, str], None]


_FROZEN = (
    "now", "copies", "finish_order", "events", "_next", "_next_sample", "_next_look", "_moved",
    "_total_ctas", "_done_ctas",
)  # fmt: skip
"""What a checkpoint holds as it is."""


def _kernel_run(frozen: dict) -> KernelRun:
    for name in ("grid", "block"):
        frozen[name] = tuple(frozen[name])
    return KernelRun(**frozen)


def totals(records: np.ndarray) -> np.ndarray:
    """One record with the sum of each counter over all shards."""
    flat = records.view(np.ndarray).view(np.int64).reshape(len(records), -1)
    return flat.sum(axis=0).view(records.dtype)[0]


class Simulation:
    """The state of one run between windows."""

    def __init__(self, gpu: GPU, machine: Machine, options: dict):
        self.gpu, self.machine, self.options = gpu, machine, options
        self.streams = Streams(machine.sm, machine.dispatcher)
        self.table = KernelTable(self.streams, gpu)
        self.now = 0
        self.stopped = ""
        self.copies: list[tuple[int, int]] = []
        self.finished: list[KernelRun] = []
        self.finish_order: list[int] = []  # launch number of each finished kernel
        self.samples: list[np.ndarray] = []
        self.events: list[tuple[int, int, int, int, int]] = []
        self._commands: list[Command] = []
        self._next = 0
        self._baselines: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._next_sample = options["interval"] or NEVER
        self._cycle_limit = NEVER if options["limit_cycles"] is None else options["limit_cycles"]
        self._last_progress = 0.0
        self._patience = patience(gpu)
        self._next_look = 0
        self._moved = -1
        self._total_ctas = 0
        self._done_ctas = 0

    def run(
        self,
        commands: list[Command],
        frozen: dict | None = None,
        keep: Callable[[Callable[[], dict]], None] | None = None,
    ) -> None:
        """Run until all commands are done, a limit is reached, or nothing can move.

        Nothing runs any more after an early end: ``stopped`` stays what it is. ``frozen``: what
        ``freeze`` gave when these commands ran; they go on there. ``keep`` is called between
        windows with what gives the state then.
        """
        if self.stopped:
            return
        if frozen:
            self.thaw(frozen, commands)
        else:
            self._commands += commands
            kernels = (c for c in commands if isinstance(c, Kernel) and self._selected(c))
            self._total_ctas += sum(k.n_ctas for k in kernels)
        try:
            while self._admit() and not self.stopped:
                self._window()
                if keep and not self.stopped:
                    keep(self.freeze)
        except KeyboardInterrupt as error:
            self.interrupt(*getattr(error, "__notes__", ()))
        self._settle()
        for running in list(self.table.running.values()):
            self._finish(running, complete=False)
        if self.options["interval"]:
            self._sample()

    def freeze(self) -> dict:
        """The whole state between two windows, as plain values and arrays."""
        machine = self.machine
        contexts = {"sm": machine.sm, "memory": machine.memory, "links": machine.links}
        contexts["dispatcher"] = machine.dispatcher
        return {
            "arrays": dict(a for n, c in contexts.items() for a in arrays_of(n, c)),
            "plain": {name: getattr(self, name) for name in _FROZEN},
            "finished": [asdict(k) for k in self.finished],
            "samples": self.samples,
            "baselines": {str(slot): both for slot, both in self._baselines.items()},
            "streams": self.streams.freeze(),
            "table": self.table.freeze(self._commands),
        }

    def thaw(self, frozen: dict, commands: list[Command]) -> None:
        """Go on where ``freeze`` was called, with the same commands."""
        machine, arrays = self.machine, frozen["arrays"]
        grown = {name: arrays[f"sm.{name}"].view(Records) for name in (*ARENAS, "code")}
        grown["pool"] = arrays["sm.pool"]
        self.streams.replace(**grown)
        self._adopt()
        contexts = {"sm": machine.sm, "memory": machine.memory, "links": machine.links}
        contexts["dispatcher"] = machine.dispatcher
        for name, context in contexts.items():
            for path, array in arrays_of(name, context):
                array.view(np.ndarray)[...] = arrays[path]
        for name in _FROZEN:
            setattr(self, name, frozen["plain"][name])
        self.copies = [(address, size) for address, size in self.copies]
        self.finished = [_kernel_run(k) for k in frozen["finished"]]
        self.samples = frozen["samples"]
        self._baselines = {int(slot): tuple(both) for slot, both in frozen["baselines"].items()}
        self._commands = list(commands)
        self.streams.thaw(frozen["streams"])
        self.table.thaw(frozen["table"], self._commands)

    def interrupt(self, *places: str) -> None:
        """Run nothing any more; ``places`` say where kernels were that are executed."""
        self.stopped = self.stopped or "; ".join([f"interrupted at cycle {self.now}", *places])

    # Kernels

    def _selected(self, kernel: Kernel) -> bool:
        chosen = self.options["kernels"]
        return chosen is None or kernel.id in chosen

    def _admit(self) -> bool:
        """Take commands from the program while they may start; false when all is done."""
        while self._next < len(self._commands):
            command = self._commands[self._next]
            if isinstance(command, MemoryCopy):
                if self.table.running:  # a copy waits for the kernels before it
                    break
                self.machine.copy_to_device(command.address, command.bytes)
                self.copies.append((command.address, command.bytes))
            elif isinstance(command, MemoryPass):
                if self.table.running:
                    break
                self.machine.pass_through(*astuple(command))
            elif self._selected(command):
                streams = {r.kernel.stream for r in self.table.running.values()}
                if command.stream in streams or self.table.free_slot() is None:
                    break
                self._launch(command)
            self._next += 1
        return bool(self.table.running)

    def _launch(self, kernel: Kernel) -> None:
        alone = not self.table.running
        self._settle()
        before = self.machine.sm.counters.copy(), self.machine.memory.counters.copy()
        slot = self.table.free_slot()
        assert slot is not None, "a kernel is launched where there is one"
        self._baselines[slot] = before  # first: Ctrl-C may end the start
        running = self.table.start(kernel, self.now)
        self._next_look = running.ready + self._patience  # a launch may pause as long as that
        self._adopt()
        if alone:
            self.machine.prepare_caches(bind.l1_ways(kernel, self.gpu))
        base = int(self.streams.sm.kernels[running.slot].constant_base)
        size = bind.parameter_bytes(kernel, self.gpu)
        self.machine.bring_constants(base, size, self.now)

    def _adopt(self) -> None:
        """The arenas may have grown: the machine runs on the new ones."""
        self.machine.sm = self.streams.sm

    def _finish(self, running: Running, complete: bool) -> None:
        kernel = running.kernel
        self._settle()
        before_sm, before_memory = self._baselines[running.slot]
        started = self.table.started(running)
        end = running.end if complete else self.now
        fit, limiter = bind.occupancy(kernel, self.gpu)
        sm = _difference(self.machine.sm.counters, before_sm)
        running.ask_source()
        warp_instructions, thread_instructions = self.table.instructions(running)
        if not complete:
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
                dependence="control" if running.control else "scoreboard",
                ctas_per_sm=fit,
                limiter=limiter,
                launched=running.launched,
                start=started if started >= 0 else end,
                end=end,
                running=self._running_cycles(running, started, end),
                warp_instructions=warp_instructions,
                thread_instructions=thread_instructions,
                sm=sm,
                partition=_difference(self.machine.memory.counters, before_memory),
                unknown=dict(running.unknown),
                complete=complete,
            )
        )
        self.finish_order.append(running.order)
        self.table.finish(running)

    def _running_cycles(self, running: Running, started: int, end: int) -> int:
        """Cycles since a kernel's launch in which any kernel had a CTA.

        Other kernels count up to now, as their counters do, not to the kernel's end.
        """
        launched, spans = running.launched, [(started, end)] if started >= 0 else []
        for other in self.table.running.values():
            begin = self.table.started(other)
            if other is not running and begin >= 0:
                spans.append((begin, other.end if other.over else self.now))
        for earlier in reversed(self.finished):  # in the order of their ends, but for a window
            if earlier.end <= launched - self.machine.window:
                break
            spans.append((earlier.start, earlier.end))
        return covered((max(a, launched), b) for a, b in spans if b > launched)

    # Time

    def _window(self) -> None:
        """Windows until CTAs are to be read or a kernel is over: collect what finished."""
        runs = sorted(self.table.running.values(), key=lambda r: r.launched)
        ready = [r for r in runs if r.ready <= self.now]
        for run in ready:
            self.table.feed(run)
            if run.failed and run.over:  # before any CTA could be dispatched
                self._finish(run, complete=False)
        self._adopt()
        cut = min([r.ready for r in runs if r.ready > self.now], default=NEVER)
        self.table.serve(ready)
        stop = min(self._next_sample, self._cycle_limit)
        most = MOST_WINDOWS if self.options["limit_instructions"] is None else 1
        alone = any(r.source is not None for r in runs)
        end, event = self.machine.run_windows(self.now, cut, stop, most, alone)
        self.now = end
        if self.machine.part.stopped:
            self.interrupt()
        self._collect()
        self._advance(end, event, runs)
        self._check_limits()
        self._report(runs)

    def _advance(self, end: int, event: int, runs: list[Running]) -> None:
        """Skip to the next cycle at which anything can happen."""
        # What was collected may let a CTA of another kernel start.
        event = min(
            [event, self.machine.next_dispatch(end)] + [r.ready for r in runs if r.ready >= end]
        )
        if event >= NEVER:
            self.now = end
            if self.table.running:
                self.stopped = self._deadlock()
            return
        # What a busy port left over is older than the window's end; a limit ends a pause.
        event = max(min(event, self._cycle_limit), end)
        self._look_for_progress()
        if self._next_sample <= event:
            # Windows are not cut at samples: credits and dispatch go by windows, so looking at a
            # run would change it.
            self.now = end
            self._sample()
            self._next_sample = event - event % self.options["interval"] + self.options["interval"]
        self.now = event

    def _look_for_progress(self) -> None:
        """Every so often: has anything been issued, sent or received since the last look?"""
        if self.now < self._next_look:
            return
        self.machine.share_counters()
        counters, memory = self.machine.sm.counters, self.machine.memory.counters
        moved = sum(int(counters[name].sum()) for name in PROGRESS)
        moved += sum(int(memory[name].sum()) for name in MEMORY_PROGRESS)
        if moved == self._moved and self.table.running and not self._waits_for_launch():
            self.stopped = self._deadlock()
        self._moved = moved
        self._next_look = self.now + self._patience

    def _deadlock(self) -> str:
        self.machine.share_waits()
        return explain(self.table, self.machine.memory, self.options["policies"], self.now)

    def _waits_for_launch(self) -> bool:
        return all(run.ready > self.now for run in self.table.running.values())

    def _collect(self) -> None:
        """Retire the CTAs that have ended, and the kernels of which they were the last."""
        retired = self.machine.take_retired()
        for slot, cta, s, start, end in retired:
            if cta == STORED:
                self.table.running[slot].reach(end)
                continue
            self.table.retire(slot, cta, end)
            self._done_ctas += 1
            if self.options["cta_events"]:
                self.events.append((self.table.running[slot].order, cta, s, start, end))
        for running in list(self.table.running.values()) if retired else ():
            running.ask_source()
            if running.over and not self.table.storing(running):
                self._finish(running, complete=not running.failed)

    def _check_limits(self) -> None:
        if self.now >= self._cycle_limit and self.table.running:
            self.stopped = f"cycle limit of {self._cycle_limit} reached"
        limit = self.options["limit_instructions"]
        if limit is not None and self.table.running:
            self.machine.share_counters()
            done = int(self.machine.sm.counters["warp_instructions"].sum())
            if done >= limit:
                self.stopped = f"instruction limit of {limit} reached"

    # Observation

    def _settle(self) -> None:
        self.machine.settle(self.now)

    def _sample(self) -> None:
        self._settle()
        sample = np.zeros(1, SAMPLE)
        sample["cycle"] = self.now
        sample["sm"] = totals(self.machine.sm.counters)
        sample["partition"] = totals(self.machine.memory.counters)
        if self.samples and self.samples[-1]["cycle"][0] == self.now:  # no interval is empty
            self.samples.pop()
        self.samples.append(sample)

    def _report(self, runs: list[Running]) -> None:
        progress = self.options["progress"]
        if progress is None or perf_counter() - self._last_progress < PROGRESS_SECONDS:
            return
        self._last_progress = perf_counter()
        done = int(self.machine.sm.counters["warp_instructions"].sum())
        name = runs[0].kernel.name if runs else ""
        progress(self._done_ctas, self._total_ctas, self.now, done, name)


def _difference(now: np.ndarray, before: np.ndarray) -> np.ndarray:
    """What counters gained, shard by shard."""
    after = np.array(now.view(np.ndarray))
    flat = after.view(np.int64)
    flat -= np.ascontiguousarray(before.view(np.ndarray)).view(np.int64)
    return after


assert SM_COUNTERS.itemsize % 8 == 0 and PARTITION_COUNTERS.itemsize % 8 == 0
