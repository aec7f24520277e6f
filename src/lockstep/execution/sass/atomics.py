"""Atomic operations and reductions on global, shared and generic memory."""

from llvmlite import ir

from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.atomics import atomic, first_of_each_bank
from lockstep.execution.lanes.types import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    I64,
    I128,
    PRED,
    Type,
    Value,
)
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.memory import address_of
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Register

_OPERATIONS = {
    "ADD": "add", "MIN": "min", "MAX": "max", "INC": "inc", "DEC": "dec", "AND": "and",
    "OR": "or", "XOR": "xor", "EXCH": "exch", "CAS": "cas", "CAST": "cas", "POPC": "add",
}  # fmt: skip
_TYPES = {  # type, whether two share a register, how many elements in a row
    "S32": (I32, False, 1), "S64": (I64, False, 1), "64": (I64, False, 1), "U64": (I64, False, 1),
    "128": (I128, False, 1), "F64": (F64, False, 1),
    "F32": (F32, False, 1), "F32x2": (F32, False, 2), "F32x4": (F32, False, 4),
    "F16x2": (F16, True, 1), "F16x4": (F16, True, 2), "F16x8": (F16, True, 4),
    "BF16x2": (BF16, True, 1), "BF16x4": (BF16, True, 2), "BF16x8": (BF16, True, 4),
    "BF16_V2": (BF16, True, 1),
}  # fmt: skip


@opcode(
    "ATOM", "ATOMG", "ATOMS", "RED", "REDG",
    modifiers="E ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST SPIN POPC 32 64 U32 S32 U64 S64 F32 "
    "F64 F16x2 BF16_V2 BF16x2 FTZ RN STRONG WEAK GPU SYS CTA SM 128 F32x2 F32x4 F16x4 F16x8 BF16x4 "
    "BF16x8",
)  # fmt: skip
def combine(lift: Lift, i: Instruction) -> None:
    """POPC.INC adds one for each lane.

    CAST tells whether the exchange took place. On an H100 one lane of each bank gets through, even
    where values are equal: 32 lanes take 32 rounds of a loop, with one word as with a stride of
    128 bytes, and two with a stride of 8.

    The predicate says whether the operation is done. Where hardware cannot do it, on shared memory
    at a generic address, it leaves it to code that follows; here it is always done.
    """
    operation = next(_OPERATIONS[m] for m in i.modifiers if m in _OPERATIONS)
    shape = next((_TYPES[m] for m in i.modifiers if m in _TYPES), (I32, False, 1))
    kind, packed, count = shape
    window = Window.SHARED if i.mnemonic == "ATOMS" else Window.GLOBAL
    place = next(k for k, o in enumerate(i.operands) if isinstance(o, Address))
    operands = _values(lift, i, place, max(kind.bits // 32, 1), count)
    address = address_of(lift, i.operands[place], window)
    lift.record_addresses(address)
    size = count * (4 if packed else kind.bytes)
    access = Access(window, address, size, lift.site(window))
    signed = bool({"S32", "S64"} & set(i.modifiers))
    everyone = lift.b.active
    if "CAST" in i.modifiers:
        lift.restrict(first_of_each_bank(lift.b, address, size))
    old = atomic(lift.b, access, operation, kind, operands, signed, packed)
    if "CAST" in i.modifiers:
        same = lift.b.ir.icmp_unsigned("==", old[0].ir, operands[0][0].ir)
        old = [_as_number(lift, lift.b.ir.and_(same, lift.b.active.ir), kind)]
        lift.b.active = everyone
    for target in i.operands[:place]:
        if isinstance(target, Register) and target.file == "R":
            lift.write_words(target, [word for value in old for word in lift.split(value)])
        elif isinstance(target, Register) and target.file == "P":
            lift.write_predicate(target, lift.b.constant(PRED, 1))


def _values(lift: Lift, i: Instruction, place: int, words: int, count: int) -> list[list[Value]]:
    """For each element the operands after the address: a value, or one to compare with before it.

    An element has so many registers of 32 bits.
    """
    if "POPC" in i.modifiers:
        return [[lift.b.constant(I32, 1)]]
    sources = [o for o in i.operands[place + 1 :] if isinstance(o, Register) and o.file == "R"]
    if len(sources) == 1 and {"CAS", "CAST"} & set(i.modifiers):  # both in consecutive registers
        values = lift.words(sources[0], 2 * words)
        return [[lift.join(values[:words]), lift.join(values[words:])]]
    each = [lift.words(o, words * count) for o in sources]
    return [[lift.join(w[k * words : (k + 1) * words]) for w in each] for k in range(count)]


def _as_number(lift: Lift, held: ir.Value, kind: Type) -> Value:
    b = lift.b
    return b.select(Value(held, PRED), b.constant(kind, 1), b.constant(kind, 0))
