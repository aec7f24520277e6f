"""Loads and stores of lane vectors.

A warp whose lanes all take part, and whose two halves each access consecutive elements inside the
site's allocation, is served inline by whole vectors. Everything else is the business of a routine:
checked addresses, then broadcasts, masked vectors, or a gather or scatter.
Arrays whose rows are half a warp wide are why halves are looked at, not whole warps.
In blocks that are to be brief a routine does all of it: what is inline is sixty instructions of
LLVM's an access, three quarters of what was compiled of programs built for debuggers.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from lockstep.execution.lanes import races, written
from lockstep.execution.lanes.addresses import (
    Access,
    extent,
    host_addresses,
    lane_numbers,
    room,
    site_field,
    window_start,
)
from lockstep.execution.lanes.builder import (
    HALF,
    POINTER,
    WORD,
    LaneBuilder,
    type_suffix,
)
from lockstep.execution.lanes.flow import Values, either, outlined
from lockstep.execution.lanes.gathering import gather, scatter
from lockstep.execution.lanes.types import I64, INTEGERS, Type, Value
from lockstep.execution.state import Window

HOST_LINE = 64  # bytes of a cache line of the host


def load(b: LaneBuilder, access: Access, kind: Type, count: int = 1) -> list[Value]:
    """Load ``count`` consecutive elements for each active lane; other lanes get anything."""
    element = INTEGERS[kind.bits]

    def scattered() -> Values:
        return outlined(
            b,
            f"load_{access.name}_{element.name}",
            [b.vector(element)] * count,
            [_whole_address(b, access.address), access.site],
            lambda inner, *a: _load_any(inner, access.inside(*a), element, count),
        )

    if access.window == Window.LOCAL:
        results = scattered()
    elif b.brief:
        results = outlined(
            b,
            f"load_all_{access.name}_{element.name}",
            [b.vector(element)] * count,
            [_whole_address(b, access.address), access.site],
            lambda inner, *a: _loaded(inner, access.inside(*a), element, count),
        )
    else:
        fast, halves = _adjacent(b, access)
        results = either(b, fast, lambda: _load_wide(b, access, halves, element, count), scattered)
    return [b.cast(Value(r, element), kind) for r in results]


def _loaded(b: LaneBuilder, access: Access, element: Type, count: int) -> Values:
    return [v.ir for v in load(b, access, element, count)]


def store(b: LaneBuilder, access: Access, values: list[Value]) -> None:
    """Store consecutive elements for each active lane; of equal addresses the highest lane wins."""
    element = INTEGERS[values[0].type.bits]
    bits = [b.cast(v, element).ir for v in values]

    def scattered() -> Values:
        return outlined(
            b,
            f"store_{access.name}_{element.name}",
            [],
            [_whole_address(b, access.address), access.site, *bits],
            lambda inner, address, site, *v: _store_any(
                inner, access.inside(address, site), element, list(v)
            ),
        )

    if access.window == Window.LOCAL:
        scattered()
        return
    if b.brief:
        outlined(
            b,
            f"store_all_{access.name}_{element.name}",
            [],
            [_whole_address(b, access.address), access.site, *bits],
            lambda inner, address, site, *v: _stored(
                inner, access.inside(address, site), list(v), element
            ),
        )
        return
    fast, halves = _adjacent(b, access)
    either(b, fast, lambda: _store_wide(b, access, halves, element, bits), scattered)


def _stored(b: LaneBuilder, access: Access, values: Values, element: Type) -> Values:
    store(b, access, [Value(v, element) for v in values])
    return []


# Whole vectors


def _adjacent(b: LaneBuilder, access: Access) -> tuple[ir.Value, Values]:
    """Whether the inline way will do, and the pointers of the first lanes of both halves."""
    whole, firsts = _rows(b, access)
    low, span = extent(b, access)
    size = access.bytes * b.half
    if access.window == Window.GLOBAL:
        limit, offsets = room(b, span, size), [b.ir.sub(f, low) for f in firsts]
        places = [b.ir.inttoptr(f, POINTER) for f in firsts]
    else:
        limit, offsets = b.fixed(("room", access.window, size), lambda: room(b, span, size)), firsts
        start = b.ir.inttoptr(window_start(b, access.window), POINTER)
        places = [b.offset(start, f) for f in firsts]
    fits = [b.ir.icmp_unsigned("<", o, limit) for o in offsets]
    return b.ir.and_(whole, b.ir.and_(*fits)), places


def _rows(b: LaneBuilder, access: Access) -> tuple[ir.Value, Values]:
    """Whether all lanes take part and make two rows of aligned neighbours; where these begin.

    Adding a constant changes only the beginnings: accesses around one address share the rest.
    """
    address, size, aligned = access.address, access.bytes, access.aligned
    base, offset = address.sum or (address, 0)

    def shared(what: str, *about: ir.Value | int, emit: Callable) -> Any:
        return b.once((what, base.ir, *about), emit) if address.sum else emit()

    firsts = shared("firsts", emit=lambda: _firsts(b, base))
    steps = shared("steps", size, emit=lambda: _in_step(b, base, size))
    rest = offset % aligned
    whole = shared(
        *("rows", size, aligned, rest, b.active.ir),
        emit=lambda: _all_take_part(b, steps, firsts, rest, aligned),
    )
    firsts = [_plus(b, f, offset) for f in firsts]
    if address.type != I64:
        firsts = [b.ir.zext(f, WORD) for f in firsts]
    return whole, firsts


def _firsts(b: LaneBuilder, address: Value) -> Values:
    """The addresses of the first lanes of both halves."""
    return [b.ir.extract_element(address.ir, ir.Constant(HALF, k)) for k in (0, b.half)]


def _plus(b: LaneBuilder, number: ir.Value, constant: int) -> ir.Value:
    half = 1 << number.type.width - 1
    constant = (constant + half) % (2 * half) - half
    return b.ir.add(number, ir.Constant(number.type, constant)) if constant else number


def _all_take_part(
    b: LaneBuilder, lanes: ir.Value, firsts: Values, rest: int, size: int
) -> ir.Value:
    """Whether all lanes are active and in ``lanes``, and ``firsts`` plus ``rest`` are aligned."""
    all_lanes = b.every(b.ir.and_(lanes, b.bits_of(b.active)))
    if size == 1:
        return all_lanes
    both = b.ir.or_(*(_plus(b, f, rest) for f in firsts))
    low_bits = b.ir.and_(both, ir.Constant(both.type, size - 1))
    return b.ir.and_(all_lanes, b.ir.icmp_unsigned("==", low_bits, ir.Constant(both.type, 0)))


def _whole_address(b: LaneBuilder, address: Value) -> ir.Value:
    """The addresses of all lanes, summed up where they are used: the inline way needs two."""
    if address.sum is None or not address.sum[1]:
        return address.ir
    base, offset = address.sum
    return b.ir.add(base.ir, b.constant(base.type, offset).ir)


def in_step(b: LaneBuilder, address: Value, size: int) -> ir.Value:
    """The active lanes whose address follows from that of the first lane of their half."""
    return b.ir.and_(_in_step(b, address, size), b.bits_of(b.active))


def _in_step(b: LaneBuilder, address: Value, size: int) -> ir.Value:
    """The same of all lanes."""
    kind = address.type
    steps = b.each(kind, [k % b.half * size for k in range(b.lanes)])
    expected = b.ir.add(_first_of_half(b, address.ir), steps.ir)
    return b.bits(b.ir.icmp_unsigned("==", expected, address.ir))


def _first_of_half(b: LaneBuilder, vector: ir.Value) -> ir.Value:
    return b.shuffle(vector, vector, [0] * b.half + [b.half] * b.half)


def _load_wide(b: LaneBuilder, access: Access, halves: Values, kind: Type, count: int) -> Values:
    """Both halves as vectors in memory's order, dealt out to one vector an element."""
    _prefetch_next(b, access, halves[0])
    written.read_rows(b, access, halves)
    races.read_rows(b, access, halves)
    vector = ir.VectorType(kind.element, b.half * count)
    parts = [b.ir.load(p, typ=vector, align=kind.bytes) for p in halves]
    return [b.shuffle(*parts, list(range(k, b.lanes * count, count))) for k in range(count)]


