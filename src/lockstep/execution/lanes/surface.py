"""Surfaces: elements of textures, read and written by their place in bytes."""

import msgspec
from llvmlite import ir

from lockstep.execution.lanes import written
from lockstep.execution.lanes.addresses import Access, refuse
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.builder import POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.fetch import Texture
from lockstep.execution.lanes.filtering import Coordinates
from lockstep.execution.lanes.flow import Values, element, lanes_in_order, spill
from lockstep.execution.lanes.gathering import gather, scatter
from lockstep.execution.lanes.handles import Handles, for_each_texture, keys_of
from lockstep.execution.lanes.numbers import store_number
from lockstep.execution.lanes.types import I32, I64, INTEGERS, PRED, Type, Value
from lockstep.execution.memory.textures import Number
from lockstep.execution.state import Window


class Spot(msgspec.Struct, frozen=True):
    """Bytes of surfaces that lanes access.

    ``at``: x in bytes, and y and z or the layer (i32). ``bytes``: of one lane; 0 says that x is in
    elements. ``outside``: trap, clamp or zero. ``trap``: the site that reports lanes outside.
    """

    handles: Handles
    at: Coordinates
    bytes: int
    outside: str
    trap: ir.Value

    @property
    def name(self) -> str:
        """Distinguishes accesses for which different code is needed."""
        return f"{self.at.name}_{self.bytes}_{self.outside}"

    @property
    def operands(self) -> list[Value]:
        """What an outlined function needs besides the handles."""
        layer = [self.at.layer] if self.at.layer else []
        return [*self.at.values, *layer]


def load(b: LaneBuilder, spot: Spot, kind: Type, count: int) -> tuple[list[Value], Value]:
    """``count`` elements for each active lane, zeros outside; and their addresses (i64)."""
    kind = INTEGERS[kind.bits]

    def one(inner: LaneBuilder, texture: Texture, *values: ir.Value) -> Values:
        address, exists = _find(inner, texture, spot, values)
        results = []
        for k in range(count):
            with inner.guarded(exists):
                found = gather(inner, _further(inner, address, k * kind.bytes), kind)
            results.append(inner.ir.select(exists.ir, found, inner.constant(kind, 0).ir))
        return [*results, address.ir]

    name = f"surface_load_{spot.name}_{kind.name}"
    *found, address = for_each_texture(
        b,
        name,
        keys_of(b, spot.handles),
        [*spot.operands, _site(b, spot)],
        [*[kind] * count, I64],
        one,
    )
    return found, address


def store(b: LaneBuilder, spot: Spot, values: list[Value]) -> Value:
    """Write elements; their addresses (i64). Nothing is written outside."""
    kind = INTEGERS[values[0].type.bits]
    words = [b.cast(v, kind) for v in values]
    places = len(spot.operands) + 1

    def one(inner: LaneBuilder, texture: Texture, *arguments: ir.Value) -> Values:
        address, exists = _find(inner, texture, spot, arguments[:places])
        with inner.guarded(exists):
            for k, value in enumerate(arguments[places:]):
                place = _further(inner, address, k * kind.bytes)
                written.write_at(inner, place, kind.bytes)
                scatter(inner, place, Value(value, kind))
        return [address.ir]

    name = f"surface_store_{spot.name}_{kind.name}"
    arguments = [*spot.operands, _site(b, spot), *words]
    return for_each_texture(b, name, keys_of(b, spot.handles), arguments, [I64], one)[0]


def store_formatted(b: LaneBuilder, spot: Spot, values: list[Value]) -> Value:
    """Write channels (i32, or f32 as i32) as numbers of the surface; the addresses (i64).

    Channels that elements do not have are dropped, those that are not given keep what they hold.
    """
    places = len(spot.operands) + 1

    def one(inner: LaneBuilder, texture: Texture, *arguments: ir.Value) -> Values:
        address, exists = _find(inner, texture, spot, arguments[:places])
        with inner.guarded(exists):
            for k, value in enumerate(arguments[places:]):
                store_number(inner, texture, address, k, Value(value, I32))
        return [address.ir]

    name = f"surface_store_{spot.name}_formatted{len(values)}"
    arguments = [*spot.operands, _site(b, spot), *values]
    return for_each_texture(b, name, keys_of(b, spot.handles), arguments, [I64], one)[0]


