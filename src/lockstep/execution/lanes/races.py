"""Accesses to shared memory are compared with those before, where a run asks for that.

Rows of neighbours are compared as vectors of records; whatever is not settled, and every other
access, is the business of ``checks.races.watch``.
"""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.checks.clocks import CLOCK_SHIFT, LANE_SHIFT, WARP_SHIFT
from lockstep.execution.checks.kinds import Check
from lockstep.execution.checks.races import (
    KIND_SHIFT,
    READ,
    READ_BEFORE,
    WRITE,
    Kind,
    Passing,
)
from lockstep.execution.lanes.addresses import Access, Strength
from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder, type_suffix
from lockstep.execution.lanes.flow import Values, either
from lockstep.execution.lanes.gathering import gather, row_addresses
from lockstep.execution.lanes.types import I64, INTEGERS, PRED, Value
from lockstep.execution.state import SHARED_WINDOW, WINDOW_BYTES, Window

_SHARED = (Window.SHARED, Window.CLUSTER)
_MOST_RECORDS = 64  # of a row that are compared inline
_KINDS = {
    (Strength.STRONG, Kind.READ): Kind.STRONG_READ,
    (Strength.STRONG, Kind.WRITE): Kind.STRONG_WRITE,
    (Strength.POLL, Kind.READ): Kind.POLL,
    (Strength.RELEASE, Kind.WRITE): Kind.STRONG_WRITE,
}
_WARP_FIELD = (1 << CLOCK_SHIFT) - (1 << WARP_SHIFT)


def looks(b: LaneBuilder, access: Access) -> bool:
    """Whether an access is one of those that are compared, or may be."""
    return Check.RACES in b.checks and access.window in (*_SHARED, Window.GLOBAL)


def follow_lanes(b: LaneBuilder) -> None:
    """At the start of a block: the warp's time moves on if lanes came together or parted.

    Lanes on a path that excludes the one before do the same at the same time.
    """
    if Check.RACES not in b.checks:
        return
    zero = ir.Constant(WORD, 0)
    mask, before = b.ir.zext(b.mask_bits, WORD), b.field("warp", "mask")
    changed = b.ir.icmp_unsigned("!=", mask, before)
    common = b.ir.icmp_unsigned("!=", b.ir.and_(mask, before), zero)
    step = b.ir.select(b.ir.and_(changed, common), ir.Constant(WORD, 1 << CLOCK_SHIFT), zero)
    b.set_field("stamp", b.ir.add(b.field("warp", "stamp"), step))
    b.set_field("mask", mask)


# Rows of neighbours


def read_rows(b: LaneBuilder, access: Access, halves: Values) -> None:
    """Two rows of neighbours in shared memory are read, of all lanes, from pointers on."""
    if not looks(b, access) or access.window == Window.GLOBAL:
        return

    def look() -> Values:
        watch(b, access, row_addresses(b, halves, access.bytes), Kind.READ)
        return []

    rows = _rows(b, access, halves)
    if rows:
        _read_records(b, rows, look)
    else:
        look()


def _read_records(b: LaneBuilder, rows: list["_Row"], look: Callable[[], Values]) -> None:
    """The whole warp reads; ``look`` is taken where something is not settled."""

    def settled() -> Values:
        for row in rows:
            last = row.records(READ)
            others = b.ir.icmp_unsigned("!=", row.own(last), row.splat(0))
            row.store(READ_BEFORE, last, others)
            row.store(READ, row.mine())
        return []

    good = b.ir.and_(*(_all(b, [row.is_settled(WRITE)]) for row in rows))
    either(b, good, settled, look)


def write_rows(b: LaneBuilder, access: Access, halves: Values, values: Values) -> None:
    """Two rows of neighbours will be written: vectors of integers, one for each element."""
    if not looks(b, access) or access.window == Window.GLOBAL:
        return

    def settled() -> Values:
        for row in rows:
            row.store(WRITE, row.mine())
        return []

    def look() -> Values:
        host = row_addresses(b, halves, access.bytes)
        watch(b, access, host, Kind.WRITE, unchanged(b, host, values))
        return []

    rows = _rows(b, access, halves)
    planes = (WRITE, READ, READ_BEFORE)
    if rows:
        good = [row.is_settled(plane) for row in rows for plane in planes]
        either(b, _all(b, good), settled, look)
    else:
        look()


def _all(b: LaneBuilder, predicates: Values) -> ir.Value:
    result = predicates[0]
    for other in predicates[1:]:
        result = b.ir.and_(result, other)
    bits = b.ir.bitcast(result, ir.IntType(result.type.count))
    return b.ir.icmp_unsigned("==", bits, ir.Constant(bits.type, -1))


