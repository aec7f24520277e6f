import numpy as np

from lockstep.kernels import Check, blocks, builtin


def parts(values):
    """Real and imaginary parts along a last axis."""
    return np.stack([values.real, values.imag], axis=-1)


@builtin(size=16_384, small=500, unit="complex values, rounded up to a power of two")
def fft(device, module, rng, size):
    """Fast Fourier transform by radix-2 steps."""
    n = 1 << (size - 1).bit_length()
    x = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    old, new, span = device.array(x), device.empty((n, 2), np.float32), 1
    while span < n:
        module["fft"][blocks(n // 2, 128), 128](n, span, old, new)
        old, new, span = new, old, 2 * span
    scale = np.sqrt(n)
    return Check("y", old, lambda: parts(np.fft.fft(x[:, 0] + 1j * x[:, 1])), 1e-4, 1e-5 * scale)
