import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=200_000, small=1_000, unit="elements")
def saxpy(device, module, rng, n):
    """Scaled vector addition in place: y = alpha x + y."""
    alpha = 2.5
    x, y = rng.random((2, n), dtype=np.float32)
    result = device.array(y)
    module["saxpy"][min(blocks(n, 256), 640), 256](n, alpha, device.array(x), result)
    return Check("y", result, lambda: alpha * x + y, rtol=1e-6)
