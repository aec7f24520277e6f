"""Pointers whose bytes are initialised one by one: ``cubins/packed.cu``."""

import pytest

import lockstep
from cubin_files import load


@pytest.mark.parametrize("form", ["sm_80", "sm_90", "ptx"])
def test_pointers_in_packed_structures(form):
    with lockstep.Device("H100") as device:
        module = load(device, "packed", form)
        out = device.zeros(4, "i8")
        module["packed"][1, 1](out)
        assert out.numpy().tolist() == [12, 13, 7 * 16 + 9, 5 * 16 + 6]


@pytest.mark.parametrize("place", range(8))
def test_every_byte_of_an_address(place):
    text = f"""
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .global .u32 word;
        .visible .global .u8 byte[3] = {{1, {hex(0xFF << 8 * place)}(generic(word) + 300), 2}};
    """
    with lockstep.Device("A100") as device:
        module = device.load_ptx(text)
        expected = (module.addresses["word"] + 300).to_bytes(8, "little")[place]
        assert module.variable("byte").numpy().tolist() == [1, expected, 2]
