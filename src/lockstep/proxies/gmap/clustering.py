"""Paths that are alike become one: greedy clustering, the most frequent first."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

THRESHOLD = 0.9  # Th of the paper
MOST_CLUSTERS = 256


class Clusters(NamedTuple):
    """Which paths stand for all: ``representatives`` are numbers of paths, ``member`` says of each
    path which of them stands for it. ``forced`` warps are less alike than the threshold."""

    representatives: list[int]
    member: np.ndarray
    forced: int


def similarity(a: np.ndarray, b: np.ndarray) -> float:
    """Share of the longer path's places at which both have the same entry; of two empty ones, 1."""
    shorter, longer = sorted((len(a), len(b)))
    if not longer:
        return 1.0
    return int(np.count_nonzero(a[:shorter] == b[:shorter])) / longer


def cluster(
    paths: Sequence[np.ndarray],
    warps: Sequence[int],
    threshold: float = THRESHOLD,
    most: int = MOST_CLUSTERS,
) -> Clusters:
    """Put each path to the first cluster whose representative is like it, else into a new one.

    Paths come in the order of how many warps take them; of as many, as they are numbered. When
    there are ``most`` clusters, a path that is like none joins the nearest.
    """
    order = sorted(range(len(paths)), key=lambda i: -warps[i])
    representatives: list[int] = []
    member = np.zeros(len(paths), np.int64)
    forced = 0
    for i in order:
        found = _first_like(paths, representatives, paths[i], threshold)
        if found < 0 and len(representatives) < most:
            found = len(representatives)
            representatives.append(i)
        elif found < 0:
            found = _nearest(paths, representatives, paths[i])
            forced += warps[i]
        member[i] = found
    return Clusters(representatives, member, forced)


def _first_like(
    paths: Sequence[np.ndarray], candidates: list[int], path: np.ndarray, threshold: float
) -> int:
    for number, candidate in enumerate(candidates):
        shorter, longer = sorted((len(paths[candidate]), len(path)))
        if shorter >= threshold * longer and similarity(paths[candidate], path) >= threshold:
            return number
    return -1


def _nearest(paths: Sequence[np.ndarray], candidates: list[int], path: np.ndarray) -> int:
    return max(range(len(candidates)), key=lambda n: similarity(paths[candidates[n]], path))
