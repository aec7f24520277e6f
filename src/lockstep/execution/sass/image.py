"""Where functions are in the code that a kernel sees.

A kernel begins at zero; the functions of its module that are not in its own section follow at
places that are the same for all kernels, so that one table of function pointers serves them all.
Behind them are the services of the host.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from lockstep.execution.programs.services import SERVICES
from lockstep.isa.sass.binary import CubinSymbol, Function
from lockstep.isa.sass.encoding.instruction import BYTES

JUMP_TABLES = 2  # constant bank


class Section(NamedTuple):
    """Code that begins at a pc, and how many registers it uses."""

    name: str
    start: int
    code: bytes
    registers: int = 0

    def holds(self, pc: int) -> bool:
        """Whether an instruction of this code is at a pc."""
        return self.start <= pc < self.start + len(self.code)


class ModuleImage:
    """The code of a module."""

    def __init__(self, functions: Sequence[Function]):
        end = max((len(f.code) for f in functions if f.is_kernel), default=0)
        self._sections: list[Section] = []
        for function in functions:
            if not function.is_kernel:
                self._sections.append(_section(function, end))
                end += len(function.code)
        self._end = end

    def start(self, name: str) -> int:
        """The pc at which a function's section begins."""
        return next((s.start for s in self._sections if s.name == name), 0)

    def service(self, name: str) -> int | None:
        """The pc that stands for a service of the host."""
        return self._end + BYTES * SERVICES.index(name) if name in SERVICES else None

    def sections(self, kernel: Function) -> tuple[Section, ...]:
        """What a kernel may execute, its own code first, services last."""
        services = Section("", self._end, b"")
        return (_section(kernel, 0), *self._sections, services)

    def entries(self, kernel: Function, symbols: Sequence[CubinSymbol]) -> tuple[int, ...]:
        """The pcs of the functions that a kernel may call through registers."""
        own = f".text.{kernel.name}"
        functions = {s.offset for s in symbols if s.section == own and s.kind == "func"}
        return tuple(sorted(functions | {s.start for s in self._sections}))


def _section(function: Function, start: int) -> Section:
    return Section(function.name, start, function.code, function.registers)


def jump_table(kernel: Function) -> tuple[int, ...]:
    """What looks like places of code in the bank that holds jump tables.

    They count from the start of the function that jumps.
    """
    bank = kernel.constants.get(JUMP_TABLES, b"")
    words = struct.unpack(f"<{len(bank) // 4}I", bank[: len(bank) // 4 * 4])
    return tuple(sorted({w for w in words if w % BYTES == 0}))
