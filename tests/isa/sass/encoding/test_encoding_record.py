import numpy as np
import pytest

from lockstep.isa.instruction import OpClass, verify
from lockstep.isa.sass.assembly import parse
from lockstep.isa.sass.encoding import (
    ARCHITECTURES,
    Float,
    Target,
    decode,
    operation_class,
    to_record,
)

# Where the reader of text guesses which operands are results, or takes a float for an integer.
GUESSED = (
    "TEX",
    "TLD",
    "TXD",
    "TXQ",
    "TMML",
    "SULD",
    "SUATOM",
    "VOTE",
    "ELECT",
    "HMMA",
    "DEPBAR",
    "SYNCS",
    "RPCMOV",
)
ADD = 0x004FD00000000000_0000000304097221


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_records_are_valid_and_equal_those_read_from_text(architecture, answers):
    compared = 0
    for word, pc, text in answers(architecture)[::7]:
        instruction = decode(word, architecture, pc)
        record = to_record(instruction, architecture)
        verify(record, [text])
        plain = not any(isinstance(o, (Float, Target)) for o in instruction.operands)
        if plain and instruction.results < 2 and not instruction.mnemonic.startswith(GUESSED):
            expected, _ = parse(f"{instruction.control.text()} {text}", architecture, pc)
            record["reuse"] = expected["reuse"]
            np.testing.assert_array_equal(record, expected, text)
            compared += 1
    assert compared > 200


def test_registers_and_control_bits_of_an_addition():
    row = to_record(decode(ADD, 70, 0x30), 70)[0]
    assert (row["pc"], row["op"]) == (0x30, OpClass.FP32)
    assert (row["destinations"], row["destination"][0]) == (1, 9)
    assert list(row["source"][: row["sources"]]) == [4, 3]
    assert (row["stall"], row["yields"], row["wait_mask"]) == (8, 1, 0b100)


def test_a_yield_empties_the_reuse_cache():
    kept = ADD | 1 << 122 | 1 << 109
    assert to_record(decode(kept, 70), 70)[0]["reuse"] == 1
    assert to_record(decode(kept & ~(1 << 109), 70), 70)[0]["reuse"] == 0


def test_both_results_and_the_guard_are_dependences(answers):
    text, record = next(
        (t, to_record(decode(w, 80, pc), 80)[0])
        for w, pc, t in answers(80)
        if t.startswith("ATOMG.E.ADD") and "@P0" not in t
    )
    assert record["destinations"] == 1, text  # PT does not count
    guarded = ADD & ~(15 << 12) | 3 << 12
    row = to_record(decode(guarded, 80), 80)[0]
    assert list(row["source"][: row["sources"]]) == [4, 3, 259]


def test_the_place_of_an_operand_in_constant_memory(answers):
    found = {"LDC": set(), "cx[": set(), "][R": set(), "c[0x": set(), "": set()}
    for architecture in ARCHITECTURES:
        for word, pc, text in answers(architecture)[::3]:
            place = to_record(decode(word, architecture, pc), architecture)["constant"][0]
            found[next(kind for kind in found if kind in text)].add(int(place))
    operands = found.pop("c[0x")
    assert min(operands) >= 0 and 0x160 in operands
    assert set.union(*found.values()) == {-1}, "loads, bindless and indexed constants, no constants"


def test_loads_of_constants_have_addresses_where_each_lane_has_a_place(answers):
    """Not those of parameters, nor at a place for all lanes."""
    found = {}
    for word, pc, text in answers(90):
        if "LDC" in text and "cx[" not in text:
            opcode, place = text.split("c[")[0].split()[-2], text.split("c[")[1]
            own = "][R" in place and "][RZ" not in place and not place.startswith("0x0]")
            found.setdefault((opcode[0], own), set()).add(
                bool(to_record(decode(word, 90, pc), 90)["width"][0])
            )
    assert found["L", True] == {True} and found["L", False] == {False}
    assert set.union(*(f for (kind, _), f in found.items() if kind == "U")) == {False}


def test_unknown_instructions_have_the_class_of_their_opcode():
    fadd = ADD & ~0xFFF | 0xC21  # FADD has no such form
    instruction = decode(fadd, 80)
    assert not instruction.is_known
    assert operation_class(instruction, 80) == OpClass.FP32
    assert to_record(instruction, 80)[0]["op"] == OpClass.FP32
    assert operation_class(decode(0x926, 80), 80) == OpClass.SFU  # IPA
    assert operation_class(decode(0x7FF, 80), 80) == OpClass.UNKNOWN


def test_places_in_the_upper_half_of_a_constant_bank():
    word = int.from_bytes(bytes.fromhex("2576020200e0250003008e0700e40f00"), "little")
    instruction = decode(word, 75, 0x60)
    text = "IMAD.WIDE.U32 R2, R2, R3, c[0x0][-0x6880]"
    assert instruction.text() == text, "as the disassembler prints it"
    assert instruction.operands[3].place == 0x9780
    assert to_record(instruction, 75)["constant"] == parse(text, 75, 0x60)[0]["constant"] == 0x9780
