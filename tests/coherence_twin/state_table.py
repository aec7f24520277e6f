"""What a search knows of states: their hashes, where they came from, and what follows from them."""

from typing import NamedTuple

import numpy as np
from numba import njit

from coherence_twin.packed import WIDTH

FROM, LABEL = 0, 1
STATES, STEPS, EDGES, WRONG, WRONG_FROM, WRONG_LABEL, WRONG_CODE, NEXT = range(8)


class Table(NamedTuple):
    """States by their hashes. All grow but ``count``."""

    hashes: np.ndarray  # [slot, 2]; 0, 0: free
    number: np.ndarray  # of the state in a slot
    came: np.ndarray  # [state, (FROM, LABEL)]
    first: np.ndarray  # of the edges of a state
    edges: np.ndarray  # states that follow without anything new
    quiet: np.ndarray  # whether nothing is under way, and nobody waits
    rows: np.ndarray  # of the states that were found in this round
    count: np.ndarray  # STATES to NEXT


@njit(nogil=True)
def mix(z):
    """The finalizer of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True)
def hashed(row, used):
    """Two words of 64 bits, not both 0."""
    one, other = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
    for k in range(0, used, 4):
        word = np.uint64(0)
        for b in range(4):
            word = word << np.uint64(16) | np.uint64(row[k + b])
        one = mix(one ^ word)
        other = mix(other + word * np.uint64(0xA24BAED4963EE407))
    return one, other | np.uint64(1)


@njit(nogil=True)
def find(hashes, one, other):
    """The slot of a hash, or the free one where it belongs."""
    last = np.uint64(len(hashes) - 1)
    slot = one & last
    while hashes[slot, 1] != 0 and (hashes[slot, 0] != one or hashes[slot, 1] != other):
        slot = (slot + np.uint64(1)) & last
    return np.int64(slot)


@njit(nogil=True)
def rehash(old, number, hashes, numbers):
    """Bring all to a larger table."""
    for k in range(len(old)):
        if old[k, 1] != 0:
            slot = find(hashes, old[k, 0], old[k, 1])
            hashes[slot, 0], hashes[slot, 1] = old[k, 0], old[k, 1]
            numbers[slot] = number[k]


@njit(nogil=True)
def reach(first, edges, good, states):
    """Mark in ``good`` the states from which a good one follows; the first that is not, or -1."""
    changed = True
    while changed:
        changed = False
        for turn in range(2):
            for k in range(states):
                state = k if turn else states - 1 - k
                if not good[state]:
                    for e in range(first[state], first[state + 1]):
                        if good[edges[e]]:
                            good[state] = True
                            changed = True
                            break
    for state in range(states):
        if not good[state]:
            return state
    return -1


def grown(array: np.ndarray, count: int) -> np.ndarray:
    """The array, or a longer one with what it has, if it has no room for so many."""
    if count <= len(array):
        return array
    length = max(count, len(array) + len(array) // 2)
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def with_room(t: Table, states: int) -> Table:
    """A table that has room for so many states more."""
    count = int(t.count[STATES]) + states
    hashes, number = t.hashes, t.number
    if 3 * count > 2 * len(hashes):
        hashes = np.zeros((2 * len(hashes), 2), np.uint64)
        number = np.zeros(len(hashes), np.uint32)
        rehash(t.hashes, t.number, hashes, number)
    return Table(
        hashes, number, grown(t.came, count), grown(t.first, count + 1),
        grown(t.edges, int(t.count[EDGES]) + states), grown(t.quiet, count),
        grown(t.rows, int(t.count[NEXT]) + states), t.count,
    )  # fmt: skip


def empty() -> Table:
    """A table without states."""
    return Table(
        np.zeros((1 << 16, 2), np.uint64), np.zeros(1 << 16, np.uint32),
        np.zeros((1, 2), np.uint32), np.zeros(2, np.int64), np.zeros(1, np.uint32),
        np.zeros(1, np.bool_), np.zeros((1, WIDTH), np.uint16), np.zeros(8, np.int64),
    )  # fmt: skip
