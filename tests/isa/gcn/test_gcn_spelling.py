"""Instructions as text: what the assembler's answers do not show."""

import pytest

from lockstep.isa.gcn.decode import decode_one
from lockstep.isa.gcn.spelling import spell, waits


def text(*values, label=None):
    code = b"".join(value.to_bytes(4, "little") for value in values)
    return spell(decode_one(code, 0), label)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([0xD2060003, 0x00000501], "v_add_f32_e64 v3, v1, s2"),
        ([0xD2060003, 0x20000501], "v_add_f32_e64 v3, -v1, s2"),
        ([0xD2060103, 0x20000501], "v_add_f32_e64 v3, -|v1|, s2"),
        ([0xD2060003, 0x200004F2], "v_add_f32_e64 v3, neg(1.0), s2"),
        ([0xD2060803, 0x08000501], "v_add_f32_e64 v3, v1, s2 clamp mul:2"),
        ([0xD2060003, 0x18000501], "v_add_f32_e64 v3, v1, s2 div:2"),
    ],
)
def test_signs_and_scales_of_vop3(words, expected):
    assert text(*words) == expected


def test_counters_are_named_where_the_assembler_has_the_same_bits():
    assert text(0xBF8C0F70) == "s_waitcnt vmcnt(0)"
    assert text(0xBF8C007F) == "s_waitcnt lgkmcnt(0)"
    assert text(0xBF8C0F7F) == "s_waitcnt 0xf7f"  # for nothing
    assert text(0xBF8C1F70) == "s_waitcnt 0x1f70"  # AMD's compiler counts to 31
    assert waits(0x1F70) == "vmcnt(0)"
    assert waits(0x1B0F) == "expcnt(0) lgkmcnt(27)"


def test_a_branch_goes_to_a_number_or_a_label():
    assert text(0xBF82FFFE) == "s_branch 0xfffe"
    assert text(0xBF82FFFE, label="L0_0004") == "s_branch L0_0004"


def test_no_register_is_beyond_the_last():
    assert text(0xD9D80000, 0xFE000001) == "ds_read_b64 v[254:255], v1"
    assert text(0xD9D80000, 0xFF000001) == "ds_read_b64 v255, v1"
