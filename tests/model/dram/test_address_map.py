"""Address map: nothing lost, streams spread over bank groups, rows of a power of two apart."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep._jit import as_records
from lockstep.gpus import library
from lockstep.model.dram import address_map

pytestmark = pytest.mark.plain

DRAM = library.gpu("QV100").dram


def digits(banks=16, groups=4, row_bytes=2048, line_bytes=128, bank_hash="xor"):
    dram = msgspec.structs.replace(
        DRAM, banks=banks, bank_groups=groups, row_bytes=row_bytes, bank_hash=bank_hash
    )
    table = as_records(np.zeros(1, address_map.MAP))
    table[0] = address_map.digits(dram, line_bytes)
    return table[0]


SHAPES = st.builds(
    digits,
    banks=st.integers(1, 256),
    groups=st.integers(1, 64),
    row_bytes=st.integers(64, 10000),
    line_bytes=st.sampled_from([32, 96, 128, 1024]),
    bank_hash=st.sampled_from(["xor", "linear"]),
)


@given(SHAPES, st.integers(0, 1 << 40))
def test_bank_row_and_column_give_the_line_back(d, line):
    place = address_map.locate(d, line)
    column = line // d.groups.value % d.row_lines.value
    assert 0 <= address_map.bank_of(place) < d.banks.value
    assert address_map.line_at(d, place, column) == line


@given(st.integers(1, 12), st.integers(1, 6), st.sampled_from(["xor", "linear"]))
def test_every_row_of_every_bank_is_full(banks, groups, bank_hash):
    d = digits(banks, groups, 512, 128, bank_hash)
    rows = 5
    places = [int(address_map.locate(d, line)) for line in range(rows * banks * 4)]
    counts = np.unique(places, return_counts=True)
    assert len(counts[0]) == rows * banks
    assert set(counts[1]) == {4}


def test_a_stream_alternates_between_bank_groups_and_stays_in_their_rows():
    d = digits()
    places = [int(address_map.locate(d, line)) for line in range(4 * 16)]
    banks = [address_map.bank_of(p) for p in places]
    assert [b % 4 for b in banks] == [0, 1, 2, 3] * 16
    assert len(set(places)) == 4


@pytest.mark.parametrize("exponent", range(5))
def test_rows_a_power_of_two_apart_are_in_different_banks(exponent):
    lines_of_all_rows = 16 * 16
    places = [(i << exponent) * lines_of_all_rows for i in range(8)]
    for bank_hash, found in (("xor", 8), ("linear", 1)):
        d = digits(bank_hash=bank_hash)
        banks = {int(address_map.bank_of(address_map.locate(d, line))) for line in places}
        assert len(banks) == found
