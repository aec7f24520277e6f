"""The rows of a bulk copy, against a naive walk."""

from collections import Counter

import numpy as np
import pytest

from lockstep._jit import jit
from lockstep.model.core import tile
from lockstep.workload.bulk_copies import TILE_AXES, TILE_WORDS
from ptx_twin.tensor import rows_of

NOTHING = [0, 0, 0, 1, 0, 0]


@jit
def walk(place, rows):
    """Fill (address, bytes) of each row that is sent; returns how many."""
    n = 0
    more = tile.begin(place)
    while more:
        rows[n, 0], rows[n, 1] = tile.address(place), place[tile.BYTES]
        n += 1
        tile.step(place)
        more = tile.seek(place)
    return n


def sent(words):
    place, rows = np.zeros(tile.STATE_WORDS, np.int64), np.zeros((4096, 2), np.int64)
    place[:TILE_WORDS] = words
    return [tuple(row) for row in rows[: walk(place, rows)].tolist()]


def words(base, size, rows, axes, repeats=1, repeat_stride=0):
    flat = [n for axis in axes for n in axis] + NOTHING * (TILE_AXES - len(axes))
    return [base, size, rows, repeats, repeat_stride, *flat, 0]


def covered(rows):
    return Counter(a + k for a, size in rows for k in range(size))


def random_words(rng):
    axes = []
    for _ in range(int(rng.integers(0, TILE_AXES + 1))):
        low, step = int(rng.integers(-3, 3)), int(rng.integers(1, 3))
        high = low + step * int(rng.integers(0, 4))
        first = int(rng.choice([low, low, high]))
        axes.append([first, low, high, step, int(rng.integers(0, 6)), 16 * int(rng.integers(1, 9))])
    size = 16 * int(rng.integers(0, 4))
    return words(4096, size, int(rng.integers(1, 200)), axes, int(rng.integers(1, 3)), 1 << 16)


@pytest.mark.parametrize("seed", range(200))
def test_the_bytes_of_any_tile(seed):
    given = random_words(np.random.default_rng(seed))
    assert covered(sent(given)) == covered(rows_of(given))


def test_rows_without_a_gap_are_one():
    box = [[2, 2, 9, 1, 15, 64], [1, 1, 3, 1, 7, 1024]]
    assert sent(words(0, 64, 24, box)) == [(1024 * k + 128, 512) for k in (1, 2, 3)]
    box[1][5] = 512
    assert sent(words(0, 64, 24, box)) == [(512 + 128, 1536)]


def test_rows_that_partly_do_not_exist_stay_apart():
    box = [[-1, -1, 2, 1, 15, 64]]
    assert sent(words(0, 64, 4, box)) == [(0, 64), (64, 64), (128, 64)]
    assert sent(words(0, 64, 4, [[20, 20, 23, 1, 15, 64]])) == []
