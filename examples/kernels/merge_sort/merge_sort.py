import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 256


@builtin(size=7_000, small=1_500, unit="integers")
def merge_sort(device, module, rng, n):
    """Merge sort of integers, with many equal ones."""
    x = rng.integers(-n, n, n, dtype=np.int32)
    values, merged = device.array(x), device.empty(n, np.int32)
    grid = blocks(n, BLOCK)
    module["merge_sort_block"][grid, BLOCK](n, values)
    run = BLOCK
    while run < n:
        module["merge_sort"][grid, BLOCK](n, run, values, merged)
        values, merged, run = merged, values, 2 * run
    return Check("values", values, lambda: np.sort(x))
