import ctypes
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.device.arguments import Parameter, described, pack
from lockstep.device.ptx import parameters_of
from lockstep.errors import WorkloadError
from lockstep.execution.memory.device_memory import DeviceMemory
from lockstep.isa.ptx.parser import parse

TYPES = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q"}
TYPES |= {"s64": "q", "f32": "f", "f64": "d", "b32": "I", "b64": "Q"}


def function(*parameters):
    declared = ", ".join(f".param {p}" for p in parameters)
    text = f".version 7.0\n.target sm_70\n.address_size 64\n.entry k({declared}) {{ ret; }}\n"
    return parse(text, "<test>").functions["k"]


def pack_for(kernel, arguments):
    return pack(kernel.name, parameters_of(kernel), arguments)


@st.composite
def values(draw):
    kind = draw(st.sampled_from(sorted(TYPES)))
    if kind in ("f32", "f64"):
        return kind, draw(st.floats(width=int(kind[1:]), allow_nan=False))
    bits = int(kind[1:])
    low = -(1 << bits - 1) if kind[0] == "s" else 0
    return kind, draw(st.integers(low, (1 << bits - (kind[0] == "s")) - 1))


@given(st.lists(values(), max_size=8))
def test_numbers_lie_as_in_a_struct(given):
    packed = pack_for(
        function(*(f".{kind} p{k}" for k, (kind, _) in enumerate(given))),
        tuple(v for _, v in given),
    )
    layout = "@" + "".join(TYPES[kind] for kind, _ in given)  # native alignment is PTX's
    assert packed == struct.pack(layout, *(v for _, v in given))


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_float)]


def test_structures_are_copied_at_their_alignment():
    record = np.zeros((), [("a", "i4"), ("b", "f4")])
    record["a"], record["b"] = 7, 1.5
    kernel = function(".u8 first", ".align 4 .b8 second[8]")
    expected = b"\x05\0\0\0" + struct.pack("if", 7, 1.5)
    assert pack_for(kernel, (5, record)) == expected
    assert pack_for(kernel, (5, Pair(7, 1.5))) == expected
    assert pack_for(kernel, (5, expected[4:])) == expected


@pytest.mark.parametrize(
    "kind, value, message",
    [
        (".u32 n", 1 << 32, "4294967296 is out of range"),
        (".s8 n", -129, "-129 is out of range"),
        (".u32 n", 1.5, "cannot take float 1.5"),
        (".u32 n", "7", "cannot take str '7'"),
        (".f32 a", 1e300, "too large"),
        (".f32 a", None, "cannot take NoneType"),
        (".align 8 .b8 s[16]", 3, "takes 16 bytes, not int"),
        (".align 8 .b8 s[16]", b"abc", "3 bytes given, 16 expected"),
        (".u64 x", b"abc", "3 bytes given, 8 expected"),
        (".u64 x", np.zeros(1), "an array of the host"),
    ],
)
def test_what_does_not_fit_is_named(kind, value, message):
    with pytest.raises(WorkloadError, match=f"kernel k, argument 1 .*{message}"):
        pack_for(function(".u32 first", kind), (1, value))


def test_the_number_of_arguments(device):
    with pytest.raises(WorkloadError, match="kernel k takes 2 arguments, 1 given"):
        pack_for(function(".u32 a", ".u32 b"), (1,))


def test_a_device_array_is_no_number(device):
    with pytest.raises(WorkloadError, match="a device array where a number is expected"):
        pack_for(function(".u32 n"), (device.empty(4),))


@given(st.lists(values(), max_size=8))
def test_numbers_are_described_as_they_were_given(given):
    kernel = function(*(f".{kind} p{k}" for k, (kind, _) in enumerate(given)))
    block = pack_for(kernel, tuple(v for _, v in given))
    memory = DeviceMemory(1 << 20)
    words = described(parameters_of(kernel), block, memory).split()
    memory.close()
    for (kind, value), word in zip(given, words, strict=True):
        if kind[0] == "f":
            assert float(word) == pytest.approx(value, rel=1e-6, abs=1e-44)
        else:
            assert int(word) == value


def test_pointers_are_described_by_the_order_of_allocations():
    """So that another run, whose memory may lie elsewhere, gives the same text."""
    memory = DeviceMemory(1 << 20)
    first, second = memory.allocate(64), memory.allocate(1024)
    places = [Parameter("u64", 0, 8), Parameter("b64", 8, 8), Parameter("u64", 16, 8)]

    def told(*addresses):
        return described(places, struct.pack("<3Q", *addresses), memory)

    assert told(first, second + 16, 5) == "@0 @1+16 5"
    assert told(first + 64, memory.base - 1, 0) == f"@+64 {memory.base - 1} 0"
    memory.free(first)
    again = memory.allocate(64)
    assert again == first and told(again, second, 0) == "@2 @1 0"
    structure = [Parameter("b8", 0, 20, (20,))]
    packed = struct.pack("<2IQI", 7, 9, second + 4, 11)
    assert described(structure, packed, memory) == "(7,9,@1+4,11)"
    memory.close()
