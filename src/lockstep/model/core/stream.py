"""A warp's stream of instructions: read ahead, or executed by the front end as they issue.

Of a kernel that is executed at issue, a warp knows where its next block begins and for which lanes
(``left`` is -1). When its first instruction issues, the front end executes the block and hands over
its runs and addresses. Each warp has room for one block's runs, and a ring of address records, as
many as accesses may wait in its sub-core's queue and one more: a record is read when the arbiter
accepts its access.
"""

from lockstep._jit import call_native, force_inline, inline, popcount
from lockstep.model.core.barrier import come, will_come
from lockstep.model.core.fetch import empty_buffer
from lockstep.workload.at_issue import STEP_RUNS, Answer, Ask

START = int(Ask.START)
LOOK = int(Ask.LOOK)
EXECUTE = int(Ask.EXECUTE)
ENDED = int(Answer.ENDED)
READY = int(Answer.READY)


@inline
def begin(warp, stream):
    """A warp starts at the beginning of its stream, where nothing is known yet."""
    warp.left = 0
    warp.run = stream.first_run
    warp.run_end = stream.first_run + stream.runs
    warp.address = stream.first_address


@force_inline
def move_on(warp):
    """The next instruction of a warp's run."""
    warp.left -= 1
    warp.static += 1


@force_inline
def next_address(warp):
    """The next address record of a warp."""
    warp.address += 1


@inline
def taken_word(c, s, warp):
    """First word of the address record that a warp has just taken; a ring is not moved by that."""
    place = warp.address if c.kernels[warp.kernel].ring else warp.address - 1
    return c.addresses[c.ctas[s, warp.cta].addresses + place].first


@inline
def start(c, s, slot, now):
    """Tell the front end that a CTA starts; it says by what number it wants to be asked."""
    cta = c.ctas[s, slot]
    kernel = c.kernels[cta.kernel]
    step = c.step[0]
    step.ask, step.cta, step.sm, step.cycle = START, cta.cta, s, now
    call_native(kernel.source, kernel.source_context, 0)
    cta.place = step.place


@inline
def ask(c, s, w, what, now):
    """Ask the front end about a warp; returns its answer."""
    warp = c.warps[s, w]
    kernel = c.kernels[warp.kernel]
    step = c.step[0]
    step.ask, step.place, step.warp, step.cycle = what, c.ctas[s, warp.cta].place, warp.index, now
    return call_native(kernel.source, kernel.source_context, 0)


@inline
def look(c, s, w, now):
    """Learn where a warp goes on; false if it has ended. It may have to wait: ``left`` is 0."""
    warp = c.warps[s, w]
    if warp.comes >= 0:
        come(c, s, w, now)
    answer = ask(c, s, w, LOOK, now)
    warp.left = 0
    if answer == READY:
        step = c.step[0]
        warp.static = step.static
        warp.mask = step.mask
        warp.lanes = popcount(step.mask)
        warp.left = -1
    return answer != ENDED


@inline
def next_run(c, s, w, now):
    """Load the warp's next run of instructions; false if its stream has ended."""
    warp = c.warps[s, w]
    runs = c.ctas[s, warp.cta].runs
    while warp.run < warp.run_end:
        run = c.runs[runs + warp.run]
        warp.run += 1
        if run.count > 0:
            warp.static = run.static
            warp.left = run.count
            warp.mask = run.mask
            warp.lanes = popcount(run.mask)
            return True
    if c.kernels[warp.kernel].source == 0:
        return False
    return look(c, s, w, now)


@inline
def resume(c, s, w, now):
    """Look again for a warp that knew no instruction; false if it has none: let it end."""
    warp = c.warps[s, w]
    expected = warp.static
    if not next_run(c, s, w, now):
        return False
    if warp.static != expected:
        empty_buffer(warp)
    return True


@inline
def take_address(c, cta, warp):
    """Put the address record of the block that was just executed into the warp's ring."""
    ring = c.kernels[warp.kernel].ring
    if warp.address == (warp.index + 1) * ring:
        warp.address -= ring
    given = c.step_addresses[0]
    record = c.addresses[cta.addresses + warp.address]
    record.first = given.first
    record.stride = given.stride
    record.pool = -1
    if given.pool >= 0:
        lanes = c.spec[0].warp_size
        record.pool = warp.address * lanes
        first = cta.pool + record.pool
        for k in range(lanes):
            c.pool[first + k] = c.step_pool[k]


@inline
def execute_block(c, s, w, now):
    """The front end executes the block whose first instruction issues now."""
    warp = c.warps[s, w]
    warp.left = 0
    if ask(c, s, w, EXECUTE, now) != READY:  # the launch has failed
        return
    cta = c.ctas[s, warp.cta]
    step = c.step[0]
    will_come(warp, step.comes)
    warp.run = warp.index * STEP_RUNS
    warp.run_end = warp.run + step.runs
    for k in range(step.runs):
        run = c.runs[cta.runs + warp.run + k]
        given = c.step_runs[k]
        run.static, run.count, run.mask = given.static, given.count, given.mask
    if step.addresses > 0:
        take_address(c, cta, warp)
    next_run(c, s, w, now)
