"""What the fast machine works on: a protocol's arrays, and the state of a line as arrays."""

from typing import NamedTuple

import numpy as np

from coherence_twin.machine import EXCLUSIVE
from lockstep.model.coherence import numbers
from lockstep.model.coherence.arrays import bit, export, triggers
from lockstep.model.coherence.table import Protocol
from lockstep.model.coherence.vocabulary import (
    L1_CONDITIONS,
    MEMORY_REPLIES,
    NETWORKS,
    OPERATIONS,
    PAYLOADS,
    RECEIVERS,
)

POOL = 256
HOME, MEMORY = -1, -2
FAR = bit(L1_CONDITIONS, "far")
VALID, FULL = numbers.VALID, numbers.FULL
FILL, PERFORM, ANSWER, DONE = numbers.FILL, numbers.PERFORM, numbers.ANSWER, numbers.DONE
WAIT, STALL, POSTED = numbers.WAIT, numbers.STALL, numbers.POSTED
ACKNOWLEDGED, CLEAN, DROP = numbers.ACKNOWLEDGED, numbers.CLEAN, numbers.DROP
NO_MSHR, WHOLE, OWNED = numbers.NO_MSHR, numbers.WHOLE, numbers.OWNED
FROM_OWNER, SHARER, ALONE = numbers.FROM_OWNER, numbers.SHARER, numbers.ALONE
UNMIXED, UNSHARED, LAST = numbers.UNMIXED, numbers.UNSHARED, numbers.LAST
DIRTY, SAVE, MERGE, HFILL = numbers.DIRTY, numbers.SAVE, numbers.MERGE, numbers.HOME_FILL
ATOMIC, ANSWERED, MIX, REMOVE = numbers.ATOMIC, numbers.ANSWERED, numbers.MIX, numbers.REMOVE
DISOWN, FORGET, SHARE, OWN = numbers.DISOWN, numbers.FORGET, numbers.SHARE, numbers.OWN
HCLEAN, HDROP = numbers.HOME_CLEAN, numbers.HOME_DROP
DEFER, REPLAY = numbers.DEFER, numbers.REPLAY
REQUEST, FORWARD, RESPONSE, BESIDE = range(len(NETWORKS))
TO_HOME, TO_REQUESTER, TO_OWNER, TO_SHARERS, TO_MEMORY = range(len(RECEIVERS))
NOTHING, LINE, DIRTY_BYTES, OPERAND, MESSAGE, FOUND = range(len(PAYLOADS))
LOAD, LOAD_GLC, LOAD_SLC, STORE, STORE_GLC, STORE_SLC, ATOMIC_OP, INVALIDATE, EVICT = range(
    len(OPERATIONS)
)
NONE = -1
FAILURES = (
    "", "an impossible entry of an L1", "an impossible entry of the home", "too many messages",
    "a load of what is not valid", "not the newest", "not the own newest write", "too old",
    "writes of an L1 out of order", "dirty bytes are dropped", "a line that is not whole is sent",
    "not at an end",
)  # fmt: skip
L1_IMPOSSIBLE, HOME_IMPOSSIBLE, ROOM, INVALID, STALE, OWN_LOST, OLD, ORDER, LOST, PART, STUCK = (
    range(1, len(FAILURES))
)


class Program(NamedTuple):
    """A protocol's arrays and what else the machine has to know of it."""

    l1: np.ndarray
    l1_choices: np.ndarray
    home: np.ndarray
    home_choices: np.ndarray
    forms: np.ndarray
    replies: np.ndarray  # of memory, to each message; -1
    exclusive: np.ndarray  # of the states of an L1
    stable: int  # how many states of the home are stable
    evict: int  # trigger of the home


class State(NamedTuple):
    """A line: rows are L1s, columns bytes; ``one`` has single numbers."""

    l1: np.ndarray  # [l1, (state, valid, dirty, access, mask, generation, unacknowledged)]
    data: np.ndarray
    home: np.ndarray  # (state, valid, dirty, sharers, owner, saved, awaited, mixed)
    home_data: np.ndarray
    memory: np.ndarray
    messages: np.ndarray  # [slot, (kind, to, l1, mask)]
    payload: np.ndarray
    queue: np.ndarray  # slots of messages under way, oldest first
    free: np.ndarray  # slots that nobody uses; the last is used next
    deferred: np.ndarray
    one: np.ndarray  # messages, deferred, clock, failure, operations, generations, free
    index: np.ndarray
    current: np.ndarray
    floors: np.ndarray
    floor: np.ndarray  # of the access of each L1
    pending: np.ndarray
    last: np.ndarray
    l1_count: np.ndarray  # how often an entry came up
    home_count: np.ndarray


LSTATE, LVALID, LDIRTY, ACCESS, MASK, GENERATION, UNACKNOWLEDGED = range(7)
HSTATE, HVALID, HDIRTY, SHARERS, OWNER, SAVED, AWAITED, MIXED = range(8)
KIND, TO, OF, MMASK = range(4)
MESSAGES, DEFERRED, CLOCK, FAILURE, OPERATIONS_DONE, GENERATIONS, FREE = range(7)


def program(protocol: Protocol) -> Program:
    """What the fast machine carries out."""
    arrays = export(protocol)
    names = list(protocol.messages)
    replies = [names.index(MEMORY_REPLIES[n]) if MEMORY_REPLIES.get(n) else -1 for n in names]
    exclusive = [state in EXCLUSIVE[protocol.name] for state in protocol.l1.states]
    return Program(
        arrays.l1.entries, arrays.l1.choices, arrays.home.entries, arrays.home.choices,
        arrays.forms, np.array(replies), np.array(exclusive), len(protocol.home.stable),
        triggers(protocol, "home").index("evict"),
    )  # fmt: skip


def state(protocol: Protocol, l1s: int, size: int, generations: int) -> State:
    """A line that nobody has; room for so many writes in an episode."""

    def table(*shape):
        return np.zeros(shape, np.int64)

    found = State(
        table(l1s, 7), table(l1s, size), table(8), table(size), table(size), table(POOL, 4),
        table(POOL, size), table(POOL), np.arange(POOL), table(POOL), table(7),
        table(generations + 1),
        table(size), table(l1s, size), table(l1s, size), table(l1s, size), table(l1s, size),
        table(len(protocol.l1.states), len(protocol.l1.events)),
        table(len(protocol.home.states), len(protocol.home.events)),
    )  # fmt: skip
    found.one[FREE] = POOL
    found.l1[:, ACCESS] = NONE
    found.home[OWNER] = found.home[SAVED] = -1
    found.index[1:] = -1
    return found
