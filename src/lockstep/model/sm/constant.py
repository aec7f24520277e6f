"""Constant caches: the SM's for loads whose address is known, each sub-core's for operands.

Arithmetic reads an operand in constant memory when it issues, from a small cache of its sub-core
that is apart from the one for loads [Huerta 2025]. What these two lack comes from the SM's L1
cache, which instructions and constants share. The bank that holds the parameters of a kernel is
brought there when it is launched.
"""

from lockstep._jit import inline, jit
from lockstep.model.sm.fetch import from_l1, insert, lookup, set_of_l1


@inline
def line_of_shared_cache(c, address):
    """The line of constants at ``address`` in the SM's L1 cache of instructions and constants.

    They are numbered downwards from -2, so that none is a line of code.
    """
    return -2 - address // c.spec[0].line_bytes


@inline
def from_shared_cache(c, s, address, now):
    """Cycle from which the SM's L1 instruction cache has the constant at ``address``."""
    return from_l1(c, s, line_of_shared_cache(c, address), now) - c.spec[0].l1i_latency


@jit
def bring(c, base, size, now):
    """A launch brings ``size`` bytes of constants from ``base`` to the L1 caches of all SMs.

    What the launch itself costs was measured with kernels that read a constant first of all.
    """
    spec = c.spec[0]
    if spec.l1i_sets == 0 or size == 0:
        return
    last = line_of_shared_cache(c, base + size - 1)
    for s in range(spec.sms):
        for line in range(line_of_shared_cache(c, base), last - 1, -1):
            insert(c.instructions, set_of_l1(c, s, line), spec.l1i_ways, line, now, now)


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
