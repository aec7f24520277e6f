import numpy as np

from lockstep.kernels import Check, builtin

STRIDE = 32  # integers between elements: a line of 128 bytes each


def walked(order, steps):
    """Where the chain is after so many steps from element 0."""
    return np.array([STRIDE * order[steps % len(order)]])


@builtin(size=4_096, small=100, unit="lines of 128 bytes, each visited once")
def pointer_chase(device, module, rng, n):
    """A chain of dependent loads in random order."""
    order = np.append(0, 1 + rng.permutation(n - 1))
    following = np.zeros(n * STRIDE, np.int32)
    following[STRIDE * order] = STRIDE * np.roll(order, -1)
    steps, end = n - 1, device.empty(1, np.int32)
    module["pointer_chase"][1, 1](steps, device.array(following), end)
    return Check("end", end, lambda: walked(order, steps))
