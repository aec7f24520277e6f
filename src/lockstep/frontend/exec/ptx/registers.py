"""Machine registers for PTX's virtual ones: what the scoreboard watches and occupancy counts.

A register is taken where a virtual one is live and shared by those that never are at the same
time, lowest number first. Liveness is exact, instruction by instruction, as sets of instructions
kept in Python's big integers. A kernel that needs more than there are wraps around: its spills
are not modelled.
"""

from lockstep.frontend.exec.ptx.graph import Block, entry_of
from lockstep.frontend.exec.ptx.opcodes import CARRY, read, written
from lockstep.isa.instruction import PREDICATES
from lockstep.isa.ptx.syntax import Function, Module, type_bytes

MOST = 255  # vector registers of a thread
MOST_PREDICATES = 7

Numbers = dict[str, tuple[int, int]]
"""Register name -> (first machine register, how many)."""


def allocate(module: Module, function: Function, blocks: list[Block], first: int):
    """Machine registers of a function, from number ``first`` on; and the next free number."""
    ranges = _ranges(module, blocks)
    taken: dict[int, int] = {}  # register -> instructions at which it is in use
    predicates: dict[int, int] = {}
    numbers: Numbers = {}
    end = first
    for name in sorted(ranges, key=lambda n: ranges[n] & -ranges[n]):
        if _is_predicate(function, name):
            number = _lowest(predicates, ranges[name], 1, 0, MOST_PREDICATES)
            numbers[name] = (PREDICATES + number, 1)
            continue
        count = max(type_bytes(function.registers[name].type) // 4, 1)
        number = _lowest(taken, ranges[name], count, first, MOST)
        numbers[name] = (number, count)
        end = max(end, number + count)
    return numbers, end


def _is_predicate(function: Function, name: str) -> bool:
    return name == CARRY or function.registers[name].type == "pred"


def _lowest(taken: dict[int, int], live: int, count: int, first: int, most: int) -> int:
    """The first aligned run of registers that are free wherever ``live`` says."""
    start = -(-first // count) * count
    for number in range(start, most - count + 1, count):
        if not any(taken.get(number + k, 0) & live for k in range(count)):
            break
    else:
        number = start + hash(live) % max((most - start) // count, 1) * count
    for k in range(count):
        taken[number + k] = taken.get(number + k, 0) | live
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
            _add(ranges, name, block.first, last)
    return ranges


def _add(ranges: dict[str, int], name: str, first: int, last: int) -> None:
    """A value is in use from instruction ``first`` to ``last``."""
    bits = ((1 << max(last - first + 1, 1)) - 1) << first
    ranges[name] = ranges.get(name, 0) | bits
