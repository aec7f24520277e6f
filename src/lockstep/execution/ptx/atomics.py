"""Atomic operations and reductions."""

from lockstep.execution.lanes import atomics as lanes
from lockstep.execution.lanes.types import BF16, F16, Type, Value
from lockstep.execution.ptx.async_copy import complete
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import access_of, elements, space_of
from lockstep.isa.ptx.syntax import Instruction

_SCOPE = "[.{cta,cluster,gpu,sys}]"
_SPACE = "[.{global,shared,shared::cta,shared::cluster}]"
_ATOM = f"atom[.{{relaxed,acquire,release,acq_rel}}]{_SCOPE}"
_RED = f"red[.{{relaxed,release}}]{_SCOPE}"
_HINT = "[.L2::cache_hint]"
_SCALARS = (
    f".add{_HINT}.{{u32,s32,u64,f32,f64}}",
    f".{{min,max}}{_HINT}.{{u32,s32,u64,s64}}",
    f".{{and,or,xor}}{_HINT}.{{b32,b64}}",
    f".{{inc,dec}}{_HINT}.u32",
    f".add.noftz{_HINT}.{{f16,f16x2,bf16,bf16x2}}",
)
_VECTORS = (
    f".add{_HINT}.{{v2,v4}}.f32",
    f".{{add,min,max}}.noftz{_HINT}.{{v2,v4,v8}}.{{f16,bf16}}",
    f".{{add,min,max}}.noftz{_HINT}.{{v2,v4}}.{{f16x2,bf16x2}}",
)
_EXCHANGES = (f".exch{_HINT}.{{b32,b64,b128}}", f".cas{_HINT}.{{b16,b32,b64,b128}}")
_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")


@opcode(
    *(_ATOM + _SPACE + form for form in (*_SCALARS, *_EXCHANGES)),
    *(_ATOM + "[.global]" + form for form in _VECTORS),
    polls=True,
)
def atom(lift: Lift, i: Instruction) -> None:
    before = _change(lift, i, *i.operands[1:])
    for target, value in zip(elements(i.operands[0]), before):
        lift.write(target, value)


@opcode(
    *(_RED + _SPACE + form for form in _SCALARS),
    *(_RED + "[.global]" + form for form in _VECTORS),
    destinations=0,
)
def red(lift: Lift, i: Instruction) -> None:
    _change(lift, i, *i.operands)


_ASYNC = "red.async.relaxed.cluster[.shared::cluster].mbarrier::complete_tx::bytes"


@opcode(
    _ASYNC + ".add.{u32,s32,u64,s64}",
    _ASYNC + ".{min,max}.{u32,s32}",
    _ASYNC + ".{inc,dec}.u32",
    _ASYNC + ".{and,or,xor}.b32",
    destinations=0,
)
def red_async(lift: Lift, i: Instruction) -> None:
    memory, value, barrier = i.operands
    _change(lift, i, memory, value)
    complete(lift, i, barrier, type_of(i.modifiers[-1]).bytes)


def _change(lift: Lift, i: Instruction, memory, first, *others) -> list[Value]:
    """Change memory; what it held before. After the operands may come a cache policy."""
    operation = next(word for word in i.modifiers if word in _OPERATIONS)
    name = i.modifiers[-1]
    columns = [elements(first)]
    if operation == "cas":
        columns.append(elements(others[0]))
    values = [[lift.read(o, name) for o in row] for row in zip(*columns)]
    kind, packed = _element(name)
    size = type_of(name).bytes * len(values)
    access = access_of(lift, memory, space_of(i), size)
    return lanes.atomic(lift.b, access, operation, kind, values, is_signed(name), packed)


def _element(name: str) -> tuple[Type, bool]:
    """The type that is operated on, and whether an element holds two."""
    if name.endswith("x2"):
        return (F16 if name == "f16x2" else BF16), True
    return type_of(name), False
