"""Simulating workloads one after the other on one machine, or a single one."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from lockstep._jit import compiled_seconds, working_seconds
from lockstep.engine.checkpoint import Keep
from lockstep.engine.compilation import compile_model
from lockstep.engine.host.record import HostRun
from lockstep.engine.host.seat import HostSeat
from lockstep.engine.progress import Progress
from lockstep.engine.ranks import Ranks
from lockstep.engine.record import CTA_EVENT, SAMPLE, KernelRun, Run, covered, stacked
from lockstep.engine.simulation import Simulation
from lockstep.engine.stop import STOP_INTERVAL, StopRule
from lockstep.engine.transport import Transport
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.outside import OutsideMemory
from lockstep.plain_bytes import together
from lockstep.policies import describe
from lockstep.workload import Command, Kernel, Workload
from lockstep.workload.warm import Warming


class Session:
    """A simulated GPU that keeps its caches and its clock from one workload to the next.

    ``threads``: of each rank; ``ranks``: machines that run a part of the GPU each, how many of
    them in this process, or how the one here reaches those of others.

    ``interval``: cycles between samples. ``stop`` ends kernels early and is asked every
    ``stop_interval`` cycles at most (default: ``STOP_INTERVAL``), see :mod:`lockstep.engine.stop`;
    ``first_cta``: by kernel id, the CTA at which it begins, those before it do not run.
    ``source``: whether kernels tell what each of their instructions did. ``outside``: models the
    memory behind the crossbar, see :mod:`lockstep.outside`; it is closed with the session.
    ``policies``: the user's functions by name, see :data:`lockstep.policies.POLICIES`. ``notice``
    is told what takes long. Limits, Ctrl-C and deadlocks end a run early with what there is by
    then.
    """

    def __init__(
        self,
        gpu: GPU,
        *,
        threads: int = 1,
        ranks: int | Transport = 1,
        kernels: set[int] | None = None,
        limit_instructions: int | None = None,
        limit_cycles: int | None = None,
        stop: StopRule | None = None,
        stop_interval: int | None = None,
        first_cta: dict[int, int] | None = None,
        interval: int | None = None,
        cta_events: bool = False,
        policies: dict | None = None,
        source: bool = False,
        outside: OutsideMemory | None = None,
        progress: Progress | None = None,
        notice: Callable[[str], None] | None = None,
        seat: HostSeat | None = None,
    ):
        """``seat``: the GPU's place at a host that it shares with others; it is driven by those."""
        if threads < 1:
            raise LockstepError(f"threads = {threads}: expected at least 1")
        self.gpu = gpu
        self._threads, self._is_seated = threads, seat is not None
        elsewhere = [] if isinstance(ranks, int) else [ranks]
        for transport in elsewhere:
            if transport.rank:  # the first one compiles, the others find what it left
                transport.share(None)
        self._compile_seconds = compile_model(gpu, notice)
        for transport in elsewhere:
            if not transport.rank:
                transport.share(None)
        self._seconds = 0.0
        begin, compiled = working_seconds(), compiled_seconds()
        self._policies = policies or {}
        options = {
            "kernels": kernels,
            "limit_instructions": limit_instructions,
            "limit_cycles": limit_cycles,
            "stop": stop,
            "stop_interval": stop_interval or STOP_INTERVAL,
            "first_cta": first_cta or {},
            "interval": interval,
            "cta_events": cta_events,
            "policies": self._policies,
            "source": source,
            "outside": outside,
            "seat": seat,
        }
        self._has_rule = stop is not None
        self.ranks = Ranks(gpu, ranks, threads, options, progress)
        self._simulation = self.ranks.simulations[0]
        self.took(begin, compiled)

    def run(
        self, commands: list[Command], frozen: dict | None = None, keep: Keep | None = None
    ) -> None:
        """Simulate commands after those of earlier calls.

        ``frozen``: what a checkpoint has of a run of the same commands, which goes on there;
        ``keep`` writes checkpoints. Raises :class:`LockstepError` for either where the state is not
        all in a checkpoint: with a stop rule, or a memory outside.
        """
        if self._has_rule and (frozen or keep):
            raise LockstepError("what a stop rule remembers is in no checkpoint: leave one out")
        if self._simulation.machine.outside and (frozen or keep):
            raise LockstepError(
                "no checkpoint has what an outside memory holds: simulate without one"
            )
        if self._simulation.host and (frozen or keep):
            raise LockstepError(
                "no checkpoint has the host's calls and copies under way: simulate from the start, "
                "or set host.copy=instant"
            )
        begin, compiled = working_seconds(), compiled_seconds()
        try:
            self.ranks.run(commands, frozen, keep)
        finally:
            self.took(begin, compiled)

    def repeat(self, commands: list[Command], frozen: dict) -> None:
        """Execute commands that were done before ``frozen`` was; their results are in it."""
        begin, compiled = working_seconds(), compiled_seconds()
        try:
            self.ranks.repeat(commands, frozen)
        finally:
            self.took(begin, compiled)

    def save(self, keep: Keep) -> None:
        """Keep the state between two calls of :meth:`run`; of several ranks none can alone."""
        if not self.ranks.several:
            keep.save(self._simulation.freeze())

    def interrupt(self) -> None:
        """Simulate nothing any more: what there is is partial."""
        for simulation in self.ranks.simulations:
            simulation.interrupt()

    def took(self, begin: float, compiled: float) -> None:
        """Count the time since both clocks were read."""
        self._seconds += working_seconds() - begin
        self._compile_seconds += compiled_seconds() - compiled

    @property
    def simulation(self) -> Simulation:
        """The first rank's."""
        return self._simulation

    @property
    def now(self) -> int:
        """The core cycle up to which everything is simulated."""
        return self._simulation.now

    @property
    def finished(self) -> list[KernelRun]:
        """The kernels that have ended, in the order of their ends."""
        return self._simulation.account.finished

    @property
    def host(self) -> HostRun | None:
        """What the host did so far; None where it takes no time."""
        return self._simulation.host.run if self._simulation.host else None

    @property
    def stopped(self) -> str:
        """Why the simulation ended early; empty where it did not."""
        return self._simulation.stopped

    def close(self) -> None:
        """End the threads; nothing more can be run."""
        self.ranks.close()

    def result(self) -> Run:
        """What all commands so far gave."""
        simulation, account = self._simulation, self._simulation.account
        index = {order: i for i, order in enumerate(account.finish_order)}
        events = [(index[order], *rest) for order, *rest in account.events]
        samples, machine = account.samples, simulation.machine
        spans = account.spans(simulation.now)
        host = None if self._is_seated else simulation.host
        return Run(
            kernels=list(account.finished),
            cycles=max([end for _, end in spans] + [host.end if host else 0]),
            running=covered(spans),
            sm=np.array(machine.sm.counters.view(np.ndarray)),
            partition=np.array(machine.memory.counters.view(np.ndarray)),
            samples=together([np.zeros(0, SAMPLE), *samples], SAMPLE),
            cta_events=np.array(events, CTA_EVENT),
            copies=list(simulation.copies),
            threads=self._threads,
            read_seconds=simulation.table.read_seconds,
            # One of a system whose time is another's has read all the same.
            simulate_seconds=max(self._seconds - simulation.table.read_seconds, 0.0),
            compile_seconds=self._compile_seconds,
            policies={name: describe(f) for name, f in self._policies.items()},
            host=host.run if host else None,
            stopped=simulation.stopped,
            ranks=simulation.work,
            modules=np.array(machine.modules.counters.view(np.ndarray)),
            module_samples=stacked(account.module_samples),
        )


Drive = Callable[[Session, Sequence[Command]], None]
"""Has a session run what is to run of the commands of a workload, and how."""


def run(
    workload: Workload,
    gpu: GPU,
    frozen: dict | None = None,
    keep: Keep | None = None,
    warm: Collection[int] = (),
    drive: Drive | None = None,
    **options: Any,
) -> Run:
    """Simulate a workload on a GPU; the result does not depend on ``threads``.

    ``warm``: ids of kernels that are warmed instead. ``drive`` decides about all kernels as they
    come. ``options`` are those of :class:`Session`; ``frozen`` and ``keep`` as in its ``run``.
    """
    commands: list[Command] = [
        Warming(c) if isinstance(c, Kernel) and c.id in warm else c for c in workload.commands
    ]
    session = Session(gpu, **options)
    try:
        if drive:
            drive(session, workload.commands)
        else:
            session.run(commands, frozen, keep)
    finally:
        session.close()
    return session.result()
