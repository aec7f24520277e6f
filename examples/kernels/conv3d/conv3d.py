import numpy as np

from lockstep.kernels import Check, blocks, builtin

WEIGHTS = (0.5, 0.25, -0.125, 0.0625)  # by the number of axes along which a neighbour is away


def weighed(volume):
    """The sums inside, zeros at the border, in double precision."""
    out = np.zeros(volume.shape)
    if min(volume.shape) > 2:
        i, j, k = np.indices((3, 3, 3)) - 1
        weights = np.array(WEIGHTS)[i * i + j * j + k * k]
        windows = np.lib.stride_tricks.sliding_window_view(volume.astype(np.float64), (3, 3, 3))
        out[1:-1, 1:-1, 1:-1] = np.einsum("zyxkji,kji->zyx", windows, weights)
    return out


@builtin(size=40, small=14, unit="cells along x; as many along y, half along z and one")
def conv3d(device, module, rng, nx):
    """Convolution of a volume with 3 x 3 x 3 weights."""
    nz = nx // 2 + 1
    volume = rng.random((nz, nx, nx), dtype=np.float32)
    out = device.empty(volume.shape, np.float32)
    grid = blocks(nx, 32), blocks(nx, 4), blocks(nz, 2)
    module["conv3d"][grid, (32, 4, 2)](nx, nx, nz, *WEIGHTS, device.array(volume), out)
    return Check("out", out, lambda: weighed(volume), rtol=1e-5, atol=1e-6)
