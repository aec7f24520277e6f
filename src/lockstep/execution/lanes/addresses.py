"""Where lanes access memory: addresses of a state space, checked, as addresses of the host.

An allocation is what a site accessed last; whatever lies outside goes through the runtime, which
finds the allocation, or ends the launch.
"""

from enum import IntEnum

import msgspec
from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder, offset_of
from lockstep.execution.lanes.types import I32, I64, Type, Value
from lockstep.execution.state import ALIGNMENT_SHIFT, LOCAL_WINDOW, SITE, SPANS, Window


class Strength(IntEnum):
    """What an access does not race with, and whether it orders."""

    PLAIN = 0
    STRONG = 1  # its like: volatile and relaxed ones
    POLL = 2  # anything
    RELEASE = 3  # as strong; and what came before it is passed on, as by a fence


class Access(msgspec.Struct, frozen=True):
    """One access of the active lanes.

    ``address``: 64-bit addresses for ``Window.GLOBAL`` (those of other spaces included, generic),
    else 32-bit offsets in the window; of shared memory, relative to that of the own CTA.
    ``bytes``: of one lane, all elements of a vector together, and the alignment that it needs,
    unless ``alignment`` is another.
    ``site``: row of the launch's SITE table (i64). ``spans``: lanes access more than these bytes.
    ``strength``: only where races are looked for.
    """

    window: Window
    address: Value
    bytes: int
    site: ir.Value
    spans: bool = False
    strength: Strength = Strength.PLAIN
    alignment: int = 0

    @property
    def aligned(self) -> int:
        """Bytes of which its addresses must be multiples."""
        return self.alignment or self.bytes

    @property
    def name(self) -> str:
        """Distinguishes accesses for which different code is needed."""
        strength = f"_{self.strength.name.lower()}" if self.strength else ""
        aligned = f"a{self.alignment}" if self.alignment else ""
        return f"{self.window.name.lower()}_{self.bytes}{aligned}{strength}"

    def inside(self, address: ir.Value, site: ir.Value) -> "Access":
        """The same in an outlined function that got address and site as arguments."""
        return replace(self, address=Value(address, self.address.type), site=site)


def lane_numbers(b: LaneBuilder, kind: Type, scale: int = 1) -> Value:
    """``lane * scale`` in every lane."""
    return b.each(kind, [lane * scale for lane in range(b.lanes)])


def extent(b: LaneBuilder, access: Access) -> tuple[ir.Value, ir.Value]:
    """First address of the memory that a site may access, and its bytes (i64 both)."""
    if access.window == Window.GLOBAL:
        places = [site_field(b, access.site, field) for field in ("low", "span")]
        return b.ir.load(places[0], typ=WORD), b.ir.load(places[1], typ=WORD)
    field = _LIMITS[access.window]
    return ir.Constant(WORD, 0), b.fixed((field,), lambda: b.field("launch", field))


def site_field(b: LaneBuilder, site: ir.Value, field: str) -> ir.Value:
    """Pointer to a field of a site's record."""
    table = b.fixed(("sites",), lambda: b.ir.inttoptr(b.field("launch", "sites"), POINTER))
    place = offset_of(SITE, field)
    if isinstance(site, ir.Constant):
        return b.offset(table, site.constant * SITE.itemsize + place)
    return b.offset(b.offset(table, b.ir.mul(site, ir.Constant(WORD, SITE.itemsize))), place)


_LIMITS = {
    Window.SHARED: "shared_limit",
    Window.CLUSTER: "shared_limit",
    Window.LOCAL: "local_bytes",
    Window.PARAMETER: "parameter_bytes",
}


def window_start(b: LaneBuilder, window: Window) -> ir.Value:
    """Host address (i64) of the CTA's shared memory, lane 0's local memory, or the parameters."""
    record = {
        Window.SHARED: ("cta", "shared"),
        Window.CLUSTER: ("cta", "shared"),
        Window.LOCAL: ("warp", "local"),
        Window.PARAMETER: ("launch", "parameters"),
    }
    return b.fixed(record[window], lambda: b.field(*record[window]))


def room(b: LaneBuilder, span: ir.Value, size: int) -> ir.Value:
    """How many first bytes of a span may start an access of ``size`` bytes."""
    return b.intrinsic("llvm.usub.sat.i64", WORD, [span, ir.Constant(WORD, size - 1)])


