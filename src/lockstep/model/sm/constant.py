"""Constant cache of an SM, for constant loads whose address is known.

What it lacks comes from the SM's L1 cache, which instructions and constants share.
"""

from lockstep._jit import inline
from lockstep.model.sm.fetch import from_l1, insert, lookup


@inline
def from_shared_cache(c, s, address, now):
    """Cycle from which the SM's L1 instruction cache has the constant at ``address``.

    Lines of constants are numbered downwards from -2, so that none is a line of code.
    """
    spec = c.spec[0]
    return from_l1(c, s, -2 - address // spec.line_bytes, now) - spec.l1i_latency


@inline
def load(c, s, address, now):
    """Cycle at which a dependent instruction may use the constant at ``address``."""
    spec = c.spec[0]
    c.counters[s].constant_accesses += 1
    if spec.constant_sets == 0:
        return now + spec.constant_latency
    line = address // spec.constant_line
    first = line % spec.constant_sets * spec.constant_ways
    k = lookup(c.constants[s], first, spec.constant_ways, line)
    if k >= 0:
        way = c.constants[s, k]
        way.used = now
        return max(now, way.arrives) + spec.constant_latency
    c.counters[s].constant_misses += 1
    ready = from_shared_cache(c, s, address, now) + spec.constant_miss
    insert(c.constants[s], first, spec.constant_ways, line, now, ready - spec.constant_latency)
    return ready
