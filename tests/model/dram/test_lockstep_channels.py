"""Controllers with several channels in lockstep, of the memory of Candel et al., FGCS 2018.

x controllers of y channels, xMC-yPC: a controller gives one stream of commands, and a burst
brings y times the bytes, so that a line takes 1/y of the beats.
"""

import numpy as np
import pytest

pytestmark = pytest.mark.plain

LINE = 64
CANDEL = {
    "clock_mhz": 1500.0,
    "dram__clock_mhz": 1500.0,
    "dram__standard": "DRAMSIM2",
    "dram__banks": 8,
    "dram__bank_groups": 1,
    "dram__read_queue": 32,
    "dram__write_queue": 32,
    "dram__row_accesses": 4,
} | {f"{cache}__{size}_bytes": LINE for cache in ("l1", "l2") for size in ("line", "sector")}


def controller(channel, channels=1):
    return channel(**CANDEL, dram__bus_bytes=4 * channels, dram__burst_length=16 // channels)


def duration(channel, controllers, channels, requests):
    """Ticks until the last of several controllers is done with its (controller, bank, row)."""
    return max(
        controller(channel, channels).drive(
            [(0, 0, bank, row) for c, bank, row in requests if c % controllers == number]
        )
        for number in range(controllers)
    )


def stream(blocks, lines):
    """Blocks of consecutive lines at random places, dealt to four controllers."""
    places = np.random.default_rng(1).integers(0, (8, 1000), (blocks, 2)).tolist()
    return [(i % 4, *place) for i, place in enumerate(places) for _ in range(lines)]


def test_delays_are_those_that_dramsim2_derives(channel):
    """A read of a closed bank, and one of another row behind it."""
    dram = controller(channel)
    dram.add(bank=0, row=1)
    dram.add(bank=0, row=2)
    dram.finish()
    (first, second), (close,) = dram.ticks(0), dram.ticks(1)
    reads = [ready for _, _, ready in dram.data]
    assert reads[0] - first == 1 + 17 + 18 + 8  # posted read, AL + CL, BL / 2
    assert close - first == 42  # tRAS; read to precharge, 1 + 17 + 8 + 1, is shorter
    assert second - close == 18 and second - first == 60
    assert reads[1] - reads[0] == second - first


@pytest.mark.long
@pytest.mark.parametrize("pair", [((1, 2), (2, 1)), ((2, 2), (4, 1))])
def test_channels_in_lockstep_move_as_many_bytes_as_controllers(channel, pair):
    """Blocks of 256 bytes, by which addresses go from controller to controller."""
    requests = stream(300, 4)
    lockstep, apart = (duration(channel, *shape, requests) for shape in pair)
    assert lockstep == pytest.approx(apart, rel=0.03)
    assert duration(channel, 1, 1, requests) > 1.8 * min(lockstep, apart)


def test_single_lines_at_random_are_bound_by_banks_not_by_channels(channel):
    requests = stream(300, 1)
    alone = duration(channel, 1, 1, requests)
    assert duration(channel, 1, 2, requests) == pytest.approx(alone, rel=0.01)
    assert duration(channel, 2, 1, requests) < 0.6 * alone
