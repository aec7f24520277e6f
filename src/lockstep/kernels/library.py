"""Where the built-in kernels are, and how one is loaded by name."""

from functools import cache

from lockstep.errors import WorkloadError, suggestion
from lockstep.kernels import files
from lockstep.kernels.definition import BuiltinKernel

_FOLDER = "kernels"


@cache
def names() -> tuple[str, ...]:
    """The built-in kernels, sorted."""
    return tuple(sorted(file.stem for file in files.home(_FOLDER).glob("*/*.py")))


@cache
def load(name: str) -> BuiltinKernel:
    """The built-in kernel of a name.

    Raises :class:`WorkloadError` for an unknown name, with the nearest known ones.
    """
    if name not in names():
        near = suggestion(name, names()) or "; `lockstep kernels` lists them"
        raise WorkloadError(f"no built-in kernel {name[:80]!r}{near}")
    path = files.home(_FOLDER) / name / f"{name}.py"
    return getattr(files.module(path, f"lockstep_kernel_{name}"), name)
