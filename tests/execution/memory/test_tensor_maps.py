"""What tensor maps can describe."""

import numpy as np
import pytest

from lockstep.errors import WorkloadError
from lockstep.execution.memory.tensor_maps import KINDS, MAP_BYTES, Tensor, encode, field_of


def fields(made, *names):
    return [field_of(bytes(made), name) for name in names]


def test_fields_of_a_map(device):
    array = device.zeros((6, 10, 8), np.float16)
    made = device.tensor_map(array, (2, 5, 8), steps=(1, 2, 1), swizzle=32, fill="nan")
    assert len(made) == MAP_BYTES
    assert fields(made, "rank", "data") == [[2], [array.pointer]]
    assert fields(made, "sizes", "strides") == [[7, 9, 5, 0, 0], [16, 160, 0, 0]]
    assert fields(made, "box", "steps") == [[8, 5, 2, 1, 1], [1, 2, 1, 1, 1]]
    assert fields(made, "kind", "swizzle", "fill") == [[6], [1], [1]]


def test_fields_of_a_map_for_im2col(device):
    array = device.zeros((4, 6, 10, 8), np.float32)
    made = device.im2col_map(array, 4, 100, lower=(-1, -2), upper=(1, -3))
    assert fields(made, "mode", "channels", "pixels") == [[1], [4], [100]]
    assert fields(made, "lower", "upper") == [[-2, -1, 0], [-3, 1, 0]]


def test_an_element_type_by_name(device):
    made = device.tensor_map(device.zeros((8, 8), np.uint16), (8, 8), kind="bf16")
    assert fields(made, "kind") == [[KINDS.index("bf16")]] == [[10]]  # as tensormap.replace has it


@pytest.mark.parametrize(
    "shape, box, options, message",
    [
        ((8, 8), (8,), {}, "axes"),
        ((1,) * 5 + (4,), (1,) * 5 + (4,), {}, "axes"),
        ((8, 8), (0, 8), {}, "box"),
        ((512, 8), (257, 8), {}, "box"),
        ((8, 8), (4, 4), {"steps": (9, 1)}, "steps"),
        ((8, 8), (4, 4), {"steps": (0, 1)}, "steps"),
        ((8, 6), (4, 4), {}, "strides"),
        ((8, 8), (4, 2), {}, "box row"),
        ((8, 8), (4, 4), {"swizzle": 16}, "swizzle"),
        ((8, 32), (4, 12), {"swizzle": 32}, "more than the 32"),
        ((8, 8), (4, 4), {"fill": "one"}, "fill"),
        ((8, 8), (4, 4), {"fill": "nan", "kind": "u32"}, "fill of nan"),
        ((8, 8), (4, 4), {"shape": (9, 8)}, "does not fit"),
        ((8, 8), (4, 4), {"kind": "f15"}, "element type"),
        ((8, 8), (4, 4), {"interleave": 16}, "needs shape and strides"),
        ((8, 8), (4, 4), {"interleave": 16, "shape": (4, 4), "strides": (64,)}, "3 to 5"),
        ((8, 8), (4, 4), {"interleave": 24, "strides": (32,)}, "interleave 24"),
    ],
)
def test_what_cannot_be_is_refused(device, shape, box, options, message):
    with pytest.raises(WorkloadError, match=message):
        device.tensor_map(device.zeros(shape, np.float32), box, **options)


@pytest.mark.parametrize(
    "sizes, strides, options, message",
    [
        ((1 << 32, 1), (1 << 39,), {}, ""),
        (((1 << 32) + 1, 1), (1 << 39,), {}, "sizes"),
        ((8, 0), (32,), {}, "sizes"),
        ((8, 8), (1 << 40,), {}, "less than 2\\^40"),
        ((8, 8), (24,), {}, "multiples of 16"),
        ((8, 8), (32,), {"address": 1032}, "address"),
        ((8, 8, 8), (64, 128), {"interleave": 32, "swizzle": 32}, ""),
        ((8, 8, 8), (64, 128), {"interleave": 32}, "without swizzle"),
        ((8, 8, 8), (48, 128), {"interleave": 32, "swizzle": 32}, "multiples of 32"),
        ((8, 8, 8), (64, 128), {"interleave": 32, "swizzle": 32, "address": 1040}, "address"),
        ((8, 8, 8), (48, 128), {"interleave": 16}, ""),
        ((8, 8), (32,), {"steps": (77, 1)}, ""),  # the first one counts with an interleave alone
        ((8, 8, 8), (48, 128), {"interleave": 16, "steps": (9, 1, 1)}, "steps"),
    ],
)
def test_limits(sizes, strides, options, message):
    fields = {"address": 1024, "kind": "f32", "steps": (1,) * len(sizes)} | options
    tensor = Tensor(sizes=sizes, strides=strides, **fields)
    box = (4,) * len(sizes)
    if not message:
        assert len(encode(tensor, box)) == MAP_BYTES
        return
    with pytest.raises(WorkloadError, match=message):
        encode(tensor, box)


@pytest.mark.parametrize(
    "shape, options, message",
    [
        ((4, 8), {}, "3 to 5"),
        ((4, 9, 8), {"lower": (-32768,), "upper": (32767,)}, ""),
        ((4, 9, 8), {"lower": (-32769,)}, "lower corner"),
        ((4, 9, 9, 8), {"lower": (-128, 0), "upper": (127, 0)}, ""),
        ((4, 9, 9, 8), {"upper": (0, 128)}, "upper corner"),
        ((4, 9, 9, 9, 8), {"lower": (-16, -16, -16)}, ""),
        ((4, 9, 9, 9, 8), {"lower": (-17, 0, 0)}, "lower corner"),
        ((4, 9, 9, 9, 8), {"upper": (0, 0, 16)}, "upper corner"),
        ((4, 9, 8), {"lower": (4,), "upper": (-4,)}, ""),
        ((4, 9, 8), {"lower": (4,), "upper": (-5,)}, "without an element"),
        ((4, 9, 8), {"lower": (0, 0)}, "corners"),
        ((4, 9, 8), {"channels": 3}, "box row"),
        ((4, 9, 8), {"channels": 257}, "channels"),
        ((4, 9, 8), {"pixels": 1024}, ""),
        ((4, 9, 8), {"pixels": 1025}, "pixels"),
        ((4, 9, 8), {"pixels": 0}, "pixels"),
        ((4, 9, 16), {"channels": 12, "swizzle": 32}, "more than the 32"),
    ],
)
def test_limits_of_im2col(device, shape, options, message):
    space = len(shape) - 2
    fields = {"channels": 4, "pixels": 8, "lower": (0,) * space, "upper": (0,) * space} | options
    array = device.zeros(shape, np.float32)
    if not message:
        assert len(device.im2col_map(array, **fields)) == MAP_BYTES
        return
    with pytest.raises(WorkloadError, match=message):
        device.im2col_map(array, **fields)


def test_elements_that_no_map_has(device):
    with pytest.raises(WorkloadError, match="complex64"):
        device.tensor_map(device.zeros(16, np.complex64), (4,))
