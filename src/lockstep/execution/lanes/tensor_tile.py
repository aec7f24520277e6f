"""What describes a tile of a tensor for each lane, and the walks of all lanes through theirs."""

import msgspec
from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.lanes.addresses import Access, host_addresses, refuse
from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, element, lanes_in_order, spill
from lockstep.execution.lanes.gathering import gather
from lockstep.execution.lanes.tensor_walk import TensorWalk
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.memory.tensor_maps import (
    FIELDS,
    IM2COL,
    INTERLEAVES,
    KINDS,
    MAGIC,
    MAP_ALIGNMENT,
)


class TensorTile(msgspec.Struct, frozen=True):
    """A tile for each active lane: its tensor map, first coordinates (i32, innermost first).

    ``mode``: TILED or IM2COL, which has ``offsets`` (i32) in the bounding box. Sites: ``bad``
    (Window.TENSOR_MAP) reports what is no tensor map, ``site`` (Window.GLOBAL) is that of the
    tensor.
    """

    mode: int
    map: Access
    bad: ir.Value
    site: ir.Value
    coordinates: list[Value]
    offsets: list[Value]

    @property
    def name(self) -> str:
        """Distinguishes tiles for which different code is needed."""
        mode = "im2col" if self.mode == IM2COL else "tile"
        return f"{mode}_{self.map.window.name.lower()}_{len(self.coordinates)}"

    @property
    def arguments(self) -> Values:
        """What an outlined function needs of it: :meth:`inside` takes them."""
        numbers = [c.ir for c in (*self.coordinates, *self.offsets)]
        return [self.map.address.ir, self.map.site, self.bad, self.site, *numbers]

    def inside(self, address: ir.Value, site: ir.Value, bad, own, *numbers) -> "TensorTile":
        """The same in an outlined function that got the arguments."""
        values = [Value(n, I32) for n in numbers]
        rank = len(self.coordinates)
        place = self.map.inside(address, site)
        return TensorTile(self.mode, place, bad, own, values[:rank], values[rank:])


class Walks(msgspec.Struct, frozen=True):
    """The walks of all active lanes; ``maps``: host addresses of their tensor maps (i64)."""

    b: LaneBuilder
    tile: TensorTile
    maps: ir.Value  # spilled
    numbers: Values  # spilled

    def each(self) -> "_EachLane":
        """A loop over the active lanes: lane number (i32) and :class:`TensorWalk`."""
        return _EachLane(self)


class _EachLane:
    def __init__(self, walks: Walks):
        self._walks, self._lanes = walks, lanes_in_order(walks.b)

    def __enter__(self) -> tuple[ir.Value, TensorWalk]:
        b, tile = self._walks.b, self._walks.tile
        lane = self._lanes.__enter__()
        record = b.ir.load(element(b, self._walks.maps, WORD, lane), typ=WORD)
        numbers = [b.ir.load(element(b, n, HALF, lane), typ=HALF) for n in self._walks.numbers]
        rank = len(tile.coordinates)
        return lane, TensorWalk(b, tile.mode, record, numbers[:rank], numbers[rank:])

    def __exit__(self, *problem) -> None:
        self._lanes.__exit__(*problem)


def walks_of(b: LaneBuilder, tile: TensorTile, kinds: tuple[str, ...] = KINDS) -> Walks:
    """The walks through tiles whose tensor maps fit: so many axes, of such kinds; else a fault."""
    host = _maps(b, tile, kinds)
    numbers = [spill(b, v.ir) for v in (*tile.coordinates, *tile.offsets)]
    walks = Walks(b, tile, spill(b, host.ir), numbers)
    bad = spill(b, b.constant(I32, 0).ir)
    with walks.each() as (lane, walk):
        b.ir.store(b.ir.zext(walk.bad, HALF), element(b, bad, HALF, lane))
    found = b.load_vector(bad, I32)
    wrong = b.ir.icmp_unsigned("!=", found.ir, b.constant(I32, 0).ir)
    refuse(b, replace(tile.map, site=tile.bad), Value(wrong, PRED))
    return walks


def _maps(b: LaneBuilder, tile: TensorTile, kinds: tuple[str, ...]) -> Value:
    """Host addresses of the tensor maps."""
    host = host_addresses(b, replace(tile.map, spans=True))
    kind = tile.map.address.type
    half = b.ir.add(tile.map.address.ir, b.constant(kind, MAP_ALIGNMENT).ir)
    host_addresses(b, replace(tile.map, address=Value(half, kind), spans=True))
    axes = len(tile.coordinates)
    rank, number, interleave, magic, mode = (
        _field(b, host, name) for name in ("rank", "kind", "interleave", "magic", "mode")
    )
    same = b.ir.and_(_is(b, rank, axes - 1), _is(b, mode, tile.mode))
    known = b.ir.or_(_is(b, magic, MAGIC), _is(b, magic, 0))  # 0: a kernel has made it
    wrong = b.ir.not_(b.ir.and_(same, known))
    most = len(INTERLEAVES) if axes > 2 else 1
    odd = b.ir.icmp_unsigned(">=", interleave, b.constant(I64, most).ir)
    allowed = b.constant(PRED, 0).ir
    for name in kinds:
        allowed = b.ir.or_(allowed, _is(b, number, KINDS.index(name)))
    wrong = b.ir.or_(b.ir.or_(wrong, odd), b.ir.not_(allowed))
    refuse(b, replace(tile.map, site=tile.bad), Value(wrong, PRED))
    return host


def _field(b: LaneBuilder, host: Value, name: str) -> ir.Value:
    """A field of each lane's tensor map (i64)."""
    field = FIELDS[name]
    start, shift = divmod(field.first, I64.bits)
    place = Value(b.ir.add(host.ir, b.constant(I64, start * I64.bytes).ir), I64)
    word = b.ir.lshr(gather(b, place, I64), b.constant(I64, shift).ir)
    return b.ir.and_(word, b.constant(I64, (1 << field.bits) - 1).ir)


def _is(b: LaneBuilder, field: ir.Value, number: int) -> ir.Value:
    return b.ir.icmp_unsigned("==", field, b.constant(I64, number).ir)
