"""Modules of machine code: kernels of a cubin, constant banks, variables."""

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lockstep.device.arguments import Parameter
from lockstep.device.array import DeviceArray
from lockstep.device.module import Kernel, Module
from lockstep.errors import InputError, LockstepError
from lockstep.frontend.exec.program import Program, Recording
from lockstep.frontend.exec.resident import Geometry
from lockstep.frontend.exec.sass.image import Image
from lockstep.frontend.exec.sass.translate import Source, translate
from lockstep.frontend.exec.state import LOCAL_WINDOW, SHARED_WINDOW
from lockstep.isa.sass.binary import Cubin, Function, Relocation, read_cubin

if TYPE_CHECKING:
    from lockstep.device.device import Device

ADDRESS_64 = 2  # relocation: 64 bits, the symbol's address plus what is there
PADDING = 16  # bytes behind a constant bank, which wide loads may touch
# Where constant bank 0 holds the block, the grid, the addresses of shared and local memory in the
# generic space, and the end of a thread's stack, on all of Volta to Hopper.
_BLOCK, _GRID, _WINDOWS, _STACK = 0x0, 0xC, 0x18, 0x28
_TYPES = {"float": "f32", "double": "f64"}


class CubinModule(Module):
    """A loaded cubin. Constant banks and variables are in device memory."""

    def __init__(self, device: "Device", data: bytes, path: Path):
        super().__init__(device, str(path), data)
        self.cubin: Cubin = read_cubin(data, path)
        self.image = Image(self.cubin.functions)
        self._sections = self._place_sections()
        self._sizes: dict[str, int] = {}
        for symbol in self.cubin.symbols:
            if symbol.kind == "object" and symbol.section in self._sections:
                self.addresses[symbol.name] = self._sections[symbol.section] + symbol.offset
                self._sizes[symbol.name] = symbol.size
        for relocation in self.cubin.relocations:
            self._relocate(relocation)

    @property
    def entries(self) -> list[str]:
        """Names of its kernels."""
        return [f.name for f in self.cubin.kernels]

    def kernel(self, name: str) -> "CubinKernel":
        """A new kernel object for an entry."""
        return CubinKernel(self, next(f for f in self.cubin.kernels if f.name == name))

    def variable(self, name: str) -> DeviceArray:
        """A variable as bytes: a cubin does not tell its type."""
        return DeviceArray(
            self.device, self.addresses[name], (self._sizes[name],), np.uint8, owner=self
        )

    def bank(self, number: int) -> int:
        """Device address of a constant bank that all kernels share."""
        return self._sections[f".nv.constant{number}"]

    def _place_sections(self) -> dict[str, int]:
        cubin = self.cubin
        contents = {
            ".nv.global.init": cubin.initial,
            ".nv.global": bytes(cubin.global_bytes),
            **{f".nv.constant{n}": data + bytes(PADDING) for n, data in cubin.constants.items()},
        }
        return {name: self.place(content) for name, content in contents.items() if content}

    def place(self, content: bytes) -> int:
        """Device address of a copy of some bytes, for as long as the device lives."""
        memory = self.device.memory
        address = memory.allocate(len(content))
        memory.view(address, len(content))[:] = np.frombuffer(content, np.uint8)
        return address

    def _relocate(self, relocation: Relocation) -> None:
        """Write a symbol's address; debugging information keeps its own."""
        section = relocation.section
        if section.startswith((".debug_", ".nv_debug_", ".nv.info")):
            return
        if relocation.kind != ADDRESS_64 or section not in self._sections:
            message = f"relocation {relocation.kind} of {relocation.symbol} is not supported"
            raise InputError(self.name, f"section {section}", message)
        place = self.device.memory.view(self._sections[section] + relocation.offset, 8)
        addend = relocation.addend + int.from_bytes(place.tobytes(), "little")
        address = self._address(relocation.symbol) + addend & (1 << 64) - 1
        place[:] = np.frombuffer(address.to_bytes(8, "little"), np.uint8)

    def _address(self, name: str) -> int:
        """The address of a variable, or of a function in the code of a kernel that calls it."""
        if name in self.addresses:
            return self.addresses[name]
        for symbol in self.cubin.symbols:
            if symbol.name == name and symbol.section.startswith(".text."):
                return self.image.start(symbol.section.removeprefix(".text.")) + symbol.offset
        address = self.image.service(name)
        if address is None:
            raise InputError(self.name, f"symbol {name}", "it is not defined in the cubin")
        return address


class CubinKernel(Kernel):
    """A kernel of a cubin."""

    def __init__(self, module: CubinModule, function: Function):
        super().__init__(module, function.name, _parameters(function))
        self.function = function
        self._banks = {
            n: module.place(data + bytes(PADDING)) for n, data in function.constants.items() if n
        }
        self._program: Program | None = None

    def translate(self, recording: Recording) -> Program:
        """The kernel as machine code of this host."""
        module, function = self.module, self.function
        local = max(function.local_bytes, function.stack_bytes)
        source = Source(
            name=self.name,
            file=module.name,
            architecture=module.cubin.architecture,
            sections=module.image.sections(function),
            entries=module.image.entries(function, module.cubin.symbols),
            registers=function.registers,
            local_bytes=-(-local // 16) * 16,
            shared_bytes=function.shared_bytes,
        )
        self._program = translate(source, module.key, recording)
        return self._program

    def address(self, symbol: str) -> int:
        """Where a constant bank is, by its name in programs: ``bank3``."""
        number = int(symbol.removeprefix("bank"))
        return self._banks[number] if number in self._banks else self.module.bank(number)

    def block(self, parameters: bytes, geometry: Geometry) -> np.ndarray:
        """Constant bank 0: geometry, stack, parameters."""
        base = self.function.parameter_base
        bank = bytearray(max(base + len(parameters), len(self.function.constants.get(0, b""))))
        struct.pack_into("<3I", bank, _BLOCK, *geometry.block)
        struct.pack_into("<3I", bank, _GRID, *geometry.grid)
        stack = self._program.thread_bytes(self.module.device.limits.stack_bytes)
        struct.pack_into("<2Q", bank, _WINDOWS, SHARED_WINDOW, LOCAL_WINDOW)
        struct.pack_into("<I", bank, _STACK, stack)
        bank[base : base + len(parameters)] = parameters
        return np.frombuffer(bytes(bank) + bytes(PADDING), np.uint8).copy()


def _parameters(function: Function) -> list[Parameter]:
    """Offsets and sizes are in the cubin; types only in a mangled name."""
    titles = function.title.partition("(")[2].removesuffix(")").split(", ")
    known = titles if len(titles) == len(function.parameters) else [""] * len(function.parameters)
    return [
        Parameter(*_type(title, p.size, p.offset)) for title, p in zip(known, function.parameters)
    ]


def _type(title: str, size: int, offset: int) -> tuple[str, int, int, tuple[int, ...]]:
    if title in _TYPES:
        return _TYPES[title], offset, size, ()
    if size in (1, 2, 4, 8):
        return f"b{8 * size}", offset, size, ()
    return "b8", offset, size, (size,)


def read(source: str | Path | bytes) -> tuple[bytes, Path]:
    """A cubin's bytes, from itself or from the file that a path names; and a name for messages."""
    if isinstance(source, bytes):
        return source, Path("<cubin>")
    try:
        return Path(source).read_bytes(), Path(source)
    except OSError as error:
        raise LockstepError(f"{source}: cannot read: {error.strerror}") from error
