import numpy as np

from lockstep.kernels import Check, blocks, builtin

STEP, SOFTENING = 0.01, 0.05


def advance(bodies, velocities):
    """Positions and velocities after one step, in double precision."""
    position = bodies[:, :3].astype(np.float64)
    apart = position[None] - position[:, None]
    pull = bodies[:, 3] / ((apart**2).sum(axis=2) + SOFTENING) ** 1.5
    velocity = velocities[:, :3] + STEP * (pull[:, :, None] * apart).sum(axis=1)
    return position + STEP * velocity, velocity


def beside(columns, last):
    """Three columns and the unchanged fourth."""
    return np.concatenate([columns, last[:, 3:]], axis=1)


@builtin(size=512, small=150, unit="bodies")
def nbody(device, module, rng, n):
    """One step of gravity between all pairs of bodies."""
    bodies = rng.random((n, 4), dtype=np.float32)
    velocities = rng.random((n, 4), dtype=np.float32) - np.float32(0.5)
    moved, turned = device.empty((n, 4), np.float32), device.array(velocities)
    launch = module["nbody"][blocks(n, 128), 128]
    launch(n, STEP, SOFTENING, device.array(bodies), moved, turned)
    after = advance(bodies, velocities)
    yield Check("bodies", moved, lambda: beside(after[0], bodies), rtol=1e-4, atol=1e-4)
    yield Check("velocities", turned, lambda: beside(after[1], velocities), rtol=1e-4, atol=1e-3)
