"""Simulating a device's launches: functional runs feed the timing model, launch after launch."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from lockstep.device.command_queue import CommandQueue
from lockstep.device.continuation import Continuation
from lockstep.device.launch import Launch
from lockstep.device.profiler import KernelReplay
from lockstep.device.treatment import Treatment
from lockstep.device.warmth import LaunchHistory
from lockstep.engine import Session, mpi
from lockstep.engine.host.record import HostRun
from lockstep.engine.record import Run
from lockstep.engine.system import SystemSession
from lockstep.engine.transport import Communicator, Transport, check_alike
from lockstep.errors import LockstepError
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.gpus.spec import GPU
from lockstep.gpus.system import GpuSystem
from lockstep.host_calls import HostCommand
from lockstep.workload import Command, Kernel, MemoryCopy


class Stopped(LockstepError):
    """The simulation ended early: Ctrl-C, a limit, or nothing could move any more."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(f"the simulation ended early: {reason}")

    @property
    def interrupted(self) -> bool:
        """Whether it was Ctrl-C."""
        return self.reason.startswith("interrupted")


class Timing:
    """The simulated GPU behind a device: it keeps its caches from launch to launch."""

    def __init__(self, gpu: GPU, memory: DeviceMemory, joint: "JointTiming", number: int):
        """``joint``: what simulates, with others or alone; ``number``: of the device there."""
        self._gpu, self._joint, self._number = gpu, joint, number
        self.host_takes_time = gpu.host.copy == "timed"
        self._warmth = LaunchHistory(gpu, memory)
        self.continuation: Continuation | None = None
        self._session = joint.sessions[number]
        self._launches: dict[int, Launch] = {}  # those that are not done
        self.ended: Callable[[Launch], None] | None = None  # is told of those that are
        self._finished = 0
        self._replay = KernelReplay(gpu, memory) if gpu.launch.l2 == "replay" else None
        self._digest = hashlib.sha256()
        joint.members.append(self)

    @property
    def clock(self) -> int:
        """The core cycle up to which everything is simulated."""
        return self._session.now

    @property
    def digest(self) -> str:
        """Hash of all commands so far."""
        return self._digest.hexdigest()

    def launch(self, launch: Launch, kernel: Kernel) -> None:
        """Queue a launch, to be simulated when somebody waits for it."""
        if self._replay:
            self.synchronize()
            for memory in self._replay.passes(launch):
                self._put(memory)
        self._note(launch)
        if self.continuation:
            kernel = self.continuation.kernel(launch, kernel)
        if warm := self._warmth.simulate(launch):
            self._put(warm)
        self._launches[launch.id] = launch
        self._put(kernel)
        parts = (launch.kernel.module.key, kernel.name, launch.geometry, launch.parameters)
        self._digest.update(repr((*parts, kernel.stream)).encode())

    def passed(self, launch: Launch) -> None:
        """Note a launch that is executed and not simulated."""
        self._note(launch)
        if launch.treatment is Treatment.WARM:
            self._warmth.warm(launch)
            parts = (launch.kernel.module.key, launch.kernel.name, launch.geometry)
            self._digest.update(repr((*parts, launch.parameters, "warmed")).encode())

    def _note(self, launch: Launch) -> None:
        if self.continuation:
            self.continuation.course.launched(launch)

    def _put(self, command: Command) -> None:
        self._joint.queue.put(self._number, command)

    @property
    def launches(self) -> bool:
        """Whether launches wait to be executed."""
        return bool(self._launches)

    def queues(self, launch: Launch) -> bool:
        """Whether a launch waits to be executed."""
        return launch.id in self._launches

    def copied(self, copy: MemoryCopy, content: memoryview) -> None:
        """Queue a copy from the host, which passes through the L2."""
        if self.continuation:
            self.continuation.course.copied(copy, content)
        self._warmth.copied(copy)
        self._put(copy)
        self._digest.update(f"copy {copy.address} {copy.bytes} ".encode())
        self._digest.update(content)

    def asked(self, command: MemoryCopy | HostCommand) -> None:
        """Queue a copy that is not from the host, or a call of it; where it takes time."""
        self._put(command)
        self._digest.update(repr(command).encode())

    @property
    def waits(self) -> bool:
        """Whether something is queued, also for others of a system."""
        return bool(self._joint.queue)

    def host_run(self) -> HostRun | None:
        """What the host did so far; None where it takes no time."""
        return self._session.host

    def synchronize(self) -> None:
        """Execute and simulate what is queued; raises the first error of a launch."""
        self._joint.synchronize(self.continuation)

    def collect(self) -> LockstepError | None:
        """Note what became of launches; the first error of one."""
        launches, self._launches = self._launches, {}
        for run in self._session.finished[self._finished :]:
            if launches[run.id].error is None:
                launches[run.id].run = run
                run.forced = launches[run.id].forced
                run.launched_by = launches[run.id].launched_by
            self._finished += 1
        for launch in launches.values():
            launch.arguments = ()
            if self.ended and launch.error is None and self._is_done(launch):
                self.ended(launch)
        return next((x.error for x in launches.values() if x.error is not None), None)

    def _is_done(self, launch: Launch) -> bool:
        """Whether a launch came to its end before the simulation did."""
        return launch.run is not None

    def interrupt(self) -> None:
        """Simulate nothing any more; the result says so."""
        goes_on = self.continuation
        if goes_on and goes_on.keeps and not goes_on.pending and not self._session.stopped:
            self._session.save(goes_on)
        self._joint.interrupt()

    def result(self) -> Run:
        """Counters of everything so far.

        Raises :class:`Diverged` if the program has not come to the checkpoint that it goes on from.
        """
        if self.continuation and not self._session.stopped:
            self.continuation.course.check_end()
            if self.continuation.pending:  # nothing is left to do
                with self.continuation.taken() as frozen:
                    self._session.run([], frozen)
        return self._session.result()

    def close(self) -> None:
        """End the simulation's threads."""
        self._joint.close()

    def fail(self, error: BaseException) -> None:
        """Tell machines in other processes that this one cannot go on."""
        self._joint.fail(error)


