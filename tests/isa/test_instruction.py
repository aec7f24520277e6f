"""The verifier refuses every record that the model could not execute, and only those."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.isa import instruction as isa

FIELD_LIMITS = [
    ("text", 0, 0),
    ("op", 0, max(isa.OpClass)),
    ("space", 0, max(isa.Space)),
    ("width", 0, 64),
    ("stall", isa.NO_CONTROL, 15),
    ("wait_mask", 0, 63),
    ("destinations", 0, isa.MAX_DESTINATIONS),
    ("sources", 0, isa.MAX_SOURCES),
    ("threads", 0, isa.MOST_THREADS),
    ("constant", isa.NO_CONSTANT, isa.CONSTANT_BANKS * isa.CONSTANT_BANK - 1),
]


def record(**fields):
    one = isa.blank()
    one["destination_count"] = one["source_count"] = 1
    for name, value in fields.items():
        one[name] = value
    return one


def test_blank_records_pass():
    isa.verify(isa.blank(3), ["NOP"])


def test_blank_records_have_no_control_bits_and_wait_for_no_barrier():
    one = isa.blank()[0]
    assert one["stall"] == isa.NO_CONTROL
    assert one["write_barrier"] == one["read_barrier"] == isa.NO_BARRIER
    assert one["constant"] == isa.NO_CONSTANT


@pytest.mark.parametrize(
    ("bank", "offset", "place"),
    [
        (0, 0, 0),
        (3, 0x10, 3 << 16 | 0x10),
        (31, 0xFFFF, (32 << 16) - 1),
        (32, 0, isa.NO_CONSTANT),
        (-1, 0, isa.NO_CONSTANT),
        (0, 1 << 16, isa.NO_CONSTANT),
        (0, -4, isa.NO_CONSTANT),
    ],
)
def test_a_place_in_constant_memory_is_within_a_bank(bank, offset, place):
    assert isa.constant_place(bank, offset) == place


@pytest.mark.parametrize(("name", "lowest", "highest"), FIELD_LIMITS)
def test_a_field_is_refused_just_outside_its_range(name, lowest, highest):
    for value in (lowest, highest):
        isa.verify(record(**{name: value}), ["NOP"])
    for value in (lowest - 1, highest + 1):
        with pytest.raises(LockstepError, match="instruction 0"):
            isa.verify(record(**{name: value}), ["NOP"])


@pytest.mark.parametrize(
    ("threads", "sizes"), [(0, (32, 64)), (64, (32, 64)), (96, (32,)), (16, ())]
)
def test_a_barrier_waits_for_whole_warps(threads, sizes):
    for size in isa.WARP_SIZES:
        if size in sizes:
            isa.verify(record(threads=threads), ["NOP"], size)
        else:
            with pytest.raises(LockstepError, match=f"expected a multiple of {size} to 1024"):
                isa.verify(record(threads=threads), ["NOP"], size)


@pytest.mark.parametrize("kind", ["write_barrier", "read_barrier"])
@pytest.mark.parametrize(("value", "good"), [(-1, 0), (0, 1), (5, 1), (6, 0), (7, 1), (8, 0)])
def test_dependence_barriers_are_0_to_5_or_none(kind, value, good):
    if good:
        isa.verify(record(**{kind: value}), ["NOP"])
    else:
        with pytest.raises(LockstepError, match=kind):
            isa.verify(record(**{kind: value}), ["NOP"])


@pytest.mark.parametrize(
    ("first", "count", "good"),
    [(0, 1, 1), (340, 4, 1), (341, 4, 0), (-1, 1, 0), (0, 0, 0), (0, 344, 1), (0, 345, 0)],
)
@pytest.mark.parametrize("kind", ["destination", "source"])
def test_register_ranges_lie_inside_the_numbering(kind, first, count, good):
    one = record(**{kind + "s": 1})
    one[kind][0, 0], one[kind + "_count"][0, 0] = first, count
    if good:
        isa.verify(one, ["NOP"])
    else:
        with pytest.raises(LockstepError, match=f"{kind} 0"):
            isa.verify(one, ["NOP"])


def test_the_error_names_the_first_bad_record_its_pc_and_its_text():
    code = isa.blank(3)
    code["pc"] = [0, 16, 32]
    code["op"][1:] = 99
    with pytest.raises(LockstepError, match=r"instruction 1 \(pc 0x10, FADD\): .*class 99"):
        isa.verify(code, ["FADD"])


def test_a_negative_pc_is_refused():
    with pytest.raises(LockstepError, match="negative pc"):
        isa.verify(record(pc=-16), ["NOP"])


@given(st.binary(min_size=isa.INSTRUCTION.itemsize, max_size=isa.INSTRUCTION.itemsize))
def test_random_bytes_are_refused_and_never_crash(data):
    with pytest.raises(LockstepError):
        isa.verify(np.frombuffer(data, isa.INSTRUCTION), [])
