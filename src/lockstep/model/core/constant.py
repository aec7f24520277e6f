"""Constant caches: the SM's for loads whose address is known, each sub-core's for operands.

Arithmetic reads an operand in constant memory when it issues, from a small cache of its sub-core
that is apart from the one for loads [Huerta 2025]. What these two lack comes from the SM's L1
cache, which instructions and constants share. The bank that holds the parameters of a kernel is
brought there when it is launched.
"""

import numpy as np

from lockstep._jit import inline, jit
from lockstep.model.cache import line_cache
from lockstep.model.cache.line_cache import ABSENT
from lockstep.model.core.fetch import from_l1


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
    if line_cache.is_perfect(c.l1i) or size == 0:
        return
    last = line_of_shared_cache(c, base + size - 1)
    for s in range(c.spec[0].sms):
        for line in range(line_of_shared_cache(c, base), last - 1, -1):
            line_cache.insert(c.l1i, s, line, now, now)


@jit
def hold(c, addresses, now):
    """All SMs have these constants."""
    if line_cache.is_perfect(c.constants):
        return
    last = np.int64(-1)
    for k in range(len(addresses)):
        line = addresses[k] // c.spec[0].constant_line
        for s in range(c.spec[0].sms if line != last else 0):
            _keep(c.constants, s, line, now)
            if not line_cache.is_perfect(c.l1i):
                _keep(c.l1i, s, line_of_shared_cache(c, addresses[k]), now)
        last = line


@inline
def _keep(lines, s, line, now):
    if line_cache.look_up(lines, s, line, now) == ABSENT:
        line_cache.insert(lines, s, line, now, now)


@inline
def load(c, s, address, now):
    """Cycle at which a dependent instruction may use the constant at ``address``."""
    spec = c.spec[0]
    c.counters[s].constant_accesses += 1
    if line_cache.is_perfect(c.constants):
        return now + spec.constant_latency
    line = address // spec.constant_line
    arrives = line_cache.look_up(c.constants, s, line, now)
    if arrives != ABSENT:
        return max(now, arrives) + spec.constant_latency
    c.counters[s].constant_misses += 1
    ready = from_shared_cache(c, s, address, now) + spec.constant_miss
    line_cache.insert(c.constants, s, line, now, ready - spec.constant_latency)
    return ready


@inline
def operand(c, s, b, kernel, constant, now):
    """Cycle from which sub-core ``b`` has a constant operand of a kernel.

    Launches share no line: the same place holds other parameters in each.
    """
    spec = c.spec[0]
    c.counters[s].operand_constants += 1
    address = kernel.constant_base + constant
    line, cache = address // spec.constant_line, s * spec.subcores + b
    arrives = line_cache.look_up(c.operand_constants, cache, line, now)
    if arrives != ABSENT:
        return arrives
    c.counters[s].operand_constant_misses += 1
    ready = from_shared_cache(c, s, address, now) + spec.operand_miss
    line_cache.insert(c.operand_constants, cache, line, now, ready)
    return ready
