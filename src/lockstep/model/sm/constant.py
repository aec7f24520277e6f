"""Constant cache of an SM, for constant loads whose address is known."""

from lockstep._jit import inline
from lockstep.model.sm.fetch import insert, lookup


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
    arrives = now + spec.constant_miss - spec.constant_latency
    insert(c.constants[s], first, spec.constant_ways, line, now, arrives)
    return now + spec.constant_miss
