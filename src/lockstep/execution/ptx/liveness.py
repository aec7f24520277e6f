"""Which registers are live where the blocks of a function begin and end."""

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
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set().union(*(b.live_in for b in block.successors))
            if block.last.opcode == "ret" and block.resumes is None:
                out |= parameters.read(block.last) - {RETURN}
            live = block.reads | (out - block.writes)
            if live != block.live_in or out != block.live_out:
                block.live_in, block.live_out, changed = live, out, True


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
