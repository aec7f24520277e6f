"""Where examples lie that come with the package, and how a Python file among them is loaded."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

from lockstep.errors import WorkloadError


@cache
def home(folder: str) -> Path:
    """A folder of ``examples``, of the installed package or of the checkout."""
    package = Path(__file__).parents[1]
    for root in (package, package.parents[1]):
        found = root / "examples" / folder
        if found.is_dir():
            return found
    raise WorkloadError(f"this installation of lockstep lacks its examples/{folder}")


def module(path: Path, name: str) -> ModuleType:
    """A Python file as a module of a name of its own."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "it is a Python file"
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
