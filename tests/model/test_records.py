import numpy as np
import pytest

from lockstep.model.cache.tags import WAY
from lockstep.model.dram.state import SLOT, UNIT
from lockstep.model.memory import ENTRY
from lockstep.model.records import records

CACHE_LINE = 64


@pytest.mark.parametrize("shape", [1, 7, (3, 5)])
def test_records_are_zero_aligned_and_contiguous(shape):
    array = records(shape, WAY)
    assert array.shape == np.zeros(shape, WAY).shape
    assert array.ctypes.data % CACHE_LINE == 0
    assert array.flags.c_contiguous
    assert array.tobytes() == bytes(array.nbytes)


def test_a_record_is_a_view_of_its_array():
    array = records(3, WAY)
    array[1].valid = 5
    assert array["valid"].tolist() == [0, 5, 0]


@pytest.mark.parametrize("dtype", [WAY, ENTRY, SLOT, UNIT])
def test_hot_records_fill_whole_cache_lines(dtype):
    assert dtype.itemsize % CACHE_LINE == 0
