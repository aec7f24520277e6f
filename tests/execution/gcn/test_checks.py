"""``check=`` on wavefronts: races in LDS between lanes and wavefronts, mistakes in memory."""

from pathlib import Path

import numpy as np
import pytest

import lockstep

FOLDER = Path(__file__).parent / "kernels"
ITEMS, LANES = 128, 64
lanes = np.arange(ITEMS)


def launched(check, kernel, words=ITEMS):
    """What a group of two wavefronts writes, and what the checks find."""
    with lockstep.Device(memory_bytes=1 << 26, check=check) as device:
        out = device.zeros(words, np.uint32)
        device.load_gcn(FOLDER / "races.bin")[kernel][ITEMS, ITEMS](out)
        return out.numpy(), list(device.findings)


def test_a_race_is_told_with_both_places_and_lanes():
    _, found = launched("races", "unordered")
    counts = {f.kind: f.count for f in found}  # of the wavefront that comes second
    assert counts == {"read_after_write": LANES, "write_after_read": LANES}
    for finding in found:
        places = finding.place, finding.other_place
        read, write = places if finding.kind == "read_after_write" else places[::-1]
        assert read.instruction == "ds_read_b32 v3, v2"
        assert write.instruction == "ds_write_b32 v1, v0"
        assert read.pc - write.pc == 8
        assert finding.thread[0] ^ finding.other_thread[0] == LANES


@pytest.mark.parametrize("kernel", ["ordered", "one_wavefront", "atomics"])
def test_what_is_ordered_is_no_race(kernel):
    out, found = launched("races", kernel)
    assert found == []
    expected = {"ordered": lanes ^ LANES, "one_wavefront": lanes ^ (LANES - 1), "atomics": lanes}
    assert np.array_equal(out, expected[kernel])


def test_two_lanes_that_write_a_word_at_once_race():
    _, found = launched("races", "same_word")
    (finding,) = found
    assert (finding.kind, finding.count) == ("write_after_write", 2)
    assert finding.place == finding.other_place
    assert {finding.thread[0], finding.other_thread[0]} == {30, 62}


def test_a_store_outside_of_a_buffer_is_told_with_its_lane():
    out, found = launched("memory", "ordered", ITEMS - 1)
    assert np.array_equal(out, (lanes ^ LANES)[:-1])
    (finding,) = found
    assert (finding.kind, finding.thread[0], finding.count) == ("buffer_out_of_bounds", 127, 1)
    assert finding.place.instruction.startswith("buffer_store_dword")
