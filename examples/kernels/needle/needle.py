import numpy as np

from lockstep.kernels import Check, blocks, builtin

TILE, LETTERS, GAP = 16, 20, -8


def table(a, b, similarity):
    """All scores, anti-diagonal by anti-diagonal."""
    n = len(a)
    score = np.zeros((n + 1, n + 1), np.int32)
    score[0] = score[:, 0] = GAP * np.arange(n + 1)
    match = similarity[np.ix_(a, b)]
    for d in range(2 * n - 1):
        i = np.arange(max(0, d - n + 1), min(d, n - 1) + 1)
        j = d - i
        gap = np.maximum(score[i + 1, j], score[i, j + 1]) + GAP
        score[i + 1, j + 1] = np.maximum(score[i, j] + match[i, j], gap)
    return score


@builtin(size=256, small=60, unit="letters of each sequence, rounded up to a multiple of 16")
def needle(device, module, rng, size):
    """Alignment of two sequences by Needleman and Wunsch."""
    tiles = blocks(size, TILE)
    n = tiles * TILE
    a, b = rng.integers(0, LETTERS, (2, n), dtype=np.int8)
    similarity = rng.integers(-6, 12, (LETTERS, LETTERS), dtype=np.int32)
    start = np.zeros((n + 1, n + 1), np.int32)
    start[0] = start[:, 0] = GAP * np.arange(n + 1)
    inputs = [device.array(values) for values in (a, b, similarity)]
    score = device.array(start)
    for diagonal in range(2 * tiles - 1):
        first = max(0, diagonal - tiles + 1)
        count = min(diagonal, tiles - 1) - first + 1
        module["needle"][count, TILE](n, diagonal, first, GAP, *inputs, LETTERS, score)
    return Check("score", score, lambda: table(a, b, similarity))