class JointTiming:
    """What simulates the commands of the devices of one host together; mostly there is one."""

    def __init__(
        self,
        runner: Session | SystemSession,
        sessions: list[Session],
        reach: ExitStack | None = None,
        elsewhere: Transport | None = None,
    ):
        """``sessions``: of each device; ``runner`` takes the commands of all.

        ``elsewhere``: the machines in other processes, if there are any, and ``reach`` ends that.
        """
        self.queue, self.sessions, self.members = CommandQueue(), sessions, list[Timing]()
        self._runner, self._reach, self._elsewhere = runner, reach or ExitStack(), elsewhere

    @classmethod
    def alone(
        cls,
        gpu: GPU,
        ranks: int | Communicator,
        alike: Callable[[], dict[str, str]],
        **options: Any,
    ) -> "JointTiming":
        """Of a single device. ``ranks``: as of :func:`lockstep.simulate`.

        ``alike`` says what machines in other processes have to have alike, by name.
        """
        ends = ExitStack()
        reach = ends.enter_context(mpi.reached(ranks))
        elsewhere = None if isinstance(reach, int) else reach
        if elsewhere:
            check_alike(elsewhere, alike())
        session = Session(gpu, ranks=reach, **options)
        return cls(session, [session], ends, elsewhere)

    @classmethod
    def of_system(
        cls, system: GpuSystem, memories: list[DeviceMemory], **options: Any
    ) -> "JointTiming":
        """Of the GPUs of a system, which have these memories."""
        session = SystemSession(system, [(m.base, m.capacity) for m in memories], **options)
        return cls(session, session.sessions)

    @property
    def crosses_fabric(self) -> bool:
        """Whether accesses of kernels to the memory of other GPUs cross the links to them."""
        return isinstance(self._runner, SystemSession) and self._runner.traffic is not None

    def synchronize(self, goes_on: Continuation | None) -> None:
        """Execute and simulate what is queued; raises the first error of a launch.

        ``goes_on``: of a single device that writes checkpoints or goes on from one.
        """
        commands = self.queue.take()
        if not commands:
            return
        if self._runner.stopped:
            raise Stopped(f"{self._runner.stopped}; only a new device can go on after that")
        self._simulate(commands, goes_on)
        errors = [error for member in self.members if (error := member.collect()) is not None]
        if errors:
            raise errors[0]
        if self._runner.stopped:
            raise Stopped(self._runner.stopped)

    def _simulate(self, commands: list[Command], goes_on: Continuation | None) -> None:
        """Simulate commands, or execute them if a checkpoint has their results."""
        if self._elsewhere:
            check_alike(self._elsewhere, {"course of the program": self.members[0].digest})
        if goes_on is None:
            self._runner.run(commands)
            return
        goes_on.course.waited()
        if goes_on.repeats:
            self.sessions[0].repeat(commands, goes_on.repeats)
        else:
            with goes_on.taken() as frozen:
                self._runner.run(commands, frozen, goes_on if goes_on.keeps else None)

    def interrupt(self) -> None:
        """Simulate nothing any more."""
        self._runner.interrupt()

    def close(self) -> None:
        """End the simulation's threads."""
        self._runner.close()
        self._reach.close()

    def fail(self, error: BaseException) -> None:
        """Tell machines in other processes that this one cannot go on."""
        if self._elsewhere:
            self._elsewhere.abort(str(error) or type(error).__name__)
            self._reach.pop_all()
