"""Points that are followed through images: windows at places that memory says."""

import numpy as np

from lockstep.kernels import Check, builtin

TEMPLATE, REACH, THREADS = 16, 8, 256
PLACES = 2 * REACH + 1
EDGE = 320


@builtin(size=96, small=2, unit="points")
def tracking(device, module, rng, n):
    """Best places of templates in windows of an image of 320 x 320, a block a point."""
    image = rng.random((EDGE, EDGE), np.float32)
    row, column = rng.integers(REACH, EDGE - TEMPLATE - REACH, (2, n), np.int32)
    moved = rng.integers(-REACH, REACH + 1, (2, n))
    cut = zip(row + moved[0], column + moved[1])
    templates = np.stack([image[y : y + TEMPLATE, x : x + TEMPLATE] for y, x in cut])
    held = [device.array(values) for values in (image, row, column, templates)]
    score = device.zeros((n, PLACES, PLACES), np.float32)
    best = device.zeros(n, np.int32)
    module["tracking"][n, THREADS](EDGE, *held, score, best)
    expected = (moved[0] + REACH) * PLACES + moved[1] + REACH
    return (
        Check("best", best, lambda: expected.astype(np.int32)),
        Check("score", score, lambda: scores(image, row, column, templates), rtol=1e-3, atol=1e-4),
    )


def scores(image, row, column, templates):
    """The sum of squares of each template at each place of its window."""
    views = np.lib.stride_tricks.sliding_window_view(image, (TEMPLATE, TEMPLATE))
    windows = (
        views[y - REACH : y + REACH + 1, x - REACH : x + REACH + 1] for y, x in zip(row, column)
    )
    pairs = zip(windows, templates)
    return np.stack([((view - wanted) ** 2).sum(axis=(2, 3)) for view, wanted in pairs])
