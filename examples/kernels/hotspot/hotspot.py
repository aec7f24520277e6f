import numpy as np

from lockstep.kernels import Check, blocks, builtin

ALONG, ACROSS, AIR = 0.1, 0.05, 0.01
LAUNCHES, STEPS, OUTPUT = 2, 2, 12


def heated(t, power):
    """Temperatures after all steps, in double precision."""
    t = t.astype(np.float64)
    for _ in range(LAUNCHES * STEPS):
        p = np.pad(t, 1, mode="edge")
        along = p[1:-1, :-2] + p[1:-1, 2:] - 2 * t
        across = p[:-2, 1:-1] + p[2:, 1:-1] - 2 * t
        t = t + power + ALONG * along + ACROSS * across + AIR * (80 - t)
    return t


@builtin(size=160, small=30, unit="cells along x; three quarters along y and one")
def hotspot(device, module, rng, width):
    """Temperatures of a chip: several steps a launch on tiles."""
    height = width * 3 // 4 + 1
    power = rng.random((height, width), dtype=np.float32)
    start = rng.uniform(70, 90, (height, width)).astype(np.float32)
    drawn, old, new = (
        device.array(power),
        device.array(start),
        device.empty(start.shape, np.float32),
    )
    grid = blocks(width, OUTPUT), blocks(height, OUTPUT)
    for _ in range(LAUNCHES):
        module["hotspot"][grid, (16, 16)](width, height, ALONG, ACROSS, AIR, drawn, old, new)
        old, new = new, old
    return Check("temperature", old, lambda: heated(start, power), rtol=1e-5)