def host_addresses(b: LaneBuilder, access: Access) -> Value:
    """Check the addresses of the active lanes; where their bytes are in this process (i64)."""
    address = access.address
    low, span = extent(b, access)
    if access.window == Window.GLOBAL:
        offset = b.ir.sub(address.ir, b.splat(low, I64).ir)
        return _host_of_generic(b, access, Value(offset, I64), room(b, span, access.bytes))
    limit = b.splat(b.ir.trunc(room(b, span, access.bytes), HALF), I32)
    bad = b.ir.icmp_unsigned(">=", address.ir, limit.ir)
    bad = _or_misaligned(b, bad, address, access.aligned)
    wide = Value(b.ir.zext(address.ir, b.vector(I64)), I64)
    start = b.splat(window_start(b, access.window), I64)
    if access.window == Window.LOCAL:
        start = _local_starts(b, start)
    host = Value(b.ir.add(start.ir, wide.ir), I64)
    return _closer_look(b, replace(access, address=wide), bad, host)


def _local_starts(b: LaneBuilder, start: Value) -> Value:
    """Host address of every lane's local memory."""
    stride = b.splat(b.field("launch", "local_bytes"), I64)
    return Value(b.ir.add(start.ir, b.ir.mul(stride.ir, lane_numbers(b, I64).ir)), I64)


def _host_of_generic(b: LaneBuilder, access: Access, offset: Value, limit: ir.Value) -> Value:
    """Shared and local memory by their windows, the site's allocation, or the runtime."""
    address, bad = access.address, b.ir.icmp_unsigned(">=", offset.ir, b.splat(limit, I64).ir)
    host = address.ir
    shared = b.splat(b.field("cta", "window"), I64)
    for window, first in ((Window.SHARED, shared), (Window.LOCAL, b.constant(I64, LOCAL_WINDOW))):
        inner = b.ir.sub(address.ir, first.ir)
        fits = b.splat(room(b, b.field("launch", _LIMITS[window]), access.bytes), I64)
        here = b.ir.icmp_unsigned("<", inner, fits.ir)
        start = b.splat(window_start(b, window), I64)
        if window == Window.LOCAL:
            start = _local_starts(b, start)
        host = b.ir.select(here, b.ir.add(start.ir, inner), host)
        bad = b.ir.and_(bad, b.ir.not_(here))
    bad = _or_misaligned(b, bad, address, access.aligned)
    return _closer_look(b, access, bad, Value(host, I64))


def refuse(b: LaneBuilder, access: Access, lanes: Value) -> None:
    """End the launch if a lane is among these; the site's window says why."""
    with b.guarded(lanes):
        _closer_look(b, access, lanes.ir)


def _or_misaligned(b: LaneBuilder, bad: ir.Value, address: Value, size: int) -> ir.Value:
    if size == 1:
        return bad
    low_bits = b.ir.and_(address.ir, b.constant(address.type, size - 1).ir)
    return b.ir.or_(bad, b.ir.icmp_unsigned("!=", low_bits, b.constant(address.type, 0).ir))


def _closer_look(b: LaneBuilder, access: Access, bad: ir.Value, host: Value | None = None) -> Value:
    """Call the runtime if a lane needs it; the host addresses that come back, else ``host``."""
    host = host or access.address
    trouble = b.ir.and_(b.bits(bad), b.bits_of(b.active))
    before = b.ir.block
    look = b.function.append_basic_block("look")
    go_on = b.function.append_basic_block("checked")
    b.ir.cbranch(b.some(trouble), look, go_on).set_weights([1, 1000])
    b.ir.position_at_end(look)
    b.ir.store(access.address.ir, b.scratch(), align=64)
    mask = b.ir.zext(b.bits_of(b.active), WORD)
    asked = access.alignment << ALIGNMENT_SHIFT | SPANS * access.spans
    size = ir.Constant(WORD, access.bytes | asked)
    fault = b.runtime("check", [b.field("warp", "number"), access.site, size, mask])
    b.fail_if(b.ir.icmp_unsigned("!=", fault, ir.Constant(WORD, 0)))
    translated = b.load_vector(b.scratch(), I64)
    end = b.ir.block
    b.ir.branch(go_on)
    b.ir.position_at_end(go_on)
    merged = b.ir.phi(b.vector(I64))
    merged.add_incoming(host.ir, before)
    merged.add_incoming(translated.ir, end)
    return Value(merged, I64)
