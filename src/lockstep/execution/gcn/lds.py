"""The local data share: loads, stores and atomics at byte addresses."""

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I8, I16, I32, I64, Type, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

_READS: dict[str, tuple[Type, bool]] = {  # element, whether it is signed
    "b32": (I32, False), "b64": (I64, False), "i8": (I8, True), "u8": (I8, False),
    "i16": (I16, True), "u16": (I16, False),
}  # fmt: skip
_WRITES = {"b8": I8, "b16": I16, "b32": I32, "b64": I64}


@opcode(*(f"ds_read_{kind}" for kind in _READS))
def read(lift: Lift, i: Instruction) -> None:
    kind, signed = _READS[i.name.rpartition("_")[2]]
    (value,) = lanes.load(lift.b, _access(lift, i, kind, _offset(i)), kind)
    lift.set_vgpr(i.fields["vdst"], value if kind == I64 else resize(lift.b, value, I32, signed))


@opcode(*(f"ds_write_{kind}" for kind in _WRITES))
def write(lift: Lift, i: Instruction) -> None:
    kind = _WRITES[i.name.rpartition("_")[2]]
    lanes.store(lift.b, _access(lift, i, kind, _offset(i)), [_data(lift, i, "data0", kind)])


def _offset(i: Instruction) -> int:
    return i.fields["offset0"] | i.fields["offset1"] << 8


def _data(lift: Lift, i: Instruction, field: str, kind: Type) -> Value:
    words = lift.vgprs(i.fields[field], 2 if kind == I64 else 1)
    return resize(lift.b, lift.join(words), kind)


def _access(lift: Lift, i: Instruction, kind: Type, offset: int) -> Access:
    b, base = lift.b, lift.registers.vector(i.fields["addr"])
    address = b.ir.add(base.ir, b.constant(I32, offset).ir) if offset else base.ir
    address = Value(address, I32, sum=(base, offset))
    lift.record_addresses(address)
    return Access(Window.SHARED, address, kind.bytes, lift.site(Window.SHARED))