def _store_wide(
    b: LaneBuilder, access: Access, halves: Values, kind: Type, values: Values
) -> Values:
    """The inverse of :func:`_load_wide`; vectors are concatenated until all are in one."""
    _prefetch_next(b, access, halves[0])
    written.write_rows(b, access, halves)
    races.write_rows(b, access, halves, values)
    count = len(values)
    while len(values) > 1:
        length = values[0].type.count * 2
        pairs = zip(values[::2], values[1::2])
        values = [b.shuffle(one, two, list(range(length))) for one, two in pairs]
    for half, pointer in enumerate(halves):
        lanes = range(half * b.half, (half + 1) * b.half)
        order = [k * b.lanes + lane for lane in lanes for k in range(count)]
        part = b.shuffle(values[0], values[0], order)
        b.ir.store(part, pointer, align=kind.bytes)
    return []


def _prefetch_next(b: LaneBuilder, access: Access, first: ir.Value) -> None:
    """Fetch what the site accesses next, if its steps are equal.

    A loop over a large array walks it with a stride of the whole grid, which no prefetcher of the
    host follows: each page is left after 128 bytes.
    """
    if access.window != Window.GLOBAL:
        return
    here = b.ir.ptrtoint(first, WORD)
    place = site_field(b, access.site, "last")
    step = b.ir.sub(here, b.ir.load(place, typ=WORD))
    b.ir.store(here, place)
    following = b.ir.add(here, step)
    reads, keep, data = (ir.Constant(HALF, k) for k in (0, 3, 1))
    start = b.ir.inttoptr(following, POINTER)
    for line in range(0, access.bytes * b.lanes, HOST_LINE):
        pointer = b.offset(start, line)
        b.intrinsic("llvm.prefetch.p0", ir.VoidType(), [pointer, reads, keep, data])


