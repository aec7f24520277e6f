"""Operations across the lanes of a warp: shuffles, votes, matches, reductions.

``members`` are the lanes that take part, named by each lane (i32 masks); those of them that are
not active are left out. Lanes that name lanes have warps of WARP_SIZE; :func:`pick`, and members
that are constants, are for warps of any width.
"""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.lanes.addresses import lane_numbers
from lockstep.execution.lanes.builder import (
    BIT,
    HALF,
    POINTER,
    LaneBuilder,
    type_suffix,
)
from lockstep.execution.lanes.types import F32, I32, PRED, Value
from lockstep.isa.instruction import WARP_SIZE

NAN = 0x7FFFFFFF
_LAST = WARP_SIZE - 1


# Shuffles


def source_lane(mode: str, lane: int, step: int, limits: int) -> tuple[int, bool]:
    """The lane that a shuffle reads, and whether it is within the limits: PTX's ``shfl``."""
    step, clamp, segment = step & _LAST, limits & _LAST, limits >> 8 & _LAST
    last = (lane & segment) | (clamp & ~segment)
    source = {
        "up": lane - step,
        "down": lane + step,
        "bfly": lane ^ step,
        "idx": (lane & segment) | (step & ~segment & _LAST),
    }[mode]
    inside = source >= last if mode == "up" else source <= last
    return (source, True) if inside else (lane, False)


def shuffle_by_constants(
    b: LaneBuilder, mode: str, value: Value, step: int, limits: int
) -> tuple[Value, Value]:
    """Each lane's element of the lane it reads, and whether that is within the limits."""
    sources = [source_lane(mode, lane, step, limits) for lane in range(WARP_SIZE)]
    order = ir.Constant(ir.VectorType(HALF, WARP_SIZE), [source for source, _ in sources])
    moved = b.ir.shuffle_vector(value.ir, value.ir, order)
    return Value(moved, value.type), b.each(PRED, [int(inside) for _, inside in sources])


def shuffle(
    b: LaneBuilder, mode: str, value: Value, step: Value, limits: Value
) -> tuple[Value, Value]:
    """As :func:`shuffle_by_constants` with a step and limits (i32) that lanes compute."""

    def const(number: int) -> ir.Value:
        return b.constant(I32, number).ir

    e, lane = b.ir, lane_numbers(b, I32).ir
    step_bits = e.and_(step.ir, const(_LAST))
    segment = e.and_(e.lshr(limits.ir, const(8)), const(_LAST))
    inner = e.and_(e.not_(segment), const(_LAST))
    last = e.or_(e.and_(lane, segment), e.and_(limits.ir, inner))
    source = {
        "up": lambda: e.sub(lane, step_bits),
        "down": lambda: e.add(lane, step_bits),
        "bfly": lambda: e.xor(lane, step_bits),
        "idx": lambda: e.or_(e.and_(lane, segment), e.and_(step_bits, inner)),
    }[mode]()
    inside = e.icmp_signed(">=" if mode == "up" else "<=", source, last)
    source = e.select(inside, source, lane)
    return pick(b, value, Value(source, I32)), Value(inside, PRED)


def pick(b: LaneBuilder, value: Value, source: Value) -> Value:
    """Each lane's element of the lane (i32) that it names."""
    vector = b.vector(value.type)

    def emit(function: ir.Function) -> None:
        e = ir.IRBuilder(function.append_basic_block("entry"))
        elements, lanes = function.args
        place = e.alloca(vector)
        place.align = 64
        e.store(elements, place, align=64)
        pointers = e.gep(place, [lanes], source_etype=value.type.element)
        pointers.type = ir.VectorType(POINTER, b.lanes)
        everyone = ir.Constant(ir.VectorType(BIT, b.lanes), [1] * b.lanes)
        align = ir.Constant(HALF, value.type.bytes)
        arguments = [pointers, align, everyone, ir.Constant(vector, ir.Undefined)]
        name = f"llvm.masked.gather.{type_suffix(vector)}.v{b.lanes}p0"
        kinds = [a.type for a in arguments]
        gather = function.module.declared(name, ir.FunctionType(vector, kinds))
        e.ret(e.call(gather, arguments))

    signature = ir.FunctionType(vector, [vector, b.vector(I32)])
    function = b.module.routine(f"pick_{value.type.name}", signature, emit)
    return Value(b.ir.call(function, [value.ir, source.ir]), value.type)


