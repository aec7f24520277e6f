"""The 5-tuple of a kernel: paths and their shares, bases, strides, reuse.

A warp is in the place of the paper's thread, as accesses are those after coalescing. A *path* is
the paper's pi, the sequence of a warp's memory instructions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lockstep.frontend.proxy.gmap.distributions import Histograms, Paths
from lockstep.frontend.proxy.gmap.sites import MARKERS, ORDINAL_BITS


@dataclass(frozen=True, eq=False)
class FiveTuple:
    """What is drawn from; strides and bases are in lines."""

    sites: np.ndarray  # SITE; with them B
    paths: Paths  # Pi and Q
    inter: Histograms  # P_E of each site: from a warp's first access to that of the next that has
    intra: Histograms  # P_A of each site: from one access of a warp to its next one
    reuse: Histograms  # P_R of each path: distinct lines since the last access to the same; COLD

    @cached_property
    def markers(self) -> np.ndarray:
        """Of each site, whether it accesses nothing."""
        return np.isin(self.sites["op"], MARKERS)

    @cached_property
    def path_accesses(self) -> np.ndarray:
        """How many lines a warp of each path accesses; int64."""
        counts = ~self.markers[self.paths.entries >> ORDINAL_BITS]
        counted = np.concatenate([[0], np.cumsum(counts)])
        return counted[self.paths.first[1:]] - counted[self.paths.first[:-1]]

    @property
    def warp_accesses(self) -> float:
        """How many lines a warp accesses, on average over what can be drawn."""
        warps = self.paths.warps
        return float((self.path_accesses * warps).sum() / max(int(warps.sum()), 1))
