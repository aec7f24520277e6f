"""MersenneTwister of AMD's APP SDK 2.5: normally distributed numbers, some for each seed.

python examples/southern-islands/mersenne_twister.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

from lockstep.kernels import Check

BINARY = "MersenneTwister_Kernels.bin"
GROUP = 256
FACTOR = 2  # vectors of four numbers for each seed, at most 8


def run(device, module, rng, size):
    """Numbers of ``size`` seeds, rounded up to whole rows of 256."""
    rows = -(-size // GROUP)
    seeds = rng.integers(0, 2**32, (rows * GROUP, 4), dtype=np.uint32)
    out = device.zeros((rows * GROUP, FACTOR, 4), np.float32)
    module["gaussianRand"][(GROUP, rows), (GROUP, 1)](device.array(seeds), GROUP, FACTOR, out)
    yield Check("gaussianRand", out, lambda: normal(twisted(seeds, FACTOR)), 1e-6, 1e-6)


def twisted(seeds, count):
    """``count`` vectors (count, seeds, 4) of 32 bits for each seed, SIMD-oriented Fast MT."""
    state = [seeds]
    for k in range(1, 5):
        last = state[-1]
        state.append(np.uint32(1812433253) * (last ^ last >> np.uint32(30)) + np.uint32(k))
    words, before = list(state), state[3:5]
    masks = np.array([0xFDFF37FF, 0xEF7F3F7D, 0xFF777B7D, 0x7FF7FB2F], np.uint32)
    # The third of the states is used twice: as SFMT's distance of two vectors, in a ring of five.
    others = [*state[2:5], *state[0:2]]
    made = []
    for k in range(count):
        near = others[k] if k < 5 else made[k - 3]
        far = words[k] if k < 5 else made[k - 5]
        new = far ^ moved_left(far, 24) ^ (near >> np.uint32(13) & masks)
        new ^= moved_right(before[0], 24) ^ before[1] << np.uint32(15)
        made.append(new)
        before = [before[1], new]
    return np.array(made)


def moved_left(vector, bits):
    """A vector of 128 bits, moved to the left."""
    out = vector << np.uint32(bits)
    out[:, 1:] |= vector[:, :-1] >> np.uint32(32 - bits)
    return out


def moved_right(vector, bits):
    """A vector of 128 bits, moved to the right."""
    out = vector >> np.uint32(bits)
    out[:, :-1] |= vector[:, 1:] << np.uint32(32 - bits)
    return out


def normal(words):
    """Box and Muller's numbers (seeds, count, 4): of vectors k and k + 1, number 2 k and the next.

    What the angles of the last vectors are made of is the next vector, too.
    """
    uniform = words.astype(np.float32) / np.float32(2**32)
    out = []
    for k in range(len(words) // 2):
        radius = np.sqrt(-2 * np.log(uniform[k].astype(np.float64)))
        angle = (np.float32(2) * np.float32(np.pi) * uniform[k + 1]).astype(np.float64)
        out += [radius * np.cos(angle), radius * np.sin(angle)]
    return np.stack(out, 1)


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 16384, "seeds")
