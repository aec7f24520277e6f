"""The way between the sides of a chip: what crosses to a slice shares its way in."""

from lockstep._jit import force_inline
from lockstep.gpus.spec import GPU

PARTS = 16  # of a core cycle, in which it keeps time


def step(gpu: GPU) -> int:
    """How long a sector takes on the way to one slice, in PARTS of a core cycle; 0 = no time."""
    l2 = gpu.l2
    if l2.side_reads != "near" or not l2.side_bytes_per_cycle:
        return 0
    slices = gpu.dram.channels * l2.slices_per_channel // l2.sides  # they share what crosses
    return max(1, round(PARTS * l2.sector_bytes * slices / l2.side_bytes_per_cycle))


@force_inline
def cross(spec, state, sectors, now):
    """Core cycle at which sectors that leave another side ``now`` are at the slice of ``state``."""
    if spec.cross_step == 0:
        return now + spec.far_cycles
    state.cross_free = max(state.cross_free, now * PARTS) + sectors * spec.cross_step
    return -(-state.cross_free // PARTS) + spec.far_cycles
