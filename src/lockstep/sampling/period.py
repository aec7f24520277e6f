"""The period of a sequence of kernels.

Autocorrelation of names: the share of places that have the same kernel as the place a lag later,
less the share that chance gives, and 1 for an exact period. Without the second, a kernel that is
launched nearly always would make a period of 1.

A lag is compared place by place only if it may do. Each kernel gets a random sign; where a share s
of the places is equal, the mean product of signs is at least s - (1 - s), and Fourier transforms
give that of all lags at once. Several signs leave few lags.
"""

import numpy as np

PERIODIC = 0.95
SIGNS = 8
FEW = 4


def period(codes: np.ndarray, longest: int | None = None, least: float = PERIODIC) -> int:
    """The smallest lag with an autocorrelation of ``least``; 0 if none up to ``longest`` has it.

    ``codes``: int64, numbers of kernels; ``longest``: half of the sequence if it is not given.
    """
    n = len(codes)
    longest = n // 2 if longest is None else min(longest, n // 2)
    chance = float(((np.bincount(codes) / n) ** 2).sum()) if n else 0.0
    needed = chance + least * (1 - chance)
    for lag in _candidates(codes, longest, needed):
        if np.mean(codes[:-lag] == codes[lag:]) >= needed - 1e-12:  # chance is a rounded sum
            return int(lag)
    return 0


def steady(codes: np.ndarray, lag: int, least: float = PERIODIC) -> int:
    """The first place from which on a period is followed by its like: what is before is a start.

    ``lag``: the period, at most half of the sequence; ``least``: the share of equal places that
    makes two alike. 0 if there is no such place.
    """
    same = np.concatenate([[0], np.cumsum(codes[:-lag] == codes[lag:])])
    return int((same[lag:] - same[:-lag] >= least * lag).argmax())


def _candidates(codes: np.ndarray, longest: int, needed: float) -> np.ndarray:
    """Lags up to ``longest`` that may have the share ``needed`` of equal places, and few others."""
    n, random = len(codes), np.random.default_rng(0)
    lags = np.arange(1, longest + 1)
    size = 1 << (n + longest).bit_length()  # zeros behind, so that the end does not meet the start
    for _ in range(SIGNS):
        if len(lags) <= FEW:
            break
        signs = random.choice([-1.0, 1.0], codes.max() + 1)[codes]
        spectrum = np.fft.rfft(signs, size)
        spectrum *= spectrum.conj()
        mean = np.fft.irfft(spectrum, size)[lags] / (n - lags)
        lags = lags[mean >= 2 * needed - 1 - 1e-6]
    return lags
