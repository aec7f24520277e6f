"""Surfaces: SULD.D, SUST.D, SURED.D with x in bytes (.BA); SUST.P, SURED.D with x in elements.

The address is that of x, y, z in consecutive registers, a layer last (seen in what ptxas makes of
PTX for sm_70 to sm_90).
"""

from lockstep.execution.lanes import surface as lanes
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.fetch import CHANNELS
from lockstep.execution.lanes.filtering import Coordinates
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.surface import Spot
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.memory import shape
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.sass.texture import handles_of
from lockstep.execution.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Register

_AXES = {"1D": 1, "2D": 2, "3D": 3, "1D_ARRAY": 1, "2D_ARRAY": 2}
_COMMON = "D BA IGN TRAP STRONG WEAK CTA SM GPU SYS EF EL LU EU NA " + " ".join(_AXES)
_OPERATIONS = {"ADD": "add", "MIN": "min", "MAX": "max", "AND": "and", "OR": "or"}
_KINDS = {
    "S32": (I32, True), "U64": (I64, False), "S64": (I64, True), "SD32": (I32, False),
    "SD64": (I64, False),
}  # fmt: skip
_PARTS = {"R": 1, "RG": 2}


def _spot(lift: Lift, i: Instruction, size: int) -> tuple[Spot, Register | None]:
    """Where lanes access a surface; and the register of the data, if there is one."""
    size = size if "BA" in i.modifiers else 0
    address = next(o for o in i.operands if isinstance(o, Address))
    geometry = next(m for m in i.modifiers if m in _AXES)
    axes, layered = _AXES[geometry], geometry.endswith("ARRAY")
    words = lift.words(address.base, axes + layered)
    at = Coordinates(tuple(words[:axes]), words[axes] if layered else None)
    data, handle = _data_and_handle(i)
    number = None if handle is None else lift.words(handle, 1)[0]
    outside = "trap" if "TRAP" in i.modifiers else "zero" if "IGN" in i.modifiers else "clamp"
    handles = handles_of(lift, i, number)
    return Spot(handles, at, size, outside, lift.site(Window.SURFACE)), data


def _data_and_handle(i: Instruction) -> tuple[Register | None, Register | None]:
    """The vector registers behind the address: data is first, but for loads."""
    sources = i.operands[i.results :]
    found = [o for o in sources if isinstance(o, Register) and o.file == "R"]
    data = None if i.mnemonic == "SULD" else found.pop(0)
    return data, found[0] if found else None


@opcode("SULD", modifiers="U8 S8 U16 S16 64 128 " + _COMMON)
def load(lift: Lift, i: Instruction) -> None:
    """Whole registers; what is smaller is extended."""
    if "BA" not in i.modifiers:
        raise lift.refuse("loads in the surface's format are not supported")
    kind, count, signed = shape(i)
    spot, _ = _spot(lift, i, kind.bytes * count)
    values, address = lanes.load(lift.b, spot, kind, count)
    lift.record_addresses(address)
    target = i.operands[i.results - 1]
    lift.write_words(target, [resize(lift.b, v, I32, signed=signed) for v in values])


@opcode("SUST", modifiers="P R RG U8 S8 U16 S16 64 128 " + _COMMON)
def store(lift: Lift, i: Instruction) -> None:
    """Whole registers, or the lower part of one; or channels in the surface's format."""
    if "P" in i.modifiers:
        spot, data = _spot(lift, i, 0)
        count = next((n for word, n in _PARTS.items() if word in i.modifiers), CHANNELS)
        words = lift.words(data, count)
        lift.record_addresses(lanes.store_formatted(lift.b, spot, words))
        return
    kind, count, _ = shape(i)
    spot, data = _spot(lift, i, kind.bytes * count)
    values = [resize(lift.b, w, kind) for w in lift.words(data, count)]
    lift.record_addresses(lanes.store(lift.b, spot, values))


@opcode("SURED", modifiers=" ".join((*_OPERATIONS, *_KINDS, _COMMON)))
def reduce(lift: Lift, i: Instruction) -> None:
    """Lane after lane, without a result; with x in elements the format tells what is signed."""
    kind, signed = next((_KINDS[m] for m in i.modifiers if m in _KINDS), (I32, False))
    operation = next(_OPERATIONS[m] for m in i.modifiers if m in _OPERATIONS)
    spot, data = _spot(lift, i, kind.bytes)
    value: Value = lift.join(lift.words(data, kind.bits // 32))
    combine = Combination(operation, kind, signed, packed=False)
    by_format = None if "BA" in i.modifiers else Combination(operation, kind, True, packed=False)
    lift.record_addresses(lanes.reduce(lift.b, spot, combine, value, by_format))
