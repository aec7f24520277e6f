"""State of the homes of lines under a coherence protocol, beside that of all L2 slices."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model.cache import tags
from lockstep.model.coherence import rules
from lockstep.model.coherence.l1_state import data_flits
from lockstep.model.records import nothing, records, words, zeros

SPEC = np.dtype(words("on", "data_flits", "directory_cycles", "sources"))
SLICE = np.dtype(
    words(
        "forward_head", "forward_count",
        "forward_free",  # core cycle from which the next forward can leave
        "most_refusals",  # of one request
        "fault",  # 1 + state * events + event of a pair that cannot be, or 0
    )
)  # fmt: skip
WAY = np.dtype(
    words(
        "line",  # that this is about; another one has come without the protocol
        "state",
        "valid", "dirty",  # bit a byte
        "sharers",  # bit an L1
        "owner",  # an L1, or -1
        "mixed", "awaited",
        "source", "tag", "issued", "kind",  # of the request that is served
        "first", "last",  # entries that were deferred, or -1
        "parked",  # 1: they are for another line, for which this one makes room
    )
)  # fmt: skip
"""What a directory knows of a line; words as in ``vocabulary.py``."""
FORWARD = np.dtype(words("ready_at", "destination", "number", "line", "slice"))


class Homes(Context):
    """Homes under a protocol; first index: the slice. Without a protocol there are none."""

    spec: Records  # SPEC, one
    rules: rules.ProtocolRules
    slices: Records  # SLICE
    ways: Records  # WAY, as tags.held
    forwards: Records  # FORWARD, slices x forwards that wait to leave
    masks: np.ndarray  # int64, as the L2's entries: bytes that a request brings


@nothing
def absent() -> Homes:
    """Those of slices without a protocol."""
    spec, slices, ways = records(1, SPEC), records(0, SLICE), records(0, WAY)
    return Homes(spec, rules.absent(), slices, ways, records((0, 1), FORWARD), zeros(0))


def build(gpu: GPU, entries: int) -> Homes:
    """Homes of lines that nobody has; ``entries``: of all slices."""
    if gpu.coherence.table == "none":
        return absent()
    spec = records(1, SPEC)
    s = spec[0]
    s.on, s.data_flits, s.directory_cycles = 1, data_flits(gpu), gpu.coherence.directory_cycles
    s.sources = gpu.sm.count
    slices = gpu.dram.channels * gpu.l2.slices_per_channel
    ways = records(slices * gpu.l2.sets * gpu.l2.ways, WAY)
    ways["line"] = tags.NO_LINE
    ways["owner"] = ways["first"] = ways["last"] = -1
    return Homes(
        spec,
        rules.build(gpu.coherence.table),
        records(slices, SLICE),
        ways,
        records((slices, 4 * gpu.sm.count + 4), FORWARD),
        zeros(entries),
    )
