"""Counts of (owner, value) pairs that come in batches: histograms under construction."""

import itertools

import numpy as np

from lockstep.frontend.proxy.gmap.distributions import Histograms

_WAITING = 1 << 20  # pairs that are kept before they are put together


class PairCounts:
    """How often each pair of an owner and a value came."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []  # int64 [3, pairs]: owner, value, count
        self._waiting = 0

    def add(self, owners: np.ndarray, values: np.ndarray) -> None:
        """Count pairs; int64 arrays of one length."""
        self._parts.append(_together(np.stack([owners, values, np.ones_like(values)])))
        self._waiting += self._parts[-1].shape[1]
        if self._waiting > _WAITING:
            self._parts = [self.pairs()]
            self._waiting = 0

    def pairs(self) -> np.ndarray:
        """int64 [3, pairs]: owner, value and count, ordered by the first two."""
        return _together(np.concatenate([np.zeros((3, 0), np.int64), *self._parts], axis=1))

    def histograms(self, number: np.ndarray, count: int) -> Histograms:
        """``count`` histograms; ``number`` says into which the counts of each owner go."""
        owners, values, counts = self.pairs()
        owners, values, counts = _together(np.stack([number[owners], values, counts]))
        bounds = np.searchsorted(owners, np.arange(count + 1)).tolist()
        return Histograms.of([(values[a:b], counts[a:b]) for a, b in itertools.pairwise(bounds)])


def _together(pairs: np.ndarray) -> np.ndarray:
    """Equal pairs as one, with the sum of their counts; in order."""
    owners, values, counts = pairs
    if not len(owners):
        return pairs
    order = np.lexsort((values, owners))
    owners, values, counts = owners[order], values[order], counts[order]
    new = np.ones(len(owners), bool)
    new[1:] = (owners[1:] != owners[:-1]) | (values[1:] != values[:-1])
    first = np.flatnonzero(new)
    return np.stack([owners[first], values[first], np.add.reduceat(counts, first)])
