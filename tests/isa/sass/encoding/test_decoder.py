import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.isa.sass.encoding import (
    ARCHITECTURES,
    UNKNOWN,
    Address,
    Constant,
    Float,
    Immediate,
    Register,
    Target,
    decode,
    disassemble,
)

VECTOR_ADD = [  # sm_70, from the CUDA 12.9 compiler
    (0x000E280000002500_0000000000067919, "B------:R-:W0:-:S04", "S2R R6, SR_CTAID.X"),
    (0x000E240000002100_0000000000037919, "B------:R-:W0:-:S02", "S2R R3, SR_TID.X"),
    (0x001FCA00078E0203_0000000006067A24, "B0-----:R-:W-:Y:S05", "IMAD R6, R6, c[0x0][0x0], R3"),
    (0x000EA800001EE900_0000000004047381, "B------:R-:W2:-:S04", "LDG.E.SYS R4, [R4]"),
    (0x004FD00000000000_0000000304097221, "B--2---:R-:W-:Y:S08", "FADD R9, R4, R3"),
]


GROUP_PRODUCTS = [  # sm_90, what ptxas 13.0 makes of sparse wgmma, as nvdisasm 13.5 has it
    (0x000FE60008001218_00201C00081879F1, "IGMMA.SP.64x8x64.S8.U8 R24, gdesc[UR8], R24, R28, gsb0"),
    (
        0x000FE60008040A18_06809C0498187DF1,
        "IGMMA.SP.64x256x64.U8.S8.SAT R24, R152, gdesc[UR4], R24, R156, gsb0",
    ),
]


@pytest.mark.parametrize(("word", "text"), GROUP_PRODUCTS)
def test_sparse_products_of_warpgroups(word, text):
    assert decode(word, 90).text() == text


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_disassembler_agrees_on_every_instruction_of_the_sample(architecture, answers):
    sample = answers(architecture)
    assert len(sample) >= 2000
    for word, pc, text in sample:
        assert decode(word, architecture, pc).text() == text, f"{word:#034x}"


@pytest.mark.parametrize(("word", "control", "text"), VECTOR_ADD)
def test_control_bits_of_a_vector_addition(word, control, text):
    instruction = decode(word, 70)
    assert instruction.control.text() == control
    assert instruction.text() == text


def test_operands_are_typed():
    word = 0x004FCA00_078E0203_00005A00_06067A24
    instruction = decode(word, 70)
    result, a, b, c = instruction.operands
    assert (instruction.mnemonic, instruction.modifiers, instruction.results) == ("IMAD", (), 1)
    assert (result, a, c) == (Register("R", 6), Register("R", 6), Register("R", 3))
    assert b == Constant(0, 0x168)


@pytest.fixture
def find(answers):
    """A function to the first instruction of the sample whose text begins so."""

    def first(architecture, start):
        sample = answers(architecture)
        return next(decode(w, architecture, pc) for w, pc, text in sample if text.startswith(start))

    return first


def test_a_global_address_has_a_base_pair_and_an_offset(find):
    load = find(80, "LDG.E.128 R")
    address = load.operands[1]
    assert isinstance(address, Address)
    assert address.base.part == "64"
    assert load.results == 1


def test_the_descriptor_of_a_hopper_load_is_a_uniform_register(find):
    address = next(o for o in find(90, "LDG.E R").operands if isinstance(o, Address))
    assert address.descriptor.file == "UR"


def test_a_branch_names_an_absolute_address(answers):
    word = next(w for w, pc, text in answers(80) if text.startswith("BRA 0x"))
    near, far = decode(word, 80, 0x100), decode(word, 80, 0x200)
    assert isinstance(near.operands[0], Target)
    assert far.operands[0].address - near.operands[0].address == 0x100


def test_a_guard_that_always_holds_is_none():
    word = 0x004FD00000000000_0000000304097221
    assert decode(word, 80).guard is None
    assert decode(word & ~(15 << 12) | 3 << 12, 80).guard == Register("P", 3)
    assert decode(word | 1 << 15, 80).guard == Register("P", 7, inverted=True)
    assert decode(word & ~(15 << 12) | 11 << 12, 80).text().startswith("@!P3 ")


def test_operands_stay_in_the_reuse_cache_only_without_a_yield():
    word = 0x004FD00000000000_0000000304097221 | 1 << 122
    assert not decode(word & ~(1 << 109), 70).operands[1].reuse
    assert decode(word | 1 << 109, 70).operands[1].reuse


def test_immediates_keep_their_bits(find, answers):
    add = find(80, "FADD R")
    half = next(o for o in find(80, "HADD2.F32 R").operands if isinstance(o, Register))
    assert half.part in ("H0_H0", "H1_H1", "")
    floats = [
        o for w, pc, t in answers(80) for o in decode(w, 80, pc).operands if isinstance(o, Float)
    ]
    assert {o.width for o in floats} == {16, 32, 64}
    assert add.results == 1
    assert all(isinstance(o.value, float) for o in floats)


def test_an_unknown_opcode_does_not_stop_disassembly():
    known = VECTOR_ADD[4][0].to_bytes(16, "little")
    strange = (VECTOR_ADD[4][0] & ~0xFFF | 0x7FF).to_bytes(16, "little")
    texts = [i.text() for i in disassemble(known + strange + known, 70)]
    assert texts == ["FADD R9, R4, R3", UNKNOWN, "FADD R9, R4, R3"]
    assert [i.pc for i in disassemble(known + strange, 70, 0x40)] == [0x40, 0x50]


def test_an_instruction_of_a_later_architecture_is_unknown(answers):
    word = next(w for w, pc, text in answers(90) if text.startswith("SYNCS"))
    assert decode(word, 90).is_known
    assert not decode(word, 80).is_known


def test_an_architecture_without_tables_is_refused():
    with pytest.raises(LockstepError, match=r"sm_61.*sm_70"):
        decode(0, 61)


def test_code_that_ends_within_an_instruction_is_refused():
    with pytest.raises(LockstepError, match=r"24 bytes.*multiple of 16"):
        list(disassemble(bytes(24), 80))


@given(st.integers(0, 2**128 - 1), st.sampled_from(ARCHITECTURES))
def test_any_word_decodes(word, architecture):
    instruction = decode(word, architecture)
    assert instruction.text()
    assert instruction.word == word
    assert all(o.text() for o in instruction.operands)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_real_instructions_with_bits_flipped_decode(architecture, answers):
    chance = random.Random(architecture)
    for word, pc, _ in chance.sample(answers(architecture), 300):
        flipped = word ^ 1 << chance.randrange(128) ^ 1 << chance.randrange(128)
        assert decode(flipped, architecture, pc).text()


def test_immediates_of_integers_are_signed_where_the_disassembler_says_so(answers):
    values = [
        o
        for w, pc, t in answers(75)
        for o in decode(w, 75, pc).operands
        if isinstance(o, Immediate)
    ]
    assert any(v.value < 0 for v in values)
    assert any(v.value > 2**31 for v in values)
