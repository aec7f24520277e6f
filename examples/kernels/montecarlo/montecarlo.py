import numpy as np

from lockstep.kernels import Check, blocks, builtin

SPOT, STRIKE, DRIFT, DEVIATION = 100.0, 105.0, 0.01, 0.25


def philox(counters, key):
    """Two random 32-bit words a counter: Philox 2x32-10."""
    x, y = counters.astype(np.uint64), np.zeros(len(counters), np.uint64)
    for number in range(10):
        product = x * np.uint64(0xD256D193)
        x = (product >> np.uint64(32)) ^ np.uint64(key + number * 0x9E3779B9 & 0xFFFFFFFF) ^ y
        y = product & np.uint64(0xFFFFFFFF)
    return x, y


def payoffs(paths, seed):
    """The payoff of each path in double precision."""
    x, y = philox(np.arange(paths), seed)
    u, v = ((x >> np.uint64(8)) + np.uint64(1)) / 2**24, (y >> np.uint64(8)) / 2**24
    normal = np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)
    return np.maximum(SPOT * np.exp(DRIFT + DEVIATION * normal) - STRIKE, 0)


@builtin(size=40_000, small=2_000, unit="paths")
def montecarlo(device, module, rng, paths):
    """Price of an option as the mean over random paths."""
    seed = int(rng.integers(1 << 32))
    total = device.array(np.zeros(1, np.float32))
    launch = module["montecarlo"][min(blocks(paths, 256), 80), 256]
    launch(paths, seed, SPOT, STRIKE, DRIFT, DEVIATION, total)
    return Check("total", total, lambda: payoffs(paths, seed).sum(keepdims=True), 1e-4, 1e-2)
