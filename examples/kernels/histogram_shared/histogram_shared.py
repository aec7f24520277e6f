import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=200_000, small=5_000, unit="bytes to count")
def histogram_shared(device, module, rng, n):
    """Histogram of bytes with atomics in shared memory."""
    data = rng.integers(0, 256, n, dtype=np.uint8)
    bins = device.array(np.zeros(256, np.uint32))
    module["histogram_shared"][min(blocks(n, 1024), 80), 256](n, device.array(data), bins)
    return Check("bins", bins, lambda: np.bincount(data, minlength=256))
