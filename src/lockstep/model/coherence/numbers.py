"""The bits of conditions and actions, and the numbers of operations, for compiled code."""

from lockstep.model.coherence.arrays import bit
from lockstep.model.coherence.vocabulary import (
    HOME_ACTIONS,
    HOME_CONDITIONS,
    L1_ACTIONS,
    L1_CONDITIONS,
    NETWORKS,
    OPERATIONS,
    PAYLOADS,
    RECEIVERS,
)

VALID, FULL = (bit(L1_CONDITIONS, word) for word in ("valid", "full"))
FILL, PERFORM, ANSWER, DONE, WAIT, STALL, POSTED, ACKNOWLEDGED, CLEAN, DROP = (
    bit(L1_ACTIONS, word)
    for word in (
        "fill", "perform", "answer", "done", "wait", "stall", "posted", "acknowledged", "clean",
        "drop",
    )
)  # fmt: skip
NO_MSHR, WHOLE, OWNED, FROM_OWNER, SHARER, ALONE, UNMIXED, UNSHARED, LAST, DIRTY = (
    bit(HOME_CONDITIONS, word)
    for word in (
        "no_mshr", "valid", "owned", "from_owner", "sharer", "alone", "unmixed", "unshared",
        "last", "dirty",
    )
)  # fmt: skip
(
    SAVE, MERGE, HOME_FILL, ATOMIC, ANSWERED, MIX, REMOVE, DISOWN, FORGET, SHARE, OWN,
    HOME_CLEAN, HOME_DROP, DEFER, REPLAY, SHOW, HOME_STALL,
) = (
    bit(HOME_ACTIONS, word)
    for word in (
        "save", "merge", "fill", "atomic", "answered", "mix", "remove", "disown", "forget",
        "share", "own", "clean", "drop", "defer", "replay", "show", "stall",
    )
)  # fmt: skip
FORWARD, RESPONSE = (list(NETWORKS).index(word) for word in ("forward", "response"))
TO_REQUESTER, TO_OWNER, TO_MEMORY = (
    list(RECEIVERS).index(word) for word in ("requester", "owner", "memory")
)
NOTHING, DIRTY_BYTES, OPERAND = (
    list(PAYLOADS).index(word) for word in ("nothing", "dirty", "operand")
)
LOAD, LOAD_GLC, STORE, STORE_GLC, ATOMIC_OPERATION, INVALIDATE, EVICT = (
    list(OPERATIONS).index(word)
    for word in ("load", "load_glc", "store", "store_glc", "atomic", "invalidate", "evict")
)
