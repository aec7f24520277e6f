"""Loops are found, nest, and unfold to what they were."""

import numpy as np
import pytest

from lockstep.proxies.affine.loops import Loops


def unfold(tokens, spans):
    """The naive twin of the model's: recursive, entry by entry."""
    found, i = [], 0
    while i < len(tokens):
        if tokens[i] >= 0:
            found.append(tokens[i])
            i += 1
        else:
            found += unfold(tokens[i + 1 : i + 1 + spans[i]], spans[i + 1 : i + 1 + spans[i]]) * (
                -tokens[i]
            )
            i += 1 + spans[i]
    return found


CASES = {
    "nothing": ([], 0),
    "no loop": ([1, 2, 3, 4], 4),
    "one": ([7] * 1000, 2),
    "body": ([0, 1, 2] * 50, 4),
    "nested": (([0] + [1, 2] * 10 + [3]) * 20, 6),
    "deep": ((((([1] * 3 + [2]) * 4 + [3]) * 5) + [4]) * 6, 8),
    "first turn differs": ([9, 1] + [2, 1] * 99, 5),
}


@pytest.mark.parametrize("name", CASES)
def test_what_repeats_is_a_loop(name):
    given, entries = CASES[name]
    tokens, spans = Loops().fold(np.array(given, np.int64))
    assert unfold(tokens, spans) == given
    assert len(tokens) <= entries


def test_random_programs_unfold_to_what_they_were():
    rng, loops = np.random.default_rng(5), Loops()
    for _ in range(200):
        given = rng.integers(0, 3, rng.integers(1, 30)).tolist()
        for _ in range(rng.integers(0, 4)):
            at = rng.integers(0, len(given))
            given = given[:at] + given[at : at + rng.integers(1, 9)] * int(rng.integers(1, 5))
            given += rng.integers(0, 3, 2).tolist()
        assert unfold(*loops.fold(np.array(given, np.int64))) == given
