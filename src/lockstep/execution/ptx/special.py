"""Special registers: what PTX tells a thread about its place, its launch and the time."""

from llvmlite import ir

from lockstep.execution.lanes.addresses import lane_numbers
from lockstep.execution.lanes.builder import POINTER, WORD
from lockstep.execution.lanes.types import I32, I64, PRED, Type, Value
from lockstep.execution.programs.translation import BlockLift
from lockstep.isa.instruction import ALL_LANES, RESERVED_SHARED, WARP_SIZE

_AXES = ("x", "y", "z")
_VECTORS = {  # record and field without the axis
    "%ntid": ("launch", "ntid"),
    "%nctaid": ("launch", "nctaid"),
    "%ctaid": ("cta", "ctaid"),
    "%clusterid": ("cta", "clusterid"),
    "%nclusterid": ("launch", "nclusterid"),
    "%cluster_ctaid": ("cta", "cluster_ctaid"),
    "%cluster_nctaid": ("launch", "cluster"),
}
_SCALARS = {
    "%warpid": ("warp", "index"),
    "%nwarpid": ("launch", "warps"),
    "%smid": ("cta", "sm"),
    "%nsmid": ("launch", "sms"),
    "%gridid": ("launch", "grid_id"),
    "%dynamic_smem_size": ("launch", "dynamic_shared_bytes"),
    "%aggr_smem_size": ("launch", "shared_bytes"),
    "%cluster_ctarank": ("cta", "rank"),
    "%cluster_nctarank": ("launch", "cluster_ctas"),
}
_CONSTANTS = {
    "WARP_SZ": WARP_SIZE,
    **{f"%envreg{k}": 0 for k in (0, *range(3, 32))},  # CUDA's driver leaves them zero
    **{f"%pm{k}": 0 for k in range(8)},  # nothing is counted
    **{f"%pm{k}_64": 0 for k in range(8)},
    # What is reserved begins shared memory, as on Hopper; CUDA uses one of its places alone.
    "%reserved_smem_offset_begin": 0,
    "%reserved_smem_offset_end": RESERVED_SHARED,
    "%reserved_smem_offset_cap": RESERVED_SHARED,
    "%reserved_smem_offset_0": 0,
    "%reserved_smem_offset_1": 0,
}
_WIDE = {"%gridid", *(f"%pm{k}_64" for k in range(8))}
_CLOCKS = {  # record, lowest bit, type
    "%clock": ("clock", 0, I32),
    "%clock_hi": ("clock", 32, I32),
    "%clock64": ("clock", 0, I64),
    "%globaltimer": ("nanoseconds", 0, I64),
    "%globaltimer_lo": ("nanoseconds", 0, I32),
    "%globaltimer_hi": ("nanoseconds", 32, I32),
}
_WORKSPACE = {"%envreg1": 32, "%envreg2": 0}  # lowest bit of the cooperative grid's workspace
_LANE_MASKS = {
    "%lanemask_eq": lambda lane: 1 << lane,
    "%lanemask_lt": lambda lane: (1 << lane) - 1,
    "%lanemask_le": lambda lane: (2 << lane) - 1,
    "%lanemask_gt": lambda lane: -(2 << lane) & ALL_LANES,
    "%lanemask_ge": lambda lane: -(1 << lane) & ALL_LANES,
}


def special(
    lift: BlockLift, name: str, component: int = -1, reserved_shared: int = 0
) -> Value | None:
    """Value of a special register in every lane, or None if there is none.

    ``component`` is the axis, if it is not part of the name; ``reserved_shared``: bytes of a CTA's
    shared memory that are the system's.
    """
    base, _, axis = name.partition(".")
    if component in range(4) and not axis:
        axis = (*_AXES, "w")[component]
        name = f"{base}.{axis}"
    if base == "%tid" or base in _VECTORS:
        if axis == "w":  # nothing is counted so
            return lift.b.constant(I32, 0)
        if axis in _AXES:
            return _coordinate(lift, base, axis)
    if name in _SCALARS:
        return lift.scalar_field(*_SCALARS[name], I64 if name in _WIDE else I32)
    if name in _CONSTANTS:
        return lift.b.constant(I64 if name in _WIDE else I32, _CONSTANTS[name])
    if name == "%total_smem_size":  # without what is reserved
        b, reserved = lift.b, lift.b.constant(I32, reserved_shared)
        return Value(
            b.ir.sub(lift.scalar_field("launch", "shared_bytes", I32).ir, reserved.ir), I32
        )
    if name in _WORKSPACE:
        b = lift.b
        half = b.ir.lshr(b.field("launch", "workspace"), ir.Constant(WORD, _WORKSPACE[name]))
        return b.splat(b.ir.trunc(half, ir.IntType(32)), I32)
    if name in _CLOCKS:
        return _clock(lift, *_CLOCKS[name])
    if name in _LANE_MASKS:
        return lift.b.each(I32, [_LANE_MASKS[name](lane) for lane in range(WARP_SIZE)])
    if name == "%laneid":
        return lane_numbers(lift.b, I32)
    if name == "%is_explicit_cluster":
        explicit = lift.scalar_field("launch", "explicit_cluster", I32)
        return Value(lift.b.ir.trunc(explicit.ir, lift.b.vector(PRED)), PRED)
    return None


def _coordinate(lift: BlockLift, base: str, axis: str) -> Value:
    if base != "%tid":
        record, field = _VECTORS[base]
        return lift.scalar_field(record, f"{field}_{axis}", I32)
    b = lift.b
    threads = b.ir.inttoptr(b.field("warp", "threads"), POINTER)
    return b.load_vector(b.offset(threads, _AXES.index(axis) * 4 * WARP_SIZE), I32)


def _clock(lift: BlockLift, field: str, low: int, kind: Type) -> Value:
    b = lift.b
    count = b.ir.lshr(lift.time(field), ir.Constant(WORD, low))
    return b.splat(b.ir.trunc(count, ir.IntType(32)) if kind == I32 else count, kind)
