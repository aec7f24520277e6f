"""What arrays, modules and launches know of the device that they belong to.

A :class:`.Device` is made of them and is all of these; none of them needs to know what else it is.
"""

from typing import Any, Protocol

from lockstep.execution.checks.findings import Findings
from lockstep.execution.launches.geometry import Limits
from lockstep.execution.launches.services import Services
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.execution.memory.storage import Storage
from lockstep.execution.programs.program import Recording
from lockstep.gpus.spec import GPU
from lockstep.host_calls import HostCommand, MemoryCopy


class OwningDevice(Protocol):
    """A device, as far as its parts need it."""

    name: str
    gpu: GPU
    memory: DeviceMemory
    findings: Findings
    services: Services
    limits: Limits
    storage: Storage
    stack_bytes: int
    recorder: Any  # writes what runs to a trace, or None
    timing: Any  # simulates launches, or None
    index: int  # in its system
    peers: Any  # a :class:`.PeerTable`: whose memory it may access, or None

    @property
    def recording(self) -> Recording:
        """What launches tell of what they do."""
        ...

    @property
    def clock(self) -> int:
        """The core cycle up to which everything is simulated."""
        ...

    @property
    def host_takes_time(self) -> bool:
        """Whether launches are simulated, and calls and copies of the host as well."""
        ...

    def check_open(self) -> None:
        """Raise if the device is closed."""
        ...

    def synchronize(self) -> None:
        """Wait for all launches."""
        ...

    def drain(self) -> None:
        """Do what waits; the modelled host waits for nothing."""
        ...

    def asks(self, command: HostCommand | MemoryCopy) -> None:
        """Note a call of the host, or a copy that is not from it; of effect if it takes time."""
        ...

    def copied(self, pointer: int, size: int) -> None:
        """Note that the host wrote device memory."""
        ...

    def will_copy(self, copy: MemoryCopy, content: memoryview) -> None:
        """Note a copy from the host that is done in its turn."""
        ...
