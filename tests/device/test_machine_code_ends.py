"""Atomics on 16 bits at the end of memory, which compilers make of swaps of words: ``ends.cu``."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel

CODE = Path(__file__).parent / "cubins" / "ends.sm_90.cubin"


@pytest.fixture(scope="module", params=[None, "memory", "init"])
def module(request):
    with lockstep.Device("H100", timing=False, check=request.param) as device:
        yield device.load_cubin(CODE)


@pytest.mark.parametrize("count", [1, 3, 33, 129])
def test_the_last_of_an_odd_number_of_halves_is_added_to(module, count):
    device = module.device
    array, old = device.array(np.full(count, 2, np.float16)), device.zeros(1, np.float16)
    module["halves"][1, 1](array.pointer + 2 * (count - 1), old)
    assert array.numpy().tolist() == [2.0] * (count - 1) + [3.5]
    assert old.numpy().tolist() == [2.0] and not list(device.findings)


def test_the_last_of_an_odd_number_of_shorts_is_swapped(module):
    device = module.device
    array, old = device.array(np.full(5, 7, np.uint16)), device.zeros(1, np.uint16)
    module["shorts"][1, 1](array.pointer + 8, old)
    assert array.numpy().tolist() == [7, 7, 7, 7, 9] and old.numpy().tolist() == [7]
    assert not list(device.findings)


def test_the_last_of_an_odd_number_in_shared_memory(module):
    device = module.device
    out = device.zeros(32, np.uint16)
    module["inside"][1, 32](out)
    assert out.numpy().tolist() == [0x4200] * 32 and not list(device.findings)


@pytest.mark.parametrize(("count", "size"), [(1, 2), (1, 4), (2, 4), (3, 2), (3, 4), (257, 4)])
def test_aligned_accesses_that_begin_inside_are_inside(count, size):
    target, offset = {2: "%h", 4: "%a"}[size], count // size * size
    text = kernel(f".reg .u16 %h; ld.global.u{8 * size} {target}, [%out+{offset}];")
    with lockstep.Device("H100", timing=False) as device:
        device.load_ptx(text)["k"][1, 1](device.zeros(count, np.uint8))


@pytest.mark.parametrize(
    ("count", "read"),
    [
        (1, "u64 %d, [%out]"),
        (4, "u32 %a, [%out+4]"),
        (6, "u16 %h, [%out+6]"),
        (3, "u8 %h, [%out+3]"),
    ],
)
def test_no_others_are(count, read):
    text = kernel(f".reg .u16 %h; ld.global.{read};")
    with (
        lockstep.Device("H100", timing=False) as device,
        pytest.raises(lockstep.LaunchError, match="behind the end"),
    ):
        device.load_ptx(text)["k"][1, 1](device.zeros(count, np.uint8))
