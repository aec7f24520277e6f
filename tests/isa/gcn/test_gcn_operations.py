"""The tables of opcodes: what is read and written."""

from collections import Counter

import pytest

from lockstep.isa.gcn.instruction import Format
from lockstep.isa.gcn.operations import OPERATIONS, OperandField


def named(name, format):
    """The operation of that name."""
    (found,) = [o for o in OPERATIONS.values() if (o.name, o.format) == (name, format)]
    return found


def test_the_whole_isa_is_there():
    counts = Counter(format.name for format, _ in OPERATIONS)
    assert counts == {
        "SOP2": 43, "SOPK": 20, "SOP1": 48, "SOPC": 17, "SOPP": 26, "SMRD": 12,
        "VOP2": 50, "VOP1": 59, "VOPC": 196, "VOP3A": 347, "VOP3B": 8, "VINTRP": 3,
        "DS": 131, "MUBUF": 56, "MTBUF": 8, "MIMG": 93, "EXP": 1,
    }  # fmt: skip


def test_a_name_occurs_once_in_a_format():
    names = Counter((o.format, o.name) for o in OPERATIONS.values())
    assert set(names.values()) == {1}


@pytest.mark.parametrize(
    ("short", "offset"), [(Format.VOPC, 0), (Format.VOP2, 256), (Format.VOP1, 384)]
)
def test_short_encodings_are_in_vop3_too(short, offset):
    for (format, opcode), operation in OPERATIONS.items():
        long = [
            OPERATIONS.get((vop3, opcode + offset)) for vop3 in (Format.VOP3A, Format.VOP3B)
        ]  # fmt: skip
        if format is short and any(o.type == "literal" for o in operation.sources):
            assert long == [None, None]
        elif format is short:
            assert [o.name for o in long if o] == [operation.name]


def test_the_mask_of_a_short_encoding_is_an_operand_of_the_long_one():
    short = named("v_addc_u32", Format.VOP2)
    long = named("v_addc_u32", Format.VOP3B)
    mask = OperandField("vcc", "mask", True)
    assert (short.results[1], short.sources[2]) == (mask, mask)
    assert long.results[1] == OperandField("sdst", "mask", True)
    assert long.sources[2] == OperandField("src2", "mask", True)
    assert named("v_cmp_lt_f32", Format.VOP3A).results == (OperandField("vdst", "mask", True),)
    assert named("v_cmp_lt_f32", Format.VOPC).results == (mask,)


@pytest.mark.parametrize(
    ("format", "name", "reads", "writes"),
    [
        (Format.SOP2, "s_add_u32", set(), {"scc"}),
        (Format.SOP2, "s_addc_u32", {"scc"}, {"scc"}),
        (Format.SOP2, "s_mul_i32", set(), set()),
        (Format.SOP2, "s_cselect_b64", {"scc"}, set()),
        (Format.SOPC, "s_cmp_lt_i32", set(), {"scc"}),
        (Format.SOPC, "s_setvskip", set(), set()),
        (Format.SOPK, "s_addk_i32", set(), {"scc"}),
        (Format.SOPK, "s_mulk_i32", set(), {"scc"}),  # tells an overflow
        (Format.SOP1, "s_mov_b64", set(), set()),
        (Format.SOP1, "s_and_saveexec_b64", {"exec"}, {"scc", "exec"}),
        (Format.SOPP, "s_cbranch_vccz", {"vcc"}, set()),
        (Format.VOPC, "v_cmp_eq_i32", set(), set()),
        (Format.VOPC, "v_cmpx_eq_i32", set(), {"exec"}),
        (Format.VOP3A, "v_div_fmas_f64", {"vcc"}, set()),
        (Format.VOP1, "v_movrels_b32", {"m0"}, set()),
        (Format.DS, "ds_read_b32", {"m0"}, set()),
    ],
)
def test_registers_that_are_not_named(format, name, reads, writes):
    operation = named(name, format)
    assert (operation.reads, operation.writes) == (reads, writes)


@pytest.mark.parametrize(
    ("format", "name", "results", "sources"),
    [
        (Format.SOP2, "s_lshl_b64", [("sdst", 2)], [("ssrc0", 2), ("ssrc1", 1)]),
        (Format.SMRD, "s_load_dwordx8", [("sdst", 8)], [("sbase", 2), ("offset", 1)]),
        (Format.SMRD, "s_buffer_load_dword", [("sdst", 1)], [("sbase", 4), ("offset", 1)]),
        (Format.VOP2, "v_mac_f32", [("vdst", 1)], [("src0", 1), ("vsrc1", 1), ("vdst", 1)]),
        (Format.VOP3A, "v_mac_f32", [("vdst", 1)], [("src0", 1), ("src1", 1), ("vdst", 1)]),
        (Format.VOP3A, "v_ldexp_f64", [("vdst", 2)], [("src0", 2), ("src1", 1)]),
        (Format.DS, "ds_read2_b64", [("vdst", 4)], [("addr", 1)]),
        (Format.DS, "ds_cmpst_rtn_b64", [("vdst", 2)], [("addr", 1), ("data0", 2), ("data1", 2)]),
        (Format.MUBUF, "buffer_atomic_cmpswap", [("vdata", 1)], [("vdata", 2)]),
        (Format.MTBUF, "tbuffer_store_format_xyzw", [], [("vdata", 4)]),
    ],
)
def test_widths_of_operands(format, name, results, sources):
    operation = named(name, format)
    assert [(o.field, o.dwords) for o in operation.results] == results
    assert [(o.field, o.dwords) for o in operation.sources] == sources
