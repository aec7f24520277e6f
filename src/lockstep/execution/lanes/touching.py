"""Noting which lines of device memory a warp touches: records of ``memory.touched``.

What is not in device memory is passed over, as are accesses that are about to fail.
"""

from enum import IntEnum

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder, type_suffix
from lockstep.execution.lanes.constants import Splat
from lockstep.execution.lanes.flow import Values, counted, either, outlined, value_by_value
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.memory import in_step
from lockstep.execution.lanes.types import I64, PRED, Value
from lockstep.execution.memory.touched import CONSTANTS, LINE_SHIFT, SECTOR_SHIFT, SECTORS, TOUCHED
from lockstep.isa.instruction import OpClass, Space
from lockstep.workload.warm import L2_LINE, L2_SECTOR

WORD_BYTES = 4  # parts of a line that are told apart, where accesses are not narrower
_ALL = (1 << SECTORS) - 1


class Touch(IntEnum):
    """How memory is touched."""

    READ = 0
    WRITE = 1
    UPDATE = 2  # read and written
    CONSTANT = 3  # read as a constant


_KINDS = {
    OpClass.LOAD: Touch.READ, OpClass.ASYNC_COPY: Touch.READ, OpClass.STORE: Touch.WRITE,
    OpClass.ATOMIC: Touch.UPDATE, OpClass.REDUCTION: Touch.UPDATE, OpClass.TEXTURE: Touch.READ,
    OpClass.SURFACE: Touch.UPDATE,
}  # fmt: skip
_SPACES = (Space.GLOBAL, Space.GENERIC, Space.TEXTURE)


def kind_of(op: OpClass, space: Space, width: int) -> Touch | None:
    """How an access touches device memory, if it does."""
    if op not in _KINDS or not width:
        return None
    if space == Space.CONSTANT:
        return Touch.CONSTANT
    return _KINDS[op] if space in _SPACES else None


def touch(b: LaneBuilder, kind: Touch, width: int, address: Value) -> None:
    """The active lanes access ``width`` bytes each, aligned to that.

    Generic addresses may be of other memory.
    """

    def emit(inner: LaneBuilder, words: ir.Value) -> Values:
        return _touch(inner, kind, width, Value(words, I64))

    name = f"touch_{kind.name.lower()}_{width}"
    outlined(b, name, [], [resize(b, address, I64).ir], emit, faults=False)


def _touch(b: LaneBuilder, kind: Touch, width: int, address: Value) -> Values:
    whole = b.every(in_step(b, address, width))
    base, size = b.field("launch", "memory"), width * b.half
    halves = [
        b.ir.sub(b.ir.extract_element(address.ir, ir.Constant(HALF, k)), base) for k in (0, b.half)
    ]

    def rows() -> Values:
        together = b.ir.icmp_unsigned("==", b.ir.add(halves[0], _word(size)), halves[1])

        def one() -> Values:
            return _row(b, kind, halves[0], 2 * size)

        def two() -> Values:
            return _row(b, kind, halves[0], size) + _row(b, kind, halves[1], size)

        return either(b, together, one, two)

    return either(b, whole, rows, lambda: _scattered(b, kind, width, address, base))


def _word(number: int) -> ir.Constant:
    return ir.Constant(WORD, number)


def _row(b: LaneBuilder, kind: Touch, first: ir.Value, size: int) -> Values:
    """``size`` bytes from an offset in device memory on, line by line."""
    last = b.ir.add(first, _word(size - 1))
    capacity, shift = b.field("launch", "memory_bytes"), _word(LINE_SHIFT)
    within = [b.ir.icmp_unsigned("<", end, capacity) for end in (first, last)]

    def lines() -> Values:
        begin = b.ir.lshr(first, shift)
        count = b.ir.add(b.ir.sub(b.ir.lshr(last, shift), begin), _word(1))
        with counted(b, b.ir.trunc(count, HALF)) as k:
            line = b.ir.add(begin, b.ir.zext(k, WORD))
            start = b.ir.shl(line, shift)
            low = b.intrinsic("llvm.usub.sat.i64", WORD, [first, start])
            high = b.ir.sub(last, start)
            high = b.intrinsic("llvm.umin.i64", WORD, [high, _word(L2_LINE - 1)])
            sectors = _between(b, low, b.ir.add(high, _word(L2_SECTOR)))
            full = _between(b, b.ir.add(low, _word(L2_SECTOR - 1)), b.ir.add(high, _word(1)))
            _note(b, kind, line, sectors, full)
        return []

    return either(b, b.ir.and_(*within), lines, lambda: [])


def _between(b: LaneBuilder, low: ir.Value, high: ir.Value) -> ir.Value:
    """The mask of sectors from that of the byte ``low`` on up to, not with, that of ``high``."""
    ends = [b.ir.shl(_word(1), b.ir.lshr(end, _word(SECTOR_SHIFT))) for end in (low, high)]
    above, below = (b.ir.sub(end, _word(1)) for end in ends)
    return b.ir.and_(below, b.ir.not_(above))