# Votes and matches


def present(b: LaneBuilder, members: Value) -> Value:
    """The members that are active, as a mask in each lane."""
    return Value(b.ir.and_(b.splat(b.bits_of(b.active), I32).ir, members.ir), I32)


def ballot(b: LaneBuilder, predicate: Value, members: Value) -> Value:
    """The members for which a predicate holds, as a mask in each lane."""
    holds = b.ir.and_(b.bits_of(predicate), b.bits_of(b.active))
    return Value(b.ir.and_(b.splat(holds, I32).ir, members.ir), I32)


def vote(b: LaneBuilder, mode: str, predicate: Value, members: Value) -> Value:
    """Whether a predicate holds for all or any of the members, or is the same for them (uni)."""
    holds = ballot(b, predicate, members).ir
    nobody = b.ir.icmp_unsigned("==", holds, b.constant(I32, 0).ir)
    everyone = b.ir.icmp_unsigned("==", holds, present(b, members).ir)
    result = {
        "all": lambda: everyone,
        "any": lambda: b.ir.not_(nobody),
        "uni": lambda: b.ir.or_(nobody, everyone),
    }[mode]()
    return Value(result, PRED)


def match_any(b: LaneBuilder, value: Value, members: Value) -> Value:
    """The members whose value is the same as the lane's own, as a mask in each lane."""
    name = f"equals_{value.type.name}"
    signature = ir.FunctionType(b.vector(I32), [b.mask_type, b.vector(value.type)])
    function = b.module.routine(name, signature, lambda own: _emit_equals(b, own))
    equal = b.ir.call(function, [b.bits_of(b.active), value.ir])
    return Value(b.ir.and_(equal, members.ir), I32)


def _emit_equals(b: LaneBuilder, function: ir.Function) -> None:
    """A loop over distinct values: the lanes of a mask that have each lane's value."""
    e = ir.IRBuilder(function.append_basic_block("entry"))
    bits, value = function.args
    masks, order = b.vector(I32), ir.VectorType(HALF, WARP_SIZE)
    start = e.block
    head, body, done = (function.append_basic_block(n) for n in ("head", "body", "done"))
    e.branch(head)
    e.position_at_end(head)
    left, result = e.phi(b.mask_type), e.phi(masks)
    left.add_incoming(bits, start)
    result.add_incoming(ir.Constant(masks, [0] * WARP_SIZE), start)
    e.cbranch(e.icmp_unsigned("!=", left, ir.Constant(b.mask_type, 0)), body, done)
    e.position_at_end(body)
    count = function.module.declared("llvm.cttz.i32", ir.FunctionType(HALF, [HALF, BIT]))
    first = e.extract_element(value, e.call(count, [left, ir.Constant(BIT, 1)]))
    undefined = ir.Constant(value.type, ir.Undefined)
    one = e.insert_element(undefined, first, ir.Constant(HALF, 0))
    same = e.icmp_unsigned(
        "==", value, e.shuffle_vector(one, undefined, ir.Constant(order, [0] * WARP_SIZE))
    )
    equal = e.and_(e.bitcast(same, b.mask_type), bits)
    none = ir.Constant(masks, ir.Undefined)
    spread = e.insert_element(none, equal, ir.Constant(HALF, 0))
    spread = e.shuffle_vector(spread, none, ir.Constant(order, [0] * WARP_SIZE))
    result.add_incoming(e.select(same, spread, result), body)
    left.add_incoming(e.and_(left, e.not_(equal)), body)
    e.branch(head)
    e.position_at_end(done)
    e.ret(result)


def match_all(b: LaneBuilder, value: Value, members: Value) -> tuple[Value, Value]:
    """The members if all have one value, else 0; and whether they have."""
    everyone = present(b, members)
    agree = b.ir.icmp_unsigned("==", match_any(b, value, members).ir, everyone.ir)
    mask = b.ir.select(agree, everyone.ir, b.constant(I32, 0).ir)
    return Value(mask, I32), Value(agree, PRED)


