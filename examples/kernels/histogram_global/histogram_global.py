import numpy as np

from lockstep.kernels import Check, blocks, builtin

BINS = 1000


@builtin(size=200_000, small=5_000, unit="keys to count")
def histogram_global(device, module, rng, n):
    """Histogram of 32-bit keys with atomics in global memory."""
    keys = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    bins = device.array(np.zeros(BINS, np.uint32))
    module["histogram_global"][blocks(n, 128), 128](n, BINS, device.array(keys), bins)
    chosen = (keys.astype(np.uint64) * BINS) >> 32
    return Check("bins", bins, lambda: np.bincount(chosen.astype(int), minlength=BINS))
