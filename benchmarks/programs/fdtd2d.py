"""Finite differences in the time domain: the same three launches over and over."""

import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 32, 8
STEPS = 500


@builtin(size=128, small=16, unit="cells along each edge")
def fdtd2d(device, module, rng, n):
    """Finite differences in the time domain, three launches a step, 500 steps."""
    ex, ey, hz = rng.random((3, n, n), dtype=np.float32)
    fields = [device.array(field) for field in (ex, ey, hz)]
    grid = blocks(n, BLOCK[0]), blocks(n, BLOCK[1])
    for step in range(STEPS):
        module["fdtd2d_ey"][grid, BLOCK](n, n, float(step), *fields[1:])
        module["fdtd2d_ex"][grid, BLOCK](n, n, fields[0], fields[2])
        module["fdtd2d_hz"][grid, BLOCK](n, n, *fields)
    return Check("hz", fields[2], lambda: magnetic(ex, ey, hz), rtol=1e-3, atol=1e-1)


def magnetic(ex, ey, hz):
    """The magnetic field in the end, in double precision."""
    ex, ey, hz = (field.astype(np.float64) for field in (ex, ey, hz))
    for step in range(STEPS):
        ey[0] = step
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz
