"""Counting for a profile while blocks execute: what does not follow from how often they did.

Each static instruction has a COUNTER record: which lanes its guard lets take part, sectors, and
in which memory the addresses are if the instruction does not say.
"""

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.flow import (
    Values,
    either,
    element,
    outlined,
    spill,
    value_by_value,
)
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.memory import in_step
from lockstep.execution.lanes.types import I64, Value
from lockstep.execution.state import COUNTER, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, Memory

SECTOR_SHIFT = 5  # a sector has 32 bytes
WORD_SHIFT = 2
GROUP_SHIFT = 3  # sectors of local memory: eight words, one of each of eight threads


def count_lanes(b: LaneBuilder, number: int) -> None:
    """Count the active lanes as those that take part in an instruction with a guard."""
    lanes = b.bits_of(b.active)
    record = _record(b, number)
    _add(b, record, "times", b.ir.zext(b.some(lanes), WORD))
    _add(b, record, "lanes", b.count(lanes))


def count_access(
    b: LaneBuilder, number: int, memory: Memory | None, width: int, address: Value
) -> None:
    """Count what the active lanes access, ``width`` bytes each, aligned to that.

    ``memory``: None for a generic address.
    """
    address, record = resize(b, address, I64), _record(b, number)
    if memory == Memory.GLOBAL:
        _add(b, record, "sectors", _global_sectors(b, address, width), Memory.GLOBAL)
    elif memory == Memory.LOCAL:
        _add(b, record, "sectors", _scattered(b, memory, address, width), Memory.LOCAL)
    elif memory is None:
        _count_generic(b, address, width, record)


def _record(b: LaneBuilder, number: int) -> ir.Value:
    table = b.ir.inttoptr(b.field("launch", "counters"), POINTER)
    return b.offset(table, number * COUNTER.itemsize)


def _add(
    b: LaneBuilder, record: ir.Value, field: str, amount: ir.Value, memory: int | ir.Value = 0
) -> None:
    """Add to a field, or to that of a memory."""
    memory = ir.Constant(WORD, memory) if isinstance(memory, int) else memory
    place = b.member(record, COUNTER, field)
    place = b.ir.gep(place, [memory], source_etype=WORD)
    b.ir.store(b.ir.add(b.ir.load(place, typ=WORD), amount), place)


def _count_generic(b: LaneBuilder, address: Value, width: int, record: ir.Value) -> None:
    """Count an access in the memory in which its first active lane's address is."""

    def count(inner: LaneBuilder, words: ir.Value, place: ir.Value) -> Values:
        spilled, lanes = spill(inner, words), inner.bits_of(inner.active)
        some = inner.some(lanes)

        def nothing() -> Values:
            return []

        def first() -> Values:
            lane = inner.lowest(lanes)
            word = inner.ir.load(element(inner, spilled, WORD, lane), typ=WORD)
            _count_at(inner, Value(words, I64), width, inner.ir.inttoptr(place, POINTER), word)
            return []

        return either(inner, some, first, nothing)

    arguments = [address.ir, b.ir.ptrtoint(record, WORD)]
    outlined(b, f"count_generic_{width}", [], arguments, count, faults=False)


