"""What is done to all SMs between two windows: when a kernel starts, and when counters are read."""

from lockstep._jit import jit
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.core.accounting import settle


@jit
def prepare_l1(c, ways, flush):
    """Let every L1 use ``ways`` ways; it is emptied if that changes its size, or on ``flush``."""
    tags = c.l1.tags
    for s in range(c.spec[0].sms):
        if flush or tags.caches[s].ways != ways:
            invalidate(c.l1, s, c.counters[s])
            tags.caches[s].ways = min(ways, tags.shape[0].ways)


@jit
def settle_all(c, now):
    """Bring the lazily kept counters of all SMs up to ``now``."""
    for s in range(c.spec[0].sms):
        settle(c, s, now)
