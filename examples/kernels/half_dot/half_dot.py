import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=400_000, small=5_000, unit="elements, rounded up to an even number")
def half_dot(device, module, rng, n):
    """Dot product in half precision."""
    pairs = blocks(n, 2)
    # Small integers: sums are exact in any order.
    x, y = rng.integers(-3, 4, (2, 2 * pairs)).astype(np.float16)
    total = device.array(np.zeros(1, np.float32))
    launch = module["half_dot"][min(blocks(pairs, 1024), 80), 128]
    launch(pairs, device.array(x), device.array(y), total)
    return Check("total", total, lambda: (x.astype(np.float64) * y).sum(keepdims=True))
