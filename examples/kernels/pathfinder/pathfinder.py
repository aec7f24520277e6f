import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK, ROWS, AT_ONCE = 256, 20, 8


def cheapest(cost):
    """The cost of the cheapest way to each cell of the last row."""
    best = cost[0]
    for row in cost[1:]:
        sides = np.pad(best, 1, constant_values=np.iinfo(np.int32).max)
        best = row + np.minimum(best, np.minimum(sides[:-2], sides[2:]))
    return best


@builtin(size=8_000, small=500, unit="columns of a grid of 20 rows")
def pathfinder(device, module, rng, columns):
    """Cheapest ways down a grid, several rows a launch."""
    cost = rng.integers(0, 10, (ROWS, columns), dtype=np.int32)
    old, new = device.array(cost[0]), device.empty(columns, np.int32)
    for first in range(1, ROWS, AT_ONCE):
        rows = min(AT_ONCE, ROWS - first)
        part = device.array(cost[first : first + rows])
        grid = blocks(columns, BLOCK - 2 * rows)
        module["pathfinder"][grid, BLOCK](columns, rows, part, old, new)
        old, new = new, old
    return Check("cost", old, lambda: cheapest(cost))
