"""What is drawn from: numbered histograms, and the paths of warps with their shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

MOST_COUNT = (1 << 31) - 1  # of a histogram, all together: so draws need no more than 64 bits


@dataclass(frozen=True, eq=False)
class Histograms:
    """Numbered histograms: values of ``i``, ascending, from ``first[i]`` to ``first[i + 1]``.

    int64 arrays; counts are at least 1.
    """

    first: np.ndarray
    values: np.ndarray
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Values and counts of a histogram."""
        part = slice(self.first[i], self.first[i + 1])
        return self.values[part], self.counts[part]

    @classmethod
    def of(cls, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> Self:
        """From values, ascending, and counts of each."""
        none = np.zeros(0, np.int64)
        first = np.concatenate([[0], np.cumsum([len(v) for v, _ in parts])]).astype(np.int64)
        values = np.concatenate([none, *(v for v, _ in parts)])
        counts = np.concatenate([none, *(_bounded(c) for _, c in parts)])
        return cls(first, values.astype(np.int64), counts.astype(np.int64))

    @cached_property
    def owners(self) -> np.ndarray:
        """Of each value, the number of its histogram."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def cumulative(self) -> np.ndarray:
        """Of each value, the counts of its histogram up to it."""
        total = np.cumsum(self.counts)
        before = np.concatenate([[0], total])[self.first[:-1]]
        return total - np.repeat(before, np.diff(self.first))


def _bounded(counts: np.ndarray) -> np.ndarray:
    """The counts, smaller in proportion if their sum is no number that can be drawn from."""
    excess = -(-int(counts.sum()) // MOST_COUNT) if len(counts) else 1
    return counts if excess <= 1 else np.maximum(counts // (2 * excess), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The paths of a kernel, and how many warps take each: the paper's Pi and Q.

    The entries of path ``i`` lie from ``first[i]`` to ``first[i + 1]``; int64 arrays.
    """

    first: np.ndarray
    entries: np.ndarray
    warps: np.ndarray

    def __len__(self) -> int:
        return len(self.warps)

    def __getitem__(self, i: int) -> np.ndarray:
        """The entries of a path."""
        return self.entries[self.first[i] : self.first[i + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self.__getitem__, range(len(self)))

    @classmethod
    def of(cls, paths: Sequence[np.ndarray], warps: Sequence[int] | np.ndarray) -> Self:
        """From the entries of each, and the warps that take it."""
        first = np.concatenate([[0], np.cumsum([len(p) for p in paths])]).astype(np.int64)
        entries = np.concatenate([np.zeros(0, np.int64), *paths]).astype(np.int64)
        return cls(first, entries, _bounded(np.asarray(warps, np.int64)))