# Any addresses


def _load_any(b: LaneBuilder, access: Access, kind: Type, count: int) -> Values:
    host = host_addresses(b, access)
    written.read(b, access, host)
    races.read(b, access, host, _uniform(b, host) if races.looks(b, access) else None)

    def parted() -> Values:
        return either(b, _uniform(b, host), lambda: _broadcast(b, host, kind, count), gathered)

    def gathered() -> Values:
        return [gather(b, _further(b, host, k * kind.bytes), kind) for k in range(count)]

    if count > 1:
        return parted()
    start = b.ir.inttoptr(b.ir.extract_element(host.ir, ir.Constant(HALF, 0)), POINTER)
    return either(b, _consecutive(b, host, kind), lambda: [_masked_load(b, start, kind)], parted)


def _store_any(b: LaneBuilder, access: Access, kind: Type, values: Values) -> Values:
    host = host_addresses(b, access)
    written.write(b, access, host)
    races.write(b, access, host, values)
    for k, value in enumerate(values):
        scatter(b, _further(b, host, k * kind.bytes), Value(value, kind))
    races.wrote(b, access, host, values)
    return []


def _further(b: LaneBuilder, host: Value, size: int) -> Value:
    return Value(b.ir.add(host.ir, b.constant(I64, size).ir), I64) if size else host


def _uniform(b: LaneBuilder, host: Value) -> ir.Value:
    """Whether each half's active lanes are at one address, its first lane among them."""
    same = b.ir.icmp_unsigned("==", _first_of_half(b, host.ir), host.ir)
    firsts = ir.Constant(b.mask_type, 1 << b.half | 1)
    there = b.ir.icmp_unsigned("==", b.ir.and_(b.bits_of(b.active), firsts), firsts)
    return b.ir.and_(there, b.all_active(Value(same, host.type)))


def _broadcast(b: LaneBuilder, host: Value, kind: Type, count: int) -> Values:
    """The elements at the addresses of the first lanes, in all lanes of their halves."""
    results = []
    places = [b.ir.extract_element(host.ir, ir.Constant(HALF, k)) for k in (0, b.half)]
    for k in range(count):
        pair = ir.Constant(ir.VectorType(kind.element, 2), ir.Undefined)
        for half, place in enumerate(places):
            pointer = b.offset(b.ir.inttoptr(place, POINTER), k * kind.bytes)
            value = b.ir.load(pointer, typ=kind.element, align=kind.bytes)
            pair = b.ir.insert_element(pair, value, ir.Constant(HALF, half))
        results.append(b.shuffle(pair, pair, [0] * b.half + [1] * b.half))
    return results


def _consecutive(b: LaneBuilder, host: Value, kind: Type) -> ir.Value:
    """Whether the active lanes follow lane 0 without a gap."""
    first = b.ir.extract_element(host.ir, ir.Constant(HALF, 0))
    steps = lane_numbers(b, I64, kind.bytes)
    same = b.ir.icmp_unsigned("==", b.ir.add(b.splat(first, I64).ir, steps.ir), host.ir)
    return b.all_active(Value(same, host.type))


def _masked_load(b: LaneBuilder, pointer: ir.Value, kind: Type) -> ir.Value:
    vector = b.vector(kind)
    rest = ir.Constant(vector, ir.Undefined)
    arguments = [pointer, ir.Constant(HALF, kind.bytes), b.active.ir, rest]
    return b.intrinsic(f"llvm.masked.load.{type_suffix(vector)}.p0", vector, arguments)
