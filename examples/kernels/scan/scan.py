import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 256


def inclusive(device, module, values, n):
    """Prefix sums of a device array: of its blocks, of their sums, then both added."""
    grid = blocks(n, BLOCK)
    prefix, sums = device.empty(n, np.int32), device.empty(grid, np.int32)
    module["scan"][grid, BLOCK, 2 * BLOCK * 4](n, values, prefix, sums)
    if grid > 1:
        totals = inclusive(device, module, sums, grid)
        module["scan_add"][grid, BLOCK](n, totals, prefix)
    return prefix


@builtin(size=50_000, small=3_000, unit="elements")
def scan(device, module, rng, n):
    """Inclusive prefix sum of integers, block by block."""
    x = rng.integers(0, 100, n, dtype=np.int32)
    prefix = inclusive(device, module, device.array(x), n)
    return Check("prefix", prefix, lambda: np.cumsum(x, dtype=np.int32))
