"""Which registers the blocks of a function read and write, and so which are live between them."""

from lockstep.execution.flow import liveness
from lockstep.execution.ptx.graph import Block, entry_of
from lockstep.execution.ptx.opcodes import CARRY, read, written
from lockstep.execution.ptx.parameters import RETURN, Parameters, words_of
from lockstep.isa.ptx.syntax import Module, Register


def called(block: Block) -> str:
    """The register of a function that keeps which one an indirect call of a block entered."""
    return f"%callee@{block.end}"


def is_indirect(block: Block) -> bool:
    """Whether a block ends with a call through a register."""
    last = block.last
    return last.opcode == "call" and isinstance(last.operands[0].callee, Register)


def find_live(module: Module, parameters: Parameters, blocks: list[Block]) -> None:
    """Set what is live where blocks begin and end; ``blocks`` is one function in order."""
    for block in blocks:
        _find_uses(module, parameters, block)
    inputs = parameters.function.parameters
    spilled = [v for v in parameters.addressed if v in inputs]
    blocks[0].reads |= {w.register for v in spilled for w in words_of(v)}
    for block in blocks:
        if block.last.opcode == "ret" and block.resumes is None:
            block.passes = parameters.read(block.last) - {RETURN}
    liveness.find_live(blocks)


def _find_uses(module: Module, parameters: Parameters, block: Block) -> None:
    """What a block reads before it writes it, and what it writes."""
    own = block.function.registers.keys() | {CARRY}  # others are special registers
    if block.resumes is not None:
        if block.resumes.opcode == "call":
            block.writes |= parameters.results(block.resumes.operands[0])
        else:
            block.writes |= set(written(block.resumes, entry_of(module, block.resumes)))
        if is_indirect(block):
            block.reads.add(called(block))
        return
    for instruction in block.instructions:
        entry = entry_of(module, instruction)
        sources = set(read(instruction, entry)) & own | parameters.read(instruction)
        block.reads |= sources - block.writes
        block.writes |= set(written(instruction, entry)) | parameters.written(instruction)
    if is_indirect(block):
        block.writes.add(called(block))
