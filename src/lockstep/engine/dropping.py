"""CTAs that do not run though they were to: of kernels that end early, and those left out.

Both concern CTAs that were not dispatched; nothing takes one off an SM.
"""

from collections.abc import Callable

from lockstep.engine.kernels import KernelTable
from lockstep.engine.record import LeftOut
from lockstep.engine.running import Running
from lockstep.errors import WorkloadError


def stop(table: KernelTable, run: Running, now: int, reason: str) -> int:
    """Dispatch no more CTAs of a kernel; returns how many will not run."""
    grid, expected = table.dispatcher.grids[run.slot], run.expected
    taken = table.begun(run)
    _drop_queued(table, run, int(grid.queued) - taken)
    for members in run.clusters.values():
        run.seen.difference_update(members)
    run.clusters.clear()
    run.exhausted, run.stopped, run.stopped_at = True, reason, now
    grid.ctas, grid.more = taken, 0
    if run.kernel.executes or table.tells:
        table.read_rest(run)
    return expected - taken


def skip(table: KernelTable, run: Running, ctas: int, leave: Callable[[int, int], int]) -> None:
    """Leave out the next CTAs of a kernel: they are read, as others see what a program's do.

    ``leave`` is called with the kernel's slot and a number of CTAs at the head of its queue, before
    they are dropped, to let caches know; it returns the sectors that move. Raises
    :class:`WorkloadError` where there are not as many CTAs, and for clusters, of which some may
    have been read in part.
    """
    kernel = run.kernel
    named = f"kernel {kernel.id} ({kernel.title})"
    left = run.expected - table.begun(run)
    if not 0 < ctas <= left:
        raise WorkloadError(f"{named} cannot leave out {ctas} CTAs: {left} are to be dispatched")
    if kernel.cluster_ctas > 1:
        raise WorkloadError(f"{named} has clusters: none of its CTAs can be left out")
    grid, last = table.dispatcher.grids[run.slot], run.skipped + ctas
    while run.skipped < last:
        table.feed(run)
        queued = min(last - run.skipped, int(grid.queued) - table.begun(run))
        if not queued:  # the front end ended it early
            break
        sectors = leave(run.slot, queued)
        instructions = _drop_queued(table, run, queued)
        run.left_out.append(LeftOut(queued, instructions, sectors))
    grid.ctas = run.expected


def _drop_queued(table: KernelTable, run: Running, count: int) -> int:
    """Take the first CTAs out of a kernel's queue; returns their warp instructions."""
    grid, ring = table.dispatcher.grids[run.slot], table.dispatcher.pending[run.slot]
    taken, queued, room = table.begun(run), int(grid.queued), len(ring)
    instructions = 0
    for n in range(taken, taken + count):
        number = int(ring[n % room].cta)
        instructions += int(ring[n % room].warp_instructions)
        table.streams.retire(run.slot, number)
        run.seen.remove(number)
    for n in range(taken + count, queued):
        ring[(n - count) % room] = ring[n % room]
    grid.queued = queued - count
    return instructions
