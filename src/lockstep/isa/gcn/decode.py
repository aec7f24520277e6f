"""Bytes to instructions."""

from collections.abc import Iterator

from lockstep.errors import LockstepError
from lockstep.isa.gcn.instruction import LITERAL, Format, Instruction
from lockstep.isa.gcn.layout import FORMATS, HEAD_SHIFT, LAYOUTS
from lockstep.isa.gcn.operations import OPERATIONS, VOP3B_OPCODES, Operation

_SOURCES = ("ssrc0", "ssrc1", "src0", "src1", "src2")
_LONG = (Format.VOP3A, Format.VOP3B)
_BUFFERS = (Format.MUBUF, Format.MTBUF)
_NO_LITERAL = ("soffset", "vsrc1")
_UNASSIGNED = frozenset((104, 105, 125, *range(209, 240), 248, 249, 250))
_REGISTERS = 128  # codes below are scalar registers, those above constants


class DecodeError(LockstepError):
    """A word that is no instruction; ``offset`` is its place in bytes."""

    def __init__(self, offset: int, message: str):
        self.offset, self.message = offset, message
        super().__init__(f"byte {offset:#x} of the code: {message}")

    def __reduce__(self) -> tuple[type["DecodeError"], tuple[int, str]]:
        return type(self), (self.offset, self.message)


def decode(code: bytes) -> tuple[Instruction, ...]:
    """All instructions of a kernel, in order; DecodeError at the first word that is none."""
    return tuple(instructions(code))


def instructions(code: bytes) -> Iterator[Instruction]:
    """As :func:`decode`, but one by one: all of a large file would need much memory."""
    offset = 0
    while offset < len(code):
        instruction = decode_one(code, offset)
        yield instruction
        offset += instruction.size


def decode_one(code: bytes, offset: int) -> Instruction:
    """The instruction at ``offset``; DecodeError if there is none."""
    word = _word(code, offset)
    format = FORMATS[word >> HEAD_SHIFT]
    if format is None:
        raise DecodeError(offset, f"{word:#010x} begins no instruction of Southern Islands")
    size = 4 * LAYOUTS[format].words
    if size == 8:
        word |= _word(code, offset + 4) << 32
    shift, mask = LAYOUTS[format].opcode
    opcode = word >> shift & mask
    if format is Format.VOP3A and opcode in VOP3B_OPCODES:
        format = Format.VOP3B
    operation = OPERATIONS.get((format, opcode))
    if operation is None:
        raise DecodeError(offset, f"{format.value} has no opcode {opcode} on Southern Islands")
    fields = {name: word >> place & bits for name, place, bits in LAYOUTS[format].fields}
    _check(offset, operation, fields)
    literal = None
    if _has_literal(format, operation.name, fields):
        literal, size = _word(code, offset + 4), 8
    return Instruction(offset, size, format, opcode, operation.name, fields, literal)


def _word(code: bytes, offset: int) -> int:
    if offset + 4 > len(code):
        left = max(0, len(code) - offset)
        raise DecodeError(offset, f"expected 4 more bytes of an instruction, but there are {left}")
    return int.from_bytes(code[offset : offset + 4], "little")


def _has_literal(format: Format, name: str, fields: dict[str, int]) -> bool:
    if name in ("v_madmk_f32", "v_madak_f32", "s_setreg_imm32_b32"):
        return True
    return format not in _LONG and any(fields.get(source) == LITERAL for source in _SOURCES)


def _check(offset: int, operation: Operation, fields: dict[str, int]) -> None:
    """Refuse codes of operands that name nothing."""
    name = operation.name
    sources, registers = _CODES[operation.format, operation.opcode]
    for source in sources:
        code = fields[source]
        if code in _UNASSIGNED:
            raise DecodeError(offset, f"{name}: no operand has code {code}, as its {source} says")
        if code == LITERAL and (source in _NO_LITERAL or operation.format in _LONG):
            raise DecodeError(offset, f"{name}: a literal as {source} is not encodable")
    for register in registers:
        code = fields[register]
        if register == "offset" and fields["imm"]:
            continue
        if code in _UNASSIGNED or code >= _REGISTERS:
            message = f"{name}: no register has code {code}, as its {register} says"
            raise DecodeError(offset, message)


def _codes(operation: Operation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Fields of an operation that are codes of sources, and those of scalar registers only."""
    sources = [o.field for o in operation.sources if o.field in _SOURCES]
    # A vector register, but where it chooses a lane.
    sources += [o.field for o in operation.sources if o.field == "vsrc1" and o.scalar]
    if operation.format in _BUFFERS:
        sources.append("soffset")
    registers = [o.field for o in operation.results if o.scalar and o.field != "vcc"]
    used = {o.field for o in (*operation.results, *operation.sources)}
    registers += [field for field in ("sdst", "offset") if field in used - {*registers}]
    return tuple(sources), tuple(registers)


_CODES = {key: _codes(operation) for key, operation in OPERATIONS.items()}
