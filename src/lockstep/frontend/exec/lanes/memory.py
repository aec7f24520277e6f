"""Loads and stores of lane vectors: checked addresses, then one access or a gather.

Addresses are 64-bit host addresses, or 32-bit offsets from a base (shared and local memory).
Lanes that access consecutive elements are served by one masked access.
"""

from llvmlite import ir

from lockstep.frontend.exec.lanes.builder import (
    BIT,
    HALF,
    MASK,
    POINTER,
    WORD,
    LaneBuilder,
    type_suffix,
)
from lockstep.frontend.exec.lanes.types import I32, I64, INTEGERS, Type, Value
from lockstep.frontend.exec.state import LANES, SITE


def check_global(b: LaneBuilder, address: Value, size: int, site: int) -> Value:
    """Check active lanes' addresses against the site's allocation; returns host addresses.

    Lanes outside it, misaligned ones and generic addresses of shared and local memory go through
    the runtime, which translates them or ends the launch.
    """
    table = b.ir.inttoptr(b.field("launch", "sites"), POINTER)
    low = b.ir.load(b.offset(table, site * SITE.itemsize), typ=WORD)
    span = b.ir.load(b.offset(table, site * SITE.itemsize + 8), typ=WORD)
    room = b.intrinsic("llvm.usub.sat.i64", WORD, [span, ir.Constant(WORD, size - 1)])
    inside = b.ir.sub(address.ir, b.splat(low, I64).ir)
    bad = b.ir.icmp_unsigned(">=", inside, b.splat(room, I64).ir)
    return _closer_look(b, address, _or_misaligned(b, bad, inside, I64, size), size, site)


def _or_misaligned(b: LaneBuilder, bad: ir.Value, offset: ir.Value, kind: Type, size: int):
    if size == 1:
        return bad
    low_bits = b.ir.and_(offset, b.constant(kind, size - 1).ir)
    return b.ir.or_(bad, b.ir.icmp_unsigned("!=", low_bits, b.constant(kind, 0).ir))


def _closer_look(b: LaneBuilder, address: Value, bad: ir.Value, size: int, site: int) -> Value:
    """Call the runtime if a lane needs it; the addresses that come back."""
    trouble = b.ir.icmp_unsigned(
        "!=", b.ir.and_(b.ir.bitcast(bad, MASK), b.bits_of(b.active)), ir.Constant(MASK, 0)
    )
    before = b.ir.block
    look = b.function.append_basic_block("look")
    go_on = b.function.append_basic_block("checked")
    b.ir.cbranch(trouble, look, go_on).set_weights([1, 1000])
    b.ir.position_at_end(look)
    b.ir.store(address.ir, b.scratch(), align=64)
    fault = b.runtime("check", _check_arguments(b, size, site))
    b.fail_if(b.ir.icmp_unsigned("!=", fault, ir.Constant(WORD, 0)))
    translated = b.load_vector(b.scratch(), I64)
    end = b.ir.block
    b.ir.branch(go_on)
    b.ir.position_at_end(go_on)
    merged = b.ir.phi(b.vector(I64))
    merged.add_incoming(address.ir, before)
    merged.add_incoming(translated.ir, end)
    return Value(merged, I64)


def _check_arguments(b: LaneBuilder, size: int, site: int) -> list[ir.Value]:
    number = b.field("warp", "number")
    mask = b.ir.zext(b.bits_of(b.active), WORD)
    return [number, ir.Constant(WORD, site), ir.Constant(WORD, size), mask]


def check_window(b: LaneBuilder, offset: Value, limit: ir.Value, size: int, site: int) -> None:
    """Check offsets in shared or local memory of ``limit`` bytes; a bad one ends the launch."""
    room = b.intrinsic("llvm.usub.sat.i64", WORD, [limit, ir.Constant(WORD, size - 1)])
    room = b.splat(b.ir.trunc(room, HALF), I32)
    bad = b.ir.icmp_unsigned(">=", offset.ir, room.ir)
    bad = _or_misaligned(b, bad, offset.ir, I32, size)
    trouble = b.ir.and_(b.ir.bitcast(bad, MASK), b.bits_of(b.active))
    look = b.function.append_basic_block("look")
    go_on = b.function.append_basic_block("checked")
    some = b.ir.icmp_unsigned("!=", trouble, ir.Constant(MASK, 0))
    b.ir.cbranch(some, look, go_on).set_weights([1, 1000])
    b.ir.position_at_end(look)
    wide = b.ir.zext(offset.ir, b.vector(I64))
    b.ir.store(wide, b.scratch(), align=64)
    fault = b.runtime("check", _check_arguments(b, size, site))
    b.fail_if(b.ir.icmp_unsigned("!=", fault, ir.Constant(WORD, 0)))
    b.ir.branch(go_on)
    b.ir.position_at_end(go_on)


def lane_numbers(b: LaneBuilder, kind: Type, scale: int = 1) -> Value:
    """``lane * scale`` in every lane."""
    return b.each(kind, [lane * scale for lane in range(LANES)])


def load(b: LaneBuilder, base: ir.Value | None, offset: Value, kind: Type) -> Value:
    """Load one element for each active lane, from checked addresses; others get anything.

    ``base`` is a pointer that 32-bit offsets are relative to, None for 64-bit addresses.
    """
    memory = kind if kind.element == ir.IntType(kind.bits) else INTEGERS[kind.bits]
    first, consecutive = _consecutive(b, base, offset, kind.bytes)
    one = b.function.append_basic_block("consecutive")
    many = b.function.append_basic_block("scattered")
    done = b.function.append_basic_block("loaded")
    b.ir.cbranch(consecutive, one, many)
    b.ir.position_at_end(one)
    wide = _masked_load(b, first, memory)
    b.ir.branch(done)
    b.ir.position_at_end(many)
    scattered = b.ir.call(_gather(b, offset.type, memory), _arguments(b, base, offset))
    b.ir.branch(done)
    b.ir.position_at_end(done)
    merged = b.ir.phi(b.vector(memory))
    merged.add_incoming(wide, one)
    merged.add_incoming(scattered, many)
    return b.cast(Value(merged, memory), kind)


