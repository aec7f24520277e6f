"""Where addresses lie in device memory."""

from collections import Counter

import numpy as np
import pytest

from lockstep._jit import jit
from lockstep.caches.dram_map import place_of, places, problem
from lockstep.model.cache import slice_hash
from small_gpu import small

__all__ = ["small"]


@jit
def find(finder, first, count, sector, channels, found):
    for k in range(count):
        channels[k], found[k] = place_of(finder, first + k, sector)


def found(gpu, order: str, count: int, first: int = 0, sector: int = 0, burst: int = 1):
    """Channels, banks and rows of a sector of lines that follow each other."""
    channels, at = np.zeros(count, np.int64), np.zeros(count, np.int64)
    find(places(gpu, order, burst), first, count, sector, channels, at)
    return channels, at & 255, at >> 8


def test_an_order_is_read_from_its_last_digit(small):
    gpu = small(dram__channels=4, dram__banks=8, dram__row_bytes=1024)
    channels, banks, rows = found(gpu, "RoBaRaCoCh", 8 * 4 * 8 * 2, burst=4)
    each = np.arange(8 * 4 * 8 * 2)
    assert channels.tolist() == (each % 4).tolist()
    assert banks.tolist() == (each // 4 // 8 % 8).tolist()
    assert rows.tolist() == (each // 4 // 8 // 8).tolist()
    channels, banks, rows = found(gpu, "ChRaBaRoCo", 64, burst=4)
    assert not channels.any()
    assert not banks.any()
    assert rows.tolist() == (np.arange(64) // 8).tolist()


def test_the_first_digit_is_the_last_to_change(small):
    gpu = small(dram__channels=4, dram__banks=8, dram__row_bytes=1024, dram__capacity=1)
    quarter = (1 << 30) // 4 // 128
    for k in range(4):
        channels, banks, rows = found(gpu, "ChRaBaRoCo", 2, first=(k + 1) * quarter - 1, burst=4)
        assert channels.tolist() == [k, (k + 1) % 4]
        assert banks.tolist() == [7, 0]
        assert rows.tolist() == [quarter // 8 // 8 - 1, 0]


def test_sectors_of_a_line_that_are_moved_apart_lie_apart(small):
    gpu = small(dram__channels=4)
    assert [int(found(gpu, "RoBaRaCoCh", 1, 5, s, burst=1)[0][0]) for s in range(4)] == [0, 1, 2, 3]
    assert [int(found(gpu, "RoBaRaCoCh", 1, 5, s, burst=2)[0][0]) for s in range(4)] == [2, 2, 3, 3]


def test_the_gpus_own_order_fills_rows_and_takes_the_slices_channel(small):
    gpu = small()
    lines = 1 << 14
    channels, banks, rows = found(gpu, "gpu", lines)
    slices = gpu.dram.channels * gpu.l2.slices_per_channel
    hash_ = slice_hash.build(gpu.l2.slice_hash, slices, gpu.l2.interleave_bytes)
    for line in range(0, lines, 37):
        expected = slice_hash.index_of(hash_, line * 128) // gpu.l2.slices_per_channel
        assert channels[line] == expected
    filled = Counter(zip(channels.tolist(), banks.tolist(), rows.tolist()))
    assert set(filled.values()) == {gpu.dram.row_bytes // 128}


@pytest.mark.parametrize("order", ["RoBaCoCh", "RoBaRaCoCo", "robaracoch", "RoBaRaCoChCh", ""])
def test_what_is_no_order_is_told(order):
    assert "no order of addresses" in problem(order)
    assert not problem("RoRaBaCoCh")
    assert not problem("gpu")
