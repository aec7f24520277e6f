"""Instruction fetch of a compute unit: from an instruction cache that neighbours share.

A SIMD fetches in its turn a piece of code for one of its wavefronts, in the order in which they
ask. There is no cache between it and the instruction buffers. A buffer has room for the piece that
is executed and the next one, which it asks for when the first instruction of a piece issues. So a
long instruction takes the room and the time of two words. A line that the cache lacks is asked of
the L2.
"""

from lockstep._jit import inline
from lockstep.model.cache import line_cache, line_misses
from lockstep.model.cache.line_cache import ABSENT
from lockstep.model.clock import NEVER
from lockstep.model.core.done import wake_memory
from lockstep.model.core.kinds import INSTRUCTIONS

CODE = 1 << 48  # address of the first line of code in the L2: above those of programs


@inline
def line_of(c, warp, piece):
    """The line of the instruction cache that a piece of a wavefront's code is in."""
    return piece // c.spec[0].line_pieces + c.kernels[warp.kernel].fetch_base


@inline
def line_arrives(c, s, line, now):
    """Cycle from which the cache has a line, NEVER: it is on its way, ABSENT: it cannot be."""
    leader = c.cus[s].leader
    if line_cache.is_perfect(c.l1i):
        return now
    arrives = line_cache.look_up(c.l1i, leader, line, now)
    if arrives == ABSENT and line_misses.room(c.lines, s) > 0:
        c.counters[s].l1i_misses += 1
        address = CODE + line * c.spec[0].line_bytes
        line_misses.ask(c.lines, s, INSTRUCTIONS, line, address, now)
        wake_memory(c, s, now + 1)
        line_cache.insert(c.l1i, leader, line, now, NEVER)
        return NEVER
    return arrives


@inline
def ask(c, s, b, warp, piece, now):
    """Fetch a piece for a wavefront, as soon as its SIMD can; not if its line cannot be had."""
    turn = max(now, c.fetches[s, b])
    arrives = line_arrives(c, s, line_of(c, warp, piece), turn)
    if arrives == ABSENT:
        return
    c.fetches[s, b] = turn + c.spec[0].subcores
    warp.ahead = piece
    warp.ahead_ready = arrives
    if arrives < NEVER:
        warp.ahead_ready = max(turn, arrives) + c.spec[0].l1i_latency


@inline
def fetch_ahead(c, s, b, warp, piece, now):
    """The instruction buffer asks for another piece in the SIMD's next turn."""
    ask(c, s, b, warp, piece, now + c.spec[0].subcores)


@inline
def move_to(c, s, b, warp, piece, now):
    """The wavefront needs a piece; the cycle at which it is in the buffer, NEVER: not known."""
    if warp.ahead != piece:
        ask(c, s, b, warp, piece, now)
        if warp.ahead != piece:
            c.cus[s].entry_wanted = 1
            return NEVER
    at = warp.ahead_ready
    if at < NEVER:
        warp.line = piece
        warp.ahead = -1
    return at


@inline
def fetch(c, s, b, warp, instruction, now):
    """Cycle at which all of the next instruction is buffered, NEVER: it is not known yet.

    One that lies across two pieces may need both, after a branch to it.
    """
    at = now
    first = instruction.pc // c.spec[0].fetch_bytes
    if first != instruction.line and warp.line != first:
        at = move_to(c, s, b, warp, first, now)
        if at >= NEVER:
            return at
    return max(at, move_to(c, s, b, warp, instruction.line, now))


@inline
def comes(c, warp, line, at):
    """Whether a wavefront waits for a line, which it now knows to be here at a cycle."""
    if warp.ahead < 0 or warp.ahead_ready < NEVER or line_of(c, warp, warp.ahead) != line:
        return False
    warp.ahead_ready = at
    return True
