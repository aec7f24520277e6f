"""Random accesses of CTAs, for what brings them into an order."""

from itertools import count

import numpy as np
import pytest

from lockstep.caches.accesses import (
    ATOMIC,
    BARRIER,
    INVALIDATE,
    LINE,
    PRIVATE,
    READ,
    STEP,
    WRITE,
    Batch,
)


@pytest.fixture(scope="session")
def make_batch():
    """Function from the streams of the warps of some CTAs to their accesses.

    A stream is a list of steps: kind, flags, and pairs of line and sectors. The lines of a CTA lie
    in the reverse order of its steps.
    """

    def make(*ctas):
        first, steps, lines = [], [], []
        for streams in ctas:
            first.append([len(steps)])
            for stream in streams:
                for site, (kind, flags, touched) in enumerate(stream):
                    steps.append([0, len(touched), site, kind, flags, touched])
                first[-1].append(len(steps))
            for step in steps[: first[-1][0] - 1 if first[-1][0] else None : -1]:
                step[0] = len(lines)
                lines += step.pop()
        steps = np.array(list(map(tuple, steps)), STEP)
        return Batch(np.array(first, np.int64), steps, np.array(lines, LINE))

    return make


@pytest.fixture(scope="session")
def random_streams():
    """Function from a generator to streams of the warps of a CTA; each line has a number of its
    own, by which it is found again."""

    def make(rng, warps, steps=12, lines=4, numbers=None):
        numbers = numbers or count()
        made = []
        for _ in range(warps):
            stream = []
            for _ in range(rng.integers(steps + 1)):
                kind = int(rng.choice([READ, READ, WRITE, ATOMIC, BARRIER, INVALIDATE]))
                most = 0 if kind >= BARRIER else int(rng.integers(lines + 1))
                touched = [(next(numbers), int(rng.integers(1, 16))) for _ in range(most)]
                flags = PRIVATE * int(rng.integers(2)) if touched else 0
                stream.append((kind, flags, touched))
            made.append(stream)
        return made

    return make
