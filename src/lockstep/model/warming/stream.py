"""A warp goes along its stream: instruction lines, constants, accesses."""

from lockstep._jit import inline
from lockstep.model.core import constant, fetch
from lockstep.model.core.done import writes_only
from lockstep.model.core.stream import move_on, next_run
from lockstep.model.warming import sm

ENDED = -1
LAG = 2  # cycles that an instruction waits for those before it, besides its own: a guess
LONGEST = 256  # instructions that a warp executes before others have their turn


@inline
def go_on(c, memory, walk, s, w):
    """Take a warp along to where it waits; returns until when, or ENDED with its stream.

    It waits for what it has read before it writes, and where its run ends: nobody looks at which
    instruction needs which register.
    """
    warp = c.warps[s, w]
    kernel = c.kernels[warp.kernel]
    b = w % c.spec[0].subcores
    begin = at = max(walk.state[0].clock, walk.issue[s, b])
    there = at
    waits = False
    while warp.left > 0:
        instruction = c.code[kernel.code + warp.static]
        if waits and (writes_only(instruction.op) or at - begin > LONGEST):
            break
        step(c, s, b, warp, kernel, instruction, at)
        at += 1
        if warp.mask != 0:
            came = sm.perform(c, memory, walk, s, w, instruction, at)
            if came > 0:
                waits = True
                there = max(there, at if writes_only(instruction.op) else came)
        move_on(warp)
        ended = warp.left == 0
        if ended and not next_run(c, s, w, at):
            walk.issue[s, b] = at
            return ENDED
        further = c.code[kernel.code + warp.static].pc - instruction.pc
        if further <= 0 or further > instruction.span:
            fetch.empty_buffer(warp)
        if ended and (waits or at - begin > LONGEST):
            break
    walk.issue[s, b] = at
    return max(at + LAG * (at - begin), there) if warp.left > 0 else ENDED


@inline
def step(c, s, b, warp, kernel, instruction, now):
    """An instruction is fetched, and its constant operand; what it is ahead of, too."""
    if instruction.line != warp.line:
        fetch.move_to_line(c, s, b, warp, instruction.line, now)
    if instruction.constant >= 0:
        constant.operand(c, s, b, kernel, instruction.constant, now)
    if instruction.ahead >= 0 and instruction.ahead != warp.ahead:
        fetch.fetch_ahead(c, s, b, warp, instruction.ahead, now + 1)
