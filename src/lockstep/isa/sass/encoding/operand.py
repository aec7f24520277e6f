"""Typed operands of a decoded SASS instruction; ``text`` of each is its disassembly."""

import struct

import msgspec

from lockstep.isa.instruction import CONSTANT_BANK

FILES = {"R": 8, "UR": 6, "P": 3, "UP": 3, "CB": 4, "SB": 3}  # bits of a register number
ZERO = {"R": 255, "UR": 63, "P": 7, "UP": 7}
ZERO_NAME = {"R": "RZ", "UR": "URZ", "P": "PT", "UP": "UPT"}
BARRIERS = 6  # scoreboards of a warp
PLAIN_LIMIT = 1e9  # the disassembler prints larger numbers with an exponent


class Register(msgspec.Struct, frozen=True):
    """A register, predicate or convergence barrier (file ``B``) with what is done to its value.

    ``part`` names the half, byte or layout that is used: ``H0_H0``, ``B1``, ``64``, ``COL``.
    """

    file: str
    number: int
    negated: bool = False
    absolute: bool = False
    inverted: bool = False  # bitwise for registers, logical for predicates
    reuse: bool = False
    part: str = ""

    @property
    def is_zero(self) -> bool:
        """Whether this is RZ, URZ, PT or UPT: reads as zero or true, and swallows writes."""
        return ZERO.get(self.file) == self.number

    @property
    def name(self) -> str:
        """The register alone: ``R4``, ``RZ``, ``UP3``."""
        return ZERO_NAME[self.file] if self.is_zero else f"{self.file}{self.number}"

    def text(self) -> str:
        """As disassembled: ``-|R4|.H0_H0``, ``!P0``, ``R2.reuse``."""
        part = f".{self.part}" if self.part else ""
        name = self.name
        if self.absolute and (self.file == "UR" or self.part == "H1"):
            name, part = f"|{name}{part}|", ""
        elif self.absolute:
            name = f"|{name}|"
        return _signed(self, f"{name}.reuse{part}" if self.reuse else name + part)


class Immediate(msgspec.Struct, frozen=True):
    """An integer in the instruction; ``negated`` and ``inverted`` apply to it at run time."""

    value: int
    negated: bool = False
    inverted: bool = False

    def text(self) -> str:
        """Hexadecimal, with a sign where it is negative."""
        sign = "-" if self.negated else "~" if self.inverted else ""
        return f"{sign}{self.value:#x}"


class Float(msgspec.Struct, frozen=True):
    """A floating-point immediate: its number, the bits that encode it, and how many they are.

    The upper half of a 64-bit number is in the instruction; its lower half is zero.
    """

    value: float
    bits: int
    width: int

    def text(self) -> str:
        """Twenty digits, as the disassembler prints."""
        return float_text(self.value, self.bits, self.width)


class Constant(msgspec.Struct, frozen=True):
    """A word of constant memory: a bank number or a bindless handle, an index, a byte offset."""

    bank: int | Register
    offset: int
    index: Register | None = None
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""

    @property
    def place(self) -> int:
        """The offset in its bank, where no index adds to it: the disassembler prints its sign."""
        return self.offset % CONSTANT_BANK

    def text(self) -> str:
        """``c[0x0][0x160]``, ``cx[UR4][R2+0x10]``."""
        bank = f"c[{self.bank:#x}]" if isinstance(self.bank, int) else f"cx[{self.bank.name}]"
        name = f"{bank}[{_sum(self.index.text() if self.index else '', self.offset)}]"
        if self.part:
            name += f".{self.part}"
        return _signed(self, f"|{name}|" if self.absolute else name)


class Address(msgspec.Struct, frozen=True):
    """A memory operand: the sum of a register, a uniform register and a signed byte offset.

    ``descriptor`` is the uniform register pair of the access descriptor. ``kind`` is a word before
    the bracket: ``gdesc`` for matrices of a warpgroup, ``desc`` for a descriptor alone.
    """

    base: Register | None = None
    uniform: Register | None = None
    offset: int = 0
    descriptor: Register | None = None
    kind: str = ""
    part: str = ""

    def text(self) -> str:
        """``[R2.64+UR4+0x10]``, ``desc[UR4][R2.64]``."""
        names = [r.text() for r in (self.base, self.uniform) if r is not None]
        front = f"desc[{self.descriptor.name}]" if self.descriptor is not None else self.kind
        part = f".{self.part}" if self.part else ""
        return f"{front}[{_sum('+'.join(names), self.offset)}]{part}"


class Target(msgspec.Struct, frozen=True):
    """A place in the code: a byte address, or a displacement that is added to ``base``.

    An encoding that counts from the next instruction has its pc added already. ``explicit`` says
    that the displacement prints even if it is zero.
    """

    address: int
    base: Register | None = None
    explicit: bool = False

    def text(self) -> str:
        """``0x120``, ``R20 0x10``, ``R4`` for no displacement."""
        if self.base is None:
            return f"{self.address:#x}"
        if self.address == 0 and not self.explicit:
            return self.base.text()
        return f"{self.base.text()} {self.address:#x}"


class Name(msgspec.Struct, frozen=True):
    """An operand that is a word: a special register, a texture shape, ``PR``."""

    word: str
    code: int = 0

    def text(self) -> str:
        """The word."""
        return self.word


class Barriers(msgspec.Struct, frozen=True):
    """A set of scoreboard barriers, bit b for barrier b."""

    mask: int

    def text(self) -> str:
        """``{1,0}``: highest first."""
        return "{" + ",".join(str(b) for b in reversed(range(BARRIERS)) if self.mask >> b & 1) + "}"


Operand = Register | Immediate | Float | Constant | Address | Target | Name | Barriers


def _signed(operand: Register | Constant, name: str) -> str:
    if operand.inverted:
        name = f"!{name}" if getattr(operand, "file", "R") in ("P", "UP") else f"~{name}"
    return f"-{name}" if operand.negated else name


def _sum(names: str, offset: int) -> str:
    if not names:
        return f"{offset:#x}"
    return f"{names}+{offset:#x}" if offset else names


_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
_EXPONENT = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF00000}
_QUIET = {16: 0, 32: 0, 64: 0x80000}  # only doubles tell signalling numbers apart


def to_float(bits: int, width: int, bfloat: bool = False) -> float:
    """The number that ``bits`` encode; of a double they are the upper half."""
    if bfloat:
        bits, width = bits << 16, 32
    number, integer = _FORMATS[width]
    return struct.unpack(number, struct.pack(integer, bits << 32 if width == 64 else bits))[0]


def float_text(value: float, bits: int, width: int) -> str:
    """A number as the disassembler prints it."""
    if value != value:
        exponent = _EXPONENT[width]
        sign = "-" if bits & (exponent + (exponent & -exponent)) & ~exponent else "+"
        return f"{sign}{'QNAN' if bits & _QUIET[width] or width < 64 else 'SNAN'}"
    if value in (float("inf"), float("-inf")):
        return "+INF" if value > 0 else "-INF"
    if value == 0:
        return "-0.0" if str(value)[0] == "-" else "0"
    return f"{value:.20e}" if abs(value) >= PLAIN_LIMIT else f"{value:.20g}"
