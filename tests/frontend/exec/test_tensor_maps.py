"""What tensor maps can describe."""

import numpy as np
import pytest

import lockstep
from lockstep.errors import WorkloadError
from lockstep.frontend.exec.tensor_maps import MAP_BYTES, TENSOR_MAP


@pytest.fixture(scope="module")
def device():
    return lockstep.Device("QV100", timing=False)


def test_fields_of_a_map(device):
    array = device.zeros((6, 10, 8), np.float16)
    made = device.tensor_map(array, (2, 5, 8), steps=(1, 2, 1))
    assert len(made) == MAP_BYTES
    record = np.frombuffer(made, TENSOR_MAP)[0]
    assert record["rank"] == 3
    assert record["data"] == array.pointer
    assert record["last"] == array.pointer + array.nbytes - 1
    assert list(record["sizes"]) == [8, 10, 6, 1, 1]
    assert list(record["strides"]) == [16, 160, 0, 0]
    assert list(record["box"]) == [8, 5, 2, 1, 1]
    assert list(record["steps"]) == [1, 2, 1, 1, 1]
    assert (record["rows"], record["row_bytes"]) == (10, 16)


def test_an_element_type_by_name(device):
    record = np.frombuffer(
        device.tensor_map(device.zeros((8, 8), np.uint16), (8, 8), kind="bf16"), TENSOR_MAP
    )[0]
    assert record["kind"] == 7 and record["element_bytes"] == 2


@pytest.mark.parametrize(
    "shape, box, options, message",
    [
        ((8, 8), (8,), {}, "axes"),
        ((1,) * 5 + (4,), (1,) * 5 + (4,), {}, "axes"),
        ((8, 8), (0, 8), {}, "box"),
        ((512, 8), (257, 8), {}, "box"),
        ((8, 8), (4, 4), {"steps": (9, 1)}, "steps"),
        ((8, 6), (4, 4), {}, "strides"),
        ((8, 8), (4, 2), {}, "box row"),
        ((8, 8), (4, 4), {"swizzle": 16}, "swizzle"),
        ((8, 8), (4, 4), {"swizzle": 32}, "swizzle"),
        ((8, 8), (4, 4), {"shape": (9, 8)}, "does not fit"),
        ((8, 8), (4, 4), {"kind": "f15"}, "element type"),
    ],
)
def test_what_cannot_be_is_refused(device, shape, box, options, message):
    with pytest.raises(WorkloadError, match=message):
        device.tensor_map(device.zeros(shape, np.float32), box, **options)


def test_elements_that_no_map_has(device):
    with pytest.raises(WorkloadError, match="complex64"):
        device.tensor_map(device.zeros(16, np.complex64), (4,))
