"""Atomic operations and reductions on global, shared and generic memory."""

from lockstep.frontend.exec.lanes.addresses import Access
from lockstep.frontend.exec.lanes.atomics import atomic
from lockstep.frontend.exec.lanes.types import BF16, F16, F32, F64, I32, I64, PRED, Type, Value
from lockstep.frontend.exec.sass.lift import Lift
from lockstep.frontend.exec.sass.memory import address_of
from lockstep.frontend.exec.sass.opcodes import opcode
from lockstep.frontend.exec.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Register

_OPERATIONS = {
    "ADD": "add", "MIN": "min", "MAX": "max", "INC": "inc", "DEC": "dec", "AND": "and",
    "OR": "or", "XOR": "xor", "EXCH": "exch", "CAS": "cas", "CAST": "cas", "POPC": "add",
}  # fmt: skip
_TYPES = {
    "S32": (I32, False), "S64": (I64, False), "64": (I64, False), "U64": (I64, False),
    "F32": (F32, False), "F64": (F64, False), "F16x2": (F16, True), "BF16_V2": (BF16, True),
    "BF16x2": (BF16, True),
}  # fmt: skip


@opcode(
    "ATOM", "ATOMG", "ATOMS", "RED", "REDG",
    modifiers="E ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST SPIN POPC 32 64 U32 S32 U64 S64 F32 "
    "F64 F16x2 BF16_V2 BF16x2 FTZ RN STRONG WEAK GPU SYS CTA SM",
)  # fmt: skip
def combine(lift: Lift, i: Instruction) -> None:
    """CAST tells whether the exchange took place; POPC.INC adds one for each lane."""
    operation = next(_OPERATIONS[m] for m in i.modifiers if m in _OPERATIONS)
    kind, packed = next((_TYPES[m] for m in i.modifiers if m in _TYPES), (I32, False))
    window = Window.SHARED if i.mnemonic == "ATOMS" else Window.GLOBAL
    place = next(k for k, o in enumerate(i.operands) if isinstance(o, Address))
    operands = _values(lift, i, place, kind)
    address = address_of(lift, i.operands[place], window)
    lift.record_addresses(address)
    access = Access(window, address, 4 if packed else kind.bytes, lift.site(window))
    signed = bool({"S32", "S64"} & set(i.modifiers))
    (old,) = atomic(lift.b, access, operation, kind, [operands], signed, packed)
    if "CAST" in i.modifiers:
        old = _as_number(lift, lift.b.ir.icmp_unsigned("==", old.ir, operands[0].ir))
    for target in i.operands[:place]:
        if isinstance(target, Register) and target.file == "R":
            lift.write(target, old)


def _values(lift: Lift, i: Instruction, place: int, kind: Type) -> list[Value]:
    """The operands after the address: values, or what to compare with and a new value."""
    if "POPC" in i.modifiers:
        return [lift.b.constant(I32, 1)]
    words = 2 if kind.bits == 64 else 1
    sources = [o for o in i.operands[place + 1 :] if isinstance(o, Register) and o.file == "R"]
    if len(sources) == 1 and {"CAS", "CAST"} & set(i.modifiers):  # both in consecutive registers
        values = lift.words(sources[0], 2 * words)
        return [lift.join(values[:words]), lift.join(values[words:])]
    return [lift.join(lift.words(o, words)) for o in sources]


def _as_number(lift: Lift, held) -> Value:
    b = lift.b
    return b.select(Value(held, PRED), b.constant(I32, 1), b.constant(I32, 0))
