"""Loads, stores and addresses."""

from llvmlite import ir

from lockstep.frontend.exec.lanes import memory as lanes
from lockstep.frontend.exec.lanes.builder import POINTER
from lockstep.frontend.exec.lanes.types import I32, I64, Value
from lockstep.frontend.exec.ptx.lift import Lift, is_signed, type_of
from lockstep.frontend.exec.ptx.opcodes import opcode
from lockstep.frontend.exec.state import Window
from lockstep.isa.ptx.syntax import Instruction, Memory, Register, Vector

_TYPES = "{b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64}"


def address_of(lift: Lift, operand: Memory, space: str) -> tuple[ir.Value | None, Value]:
    """The address that a memory operand names: an optional base pointer and offsets."""
    b = lift.b
    kind = "u64"
    if isinstance(operand.base, Register):
        bits = lift.type(operand.base.name).bits
        kind = f"u{bits}"
    value = lift.read(operand.base, kind)
    if value.type == I32 and space not in ("shared", "local"):
        value = Value(b.ir.zext(value.ir, b.vector(I64)), I64)
    if value.type == I64 and space in ("shared", "local"):
        value = Value(b.ir.trunc(value.ir, b.vector(I32)), I32)
    if operand.offset:
        value = Value(b.ir.add(value.ir, b.constant(value.type, operand.offset).ir), value.type)
    return value


def checked(lift: Lift, address: Value, space: str, size: int):
    """Check an access of ``size`` bytes; base pointer and offsets of the host."""
    b = lift.b
    if space in ("shared",):
        lanes.check_window(
            b, address, b.field("launch", "shared_bytes"), size, lift.site(Window.SHARED)
        )
        return b.ir.inttoptr(b.field("cta", "shared"), POINTER), address
    if space == "local":
        limit = b.field("launch", "local_bytes")
        lanes.check_window(b, address, limit, size, lift.site(Window.LOCAL))
        stride = b.splat(b.ir.trunc(limit, ir.IntType(32)), I32)
        start = b.ir.mul(lanes.lane_numbers(b, I32).ir, stride.ir)
        offset = Value(b.ir.add(start, address.ir), I32)
        return b.ir.inttoptr(b.field("warp", "local"), POINTER), offset
    return None, lanes.check_global(b, address, size, lift.site(Window.GLOBAL))


def space_of(i: Instruction) -> str:
    """The state space that an instruction names, or generic."""
    for word in i.modifiers:
        if word.partition("::")[0] in ("global", "shared", "local", "param", "const"):
            return word.partition("::")[0]
    return "generic"


@opcode(f"ld.param.{_TYPES}")
def load_parameter(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    memory = i.operands[1]
    offset = lift.layout.parameters[memory.base.name] + memory.offset
    b = lift.b
    start = b.ir.inttoptr(b.field("launch", "parameters"), POINTER)
    element = type_of(kind)
    scalar = b.ir.load(b.offset(start, offset), typ=element.element)
    lift.write(i.operands[0], b.splat(scalar, element), is_signed(kind))


@opcode(f"ld[.{{global,shared,local,const}}][.nc][.{{v2,v4}}].{_TYPES}")
def load(lift: Lift, i: Instruction) -> None:
    kind, space = i.modifiers[-1], space_of(i)
    targets = i.operands[0]
    targets = targets.elements if isinstance(targets, Vector) else (targets,)
    element = type_of(kind)
    address = address_of(lift, i.operands[1], space)
    lift.record_addresses(address)
    base, offset = checked(lift, address, space, element.bytes * len(targets))
    for k, target in enumerate(targets):
        place = offset
        if k:
            step = lift.b.constant(offset.type, k * element.bytes)
            place = Value(lift.b.ir.add(offset.ir, step.ir), offset.type)
        lift.write(target, lanes.load(lift.b, base, place, element), is_signed(kind))


@opcode(f"st[.{{global,shared,local}}][.{{v2,v4}}].{_TYPES}", destinations=0)
def store(lift: Lift, i: Instruction) -> None:
    kind, space = i.modifiers[-1], space_of(i)
    sources = i.operands[1]
    sources = sources.elements if isinstance(sources, Vector) else (sources,)
    element = type_of(kind)
    address = address_of(lift, i.operands[0], space)
    lift.record_addresses(address)
    base, offset = checked(lift, address, space, element.bytes * len(sources))
    for k, source in enumerate(sources):
        place = offset
        if k:
            step = lift.b.constant(offset.type, k * element.bytes)
            place = Value(lift.b.ir.add(offset.ir, step.ir), offset.type)
        lanes.store(lift.b, base, place, lift.read(source, kind))


@opcode("cvta.to.{global,shared,local,const,param}.{u32,u64}", "cvta.{global,const,param}.u64")
def convert_address(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lift.read(i.operands[1], i.modifiers[-1]))
