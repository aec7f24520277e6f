"""Instruction lines of every tracer version, and what is refused."""

import pytest

from lockstep.errors import InputError
from lockstep.isa.instruction import OpClass, Space

V6 = "0130 ffffffff 1 R11 LDG.E 1 R2 4 1 0x7f7b7dc40800 4 0 0 NoVal"
V5 = "00a0 ffffffff 1 R12 LDG.E.128.SYS 1 R2 16 1 0x7f580face400 16 0"
V4 = "00a0 ffffffff 1 R12 LDG.E.128.SYS 1 R2 16 1 0x7f580face400 16"
V1 = "0 0 0 0 0030 ffffffff 1 R8 IMAD 2 R8 R3 0"


def test_version_6(one_line):
    record, text, mask, addresses = one_line(V6, "6")
    assert (record["pc"], text, mask) == (0x130, "LDG.E", 0xFFFFFFFF)
    assert (record["op"], record["space"], record["width"]) == (OpClass.LOAD, Space.GLOBAL, 4)
    assert addresses == [0x7F7B7DC40800 + 4 * lane for lane in range(32)]


@pytest.mark.parametrize(
    ("tracer", "line"), [("5", V5), ("4", V4), ("3", V4 + " "), ("2", "0 0 0 0 " + V4)]
)
def test_versions_2_to_5(one_line, tracer, line):
    record, text, _, addresses = one_line(line, tracer)
    assert (record["pc"], text, record["width"]) == (0xA0, "LDG.E.128.SYS", 16)
    assert (record["destination"][0], record["destination_count"][0]) == (12, 4)
    assert addresses == [0x7F580FACE400 + 16 * lane for lane in range(32)]


@pytest.mark.parametrize("tracer", ["1.2", "1", None])
def test_oldest_versions_repeat_block_and_warp(one_line, tracer):
    record, text, _, _ = one_line(V1, tracer)
    assert (record["pc"], text, record["sources"]) == (0x30, "IMAD", 2)


def test_oldest_versions_must_agree_with_the_section(one_line):
    with pytest.raises(InputError, match=r"line 23: .*not of thread block 0,0,0, warp 0"):
        one_line(V1.replace("0 0 0 0 ", "0 0 0 1 "), "1.2")


def test_source_line_numbers_are_skipped(one_line):
    record, text, _, _ = one_line("77 " + V5, "5", enable_lineinfo=1)
    assert (record["pc"], text) == (0xA0, "LDG.E.128.SYS")


def test_version_6_operands_of_all_files(one_line):
    record, _, _, _ = one_line("0010 ffffffff 2 R4 P1 IADD3 4 R2 UR5 P0 UP2 0 0 0 NoVal", "6")
    assert record["destinations"] == 2
    assert record["source"][: record["sources"]].tolist() == [2, 272 + 5, 256, 336 + 2]


@pytest.mark.parametrize(
    "values",
    ["Val 1 00000007 1 3", "Val " + "32 " + "0 " * 32 + "1 ff", "NoVal", "Val 1 7 1 3 1 9"],
)
def test_version_6_register_values_are_skipped(one_line, values):
    record, _, _, _ = one_line(f"0010 ffffffff 1 R4 MOV 1 R2 0 5 0 {values}", "6")
    assert (record["immediate"], record["sources"]) == (5, 1)


def test_version_6_second_immediate_may_lack(one_line):
    assert one_line("0010 ffffffff 0 BAR.SYNC 0 0 3 NoVal", "6")[0]["immediate"] == 3


def test_version_6_commit_flag_of_gmma(one_line):
    line = "0010 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR4 1 0 0 0 NoVal"
    record, text, _, _ = one_line(line, "6")
    assert text.startswith("HGMMA") and record["width"] == 0


@pytest.mark.parametrize(
    ("bulk", "first"),
    [
        ("0x1000 0 8192 0 3 2 0x7f00 0x8f00", 0x7F00),
        ("0x1000 1 0x3 8192 16 4 0x7f00 3 128 128", 0x7F00),
        ("0x1000 0 8192 0 3 0", 0),
        ("0x1000 0 8192 0 4 0x7f00 0", 0x7F00),
    ],
)
def test_version_6_bulk_copies(one_line, bulk, first):
    record, _, _, addresses = one_line(
        f"0010 00000001 0 UTMALDG.2D 2 UR8 UR4 16 {bulk} 0 0 NoVal", "6"
    )
    assert (record["op"], record["immediate"]) == (OpClass.BULK_COPY, 8192)
    assert addresses == [first]


