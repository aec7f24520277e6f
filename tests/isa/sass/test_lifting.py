"""Trace instructions to records: widening, zero registers, hidden results, real traces."""

import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.isa import instruction as isa
from lockstep.isa.instruction import OpClass, Space
from lockstep.isa.sass import is_known, lift, opcodes, traced_immediate
from lockstep.isa.sass.registers import last_register

TRACES = Path(__file__).parents[4] / "shared" / "data" / "traces"
UR = isa.UNIFORM_REGISTERS


def lifted(opcode, destinations=(), sources=(), architecture=80, addressed=False, immediate=0):
    record, text = lift(
        opcode,
        destinations,
        sources,
        pc=0x40,
        addressed=addressed,
        immediate=immediate,
        architecture=architecture,
    )
    isa.verify(record, [text])
    assert record["pc"][0] == 0x40
    return record[0]


def ranges(row, kind):
    count = row[kind + "s"]
    return list(zip(row[kind][:count].tolist(), row[kind + "_count"][:count].tolist()))


def test_a_load_widens_data_and_address():
    row = lifted("LDG.E.128.SYS", [4], [2], addressed=True)
    assert (row["op"], row["space"], row["width"]) == (OpClass.LOAD, Space.GLOBAL, 16)
    assert ranges(row, "destination") == [(4, 4)]
    assert ranges(row, "source") == [(2, 2)]


def test_a_store_reads_its_data():
    row = lifted("STG.E.64", [], [2, 4], addressed=True)
    assert ranges(row, "destination") == []
    assert ranges(row, "source") == [(2, 2), (4, 2)]


def test_zero_registers_carry_no_dependence_and_keep_positions():
    assert ranges(lifted("IMAD.WIDE", [255], [8, 255, 4]), "destination") == []
    assert ranges(lifted("IMAD.WIDE", [2], [8, 255, 4]), "source") == [(8, 1), (4, 2)]
    assert ranges(lifted("IMAD.WIDE", [2], [8, None, 4]), "source") == [(8, 1), (4, 2)]
    assert ranges(lifted("STG.E.64", [], [255, 4], addressed=True), "source") == [(4, 2)]


def test_uniform_registers_of_an_address_do_not_shift_the_data():
    row = lifted("STG.E.128", [], [UR + 4, 2, 8], addressed=True)
    assert ranges(row, "source") == [(UR + 4, 2), (2, 2), (8, 4)]


def test_predicates_stand_alone():
    row = lifted("DSETP.GT.AND", [isa.PREDICATES], [2, 4, isa.PREDICATES + 1])
    assert ranges(row, "destination") == [(isa.PREDICATES, 1)]
    assert ranges(row, "source") == [(2, 2), (4, 2), (isa.PREDICATES + 1, 1)]


def test_ranges_are_cut_at_the_end_of_their_file():
    assert ranges(lifted("LDG.E.128", [253], [254], addressed=True), "destination") == [(253, 2)]
    assert ranges(lifted("ULDC.64", [UR + 62], []), "destination") == [(UR + 62, 1)]


def test_an_accumulator_is_as_wide_as_the_result():
    row = lifted("HGMMA.64x128x16.F32", [24], [UR + 4, 24], architecture=90)
    assert ranges(row, "destination") == [(24, 64)]
    assert ranges(row, "source") == [(UR + 4, 4), (24, 64)]


@pytest.mark.parametrize("columns", ["9223372036854775808", "1" * 5000, "1000"])
def test_columns_that_no_product_has_are_those_of_the_least(columns):
    row = lifted(f"HGMMA.64x{columns}x16.F32", [24], [UR + 4, 24], architecture=90)
    assert row["immediate"] == 8 and row["destination_count"][0] == 4


@pytest.mark.parametrize(
    ("opcode", "sources", "result", "rest"),
    [
        ("SHFL.BFLY", [5, 2], [(5, 1)], [(2, 1)]),
        ("SHFL.IDX", [5, 2, 3], [(5, 1)], [(2, 1), (3, 1)]),
        ("ATOMG.E.ADD", [0, 2, 5], [(0, 1)], [(2, 2), (5, 1)]),
        ("ATOMG.E.CAS.64", [4, 2, 6, 8], [(4, 2)], [(2, 2), (6, 2), (8, 2)]),
        ("ATOMG.E.ADD", [255, 2, 5], [], [(2, 2), (5, 1)]),
        ("ATOMG.E.ADD", [2, 5], [], [(2, 2), (5, 1)]),
    ],
)
def test_a_result_behind_a_predicate_is_found_among_the_sources(opcode, sources, result, rest):
    row = lifted(opcode, [], sources, addressed=opcode.startswith("ATOM"))
    assert ranges(row, "destination") == result
    assert ranges(row, "source") == rest