def store(b: LaneBuilder, base: ir.Value | None, offset: Value, value: Value) -> None:
    """Store one element for each active lane; of equal addresses the highest lane wins."""
    value = b.cast(value, INTEGERS[value.type.bits])
    first, consecutive = _consecutive(b, base, offset, value.type.bytes)
    one = b.function.append_basic_block("consecutive")
    many = b.function.append_basic_block("scattered")
    done = b.function.append_basic_block("stored")
    b.ir.cbranch(consecutive, one, many)
    b.ir.position_at_end(one)
    kind = b.vector(value.type)
    align = ir.Constant(HALF, value.type.bytes)
    name = f"llvm.masked.store.{type_suffix(kind)}.p0"
    b.intrinsic(name, ir.VoidType(), [value.ir, first, align, b.active.ir])
    b.ir.branch(done)
    b.ir.position_at_end(many)
    arguments = [*_arguments(b, base, offset), value.ir]
    b.ir.call(_scatter(b, offset.type, value.type), arguments)
    b.ir.branch(done)
    b.ir.position_at_end(done)


def pointers(b: LaneBuilder, base: ir.Value | None, offset: Value) -> ir.Value:
    """The vector of pointers that a base and offsets stand for."""
    if base is None:
        return b.ir.inttoptr(offset.ir, ir.VectorType(POINTER, LANES))
    wide = Value(b.ir.zext(offset.ir, b.vector(I64)), I64)
    start = b.splat(b.ir.ptrtoint(base, WORD), I64)
    return b.ir.inttoptr(b.ir.add(start.ir, wide.ir), ir.VectorType(POINTER, LANES))


def _consecutive(b: LaneBuilder, base: ir.Value | None, offset: Value, size: int):
    """Pointer of lane 0, and whether the active lanes follow it without a gap."""
    kind = offset.type
    first = b.ir.extract_element(offset.ir, ir.Constant(HALF, 0))
    expected = b.ir.add(b.splat(first, kind).ir, lane_numbers(b, kind, size).ir)
    same = b.ir.icmp_unsigned("==", expected, offset.ir)
    outside = b.ir.and_(b.bits_of(b.active), b.ir.not_(b.ir.bitcast(same, MASK)))
    if base is None:
        pointer = b.ir.inttoptr(first, POINTER)
    else:
        pointer = b.offset(base, b.ir.zext(first, WORD))
    return pointer, b.ir.icmp_unsigned("==", outside, ir.Constant(MASK, 0))


def _masked_load(b: LaneBuilder, pointer: ir.Value, kind: Type) -> ir.Value:
    vector = b.vector(kind)
    arguments = [
        pointer,
        ir.Constant(HALF, kind.bytes),
        b.active.ir,
        ir.Constant(vector, ir.Undefined),
    ]
    return b.intrinsic(f"llvm.masked.load.{type_suffix(vector)}.p0", vector, arguments)


def _arguments(b: LaneBuilder, base: ir.Value | None, offset: Value) -> list[ir.Value]:
    start = ir.Constant(POINTER, None) if base is None else base
    return [start, offset.ir, b.bits_of(b.active)]


def _gather(b: LaneBuilder, offset: Type, kind: Type) -> ir.Function:
    """A local function ``(base, offsets, mask) -> elements``."""
    vector, offsets = b.vector(kind), b.vector(offset)

    def emit(builder: ir.IRBuilder, function: ir.Function) -> None:
        base, places, bits = function.args
        mask = builder.bitcast(bits, ir.VectorType(BIT, LANES))
        addresses = builder.gep(base, [places], source_etype=ir.IntType(8))
        addresses.type = ir.VectorType(POINTER, LANES)
        name = f"llvm.masked.gather.{type_suffix(vector)}.v{LANES}p0"
        arguments = [
            addresses,
            ir.Constant(HALF, kind.bytes),
            mask,
            ir.Constant(vector, ir.Undefined),
        ]
        builder.ret(builder.call(_declare(b, name, vector, arguments), arguments))

    signature = ir.FunctionType(vector, [POINTER, offsets, MASK])
    return b.local_function(f"gather_{offset.name}_{kind.name}", signature, emit)


def _scatter(b: LaneBuilder, offset: Type, kind: Type) -> ir.Function:
    """A local function ``(base, offsets, mask, elements)``."""
    vector, offsets = b.vector(kind), b.vector(offset)

    def emit(builder: ir.IRBuilder, function: ir.Function) -> None:
        base, places, bits, value = function.args
        mask = builder.bitcast(bits, ir.VectorType(BIT, LANES))
        addresses = builder.gep(base, [places], source_etype=ir.IntType(8))
        addresses.type = ir.VectorType(POINTER, LANES)
        name = f"llvm.masked.scatter.{type_suffix(vector)}.v{LANES}p0"
        arguments = [value, addresses, ir.Constant(HALF, kind.bytes), mask]
        builder.call(_declare(b, name, ir.VoidType(), arguments), arguments)
        builder.ret_void()

    signature = ir.FunctionType(ir.VoidType(), [POINTER, offsets, MASK, vector])
    return b.local_function(f"scatter_{offset.name}_{kind.name}", signature, emit)


def _declare(b: LaneBuilder, name: str, result: ir.Type, arguments: list[ir.Value]):
    function = b.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(result, [a.type for a in arguments])
        function = ir.Function(b.module, kind, name)
    return function
