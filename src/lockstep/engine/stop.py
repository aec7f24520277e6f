"""Stop rules end a kernel before all its CTAs have run, or leave some out; limits end the run.

A rule is asked between windows about each kernel that runs. It sees what the kernel has done and
says whether that is enough. Windows are not cut for it, so a rule that stops nothing changes
nothing, and what it sees does not depend on the numbers of threads and of ranks.

A kernel that is stopped is recorded as it stands in that cycle, and gets no more CTAs. Those on
the SMs run on, as nothing takes a warp off an SM, but only if anything follows: what they do then
counts for the run, not for the kernel.

A rule may also leave CTAs out: those that are dispatched next are read and dropped, what is on the
SMs runs on, and CTAs behind them follow as if the others had never been.

A rule with a method ``read`` is told of CTAs as they are read, a :class:`ReadingRule`; one whose
``counts_instructions`` is true sees what each instruction did.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import numpy as np

from lockstep.engine.kernels import Read
from lockstep.engine.machine import Machine
from lockstep.engine.record import Ended
from lockstep.engine.running import Running
from lockstep.errors import WorkloadError
from lockstep.model.clock import NEVER
from lockstep.workload import Cta, Kernel

MOST_WINDOWS = 256  # in a row without a look at progress, limits and Ctrl-C
STOP_INTERVAL = 1000  # cycles between two questions to a rule, where none is given
BY_RULE = "a stop rule"


class KernelCounters(msgspec.Struct, frozen=True):
    """What a kernel has done up to a cycle; counters are those of the GPU since its launch."""

    launched: int  # the cycle in which the launch began
    started: int  # the cycle in which its first CTA was dispatched, or -1
    ctas: int  # that it has in all, without those before its first one
    wave: int  # that the GPU holds at once
    begun: int  # that were dispatched
    ctas_done: int  # that have ended
    skipped: int  # that a rule left out
    skipped_instructions: int  # warp instructions of those
    ended: Sequence[Ended]  # it grows later
    sm: np.void  # SM_COUNTERS, summed over the SMs
    partition: np.void  # PARTITION_COUNTERS, summed over the memory partitions
    instructions: np.ndarray | None = None  # ATTRIBUTED, of each; None: the rule does not ask


class Skip(msgspec.Struct, frozen=True):
    """A rule's answer: the next ``ctas`` CTAs of the kernel that were not dispatched do not run."""

    ctas: int


Answer = bool | str | Skip


class StopRule(Protocol):
    """Says when enough of a kernel has run."""

    def __call__(self, kernel: Kernel, cycle: int, counters: KernelCounters) -> Answer:
        """Whether the kernel ends in this cycle; a text is the reason that is recorded.

        A :class:`Skip` leaves CTAs out instead, and the kernel runs on.

        Asked once a kernel and cycle, in the order of launches, cycles never decrease. It may keep
        what it has seen, but the answer must follow from that alone.
        """
        ...


class ReadingRule(StopRule, Protocol):
    """A rule that is told of the CTAs of kernels, those that will not run, too."""

    def read(self, kernel: Kernel, ctas: Sequence[Cta], before: int) -> None:
        """The next CTAs of a launch were read, ``before`` of which others were.

        They come in the order in which they are dispatched, some time before that. When the rule
        has ended a kernel, the rest of it is read. A kernel that is warmed is read, too.
        """
        ...


def reader(rule: StopRule | None) -> Read | None:
    """What a rule wants to be told of CTAs, if it is a :class:`ReadingRule`."""
    return getattr(rule, "read", None)


def counts_instructions(rule: StopRule | None) -> bool:
    """Whether a rule wants to see what each instruction did."""
    return getattr(rule, "counts_instructions", False)


class Rules:
    """When a rule is asked, and about which kernels."""

    def __init__(self, rule: StopRule | None, interval: int):
        """``interval``: least cycles between two questions about a kernel."""
        self._rule, self._interval = rule, interval
        self.next_look = NEVER if rule is None else interval

    def ask(
        self, runs: list[Running], now: int, counters: Callable[[Running], KernelCounters]
    ) -> list[tuple[Running, str | Skip]]:
        """The kernels that end now, each with the reason, and those of which CTAs are left out."""
        self.next_look = now + self._interval
        assert self._rule is not None, "nobody looks without"
        answers: list[tuple[Running, str | Skip]] = []
        for run in runs:
            if run.stopped or run.over or run.source is not None:  # at issue all CTAs run
                continue
            answer = self._rule(run.kernel, now, counters(run))
            if answer:
                answers.append((run, BY_RULE if isinstance(answer, bool) else answer))
        return answers


class RunLimits:
    """Cycles and warp instructions after which a run ends."""

    def __init__(self, cycles: int | None, instructions: int | None):
        self.cycles = NEVER if cycles is None else cycles
        self._instructions = instructions

    @property
    def windows(self) -> int:
        """How many windows may follow each other without a look at the limits."""
        return MOST_WINDOWS if self._instructions is None else 1

    def reached(self, machine: Machine, now: int) -> str:
        """Which limit is reached; empty if none is."""
        if self._instructions is not None:
            machine.share_counters()
            done = int(machine.sm.counters["warp_instructions"].sum())
            if done >= self._instructions:
                return f"instruction limit of {self._instructions} reached"
        return f"cycle limit of {self.cycles} reached" if now >= self.cycles else ""


def check_parts(kernel: Kernel, first: int) -> None:
    """Raise :class:`WorkloadError` where a kernel cannot begin at CTA ``first``."""
    if first == 0:  # the name in C++ takes as long as a small kernel
        return
    named = f"kernel {kernel.id} ({kernel.title})"
    if not 0 <= first < kernel.n_ctas:
        raise WorkloadError(f"{named} has CTAs 0 to {kernel.n_ctas - 1}: none is CTA {first}")
    if kernel.source is not None:
        raise WorkloadError(
            f"{named} is executed at issue, where all of its CTAs run: simulate a trace of it"
        )
    (width, height, _), (x, y, z) = kernel.grid, kernel.cluster
    unit = width * height * z if z > 1 else width * y if y > 1 else x
    if first % unit:
        raise WorkloadError(
            f"{named}: CTA {first} is inside a cluster; begin at a multiple of {unit}"
        )
