"""What lanes access from a base on: bases, and patterns that are numbered."""

import numpy as np

from lockstep._jit import jit
from lockstep.frontend.proxy.affine.templates import NOWHERE_OFFSET
from lockstep.workload import NOWHERE

SINGLE = -(1 << 62)  # gap of a record with one lane: any fits
LISTED = -(1 << 62) + 1
_FACTOR = -7046029254386353131  # of hashes: odd


@jit
def describe(first, stride, place, pool, mask, base, gap, code):
    """Fill base, gap and a hash of listed offsets of address records."""
    for r in range(len(first)):
        lowest = -1
        previous, at, n = 0, np.int64(0), np.int64(0)
        regular, step, known = True, np.int64(0), False
        value, before = np.int64(0), np.int64(0)
        bits = mask[r]
        for lane in range(64):
            if (bits >> lane) & 1 == 0:
                continue
            value = pool[place[r] + n] if place[r] >= 0 else first[r] + n * stride[r]
            if lowest < 0:
                lowest = lane
            elif value == NOWHERE or before == NOWHERE:
                regular = False
            else:
                distance, lanes = value - before, lane - previous
                if not known:
                    known, step = True, distance // lanes
                regular = regular and distance == step * lanes
            previous, before = lane, value
            n += 1
        at = pool[place[r]] if place[r] >= 0 else first[r]
        if n == 1 and at != NOWHERE:
            gap[r], base[r], code[r] = SINGLE, at, lowest
        elif regular and at != NOWHERE:
            gap[r], base[r], code[r] = step, at - step * lowest, 0
        else:
            gap[r], base[r] = LISTED, at
            code[r] = _hash(place[r], stride[r], pool, n, at)


@jit
def _hash(place, stride, pool, count, origin):
    found = count
    for k in range(count):
        value = pool[place + k] if place >= 0 else origin + k * stride
        offset = value - origin if value != NOWHERE else NOWHERE_OFFSET
        found = (found ^ (offset + 1)) * _FACTOR
        found ^= (found >> 29) & 0x7FFFFFFFF
    return found


class Patterns:
    """Numbers the patterns of a kernel."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self.gaps: list[int] = []
        self.lists: list[np.ndarray] = []  # empty: by the gap

    def number(self, gap: np.ndarray, code: np.ndarray, offsets) -> np.ndarray:
        """The number of each record's pattern; ``offsets(i)``: those that record ``i`` lists."""
        listed = gap == LISTED
        keys = np.stack([np.where(listed, 1, 0), np.where(listed, code, gap)], axis=-1)
        found, first, inverse = np.unique(
            keys.reshape(-1, 2), axis=0, return_index=True, return_inverse=True
        )
        numbers = np.empty(len(found), np.int64)
        for n, (kind, value) in enumerate(found.tolist()):
            known = self._numbers.get((kind, value))
            if known is None:
                known = self._numbers[kind, value] = len(self.gaps)
                self.gaps.append(0 if kind else value)
                self.lists.append(offsets(int(first[n])) if kind else np.zeros(0, np.int64))
            numbers[n] = known
        return numbers[inverse.reshape(-1)].reshape(gap.shape)
