"""Readable SASS to records."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.isa import instruction as isa
from lockstep.isa.instruction import OpClass, Space
from lockstep.isa.sass.assembly import parse, set_control

P, UR, UP = isa.PREDICATES, isa.UNIFORM_REGISTERS, isa.UNIFORM_PREDICATES


def parsed(text, architecture=80):
    record, opcode = parse(text, architecture, 0x30)
    isa.verify(record, [opcode])
    return record[0]


def operands(row):
    def ranges(kind):
        count = row[kind + "s"]
        return list(zip(row[kind][:count].tolist(), row[kind + "_count"][:count].tolist()))

    return ranges("destination"), ranges("source")


@pytest.mark.parametrize(
    ("text", "destinations", "sources"),
    [
        ("FFMA R8, R8, -R2, |R3|", [(8, 1)], [(8, 1), (2, 1), (3, 1)]),
        ("MOV R1, c[0x0][0x28]", [(1, 1)], []),
        ("S2R R0, SR_CTAID.X", [(0, 1)], []),
        ("ISETP.GE.AND P0, PT, R6, c[0x0][0x178], PT", [(P, 1)], [(6, 1)]),
        ("DSETP.MAX.AND P0, P1, R2, R4, PT", [(P, 1), (P + 1, 1)], [(2, 2), (4, 2)]),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0", [(P, 1)], [(P + 1, 1), (P + 2, 1)]),
        ("IADD3 R4, P0, P1, R6, R8, RZ", [(4, 1), (P, 1), (P + 1, 1)], [(6, 1), (8, 1)]),
        ("IADD3.X R5, R7, R9, RZ, P0, !PT", [(5, 1)], [(7, 1), (9, 1), (P, 1)]),
        ("LOP3.LUT P0, RZ, R6, 0x1, RZ, 0xc0, !PT", [(P, 1)], [(6, 1)]),
        ("SEL R0, R2, R3, !P0", [(0, 1)], [(2, 1), (3, 1), (P, 1)]),
        ("VOTE.ANY R0, PT, P0", [(0, 1)], [(P, 1)]),
        ("SHFL.BFLY PT, R5, R2, 0x10, 0x1f", [(5, 1)], [(2, 1)]),
        ("ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R5", [(0, 1)], [(2, 2), (5, 1)]),
        ("ATOMG.E.ADD.STRONG.GPU PT, RZ, [R2.64], R5", [], [(2, 2), (5, 1)]),
        ("RED.E.ADD [R2.64], R5", [], [(2, 2), (5, 1)]),
        ("IMAD.WIDE R2, R3, 0x4, R8", [(2, 2)], [(3, 1), (8, 2)]),
        ("IMAD.WIDE R2, R3, R5, c[0x0][0x160]", [(2, 2)], [(3, 1), (5, 1)]),
        ("@!P0 LDG.E.128 R4, [R2+0x10]", [(4, 4)], [(2, 2), (P, 1)]),
        ("LDG.E R4, desc[UR4][R2.64+0x10]", [(4, 1)], [(2, 2), (UR + 4, 2)]),
        ("LDS.128 R12, [UR4+0x20]", [(12, 4)], [(UR + 4, 1)]),
        ("STG.E.128 [R2.64], R8", [], [(2, 2), (8, 4)]),
        ("LDGSTS.E.BYPASS.128 [R5+0x10], [R2.64]", [], [(5, 1), (2, 2)]),
        ("HMMA.16816.F32 R4, R8, R12, R4", [(4, 4)], [(8, 4), (12, 2), (4, 4)]),
        ("@UP0 UIADD3 UR4, UR4, 0x1, URZ", [(UR + 4, 1)], [(UR + 4, 1), (UP, 1)]),
        ("ULDC.64 UR4, c[0x0][0x118]", [(UR + 4, 2)], []),
        ("BMOV.32.CLEAR R2, B0", [(2, 1)], []),
        ("@P0 BRA 0x40 ;", [], [(P, 1)]),
        ("EXIT", [], []),
    ],
)
def test_operands(text, destinations, sources):
    assert operands(parsed(text)) == (destinations, sources)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("IMAD.WIDE.U32 R16, R8, R3, c[0x0][0x160]", 0x160),
        ("FADD R1, -|c[0x3][0x8]|, R2", 3 << 16 | 8),
        ("@P0 HADD2 R1, R2, c[0x2][0x4].H0_H0", 2 << 16 | 4),
        ("MOV R1, R2", -1),
        ("FADD R1, R2, c[0x0][R3+0x10]", -1),
        ("FADD R1, R2, cx[UR4][0x10]", -1),
        ("LDC R1, c[0x0][0x160]", -1),
        ("ULDC.64 UR4, c[0x0][0x118]", -1),
        ("LDG.E R4, [R2]", -1),
    ],
)
def test_the_place_of_an_operand_in_constant_memory(text, place):
    assert parsed(text)["constant"] == place


def test_memory_operands_have_addresses_and_constants_have_none():
    assert parsed("LDG.E.64 R4, [R2]")["width"] == 8
    assert parsed("LDC R4, c[0x0][R2]")["width"] == 0
    assert parsed("LDC R4, c[0x3][R2+0x4]")["width"] == 4, "no parameter"
    assert parsed("LDC R4, c[0x3][0x10]")["width"] == 0
    assert parse("LDC R4, c[0x0][R2]", 80, addressed=True)[0]["width"][0] == 4
    assert parsed("LDS R4, [R2]")["space"] == Space.SHARED
    assert parsed("FADD R1, R2, c[0x0][0x10]")["width"] == 0


def test_immediates():
    assert parsed("BAR.SYNC 0x3")["immediate"] == 3
    assert parsed("BAR.ARV 0x2, 0x40")["immediate"] == 2
    row = parsed("DEPBAR.LE SB0, 0x1")
    assert (row["op"], row["immediate"]) == (OpClass.WAIT_GROUP, 1)


@pytest.mark.parametrize(
    ("text", "op", "number", "threads"),
    [
        ("BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", OpClass.BARRIER, 1, 64),
        ("BAR.ARV 0x2, 0x60", OpClass.ARRIVE, 2, 96),
        ("BAR.SYNC 0x3", OpClass.BARRIER, 3, 0),
        ("BAR.RED.AND.DEFER_BLOCKING 0x6, 0x40, P0", OpClass.BARRIER, 6, 64),
        ("BAR.RED.POPC.DEFER_BLOCKING 0x7, P1", OpClass.BARRIER, 7, 0),
        ("BAR.SYNC.DEFER_BLOCKING R5, 0x40", OpClass.BARRIER, 0, 64),
        ("BAR.SYNC.DEFER_BLOCKING 0x5, R5", OpClass.BARRIER, 5, 0),
        ("BAR.SYNC.DEFER_BLOCKING R4, R4", OpClass.BARRIER, 0, 0),
    ],
)
def test_barriers_have_a_number_and_a_thread_count(text, op, number, threads):
    row = parsed(text)
    assert (row["op"], row["immediate"], row["threads"]) == (op, number, threads)


@pytest.mark.parametrize("threads", ["0x41", "0x420", "-0x20"])
def test_a_thread_count_is_of_whole_warps(threads):
    with pytest.raises(LockstepError, match="multiple of 32"):
        parse(f"BAR.SYNC 0x1, {threads}", 80)


def test_sleeps_and_invalidations():
    row = parsed("NANOSLEEP 0x64")
    assert (row["op"], row["immediate"]) == (OpClass.SLEEP, 100)
    assert parsed("NANOSLEEP.WARP R9")["immediate"] == 0
    row = parsed("CCTL.IVALL")
    assert (row["op"], row["cache"]) == (OpClass.CACHE_CONTROL, isa.CachePolicy.INVALIDATE)
    assert parsed("CCTL.PF2 [R2]")["cache"] == isa.CachePolicy.DEFAULT


def test_control_bits_before_the_instruction():
    row = parsed("B01---5:R2:W3:Y:S04 FFMA R8, R8, R2, R3")
    fields = ("wait_mask", "read_barrier", "write_barrier", "yields", "stall")
    assert [row[f] for f in fields] == [0b100011, 2, 3, 1, 4]
    row = parsed("[B------:R-:W-:-:S15] @P0 FFMA R8, R8, R2, R3;")
    assert [row[f] for f in fields] == [0, isa.NO_BARRIER, isa.NO_BARRIER, 0, 15]


def test_without_control_bits_they_are_unknown():
    assert parsed("FADD R1, R2, R3")["stall"] == isa.NO_CONTROL


def test_reuse_names_source_slots():
    assert parsed("FFMA R8, R8.reuse, R2, R3.reuse")["reuse"] == 0b101
    assert parsed("FADD R1, R2, R3")["reuse"] == 0


def test_control_bits_can_be_set():
    record, _ = parse("FADD R1, R2, R3", 80)
    set_control(record[0], stall=3, wait_mask=5)
    isa.verify(record, ["FADD"])
    assert (record["stall"][0], record["wait_mask"][0], record["write_barrier"][0]) == (3, 5, 7)


@pytest.mark.parametrize(
    "text", ["", "ffma r1, r2", "FFMA R8, R999", "B9-----:R-:W-:-:S04 FADD R1, R2, R3", "@P9 EXIT",
             "B------:R-:W-:-:S16 FADD R1, R2, R3", "@R0 EXIT"],
)  # fmt: skip
def test_what_is_not_sass_is_refused_in_one_line(text):
    with pytest.raises(LockstepError) as error:
        parse(text, 80)
    assert "\n" not in str(error.value)


@given(st.text(string.printable, max_size=60))
def test_any_text_parses_or_is_refused(text):
    try:
        record, opcode = parse(text, 80)
    except LockstepError:
        return
    isa.verify(record, [opcode])
