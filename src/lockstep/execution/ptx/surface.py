"""Surfaces: suld, sust, sured; of bytes (.b), or of elements in the surface's format (.p)."""

from llvmlite import ir

from lockstep.execution.lanes import surface as lanes
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.surface import Spot
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import elements
from lockstep.execution.ptx.texture import coordinates_of, handles_of
from lockstep.execution.state import Window
from lockstep.isa.ptx.syntax import Instruction, Operand

_SHAPES = "{1d,2d,3d,a1d,a2d}"
_OUTSIDE = "{trap,clamp,zero}"
_PLAIN = "{1d,2d,3d}"
_WIDTHS = (f"[.v2].{{b8,b16,b32,b64}}.{_OUTSIDE}", f".v4.{{b8,b16,b32}}.{_OUTSIDE}")


def _spot(lift: Lift, i: Instruction, memory: Operand, size: int = 0) -> Spot:
    at = coordinates_of(lift, i, memory, "s32")
    trap = ir.Constant(WORD, lift.site(Window.SURFACE))
    return Spot(handles_of(lift, memory), at, size, i.modifiers[-1], trap)


@opcode(*(f"suld.b.{_SHAPES}[.{{ca,cg,cs,cv}}]{width}" for width in _WIDTHS))
def load(lift: Lift, i: Instruction) -> None:
    kind, targets = type_of(i.modifiers[-2]), elements(i.operands[0])
    spot = _spot(lift, i, i.operands[1], kind.bytes * len(targets))
    values, address = lanes.load(lift.b, spot, kind, len(targets))
    lift.record_addresses(address)
    for target, value in zip(targets, values):
        lift.write(target, value)


@opcode(
    *(f"sust.b.{_SHAPES}[.{{wb,cg,cs,wt}}]{width}" for width in _WIDTHS),
    destinations=0,
)
def store(lift: Lift, i: Instruction) -> None:
    name, sources = i.modifiers[-2], elements(i.operands[1])
    spot = _spot(lift, i, i.operands[0], type_of(name).bytes * len(sources))
    lift.record_addresses(lanes.store(lift.b, spot, [lift.read(s, name) for s in sources]))


@opcode(
    f"sured.b.add.{_PLAIN}.{{u32,s32,u64}}.{_OUTSIDE}",
    f"sured.b.{{min,max}}.{_PLAIN}.{{u32,s32,u64,s64}}.{_OUTSIDE}",
    f"sured.b.{{and,or}}.{_PLAIN}.b32.{_OUTSIDE}",
    destinations=0,
)
def reduce(lift: Lift, i: Instruction) -> None:
    name = i.modifiers[-2]
    combine = Combination(i.modifiers[1], type_of(name), is_signed(name), packed=False)
    spot = _spot(lift, i, i.operands[0], type_of(name).bytes)
    value = lift.read(i.operands[1], name)
    lift.record_addresses(lanes.reduce(lift.b, spot, combine, value))


@opcode(
    f"sust.p.{_SHAPES}[.{{wb,cg,cs,wt}}][.{{v2,v4}}].b32.{_OUTSIDE}",
    destinations=0,
)
def store_formatted(lift: Lift, i: Instruction) -> None:
    values = [lift.read(s, "b32") for s in elements(i.operands[1])]
    lift.record_addresses(lanes.store_formatted(lift.b, _spot(lift, i, i.operands[0]), values))


@opcode(
    f"sured.p.{{add,and,or}}.{_PLAIN}.b32.{_OUTSIDE}",
    f"sured.p.{{min,max}}.{_PLAIN}.{{b32,b64}}.{_OUTSIDE}",
    destinations=0,
)
def reduce_formatted(lift: Lift, i: Instruction) -> None:
    """Whether numbers are signed is the surface's business."""
    name = i.modifiers[-2]
    unsigned, signed = (
        Combination(i.modifiers[1], type_of(name), s, packed=False) for s in (False, True)
    )
    spot, value = _spot(lift, i, i.operands[0]), lift.read(i.operands[1], name)
    lift.record_addresses(lanes.reduce(lift.b, spot, unsigned, value, signed))