def _rows(b: LaneBuilder, access: Access, halves: Values) -> list["_Row"]:
    """The records of two rows; none if they are too long, or lanes share a granule."""
    count = b.half * access.bytes >> b.granule
    if not b.half <= count <= _MOST_RECORDS or access.strength:
        return []
    each = count // b.half
    return [
        _Row(b, access, [half * b.half + k // each for k in range(count)], pointer)
        for half, pointer in enumerate(halves)
    ]


def _uniform_rows(b: LaneBuilder, access: Access, host: Value) -> list["_Row"]:
    """The records of what the first lanes of both halves read, too; none of a part of a granule."""
    count = access.bytes >> b.granule
    if not count or access.window == Window.GLOBAL or access.strength:
        return []
    places = [b.ir.extract_element(host.ir, ir.Constant(HALF, lane)) for lane in (0, b.half)]
    pointers = [b.ir.inttoptr(place, POINTER) for place in places]
    return [_Row(b, access, [k * b.half] * count, pointer) for k, pointer in enumerate(pointers)]


class _Row:
    """The records of one row of granules from a pointer on, which ``lanes`` access."""

    def __init__(self, b: LaneBuilder, access: Access, lanes: list[int], pointer: ir.Value):
        self._b, self._count = b, len(lanes)
        self._vector = ir.VectorType(WORD, self._count)
        self._lanes = ir.Constant(self._vector, [lane << LANE_SHIFT for lane in lanes])
        place = b.ir.ptrtoint(pointer, WORD)
        record = b.ir.shl(b.ir.lshr(place, ir.Constant(WORD, b.granule)), ir.Constant(WORD, 3))
        self._first = b.ir.add(b.field("launch", "races"), record)
        self._plane = b.field("launch", "race_plane")
        self._stamp = b.field("warp", "stamp")
        self._site = access.site

    def splat(self, number: int | ir.Value) -> ir.Value:
        """One word for each record."""
        word = ir.Constant(WORD, number) if isinstance(number, int) else number
        one = ir.Constant(self._vector, ir.Undefined)
        one = self._b.ir.insert_element(one, word, ir.Constant(ir.IntType(32), 0))
        return self._b.shuffle(one, one, [0] * self._count)

    def _place(self, plane: int) -> ir.Value:
        offset = self._b.ir.mul(self._plane, ir.Constant(WORD, plane))
        return self._b.ir.inttoptr(self._b.ir.add(self._first, offset), POINTER)

    def records(self, plane: int) -> ir.Value:
        """The records of a plane."""
        return self._b.ir.load(self._place(plane), typ=self._vector, align=8)

    def store(self, plane: int, records: ir.Value, where: ir.Value | None = None) -> None:
        """Replace the records of a plane, or some of them."""
        place = self._place(plane)
        if where is None:
            self._b.ir.store(records, place, align=8)
            return
        name = f"llvm.masked.store.{type_suffix(self._vector)}.p0"
        align = ir.Constant(ir.IntType(32), 8)
        self._b.intrinsic(name, ir.VoidType(), [records, place, align, where])

    def mine(self) -> ir.Value:
        """The records of what the warp does now."""
        word = self._b.ir.or_(self._stamp, self._site)
        return self._b.ir.or_(self.splat(word), self._lanes)

    def own(self, records: ir.Value) -> ir.Value:
        """Zero where a record is of this warp."""
        emit = self._b.ir
        return emit.and_(emit.xor(records, self.splat(self._stamp)), self.splat(_WARP_FIELD))

    def is_settled(self, plane: int) -> ir.Value:
        """Where the record of a plane is ordered before what the whole warp does now."""
        records, emit = self.records(plane), self._b.ir
        before = emit.icmp_signed("<", records, self.splat(self._b.field("warp", "settled")))
        mine = emit.icmp_unsigned("==", self.own(records), self.splat(0))
        return emit.or_(before, mine)


# Any addresses


def unchanged(b: LaneBuilder, host: Value, values: Values) -> Value:
    """The active lanes that would write what is at their host addresses already."""
    same = b.active.ir
    for k, value in enumerate(values):
        kind = INTEGERS[value.type.element.width]
        place = Value(b.ir.add(host.ir, b.constant(I64, k * kind.bytes).ir), I64)
        found = gather(b, place, kind)
        same = b.ir.and_(same, b.ir.icmp_unsigned("==", found, value))
    return Value(same, PRED)


def watch(
    b: LaneBuilder,
    access: Access,
    host: Value,
    kind: Kind,
    same: Value | None = None,
    lanes: ir.Value | None = None,
    size: ir.Value | None = None,
) -> None:
    """Compare what the active lanes do at host addresses with what was before.

    ``same``: lanes that change nothing. ``lanes`` (mask) stand for others at the same addresses.
    ``size`` (i64): bytes of each, if not those of the access.
    """
    bits = b.ir.zext(b.bits_of(b.active) if lanes is None else lanes, WORD)
    alike = ir.Constant(WORD, 0) if same is None else b.ir.zext(b.bits_of(same), WORD)
    kind = _KINDS.get((access.strength, kind), kind)
    what = ir.Constant(WORD, kind << KIND_SHIFT)
    what = b.ir.or_(what, ir.Constant(WORD, access.bytes) if size is None else size)

    def call() -> Values:
        b.ir.store(host.ir, b.scratch(), align=64)
        b.runtime("watch", [b.field("warp", "number"), access.site, what, bits, alike])
        return []

    if access.window == Window.GLOBAL:
        either(b, b.any(_in_shared(b, access)), call, lambda: [])
    else:
        call()


def read(b: LaneBuilder, access: Access, host: Value, uniform: ir.Value | None = None) -> None:
    """The active lanes read; ``uniform``: those of each half at one address."""
    if not looks(b, access):
        return
    lanes = b.bits_of(b.active)
    rows = [] if uniform is None else _uniform_rows(b, access, host)
    if not rows:
        watch(b, access, host, Kind.READ)
        return
    few = b.ir.and_(lanes, ir.Constant(b.mask_type, 1 << b.half | 1))
    few = b.ir.select(uniform, few, lanes)
    whole = b.every(lanes)

    def look() -> Values:
        watch(b, access, host, Kind.READ, lanes=few)
        return []

    def together() -> Values:
        _read_records(b, rows, look)
        return []

    either(b, b.ir.and_(uniform, whole), together, look)


def write(b: LaneBuilder, access: Access, host: Value, values: Values) -> None:
    """The active lanes will write integers, one vector for each element."""
    if looks(b, access):
        watch(b, access, host, Kind.WRITE, unchanged(b, host, values))


def wrote(b: LaneBuilder, access: Access, host: Value, values: Values) -> None:
    """They have: lanes whose values are not there have lost them to others."""
    if not looks(b, access) or access.strength:
        return
    there = b.bits_of(unchanged(b, host, values))
    lost = b.ir.and_(b.bits_of(b.active), b.ir.not_(there))

    def tell() -> Values:
        b.ir.store(host.ir, b.scratch(), align=64)
        size, mask = ir.Constant(WORD, access.bytes), b.ir.zext(lost, WORD)
        b.runtime("collide", [b.field("warp", "number"), access.site, size, mask])
        return []

    either(b, b.some(lost), tell, lambda: [])


def access_all(b: LaneBuilder, access: Access, host: Value, kind: Kind) -> None:
    """The active lanes do something else at host addresses."""
    if looks(b, access):
        watch(b, access, host, kind)


def access_one(
    b: LaneBuilder, access: Access, host: Value, kind: Kind, lane: ir.Value, size: ir.Value
) -> None:
    """One active lane (i32) does something to ``size`` (i64) bytes from its host address on."""
    if looks(b, access):
        watch(b, access, host, kind, lanes=b.only(lane), size=size)


def _in_shared(b: LaneBuilder, access: Access) -> Value:
    offset = b.ir.sub(access.address.ir, b.constant(I64, SHARED_WINDOW).ir)
    inside = b.ir.icmp_unsigned("<", offset, b.constant(I64, WINDOW_BYTES).ir)
    return Value(b.ir.and_(inside, b.active.ir), PRED)


# What orders


def arrive(b: LaneBuilder, host: Value) -> None:
    """The active lanes arrive at barrier objects at host addresses."""
    if Check.RACES in b.checks:
        b.ir.store(host.ir, b.scratch(), align=64)
        mask = b.ir.zext(b.bits_of(b.active), WORD)
        words = (ir.Constant(WORD, Passing.ARRIVE), ir.Constant(WORD, 0))
        b.runtime("order", [b.field("warp", "number"), *words, mask])


def fence(b: LaneBuilder) -> None:
    """A fence: what the warp did is passed on to those who poll, or have a fence, too."""
    if Check.RACES in b.checks:
        _order_all(b, Passing.FENCE)


def poll(b: LaneBuilder) -> None:
    """An access that may see what others did before their fences, if there were any."""
    if Check.RACES in b.checks:
        some = b.ir.icmp_unsigned("!=", b.field("launch", "fenced"), ir.Constant(WORD, 0))

        def take() -> Values:
            _order_all(b, Passing.POLL)
            return []

        either(b, some, take, lambda: [])


def _order_all(b: LaneBuilder, what: Passing) -> None:
    words = [ir.Constant(WORD, n) for n in (what, 0, 0)]
    b.runtime("order", [b.field("warp", "number"), *words])
