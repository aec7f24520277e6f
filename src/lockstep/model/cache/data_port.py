"""The data port of an L2 slice: what is read, written, updated or passed on takes time there.

Times are those of a slice of the hardware. Where an L2 has two sides, a slice here is the part of
one that serves its lines on one side, so it takes as many times as long; but what keeps to one
chunk (reads) or one line (updates) has a whole slice of the hardware to itself.
"""

from lockstep._jit import force_inline
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model.divisor import divisor, quotient

PARTS = 128  # of an L2 tick, in which the port keeps time
CHUNK = 512  # bytes that a slice of the hardware has together (lat.l2_lines_alone)
RUN = 8  # accesses more than others that make it the chunk, or line, that is asked for


def fill_in(spec, gpu: GPU) -> None:
    """The times of a port, in a SPEC record of the memory side."""
    s, l2 = spec[0], gpu.l2
    spec["chunk_lines"] = divisor(max(1, CHUNK // l2.line_bytes))
    s.sector_step = round(PARTS * l2.sector_interval)
    s.merge_step = round(PARTS * l2.merge_interval)
    s.request_step = round(PARTS * l2.request_interval)
    s.pass_step = round(PARTS * l2.pass_interval)
    s.atomic_pass_step = round(PARTS * (l2.atomic_pass_interval or l2.pass_interval))
    s.result_step = round(PARTS * (l2.result_interval or l2.pass_interval))
    s.word_step = round(PARTS * l2.atomic_interval)
    s.update_step = round(PARTS * (l2.atomic_sector_interval or l2.atomic_interval))
    s.shares = l2.sides if l2.side_reads == "near" and l2.sector_interval else 1
    s.streams = gpu.interconnect.atomic_result_interval > 0


@force_inline
def _shares(spec, state, line):
    """By how much an access to a line takes the port longer than a slice of the hardware."""
    chunk = quotient(spec.chunk_lines, line)
    near = abs(chunk - state.data_chunk) <= 1  # or what lies across its edge
    if near:
        state.data_run = min(state.data_run + 1, 2 * RUN)
    elif state.data_run > 0:
        state.data_run -= 1
    else:
        state.data_chunk = chunk
    return 1 if near and state.data_run > RUN else spec.shares


@force_inline
def _shares_of_home(spec, state, line):
    """The same of updates, and of what passes: the homes of a chunk are the parts of all sides."""
    if line == state.home_line:
        state.home_run = min(state.home_run + 1, 2 * RUN)
    elif state.home_run > 0:
        state.home_run -= 1
    else:
        state.home_line = line
    return 1 if line == state.home_line and state.home_run > RUN else spec.shares


@force_inline
def _keep(state, length, tick):
    """Keep the port for PARTS from a tick on, at the earliest; when it began."""
    start = max(state.data_free, tick * PARTS)
    state.data_free = start + length
    return start


@force_inline
def _cycle_of_last(spec, time):
    """The core cycle of the last tick before a time in PARTS."""
    return clocks.cycle_of(spec.l2, (time + PARTS - 1) // PARTS - 1)


@force_inline
def move(spec, state, counters, line, sectors, tick):
    """Move some sectors in or out; the core cycle of the last of them."""
    return _move(spec, state, counters, line, sectors, 0, tick)


@force_inline
def write(spec, state, counters, line, sectors, parts, tick):
    """Write some sectors, of them ``parts`` in part; the core cycle of the last of them."""
    return _move(spec, state, counters, line, sectors, parts * spec.merge_step, tick)


@force_inline
def _move(spec, state, counters, line, sectors, merging, tick):
    """Move some sectors, of which that many PARTS go to merging."""
    length = sectors * spec.sector_step
    if length == 0:
        moved_bytes = sectors * spec.sector_bytes + spec.bytes_per_tick.value - 1
        length = quotient(spec.bytes_per_tick, moved_bytes) * PARTS
    taken = max(length, spec.request_step) + merging  # the data is there before the port is free
    start = _keep(state, taken * _shares(spec, state, line), tick)
    counters.l2_busy += state.data_free // PARTS - start // PARTS
    return _cycle_of_last(spec, start + length + merging)


@force_inline
def update(spec, state, counters, line, sectors, lanes, tick):
    """Atomic operations on sectors of a line, ``lanes`` on one word at most, one by one.

    Returns the core cycle of the last of them, or of the first, if results go on one by one.
    """
    before = max(state.data_free, tick * PARTS)
    move(spec, state, counters, line, sectors, tick)
    length = max(sectors * spec.update_step, lanes * spec.word_step)
    length *= _shares_of_home(spec, state, line)
    state.data_free = max(state.data_free, before + length)
    counters.l2_atomic_busy += state.data_free // PARTS - before // PARTS
    if spec.streams:
        return _cycle_of_last(spec, before + spec.word_step)
    return _cycle_of_last(spec, state.data_free)


@force_inline
def pass_on(spec, state, line, length, tick):
    """Let something through to another side, which takes PARTS; ticks until all of it is."""
    if length == 0:
        return 0
    start = _keep(state, length * _shares_of_home(spec, state, line), tick)
    return (start + length) // PARTS - tick
