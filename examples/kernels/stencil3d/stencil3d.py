import numpy as np

from lockstep.kernels import Check, blocks, builtin

ALPHA = 0.125


def heat(u):
    """One step of the heat equation, inside."""
    c = u[1:-1, 1:-1, 1:-1]
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    new = u.copy()
    new[1:-1, 1:-1, 1:-1] += ALPHA * (around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * c)
    return new


@builtin(size=64, small=18, unit="points along x; as many along y, half along z and one")
def stencil3d(device, module, rng, nx):
    """One step of the 7-point heat equation, marching along z."""
    nz = nx // 2 + 1
    grid = rng.random((nz, nx, nx), dtype=np.float32)
    out = device.empty(grid.shape, np.float32)
    launch = module["stencil3d"][(blocks(nx, 32), blocks(nx, 4)), (32, 4)]
    launch(nx, nx, nz, ALPHA, device.array(grid), out)
    return Check("grid", out, lambda: heat(grid), rtol=1e-5, atol=1e-6)
