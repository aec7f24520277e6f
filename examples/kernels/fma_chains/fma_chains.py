import numpy as np

from lockstep.kernels import Check, builtin

BLOCKS, BLOCK, CHAINS, A, B = 80, 128, 8, 0.99, 0.25


def chained(x, steps):
    """The sum of the chains in double precision: x -> A x + B, many times."""
    starts = x.astype(np.float64)[:, None] + np.arange(CHAINS)
    fixed = np.float64(np.float32(B)) / (1 - np.float64(np.float32(A)))
    return (fixed + np.float64(np.float32(A)) ** steps * (starts - fixed)).sum(axis=1)


@builtin(size=25, small=2, unit="iterations of 32 multiply-adds by 10,240 threads")
def fma_chains(device, module, rng, iterations):
    """Fused multiply-adds in registers and nothing else."""
    x = rng.random(BLOCKS * BLOCK, dtype=np.float32)
    values = device.array(x)
    module["fma_chains"][BLOCKS, BLOCK](iterations, A, B, values)
    return Check("x", values, lambda: chained(x, iterations * 32 // CHAINS), rtol=1e-4)
