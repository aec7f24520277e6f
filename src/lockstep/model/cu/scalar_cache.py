"""The scalar data cache, which neighbouring compute units share: read only, 64-byte lines.

A line that is absent takes a fixed time from the L2, and no room on the way there.
"""

from lockstep._jit import inline
from lockstep.model.cache import line_cache
from lockstep.model.cache.line_cache import ABSENT


@inline
def line_arrives(c, s, line, now):
    """Cycle from which the cache has a line, which it asks for if it is absent."""
    spec, leader = c.spec[0], c.cus[s].leader
    arrives = line_cache.look_up(c.constants, leader, line, now)
    if arrives != ABSENT:
        return max(now, arrives)
    c.counters[s].constant_misses += 1
    arrives = now + spec.constant_miss - spec.constant_latency
    line_cache.insert(c.constants, leader, line, now, arrives)
    return arrives


@inline
def load(c, s, address, width, now):
    """Cycle at which the scalars at ``address`` are in their registers."""
    spec = c.spec[0]
    c.counters[s].constant_accesses += 1
    if line_cache.is_perfect(c.constants):
        return now + spec.constant_latency
    first, last = address // spec.constant_line, (address + width - 1) // spec.constant_line
    arrives = now
    for line in range(first, last + 1):
        arrives = max(arrives, line_arrives(c, s, line, now))
    return arrives + spec.constant_latency
