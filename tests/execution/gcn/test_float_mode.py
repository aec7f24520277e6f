"""The float mode of kernels: rounding, subnormal numbers, and what is refused."""

import re

import numpy as np
import pytest

import cal_files
import lockstep
from gcn_twin.compare import differences
from gcn_twin.modes import ROUNDINGS, twins
from gcn_twin.operands import cases
from gcn_twin.run import on_lanes
from lockstep.errors import LockstepError, WorkloadError
from lockstep.execution.gcn.arithmetic import Arithmetic
from lockstep.execution.gcn.float_mode import FloatMode
from lockstep.execution.gcn.modifiers import result_of
from lockstep.execution.gcn.vector import VECTOR
from lockstep.execution.lanes.types import F32
from lockstep.isa.gcn import container

NUMBERS = list(ROUNDINGS)


@pytest.mark.long
@pytest.mark.parametrize("keeps", [False, True], ids=["flushed", "kept"])
@pytest.mark.parametrize("rounding", NUMBERS)
def test_operations_heed_the_mode(columns_and_lanes, rounding, keeps):
    """f64 have the next rounding, so that the two fields are told apart."""
    columns, active = columns_and_lanes
    number = NUMBERS.index(rounding)
    mode = FloatMode.of(0xC0 | keeps * 0x30 | number | (number + 1) % 4 << 2)
    expected = twins(rounding, keeps)
    applied = cases({name: VECTOR[name] for name in expected}, columns)
    assert differences(on_lanes(applied, active, mode), expected, applied, active) == []


def test_output_modifiers_are_for_floats_without_subnormal_numbers():
    x = np.linspace(-3, 3, 64, dtype=np.float32)
    doubled = Arithmetic(lambda b, v: result_of(b, v, 1, False), (F32,), (F32,))
    for bits, factor in ((0xC0, 2), (0xF0, 1)):
        found = on_lanes({"x": (doubled, [x])}, np.ones(64, bool), FloatMode.of(bits))
        assert np.array_equal(found["x"][0], x * np.float32(factor))


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        (0xD0, "float mode 0xd0 has 1 in bits 5:4, subnormal numbers of f32; expected 0 or 3"),
        (0xE0, "float mode 0xe0 has 2 in bits 5:4, subnormal numbers of f32; expected 0 or 3"),
        (0x00, "float mode 0x00 has 0 in bits 7:6, subnormal numbers of f64; expected 3"),
        (0xB0, "float mode 0xb0 has 2 in bits 7:6, subnormal numbers of f64; expected 3"),
        (0x1C0, "float mode 0x1c0 has more than eight bits"),
    ],
)
def test_other_modes_are_refused(bits, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        FloatMode.of(bits)


def binary(text, mode):
    """A kernel of code that the assembler knows by its words, with a float mode."""
    source = cal_files.Source("k", float_mode=mode)
    data = cal_files.binary([(source, bytes.fromhex(text))])
    assert container.read(data, "k.bin").kernels["k"].float_mode == mode
    return data


END = "000081bf"  # s_endpgm


def test_kernels_are_refused_when_they_are_loaded():
    with lockstep.Device(memory_bytes=1 << 20) as device:
        with pytest.raises(WorkloadError, match=r"^kernel k: float mode 0x40 has 1 in bits 7:6"):
            device.load_gcn(binary(END, 0x40))["k"]
        for mode in (0xF0, 0xCF, 0xF5):
            device.load_gcn(binary(END, mode))["k"][64, 64]()


def test_what_is_rounded_to_nearest_in_all_modes_is_refused_in_others():
    ldexp = "0000d0d2 00010200"  # v_ldexp_f64 v[0:1], v[0:1], v0
    with lockstep.Device(memory_bytes=1 << 20) as device:
        message = "v_ldexp_f64.*it rounds to nearest here, but the float mode of the kernel says UP"
        with pytest.raises(LockstepError, match=message):
            device.load_gcn(binary(ldexp + END, 0xC4))["k"][64, 64]()
