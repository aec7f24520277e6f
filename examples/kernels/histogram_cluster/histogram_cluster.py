import numpy as np

from lockstep.kernels import Check, builtin

BINS = 8192


@builtin(size=100_000, small=5_000, unit="keys to count", arch="sm_90")
def histogram_cluster(device, module, rng, n):
    """Histogram with atomics in the shared memory of four blocks together, a cluster."""
    keys = rng.integers(0, BINS, n, dtype=np.uint16)
    bins = device.array(np.zeros(BINS, np.uint32))
    cluster = 4 if max(device.gpu.architectures, default=0) >= 90 else 1
    kernel = module["histogram_cluster"].with_cluster(cluster)
    kernel[16, 256, BINS // cluster * 4](n, device.array(keys), bins)
    return Check("bins", bins, lambda: np.bincount(keys, minlength=BINS))