def test_without_addresses_nothing_is_accessed():
    row = lifted("LDC.64", [2], [])
    assert (row["op"], row["space"], row["width"]) == (OpClass.LOAD, Space.CONSTANT, 0)
    assert ranges(row, "destination") == [(2, 2)]


def test_immediates_of_barriers_are_barrier_numbers():
    assert lifted("BAR.SYNC", immediate=3)["immediate"] == 3
    assert lifted("BAR.SYNC", immediate=3)["threads"] == 0
    assert lifted("DEPBAR.LE", immediate=2)["immediate"] == 2
    assert lifted("MOV", [1], immediate=2**64 - 1)["immediate"] == -1


@pytest.mark.parametrize(("immediate", "threads"), [(128, 128), (1024, 1024), (40, 0), (2048, 0)])
def test_a_traced_barrier_may_have_its_thread_count_instead(immediate, threads):
    row = lifted("BAR.ARV", immediate=immediate)
    assert (row["immediate"], row["threads"]) == (0, threads)


def test_the_traced_immediate_gives_the_record_back():
    for immediate in (0, 5, 96):
        row = lifted("BAR.SYNC", immediate=immediate)
        assert traced_immediate(row) == immediate
    assert traced_immediate(lifted("DEPBAR.LE", immediate=2)) == 2


@pytest.mark.parametrize("bad", [-1, isa.REGISTER_COUNT, 10**9])
def test_registers_outside_the_numbering_are_refused(bad):
    with pytest.raises(LockstepError, match="register number"):
        lifted("FADD", [1], [bad])


def test_too_many_operands_are_refused():
    with pytest.raises(LockstepError, match="at most 8"):
        lifted("FADD", [1], range(9))
    with pytest.raises(LockstepError, match="at most 4"):
        lifted("FADD", range(5), [])


registers = st.one_of(st.none(), st.integers(0, isa.REGISTER_COUNT - 1))


@given(
    st.sampled_from(sorted({o for v in (35, 61, 70, 80, 90, 120) for o in opcodes(v)})),
    st.sampled_from(["", ".E", ".E.64", ".128", ".16816.F32", ".WIDE", ".64x256x16.F32", ".F64"]),
    st.lists(registers, max_size=4),
    st.lists(registers, max_size=8),
    st.sampled_from([0, 35, 61, 70, 80, 90, 120]),
    st.booleans(),
)
def test_every_opcode_gives_a_record_that_verifies_and_ranges_inside_their_file(
    base, modifiers, destinations, sources, architecture, addressed
):
    row = lifted(base + modifiers, destinations, sources, architecture, addressed)
    assert (row["width"] > 0) == addressed
    for first, count in ranges(row, "destination") + ranges(row, "source"):
        assert first + count - 1 <= last_register(first)


def distinct_opcodes(path):
    """Opcodes of a text trace by pattern: the token after the destinations."""
    opener = lzma.open if path.suffix == ".xz" else open
    found, version = {}, 0
    instruction = re.compile(
        r"[0-9a-f]{4} [0-9a-f]{8} (?:0|1 R\d+) ([A-Z]\S*) \d+ ((?:R\d+ )*)(\d+)"
    )
    with opener(path, "rt") as lines:
        for line in lines:
            if line.startswith("-binary version"):
                version = int(line.split("=")[1])
            match = instruction.search(line)
            if match:
                found[match[1]] = match[3] != "0"
    return version, found


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the recorded traces of ../shared/data")
@pytest.mark.parametrize("name", [p.name for p in sorted(TRACES.glob("*"))])
def test_every_opcode_of_the_recorded_traces_is_known(name):
    if name == "ffma-sm90-4096x16":
        pytest.skip("the same code as the smaller ones")
    path = min((TRACES / name).glob("kernel-*"), key=lambda p: p.stat().st_size)
    version, found = distinct_opcodes(path)
    assert len(found) >= 5
    for opcode, addressed in found.items():
        assert is_known(opcode, version), opcode
        row = lifted(opcode, [1], [2], version, addressed)
        assert row["op"] != OpClass.UNKNOWN
        memory = (OpClass.LOAD, OpClass.STORE)
        assert addressed == (row["op"] in memory and row["space"] != Space.CONSTANT), opcode
