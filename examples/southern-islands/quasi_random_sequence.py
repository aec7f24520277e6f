"""QuasiRandomSequence of AMD's APP SDK 2.5: Sobol's sequences in several dimensions.

python examples/southern-islands/quasi_random_sequence.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

import lockstep
from lockstep.kernels import Check

BINARY = "QuasiRandomSequence_Kernels.bin"
DIRECTIONS = 32
# Of each dimension after the first: coefficients of a primitive polynomial, first numbers.
# S. Joe and F. Y. Kuo, ACM Transactions on Mathematical Software 29 (2003) 49.
POLYNOMIALS = (
    (0, (1,)),
    (1, (1, 3)),
    (1, (1, 3, 1)),
    (2, (1, 1, 1)),
    (1, (1, 1, 3, 3)),
    (4, (1, 3, 5, 13)),
    (2, (1, 1, 5, 5, 17)),
)


def run(device, module, rng, size):
    """``size`` points in eight dimensions: a multiple of 4, at most 1,024."""
    points = max(4, min(size, 1024) // 4 * 4)
    numbers = directions()
    out = device.zeros((len(numbers), points), np.float32)
    module["QuasiRandomSequence"][out.size // 4, points // 4](
        out, device.array(numbers), lockstep.local(4 * DIRECTIONS)
    )
    yield Check("QuasiRandomSequence", out, lambda: sequence(numbers, points))


def directions():
    """Direction numbers of each dimension, as fractions of 2**32."""
    rows = [[1 << 31 - k for k in range(DIRECTIONS)]]
    for coefficients, first in POLYNOMIALS:
        degree = len(first)
        row = [number << 31 - k for k, number in enumerate(first)]
        for k in range(degree, DIRECTIONS):
            number = row[k - degree] ^ row[k - degree] >> degree
            for j in range(1, degree):
                if coefficients >> degree - 1 - j & 1:
                    number ^= row[k - j]
            row.append(number)
        rows.append(row)
    return np.array(rows, np.uint32)


def sequence(numbers, points):
    """The points: of each, the direction numbers of the bits of its index, added without carry."""
    index = np.arange(points, dtype=np.uint32)
    out = np.zeros((len(numbers), points), np.uint32)
    for bit in range(DIRECTIONS):
        out ^= (index >> np.uint32(bit) & np.uint32(1)) * numbers[:, bit, None]
    return out.astype(np.float32) / np.float32(2**32)


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 1024, "points")
