"""The table of PTX opcodes: which forms exist, and the function that lifts each.

A form is written as the PTX manual's syntax lines are, with ``[...]`` for what may be absent and
``{a,b}`` for alternatives: ``"add[.sat].s32"``, ``"ld[.volatile].global.{b8,u8}"``. What matches
no form is refused when a module is loaded; docs/ptx-coverage.md lists the forms.
"""

import functools
import re
from collections.abc import Callable, Iterator

import msgspec

from lockstep.isa.ptx.syntax import Instruction, Operand, Pair, Part, Register, Sink, Vector

CARRY = "%cc"  # the condition code register's carry flag, as a predicate register


Lifting = Callable[..., None]
"""``(lift, instruction)``: emits what the instruction does onto a :class:`.lift.Lift`."""


class PtxOpcode(msgspec.Struct, frozen=True, dict=True, eq=False):
    """Forms of one opcode that share a lifting function.

    ``destinations``: how many of the leading operands are written. ``control``: the instruction
    ends its block, and ``lift`` returns nothing of use to others.
    """

    forms: tuple[str, ...]
    lift: Lifting
    destinations: int
    accumulates: bool  # reads what it writes
    reads_carry: bool
    converges: bool  # a warp-wide operation whose last operand is the member mask
    polls: bool  # may read what other threads write
    resume: Lifting | None  # takes the results of one that waits

    @functools.cached_property
    def pattern(self) -> re.Pattern:
        """Matches the full names of all forms."""
        return pattern_of(*self.forms)


def pattern_of(*forms: str) -> re.Pattern:
    """Matches the full names that forms stand for."""
    return re.compile("|".join(map(_regex, forms)))


def _regex(form: str) -> str:
    out = re.escape(form).replace(r"\[", "(?:").replace(r"\]", ")?")
    out = re.sub(r"\\\{(.*?)\\\}", lambda m: f"(?:{m.group(1).replace(',', '|')})", out)
    return out


def _bases(form: str) -> list[str]:
    """The opcodes that a form begins with: ``{add,sub}.s32`` has two."""
    return re.match(r"[^.\[]*", form)[0].strip("{}").split(",")


TABLE: dict[str, list[PtxOpcode]] = {}


def opcode(
    *forms: str,
    destinations: int = 1,
    accumulates=False,
    reads_carry=False,
    converges=False,
    polls=False,
    resume=None,
):
    """Register a lifting function for forms; all forms of one call may have several opcodes."""

    def register(lift):
        entry = PtxOpcode(
            forms, lift, destinations, accumulates, reads_carry, converges, polls, resume
        )
        for base in dict.fromkeys(base for form in forms for base in _bases(form)):
            TABLE.setdefault(base, []).append(entry)
        return lift

    return register


@functools.lru_cache(65536)
def find(name: str) -> PtxOpcode | None:
    """The entry whose forms include an instruction's full name."""
    for entry in TABLE.get(name.partition(".")[0], ()):
        if entry.pattern.fullmatch(name):
            return entry
    return None


def written(instruction: Instruction, entry: PtxOpcode) -> Iterator[str]:
    """Names of the registers that an instruction writes."""
    for operand in instruction.operands[: entry.destinations]:
        yield from _registers(operand)
    if instruction.opcode == "call":
        for operand in instruction.operands[0].results:
            yield from _registers(operand)
    if "cc" in instruction.modifiers:
        yield CARRY


def read(instruction: Instruction, entry: PtxOpcode, partial: bool = True) -> Iterator[str]:
    """Names of the registers that an instruction reads.

    With ``partial``, a guarded one also reads what it writes: lanes without the guard keep the
    old value.
    """
    if instruction.opcode == "call":
        call = instruction.operands[0]
        yield from registers_in((call.callee, call.arguments))
    else:
        for operand in sources(instruction, entry):
            yield from registers_in(operand)
    if instruction.guard is not None:
        yield from registers_in(instruction.guard)
        if partial:
            yield from written(instruction, entry)
    if entry.reads_carry:
        yield CARRY


def sources(instruction: Instruction, entry: PtxOpcode) -> tuple[Operand, ...]:
    """The operands that an instruction reads."""
    return instruction.operands[0 if entry.accumulates else entry.destinations :]


def _registers(operand) -> Iterator[str]:
    match operand:
        case Register(name):
            yield name
        case Vector(elements):
            for element in elements:
                yield from _registers(element)
        case Pair(first, second):
            yield from _registers(first)
            yield from _registers(second)
        case Part(register):
            yield register.name
        case Sink():
            return


def registers_in(operand) -> Iterator[str]:
    """Every register that an operand names, addresses and negations included."""
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, tuple):
        for element in operand:
            yield from registers_in(element)
    elif isinstance(operand, msgspec.Struct):
        for field in operand.__struct_fields__:
            yield from registers_in(getattr(operand, field))
