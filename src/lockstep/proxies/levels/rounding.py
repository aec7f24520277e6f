"""Numbers with fewer digits, and counts with noise."""

import numpy as np

from lockstep.frontend.proxy.gmap import Histograms

PARTS = 16  # of the power of two below a number: to multiples of such a part it is rounded


def rounded(values: np.ndarray) -> np.ndarray:
    """Each number, rounded to a multiple of 1/PARTS of the power of two below it; int64.

    It is off by no more than 1/32 then; numbers up to 32 stay what they are.
    """
    size = np.abs(values.astype(np.int64))
    below = np.frexp(size.astype(np.float64))[1] - 1
    unit = np.int64(1) << np.maximum(below - PARTS.bit_length() + 1, 0)
    return np.sign(values) * ((size + unit // 2) // unit * unit)


def rounded_up(value: int) -> int:
    """A number, rounded as above but never down."""
    unit = 1 << max(value.bit_length() - PARTS.bit_length(), 0)
    return -(-value // unit) * unit


def noised(counts: np.ndarray, epsilon: float, random: np.random.Generator) -> np.ndarray:
    """Counts with Laplace noise of scale 1/epsilon, as numbers from 0 on; one at least is left."""
    noise = random.laplace(0.0, 1.0 / epsilon, len(counts))
    found = np.maximum(np.rint(counts + noise), 0).astype(np.int64)
    if len(found) and not found.any():
        found[np.argmax(counts)] = 1
    return found


def blurred_histograms(
    histograms: Histograms, epsilon: float, random: np.random.Generator
) -> Histograms:
    """Histograms of rounded values, with noise in their counts; what counts 0 then is left out."""
    parts = []
    for i in range(len(histograms)):
        values, counts = histograms[i]
        values, place = np.unique(rounded(values), return_inverse=True)
        counts = noised(np.bincount(place, counts, len(values)), epsilon, random)
        parts.append((values[counts > 0], counts[counts > 0]))
    return Histograms.of(parts)