def elect(b: LaneBuilder, members: Value) -> tuple[Value, Value]:
    """The lowest of the members, and whether it is the lane itself."""
    vector = b.vector(I32)
    candidates = present(b, members).ir
    arguments = [candidates, ir.Constant(BIT, 0)]
    leader = b.intrinsic(f"llvm.cttz.{type_suffix(vector)}", vector, arguments)
    own = b.ir.icmp_unsigned("==", leader, lane_numbers(b, I32).ir)
    return Value(leader, I32), Value(own, PRED)


# Reductions

_NEUTRAL = {
    "add": 0,
    "or": 0,
    "xor": 0,
    "and": -1,
    "umin": -1,
    "umax": 0,
    "smin": 0x7FFFFFFF,
    "smax": -0x80000000,
}


def reduce(b: LaneBuilder, operation: str, value: Value, members: Value | int) -> Value:
    """The reduction of the members' values (i32) by an operation of ``_NEUTRAL``."""
    return _by_members(b, members, lambda lanes: _reduced(b, operation, value, lanes))


def _reduced(b: LaneBuilder, operation: str, value: Value, lanes: Value) -> ir.Value:
    vector = b.vector(value.type)
    filled = b.select(lanes, value, b.constant(value.type, _NEUTRAL[operation]))
    name = f"llvm.vector.reduce.{operation}.{type_suffix(vector)}"
    return b.intrinsic(name, value.type.element, [filled.ir])


def reduce_float(
    b: LaneBuilder, smallest: bool, value: Value, members: Value | int, nan: bool
) -> Value:
    """The least or largest of the members' f32 values; -0 is less than +0.

    NaNs are left out, but are the result if there is nothing else, or if ``nan`` is set.
    """
    bits = b.cast(value, I32)
    number = Value(b.ir.fcmp_ordered("ord", value.ir, value.ir), PRED)
    ordered = _mirrored(b, bits)

    def emit(lanes: Value) -> ir.Value:
        numbers = Value(b.ir.and_(lanes.ir, number.ir), PRED)
        best = _reduced(b, "smin" if smallest else "smax", ordered, numbers)
        if nan:
            others = Value(b.ir.and_(lanes.ir, b.ir.not_(number.ir)), PRED)
            invalid = b.any(others)
        else:
            invalid = b.ir.not_(b.any(numbers))
        sign = b.ir.ashr(best, ir.Constant(HALF, 31))
        pattern = b.ir.xor(best, b.ir.lshr(sign, ir.Constant(HALF, 1)))
        return b.ir.select(invalid, ir.Constant(HALF, NAN), pattern)

    return b.cast(_by_members(b, members, emit), F32)


def _mirrored(b: LaneBuilder, bits: Value) -> Value:
    """Patterns of f32 as integers in the order of the numbers."""
    sign = b.ir.ashr(bits.ir, b.constant(I32, 31).ir)
    return Value(b.ir.xor(bits.ir, b.ir.lshr(sign, b.constant(I32, 1).ir)), I32)


def _by_members(b: LaneBuilder, members: Value | int, emit: Callable[[Value], ir.Value]) -> Value:
    """A scalar (i32) of the active members in each lane: once for each distinct member mask."""
    if isinstance(members, int):
        mask = ir.Constant(b.mask_type, members & (1 << b.lanes) - 1)
        lanes = b.lanes_of(b.ir.and_(b.bits_of(b.active), mask))
        return b.splat(emit(lanes), I32)
    before, active = b.ir.block, b.bits_of(b.active)
    head, body, done = (b.function.append_basic_block(n) for n in ("masks", "mask", "reduced"))
    b.ir.branch(head)
    b.ir.position_at_end(head)
    left, result = b.ir.phi(b.mask_type), b.ir.phi(b.vector(I32))
    left.add_incoming(active, before)
    result.add_incoming(ir.Constant(b.vector(I32), [0] * WARP_SIZE), before)
    b.ir.cbranch(b.some(left), body, done)
    b.ir.position_at_end(body)
    lane = b.lowest(left)
    mask = b.ir.extract_element(members.ir, lane)
    value = b.splat(emit(b.lanes_of(b.ir.and_(active, mask))), I32)
    same = b.ir.icmp_unsigned("==", members.ir, b.splat(mask, I32).ir)
    result.add_incoming(b.ir.select(same, value.ir, result), b.ir.block)
    left.add_incoming(b.ir.and_(left, b.ir.not_(b.bits(same))), b.ir.block)
    b.ir.branch(head)
    b.ir.position_at_end(done)
    return Value(result, I32)
