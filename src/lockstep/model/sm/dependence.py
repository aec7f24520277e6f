"""When may a warp's next instruction read and write its registers?

Two models. The *scoreboard* knows for each register when its value is there. The *control bits*
are the compiler's: a stall count after each instruction, and six dependence barriers that rise
with an instruction and fall when it has written its result or read its sources.
"""

from lockstep._jit import force_inline, inline
from lockstep.isa.instruction import Space
from lockstep.model.clock import NEVER
from lockstep.model.core.state import DEPENDENCE_BARRIERS, LONG, SHORT

SHARED = int(Space.SHARED)


@inline
def begin(c, s, w, registers):
    """A warp starts: its first registers, so many, and all dependence barriers are clear."""
    warp = c.warps[s, w]
    warp.far = 0
    for b in range(DEPENDENCE_BARRIERS):
        warp.pending[b] = 0
        warp.clear[b] = 0
    for r in range(registers):
        c.ready[s, w, r] = 0


@force_inline
def registers_ready(c, s, w, instruction):
    """Scoreboard: cycle << 2 | producer of the operand that comes last."""
    latest = 0
    for i in range(instruction.checks):
        packed = instruction.check[i]
        first = packed & 0xFFFF
        for r in range(first, first + (packed >> 16)):
            latest = max(latest, c.ready[s, w, r])
    return latest


@force_inline
def barriers_clear(warp, mask):
    """Control bits: cycle << 2 | producer at which all barriers of the wait mask are zero."""
    latest = 0
    for b in range(DEPENDENCE_BARRIERS):
        if (mask >> b) & 1:
            if warp.pending[b] > 0:
                if (warp.far >> b) & 1:
                    latest = (NEVER << 2) | LONG
                elif latest >> 2 < NEVER:
                    latest = (NEVER << 2) | SHORT
            else:
                latest = max(latest, warp.clear[b])
    return latest


@force_inline
def set_result(c, s, w, instruction, cycle, producer):
    """The destinations of an instruction are there at ``cycle``."""
    value = (cycle << 2) | producer
    for i in range(instruction.destinations):
        packed = instruction.check[i]
        first = packed & 0xFFFF
        for r in range(first, first + (packed >> 16)):
            c.ready[s, w, r] = value


@inline
def later_result(c, s, w, instruction, cycle, producer):
    """A result is there at ``cycle``, later than was said; nobody has used it yet."""
    set_result(c, s, w, instruction, cycle, producer)
    b = instruction.write_barrier
    if b < DEPENDENCE_BARRIERS:
        warp = c.warps[s, w]
        warp.clear[b] = max(warp.clear[b], (cycle << 2) | producer)


@force_inline
def raise_barriers(warp, instruction, written, read):
    """At issue: the barriers of an instruction fall at these cycles; NEVER = not known yet."""
    b = instruction.write_barrier
    if b < DEPENDENCE_BARRIERS:
        if written >= NEVER:
            warp.pending[b] += 1
            if instruction.space != SHARED:
                warp.far |= 1 << b
        else:
            warp.clear[b] = max(warp.clear[b], (written << 2) | SHORT)
    b = instruction.read_barrier
    if b < DEPENDENCE_BARRIERS:
        warp.clear[b] = max(warp.clear[b], (read << 2) | SHORT)


@force_inline
def lower_barrier(warp, instruction, cycle, producer):
    """The result of an instruction whose end was not known is written at ``cycle``."""
    b = instruction.write_barrier
    if b < DEPENDENCE_BARRIERS:
        warp.pending[b] -= 1
        if warp.pending[b] == 0:
            warp.far &= ~(1 << b)
        warp.clear[b] = max(warp.clear[b], (cycle << 2) | producer)
