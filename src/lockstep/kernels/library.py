"""Where the built-in kernels are, and how one is loaded by name."""

import importlib.util
from functools import cache
from pathlib import Path

from lockstep.errors import WorkloadError, suggestion
from lockstep.kernels.definition import BuiltinKernel


@cache
def _home() -> Path:
    """``examples/kernels`` of the installed package, or of the checkout."""
    package = Path(__file__).parents[1]
    for root in (package, package.parents[1]):
        folder = root / "examples" / "kernels"
        if folder.is_dir():
            return folder
    raise WorkloadError("this installation of lockstep lacks its built-in kernels")


@cache
def names() -> tuple[str, ...]:
    """The built-in kernels, sorted."""
    return tuple(sorted(file.stem for file in _home().glob("*/*.py")))


@cache
def load(name: str) -> BuiltinKernel:
    """The built-in kernel of a name.

    Raises :class:`WorkloadError` for an unknown name, with the nearest known ones.
    """
    if name not in names():
        near = suggestion(name, names()) or "; `lockstep kernels` lists them"
        raise WorkloadError(f"no built-in kernel {name[:80]!r}{near}")
    path = _home() / name / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"lockstep_kernel_{name}", path)
    assert spec is not None and spec.loader is not None, "it is a Python file"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
