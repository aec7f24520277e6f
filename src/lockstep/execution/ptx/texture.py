"""Textures: tex, tld4, txq; handles are 64-bit values, or the content of a module's .texref.

A sampler may be named apart from the texture.
"""

from collections.abc import Sequence

from llvmlite import ir

from lockstep.execution.lanes import texture as lanes
from lockstep.execution.lanes.builder import HALF, POINTER, WORD
from lockstep.execution.lanes.filtering import Coordinates
from lockstep.execution.lanes.handles import Handles
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.levels import Detail
from lockstep.execution.lanes.types import I16, I32, I64, PRED, Value
from lockstep.execution.memory.textures import MAGIC, SAMPLER_MAGIC, AddressMode
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import elements
from lockstep.execution.state import Window
from lockstep.isa.ptx.syntax import Instruction, Memory, Operand, Pair, Symbol, Vector

_GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_GEOMETRIES |= {"2dms": 2, "a2dms": 2}
_SHAPES = "{1d,2d,3d,a1d,a2d}"
_CUBES = "{cube,acube}"
_RESULTS = ("v4.{f32,u32,s32,f16}", "v2.f16x2")


def handles_of(lift: Lift, memory: Memory) -> Handles:
    """The textures, or surfaces, that an operand names, and the samplers if it names them."""
    textures = _handle(lift, memory.base)
    samplers = _handle(lift, memory.extra[0]) if len(memory.extra) > 1 else None
    return Handles(textures, ir.Constant(WORD, lift.site(Window.TEXTURE)), samplers)


def _handle(lift: Lift, operand: Operand) -> Value:
    if isinstance(operand, Symbol):
        return _referred(lift, operand.name)
    return lift.read(operand, "u64")


def _referred(lift: Lift, name: str) -> Value:
    """The handle that a reference holds: a variable of the module, or a parameter."""
    b, layout = lift.b, lift.layout
    window = layout.window(lift.function, name)
    address = b.ir.extract_element(lift.address(name, 0).ir, ir.Constant(HALF, 0))
    if window == Window.PARAMETER:
        address = b.ir.add(address, b.field("launch", "parameters"))
    elif window != Window.GLOBAL:
        raise lift.refuse(f"{name} is no texture or surface reference")
    return b.splat(b.ir.load(b.ir.inttoptr(address, POINTER), typ=WORD, align=8), I64)


def geometry_of(i: Instruction) -> str:
    """1d, 2d, 3d, a1d, a2d, cube, acube, 2dms or a2dms."""
    return next(w for w in i.modifiers if w in _GEOMETRIES)


def coordinates_of(
    lift: Lift, i: Instruction, memory: Operand, kind: str, more: Sequence[Operand] = ()
) -> Coordinates:
    """The coordinates of a texture operand; before them a layer, and before that a sample.

    ``more``: a vector of offsets and a depth, if there are any. Of the sample and the layer ptxas
    takes the sample first, as one sentence of the manual has it; its example has the layer first.
    """
    if not isinstance(memory, Memory):
        raise lift.refuse(f"{i.name} needs a texture or surface and coordinates in brackets")
    geometry = geometry_of(i)
    offsets, depth = _offsets_and_depth(lift, i, more)
    operands = list(elements(memory.extra[-1])) if memory.extra else []
    axes = _GEOMETRIES[geometry]
    before = [geometry.endswith("ms"), geometry[0] == "a"]
    if len(operands) < axes + sum(before):
        raise lift.refuse(f"{i.name} needs {axes + sum(before)} coordinates")
    sample, layer = (lift.read(operands.pop(0), "u32") if has else None for has in before)
    values = tuple(lift.read(o, kind) for o in operands[:axes])
    further = () if offsets is None else elements(offsets)[:axes]
    if offsets is not None and len(further) < axes:
        raise lift.refuse(f"{i.name} needs {axes} offsets")
    moved = tuple(lift.read(o, "s32") for o in further)
    return Coordinates(values, layer, moved, geometry.endswith("cube"), sample, depth)


def _offsets_and_depth(
    lift: Lift, i: Instruction, operands: Sequence[Operand]
) -> tuple[Vector | None, Value | None]:
    """What follows the coordinates, and the level if there is one."""
    left, geometry = list(operands), geometry_of(i)
    offsets = left.pop(0) if left and isinstance(left[0], Vector) else None
    if offsets is not None and geometry.endswith("cube"):
        raise lift.refuse(f"{i.name} takes no offsets")
    if not left:
        return offsets, None
    if len(left) > 1 or i.modifiers[-1] != "f32" or geometry == "3d":
        raise lift.refuse(f"{i.name} compares no depths")
    return offsets, lift.read(left[0], "f32")


def _write(lift: Lift, i: Instruction, results: list[Value]) -> None:
    """The four channels, as the words, halves or pairs of halves that are asked for."""
    target = i.operands[0]
    if isinstance(target, Pair):  # all of a texture is resident
        lift.write(target.second, lift.b.constant(PRED, 1))
        target = target.first
    if "f16x2" in i.modifiers:
        results = lanes.halves(lift.b, results)
    elif "f16" in i.modifiers:
        results = [resize(lift.b, lanes.halves(lift.b, [r])[0], I16) for r in results]
    for operand, value in zip(elements(target), results):
        lift.write(operand, value)


