"""Times of single things."""

import random

import pytest

from lockstep.engine.host.costs import Costs, HostClock
from lockstep.gpus import library


@pytest.mark.parametrize("mhz", [1132.0, 1200.0, 1755.5, 1.0, 20000.0])
def test_a_cycle_begins_when_its_time_says(mhz):
    clock, draw = HostClock(mhz), random.Random(1)
    for cycle in [0, 1, 2, *(draw.randrange(1 << 50) for _ in range(200))]:
        time = clock.time(cycle)
        assert clock.cycle(time) == cycle
        assert clock.cycle(time + 1) in (cycle, cycle + 1)
        assert abs(time - cycle * 1e6 / mhz) <= 1 + time * 1e-15


def test_a_page_takes_the_link_its_share_of_a_second():
    costs = Costs(library.gpu("SST_VOLTA"))
    assert costs.on_link(4096) == 256_000
    assert costs.on_link(1) == 63, "rounded up"
    assert costs.latency == 23_840


def test_a_page_goes_to_all_slices_that_it_has():
    """4 KiB are 16 chunks of 256 bytes: 32 slices have one each at most, 8 cycles of 32 bytes."""
    costs = Costs(library.gpu("SST_VOLTA"))
    crossbar = costs.clock.time(2)  # one cycle each way
    assert costs.in_l2(4096) == crossbar + costs.clock.time(8)
    assert costs.in_l2(100) == crossbar + costs.clock.time(4)
    assert costs.in_l2(256 * 33) == crossbar + costs.clock.time(16)


def test_a_fill_goes_at_the_rate_of_the_memory():
    assert Costs(library.gpu("SST_VOLTA")).in_dram(512 * 1000) == 1_000_000
