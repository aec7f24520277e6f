"""Where launches before a kernel were placed: who is next, and which SMs have its code."""

from lockstep._jit import inline, jit
from lockstep.model.cache import line_cache, tags
from lockstep.model.cache.line_cache import ABSENT


@jit
def forget_code(c, d):
    """No instruction cache holds anything, and the first SM is next."""
    d.state[0].next_place = 0
    _empty(c.l0i)
    _empty(c.l1i)
    for s in range(c.spec[0].sms):
        for b in range(c.spec[0].subcores):
            c.subcores[s, b].stream_count = 0


@jit
def hold_code(c, d, slot, count, launches, number, there, marks, now):
    """The kernel in a slot begins after launches that are not there, each in turn on all SMs.

    Instruction caches hold its ``count`` instructions, where a launch of the same ``number`` put a
    CTA. ``launches``: a row a launch, its number and its CTAs; the SMs are those behind the first
    ``there`` of them. ``marks``: zero, one an SM.
    """
    places, place = len(d.turns), 0
    for k in range(len(launches)):
        if k == there:
            place = d.state[0].next_place
        place, ctas = d.begins[place], launches[k, 1]
        if launches[k, 0] == number:
            for n in range(min(ctas, places)):
                marks[d.turns[(place + n) % places]] = 1
        place = (place + ctas) % places
    d.state[0].next_place = place
    for s in range(c.spec[0].sms):
        if marks[s] != 0:
            _bring(c.l1i, s, c, slot, count, now)
            for b in range(c.spec[0].subcores):
                _bring(c.l0i, s * c.spec[0].subcores + b, c, slot, count, now)


@inline
def _empty(lines):
    """Empty some caches of whole lines."""
    for row in range(lines.lines.shape[0]):
        for way in range(lines.shape[0].ways):
            tags.forget(lines, row, way)
            tags.way_of(lines, row, way).arrives = 0


@inline
def _bring(lines, i, c, slot, count, now):
    """Cache ``i`` has the lines of a kernel, those that come last in the code used last."""
    if line_cache.is_perfect(lines):
        return
    kernel, last = c.kernels[slot], -1
    for k in range(count):
        line = c.code[kernel.code + k].line // c.spec[0].line_pieces
        if line != last and line_cache.look_up(lines, i, line + kernel.fetch_base, now) == ABSENT:
            line_cache.insert(lines, i, line + kernel.fetch_base, now, now)
        last = line
