"""Launches as samplers see them, of a program or of a trace."""

import hashlib
import sys
from typing import TYPE_CHECKING, Protocol

import msgspec

from lockstep.gpus.spec import GPU
from lockstep.workload import Kernel

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun


class SimulatingDevice(Protocol):
    """What choosers know of what simulates launches: a device, or a run of a trace."""

    gpu: GPU

    def synchronize(self) -> None:
        """Wait for all launches: those that are simulated then have a ``run``."""
        ...


class LaunchShape(Protocol):
    """Threads and memory of a launch."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """CTAs."""
        ...

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a CTA."""
        ...

    @property
    def dynamic_shared(self) -> int:
        """Bytes of a CTA."""
        ...


class NamedKernel(Protocol):
    """A kernel by the name that linkers see."""

    name: str


class SampledLaunch(Protocol):
    """What choosers look at of a launch, of a program or of a trace.

    ``code`` tells kernels apart; ``run``: what the timing model counted, None if it has not ended.
    """

    @property
    def id(self) -> int:
        """Among all launches, from 1."""
        ...

    @property
    def stream(self) -> int:
        """In which it runs."""
        ...

    @property
    def kernel(self) -> NamedKernel:
        """What is launched."""
        ...

    @property
    def geometry(self) -> LaunchShape:
        """Its shape."""
        ...

    @property
    def code(self) -> str:
        """16 hexadecimal digits."""
        ...

    @property
    def run(self) -> "KernelRun | None":
        """Cycles and counters."""
        ...

    @property
    def device(self) -> SimulatingDevice:
        """On which it runs."""
        ...


class TracedShape(msgspec.Struct, frozen=True):
    """Threads and memory; a trace does not tell dynamic shared memory from static."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int


class TracedLaunch(msgspec.Struct):
    """A kernel of a trace in its turn; ``device``: what simulates it."""

    kernel: Kernel
    device: SimulatingDevice
    run: "KernelRun | None" = None  # what the timing model counted

    @property
    def id(self) -> int:
        """The kernel's."""
        return self.kernel.id

    @property
    def stream(self) -> int:
        """In which it runs."""
        return self.kernel.stream

    @property
    def geometry(self) -> TracedShape:
        """Its shape."""
        return TracedShape(self.kernel.grid, self.kernel.block, self.kernel.shared_bytes)

    @property
    def code(self) -> str:
        """16 hexadecimal digits that stand for its code."""
        return code_of(self.kernel)

    @property
    def light(self) -> tuple:
        """The columns of level 0 of a launch table, but the range."""
        return light_of(self.kernel)


def code_of(kernel: Kernel) -> str:
    """What tells kernels of a trace apart: those of one name and one architecture are one code."""
    return hashlib.sha256(f"{kernel.architecture} {kernel.name}".encode()).hexdigest()[:16]


def light_of(kernel: Kernel) -> tuple:
    """The columns of level 0 of a kernel of a trace, but the range: it has no arguments."""
    needs = kernel.shared_bytes, kernel.registers, kernel.stream
    named = sys.intern(kernel.name), sys.intern(code_of(kernel))
    return *named, *kernel.grid, *kernel.block, *needs, ""
