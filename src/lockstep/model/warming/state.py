"""What a walk keeps between two calls."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model.records import records, words

WALK = np.dtype(words("clock", "warps"))
"""``clock``: of the order of uses: later than any cycle of the simulation so far, and counted in
accesses; ``warps``: those that are on their way."""

PLACE = np.dtype(words("sm", "warp"))


class WarmWalk(Context):
    """Warps on their way, those of the CTA that was dispatched first in front."""

    state: Records  # WALK, one
    places: Records  # PLACE


def build(gpu: GPU) -> WarmWalk:
    """Nobody is on his way."""
    return WarmWalk(records(1, WALK), records(gpu.sm.count * gpu.sm.warps, PLACE))
