"""What a built-in kernel is: where its files lie, how it runs, how its results are checked."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from lockstep import notebook
from lockstep.errors import LockstepError, WorkloadError


class WrongResult(LockstepError):
    """A kernel's results are not those of its reference."""


class Check(msgspec.Struct, frozen=True):
    """An array that a kernel computed, and what it should hold.

    The values agree where ``abs(actual - expected) <= atol + rtol * abs(expected)``; with both
    zero, they are equal.
    """

    name: str
    actual: Any  # an array of the device, read when verified, or of the host
    expected: Callable[[], np.ndarray]  # computed when verified
    rtol: float = 0.0
    atol: float = 0.0

    def verify(self) -> None:
        """Compare; raises :class:`WrongResult` with the first element that differs."""
        there = self.actual
        actual = there if isinstance(there, np.ndarray) else np.asarray(there.numpy())
        expected = np.asarray(self.expected())
        if actual.shape != expected.shape:
            raise WrongResult(f"{self.name}: shape {actual.shape}, expected {expected.shape}")
        wrong = ~np.isclose(actual, expected, self.rtol, self.atol, equal_nan=True)
        if wrong.any():
            first = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise WrongResult(
                f"{self.name}: {np.count_nonzero(wrong)} of {wrong.size} values differ, first at "
                f"{first}: {actual[first]}, expected {expected[first]}"
            )


def brought_back(device: Any, checks: Iterable[Check]) -> tuple[Check, ...]:
    """What a program computed, when its launches are over.

    Where the host takes time it wants that back, as a host program would, by copies that count.
    """
    checks = tuple(checks)
    if device.host_takes_time:
        checks = tuple(replace(check, actual=check.actual.numpy()) for check in checks)
    device.drain()
    return checks


Run = Callable[[Any, Any, np.random.Generator, int], "Check | Iterable[Check]"]
"""What a definition provides: (device, module, generator, size) -> checks."""


class BuiltinKernel(msgspec.Struct, frozen=True):
    """A program that comes with lockstep: one kernel or several, inputs, a reference."""

    name: str
    summary: str
    unit: str  # what ``size`` counts
    size: int  # the default: at most about 10 million thread instructions
    small: int  # the size of a quick test
    arch: str  # the oldest architecture that has the instructions
    folder: Path
    _run: Run

    def _repr_html_(self) -> str:
        """What notebooks show."""
        values = {"size": self.size, "counts": self.unit, "architecture": self.arch}
        return notebook.facts(f"{self.name}: {self.summary}", values)

    @property
    def ptx(self) -> Path:
        """The kernel's PTX."""
        return self.folder / f"{self.name}.ptx"

    @property
    def source(self) -> Path:
        """The kernel's CUDA C++."""
        return self.folder / f"{self.name}.cu"

    @property
    def program(self) -> Path:
        """The host program that runs and checks the kernel, in CUDA C++."""
        return self.folder / "main.cu"

    def run(
        self, device: Any, size: int | None = None, seed: int = 0, module: Any = None
    ) -> tuple[Check, ...]:
        """Make inputs from ``seed``, launch on ``device``, and return what can be verified.

        ``size`` counts :attr:`unit`. ``module`` has the kernels in other code than :attr:`ptx`,
        such as machine code. Raises :class:`WorkloadError` if the size is not positive.
        """
        size = self.size if size is None else int(size)
        if size < 1:
            raise WorkloadError(f"{self.name}: size {size}: at least 1 is needed ({self.unit})")
        generator = np.random.default_rng(seed)
        module = device.load_ptx(self.ptx) if module is None else module
        checks = self._run(device, module, generator, size)
        return (checks,) if isinstance(checks, Check) else tuple(checks)


def builtin(
    *, size: int, small: int, unit: str, arch: str = "sm_70"
) -> Callable[[Run], BuiltinKernel]:
    """Make the built-in kernel that is named and described as the decorated function is."""

    def define(run: Run) -> BuiltinKernel:
        summary = (run.__doc__ or "").strip().splitlines()[0]
        folder = Path(run.__code__.co_filename).parent
        return BuiltinKernel(run.__name__, summary, unit, size, small, arch, folder, run)

    return define


def blocks(items: int, block: int) -> int:
    """How many blocks of ``block`` threads cover ``items``."""
    return -(-items // block)
