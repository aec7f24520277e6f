"""Sectors of launches, and what an L2 holds of those before; beside a naive LRU."""

from collections import OrderedDict

import numpy as np
import pytest

from lockstep.sampling.history import PARTS, SectorHistory


def _touch(history, sectors, reads=True, writes=False):
    sectors = np.asarray(sectors, np.int64)
    every = np.ones(len(sectors), bool)
    history.touch(sectors, every & reads, every & writes)


def _launch(history, *touches):
    history.begin()
    for sectors, kind in touches:
        _touch(history, sectors, "r" in kind, "w" in kind)
    return history.end()


def test_sectors_are_counted_once_a_launch():
    history = SectorHistory(1 << 20)
    assert _launch(history, ([1, 2, 2, 1], "r"), ([2, 3], "w"), ([9], "rw")) == (3, 3, 4)
    assert _launch(history, ([3, 4], "r")) == (2, 0, 1)
    assert _launch(history) == (0, 0, 0)


def test_an_l2_holds_as_many_sectors_as_fit():
    """Launches of a sixteenth of it: the last sixteen are held, the one before is lost."""
    size = 64
    for between, new in ((PARTS - 1, 0), (PARTS, size)):
        history = SectorHistory(PARTS * size * 32)
        _launch(history, (np.arange(size), "r"))
        for k in range(1, between + 1):
            _launch(history, (np.arange(size) + k * size, "w"))
        assert _launch(history, (np.arange(size), "r")).new == new


def test_a_large_launch_leaves_its_end():
    history = SectorHistory(1600 * 32)
    _launch(history, (np.arange(5000), "r"))
    assert _launch(history, (np.arange(4000, 5000), "r")).new == 0
    assert _launch(history, (np.arange(1000), "r")).new == 1000


def test_far_addresses_take_a_page_each():
    history = SectorHistory(1 << 20)
    far = np.array([0, 0x7000_0000_0000 >> 5, (0x7FFF_FFFF_FFFF >> 5), 0x7F00_0000_0000 >> 5])
    assert _launch(history, (far, "r")) == (4, 0, 4)
    assert _launch(history, (far, "rw")) == (4, 4, 0)


def _exact(launches, capacity):
    """New sectors of each launch by least recent use, sector by sector."""
    cache, counts = OrderedDict(), []
    for sectors in launches:
        new, seen = 0, set()
        for sector in sectors.tolist():
            new += sector not in cache and sector not in seen
            seen.add(sector)
            cache[sector] = None
            cache.move_to_end(sector)
            if len(cache) > capacity:
                cache.popitem(last=False)
        counts.append(new)
    return counts


@pytest.mark.parametrize("seed", range(8))
def test_new_sectors_are_those_of_exact_lru_but_for_the_order_in_an_epoch(seed):
    rng, capacity = np.random.default_rng(seed), 800
    launches = []
    for _ in range(60):
        start, length = rng.integers(0, 3000), rng.integers(1, 700)
        launches.append(start + rng.permutation(length) if rng.random() < 0.5 else
                        start + np.arange(length))  # fmt: skip
    history = SectorHistory(capacity * 32)
    found = [_launch(history, (sectors, "r")).new for sectors in launches]
    exact, total = _exact(launches, capacity), sum(map(len, launches))
    assert abs(sum(found) - sum(exact)) <= total / PARTS
    largest = max(abs(a - b) for a, b in zip(found, exact))
    assert largest <= 3 * capacity / PARTS, (found, exact)
    all_fit = SectorHistory(1 << 24)
    assert [_launch(all_fit, (s, "r")).new for s in launches] == _exact(launches, 1 << 19)
