"""Which loads poll memory though they do not say so.

Machine code tells no volatile accesses to shared memory from others, nor plain ones between fences.

A load polls whose value decides whether a loop ends in which nothing else could change that value:
its address stays the same, and nothing in the loop writes memory, meets others or calls. A compiler
that need not read again would have taken it out of the loop. What comes before such a loop and
reads the same place is its first turn. So does a load of a called function that has a fence and
does nothing else that others see: whether its callers loop is not looked at.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from lockstep.execution.sass.graph import address_in
from lockstep.isa.instruction import OpClass
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Operand, Register

_ATOMICS = ("ATOM", "ATOMG", "ATOMS")
LONGEST = 64  # instructions of such a loop
NEAR = 32  # instructions from its first turn to the loop
_QUIET = {
    OpClass.FP32, OpClass.FP16, OpClass.FP64, OpClass.INT32, OpClass.IMAD, OpClass.MOVE,
    OpClass.CONVERT, OpClass.SFU, OpClass.SHUFFLE, OpClass.VOTE, OpClass.SPECIAL_REGISTER,
    OpClass.UNIFORM, OpClass.HMMA, OpClass.LOAD, OpClass.CONVERGENCE, OpClass.EXIT, OpClass.FENCE,
    OpClass.NOP, OpClass.CACHE_CONTROL, OpClass.SLEEP, OpClass.LOCAL_FENCE, OpClass.IMAD_WIDE,
    OpClass.SPECIAL_MOVE, OpClass.MATCH, OpClass.REDUX, OpClass.PACK,
}  # fmt: skip


def idle_atomics(code: Sequence[Instruction]) -> list[int]:
    """Static indices of the atomic operations that add nothing: they look, and change nothing."""
    return [k for k, i in enumerate(code) if i.mnemonic in _ATOMICS and _adds_nothing(i)]


def _adds_nothing(i: Instruction) -> bool:
    added = i.operands[-1]
    zero = isinstance(added, Register) and added.is_zero
    return zero and not {"ADD", "OR", "XOR"}.isdisjoint(i.modifiers)


def polling_loads(code: Sequence[Instruction], records: np.ndarray) -> set[int]:
    """Static indices of the loads; ``records``: the INSTRUCTION records of the code."""
    if not any(i.mnemonic in ("LDS", "MEMBAR") for i in code):
        return set()
    index, found = {i.pc: k for k, i in enumerate(code)}, set()
    for end, jump in enumerate(code):
        start = index.get(address_in(jump), end + 1) if jump.mnemonic == "BRA" else end + 1
        if end - LONGEST < start <= end and _is_quiet(code, records, start, end):
            found.update(_polling(code, records, start, end))
    called = {address_in(i) for i in code if i.mnemonic == "CALL"}
    for pc, start in index.items():
        if pc in called:
            found.update(_in_function(code, records, start))
    return found


def _in_function(code: Sequence[Instruction], records: np.ndarray, start: int) -> Iterator[int]:
    """The loads of a short function, which returns at its end."""
    last = min(start + LONGEST, len(code))
    end = next((k for k in range(start, last) if code[k].mnemonic == "RET"), start)
    fenced = any(code[k].mnemonic == "MEMBAR" for k in range(start, end))
    if fenced and _is_quiet(code, records, start, end):
        yield from (k for k in range(start, end) if code[k].mnemonic in ("LDG", "LD"))


def _is_quiet(code: Sequence[Instruction], records: np.ndarray, start: int, end: int) -> bool:
    return all(
        code[k].mnemonic == "BRA" or OpClass(records[k]["op"]) in _QUIET for k in range(start, end)
    )


def _polling(
    code: Sequence[Instruction], records: np.ndarray, start: int, end: int
) -> Iterator[int]:
    changed = {r for k in range(start, end) for r in _written(code[k], records[k])}
    fenced = any(code[k].mnemonic == "MEMBAR" for k in range(start, end))
    for load in range(start, end):
        if code[load].mnemonic not in (("LDS", "LDG", "LD") if fenced else ("LDS",)):
            continue
        address = _address(code[load])
        if changed.isdisjoint(address) and _decides(code, records, load, start, end):
            yield load
            yield from _first_turn(code, records, load, start)


def _decides(
    code: Sequence[Instruction], records: np.ndarray, load: int, start: int, end: int
) -> bool:
    """Whether the value of a load may decide where a branch of its loop goes."""
    known = set(_written(code[load], records[load]))
    for k in (*range(load + 1, end + 1), *range(start, load)):
        i = code[k]
        if not known.isdisjoint(_names((*i.operands[i.results :], i.guard))):
            if i.mnemonic == "BRA":
                return True
            known.update(_written(i, records[k]))
    return False


def _first_turn(
    code: Sequence[Instruction], records: np.ndarray, load: int, start: int
) -> Iterator[int]:
    """The nearest load before a loop of the same place, if nothing could change what it reads."""
    place, address = _place(code[load]), _address(code[load])
    for k in range(start - 1, max(start - NEAR, 0) - 1, -1):
        if code[k].mnemonic == code[load].mnemonic and _place(code[k]) == place:
            yield k
            return
        if not _is_quiet(code, records, k, k + 1) or address & set(_written(code[k], records[k])):
            return


def _place(load: Instruction) -> str:
    return next(o for o in load.operands if isinstance(o, Address)).text().replace(".reuse", "")


def _address(load: Instruction) -> set[tuple[str, int]]:
    return set(_names([o for o in load.operands if isinstance(o, Address)]))


def _names(operands: Sequence[Operand | None]) -> Iterator[tuple[str, int]]:
    """The first register of each operand."""
    for o in operands:
        parts = (o.base, o.uniform) if isinstance(o, Address) else (o,)
        yield from ((p.file, p.number) for p in parts if isinstance(p, Register) and not p.is_zero)


def _written(i: Instruction, record: np.void) -> Iterator[tuple[str, int]]:
    """The registers that an instruction writes; uniform ones may be pairs."""
    widths = {"R": int(record["destination_count"][0]), "UR": 2}
    for file, number in _names(i.operands[: i.results]):
        yield from ((file, number + k) for k in range(widths.get(file, 1)))
