"""Checkpoints of a device: what is written, and what a run that goes on does again first."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lockstep.device.course import Course
from lockstep.device.effects import Effects
from lockstep.device.launch import Launch
from lockstep.device.owner import OwningDevice
from lockstep.engine import checkpoint as checkpoints
from lockstep.execution.launches.services import Services
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.gpus import library
from lockstep.policies import describe
from lockstep.workload import Kernel

SOURCES = ("device", "execution", "frontend", "runtime")  # what programs depend on, too


class Continuation:
    """What keeps the state of a device, and a state from which it goes on.

    The program is started again. What it did before the checkpoint is executed, and its times are
    the checkpoint's; then the simulation goes on where it was.
    """

    def __init__(self, memory: DeviceMemory, services: Services, identity: dict[str, str]):
        """Nothing is written, and it begins at the start; ``identity``: what it depends on."""
        self._memory, self._services, self._identity = memory, services, identity
        self._keeper: checkpoints.Keep | None = None
        self._frozen: dict | None = None
        self.course, self._effects = Course(memory), Effects(memory, services)

    def write_into(self, folder: Path, seconds: float, tell: Callable[[str], None] | None) -> None:
        """Keep checkpoints; ``tell`` is called with a line when that is not possible."""
        self._keeper = checkpoints.Keeper(folder, seconds, self._identity, tell)

    def go_on_from(self, folder: Path) -> None:
        """Go on from a checkpoint.

        Raises :class:`InputError` if it is damaged, or of something else.
        """
        before = checkpoints.load(folder, self._identity)
        self._frozen = before["simulation"]
        self.course = Course(self._memory, before["course"], folder / checkpoints.NAME)
        self._effects = Effects(self._memory, self._services, before["effects"])

    def kernel(self, launch: Launch, kernel: Kernel) -> Kernel:
        """A kernel that can be executed again, or whose effects are kept."""
        if kernel.source is not None:
            return self._effects.watch(launch, kernel)
        return replace(kernel, again=kernel.ctas)

    @property
    def repeats(self) -> dict | None:
        """The state whose results the last commands have; None: they are to be simulated."""
        frozen = self._frozen
        return frozen if frozen and self.course.waits <= len(frozen["runs"]) else None

    @contextmanager
    def taken(self) -> Iterator[dict | None]:
        """The state in which the simulation goes on meanwhile, once.

        Until it does, that is pending: who is interrupted before saves nothing.
        """
        try:
            yield self._frozen
        except KeyboardInterrupt:
            raise
        except BaseException:
            self._frozen = None
            raise
        self._frozen = None

    @property
    def pending(self) -> bool:
        """Whether the simulation has not come to where it goes on."""
        return self._frozen is not None

    @property
    def keeps(self) -> bool:
        """Whether checkpoints are written."""
        return self._keeper is not None

    def due(self) -> bool:
        """See :class:`~.checkpoint.Keep`."""
        return self._keeper is not None and self._keeper.due() and not self._lost()

    def save(self, frozen: dict) -> None:
        """See :class:`~.checkpoint.Keep`."""
        if self._keeper and not self._lost():
            about = {"course": self.course.freeze(), "effects": self._effects.freeze()}
            self._keeper.save({"simulation": frozen, **about})

    def refuse(self, problem: str) -> None:
        """See :class:`~.checkpoint.Keep`."""
        if self._keeper:
            self._keeper.refuse(problem)

    def _lost(self) -> bool:
        if self._effects.lost:
            self.refuse(self._effects.lost)
        return bool(self._effects.lost)


def identity_of(
    device: OwningDevice, policies: Mapping[str, Callable], options: Mapping[str, object]
) -> dict[str, str]:
    """What the state of a device depends on that is made with these policies and options."""
    memory, services = device.memory, device.services
    return {
        checkpoints.KIND: "a program",
        "version of lockstep": checkpoints.source_digest(*SOURCES),
        "GPU": library.digest(device.gpu),
        "program": device.name,
        "device memory": repr((memory.base, memory.capacity, services.heap.bytes)),
        "stack": repr(device.stack_bytes),
        "check": repr(int(device.findings.checks)),
        "limit_instructions": repr(device.limits.instructions),
        **{name: repr(value) for name, value in options.items()},
        "policy": repr({name: describe(f)["digest"] for name, f in policies.items()}),
    }


def continuation_of(device: OwningDevice, identity: dict[str, str]) -> Continuation:
    """For checkpoints of a device that is made as ``identity`` says."""
    return Continuation(device.memory, device.services, identity)
