"""The code that a program hands over: which of a fat binary's images runs, and what is in it."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lockstep.device import Device, Kernel, Module
from lockstep.device.properties import architectures
from lockstep.errors import LockstepError
from lockstep.isa.sass.binary import Image, best_image, images_of

_ELF, _FAT = b"\x7fELF", struct.pack("<I", 0xBA55ED50)
_NAME = Path("the program's code")


class NoImage(LockstepError):
    """A binary has nothing that the GPU can run."""


@dataclass(frozen=True)
class Entry:
    """A kernel that can be launched, and what the program is told of it."""

    kernel: Kernel
    registers: int
    shared_bytes: int
    local_bytes: int
    most_threads: int

    @property
    def places(self) -> list[tuple[int, int]]:
        """Offset and bytes of each parameter in the launch's block."""
        return [(p.offset, p.bytes) for p in self.kernel.parameters]

    @property
    def parameter_bytes(self) -> int:
        """Bytes of the block."""
        return max((offset + size for offset, size in self.places), default=0)


def load_image(
    device: Device,
    data: bytes,
    ptx: bool = False,
    variables: Mapping[str, int] | None = None,
) -> Module:
    """Load a fat binary, a cubin, or PTX text; ``ptx``: PTX even where there is machine code.

    ``variables``: see :meth:`lockstep.Device.load_ptx`. A kernel that cannot be executed is refused
    when it is asked for: libraries have many that no program launches.
    Raises :class:`NoImage` if the device's GPU can run none of it, other errors if it is damaged.
    """
    if not data.startswith((_ELF, _FAT)):
        return device.load_ptx(_text(data), lazy=True)
    images = images_of(data, _NAME)
    allowed = [image for image in images if not ptx or image.kind == "ptx"]
    fitting = [best_image(allowed, version) for version in architectures(device.gpu)]
    best = max(filter(None, fitting), key=_preference, default=None)
    if best is None:
        raise NoImage(_mismatch(device, images))
    if best.kind == "ptx":
        return device.load_ptx(_text(best.data), variables, lazy=True)
    return device.load_cubin(best.data)


def _preference(image: Image) -> tuple[bool, int]:
    """Machine code before PTX; of several, the newest, as the driver has it."""
    return image.kind == "cubin", image.architecture


def _text(data: bytes) -> str:
    """PTX, which ends in zeros in binaries."""
    return data.rstrip(b"\0").decode("utf-8", "replace") + "\n"


def _mismatch(device: Device, images: list[Image]) -> str:
    names = " and ".join(f"sm_{version}" for version in architectures(device.gpu))
    have = ", ".join(f"{i.kind} for sm_{i.architecture}" for i in images) or "nothing"
    return f"{device.gpu.name} runs {names}; the program has {have} (see --gpu)"


def find_entry(module: Module, name: str) -> Entry:
    """A kernel of a module, translated.

    Raises :class:`WorkloadError` if there is none, other errors if it cannot be executed.
    """
    kernel = module[name]
    program = kernel.executor(module.device.recording).program
    return Entry(
        kernel,
        program.registers,
        program.shared_bytes,
        program.local_bytes,
        kernel.most_threads,
    )
