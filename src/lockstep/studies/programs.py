"""How the programs of a study run: those that come with lockstep, or hosts of OpenCL kernels."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lockstep import kernels
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.kernels import opencl
from lockstep.studies.code import code_for
from lockstep.studies.description import Study

if TYPE_CHECKING:
    from lockstep.device import Device


class Programs(Protocol):
    """Programs by name; picklable, as processes are given them."""

    def text(self, name: str, gpu: GPU) -> bytes | str:
        """What tells the code of a program on a GPU from any other."""
        ...

    def run(self, device: "Device", name: str, items: int) -> None:
        """Run a program on a device."""
        ...


@dataclass(frozen=True, slots=True)
class BuiltinPrograms:
    """Those of ``examples/kernels``; from machine code where a GPU has some and it is wanted."""

    machine_code: bool

    def text(self, name: str, gpu: GPU) -> bytes | str:
        """As :class:`Programs`."""
        return self._code(name, gpu) or kernels.load(name).ptx.read_text()

    def run(self, device: "Device", name: str, items: int) -> None:
        """As :class:`Programs`."""
        code = self._code(name, device.gpu)
        module = device.load_cubin(code) if code else None
        kernels.load(name).run(device, items, module=module)

    def _code(self, name: str, gpu: GPU) -> bytes | None:
        return code_for(gpu, name) if self.machine_code else None


@dataclass(frozen=True, slots=True)
class OpenclPrograms:
    """Hosts of ``examples/southern-islands``, with binaries of a folder."""

    binaries: Path

    def text(self, name: str, gpu: GPU) -> bytes | str:
        """As :class:`Programs`."""
        path = opencl.load(name).binary_in(self.binaries)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def run(self, device: "Device", name: str, items: int) -> None:
        """As :class:`Programs`."""
        opencl.load(name).run(device, self.binaries, items)


def of_study(study: Study, binaries: Path | None) -> Programs:
    """How the programs of a study run. Raises :class:`LockstepError` without their binaries."""
    if not study.opencl:
        return BuiltinPrograms(study.machine_code)
    if binaries is None:
        raise LockstepError(
            f"{study.name} runs OpenCL kernels of AMD's APP SDK 2.5, which do not come with "
            "lockstep: --binaries names the folder of its *_Kernels.bin"
        )
    return OpenclPrograms(binaries)
