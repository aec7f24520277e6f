"""Modules of device code, their kernels and variables."""

import hashlib
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from msgspec.structs import replace

from lockstep import notebook
from lockstep.device.arguments import Parameter, pack
from lockstep.device.array import DeviceArray
from lockstep.device.cluster import Triple
from lockstep.device.launch import Launch
from lockstep.device.limits import places
from lockstep.device.patience import Patience
from lockstep.device.streams import Stream, StreamOwner
from lockstep.errors import LockstepError, WorkloadError, suggestion
from lockstep.execution.launches.geometry import Geometry
from lockstep.execution.launches.launch import Executor
from lockstep.execution.programs.program import Program, Recording
from lockstep.names import demangled, short_name

SHOWN_NAMES = 20

Shape = tuple[Triple, Triple, int]
"""Grid, block, bytes of dynamic shared memory."""


class Launcher(StreamOwner, Protocol):
    """A device that loads modules and launches their kernels."""

    patience: Patience

    def find_stream(self, stream: Stream | int | None) -> Stream:
        """A stream by itself or its number; the default one for None."""
        ...

    def launch(
        self,
        kernel: "Kernel",
        geometry: Geometry,
        parameters: bytes,
        stream: Stream,
        arguments: tuple,
    ) -> Launch:
        """Execute a kernel; with timing, when its results are asked for."""
        ...

    def load_ptx(self, source: str) -> "Module":
        """A module from PTX text."""
        ...


class Module(ABC):
    """Loaded device code: kernels by name, and its variables in device memory.

    ``key`` identifies the content of the file that it comes from. ``architecture`` is 80 for
    machine code of sm_80, 0 for PTX, as of :class:`lockstep.workload.Kernel`.
    """

    architecture = 0

    @property
    def target(self) -> int:
        """The architecture that it was compiled for: 80 of sm_80 and of PTX for it; 0: unknown."""
        return self.architecture

    def __init__(self, device: Launcher, name: str, content: bytes):
        self.device, self.name = device, name
        self.key = hashlib.sha256(content).hexdigest()
        self.addresses: dict[str, int] = {}
        self._kernels: dict[str, Kernel] = {}

    def __repr__(self) -> str:
        shown = [short_name(name) for name in self.entries[: SHOWN_NAMES + 1]]
        return f"<Module {self.name}, {self.code}: {_some(shown)}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        kernels = [{"kernel": short_name(name)} for name in self.entries]
        return notebook.rows(f"{self.name}, {self.code}", kernels)

    @property
    @abstractmethod
    def code(self) -> str:
        """What its code is, for people: "PTX", "machine code of sm_80"."""

    @property
    @abstractmethod
    def entries(self) -> list[str]:
        """Names of its kernels."""

    @abstractmethod
    def kernel(self, name: str) -> "Kernel":
        """A new kernel object for an entry."""

    def kernel_at(self, address: int) -> "Kernel | None":
        """The kernel that has an address in device code, if one has."""
        return None

    @abstractmethod
    def variable(self, name: str) -> DeviceArray:
        """One of the variables in ``addresses`` as an array."""

    def __getitem__(self, name: str) -> "Kernel":
        """A kernel of the module by its name or its C++ name, also without what follows it.

        ``module["scale<float>"]``, and ``module["scale"]`` if one only is called so.
        """
        if name not in self._kernels:
            entry = self._entry(name)
            if entry not in self._kernels:
                self._kernels[entry] = self.kernel(entry)
            self._kernels[name] = self._kernels[entry]
        return self._kernels[name]

    def _entry(self, name: str) -> str:
        if name in self.entries:
            return name
        base = _base(name)
        mangled = [e for e in self.entries if e.startswith("_Z") and f"{len(base)}{base}" in e]
        exact = [e for e in mangled if name in (demangled(e), short_name(e))]
        mangled = exact or (mangled if name == base else [])
        if len(mangled) > 1:
            raise WorkloadError(f"{self.name}: {name} may be {_some(mangled)}")
        if not mangled:
            near = suggestion(name, [*self.entries, *map(short_name, self.entries)])
            there = f"it has {_some(self.entries)}{near}"
            raise WorkloadError(f"{self.name} has no kernel {name}; {there}")
        return mangled[0]

    def symbol(self, name: str) -> DeviceArray:
        """A ``__device__`` or ``__constant__`` variable as an array.

        Raises :class:`WorkloadError` if the module has none of that name.
        """
        if name not in self.addresses:
            have = _some(list(self.addresses)) + suggestion(name, self.addresses)
            raise WorkloadError(f"{self.name} has no variable {name}; it has {have}")
        return self.variable(name)


