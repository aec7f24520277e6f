import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=200_000, small=1_000, unit="elements")
def vecadd(device, module, rng, n):
    """Vector addition: c = a + b."""
    a, b = rng.random((2, n), dtype=np.float32)
    c = device.empty(n, np.float32)
    module["vecadd"][blocks(n, 256), 256](n, device.array(a), device.array(b), c)
    return Check("c", c, lambda: a + b)
