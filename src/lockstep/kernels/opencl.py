"""Hosts of OpenCL programs whose kernels are binaries for Southern Islands, by name.

Each is a file of ``examples/southern-islands``: it makes inputs, launches, and says what NumPy
would have computed. The binaries, those of AMD's APP SDK 2.5, do not come with lockstep.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from lockstep.errors import InputError, WorkloadError, unknown
from lockstep.kernels import files
from lockstep.kernels.definition import Check

if TYPE_CHECKING:
    from lockstep.device import Device
    from lockstep.device.gcn import GcnModule

_FOLDER = "southern-islands"
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
def names() -> tuple[str, ...]:
    """The hosts, sorted."""
    return tuple(
        sorted(file.stem for file in files.home(_FOLDER).glob("*.py") if file.stem != "host")
    )


@cache
def load(name: str) -> OpenclHost:
    """The host of a name; raises :class:`WorkloadError` for an unknown one."""
    if name not in names():
        raise WorkloadError(unknown("OpenCL host", name, names()))
    path = files.home(_FOLDER) / f"{name}.py"
    module = files.module(path, f"lockstep_opencl_{name}")
    return OpenclHost(path, module.BINARY, module.run)
