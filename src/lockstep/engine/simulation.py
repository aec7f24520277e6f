"""One run: kernels in, windows of time, counters out."""

from collections.abc import Sequence
from copy import copy
from functools import partial

from lockstep.engine import dropping
from lockstep.engine.account import Account
from lockstep.engine.checkpoint import Keep
from lockstep.engine.commands import GivenCommands
from lockstep.engine.deferral import Deferral, Slices
from lockstep.engine.host.host import host_of
from lockstep.engine.host.seat import HostSeat
from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.preparation import Preparation, apply, prepare, warm, warm_set
from lockstep.engine.progress import ProgressCount
from lockstep.engine.record import Ended, RankWork
from lockstep.engine.running import Running
from lockstep.engine.stop import Rules, RunLimits, Skip, reader
from lockstep.engine.streams import Streams
from lockstep.engine.watchdog import Watchdog
from lockstep.gpus.spec import GPU
from lockstep.host_calls import MemoryCopy
from lockstep.model.clock import NEVER
from lockstep.model.control import STORED
from lockstep.workload import Command, Kernel
from lockstep.workload.warm import WarmSet

_FROZEN = ("now", "copies", "_next")
"""What a checkpoint holds as it is."""


class Simulation:
    """The state of one run between windows."""

    def __init__(self, gpu: GPU, machine: Machine, options: dict):
        self.gpu, self.machine, self.options = gpu, machine, options
        self.streams = Streams(machine.sm, machine.dispatcher, machine.own_sms)
        self.table = KernelTable(self.streams, gpu, reader(options["stop"]))
        self.account = Account(gpu, machine, self.table, options)
        self.watchdog = Watchdog(gpu, machine, self.table, options["policies"])
        self.now = 0
        self.reached = 0  # the last window ended; until ``now`` nothing can happen by itself
        self.is_idle = True  # nothing can move by itself, and no kernel waits to be launched
        self.stopped = ""
        self.copies: list[tuple[int, int]] = []
        self._limits = RunLimits(options["limit_cycles"], options["limit_instructions"])
        self._rules = Rules(options["stop"], options["stop_interval"])
        self.given = GivenCommands(options["kernels"], options["first_cta"])
        self._next = 0  # of its commands
        self._progress = ProgressCount(options["progress"])
        self.host: HostSeat | None = options.get("seat")
        if self.host is None and gpu.host.copy == "timed":
            self.host = host_of(gpu, machine.sm.paging.away, machine.sm.control.asks)
        self._deferral = Deferral()
        self.work: list[RankWork] = []  # of all ranks, by the end of the last run
        self._runs: list[tuple[int, int, int]] = []  # commands, finished kernels, cycle at its end

    def run(
        self, commands: list[Command], frozen: dict | None = None, keep: Keep | None = None
    ) -> None:
        """Run until all commands are done, a limit is reached, or nothing can move.

        Nothing runs any more after an early end: ``stopped`` stays what it is. ``frozen``: what
        ``freeze`` gave when these commands ran, or before; they go on there. A KeyboardInterrupt
        ends a run early; it is raised only where that has not begun.
        """
        if self.stopped:
            return
        began, slices = False, Slices(keep is not None and self.machine.part.is_alone)
        try:
            with self._deferral.held(keep is not None):
                self._begin(commands, frozen)
                began = True
                while self._admit() and not self.stopped:
                    slices.run(self)
                    self._offer(keep)
                    self._deferral.let_go()
        except KeyboardInterrupt as error:
            if not began:  # the state may be half there
                raise
            self.interrupt(*getattr(error, "__notes__", ()))
        self.rest()
        if commands:
            self._runs.append((len(self.given.commands), len(self.account.finished), self.now))

    def _begin(self, commands: list[Command], frozen: dict | None) -> None:
        known = frozen["commands"] - len(self.given.commands) if frozen else 0
        if frozen:
            self.thaw(frozen, commands[:known])
        self.expect(commands[known:])
        if self.host:
            self.host.take(self.given.selected(commands))

    def rest(self) -> None:
        """Nothing runs any more, or not on: what was counted is complete."""
        self.machine.settle(self.now)
        for running in list(self.table.running.values()):
            if not running.stopped:
                self._finish(running, ended=False)
        self.account.last_sample(self.now)
        self.machine.share_counters()

    def repeat(self, commands: list[Command], frozen: dict) -> None:
        """Be where a call of ``run`` with these commands ended, before ``freeze`` was called.

        What was executed is executed again, but not simulated.
        """
        first = len(self.given.launches)
        self.given.add(commands)
        self.table.repeat(frozen["table"], self.given.launches, first)
        _, finished, self.now = frozen["runs"][len(self._runs)]
        self.account.repeat(frozen["account"], finished)
        self._runs.append((len(self.given.commands), finished, self.now))

    def expect(self, commands: list[Command]) -> None:
        """These are to run, or to be done, after all others."""
        self.given.add(commands)
        self._progress.total += self.given.ctas(commands)

    def _offer(self, keep: Keep | None) -> None:
        """Save the state if it is time, all ranks together: each has a part of it."""
        part = self.machine.part
        if self.stopped and not part.stopped:
            return
        wanted = keep is not None and (self._deferral.asked or keep.due())
        if keep and wanted and (problem := self.table.unkept()):
            keep.refuse(problem)
            wanted = False
        if part.agree(wanted):
            frozen = self.freeze()
            if keep:
                keep.save(frozen)

    def freeze(self) -> dict:
        """The whole state between two windows, as plain values and arrays; see :mod:`.rows`."""
        return {
            "arrays": self.machine.gather(),
            "by_instruction": self.machine.by_instruction(),
            "plain": {name: getattr(self, name) for name in _FROZEN},
            "account": self.account.freeze(),
            "watchdog": self.watchdog.freeze(),
            "streams": self.streams.freeze(),
            "table": self.table.freeze(),
            "runs": self._runs,
            "commands": len(self.given.commands),
            "ctas": (self._progress.total, self._progress.done),
        }

    def thaw(self, frozen: dict, commands: list[Command]) -> None:
        """Go on where ``freeze`` was called, with the same commands."""
        self.streams.resize(frozen["arrays"], frozen["by_instruction"], self.machine.part.is_first)
        self._adopt()
        self.machine.restore(frozen["arrays"])
        for name, value in frozen["plain"].items():
            setattr(self, name, copy(value))
        self.copies = [(address, size) for address, size in self.copies]
        self._progress.total, self._progress.done = frozen["ctas"]
        self.account.thaw(frozen["account"])
        self.watchdog.thaw(frozen["watchdog"])
        first = len(self.given.launches)
        self.given.add(commands)
        self.streams.thaw(frozen["streams"])
        self.table.thaw(frozen["table"], self.given.launches, first)

    def interrupt(self, *places: str) -> None:
        """Run nothing any more; ``places`` say where kernels were that are executed."""
        self.stopped = self.stopped or "; ".join([f"interrupted at cycle {self.now}", *places])

    # Kernels

    def _admit(self) -> bool:
        """Take commands from the program while they may start; false when all is done.

        CTAs of kernels that were stopped run on only if a command waits for them.
        """
        if self.host:
            return self._admit_from(self.host)
        commands = self.given.commands
        while self._next < len(commands):
            command = commands[self._next]
            if isinstance(command, MemoryCopy | Preparation):
                if self.table.running:  # it waits for the kernels before it
                    break
                self._apply(commands, self._next)
            elif self.given.runs(command):
                streams = {r.kernel.stream for r in self.table.running.values()}
                if command.stream in streams or self.table.free_slot() is None:
                    break
                self._launch(command, warm_set(commands, self._next))
            self._next += 1
        running = self.table.running.values()
        if self._next < len(commands):
            return bool(running)
        return not all(run.stopped for run in running)

    def _admit_from(self, host: HostSeat) -> bool:
        """The same where the host takes time: start what may start by now."""
        limit = None if self.table.running else self._limits.cycles
        host.advance(self.now + self.machine.window, limit)
        if host.done and not self.table.running:
            self.now = max(self.now, host.end)
        self.admit_ready(host)
        self.apply_rest(host)
        return not host.done or not all(run.stopped for run in self.table.running.values())

    def admit_ready(self, host: HostSeat) -> None:
        """Place the pages that have arrived by now, and start the kernels that may start."""
        for page in host.arrivals(self.now):
            self.machine.copy_to_device(page.address, page.bytes)
            self.copies.append((page.address, page.bytes))
        while operation := host.launchable(self.now):
            before = operation.before
            if self.table.free_slot() is None or (before and self.table.running):
                break
            for place in range(len(before)):
                self._apply(before, place)
            host.launched(self._launch(operation.kernel, warm_set(before, len(before))))

    def apply_rest(self, host: HostSeat) -> bool:
        """Do what was to be done before a kernel that did not come; whether there was anything."""
        rest = [] if self.table.running else host.rest()
        for place in range(len(rest)):
            self._apply(rest, place)
        return bool(rest)

    def _apply(self, commands: Sequence[Command], place: int) -> None:
        """What one of several commands does to caches in no time, while nothing runs."""
        command = commands[place]
        assert isinstance(command, MemoryCopy | Preparation), "others take time"
        launch = partial(self._prepare, alone=True, held=warm_set(commands, place))
        warming = partial(warm, self.table, self.machine, now=self.now, prepare=launch)
        self.copies += apply(self.machine, command, warming)

    def _launch(self, kernel: Kernel, held: WarmSet | None) -> int:
        """Start a kernel, which begins with a warm set; in which slot."""
        alone = not self.table.running
        self.is_idle = False
        slot = self.table.free_slot()
        assert slot is not None, "a kernel is launched where there is one"
        self.account.launch(slot, self.now)  # first: Ctrl-C may end the start
        running = self.table.start(kernel, self.now, self.given.first_cta(kernel))
        self.watchdog.rest(running.ready)  # a launch may pause as long as that
        self._prepare(running, alone, held)
        return slot

    def _prepare(self, running: Running, alone: bool, held: WarmSet | None) -> None:
        """What a launch does to caches before a CTA starts."""
        self._adopt()
        prepare(self.machine, running, alone, held, self.now)

    def _adopt(self) -> None:
        """The arenas may have grown: the machine runs on the new ones."""
        self.machine.sm = self.streams.sm

    def _finish(self, running: Running, ended: bool) -> None:
        self._close(running, ended)
        self.table.finish(running)

    def _close(self, running: Running, ended: bool) -> None:
        """Record a kernel as it stands, and let the host know of its end."""
        self.account.close(running, self.now, ended)
        if self.host:
            self.host.ended(running.slot, running.end if ended else self.now)

    def _stop(self, running: Running, reason: str) -> None:
        """Record a kernel as it stands, and give it no more CTAs."""
        self._progress.total -= dropping.stop(self.table, running, self.now, reason)
        self._close(running, ended=False)
        self._release(running)

    def _skip(self, running: Running, ctas: int) -> None:
        """Leave CTAs of a kernel out."""
        dropping.skip(self.table, running, ctas, self._pass)
        self._progress.total -= ctas
        if running.over and not self.table.storing(running):
            self._finish(running, ended=True)

    def _pass(self, slot: int, ctas: int) -> int:
        """CTAs at the head of a queue change the L2 as if they had run."""
        self._adopt()
        return self.machine.pass_ctas(slot, ctas)

    def _release(self, running: Running) -> None:
        """Free the slot of a kernel that was stopped once its last CTA has ended."""
        if running.over and not self.table.storing(running):
            self.account.drain(running)
            self.table.finish(running)

    # Time

    def window(self, most: int = NEVER) -> None:
        """Windows until CTAs are to be read or a kernel is over: collect what finished.

        ``most``: no more windows than that.
        """
        runs = sorted(self.table.running.values(), key=lambda r: r.launched)
        ready = [r for r in runs if r.ready <= self.now]
        for run in ready:
            self.table.feed(run, lambda: self._deferral.asked)
            if run.failed and run.over and not run.stopped and not self.table.storing(run):
                self._finish(run, ended=False)  # before a CTA could be dispatched
        self._adopt()
        if self._deferral.asked:
            return
        cut = min([r.ready for r in runs if r.ready > self.now], default=NEVER)
        self.table.serve(ready)
        stop = min(self.account.next_sample, self._limits.cycles, self._rules.next_look)
        cut, stop = min(cut, self._next_launch()), min(stop, self._next_look())
        alone = any(r.source is not None for r in runs)
        most = min(most, self._limits.windows)
        end, event = self.machine.run_windows(self.now, cut, stop, most, alone)
        self.now = self.reached = end
        self._collect()
        self._advance(end, event, runs)
        if self.machine.stopped:
            self.interrupt()
        if self.table.running or self.host:
            self.stopped = self._limits.reached(self.machine, self.now) or self.stopped
        self._report(runs)

    @property
    def awaits_others(self) -> bool:
        """Whether what others send may let kernels go on: then who drives it knows of deadlocks."""
        return self.host is not None and self.host.place is not None

    def give_up(self) -> None:
        """Nothing can ever move again: say who waits for whom."""
        self.stopped = self.watchdog.deadlock(self.now)

    def wake(self, cycle: int) -> None:
        """Something comes at a cycle: go on there, or before."""
        if self.is_idle:
            self.now, self.is_idle = max(self.now, cycle), False
        else:
            self.now = min(self.now, max(self.reached, cycle))

    def _next_launch(self) -> int:
        """The next cycle at which the host may start a kernel, or NEVER."""
        return self.host.next_launch(self.now) if self.host else NEVER

    def _next_look(self) -> int:
        """The next cycle at which the host has to be asked for what comes, or NEVER."""
        return self.host.looks(self.now, self.machine.window) if self.host else NEVER

    def _advance(self, end: int, event: int, runs: list[Running]) -> None:
        """Skip to the next cycle at which anything can happen."""
        # What was collected may let a CTA of another kernel start.
        event = min(
            [event, self.machine.next_dispatch(end), self._next_launch(), self._next_look()]
            + [r.ready for r in runs if r.ready >= end]
        )
        self.is_idle = event >= NEVER
        if self.is_idle:
            self.now = end
            if self.table.running and not self.awaits_others:
                self.give_up()
            return
        # What a busy port left over is older than the window's end; a limit ends a pause.
        event = max(min(event, self._limits.cycles), end)
        self.stopped = self.watchdog.look(end) or self.stopped
        # Windows are not cut at samples and rules: credits and dispatch go by windows, so looking
        # at a run would change it.
        if self.account.next_sample <= event:
            self.now = end
            self.account.sample(end, event)
        if self._rules.next_look <= event and self._ask(end, runs):
            event = end  # another kernel may start
        self.now = event

    def _ask(self, now: int, runs: list[Running]) -> bool:
        """Stop the kernels that a rule ends, and leave CTAs out; whether it says so of any."""
        self.machine.settle(now)
        answers = self._rules.ask(runs, now, self.account.counters)
        self.now = now
        for run, answer in answers:
            if isinstance(answer, Skip):
                self._skip(run, answer.ctas)
            else:
                self._stop(run, answer)
        return bool(answers)

    def _collect(self) -> None:
        """Retire the CTAs that have ended, and the kernels of which they were the last."""
        retired = self.machine.take_retired()
        for slot, cta, s, start, end, lasted in retired:
            if cta == STORED:
                self.table.running[slot].reach(end)
                continue
            self.table.retire(slot, cta, end)
            self._progress.done += 1
            run = self.table.running[slot]
            self.account.retire(run, cta, s, start, end)
            if self.options["stop"] is not None:
                run.ended.append(Ended(start, end, lasted))
        for running in list(self.table.running.values()) if retired else ():
            running.ask_source()
            if running.stopped:
                self._release(running)
            elif running.over and not self.table.storing(running):
                self._finish(running, ended=not running.failed)

    def _report(self, runs: list[Running]) -> None:
        if self._progress.due:
            instructions = self.machine.warp_instructions
            self._progress.report(self.now, instructions, runs[0].kernel.name if runs else "")
