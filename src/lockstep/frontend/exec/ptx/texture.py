"""Textures: tex, tld4, txq; handles are 64-bit values, or the content of a module's .texref.

Textures have one level of detail; what asks for another gets that one.
"""

from llvmlite import ir

from lockstep.frontend.exec.lanes import texture as lanes
from lockstep.frontend.exec.lanes.builder import HALF, POINTER, WORD
from lockstep.frontend.exec.lanes.texture import Coordinates, Handles
from lockstep.frontend.exec.lanes.types import I64, PRED, Value
from lockstep.frontend.exec.ptx.lift import Lift
from lockstep.frontend.exec.ptx.opcodes import opcode
from lockstep.frontend.exec.ptx.operands import elements
from lockstep.frontend.exec.state import Window
from lockstep.isa.ptx.syntax import Instruction, Memory, Pair, Symbol

_GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}
_SHAPES = "{" + ",".join(_GEOMETRIES) + "}"
_RESULTS = ("v4.{f32,u32,s32}", "v2.f16x2")


def handles_of(lift: Lift, memory: Memory) -> Handles:
    """The textures that an operand names."""
    if len(memory.extra) > 1:
        raise lift.refuse("samplers apart from textures are not supported")
    base = memory.base
    value = _referred(lift, base.name) if isinstance(base, Symbol) else lift.read(base, "u64")
    return Handles(value, ir.Constant(WORD, lift.site(Window.TEXTURE)))


def _referred(lift: Lift, name: str) -> Value:
    """The handle that a reference holds: a variable of the module, or a parameter."""
    b, layout = lift.b, lift.layout
    window = layout.window(lift.function, name)
    address = b.ir.extract_element(layout.address(lift, name, 0).ir, ir.Constant(HALF, 0))
    if window == Window.PARAMETER:
        address = b.ir.add(address, b.field("launch", "parameters"))
    elif window != Window.GLOBAL:
        raise lift.refuse(f"{name} is no texture or surface reference")
    return b.splat(b.ir.load(b.ir.inttoptr(address, POINTER), typ=WORD, align=8), I64)


def geometry_of(i: Instruction) -> str:
    """1d, 2d, 3d, a1d or a2d."""
    return next(w for w in i.modifiers if w in _GEOMETRIES)


def coordinates_of(lift: Lift, i: Instruction, memory: Memory, kind: str) -> Coordinates:
    """The coordinates of a texture operand; a layer comes first."""
    geometry = geometry_of(i)
    operands = elements(memory.extra[-1])
    layer = lift.read(operands[0], "u32") if geometry[0] == "a" else None
    rest = operands[1 if layer else 0 :][: _GEOMETRIES[geometry]]
    return Coordinates(tuple(lift.read(o, kind) for o in rest), layer)


def _write(lift: Lift, i: Instruction, results: list[Value]) -> None:
    """The four channels, as the words or pairs of f16 that are asked for."""
    target = i.operands[0]
    if isinstance(target, Pair):  # all of a texture is resident
        lift.write(target.second, lift.b.constant(PRED, 1))
        target = target.first
    if "f16x2" in i.modifiers:
        results = lanes.halves(lift.b, results)
    for operand, value in zip(elements(target), results):
        lift.write(operand, value)


@opcode(
    *(f"tex.{_SHAPES}.{r}.{{f32,s32}}" for r in _RESULTS),
    *(f"tex.{{level,grad}}.{_SHAPES}.{r}.f32" for r in _RESULTS),
)
def sample(lift: Lift, i: Instruction) -> None:
    memory = i.operands[1]
    at = coordinates_of(lift, i, memory, i.modifiers[-1])
    results, address = lanes.sample(lift.b, handles_of(lift, memory), at)
    lift.record_addresses(address)
    _write(lift, i, results)


@opcode("tld4.{r,g,b,a}.{2d,a2d}.v4.{f32,u32,s32}.f32")
def gather(lift: Lift, i: Instruction) -> None:
    memory = i.operands[1]
    at = coordinates_of(lift, i, memory, "f32")
    channel = "rgba".index(i.modifiers[0])
    results, address = lanes.sample(lift.b, handles_of(lift, memory), at, channel)
    lift.record_addresses(address)
    _write(lift, i, results)


_QUERIES = {
    "width": "width",
    "height": "height",
    "depth": "depth",
    "array_size": "depth",
    "normalized_coords": "normalized",
}


@opcode("txq[.level].{width,height,depth}.b32", "txq.{array_size,normalized_coords}.b32")
@opcode("suq.{width,height,depth,array_size}.b32")
def query(lift: Lift, i: Instruction) -> None:
    field = next(_QUERIES[w] for w in i.modifiers if w in _QUERIES)
    lift.write(i.operands[0], lanes.query(lift.b, handles_of(lift, i.operands[1]), field))
