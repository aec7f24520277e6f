"""What a device is made with, checked before anything of it exists."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lockstep.device.launch import Choose
from lockstep.errors import LockstepError
from lockstep.execution.launches.geometry import STACK_BYTES
from lockstep.execution.launches.services import HEAP_BYTES
from lockstep.execution.memory.address_range import LONGEST
from lockstep.gpus.spec import GPU
from lockstep.policies import select

if TYPE_CHECKING:
    from lockstep.engine.progress import Progress
    from lockstep.engine.stop import StopRule
    from lockstep.engine.transport import Communicator


@dataclass(frozen=True)
class DeviceOptions:
    """The options of a :class:`lockstep.Device`.

    ``timing``: whether launches are also simulated; without it they are executed at once, with it
    when somebody waits for them. ``at_issue``: whether they are executed while they are simulated,
    so that what depends on time (locks, queues, clocks) takes the course that it takes there;
    without it each CTA is executed before it is simulated, which is faster. ``profile``: whether
    each launch has a ``profile``. ``check``: memory, init, races, several of them, or all: what is
    found is in ``findings``, and does not end a launch if that can go on (docs/checks.md).
    ``memory_bytes``: device memory, the GPU's unless it is given; it is taken from the host when
    it is used. With ``shared_memory`` other processes can map it (``memory.file``). ``heap_bytes``:
    how much of it kernels may allocate by ``malloc``. ``stack_bytes``: of a thread, for recursive
    functions; at most 512 KiB, and what all resident threads find room for in device memory.
    ``limit_instructions``: that the warps of a launch may execute before it fails. ``name``: what
    results and traces call the program. ``checkpoint`` and ``resume`` are folders, as of
    :func:`lockstep.simulate`: a script that goes on does all of its launches again, but those
    before the checkpoint are only executed. ``choose``: says of each launch before it is queued
    whether it is simulated, warmed or only executed; without it all are simulated, see
    :class:`.Treatment` and docs/warming.md. The other options, ``stop`` and policies among them,
    are those of :func:`lockstep.simulate`, and need ``timing``: all CTAs of a launch that ``stop``
    cuts are executed. With ``ranks`` in several processes each of them does all that the program
    does, alike, and executes all launches; see docs/ranks.md.

    Raises :class:`LockstepError` for those that do not go together.
    """

    timing: bool = False
    at_issue: bool = False
    profile: bool = False
    check: str | Iterable[str] | None = None
    memory_bytes: int | None = None
    shared_memory: bool = False
    heap_bytes: int = HEAP_BYTES
    stack_bytes: int = STACK_BYTES
    limit_instructions: int | None = None
    name: str = "device"
    threads: int = 1
    ranks: "int | Communicator" = 1
    interval: int | None = None
    timeline: bool = False
    source: bool = False
    checkpoint: str | Path | None = None
    checkpoint_seconds: float = 60.0
    resume: str | Path | None = None
    progress: "Progress | None" = None
    notice: Any = None
    choose: Choose | None = None
    stop: "StopRule | None" = None
    stop_interval: int | None = None
    policies: dict[str, Callable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("limit_instructions", 1), ("heap_bytes", 0), ("stop_interval", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise LockstepError(f"{name} = {value}: expected at least {least}")
        object.__setattr__(self, "policies", select(self.policies))
        if self.timing:
            return
        several = None if self.ranks == 1 else self.ranks
        needy = {
            "at_issue": self.at_issue,
            **self.policies,
            "choose": self.choose,
            "stop": self.stop,
            "ranks": several,
            "source": self.source,
        }
        for option, given in needy.items():
            if given:
                raise LockstepError(f"{option} needs timing=True")
        if self.checkpoint or self.resume:
            raise LockstepError("checkpoint and resume need timing=True")

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """From keyword arguments, of which those that are no options are policies."""
        own = {f.name for f in fields(cls)} - {"policies"}
        policies = {name: value for name, value in options.items() if name not in own}
        given = {name: value for name, value in options.items() if name in own}
        return cls(**given, policies=policies)

    def memory_of(self, gpu: GPU) -> int:
        """Bytes of device memory."""
        size = gpu.dram.capacity << 30 if self.memory_bytes is None else self.memory_bytes
        if not 0 < size <= LONGEST:
            raise LockstepError(f"memory_bytes = {size}: expected 1 to {LONGEST} (1 TiB)")
        return size

    @property
    def simulation(self) -> dict[str, Any]:
        """What the engine takes of them; see :class:`lockstep.engine.Session`."""
        return {
            "threads": self.threads,
            "interval": self.interval,
            "cta_events": self.timeline,
            "source": self.source,
            "progress": self.progress,
            "notice": self.notice,
            "policies": self.policies,
            "stop": self.stop,
            "stop_interval": self.stop_interval,
        }
