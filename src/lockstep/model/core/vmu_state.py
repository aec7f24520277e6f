"""What the access queue of a compute unit keeps: ``model/cu/access_queue.py`` says how it moves."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model.core.coalescer import MOST_WORDS
from lockstep.model.records import copy_fields, ints, records, words

SPEC = np.dtype(
    words(
        "ports",  # accesses that the L1 takes in a cycle; 0 = there is no queue
        "phases",
        "coalesces",  # 1: requests of an instruction are joined before they enter the queue
        "merges",  # 1: requests join accesses of the queue
        "waits",  # 1: the order of Multi2Sim
        "directory",  # 1: ... of a protocol with a directory
        "follows",  # 1: accesses are followed until they have left the L1
        "room",  # accesses, and waiters
    )
)
STATE = np.dtype(
    words(
        "first", "last",  # the oldest access and the newest one, or -1
        "free_access", "free_waiter",
        "accesses", "waiters",  # how many there are
        "queued",  # of the accesses, those that have no port yet
        "number",  # of the instruction that entered last
        "serial",  # of the access that entered last
        "moved",  # 1: something happened in this cycle
    )
)  # fmt: skip
QUEUED = np.dtype(
    words(
        "line", "sectors", "full",
        "serial",  # its number, from 1 on; 0 = it has left
        "after", "after_serial",  # an older access of its line; of none, the serial is 0
        "until",  # cycle at which it leaves the L1 if it does not wait for data
        "began", "joined",  # numbers of the instructions that were its first one and its last one
    )
    + ints("i4", "next", "previous", "waiter", "kind", "policy", "local", "has_port", "unused")
    + [("cover", "i8", (8,))]
)  # fmt: skip
"""An access. ``kind``, ``policy``, ``local``: as of a request to the L1; ``waiter``: the first
instruction that waits for its port, or -1."""

WAITER = np.dtype(ints("i4", "access", "next"))
"""An instruction that waits for an access to get a port."""


class AccessQueue(Context):
    """The access queues of all CUs; first index: the CU."""

    spec: Records  # SPEC, one
    state: Records  # STATE, CUs
    places: Records  # QUEUED, CUs x room
    waiters: Records  # WAITER, CUs x room


def build(gpu: GPU) -> AccessQueue:
    """Empty queues, of a GPU whose cores have them."""
    parameters = records(1, SPEC)
    s, vmu = parameters[0], gpu.vmu
    copy_fields(s, vmu)
    s.coalesces = vmu.join in ("coalesce", "both")
    s.merges = vmu.join in ("merge", "both")
    s.waits = vmu.order == "multi2sim"
    s.directory = gpu.coherence.protocol == "nmoesi"
    s.follows = s.merges or s.waits
    most = max(gpu.cu.vector_memory_buffer, MOST_WORDS) * gpu.sm.warp_size
    s.room = most if vmu.ports else 0
    cus = gpu.sm.count if vmu.ports else 0
    state = records(cus, STATE)
    state["first"] = state["last"] = -1
    return AccessQueue(
        parameters, state, records((cus, most), QUEUED), records((cus, most), WAITER)
    )