MASK_5 = "0010 0000001f 1 R0 LDG.E 1 R2 4 "


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        ("1 0x100 8", [0x100, 0x108, 0x110, 0x118, 0x120]),
        ("1 0x100 -8", [0x100, 0xF8, 0xF0, 0xE8, 0xE0]),
        ("0 0x1 0x2 0x3 0x4 0x5", [1, 2, 3, 4, 5]),
        ("0 0x9 0x2 0x3 0x4 0x5", [9, 2, 3, 4, 5]),
        ("2 0x100 1 1 1 1", [0x100, 0x101, 0x102, 0x103, 0x104]),
        ("2 0x100 1 -2 3 -4", [0x100, 0x101, 0xFF, 0x102, 0xFE]),
        ("2 0xffffffffffffffff 1 0 0 0", [2**64 - 1, 0, 0, 0, 0]),
        ("2 0x0 9223372036854775807 1 0 0", [0, 2**63 - 1, 2**63, 2**63, 2**63]),
        ("0 0xffffffffffffffff 0x0 0x0 0x0 0x0", [2**64 - 1, 0, 0, 0, 0]),
    ],
)
def test_address_modes(one_line, addresses, expected):
    assert one_line(f"{MASK_5}{addresses} 0")[3] == expected


def test_even_differences_become_a_stride(trace, build):
    lines = [f"{MASK_5}2 0x100 {deltas} 0" for deltas in ("4 4 4 4", "4 4 4 5", "5 4 4 4")]
    wide = f"{MASK_5}2 0x100 4294967296 4294967296 4294967296 4294967296 0"
    kernel = trace(build.header() + build.body({(0, 0, 0): [[*lines, wide]]}))
    (cta,) = kernel.ctas()
    assert cta.addresses.tolist() == [(256, 4, -1), (256, 0, 0), (256, 0, 5), (256, 0, 10)]
    assert len(cta.pool) == 15


@pytest.mark.parametrize(
    "addresses", ["1 0x0 -73", "1 0xdeadbeef 12345", "0", "2 0x0"], ids=["1", "1b", "0", "2"]
)
def test_without_active_lanes_there_is_no_address(trace, build, addresses):
    line = f"0010 00000000 1 R0 LDG.E 1 R2 4 {addresses} 0"
    (cta,) = trace(build.header() + build.body({(0, 0, 0): [[line]]})).ctas()
    assert len(cta.addresses) == 0
    assert cta.warps[0]["warp_instructions"] == 1 and cta.warps[0]["thread_instructions"] == 0


@pytest.mark.parametrize(
    "mask", ["00000005", "80000001", "ffff00ff"], ids=["hole", "ends", "middle"]
)
def test_a_stride_over_a_gap_in_the_mask_is_refused(one_line, mask):
    with pytest.raises(InputError, match="neighbouring lanes only"):
        one_line(f"0010 {mask} 1 R0 LDG.E 1 R2 4 1 0x100 4 0")


def test_differences_skip_inactive_lanes(one_line):
    assert one_line("0010 80000101 1 R0 LDG.E 1 R2 4 2 0x100 4 16 0")[3] == [0x100, 0x104, 0x114]


