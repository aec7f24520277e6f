import numpy as np

from lockstep.kernels import Check, builtin

BLOCK = 256
TILE = 2 * BLOCK


@builtin(size=8_192, small=1_500, unit="integers, filled up to a power of two, at least 512")
def bitonic_sort(device, module, rng, n):
    """Bitonic sort of integers."""
    x = rng.integers(-(1 << 31), (1 << 31) - 1, n, dtype=np.int32)
    padded = max(TILE, 1 << (n - 1).bit_length())
    values = np.full(padded, np.iinfo(np.int32).max, np.int32)
    values[:n] = x
    array, tiles = device.array(values), padded // TILE
    in_shared = module["bitonic_sort_shared"][tiles, BLOCK]
    in_shared(TILE, BLOCK, 1, array)
    length = 2 * TILE
    while length <= padded:
        stride = length // 2
        while stride >= TILE:
            module["bitonic_sort"][tiles, BLOCK](padded, length, stride, array)
            stride //= 2
        in_shared(length, BLOCK, 0, array)
        length *= 2
    return Check("values", array, lambda: np.sort(values))
