import numpy as np

from lockstep.kernels import Check, blocks, builtin

EMPTY = 0xFFFFFFFF


def sums_of(keys, values, wanted):
    """The sum of each wanted key's values, -1 if it has none."""
    known, inverse = np.unique(keys, return_inverse=True)
    sums = np.bincount(inverse, values).astype(np.int32)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[place] == wanted, sums[place], -1)


@builtin(size=50_000, small=1_000, unit="keys to insert and to look up")
def hash_table(device, module, rng, n):
    """Hash table with linear probing, slots claimed by compare-and-swap."""
    slots = 1 << (2 * n - 1).bit_length()
    keys, wanted = (rng.integers(0, 2 * n, n, dtype=np.uint32) * 40503 for _ in range(2))
    values = rng.integers(0, 100, n, dtype=np.int32)
    table = device.array(np.full(slots, EMPTY, np.uint32))
    sums, found = device.array(np.zeros(slots, np.int32)), device.empty(n, np.int32)
    launch = blocks(n, 128), 128
    inputs = device.array(keys), device.array(values)
    module["hash_table"][launch](n, slots - 1, *inputs, table, sums)
    module["hash_table_find"][launch](n, slots - 1, device.array(wanted), table, sums, found)
    return Check("found", found, lambda: sums_of(keys, values, wanted))