class Kernel(ABC):
    """A kernel of a module: ``kernel[grid, block, shared_bytes, stream](*arguments)``."""

    def __init__(self, module: Module, name: str, parameters: list[Parameter]):
        self.module, self.name, self.parameters = module, name, parameters
        self._executors: dict[Recording, Executor] = {}
        self._geometries: dict[tuple, Geometry] = {}

    @property
    def title(self) -> str:
        """Its name in C++."""
        return demangled(self.name)

    def __repr__(self) -> str:
        title = self.title
        if title == self.name:  # no types of parameters are in it
            title += f"({', '.join(p.type for p in self.parameters)})"
        return f"<Kernel {title} of {self.module.name}, {self.module.code}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        types = ", ".join(p.type for p in self.parameters)
        values = {"module": self.module.name, "code": self.module.code, "parameters": types}
        return notebook.facts(self.title, values)

    @abstractmethod
    def translate(self, recording: Recording) -> Program:
        """The kernel as machine code of this host."""

    @abstractmethod
    def block(self, parameters: bytes, geometry: Geometry) -> np.ndarray:
        """What the kernel's code finds where its parameters are (uint8)."""

    @property
    def program(self) -> Program:
        """The kernel as launches execute it now."""
        return self.executor(self.module.device.recording).program

    def address(self, symbol: str) -> int:
        """Device address of what programs name."""
        return self.module.addresses[symbol]

    @property
    @abstractmethod
    def most_threads(self) -> int:
        """In the largest block that it was compiled for."""

    @property
    def counts_clusters(self) -> bool:
        """Whether the grid of a launch is one of clusters."""
        return False

    @property
    @abstractmethod
    def required_cluster(self) -> Triple | None:
        """The clusters that it was compiled for, if it says so."""

    @abstractmethod
    def cluster(self, asked: Triple | None) -> Triple | None:
        """CTAs of a cluster of a launch that asks for so many, or for nothing.

        Raises :class:`WorkloadError` if the kernel excludes them.
        """

    def check_block(self, block: tuple[int, int, int]) -> None:  # noqa: B027
        """Raise :class:`WorkloadError` if the kernel was not compiled for a block."""

    def executor(self, recording: Recording) -> Executor:
        """The kernel loaded into this process, translated when first asked for."""
        if recording not in self._executors:
            device = self.module.device
            with device.patience.translating():
                program = self.translate(recording)
            symbols = np.array([self.address(n) for n in program.symbols] or [0], np.int64)
            self._executors[recording] = Executor(
                program,
                device.memory,
                symbols,
                device.services,
                device.limits,
                device.storage,
                device.findings if device.findings.checks else None,
                self.module,
            )
        return self._executors[recording]

    def flatten(self, arguments: tuple) -> tuple:
        """The parameters' values that the caller's arguments stand for."""
        return arguments

    def __getitem__(self, configuration: Any) -> "Configured":
        """Choose grid, block and optionally dynamic shared bytes and stream."""
        return self._configured(configuration)

    def with_cluster(self, size: int | tuple[int, ...], portable: bool = True) -> "Clustered":
        """The kernel, to be launched in clusters: ``kernel.with_cluster(2)[grid, block](...)``.

        ``size``: CTAs of a cluster, one to three numbers that divide the grid. ``portable``: refuse
        more than the eight CTAs that every GPU with clusters takes.
        """
        return Clustered(self, three(self.name, "cluster", size), portable)

    def _configured(
        self, configuration: Any, cluster: Triple | None = None, portable: bool = True
    ) -> "Configured":
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise WorkloadError(f"kernel {self.name}: expected [grid, block, shared_bytes, stream]")
        grid, block, shared, stream = (*configuration, 0, None)[:4]
        if not isinstance(shared, (int, np.integer)):
            raise WorkloadError(f"kernel {self.name}: {shared!r} bytes of dynamic shared memory")
        shape = three(self.name, "grid", grid), three(self.name, "block", block), int(shared)
        geometry = partial(self.geometry, shape, cluster, portable)
        return Configured(self, geometry, self.module.device.find_stream(stream))

    def __call__(self, *arguments: Any) -> None:
        """Say how a kernel is launched to who left the configuration out."""
        raise WorkloadError(f"kernel {self.name}: launch it as kernel[grid, block](*arguments)")

    def geometry(
        self, shape: Shape, cluster: Triple | None = None, portable: bool = True
    ) -> Geometry:
        """A launch of that shape, checked against the GPU; see :meth:`with_cluster`."""
        key = shape, cluster, portable
        if key not in self._geometries:
            device = self.module.device
            program = self.program
            self.check_block(shape[1])
            found = self.cluster(cluster)
            size, (grid, block, shared) = found or (1, 1, 1), shape
            if self.counts_clusters:
                grid = (grid[0] * size[0], grid[1] * size[1], grid[2] * size[2])
            wanted = Geometry(
                grid,
                block,
                program.lanes,
                shared,
                cluster=size,
                explicit=found is not None,
                stack_bytes=device.stack_bytes,
            )
            count = places(program, wanted, device.gpu, portable)
            self._geometries[key] = replace(wanted, places=count)
        return self._geometries[key]


