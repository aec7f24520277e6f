import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=200_000, small=5_000, unit="elements")
def reduce_lastblock(device, module, rng, n):
    """Sum and maximum of a vector in one launch, finished by the last block."""
    x = rng.random(n, dtype=np.float32)
    grid = min(blocks(n, 512), 160)
    of_block, result = device.empty((grid, 2), np.float32), device.empty(2, np.float32)
    finished = device.array(np.zeros(1, np.uint32))
    launch = module["reduce_lastblock"][grid, 128]
    launch(n, device.array(x), of_block, finished, result)
    yield Check("result", result, lambda: np.array([x.sum(dtype=np.float64), x.max()]), rtol=1e-5)
    yield Check("finished", finished, lambda: np.zeros(1))
