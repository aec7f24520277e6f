"""Stack distances: how many other lines were touched since a line was touched last.

A fully associative LRU cache of n lines hits what is nearer than n: all sizes in one pass. Lines
lie on an axis of time, each at its last touch; a Fenwick tree counts those behind a place (Olken,
"Efficient methods for calculating the success function of fixed space replacement policies", 1981).
When the axis ends, the lines that live move together at its beginning. With a ``rate`` of 2^-k only
lines of that share are followed, chosen by a hash of their numbers, and stand for all (Waldspurger
et al., "Efficient MRC construction with SHARDS", FAST 2015).
"""

import numpy as np

from lockstep._jit import Context, Records, as_records, inline, jit

NEVER_SEEN = -1
MOST_RATE_BITS = 20
_EMPTY = -(1 << 62)
_MASK = (1 << 62) - 1

_FIELDS = ("slots", "live", "times", "now", "rate", "sampled", "cold", "longest")
_SPEC = np.dtype([(name, "i8") for name in _FIELDS])


class _Axis(Context):
    """What the compiled side reads and writes, of one cache."""

    spec: Records  # _SPEC, one
    lines: np.ndarray  # int64 [slots]: an open hash of the lines that live
    last: np.ndarray  # int64 [slots]: when each was touched last
    tree: np.ndarray  # int64 [times + 1]: a Fenwick tree of the places that are taken
    who: np.ndarray  # int64 [times]: the slot of the line at a place, or -1
    found: np.ndarray  # int64: the distance of each line that was touched, or NEVER_SEEN


class StackDistances:
    """The distances of one stream of lines.

    ``rate_bits`` k: of a share of 2^-k of all lines, and distances are those among all.
    """

    def __init__(self, rate_bits: int = 0):
        if not 0 <= rate_bits <= MOST_RATE_BITS:
            raise ValueError(f"a rate of 2^-{rate_bits}; expected 0 to {MOST_RATE_BITS}")
        self._bits = rate_bits
        self._spec = as_records(np.zeros(1, _SPEC))
        self._spec[0].rate = rate_bits
        self._room(1 << 10, 1 << 12)

    def __call__(self, lines: np.ndarray) -> np.ndarray:
        """Touch lines (int64) one after the other: the distance of each (int64).

        NEVER_SEEN of a line's first touch. With a rate, only of lines that are followed.
        """
        found = np.empty(len(lines), np.int64)
        done = taken = 0
        while True:
            axis = _Axis(self._spec, self._lines, self._last, self._tree, self._who, found)
            done, taken = touch_all(axis, lines, done, taken)
            if done == len(lines):
                break
            self._grow()
        return (
            found[:taken]
            if not self._bits
            else np.where(found[:taken] < 0, found[:taken], found[:taken] << self._bits)
        )

    @property
    def live(self) -> int:
        """Different lines so far, of those that are followed."""
        return int(self._spec[0].live)

    def _room(self, slots: int, times: int) -> None:
        spec = self._spec[0]
        spec.slots, spec.times = slots, times
        self._lines, self._last = np.full(slots, _EMPTY), np.zeros(slots, np.int64)
        self._tree, self._who = np.zeros(times + 1, np.int64), np.full(times, -1)

    def _grow(self) -> None:
        """Move the lines together, with more room if they fill half of it."""
        spec = self._spec[0]
        held = np.flatnonzero(self._lines != _EMPTY)
        held = held[np.argsort(self._last[held], kind="stable")]
        lines, count = self._lines[held], len(held)
        slots, times = int(spec.slots), int(spec.times)
        while 2 * (count + 1) > slots:
            slots *= 2
        while 4 * (count + 1) > times:
            times *= 2
        self._room(slots, times)
        axis = _Axis(
            self._spec, self._lines, self._last, self._tree, self._who, np.empty(0, np.int64)
        )
        put_all(axis, lines)
        spec.now = count


def miss_rates(
    found: np.ndarray, sizes: np.ndarray, accesses: int, rate_bits: int = 0
) -> np.ndarray:
    """Miss rates of fully associative caches of so many lines (float64), from the distances of a
    stream of ``accesses``.

    That the lines that were followed are touched more or less often than their share is taken to be
    due to those that are touched all the time: they hit.
    """
    near = np.sort(found[found >= 0])
    misses = len(found) - np.searchsorted(near, sizes)
    return np.minimum(misses / max(accesses / (1 << rate_bits), 1e-300), 1.0)


@jit
def touch_all(c, lines, k, taken):
    """Touch lines from number k on until there is no room: how far it came, how many were told."""
    spec = c.spec[0]
    while k < len(lines):
        line = lines[k]
        if spec.rate > 0 and mixed(line) & ((1 << spec.rate) - 1) != 0:
            k += 1
            continue
        if spec.now == spec.times or 2 * (spec.live + 1) > spec.slots:
            return k, taken
        slot = place_of(c, spec, line)
        if c.lines[slot] == line:
            before = c.last[slot]
            c.found[taken] = spec.live - count_until(c, before)
            add(c, spec, before, -1)
            c.who[before] = -1
        else:
            c.found[taken] = NEVER_SEEN
            c.lines[slot] = line
            spec.live += 1
        c.last[slot] = spec.now
        c.who[spec.now] = slot
        add(c, spec, spec.now, 1)
        spec.now += 1
        taken += 1
        k += 1
    return k, taken


@jit
def put_all(c, lines):
    """Lines at the first places of the axis, the one touched longest ago first."""
    spec = c.spec[0]
    for k in range(len(lines)):
        slot = place_of(c, spec, lines[k])
        c.lines[slot], c.last[slot] = lines[k], k
        c.who[k] = slot
        add(c, spec, k, 1)


@inline
def mixed(line):
    """A number that spreads lines evenly."""
    x = line & _MASK
    x ^= x >> 31
    x ^= (x << 17) & _MASK
    x ^= x >> 13
    x ^= (x << 5) & _MASK
    return x ^ (x >> 23)


@inline
def place_of(c, spec, line):
    """The slot of a line, or the empty one that it would take."""
    slot = mixed(line) & (spec.slots - 1)
    while c.lines[slot] != line and c.lines[slot] != _EMPTY:
        slot = (slot + 1) & (spec.slots - 1)
    return slot


@inline
def add(c, spec, place, change):
    """A place of the axis is taken or left."""
    k = place + 1
    while k <= spec.times:
        c.tree[k] += change
        k += k & -k


@inline
def count_until(c, place):
    """How many places are taken from the first one to this one, both included."""
    k = place + 1
    count = 0
    while k > 0:
        count += c.tree[k]
        k -= k & -k
    return count
