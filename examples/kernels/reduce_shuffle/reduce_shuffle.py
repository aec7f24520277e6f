import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=400_000, small=5_000, unit="elements")
def reduce_shuffle(device, module, rng, n):
    """Sum of a vector: warp shuffles, then one atomic a block."""
    x = rng.random(n, dtype=np.float32)
    total = device.array(np.zeros(1, np.float32))
    module["reduce_shuffle"][min(blocks(n, 1024), 160), 256](n, device.array(x), total)
    return Check("total", total, lambda: x.sum(dtype=np.float64, keepdims=True), rtol=1e-5)
