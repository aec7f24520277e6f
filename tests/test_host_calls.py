"""What a copy of the host can be."""

import pytest

from lockstep.errors import WorkloadError
from lockstep.host_calls import MemoryCopy


@pytest.mark.parametrize("address", [1 << 63, -(1 << 63) - 1, 2.5, "0x100"])
def test_the_address_of_a_copy_has_64_bits(address):
    with pytest.raises(WorkloadError, match=r"^memory copy to .*; expected an address of 64"):
        MemoryCopy(address, 4)


@pytest.mark.parametrize("size", [-1, 1 << 63, 2.5, None])
def test_the_size_of_a_copy_is_a_number_of_bytes(size):
    with pytest.raises(WorkloadError, match=f"^memory copy of {size} bytes; expected 0 to"):
        MemoryCopy(0, size)


def test_every_other_copy_can_be():
    assert MemoryCopy(-(1 << 63), 0) != MemoryCopy((1 << 63) - 1, (1 << 63) - 1)