def _count_at(
    b: LaneBuilder, address: Value, width: int, record: ir.Value, first: ir.Value
) -> None:
    """Count a generic access whose first lane's address is ``first``."""
    window = b.ir.udiv(first, ir.Constant(WORD, WINDOW_BYTES))
    shared, local = (
        b.ir.icmp_unsigned("==", window, ir.Constant(WORD, start // WINDOW_BYTES))
        for start in (SHARED_WINDOW, LOCAL_WINDOW)
    )
    memory = b.ir.select(local, ir.Constant(WORD, Memory.LOCAL), ir.Constant(WORD, Memory.GLOBAL))
    memory = b.ir.select(shared, ir.Constant(WORD, Memory.SHARED), memory)
    _add(b, record, "requests", ir.Constant(WORD, 1), memory)
    _add(b, record, "threads", b.count(b.bits_of(b.active)), memory)

    def outside() -> Values:
        return either(
            b,
            local,
            lambda: [_local_sectors(b, address, width)],
            lambda: [_sectors_of_any(b, address, width)],
        )

    sectors = either(b, shared, lambda: [ir.Constant(WORD, 0)], outside)[0]
    _add(b, record, "sectors", sectors, memory)


# Sectors


def _global_sectors(b: LaneBuilder, address: Value, width: int) -> ir.Value:
    """Different sectors; those of two rows of neighbours follow from where the rows begin."""
    whole = b.every(in_step(b, address, width))
    firsts = [b.ir.extract_element(address.ir, ir.Constant(HALF, k)) for k in (0, b.half)]
    return either(
        b,
        whole,
        lambda: [_sectors_of_rows(b, firsts, width * b.half)],
        lambda: [_scattered(b, Memory.GLOBAL, address, width)],
    )[0]


def _sectors_of_rows(b: LaneBuilder, firsts: Values, size: int) -> ir.Value:
    """Different sectors of two rows of ``size`` bytes."""
    shift, last, one = (ir.Constant(WORD, k) for k in (SECTOR_SHIFT, size - 1, 1))
    begins = [b.ir.lshr(f, shift) for f in firsts]
    ends = [b.ir.add(b.ir.lshr(b.ir.add(f, last), shift), one) for f in firsts]
    total = b.ir.add(*(b.ir.sub(e, s) for e, s in zip(ends, begins)))
    first_end = b.intrinsic("llvm.umin.i64", WORD, ends)
    last_begin = b.intrinsic("llvm.umax.i64", WORD, begins)
    return b.ir.sub(total, b.intrinsic("llvm.usub.sat.i64", WORD, [first_end, last_begin]))


def _scattered(b: LaneBuilder, memory: Memory, address: Value, width: int) -> ir.Value:
    """Different sectors of any addresses, by a function of the module."""
    emit = _sectors_of_any if memory == Memory.GLOBAL else _local_sectors
    name = f"sectors_{memory.name.lower()}_{width}"
    return outlined(
        b,
        name,
        [WORD],
        [address.ir],
        lambda inner, a: [emit(inner, Value(a, I64), width)],
        faults=False,
    )[0]


def _sectors_of_any(b: LaneBuilder, address: Value, width: int) -> ir.Value:
    shift = max(SECTOR_SHIFT, width.bit_length() - 1)
    pieces = b.ir.lshr(address.ir, b.constant(I64, shift).ir)
    following = b.shuffle(pieces, pieces, [*range(1, b.lanes), b.lanes - 1])
    descends = b.any(Value(b.ir.icmp_unsigned("<", following, pieces), b.active.type))
    partly = b.ir.icmp_unsigned("!=", b.bits_of(b.active), ir.Constant(b.mask_type, -1))

    def steps() -> Values:
        """Of all lanes in ascending order."""
        changes = b.ir.icmp_unsigned("!=", following, pieces)
        count = b.count(b.bits(changes))
        return [b.ir.add(count, ir.Constant(WORD, 1))]

    count = either(b, b.ir.or_(descends, partly), lambda: [_different(b, pieces)], steps)[0]
    return b.ir.shl(count, ir.Constant(WORD, shift - SECTOR_SHIFT))


def _local_sectors(b: LaneBuilder, address: Value, width: int) -> ir.Value:
    """Words of the same offset lie side by side: lanes of a group of eight share a sector."""
    shift = max(WORD_SHIFT, width.bit_length() - 1)
    within = b.ir.and_(address.ir, b.constant(I64, WINDOW_BYTES - 1).ir)
    pieces = b.ir.shl(b.ir.lshr(within, b.constant(I64, shift).ir), b.constant(I64, GROUP_SHIFT).ir)
    groups = b.each(I64, [lane >> GROUP_SHIFT for lane in range(b.lanes)])
    count = _different(b, b.ir.or_(pieces, groups.ir))
    return b.ir.shl(count, ir.Constant(WORD, shift - WORD_SHIFT))


def _different(b: LaneBuilder, values: ir.Value) -> ir.Value:
    """How many different values (i64) the active lanes have."""
    with b.at_entry():
        count = b.ir.alloca(WORD)
        b.ir.store(ir.Constant(WORD, 0), count)
    with value_by_value(b, values):
        b.ir.store(b.ir.add(b.ir.load(count), ir.Constant(WORD, 1)), count)
    return b.ir.load(count)
