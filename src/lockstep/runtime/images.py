"""The code that a program hands over: which of a fat binary's images runs, and what is in it."""

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path

import msgspec

from lockstep.device import Device, Kernel, Module
from lockstep.device.properties import architectures
from lockstep.errors import LockstepError
from lockstep.execution.ptx.program import check_legal
from lockstep.isa.ptx.linking import read
from lockstep.isa.sass.binary import Image, best_image, images_of, objects_of

_ELF, _FAT = b"\x7fELF", struct.pack("<I", 0xBA55ED50)
_NAME = Path("the program's code")


class NoImage(LockstepError):
    """A binary has nothing that the GPU can run."""


class Entry(msgspec.Struct, frozen=True):
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


def is_ptx(data: bytes) -> bool:
    """Whether the bytes are a text that says of which version of PTX it is."""
    return not data.startswith((_ELF, _FAT)) and b".version" in data


def check_text(data: bytes) -> None:
    """Raise :class:`InputError` for text that is no PTX, as :func:`load_image` does."""
    text = _text(data)
    check_legal(read(text), hashlib.sha256(text.encode()).hexdigest())


def load_image(
    device: Device,
    data: bytes,
    ptx: bool = False,
    variables: Mapping[str, int] | None = None,
) -> Module:
    """Load a fat binary, a cubin, or PTX text; ``ptx``: PTX even where there is machine code.

    Behind a fat binary that was linked lie those of the objects that it was linked from: where it
    has nothing, their PTX is linked. CUDA's own objects have none; what is not there is missed when
    it is called. Text is what the program wrote itself: it is told at once if that is no PTX.
    ``variables``: see :meth:`lockstep.Device.load_ptx`. A kernel that cannot be executed is refused
    when it is asked for: libraries have many that no program launches.
    Raises :class:`NoImage` if the device's GPU can run none of it, other errors if it is damaged.
    """
    if not data.startswith((_ELF, _FAT)):
        return device.load_ptx(_text(data), variables, lazy=True, legal=True)
    objects = objects_of(data, _NAME) if data.startswith(_FAT) else [images_of(data, _NAME)]
    best = _best(device, objects[0], ptx)
    if best is not None and best.kind == "cubin":
        return device.load_cubin(best.data, variables)
    parts = [best] if best else [_best(device, images, True) for images in objects[1:]]
    texts = [_text(part.data) for part in parts if part is not None]
    if not texts:
        raise NoImage(_mismatch(device, next(filter(None, objects), []), ptx))
    return device.load_ptx("".join(texts), variables, lazy=True)


def _best(device: Device, images: list[Image], ptx: bool) -> Image | None:
    allowed = [image for image in images if not ptx or image.kind == "ptx"]
    fitting = [best_image(allowed, version) for version in architectures(device.gpu)]
    return max(filter(None, fitting), key=_preference, default=None)


def _preference(image: Image) -> tuple[bool, int]:
    """Machine code before PTX; of several, the newest, as the driver has it."""
    return image.kind == "cubin", image.architecture


def _text(data: bytes) -> str:
    """PTX, which ends in zeros in binaries."""
    return data.rstrip(b"\0").decode("utf-8", "replace") + "\n"


def _mismatch(device: Device, images: list[Image], ptx: bool) -> str:
    names = " and ".join(f"sm_{version}" for version in architectures(device.gpu))
    have = ", ".join(f"{i.kind} for sm_{i.architecture}" for i in images) or "nothing"
    if ptx:
        advice = "nvcc -gencode arch=compute_XX,code=compute_XX adds it"
        return f"no PTX for {device.gpu.name} ({names}) in the program, which has {have}: {advice}"
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
