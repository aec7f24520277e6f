import numpy as np

from lockstep.kernels import Check, blocks, builtin

STEPS = 2


def jacobi(grid):
    """One step: the mean of four neighbours, inside."""
    new = grid.copy()
    new[1:-1, 1:-1] = 0.25 * (grid[1:-1, :-2] + grid[1:-1, 2:] + grid[:-2, 1:-1] + grid[2:, 1:-1])
    return new


@builtin(size=224, small=45, unit="points along x; three quarters along y and one")
def stencil2d(device, module, rng, nx):
    """Two Jacobi steps of the 5-point stencil."""
    ny = nx * 3 // 4 + 1
    grid = rng.random((ny, nx), dtype=np.float32)
    old, new = device.array(grid), device.empty((ny, nx), np.float32)
    for _ in range(STEPS):
        module["stencil2d"][(blocks(nx, 32), blocks(ny, 8)), (32, 8)](nx, ny, old, new)
        old, new = new, old
    return Check("grid", old, lambda: jacobi(jacobi(grid)), rtol=1e-6)
