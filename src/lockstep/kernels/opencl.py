"""Hosts of OpenCL programs whose kernels are binaries for Southern Islands, by name.

Each is a file of ``examples/southern-islands``: it makes inputs, launches, and says what NumPy
would have computed. The binaries, those of AMD's APP SDK 2.5, do not come with lockstep.
"""

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from lockstep.errors import InputError, WorkloadError, unknown
from lockstep.kernels.definition import Check

if TYPE_CHECKING:
    from lockstep.device import Device
    from lockstep.device.gcn import GcnModule

_Run = Callable[["Device", "GcnModule", np.random.Generator, int], Iterator[Check]]


class OpenclHost(NamedTuple):
    """A host: its file, the file of its kernels, and what launches them."""

    path: Path
    binary: str
    launch: _Run

    def binary_in(self, folder: Path) -> Path:
        """The binary in a folder; raises :class:`InputError` where there is none."""
        path = folder / self.binary
        if not path.is_file():
            wanted = "a binary of AMD's APP SDK 2.5, compiled for Tahiti"
            raise InputError(path, "", f"not found: {wanted}")
        return path

    def run(self, device: "Device", folder: Path, size: int, seed: int = 1) -> list[Check]:
        """Launch its kernels on a device, with inputs of ``size`` in the host's own unit."""
        module = cast("GcnModule", device.load_gcn(self.binary_in(folder)))
        return list(self.launch(device, module, np.random.default_rng(seed), size))


@cache
def _home() -> Path:
    """``examples/southern-islands`` of the installed package, or of the checkout."""
    package = Path(__file__).parents[1]
    for root in (package, package.parents[1]):
        folder = root / "examples" / "southern-islands"
        if folder.is_dir():
            return folder
    raise WorkloadError("this installation of lockstep lacks its OpenCL hosts")


@cache
def names() -> tuple[str, ...]:
    """The hosts, sorted."""
    return tuple(sorted(file.stem for file in _home().glob("*.py") if file.stem != "host"))


@cache
def load(name: str) -> OpenclHost:
    """The host of a name; raises :class:`WorkloadError` for an unknown one."""
    if name not in names():
        raise WorkloadError(unknown("OpenCL host", name, names()))
    path = _home() / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"lockstep_opencl_{name}", path)
    assert spec is not None and spec.loader is not None, "it is a Python file"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return OpenclHost(path, module.BINARY, module.run)
