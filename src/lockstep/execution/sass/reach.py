"""The code that a kernel may enter, decoded."""

from lockstep.errors import LockstepError
from lockstep.execution.programs.program import Ending
from lockstep.execution.sass import instructions  # noqa: F401 (fills the table)
from lockstep.execution.sass.graph import address_in, ending_of, jumps_anywhere
from lockstep.execution.sass.image import Section
from lockstep.execution.sass.opcodes import problem
from lockstep.execution.sass.source import Decoded, Source
from lockstep.execution.sass.statics import static_code
from lockstep.isa.sass.encoding.decoder import disassemble
from lockstep.isa.sass.encoding.instruction import Instruction


def reached(source: Source) -> list[tuple[Section, Decoded]]:
    """The sections that a kernel may enter, decoded, in the order of their places.

    Where a register tells what is called, it may be any.
    """
    own, *others = source.sections
    if not own.code:
        raise LockstepError(f"{source.file}: kernel {source.name} has no code")
    todo, reached = [own], {}
    while todo:
        section = todo.pop()
        if section in reached:
            continue
        reached[section] = _decoded(source, section)
        code = reached[section].code
        if any(i.mnemonic == "CALL" and jumps_anywhere(i) for i in code):
            todo += others
        pcs = {address_in(i) for i in code if ending_of(i) == Ending.BRANCH} - {None}
        todo += [s for s in others if any(map(s.holds, pcs))]
    return [(s, reached[s]) for s in source.sections if s in reached]


def _decoded(source: Source, section: Section) -> Decoded:
    known = source.decoded.get(section)
    if known is not None:
        return known
    code = _decode(source, section)
    found = Decoded(code, *static_code(code, source.architecture))
    if section is not source.sections[0]:
        source.decoded[section] = found
    return found


def _decode(source: Source, section: Section) -> list[Instruction]:
    code = list(disassemble(section.code, source.architecture, section.start))
    for instruction in code:
        reason = problem(instruction)
        if reason:
            raise source.refuse(instruction, reason)
    return code