class Clustered:
    """A kernel with the size of its clusters."""

    def __init__(self, kernel: Kernel, cluster: Triple, portable: bool):
        self.kernel, self.cluster, self.portable = kernel, cluster, portable

    def __getitem__(self, configuration: Any) -> "Configured":
        """Choose what :meth:`Kernel.__getitem__` does."""
        return self.kernel._configured(configuration, self.cluster, self.portable)


class Configured:
    """A kernel with its launch configuration."""

    def __init__(self, kernel: Kernel, geometry: Callable[[], Geometry], stream: Stream):
        self.kernel, self._geometry, self.stream = kernel, geometry, stream

    def __call__(self, *arguments: Any) -> Launch:
        """Launch with these arguments."""
        kernel, device = self.kernel, self.kernel.module.device
        device.check_open()
        parameters = pack(kernel.name, kernel.parameters, kernel.flatten(arguments))
        geometry = self._geometry()
        return device.launch(kernel, geometry, parameters, self.stream, arguments)


def read(source: str | Path | bytes, title: str) -> tuple[bytes, Path]:
    """A binary's bytes, from itself or from the file that a path names; and a name for messages.

    ``title``: the name of one that comes without a file. Raises :class:`LockstepError` for a file
    that cannot be read.
    """
    if isinstance(source, bytes):
        return source, Path(title)
    try:
        return Path(source).read_bytes(), Path(source)
    except OSError as error:
        raise LockstepError(f"{source}: cannot read: {error.strerror}") from error


def _base(name: str) -> str:
    """``scale`` of ``void ns::scale<float>(float*)``."""
    found = re.match(r"(?:[\w:]+ )?(?:\w+::)*(\w*)", name)
    assert found is not None, "it may be nothing"
    return found[1]


def _some(names: list[str]) -> str:
    """A list of names for a message, not too long."""
    return ", ".join(names[:SHOWN_NAMES]) + (", ..." if len(names) > SHOWN_NAMES else "") or "none"


def three(kernel: str, what: str, size: Any) -> Triple:
    """One to three positive numbers as three; raises :class:`WorkloadError` for others."""
    try:
        sizes = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        sizes = tuple(operator.index(s) for s in sizes)
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(s < 1 for s in sizes):
        raise WorkloadError(
            f"kernel {kernel}: {what} {size!r}; expected one to three positive whole numbers"
        )
    return (*sizes, 1, 1)[:3]