def reduce(
    b: LaneBuilder,
    spot: Spot,
    combine: Combination,
    value: Value,
    if_signed: Combination | None = None,
) -> Value:
    """Combine an element with a value, lane after lane; the addresses (i64).

    ``if_signed`` is what is done to signed numbers, if that is something else.
    """
    kind = combine.stored
    places = len(spot.operands) + 1

    def one(inner: LaneBuilder, texture: Texture, *arguments: ir.Value) -> Values:
        address, exists = _find(inner, texture, spot, arguments[:places])
        hosts, operands = spill(inner, address.ir), spill(inner, arguments[places])
        with inner.guarded(exists), lanes_in_order(inner) as lane:
            place = inner.ir.load(element(inner, hosts, WORD, lane), typ=WORD)
            place = inner.ir.inttoptr(place, POINTER)
            new = inner.ir.load(element(inner, operands, kind.element, lane), typ=kind.element)
            old = inner.ir.load(place, typ=kind.element, align=kind.bytes)
            no = ir.Constant(ir.IntType(1), 0)
            result = combine(inner, old, [new], no)
            if if_signed is not None:
                other = if_signed(inner, old, [new], no)
                signed = texture.holds("number", Number.SIGNED)
                result = inner.ir.select(signed, other, result)
            inner.ir.store(result, place, align=kind.bytes)
        return [address.ir]

    name = f"surface_{combine.name}_{spot.name}"
    arguments = [*spot.operands, _site(b, spot), b.cast(value, kind)]
    return for_each_texture(b, name, keys_of(b, spot.handles), arguments, [I64], one)[0]


def _site(b: LaneBuilder, spot: Spot) -> Value:
    return b.splat(spot.trap, I64)


def _further(b: LaneBuilder, host: Value, size: int) -> Value:
    return Value(b.ir.add(host.ir, b.constant(I64, size).ir), I64)


def _find(b: LaneBuilder, texture: Texture, spot: Spot, values: Values) -> tuple[Value, Value]:
    """Host addresses, and the lanes that are inside; others have an address inside too."""
    *places, site = values
    axes, step = list(places), None
    if spot.bytes:
        axes[0] = b.ir.and_(axes[0], b.constant(I32, -spot.bytes).ir)
        last = b.constant(I32, spot.bytes - 1).ir
        limits = [b.ir.sub(texture.number("row_bytes").ir, last)]
    else:
        limits = [texture.number("width").ir]
        step = b.ir.mul(texture.field("channels"), texture.field("number_bytes"))
    names = ["height", "depth"] if spot.at.layer is None or len(axes) > 2 else ["depth"]
    limits += [texture.number(n).ir for n in names]
    address, exists = b.splat(texture.field("data"), I64).ir, b.constant(PRED, 1).ir
    fields = ("row_bytes" if n == "height" else "slice_bytes" for n in names)
    steps = [step, *(texture.field(f) for f in fields)]
    for index, limit, step in zip(axes, limits, steps):
        inside = b.ir.icmp_unsigned("<", index, limit)
        exists = b.ir.and_(exists, inside)
        place = b.ir.zext(_clamped(b, index, limit), b.vector(I64))
        if step is not None:
            place = b.ir.mul(place, b.splat(step, I64).ir)
        address = b.ir.add(address, place)
    if spot.outside == "trap":
        handles = b.splat(texture.record, I64)
        bad = Access(Window.GLOBAL, handles, 1, b.ir.extract_element(site, _FIRST))
        refuse(b, bad, Value(b.ir.not_(exists), PRED))
    if spot.outside == "clamp":
        exists = b.constant(PRED, 1).ir
    if spot.bytes:
        address = b.ir.and_(address, b.constant(I64, -spot.bytes).ir)
    return Value(address, I64), Value(exists, PRED)


_FIRST = ir.Constant(ir.IntType(32), 0)


def _clamped(b: LaneBuilder, index: ir.Value, limit: ir.Value) -> ir.Value:
    last = b.ir.sub(limit, b.constant(I32, 1).ir)
    low = b.elementwise("smin", Value(index, I32), Value(last, I32))
    return b.elementwise("smax", low, b.constant(I32, 0)).ir
