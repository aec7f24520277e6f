"""Loops that wait: those whose end depends on what other threads may write."""

from collections.abc import Sequence

from lockstep.execution.flow.loops import turns
from lockstep.execution.ptx.callgraph import CallGraph
from lockstep.execution.ptx.graph import Block, entry_of
from lockstep.execution.ptx.opcodes import read, written
from lockstep.isa.ptx.syntax import Function, Instruction, Module

_FENCES = ("membar", "fence")
_OWN = {"param", "local", "const"}  # spaces of which no load tells what others write
_SHOWN = {
    "st", "red", "atom", "cp", "sust", "sured", "stmatrix", "multimem",
    "bar", "barrier", "mbarrier",
}  # fmt: skip
"""What others see of a thread, or wait for, unless it is of its own."""


def find_waiting_loops(module: Module, calls: CallGraph, blocks: list[Block]) -> None:
    """Mark the blocks that end a turn of a loop which waits; ``blocks`` is one function in order.

    Such a loop sleeps, calls a function that polls, or branches on a value that came from memory
    which others may write. That is what loads say that poll, and plain ones between fences of a
    loop, or a called function, that does nothing else which others see.
    """
    for end, loop in turns(blocks):
        if _waits(module, calls, loop):
            end.awaits = _awaits(module, loop) and (end.awaits or not end.spins)
            end.spins = True


def _awaits(module: Module, loop: Sequence[Block]) -> bool:
    """Whether what a loop polls are mbarriers, and it does not sleep."""
    instructions = [i for b in loop for i in b.instructions]
    polling = [i for i in instructions if entry_of(module, i).polls]
    others = any(i.opcode in ("call", "nanosleep") for i in instructions)
    return not others and all(i.opcode == "mbarrier" for i in polling)


def _waits(module: Module, calls: CallGraph, loop: Sequence[Block]) -> bool:
    instructions = [i for b in loop for i in b.instructions]
    called = [f for b in loop for f in _callees(calls, b)]
    if any(i.opcode == "nanosleep" for i in instructions) or any(
        _polls(module, calls, f, set()) for f in called
    ):
        return True
    anew = _reads_anew(instructions)
    polled = {n for i in instructions for n in _polled(module, i, anew)}
    return bool(polled) and _decides(module, instructions, polled)


def _callees(calls: CallGraph, block: Block) -> list[Function]:
    called = [i for i in block.instructions if i.opcode == "call"]
    return [f for i in called for f in calls.callees(block.function, i)]


def _polls(module: Module, calls: CallGraph, function: Function, seen: set[str]) -> bool:
    """Whether a function, or one that it calls, may read what others write."""
    seen.add(function.name)
    anew = _reads_anew(function.instructions)
    if any(_polled(module, i, anew) for i in function.instructions):
        return True
    called = (i for i in function.instructions if i.opcode == "call")
    further = (f for i in called for f in calls.callees(function, i) if f.name not in seen)
    return any(_polls(module, calls, f, seen) for f in further)


def _reads_anew(instructions: Sequence[Instruction]) -> bool:
    """Whether plain loads may read again and again what others write: a fence says so, where
    nothing is written or waited for."""
    return any(i.opcode in _FENCES for i in instructions) and not any(
        i.opcode in _SHOWN and _OWN.isdisjoint(i.modifiers) for i in instructions
    )


def _polled(module: Module, instruction: Instruction, anew: bool) -> set[str]:
    """Registers that get what others may write; ``anew``: by plain loads, too."""
    entry = entry_of(module, instruction)
    plain = anew and instruction.opcode == "ld" and _OWN.isdisjoint(instruction.modifiers)
    return set(written(instruction, entry)) if entry.polls or plain else set()


def _decides(module: Module, instructions: list[Instruction], polled: set[str]) -> bool:
    """Whether a branch depends on polled values, directly or through other registers."""
    flows = []
    for instruction in instructions:
        entry = entry_of(module, instruction)
        flows.append((set(read(instruction, entry)), set(written(instruction, entry))))
    changed = True
    while changed:
        changed = False
        for sources, targets in flows:
            if sources & polled and not targets <= polled:
                polled |= targets
                changed = True
    deciding = ("bra", "brx", "exit", "ret", "trap")
    return any(
        i.opcode in deciding and sources & polled
        for i, (sources, _) in zip(instructions, flows, strict=True)
    )
