"""A warp goes along its stream: instruction lines, constants, accesses."""

from lockstep._jit import inline
from lockstep.model.sm import constant, fetch
from lockstep.model.sm.stream import move_on, next_run
from lockstep.model.warming import sm


@inline
def go_on(c, memory, s, w, now):
    """Take a warp past its next access to the L1; false if its stream has ended."""
    warp = c.warps[s, w]
    kernel = c.kernels[warp.kernel]
    b = w % c.spec[0].subcores
    while warp.left > 0:
        instruction = c.code[kernel.code + warp.static]
        if instruction.line != warp.line:
            fetch.move_to_line(c, s, b, warp, instruction.line, now)
        if instruction.constant >= 0:
            constant.operand(c, s, b, kernel, instruction.constant, now)
        if instruction.ahead >= 0 and instruction.ahead != warp.ahead:
            fetch.fetch_ahead(c, s, b, warp, instruction.ahead, now + 1)
        accessed = warp.mask != 0 and sm.perform(c, memory, s, w, instruction, now)
        move_on(warp)
        if warp.left == 0 and not next_run(c, s, w, now):
            return False
        step = c.code[kernel.code + warp.static].pc - instruction.pc
        if step <= 0 or step > instruction.span:
            fetch.empty_buffer(warp)
        if accessed:
            return True
    return False
