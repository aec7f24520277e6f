"""Bulk copies of tiles of tensors (UTMALDG and its kin); they are done when they are issued.

A warp makes each once, whatever its lanes. Consecutive uniform registers hold, of a load, the
places of the tile and of the barrier in shared memory, then the coordinates; of what writes to the
tensor, the place of the tile and the coordinates. A register more has the offsets of im2col below
bit 16, 16, 8 or 5 bits each for one, two or three of them, and the CTAs of a multicast above (seen
in code that ptxas makes of cp.async.bulk.tensor).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from lockstep.execution.lanes import tensor as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.async_copy import CHUNK
from lockstep.execution.lanes.async_copy import receivers as cluster_receivers
from lockstep.execution.lanes.integer import shift_right
from lockstep.execution.lanes.tensor_record import record_tile
from lockstep.execution.lanes.tensor_tile import TensorTile
from lockstep.execution.lanes.types import I32, Value
from lockstep.execution.memory.tensor_maps import IM2COL, MAP_ALIGNMENT, TILED
from lockstep.execution.sass.barrier_objects import OBJECT_BYTES, complete_bytes
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.memory import address_of
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Register

_SHAPES = "1D 2D 3D 4D 5D IM2COL"
_OFFSET_BITS = {1: 16, 2: 8, 3: 5}  # by how many there are
_MASK = 16  # lowest bit of a multicast's CTAs


@opcode("UTMALDG", modifiers=f"{_SHAPES} MULTICAST")
def load(lift: Lift, i: Instruction) -> None:
    """Bytes outside the tensor count for the barrier too."""
    target = i.operands[0]
    with lift.once():
        to = shared_end(lift, target, CHUNK)
        barrier = shared_end(lift, next_place(target), OBJECT_BYTES)
        tile = _tile(lift, i, target.uniform.number + 2)
        _record(lift, tile, barrier.address)
        with receivers(lift, i, to, barrier) as (here, told):
            complete_bytes(lift.b, told, lanes.load_tile(lift.b, tile, here))


@opcode("UTMASTG", modifiers=_SHAPES)
def store(lift: Lift, i: Instruction) -> None:
    source = i.operands[0]
    with lift.once():
        tile = _tile(lift, i, source.uniform.number + 1)
        _record(lift, tile)
        lanes.store_tile(lift.b, tile, own_end(lift, source))


@opcode("UTMAREDG", modifiers=f"{_SHAPES} ADD MIN MAX INC DEC AND OR XOR")
def reduce(lift: Lift, i: Instruction) -> None:
    source = i.operands[0]
    operation = next(m.lower() for m in i.modifiers if m.lower() in lanes.REDUCED)
    with lift.once():
        tile = _tile(lift, i, source.uniform.number + 1)
        _record(lift, tile)
        lanes.reduce_tile(lift.b, tile, own_end(lift, source), operation)


@opcode("UTMAPF.L2", "UBLKPF.L2", "UTMACCTL", "UTMACMDFLUSH", modifiers=f"{_SHAPES} IV IVALL PF")
def nothing(lift: Lift, i: Instruction) -> None:
    """Copies are complete already; caches are the timing model's."""


def _tile(lift: Lift, i: Instruction, first: int) -> TensorTile:
    """The tile that a tensor map and coordinates from a uniform register on name."""
    axes = next(int(m[0]) for m in i.modifiers if m[:1].isdigit())
    coordinates = [lift.register("UR", first + k) for k in range(axes)]
    im2col = "IM2COL" in i.modifiers
    if im2col and axes - 2 not in _OFFSET_BITS:
        raise lift.refuse("im2col takes 3 to 5 axes")
    offsets = _offsets(lift, i, axes - 2) if im2col else []
    address = address_of(lift, i.operands[1], Window.GLOBAL)
    place = Access(Window.GLOBAL, address, MAP_ALIGNMENT, lift.site(Window.GLOBAL))
    bad, own = (lift.site(w) for w in (Window.TENSOR_MAP, Window.GLOBAL))
    return TensorTile(IM2COL if im2col else TILED, place, bad, own, coordinates, offsets)


def _offsets(lift: Lift, i: Instruction, count: int) -> list[Value]:
    """The offsets of im2col in W, H and D; stores have none."""
    b, packed = lift.b, last_word(lift, i)
    if i.mnemonic != "UTMALDG":
        return [b.constant(I32, 0)] * count
    bits = _OFFSET_BITS[count]
    mask = b.constant(I32, (1 << bits) - 1)
    parts = (shift_right(b, packed, bits * k) for k in range(count))
    return [Value(b.ir.and_(part.ir, mask.ir), I32) for part in parts]


def _record(lift: Lift, tile: TensorTile, barrier: Value | None = None) -> None:
    """Tell the stream of a tile, and of the barrier object that its copy completes."""
    if lift.stream is not None:
        record_tile(lift.b, tile, lift.stream.tile(lift.number), barrier)


def next_place(operand: Address) -> Address:
    """The address in the uniform register after that of an operand."""
    return Address(uniform=replace(operand.uniform, number=operand.uniform.number + 1))


def shared_end(lift: Lift, operand: Address, size: int) -> Access:
    """An access to shared memory, maybe that of another CTA of the cluster."""
    window = Window.CLUSTER if lift.clustered else Window.SHARED
    return Access(window, address_of(lift, operand, window), size, lift.site(window))


def own_end(lift: Lift, operand: Address) -> Access:
    """An access to the CTA's own shared memory."""
    address = address_of(lift, operand, Window.SHARED)
    return Access(Window.SHARED, address, CHUNK, lift.site(Window.SHARED))


def last_word(lift: Lift, i: Instruction) -> Value:
    """The uniform register behind the addresses; zero if there is none."""
    registers = [o for o in i.operands if isinstance(o, Register) and o.file == "UR"]
    return lift.read(registers[-1]) if registers else lift.b.constant(I32, 0)


@contextmanager
def receivers(
    lift: Lift, i: Instruction, target: Access, barrier: Access
) -> Iterator[tuple[Access, Access]]:
    """Where a copy goes: to the target, or with a mask of CTAs to the same place in each of them.

    Yields target and barrier.
    """
    if "MULTICAST" not in i.modifiers:
        yield target, barrier
        return
    mask = shift_right(lift.b, last_word(lift, i), _MASK)
    with cluster_receivers(lift.b, mask, target, barrier) as ends:
        yield ends
