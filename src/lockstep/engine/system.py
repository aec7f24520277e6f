"""Several GPUs at one host, each simulated in its own clock, all in step.

Of the GPUs on which something runs that goes on which is behind; the host is never further than the
first of them would be after a window. So what a GPU is told by others through the host, say that
the kernel has ended that one of its own waits for, comes a window late at most. The order does not
depend on anything but simulated time.
"""

from collections.abc import Sequence
from typing import Any

from lockstep._jit import compiled_seconds, working_seconds
from lockstep.engine.checkpoint import Keep
from lockstep.engine.host.host import host_of_system
from lockstep.engine.host.seat import HostSeat
from lockstep.engine.peers import PeerTraffic, places
from lockstep.engine.session import Session
from lockstep.engine.simulation import Simulation
from lockstep.errors import LockstepError
from lockstep.gpus.system import GpuSystem
from lockstep.host_calls import SetDevice
from lockstep.model.clock import NEVER
from lockstep.workload import Command, Kernel
from lockstep.workload.warm import Warming


class SystemSession:
    """The simulated GPUs of a system, which keep their caches and clocks."""

    def __init__(self, system: GpuSystem, memories: Sequence[tuple[int, int]] = (), **options: Any):
        """``options`` are those of :class:`.Session`; each GPU has them.

        ``memories``: address and bytes of each GPU's memory, one behind the other. Accesses of
        kernels to those of others cross the fabric; without it all addresses are a GPU's own.
        """
        shared = places(system, memories)
        self.host = host_of_system(system, shared)
        self.sessions = [
            Session(gpu, seat=seat, **options) for gpu, seat in zip(system.gpus, self.host.seats)
        ]
        self._current = 0  # the device of the last command
        self._pairs = [(s.simulation, seat) for s, seat in zip(self.sessions, self.host.seats)]
        self.traffic: PeerTraffic | None = None
        if shared:
            assert self.host.fabric is not None, "a system has one"
            self.traffic = PeerTraffic(
                [simulation for simulation, _ in self._pairs], self.host.seats, self.host.fabric
            )

    @property
    def stopped(self) -> str:
        """Why the simulation ended early; empty where it did not."""
        return next((each.stopped for each in self.sessions if each.stopped), "")

    def run(
        self, commands: list[Command], frozen: dict | None = None, keep: Keep | None = None
    ) -> None:
        """Simulate commands after those of earlier calls.

        Raises :class:`LockstepError` for ``frozen`` and ``keep``: no checkpoint has several GPUs.
        """
        if frozen or keep:
            raise LockstepError("no checkpoint has several GPUs: simulate from the start")
        if self.stopped:
            return
        begin, compiled = working_seconds(), compiled_seconds()
        self._give(commands)
        try:
            while not self.stopped and self._step():
                pass
        except KeyboardInterrupt as error:
            for simulation, _ in self._pairs:
                simulation.interrupt(*getattr(error, "__notes__", ()))
        for simulation, _ in self._pairs:
            simulation.now = max(simulation.now, simulation.reached)
            simulation.rest()
        self.sessions[0].took(begin, compiled)

    def _give(self, commands: list[Command]) -> None:
        """Each GPU its kernels; the host everything, in order."""
        own: list[list[Command]] = [[] for _ in self.sessions]
        given: list[Command] = []
        for command in commands:
            if isinstance(command, SetDevice):
                self._current = command.device
            elif isinstance(command, Kernel | Warming):
                own[self._current].append(command)
            simulation = self._pairs[self._current][0]
            given += simulation.given.selected([command])
        for (simulation, _), theirs in zip(self._pairs, own):
            simulation.expect(theirs)
        self.host.take(given)

    # Time

    def _step(self) -> bool:
        """Let the host and the GPU that is behind go on; false when all is done."""
        running = [pair for pair in self._pairs if self._goes_on(*pair)]
        horizon = min([_ahead(*pair) for pair in running], default=NEVER)
        if self.traffic and self.traffic.under_way:
            horizon = self._advance_with(self.traffic, horizon)
        elif running:
            self.host.advance(horizon, horizon)
        else:
            horizon = self._idle()
        for simulation, seat in self._pairs:
            self._admit(simulation, seat, horizon)
        running = [pair for pair in self._pairs if self._goes_on(*pair) and _is_busy(pair[0])]
        if not running:
            return self._go_on_without()
        simulation, seat = min(running, key=lambda pair: (_time(*pair), pair[1].number))
        self._window(simulation, seat, alone=len(running) == 1)
        return True

    def _idle(self) -> int:
        """Nothing runs: the host goes on until a kernel may begin; up to when others may, too."""
        self.host.advance(0, NEVER)
        first = min(seat.first_launch for seat in self.host.seats)
        if first >= NEVER:
            return NEVER
        horizon = first + min(seat.costs.clock.time(s.machine.window) for s, seat in self._pairs)
        self.host.advance(horizon, horizon)
        return horizon

    def _advance_with(self, traffic: PeerTraffic, horizon: int) -> int:
        """Let the host go on, and messages between GPUs; who gets one wakes in time for it.

        Returns up to when: not beyond the window of a GPU that a message wakes.
        """
        traffic.limit(horizon)
        while traffic.on_links and (time := self.host.next) < traffic.horizon:
            if time < self.host.next_of_calls:
                traffic.advance(self.host.next_of_calls)
            else:
                self.host.advance(time + 1, time + 1)
        horizon = traffic.horizon
        self.host.advance(horizon, horizon)
        for port in traffic.ports:
            port.wake()
        return horizon

    def _goes_on(self, simulation: Simulation, seat: HostSeat) -> bool:
        """Whether kernels run on a GPU that do not wait for others, or it serves those."""
        if self.traffic is None:
            return bool(simulation.table.running)
        if simulation.table.running:
            return not simulation.is_idle
        return self.traffic.ports[seat.number].is_busy

    def _window(self, simulation: Simulation, seat: HostSeat, alone: bool) -> None:
        """Let a GPU go on; ``alone``: no other one does."""
        if self.traffic is None:
            simulation.window(NEVER if alone else 1)
            return
        self.traffic.ports[seat.number].place()
        simulation.window(NEVER if alone and not self.traffic.under_way else 1)
        self.traffic.collect(seat.number)

    def _admit(self, simulation: Simulation, seat: HostSeat, horizon: int) -> None:
        """Start what may start on a GPU before a time; one that rests, or sleeps, wakes for it."""
        first, running = seat.first_launch, bool(simulation.table.running)
        running |= self._goes_on(simulation, seat)
        if first < horizon:
            cycle = seat.costs.clock.cycle(first)
            if not running:
                simulation.now = max(simulation.now, cycle)
            elif simulation.table.free_slot() is not None:
                simulation.wake(cycle)
        if running or first < horizon:
            simulation.admit_ready(seat)

    def _go_on_without(self) -> bool:
        """No GPU has anything to do: what the last commands were is done, then the end."""
        if self.traffic and self.traffic.under_way:
            return True
        done = False
        for simulation, seat in self._pairs:
            if self.traffic and simulation.table.running and _is_busy(simulation):
                simulation.give_up()
            done |= simulation.apply_rest(seat)
        if self.host.next < NEVER:
            return True
        for simulation, seat in self._pairs if self.host.done else ():
            simulation.now = max(simulation.now, seat.end)
            simulation.admit_ready(seat)
        return done

    # What came out

    def interrupt(self) -> None:
        """Simulate nothing any more: what there is is partial."""
        for session in self.sessions:
            session.interrupt()

    def close(self) -> None:
        """End the threads; nothing more can be run."""
        for session in self.sessions:
            session.close()


def _is_busy(simulation: Simulation) -> bool:
    """Whether anything is left to simulate on a GPU: CTAs of stopped kernels do not count."""
    running = simulation.table.running.values()
    return not running or not all(kernel.stopped for kernel in running)


def _time(simulation: Simulation, seat: HostSeat) -> int:
    return seat.costs.clock.time(simulation.now)


def _ahead(simulation: Simulation, seat: HostSeat) -> int:
    """When the next window of a GPU ends."""
    return seat.costs.clock.time(simulation.now + simulation.machine.window)
