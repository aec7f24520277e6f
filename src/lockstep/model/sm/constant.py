"""Constant caches: the SM's for loads whose address is known, each sub-core's for operands.

Arithmetic reads an operand in constant memory when it issues, from a small cache of its sub-core
that is apart from the one for loads [Huerta 2025]. What these two lack comes from the SM's L1
cache, which instructions and constants share.
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


@inline
def operand(c, s, b, kernel, constant, now):
    """Cycle from which sub-core ``b`` has a constant operand of a kernel.

    Launches share no line: the same place holds other parameters in each.
    """
    spec = c.spec[0]
    c.counters[s].operand_constants += 1
    address = kernel.constant_base + constant
    line = address // spec.constant_line
    first = b * spec.operand_sets + line % spec.operand_sets
    first = spec.constant_lines + first * spec.operand_ways
    k = lookup(c.constants[s], first, spec.operand_ways, line)
    if k >= 0:
        way = c.constants[s, k]
        way.used = now
        return way.arrives
    c.counters[s].operand_constant_misses += 1
    ready = from_shared_cache(c, s, address, now) + spec.operand_miss
    insert(c.constants[s], first, spec.operand_ways, line, now, ready)
    return ready
