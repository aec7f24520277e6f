"""Instruction fetch: an L0 cache a sub-core with a stream buffer, over the SM's L1 cache.

The fetch unit delivers one instruction a cycle and sub-core, which is also the issue rate, so the
instruction buffer of a warp never runs dry within a line; only misses and taken branches empty it.
Lookups are therefore by line: when an instruction issues, a place becomes free in the buffer, and
if what comes there is the first of another line, that line is asked for. A warp that jumps asks
when it gets there.
"""

from lockstep._jit import force_inline, inline
from lockstep.model.cache import line_cache
from lockstep.model.cache.line_cache import ABSENT


@inline
def from_l1(c, s, line, now):
    """Cycle at which the SM's L1 instruction cache, or the L2 behind it, delivers ``line``."""
    spec = c.spec[0]
    if line_cache.is_perfect(c.l1i):
        return now + spec.l1i_latency
    arrives = line_cache.look_up(c.l1i, s, line, now)
    if arrives != ABSENT:
        return max(now, arrives) + spec.l1i_latency
    c.counters[s].l1i_misses += 1
    arrives = now + spec.l2i_latency
    line_cache.insert(c.l1i, s, line, now, arrives)
    return arrives


@inline
def prefetch(c, s, b, first, last, now):
    """Ask the L1 instruction cache for lines first..last-1, one a cycle; they follow each other."""
    spec, sub = c.spec[0], c.subcores[s, b]
    for line in range(first, last):
        arrives = from_l1(c, s, line, now + line - first)
        if spec.fill_interval > 0:
            arrives = sub.filled = max(arrives, sub.filled + spec.fill_interval)
        c.streams[s, b, line % spec.stream_buffer] = arrives


@inline
def beyond_l0(c, s, b, line, now):
    """Cycle at which a line that is not in the L0 arrives; moves the stream buffer on."""
    spec = c.spec[0]
    sub = c.subcores[s, b]
    ahead = line - sub.stream_line
    if 0 <= ahead < sub.stream_count:
        arrives = max(now, c.streams[s, b, line % spec.stream_buffer])
        wanted = sub.stream_line + sub.stream_count
    else:
        c.counters[s].l0i_misses += 1
        arrives = sub.filled = from_l1(c, s, line, now)  # before those that nobody wants yet
        wanted = line + 1
    if spec.stream_buffer > 0:
        prefetch(c, s, b, wanted, line + 1 + spec.stream_buffer, now + 1)
        sub.stream_line = line + 1
        sub.stream_count = spec.stream_buffer
    return arrives


@force_inline
def empty_buffer(warp):
    """A warp goes on elsewhere, or starts: what its instruction buffer holds is of no use."""
    warp.line = -1
    warp.ahead = -1


@inline
def fetch(c, s, b, line, now):
    """Cycle at which sub-core ``b`` of SM ``s`` has the instruction line in its L0."""
    if line_cache.is_perfect(c.l0i):
        return now
    c.counters[s].l0i_accesses += 1
    l0 = s * c.spec[0].subcores + b
    arrives = line_cache.look_up(c.l0i, l0, line, now)
    if arrives != ABSENT:
        return max(now, arrives)
    arrives = beyond_l0(c, s, b, line, now)
    line_cache.insert(c.l0i, l0, line, now, arrives)
    return arrives


@inline
def fetch_ahead(c, s, b, warp, line, now):
    """The instruction buffer asks for the first instruction of another line."""
    warp.ahead = line
    warp.ahead_ready = fetch(c, s, b, line + c.kernels[warp.kernel].fetch_base, now)


@inline
def move_to_line(c, s, b, warp, line, now):
    """The warp's next instruction is in another line; the cycle at which it is in the buffer."""
    if warp.ahead == line:
        at = warp.ahead_ready
    else:
        at = fetch(c, s, b, line + c.kernels[warp.kernel].fetch_base, now)
    warp.line = line
    warp.ahead = -1
    return at