def _scattered(b: LaneBuilder, kind: Touch, width: int, address: Value, base: ir.Value) -> Values:
    """Any addresses, line by line."""
    offsets = b.ir.sub(address.ir, b.splat(base, I64).ir)
    capacity = b.splat(b.field("launch", "memory_bytes"), I64).ir
    lines = b.ir.lshr(offsets, b.constant(I64, LINE_SHIFT).ir)
    granule = min(width, WORD_BYTES)
    place = b.ir.and_(offsets, b.constant(I64, L2_LINE - 1).ir)
    place = b.ir.lshr(place, b.constant(I64, granule.bit_length() - 1).ir)
    inside = Value(b.ir.icmp_unsigned("<", offsets, capacity), PRED)
    with b.guarded(inside), value_by_value(b, lines) as line:
        cover = _cover(b, place, width // granule, L2_LINE // granule)
        _note(b, kind, line, *_sectors(b, cover, L2_SECTOR // granule))
    return []


def _cover(b: LaneBuilder, place: ir.Value, count: int, most: int) -> ir.Value:
    """Which of the ``most`` granules of a line the active lanes touch, ``count`` each: a mask."""
    element = ir.IntType(most)
    kind = ir.VectorType(element, b.lanes)
    convert = b.ir.trunc if most < I64.bits else b.ir.zext
    place = place if most == I64.bits else convert(place, kind)
    granules = b.ir.shl(Splat(kind, ir.Constant(element, (1 << count) - 1)), place)
    granules = b.ir.select(b.active.ir, granules, Splat(kind, ir.Constant(element, 0)))
    return b.intrinsic(f"llvm.vector.reduce.or.{type_suffix(kind)}", element, [granules])


def _sectors(b: LaneBuilder, cover: ir.Value, count: int) -> tuple[ir.Value, ir.Value]:
    """The sectors of which some of the ``count`` granules are touched, and those of which all."""
    some = full = _word(0)
    whole = (1 << count) - 1
    for k in range(SECTORS):
        mine = b.ir.and_(cover, ir.Constant(cover.type, whole << k * count))
        touched = b.ir.icmp_unsigned("!=", mine, ir.Constant(cover.type, 0))
        all_of = b.ir.icmp_unsigned("==", mine, ir.Constant(cover.type, whole << k * count))
        some = b.ir.or_(some, b.ir.select(touched, _word(1 << k), _word(0)))
        full = b.ir.or_(full, b.ir.select(all_of, _word(1 << k), _word(0)))
    return some, full


def _note(b: LaneBuilder, kind: Touch, line: ir.Value, sectors: ir.Value, full: ir.Value) -> None:
    """Sectors of a line are touched, written ones of ``full`` in every byte."""
    table = b.ir.inttoptr(b.field("launch", "touched"), POINTER)
    record = b.offset(table, b.ir.mul(line, _word(TOUCHED.itemsize)))
    when, held = (b.member(record, TOUCHED, name) for name in ("when", "sectors"))
    known = b.ir.load(held, typ=WORD)
    if kind == Touch.CONSTANT:
        b.ir.store(b.ir.or_(known, b.ir.shl(sectors, _word(3 * SECTORS))), held)
        return
    last = b.ir.load(when, typ=WORD)
    counts = b.ir.icmp_signed("<=", last, b.field("launch", "touch_epoch"))
    count = b.ir.add(b.field("launch", "touch_count"), b.ir.zext(counts, WORD))
    b.ir.store(count, b.field_address("launch", "touch_count"))
    old = b.ir.icmp_signed("<=", last, b.field("launch", "touch_gone"))
    known = b.ir.select(old, b.ir.and_(known, _word(CONSTANTS)), known)
    b.ir.store(_after(b, kind, known, sectors, full), held)
    touches = b.ir.add(b.field("warp", "touches"), _word(1))
    now = b.ir.add(b.field("launch", "touch_base"), touches)
    most = b.intrinsic("llvm.smax.i64", WORD, [now, b.field("launch", "touch_now")])
    b.set_field("touches", touches)
    b.ir.store(most, b.field_address("launch", "touch_now"))
    b.ir.store(now, when)


def _after(
    b: LaneBuilder, kind: Touch, known: ir.Value, sectors: ir.Value, full: ir.Value
) -> ir.Value:
    """What is held of a line: a sector that is written in part and not there stays a part."""
    if kind != Touch.READ:
        known = b.ir.or_(known, b.ir.shl(sectors, _word(SECTORS)))
    whole = full if kind == Touch.WRITE else sectors
    known = b.ir.or_(known, whole)
    parts = b.ir.lshr(known, _word(2 * SECTORS))
    if kind == Touch.WRITE:
        parts = b.ir.or_(parts, sectors)
    parts = b.ir.and_(b.ir.and_(parts, b.ir.not_(known)), _word(_ALL))
    known = b.ir.and_(known, _word(~(_ALL << 2 * SECTORS)))
    return b.ir.or_(known, b.ir.shl(parts, _word(2 * SECTORS)))
