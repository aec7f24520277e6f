"""What the launches next to a stratum say of it, which its own few do not decide.

If a stratum that happened to show a slow launch were drawn from again, and one that hid its slow
ones were not, the former's mean would be put right and the latter's never: totals come out too
low, however many launches are drawn. So what is expected of a stratum that few were drawn of is
what its neighbours took.
"""

import numpy as np

from lockstep.sampling.features import INSTRUCTIONS
from lockstep.sampling.table import LaunchTable

NEAREST = 4  # strata of the same kernel


def work(table: LaunchTable) -> np.ndarray:
    """What orders launches of a kernel: instructions if all are known, else threads; float64."""
    if INSTRUCTIONS in table.frame:
        instructions = table.column(INSTRUCTIONS)
        if not np.isnan(instructions).any():
            return instructions
    return table.threads()


def of_neighbours(
    table: LaunchTable, stratum: np.ndarray, sampled: np.ndarray, mean: np.ndarray
) -> np.ndarray:
    """The mean of the ``NEAREST`` strata of the same kernel, of each, float64 [strata].

    ``stratum``: of each launch, from 0 without gaps; ``sampled``: launches drawn of each;
    ``mean``: what these took, above 0. Near are those whose launches do as much work, and of these
    the ones whose launches come at the same time. The mean is that of logarithms, as many a
    launch. A stratum that is alone in its kernel has its own.
    """
    sizes = np.bincount(stratum)
    kernel = np.zeros(len(sizes), np.int64)
    kernel[stratum] = table.codes()
    place = np.bincount(stratum, np.arange(len(stratum))) / sizes
    order = np.lexsort((place, np.bincount(stratum, work(table)) / sizes, kernel))
    counts, logs, kernel = sampled[order], np.log(mean)[order], kernel[order]
    begin, end = (np.searchsorted(kernel, kernel, side) for side in ("left", "right"))
    at = np.arange(len(sizes))
    low = np.maximum(begin, np.minimum(at - NEAREST // 2, end - NEAREST - 1))
    high = np.minimum(low + NEAREST + 1, end)
    others = _sums(counts, low, high) - counts
    found = np.empty(len(sizes))
    total = _sums(counts * logs, low, high) - counts * logs
    found[order] = np.where(others > 0, total / np.maximum(others, 1), logs)
    return np.exp(found)


def _sums(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Of ``values[low:high]``, each."""
    upto = np.concatenate([[0], np.cumsum(values)])
    return upto[high] - upto[low]
