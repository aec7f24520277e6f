"""Stack distances against a list of lines, the last one in front."""

import numpy as np
import pytest

from lockstep.caches.distances import NEVER_SEEN, StackDistances, miss_rates


def naive(lines):
    stack, found = [], []
    for line in lines.tolist():
        found.append(stack.index(line) if line in stack else NEVER_SEEN)
        if line in stack:
            stack.remove(line)
        stack.insert(0, line)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("different", [3, 40, 2000])
def test_distances_are_those_of_a_list(seed, different):
    rng = np.random.default_rng(seed)
    lines = rng.integers(-different, different, 6000) ** (1 + seed % 2) * 7919
    assert StackDistances()(lines).tolist() == naive(lines)


def test_a_stream_may_come_in_parts():
    lines = np.random.default_rng(5).integers(0, 300, 9000)
    whole, parts = StackDistances(), StackDistances()
    found = [parts(part) for part in np.split(lines, [1, 700, 700, 5000])]
    assert np.concatenate(found).tolist() == whole(lines).tolist()
    assert parts.live == whole.live == 300


def test_a_share_of_the_lines_stands_for_all():
    rng = np.random.default_rng(6)
    lines = rng.zipf(1.3, 200_000) % 50_000
    exact, some = StackDistances()(lines), StackDistances(4)(lines)
    assert len(some) < len(exact) / 4
    sizes = np.array([64, 1024, 8192])
    errors = miss_rates(exact, sizes, len(lines)) - miss_rates(some, sizes, len(lines), 4)
    assert np.abs(errors[1:]).max() < 0.005 and abs(errors[0]) < 0.06  # 64 / 16 are but 4 lines


def test_rates_of_sizes():
    lines = np.tile(np.arange(10), 5)
    found = StackDistances()(lines)
    rates = miss_rates(found, np.array([1, 9, 10, 100]), len(lines))
    assert rates.tolist() == [1.0, 1.0, 0.2, 0.2]


def test_with_a_rate_distances_are_whole_multiples():
    lines = np.tile(np.arange(4096), 2)
    found = StackDistances(3)(lines)
    assert (found[found >= 0] % 8 == 0).all() and (found[found >= 0] > 0).any()


@pytest.mark.parametrize("bits", [-1, 21])
def test_a_rate_has_bounds(bits):
    with pytest.raises(ValueError, match="expected 0 to 20"):
        StackDistances(bits)
