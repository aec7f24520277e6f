"""Machine registers for PTX's virtual ones: what the scoreboard watches.

A register is taken where a virtual one is live and shared by those that never are at the same
time, lowest number first. Liveness is exact, instruction by instruction, as sets of instructions
kept in Python's big integers. A kernel that needs more than there are wraps around: its spills
are not modelled. What occupancy counts is pressure.py's.
"""

from lockstep.execution.ptx.graph import Block, entry_of
from lockstep.execution.ptx.opcodes import CARRY, read, registers_in, written
from lockstep.isa.instruction import PREDICATES
from lockstep.isa.ptx.syntax import Function, Module, Vector, type_bytes

MOST = 255  # vector registers of a thread
MOST_PREDICATES = 7

Numbers = dict[str, tuple[int, int]]
"""Register name -> (first machine register, how many)."""


def allocate(module: Module, function: Function, blocks: list[Block], first: int):
    """Machine registers of a function, from number ``first`` on; and the next free number.

    The elements of a vector operand get neighbouring registers, as machine code needs them.
    """
    ranges = _ranges(module, blocks)
    taken: dict[int, int] = {}  # register -> instructions at which it is in use
    predicates: dict[int, int] = {}
    numbers: Numbers = {}
    vectors = _vectors(function, ranges)
    end = first
    for name in sorted(ranges, key=lambda n: ranges[n] & -ranges[n]):
        if name in numbers:
            continue
        if _is_predicate(function, name):
            number = _lowest(predicates, [ranges[name]], 0, MOST_PREDICATES)
            numbers[name] = (PREDICATES + number, 1)
            continue
        count = _size(function, name)
        names = vectors.get(name, (name,))
        live = [ranges[n] for n in names for _ in range(count)]
        number = _lowest(taken, live, first, MOST)
        for k, element in enumerate(names):
            numbers[element] = (number + k * count, count)
        end = max(end, number + len(live))
    return numbers, end


def _size(function: Function, name: str) -> int:
    """Machine registers of a virtual one."""
    return max(type_bytes(function.registers[name].type) // 4, 1)


def _vectors(function: Function, ranges: dict[str, int]) -> dict[str, tuple[str, ...]]:
    """For each register of a vector operand all of them; the first such operand counts."""
    vectors: dict[str, tuple[str, ...]] = {}
    for instruction in function.instructions:
        for operand in instruction.operands:
            names = tuple(registers_in(operand)) if isinstance(operand, Vector) else ()
            fit = all(n in ranges and n not in vectors for n in names)
            if len(set(names)) == len(names) > 1 and fit and _alike(function, names):
                vectors |= dict.fromkeys(names, names)
    return vectors


def _alike(function: Function, names: tuple[str, ...]) -> bool:
    kinds = {(_is_predicate(function, n), _size(function, n)) for n in names}
    return len(kinds) == 1 and not _is_predicate(function, names[0])


def _is_predicate(function: Function, name: str) -> bool:
    return name == CARRY or function.registers[name].type == "pred"


def _lowest(taken: dict[int, int], live: list[int], first: int, most: int) -> int:
    """The first aligned run of registers, the k-th of them free wherever ``live[k]`` says."""
    count = len(live)
    step = 1 << (count - 1).bit_length()
    start = -(-first // step) * step
    for number in range(start, most - count + 1, step):
        for k, needed in enumerate(live):  # any() would take longer than all else
            if taken.get(number + k, 0) & needed:
                break
        else:
            break
    else:
        number = start + hash(live[0]) % max((most - count - start) // step, 1) * step
    for k, needed in enumerate(live):
        taken[number + k] = taken.get(number + k, 0) | needed
    return number


def _ranges(module: Module, blocks: list[Block]) -> dict[str, int]:
    """For each register, the set of instructions (as bits) at which it holds a live value."""
    ranges: dict[str, int] = {}
    for block in blocks:
        own = block.function.registers.keys() | {CARRY}
        live = dict.fromkeys(block.live_out & own, block.end - 1)  # live up to instruction ...
        for place in range(block.end - 1, block.first - 1, -1):
            instruction = block.function.instructions[place]
            entry = entry_of(module, instruction)
            sources = set(read(instruction, entry)) & own
            for name in written(instruction, entry):
                _add(ranges, name, place, live.get(name, place))
                if name not in sources:
                    live.pop(name, None)
            for name in sources:
                live.setdefault(name, place - 1)
        for name, last in live.items():
            if last >= block.first:  # else the first instruction reads it last
                _add(ranges, name, block.first, last)
    return ranges


def _add(ranges: dict[str, int], name: str, first: int, last: int) -> None:
    """A value is in use from instruction ``first`` to ``last``."""
    bits = ((1 << max(last - first + 1, 1)) - 1) << first
    ranges[name] = ranges.get(name, 0) | bits
