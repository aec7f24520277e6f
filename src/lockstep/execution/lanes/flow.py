"""Control flow inside a block: two ways to the same values, loops over lanes, routines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from llvmlite import ir

from lockstep.execution.lanes.builder import BIT, HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.types import I64

Values = list[ir.Value]


def either(
    b: LaneBuilder, condition: ir.Value, yes: Callable[[], Values], no: Callable[[], Values]
) -> Values:
    """What ``yes`` emits where a scalar condition holds, else what ``no`` does."""
    places = [b.function.append_basic_block(n) for n in ("yes", "no", "met")]
    b.ir.cbranch(condition, *places[:2])
    results, ends = [], []
    for place, emit in zip(places, (yes, no)):
        b.ir.position_at_end(place)
        results.append(emit())
        ends.append(b.ir.block)
        b.ir.branch(places[2])
    b.ir.position_at_end(places[2])
    return [_merge(b, pair, ends) for pair in zip(*results)]


def _merge(b: LaneBuilder, values: tuple[ir.Value, ...], ends: list[ir.Block]) -> ir.Value:
    merged = b.ir.phi(values[0].type)
    for value, end in zip(values, ends):
        merged.add_incoming(value, end)
    return merged


def outlined(
    b: LaneBuilder,
    name: str,
    results: list[ir.Type],
    arguments: Values,
    emit: Callable[..., Values],
    faults: bool = True,
) -> Values:
    """Call a routine that works on the active lanes: see :meth:`LaneModule.routine`.

    ``emit(builder, *arguments)`` gives the results. ``faults``: it may find a fault, which ends
    the calling block too.
    """
    shape = ir.LiteralStructType([*results, BIT])
    kind = ir.FunctionType(shape, [POINTER, b.mask_type, *(a.type for a in arguments)])
    function = b.module.routine(
        name, kind, lambda own: _define(LaneBuilder(own.module, own), shape, emit)
    )
    packed = b.ir.call(function, [b.warp, b.bits_of(b.active), *arguments])
    if faults:
        b.fail_if(b.ir.extract_value(packed, len(results)))
    return [b.ir.extract_value(packed, k) for k in range(len(results))]


def _define(b: LaneBuilder, shape: ir.LiteralStructType, emit: Callable[..., Values]) -> None:
    """Emit a function whose last result says whether there was a fault."""
    undefined = [ir.Constant(t, ir.Undefined) for t in shape.elements[:-1]]
    b.failure = ir.Constant(shape, [*undefined, ir.Constant(BIT, 1)])
    packed = ir.Constant(shape, ir.Undefined)
    for k, value in enumerate([*emit(b, *b.function.args[2:]), ir.Constant(BIT, 0)]):
        packed = b.ir.insert_value(packed, value, k)
    b.ir.ret(packed)


@contextmanager
def lanes_in_order(b: LaneBuilder) -> Iterator[ir.Value]:
    """A loop over the active lanes, lowest first; yields the lane number (i32)."""
    before = b.ir.block
    head, body, after = (b.function.append_basic_block(n) for n in ("lanes", "lane", "done"))
    bits = b.bits_of(b.active)
    b.ir.branch(head)
    b.ir.position_at_end(head)
    left = b.ir.phi(b.mask_type)
    left.add_incoming(bits, before)
    b.ir.cbranch(b.some(left), body, after)
    b.ir.position_at_end(body)
    lane = b.lowest(left)
    yield lane
    left.add_incoming(b.without_lowest(left), b.ir.block)
    b.ir.branch(head)
    b.ir.position_at_end(after)


@contextmanager
def value_by_value(b: LaneBuilder, values: ir.Value) -> Iterator[ir.Value]:
    """A loop over the different values (i64) that active lanes have; ``active`` are their lanes.

    Yields the value.
    """
    before, everyone = b.ir.block, b.active
    head, body, after = (b.function.append_basic_block(n) for n in ("values", "value", "all"))
    bits, place = b.bits_of(everyone), spill(b, values)
    b.ir.branch(head)
    b.ir.position_at_end(head)
    left = b.ir.phi(b.mask_type)
    left.add_incoming(bits, before)
    b.ir.cbranch(b.some(left), body, after)
    b.ir.position_at_end(body)
    lane = b.lowest(left)
    value = b.ir.load(element(b, place, WORD, lane), typ=WORD)
    same = b.ir.icmp_unsigned("==", values, b.splat(value, I64).ir)
    here = b.ir.and_(b.bits(same), left)
    b.active = b.lanes_of(here)
    yield value
    b.active = everyone
    left.add_incoming(b.ir.and_(left, b.ir.not_(here)), b.ir.block)
    b.ir.branch(head)
    b.ir.position_at_end(after)


@contextmanager
def counted(b: LaneBuilder, count: ir.Value) -> Iterator[ir.Value]:
    """A loop that runs ``count`` (i32) times, maybe never; yields the number of the turn."""
    before = b.ir.block
    head, body, after = (b.function.append_basic_block(n) for n in ("turns", "turn", "turned"))
    b.ir.branch(head)
    b.ir.position_at_end(head)
    k = b.ir.phi(HALF)
    k.add_incoming(ir.Constant(HALF, 0), before)
    b.ir.cbranch(b.ir.icmp_unsigned("<", k, count), body, after)
    b.ir.position_at_end(body)
    yield k
    k.add_incoming(b.ir.add(k, ir.Constant(HALF, 1)), b.ir.block)
    b.ir.branch(head)
    b.ir.position_at_end(after)


def spill(b: LaneBuilder, vector: ir.Value) -> ir.Value:
    """A lane vector in the function's stack frame, to pick lanes from: the pointer."""
    place = slot(b, vector.type, 64)
    b.ir.store(vector, place, align=64)
    return place


def slot(b: LaneBuilder, kind: ir.Type, alignment: int = 8) -> ir.Value:
    """Room for a value in the function's stack frame: the pointer."""
    with b.at_entry():
        frame = b.ir.alloca(kind)
        frame.align = alignment
        return b.ir.inttoptr(b.ir.ptrtoint(frame, WORD), POINTER)  # one without a type


def element(b: LaneBuilder, place: ir.Value, kind: ir.Type, lane: ir.Value) -> ir.Value:
    """Pointer to one lane of a vector in memory, ``kind`` elements."""
    return b.ir.gep(place, [b.ir.zext(lane, WORD)], source_etype=kind)
