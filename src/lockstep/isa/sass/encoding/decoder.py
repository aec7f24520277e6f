"""From the 16 bytes of an instruction to its mnemonic, modifiers, operands and control bits."""

from collections.abc import Iterator

from lockstep.errors import LockstepError
from lockstep.isa.sass.encoding.instruction import BYTES, UNKNOWN, Control, Instruction
from lockstep.isa.sass.encoding.layout import ARCHITECTURES, EncodingLayout, layouts
from lockstep.isa.sass.encoding.operand import Register

OPCODE_MASK = 0xFFF
ALWAYS = 7  # guard bits 12 to 15: predicate PT, not negated
_GUARDS = {
    file: tuple(
        None if bits == ALWAYS else Register(file, bits & 7, inverted=bits > ALWAYS)
        for bits in range(16)
    )
    for file in ("P", "UP")
}


def control(word: int) -> Control:
    """The scheduling control bits of an instruction word."""
    bits = word >> 105
    return Control(
        bits & 15,
        not bits >> 4 & 1,
        bits >> 5 & 7,
        bits >> 8 & 7,
        bits >> 11 & 63,
        bits >> 17 & 15,
    )


def decode(word: int, architecture: int, pc: int = 0) -> Instruction:
    """One instruction from its 128 bits, the first byte lowest.

    What the tables do not describe comes back with the mnemonic ``unknown``. ``pc`` is its byte
    address, from which branch targets are counted.
    """
    layout = _layout(word, _tables(architecture))
    if layout is None:
        return Instruction(pc, UNKNOWN, (), (), _GUARDS["P"][word >> 12 & 15], control(word), word)
    words = layout.modifiers(word)
    operands: list = []
    for read in layout.results:
        read(word, words, pc, operands)
    results = len(operands)
    for read in layout.sources:
        read(word, words, pc, operands)
    return Instruction(
        pc,
        layout.mnemonic,
        words,
        tuple(operands),
        _GUARDS[layout.guard][word >> 12 & 15],
        control(word),
        word,
        results,
    )


def disassemble(code: bytes, architecture: int, pc: int = 0) -> Iterator[Instruction]:
    """The instructions of ``code``, whose first byte is at ``pc``, one after the other.

    Raises :class:`LockstepError` for a part of an instruction, and for an unknown architecture.
    """
    if len(code) % BYTES:
        raise LockstepError(f"{len(code)} bytes of code; expected a multiple of {BYTES}")
    _tables(architecture)
    for start in range(0, len(code), BYTES):
        yield decode(
            int.from_bytes(code[start : start + BYTES], "little"), architecture, pc + start
        )


def _tables(architecture: int) -> dict[int, tuple[EncodingLayout, ...]]:
    if architecture not in ARCHITECTURES:
        known = ", ".join(f"sm_{a}" for a in ARCHITECTURES)
        raise LockstepError(f"no table decodes SASS of sm_{architecture}; expected one of {known}")
    return layouts(architecture)


def _layout(word: int, tables: dict[int, tuple[EncodingLayout, ...]]) -> EncodingLayout | None:
    for layout in tables.get(word & OPCODE_MASK, ()):
        if layout.fits(word):
            return layout
    return None
