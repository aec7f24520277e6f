"""State of L1s under a coherence protocol, beside that of all L1s (``model/cache/l1.py``)."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model.coherence import rules
from lockstep.model.coherence.lines import LINE, OPERATION
from lockstep.model.coherence.outgoing import OUT
from lockstep.model.coherence.vocabulary import CONTROL_BYTES, LINE_BYTES
from lockstep.model.records import full, nothing, records, words, zeros

MOST_WAITING = 4096  # operations of an L1

SPEC = np.dtype(
    words("on", "entries", "evictions", "merges", "queue", "data_flits", "directory_cycles")
)
CACHE = np.dtype(
    words(
        "free_line", "free_operation", "busy", "evicting", "out_head", "out_count", "retry_head",
        "retry_count", "answer_head", "answer_count", "parked_first", "parked_last", "ended",
        "sweeping",  # rows that are yet to be emptied
        "fault",  # 1 + state * events + event of a pair that cannot be, or 0
    )
)  # fmt: skip
WAY = np.dtype(words("state", "valid", "dirty"))
"""A line that is here: its state, and a bit a byte of what is valid and dirty."""
ENDED = np.dtype(words("tag", "lanes"))
"""An operation that has ended, or a store that was acknowledged."""


class CoherentL1(Context):
    """L1s under a protocol; first index: the cache. Without a protocol there are none."""

    spec: Records  # SPEC, one
    rules: rules.ProtocolRules
    caches: Records  # CACHE
    ways: Records  # WAY, as tags.held
    lines: Records  # lines.LINE, caches x entries
    buckets: np.ndarray  # caches x buckets
    operations: Records  # lines.OPERATION, caches x operations that can wait
    queue: Records  # outgoing.OUT, caches x miss queue
    retries: Records  # outgoing.OUT, caches x entries
    answers: Records  # outgoing.OUT, caches x answers
    ended: Records  # ENDED, caches x what can end at a time


def data_flits(gpu: GPU) -> int:
    """Flits of a message with a line."""
    return -(-(CONTROL_BYTES + LINE_BYTES) // gpu.interconnect.flit_bytes)


@nothing
def absent() -> CoherentL1:
    """That of L1s without a protocol."""
    kinds = LINE, OPERATION, OUT, OUT, OUT, ENDED
    lines, *others = [records((0, 1), kind) for kind in kinds]
    spec, caches, ways = records(1, SPEC), records(0, CACHE), records(0, WAY)
    return CoherentL1(spec, rules.absent(), caches, ways, lines, zeros((0, 1)), *others)


def build(gpu: GPU, waiters: int) -> CoherentL1:
    """Empty L1s; ``waiters``: operations that can wait at a time."""
    if gpu.coherence.table == "none":
        return absent()
    spec = records(1, SPEC)
    s = spec[0]
    s.on, s.entries, s.evictions = 1, gpu.l1.mshr_entries, gpu.coherence.evictions
    s.merges, s.queue = gpu.l1.mshr_merges, gpu.l1.miss_queue
    s.data_flits, s.directory_cycles = data_flits(gpu), gpu.coherence.directory_cycles
    caches = gpu.sm.count
    ways = gpu.l1.bytes // gpu.l1.line_bytes
    waiters = min(waiters, MOST_WAITING)
    entries = int(s.entries + s.evictions)
    lines = entries + waiters  # one for each operation that waits for a line that has gone
    state = records(caches, CACHE)
    state["parked_first"] = state["parked_last"] = -1
    buckets = 1 << max(4, (2 * lines - 1).bit_length())
    answers = 4 * gpu.dram.channels * gpu.l2.slices_per_channel
    return CoherentL1(
        spec,
        rules.build(gpu.coherence.table),
        state,
        records(caches * ways, WAY),
        records((caches, lines), LINE),
        full((caches, buckets), -1),
        records((caches, waiters), OPERATION),
        records((caches, gpu.l1.miss_queue), OUT),
        records((caches, lines), OUT),
        records((caches, answers), OUT),
        records((caches, waiters + 2), ENDED),
    )
