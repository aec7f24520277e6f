"""The code that a program hands over: which of a fat binary's images runs, and what is in it."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lockstep.device import Device
from lockstep.device import Kernel as DeviceKernel
from lockstep.errors import LockstepError
from lockstep.isa.ptx.syntax import Function
from lockstep.isa.sass.binary import images_of

_ELF, _FAT = b"\x7fELF", struct.pack("<I", 0xBA55ED50)
_NAME = Path("the program's code")


class NoImage(LockstepError):
    """A fat binary has nothing that the GPU can run."""


@dataclass(frozen=True)
class Entry:
    """A kernel that can be launched; ``parameters`` are (offset, bytes) in its block."""

    kernel: DeviceKernel
    parameters: tuple[tuple[int, int], ...]
    parameter_bytes: int
    registers: int
    shared_bytes: int
    local_bytes: int
    most_threads: int


class Code(Protocol):
    """A loaded image."""

    def entry(self, name: str) -> Entry:
        """A kernel. Raises :class:`LockstepError` if there is none, or it cannot be executed."""

    def variable(self, name: str) -> tuple[int, int]:
        """Address and bytes of a variable. Raises :class:`KeyError`."""


class PtxCode:
    """A loaded PTX module."""

    def __init__(self, device: Device, text: str):
        self._device, self._module = device, device.load_ptx(text)

    def entry(self, name: str) -> Entry:
        """A kernel, translated."""
        kernel = self._module[name]
        program = kernel.executor(self._device.recording).program
        parameters, size = layout(kernel.function)
        most = kernel.function.directives.get("maxntid", (1024,))
        return Entry(
            kernel,
            parameters,
            size,
            program.registers,
            program.shared_bytes,
            program.local_bytes,
            min(_product(most), 1024),
        )

    def variable(self, name: str) -> tuple[int, int]:
        """Address and bytes of a variable."""
        return self._module.addresses[name], max(self._module.tree.variables[name].bytes, 1)


def load_image(device: Device, data: bytes) -> Code:
    """Load a fat binary, or PTX text.

    Raises :class:`NoImage` if the device's GPU can run none of it, other errors if it is damaged.
    """
    if not data.startswith((_ELF, _FAT)):
        return PtxCode(device, data.rstrip(b"\0").decode("utf-8", "replace"))
    images = images_of(data, _NAME)
    architecture = max(device.gpu.architectures)
    texts = [i for i in images if i.kind == "ptx" and i.architecture <= architecture]
    if not texts:
        have = ", ".join(f"{i.kind} for sm_{i.architecture}" for i in images) or "nothing"
        raise NoImage(
            f"{device.gpu.name} runs code for sm_{architecture}; the program has {have} (compile "
            f"with -arch=sm_{architecture}, or choose another --gpu)"
        )
    best = max(texts, key=lambda image: image.architecture)
    return PtxCode(device, best.data.rstrip(b"\0").decode("utf-8", "replace"))


def layout(function: Function) -> tuple[tuple[tuple[int, int], ...], int]:
    """Offset and bytes of each parameter of a kernel in PTX, and the bytes of all."""
    places, end = [], 0
    for parameter in function.parameters:
        alignment = parameter.alignment or parameter.element_bytes
        start = -(-end // alignment) * alignment
        places.append((start, parameter.bytes))
        end = start + parameter.bytes
    return tuple(places), end


def _product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
