"""Which bytes were written: reads of others are noted, writes tell it, where a run asks for that.

What tells of a byte lies at a fixed distance from it (``state.SHADOW``), so that an access to it
is the access itself, moved. Textures are read without a look.
"""

from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.checks.kinds import Check
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, either, outlined
from lockstep.execution.lanes.gathering import gather, row_addresses, scatter
from lockstep.execution.lanes.types import I64, INTEGERS, PRED, Value
from lockstep.execution.state import (
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    SHADOW,
    WINDOW_BYTES,
    WRITTEN,
    Window,
)

BYTE = ir.IntType(8)
WIDEST = 8  # bytes that are looked at together
_PRIVATE = (Window.LOCAL, Window.PARAMETER)


def looks(b: LaneBuilder, access: Access) -> bool:
    """Whether an access is one of those that are looked at."""
    return Check.INIT in b.checks and access.window not in _PRIVATE


def read_rows(b: LaneBuilder, access: Access, halves: Values) -> None:
    """Two rows of neighbours are read, of all lanes, from the pointers ``halves`` on."""
    if not looks(b, access):
        return
    count = access.bytes * b.half
    vector = ir.VectorType(BYTE, count)
    rows = [b.ir.load(b.offset(p, SHADOW), typ=vector, align=access.aligned) for p in halves]
    both = b.ir.bitcast(b.ir.and_(*rows), ir.IntType(8 * count))
    whole = b.ir.icmp_unsigned("==", both, ir.Constant(both.type, -1))

    def look() -> Values:
        host = row_addresses(b, halves, access.bytes)
        read(b, replace(access, address=host) if access.window == Window.GLOBAL else access, host)
        return []

    either(b, whole, lambda: [], look)


def write_rows(b: LaneBuilder, access: Access, halves: Values) -> None:
    """Two rows of neighbours are written."""
    if looks(b, access):
        for pointer in halves:
            fill(b, pointer, access.bytes * b.half, access.aligned)


def fill(b: LaneBuilder, pointer: ir.Value, count: int, alignment: int = 1) -> None:
    """So many bytes from a pointer on are written."""
    if Check.INIT not in b.checks:
        return
    vector = ir.VectorType(BYTE, count)
    b.ir.store(ir.Constant(vector, [WRITTEN] * count), b.offset(pointer, SHADOW), align=alignment)


def read(b: LaneBuilder, access: Access, host: Value) -> None:
    """The active lanes read at host addresses."""
    if not looks(b, access):
        return

    def emit(inner: LaneBuilder, place: ir.Value, address: ir.Value, site: ir.Value) -> Values:
        with inner.guarded(_common(inner, access.inside(address, site))):
            _note_unwritten(inner, Value(place, I64), access.bytes, site)
        return []

    arguments = [host.ir, access.address.ir, access.site]
    outlined(b, f"written_{access.name}", [], arguments, emit, faults=False)


def _note_unwritten(b: LaneBuilder, host: Value, size: int, site: ir.Value) -> None:
    kind = INTEGERS[8 * min(size, WIDEST)]
    whole = b.constant(PRED, 1).ir
    for place in _pieces(b, host, size):
        found = gather(b, place, kind)
        whole = b.ir.and_(whole, b.ir.icmp_unsigned("==", found, b.constant(kind, -1).ir))
    wrong = b.ir.and_(b.ir.not_(whole), b.active.ir)

    def tell() -> Values:
        b.ir.store(host.ir, b.scratch(), align=64)
        mask = b.ir.zext(b.bits_of(Value(wrong, PRED)), WORD)
        b.runtime("unwritten", [b.field("warp", "number"), site, ir.Constant(WORD, size), mask])
        return []

    either(b, b.any(Value(wrong, PRED)), tell, lambda: [])


def write(b: LaneBuilder, access: Access, host: Value) -> None:
    """The active lanes write at host addresses."""
    if looks(b, access):
        with b.guarded(_common(b, access)):
            write_at(b, host, access.bytes)


def write_at(b: LaneBuilder, host: Value, size: int) -> None:
    """The active lanes write so many bytes of device or shared memory at host addresses."""
    if Check.INIT in b.checks:
        kind = INTEGERS[8 * min(size, WIDEST)]
        for place in _pieces(b, host, size):
            scatter(b, place, b.constant(kind, -1))


def copy_of(
    b: LaneBuilder, target: ir.Value, source: ir.Value, count: int, exists: ir.Value | None = None
) -> None:
    """Bytes are copied: whether they were written goes with them; missing ones were."""
    if Check.INIT not in b.checks:
        return
    vector = ir.VectorType(BYTE, count)
    if exists is not None:
        source = b.ir.select(exists, source, target)  # one that may be looked at
    found = b.ir.load(b.offset(source, SHADOW), typ=vector, align=1)
    if exists is not None:
        found = b.ir.select(exists, found, ir.Constant(vector, [WRITTEN] * count))
    b.ir.store(found, b.offset(target, SHADOW), align=1)


def _pieces(b: LaneBuilder, host: Value, size: int) -> list[Value]:
    """Where what tells of the bytes is, at most WIDEST of them together."""
    steps = range(0, size, WIDEST)
    return [Value(b.ir.add(host.ir, b.constant(I64, SHADOW + k).ir), I64) for k in steps]


def _common(b: LaneBuilder, access: Access) -> Value:
    """The lanes whose addresses are in device or shared memory: what threads share."""
    if access.window != Window.GLOBAL:
        return Value(b.constant(PRED, 1).ir, PRED)
    offset = b.ir.sub(access.address.ir, b.constant(I64, LOCAL_WINDOW).ir)
    end = PARAMETER_WINDOW + WINDOW_BYTES - LOCAL_WINDOW
    return Value(b.ir.icmp_unsigned(">=", offset, b.constant(I64, end).ir), PRED)
