"""The scalar data cache, which neighbouring compute units share: read only, lines of the L2."""

from lockstep._jit import inline
from lockstep.model.cache import line_cache, line_misses
from lockstep.model.cache.line_cache import ABSENT
from lockstep.model.clock import NEVER
from lockstep.model.core.done import wake_memory
from lockstep.model.core.kinds import LGKM_COUNT, SCALARS
from lockstep.model.core.state import WAIT_LINES
from lockstep.model.cu import waits


@inline
def takes(c, s):
    """Whether a CU can ask for all lines that a scalar load may lack."""
    return line_cache.is_perfect(c.constants) or line_misses.room(c.lines, s) >= WAIT_LINES


@inline
def line_arrives(c, s, line, now):
    """Cycle from which the cache has a line; NEVER: it is on its way, maybe asked for just now."""
    spec, leader = c.spec[0], c.cus[s].leader
    arrives = line_cache.look_up(c.constants, leader, line, now)
    if arrives != ABSENT:
        return max(now, arrives)
    c.counters[s].constant_misses += 1
    line_misses.ask(c.lines, s, SCALARS, line, line * spec.constant_line, now)
    wake_memory(c, s, now + 1)
    line_cache.insert(c.constants, leader, line, now, NEVER)
    return NEVER


@inline
def load(c, s, state, address, width, now):
    """Load scalars at ``address`` for the wavefront of wait counters ``state``; there is room."""
    spec = c.spec[0]
    c.counters[s].constant_accesses += 1
    place = waits.rise(state, LGKM_COUNT, now + spec.constant_latency)
    if line_cache.is_perfect(c.constants):
        return
    first, last = address // spec.constant_line, (address + width - 1) // spec.constant_line
    for line in range(first, last + 1):
        arrives = line_arrives(c, s, line, now)
        if arrives < NEVER:
            waits.delay(state, LGKM_COUNT, place, arrives + spec.constant_latency)
        else:
            waits.await_line(state, place, line - first, line)