def _sample(
    lift: Lift,
    i: Instruction,
    detail: Detail | None = None,
    corners: int | None = None,
    behind: int = 2,
) -> None:
    """``behind``: where the operands begin that may be absent."""
    memory = i.operands[1]
    at = coordinates_of(lift, i, memory, i.modifiers[-1], i.operands[behind:])
    results, address = lanes.sample(lift.b, handles_of(lift, memory), at, detail, corners)
    lift.record_addresses(address)
    _write(lift, i, results)


@opcode(
    *(f"tex[.base].{_SHAPES}.{r}.{{f32,s32}}" for r in _RESULTS),
    *(f"tex[.base].{_CUBES}.{r}.f32" for r in _RESULTS),
    *(f"tex[.base].{{2dms,a2dms}}.{r}.s32" for r in _RESULTS),
)
def sample(lift: Lift, i: Instruction) -> None:
    _sample(lift, i)


@opcode(
    *(f"tex.level.{_SHAPES}.{r}.{{f32,s32}}" for r in _RESULTS),
    *(f"tex.level.{_CUBES}.{r}.f32" for r in _RESULTS),
)
def sample_level(lift: Lift, i: Instruction) -> None:
    _sample(lift, i, Detail(lift.read(i.operands[2], i.modifiers[-1])), behind=3)


@opcode(
    *(f"tex.grad.{_SHAPES}.{r}.f32" for r in _RESULTS),
    *(f"tex.grad.{_CUBES}.{r}.f32" for r in _RESULTS),
)
def sample_gradient(lift: Lift, i: Instruction) -> None:
    axes = _GEOMETRIES[geometry_of(i)]
    vectors = [elements(o)[:axes] for o in i.operands[2:4]]
    gradients = tuple(tuple(lift.read(o, "f32") for o in vector) for vector in vectors)
    _sample(lift, i, Detail(gradients=gradients), behind=4)


@opcode("tld4.{r,g,b,a}.{2d,a2d,cube,acube}.v4.{f32,u32,s32}.f32")
def gather(lift: Lift, i: Instruction) -> None:
    _sample(lift, i, corners="rgba".index(i.modifiers[0]))


_QUERIES = {
    "width": "width",
    "height": "height",
    "depth": "depth",
    "array_size": "depth",
    "normalized_coords": "normalized",
    "num_mipmap_levels": "levels",
    "num_samples": "samples",
    "filter_mode": "linear",
    "force_unnormalized_coords": "normalized",
    "addr_mode_0": "address_x",
    "addr_mode_1": "address_y",
    "addr_mode_2": "address_z",
}
_SAMPLERS = (
    "filter_mode",
    "force_unnormalized_coords",
    "addr_mode_0",
    "addr_mode_1",
    "addr_mode_2",
)
_ADDRESSES = {
    AddressMode.WRAP: 0,
    AddressMode.MIRROR: 1,
    AddressMode.CLAMP: 3,
    AddressMode.BORDER: 4,
}
"""The places of address modes in the manual's list; clamp_ogl, 2, does not exist here."""


@opcode("txq[.level].{width,height,depth}.b32", "suq.{width,height,depth,array_size}.b32")
@opcode("txq.{array_size,normalized_coords,num_mipmap_levels,num_samples}.b32")
@opcode("txq.{filter_mode,force_unnormalized_coords,addr_mode_0,addr_mode_1,addr_mode_2}.b32")
def query(lift: Lift, i: Instruction) -> None:
    b, memory, word = lift.b, i.operands[1], next(w for w in i.modifiers if w in _QUERIES)
    if not isinstance(memory, Memory):
        raise lift.refuse(f"{i.name} needs a texture, surface or sampler in brackets")
    level = lift.read(i.operands[2], "u32") if "level" in i.modifiers else None
    what = SAMPLER_MAGIC if word in _SAMPLERS and _is_sampler(lift, memory) else MAGIC
    value = lanes.query(b, handles_of(lift, memory), _QUERIES[word], level, what)
    if word.startswith("addr_mode"):
        value = _address_mode(lift, value)
    if word.startswith("force"):
        value = Value(b.ir.xor(value.ir, b.constant(I32, 1).ir), I32)
    lift.write(i.operands[0], value)


def _is_sampler(lift: Lift, memory: Memory) -> bool:
    """Whether an operand names a sampler apart from textures."""
    if not isinstance(memory.base, Symbol):
        return "texmode_independent" in lift.module.target
    variables = [*lift.module.variables.values(), *lift.function.parameters]
    return any(v.name == memory.base.name and v.type == "samplerref" for v in variables)


def _address_mode(lift: Lift, mode: Value) -> Value:
    b, found = lift.b, lift.b.constant(I32, 0)
    for own, place in _ADDRESSES.items():
        is_it = Value(b.ir.icmp_unsigned("==", mode.ir, b.constant(I32, own).ir), PRED)
        found = b.select(is_it, b.constant(I32, place), found)
    return found


@opcode("suq.memory_layout.b32")
def layout_of_surface(lift: Lift, i: Instruction) -> None:
    """Surfaces are of CUDA arrays, whose elements do not lie one after the other."""
    lift.write(i.operands[0], lift.b.constant(I32, 0))


@opcode("istypep.{texref,samplerref,surfref}")
def is_reference(lift: Lift, i: Instruction) -> None:
    """Whether an address is that of one of the module's references."""
    b, layout = lift.b, lift.layout
    address, found = lift.read(i.operands[1], "u64"), b.constant(PRED, 0).ir
    for name, variable in layout.module.variables.items():
        if variable.type == i.modifiers[0]:
            same = b.ir.icmp_unsigned("==", address.ir, lift.address(name, 0).ir)
            found = b.ir.or_(found, same)
    lift.write(i.operands[0], Value(found, PRED))