@pytest.mark.parametrize(
    ("immediate", "stored"),
    [
        ("0", 0),
        ("-1", -1),
        ("1073742663", 1073742663),
        ("999999999999999999", 10**18 - 1),
        ("9223372036854775808", -(2**63)),
        ("18446744073709551615", -1),
    ],
)
def test_immediates_have_64_bits(one_line, immediate, stored):
    assert one_line(f"0010 ffffffff 1 R0 MOV 0 0 {immediate}")[0]["immediate"] == stored


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("xyz ffffffff 0 EXIT 0 0 0", "expected an instruction or the next part"),
        ("0000000010 ffffffff 0 EXIT 0 0 0", "expected a pc of 1 to 8 hex digits"),
        ("0010 fffffff 0 EXIT 0 0 0", "expected an active mask of 8 hex digits, found 'fffffff'"),
        ("0010 fffffffff 0 EXIT 0 0 0", "expected an active mask of 8 hex digits"),
        ("0010 ffffffff", "expected registers with their counts"),
        ("0010 ffffffff 0", "expected registers with their counts"),
        ("0010 ffffffff 0 EXIT", "expected registers with their counts"),
        ("0010 ffffffff 0 EXIT 0", "expected registers with their counts"),
        ("0010 ffffffff 99 EXIT 0 0 0", "expected registers with their counts"),
        ("0010 ffffffff -1 EXIT 0 0 0", "expected registers with their counts"),
        ("0010 ffffffff 0 EXIT 0 0", "expected an immediate, found the end of the line"),
        ("0010 ffffffff 0 EXIT 0 0 x", "expected an immediate, found 'x'"),
        ("0010 ffffffff 0 EXIT 0 0 0 0", "expected the end of the line, found '0'"),
        ("0010 ffffffff 0 EXIT 0 0 18446744073709551616", "expected an immediate"),
        ("0010 ffffffff 0 EXIT 0 0 99999999999999999999999", "expected an immediate"),
        ("0010 ffffffff 1 Q8 MOV 0 0 0", "no register is named 'Q8'"),
        ("0010 ffffffff 1 R256 MOV 0 0 0", "no register is named 'R256'"),
        ("0010 ffffffff 5 R1 R2 R3 R4 R5 MOV 0 0 0", "expected 0 to 4 destination registers"),
        ("0010 ffffffff 0 (EXIT 0 0 0", "expected an opcode"),
        ("0010 ffffffff 0 EXIT 0 x 0", "expected 0 or the access width"),
        (MASK_5 + "3 0x0 0", "expected address mode 0, 1 or 2, found '3'"),
        (MASK_5 + "1 100 8 0", "expected an address 0x... for each lane of the mask"),
        (MASK_5 + "1 0x10000000000000000 8 0", "expected an address"),
        (MASK_5 + "1 0x100 4294967296 0", "expected a stride of 32 bits"),
        (MASK_5 + "0 0x1 0x2 0x3 0x4 0", "expected an address 0x... for each lane"),
        (MASK_5 + "0 0x1 0x2 0x3 0x4 0x5 0x6 0", "expected an immediate, found '0x6'"),
        (MASK_5 + "2 0x100 1 1 1 0x5", "expected an address difference for each further lane"),
        (MASK_5 + "2 0x100 1 1 1 0", "expected an immediate, found the end of the line"),
        (MASK_5 + "2 0x100 1 1 1 1 1 0", "expected the end of the line, found '0'"),
    ],
)
def test_malformed_lines(one_line, line, expected):
    with pytest.raises(InputError) as caught:
        one_line(line)
    assert caught.value.where == "line 23"
    assert expected in caught.value.message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0010 ffffffff 0 EXIT 0 0 0 0", "expected 'NoVal'"),
        ("0010 ffffffff 0 EXIT 0 0 0 0 Vol", "expected 'NoVal'"),
        ("0010 ffffffff 0 EXIT 0 0 0 0 NoVal 3", "expected the end of the line"),
        ("0010 ffffffff 0 EXIT 0 0 0 0 Val 3 xyz", "expected 'NoVal', or 'Val'"),
        ("0010 ffffffff 1 R0 HGMMA 0 7 0 0 0 NoVal", "expected the commit flag 0 or 1"),
        ("0010 00000001 0 UBLKCP 0 16 0x0 0 64 0 5 0x0 1 0 0 NoVal", "expected barrier"),
        ("0010 00000001 0 UBLKCP 0 16 0x0 0 64 0 3 999999999999 0x1", "expected barrier"),
        ("0010 00000001 0 UBLKCP 0 16 0x0 0 64 0 3 -1 0 0 NoVal", "expected barrier"),
    ],
)
def test_malformed_lines_of_version_6(one_line, line, expected):
    with pytest.raises(InputError) as caught:
        one_line(line, "6")
    assert expected in caught.value.message


def test_a_mask_beyond_the_block_is_refused(one_line):
    assert one_line("0010 0000ffff 0 EXIT 0 0 0", block_dim="(16,1,1)")[2] == 0xFFFF
    with pytest.raises(InputError, match="lanes that warp 0 of 16 threads lacks"):
        one_line("0010 0001ffff 0 EXIT 0 0 0", block_dim="(16,1,1)")


def test_carriage_returns_and_tabs_are_blanks(trace, build):
    lines = ["0010 ffffffff 0 NOP 0 0 0", "0010\tffffffff  0 NOP 0\t0 0 "]
    text = build.header() + build.body({(0, 0, 0): [lines]})
    kernel = trace(text.replace("\n", "\r\n"))
    (cta,) = kernel.ctas()
    assert len(kernel.code) == 1  # two ways to write the same instruction
    assert cta.warps[0]["warp_instructions"] == 2


def test_runs_join_consecutive_statics_of_one_mask(trace, build):
    loop = [f"{pc:04x} ffffffff 0 NOP 0 0 0" for pc in (0, 16, 32)]
    last = "0030 0000ffff 0 NOP 0 0 0"
    (cta,) = trace(build.header() + build.body({(0, 0, 0): [[*loop, *loop, last]]})).ctas()
    assert cta.runs.tolist() == [(0, 3, 0xFFFFFFFF), (0, 3, 0xFFFFFFFF), (3, 1, 0xFFFF)]


def test_one_pc_may_show_different_instructions(trace, build):
    lines = ["0010 ffffffff 1 R1 MOV 0 0 7", "0010 ffffffff 1 R1 MOV 0 0 8"]
    lines += ["0010 ffffffff 1 R2 MOV 0 0 8", *lines]
    kernel = trace(build.header() + build.body({(0, 0, 0): [lines]}))
    (cta,) = kernel.ctas()
    assert kernel.code.instructions["immediate"].tolist() == [7, 8, 8]
    assert cta.runs["static"].tolist() == [0, 0]
    assert cta.runs["count"].tolist() == [3, 2]
