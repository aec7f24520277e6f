"""Bulk copies of tiles of tensors (cp.async.bulk.tensor); they are done when they are issued."""

from llvmlite import ir

from lockstep.frontend.exec.lanes import barrier_objects
from lockstep.frontend.exec.lanes import tensor as lanes
from lockstep.frontend.exec.lanes.addresses import Access
from lockstep.frontend.exec.lanes.builder import WORD
from lockstep.frontend.exec.lanes.tensor import TensorTile
from lockstep.frontend.exec.ptx.async_copy import receivers
from lockstep.frontend.exec.ptx.barrier_objects import OBJECT_BYTES
from lockstep.frontend.exec.ptx.lift import Lift
from lockstep.frontend.exec.ptx.opcodes import opcode
from lockstep.frontend.exec.ptx.operands import access_of, elements
from lockstep.frontend.exec.state import Window
from lockstep.frontend.exec.tensor_maps import CHUNK, MAP_ALIGNMENT
from lockstep.isa.ptx.syntax import Instruction, Memory

_AXES = "{1d,2d,3d,4d,5d}"
_HINT = "[.L2::cache_hint]"
_MULTICAST = "[.multicast::cluster]"
_BARRIER = "mbarrier::complete_tx::bytes"
_STORE = "[.tile].bulk_group"


def _tile(lift: Lift, i: Instruction, operand: Memory) -> TensorTile:
    """The tile that a tensor operand names; its tensor map's address goes to the stream."""
    if not isinstance(operand, Memory) or not operand.extra:
        raise lift.refuse(f"{i.name} needs a tensor map and coordinates in brackets")
    coordinates = [lift.read(c, "s32") for c in elements(operand.extra[-1])]
    axes = int(next(w for w in i.modifiers if f"{w}," in f"{_AXES[1:-1]},")[0])
    if len(coordinates) != axes:
        raise lift.refuse(f"{i.name} needs {axes} coordinates")
    place = access_of(lift, Memory(operand.base, operand.offset), "generic", MAP_ALIGNMENT)
    bad, own = (ir.Constant(WORD, lift.site(w)) for w in (Window.TENSOR_MAP, Window.GLOBAL))
    return TensorTile(place, bad, own, coordinates)


def _shared(lift: Lift, operand: Memory) -> Access:
    return access_of(lift, operand, "shared", CHUNK, record=False)


@opcode(
    f"cp.async.bulk.tensor.{_AXES}.shared::cta.global[.tile].{_BARRIER}{_HINT}",
    f"cp.async.bulk.tensor.{_AXES}.shared::cluster.global[.tile].{_BARRIER}{_MULTICAST}{_HINT}",
    destinations=0,
)
def load(lift: Lift, i: Instruction) -> None:
    """Bytes outside the tensor count for the barrier too."""
    target, source, barrier = i.operands[:3]
    tile = _tile(lift, i, source)
    to = access_of(lift, target, "cluster", CHUNK, record=False)
    place = access_of(lift, barrier, "cluster", OBJECT_BYTES, record=False)
    with receivers(lift, i, 3, to, place) as (here, told):
        size = lanes.load_tile(lift.b, tile, here)
        barrier_objects.complete_bytes(lift.b, told, size)


@opcode(f"cp.async.bulk.tensor.{_AXES}.global.shared::cta{_STORE}{_HINT}", destinations=0)
def store(lift: Lift, i: Instruction) -> None:
    target, source = i.operands[:2]
    lanes.store_tile(lift.b, _tile(lift, i, target), _shared(lift, source))


@opcode(
    f"cp.reduce.async.bulk.tensor.{_AXES}.global.shared::cta."
    f"{{add,min,max,inc,dec,and,or,xor}}{_STORE}{_HINT}",
    destinations=0,
)
def reduce(lift: Lift, i: Instruction) -> None:
    target, source = i.operands[:2]
    operation = next(w for w in i.modifiers if w in lanes.REDUCED)
    lanes.reduce_tile(lift.b, _tile(lift, i, target), _shared(lift, source), operation)


@opcode(f"cp.async.bulk.prefetch.tensor.{_AXES}.L2.global[.tile]{_HINT}", destinations=0)
def prefetch(lift: Lift, i: Instruction) -> None:
    """Caches are the timing model's."""
