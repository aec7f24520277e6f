"""A layer of a perceptron: products summed in shared memory, then weights that are changed."""

import numpy as np

from lockstep.kernels import Check, builtin

TILE = 16
OUTPUTS = 256


@builtin(size=4096, small=64, unit="inputs, a multiple of 16")
def perceptron(device, module, rng, n):
    """A layer of 256 outputs: forward pass, then the change of its weights."""
    n = -(-n // TILE) * TILE
    given, error = rng.random(n, np.float32), rng.random(OUTPUTS, np.float32)
    weight, change = rng.random((2, n, OUTPUTS), np.float32)
    held = [device.array(values) for values in (given, error, weight, change)]
    partial = device.zeros((n // TILE, OUTPUTS), np.float32)
    shape = (OUTPUTS // TILE, n // TILE), (TILE, TILE)
    module["perceptron_forward"][shape](OUTPUTS, held[0], held[2], partial)
    module["perceptron_adjust"][shape](OUTPUTS, *held)
    step = np.float32(0.3) * error * given[:, None] + np.float32(0.3) * change
    products = (weight * given[:, None]).reshape(-1, TILE, OUTPUTS)
    return (
        Check("partial", partial, lambda: products.sum(axis=1), rtol=1e-5, atol=1e-5),
        Check("weight", held[2], lambda: weight + step, rtol=1e-5),
    )
