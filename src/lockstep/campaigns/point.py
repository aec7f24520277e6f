"""A point: a workload on a GPU with changes, under a seed; and the digest of all that counts."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lockstep import api, kernels, notebook
from lockstep.errors import InputError, LockstepError
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.kernels import opencl

_ABOVE = ("cli", "correlation", "microbench", "report", "studies", "tuning", "validation")
"""Packages of lockstep that no result depends on."""
_PACKAGE = Path(__file__).parents[1]
_CODE = (".py", ".c", ".h", ".toml")
_EXECUTABLE = (b"\x7fELF", b"#!")
Setting = int | float | str | bool


@dataclass(frozen=True)
class SweepPoint:
    """One run.

    ``workload``: a built-in program, of ``size`` in its own unit (default: its own size); a trace,
    proxy or file of live points, as :func:`lockstep.load` takes; or an executable that uses CUDA,
    with its ``arguments``. ``gpu`` and ``changes``, parameters by dotted name, are as
    :func:`lockstep.gpu` takes them. ``seed``: of the inputs of a built-in program, and of samples.
    ``timing``: which launches are simulated, as of ``lockstep run --timing``;
    ``inside``: the rule by which each is in part, as of ``--inside``, or "".
    """

    workload: str
    gpu: str
    changes: Mapping[str, Setting] | Iterable[tuple[str, Setting]] = ()
    seed: int = 0
    size: int | None = None
    arguments: tuple[str, ...] = ()
    timing: str = "full"
    inside: str = ""

    def __post_init__(self) -> None:
        changes = self.changes
        pairs = changes.items() if isinstance(changes, Mapping) else changes
        object.__setattr__(self, "changes", tuple((str(name), value) for name, value in pairs))
        object.__setattr__(self, "arguments", tuple(map(str, self.arguments)))

    @property
    def spec(self) -> GPU:
        """The GPU with its changes; raises :class:`SpecError` if there is no such GPU."""
        changes = dict(self.changes)
        return library.replace(api.gpu(self.gpu), **changes) if changes else api.gpu(self.gpu)

    @property
    def kind(self) -> str:
        """What the workload is: ``builtin``, ``program`` or ``trace``."""
        if self.workload in kernels.names():
            return "builtin"
        return "program" if self.arguments or _is_executable(Path(self.workload)) else "trace"

    @property
    def facts(self) -> dict[str, Any]:
        """What tells the point from others."""
        named = " ".join((self.workload, *self.arguments))
        head = {"workload": named, "size": self._size(), "gpu": self.gpu}
        tail = {"seed": self.seed, "timing": self.timing}
        return head | dict(self.changes) | tail | ({"inside": self.inside} if self.inside else {})

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return notebook.facts(f"{self.workload} on {self.gpu}", self.facts)

    @property
    def digest(self) -> str:
        """SHA-256 of what the values depend on, in 32 digits.

        It is that of the package's source, of the GPU, of the workload's content, of the seed and
        of what chooses launches, and parts of them. What a program reads besides its arguments is
        not part of it. Raises :class:`LockstepError` if something is not there.
        """
        parts = [code_digest(), library.digest(self.spec), self._content(), str(self.seed)]
        parts += [self.timing, self._plan(), self.inside]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    def _plan(self) -> str:
        """Digest of the plan that is followed, or ""."""
        kind, _, rest = self.timing.partition(":")
        if kind != "plan":
            return ""
        from lockstep.sampling.running.choice import plan_of

        return _of_file(plan_of(rest)[0])

    def _size(self) -> int | None:
        if self.size is None and self.kind == "builtin":
            return kernels.load(self.workload).size
        return self.size

    def _content(self) -> str:
        kind = self.kind
        if self.size is not None and kind != "builtin":
            raise LockstepError(f"{self.workload}: size is for built-in programs")
        if kind == "builtin":
            return f"{_of_file(kernels.load(self.workload).ptx)} {self._size()}"
        path = Path(self.workload)
        if kind == "program":
            return f"{_of_file(path)} {self.arguments!r}"
        try:
            return _of_trace(path, path.stat().st_mtime_ns)
        except OSError as error:
            problem = "is neither a built-in program nor a file"
            raise InputError(path, "", f"{problem}: {error.strerror or error}") from error


@cache
def code_digest() -> str:
    """A hash of the code that results depend on, and of the programs that come with it."""
    builtin = kernels.load(kernels.names()[0]).folder.parent
    hosts = opencl.load(opencl.names()[0]).path.parent
    files = [path for folder in (_PACKAGE, builtin, hosts) for path in folder.rglob("*")]
    code = hashlib.sha256()
    for path in sorted(path for path in files if path.suffix in _CODE):
        part = path.relative_to(_PACKAGE).parts[0] if path.is_relative_to(_PACKAGE) else ""
        if part not in _ABOVE and not (part == "gpus" and path.suffix == ".toml"):
            code.update(path.read_bytes())
    return code.hexdigest()


@cache
def _of_trace(path: Path, modified: int) -> str:
    """By the time of its last change, so that a trace is read once for many points."""
    return api.load(path).digest


def _of_file(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror or error}") from error


def _is_executable(path: Path) -> bool:
    if not (path.is_file() and os.access(path, os.X_OK)):
        return False
    with path.open("rb") as file:
        return file.read(4).startswith(_EXECUTABLE)
