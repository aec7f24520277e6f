"""What compiled functions are given of an array."""

import numpy as np
import pytest

from lockstep._jit import kinds
from lockstep.model.records import records, zeros

ARRAYS = {
    "empty": lambda: np.zeros(0),
    "a part": lambda: np.arange(100)[7:50:3],
    "transposed": lambda: np.zeros((4, 5), order="F")[1:],
    "of a file": lambda: np.frombuffer(b"0123456789abcdef", np.int32),
    "records": lambda: records((3, 2), np.dtype([("a", "i8"), ("b", "i4", (3,))])),
    "in a space": lambda: zeros((2, 9), np.int8),
    "no axis": lambda: np.array(3.5),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_begins_where_numpy_says(name):
    array = ARRAYS[name]()
    assert kinds.address_of(array) == array.__array_interface__["data"][0]


def test_it_is_read_from_the_object_where_that_is_right(monkeypatch):
    assert kinds.address_of is kinds._read_address, "CPython runs these tests"
    monkeypatch.setattr(kinds, "_HEAD", kinds._HEAD + 8)
    assert not kinds._is_read_right()
