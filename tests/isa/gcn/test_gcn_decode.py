"""Words of Southern Islands against the answers of LLVM's assembler."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cal_files import assemble
from lockstep.isa.gcn import container
from lockstep.isa.gcn.decode import DecodeError, decode, decode_one
from lockstep.isa.gcn.instruction import Format
from lockstep.isa.gcn.listing import listing
from lockstep.isa.gcn.operations import OPERATIONS, VOP3B_OPCODES
from lockstep.isa.gcn.spelling import spell

ASSEMBLED = Path(__file__).parent / "assembled.txt"
ROWS = [row.split(" ", 1) for row in ASSEMBLED.read_text().splitlines()]
# Long encodings of these are in AMD's manual and not in LLVM.
UNKNOWN_TO_LLVM = {
    (Format.VOP3A, 257): "v_readlane_b32",
    (Format.VOP3A, 258): "v_writelane_b32",
    (Format.VOP3A, 386): "v_readfirstlane_b32",
}
BINARIES = os.environ.get("LOCKSTEP_SDK_BINARIES")


def has_llvm():
    """Whether the assembler is here that wrote the rows."""
    if not shutil.which("llvm-mc"):
        return False
    told = subprocess.run(["llvm-mc", "--version"], capture_output=True, text=True).stdout
    return "version 14." in told and "amdgcn" in told


def words(*values):
    return b"".join(value.to_bytes(4, "little") for value in values)


def test_what_the_assembler_wrote_is_read_and_spelled_as_it_was():
    for code, text in ROWS:
        instruction = decode_one(bytes.fromhex(code), 0)
        assert spell(instruction) == text
        assert instruction.size == len(code) // 2


def test_the_assembler_was_asked_for_every_opcode():
    seen = {(i.format, i.opcode) for i in (decode_one(bytes.fromhex(c), 0) for c, _ in ROWS)}
    assert {key: OPERATIONS[key].name for key in OPERATIONS.keys() - seen} == UNKNOWN_TO_LLVM


@pytest.mark.skipif(not has_llvm(), reason="needs llvm-mc 14 with AMDGPU (apt install llvm-14)")
def test_the_assembler_says_so_today(repository, tmp_path):
    script = repository / "scripts" / "southern_islands_fixtures.py"
    out = tmp_path / "assembled.txt"
    done = subprocess.run([sys.executable, script, "--output", out], capture_output=True)
    assert done.returncode == 0, done.stdout
    assert out.read_text() == ASSEMBLED.read_text()


def test_fields_are_as_encoded():
    i = decode_one(words(0xD2960003, 0xA1FC0901), 0)  # v_fma_f32 v3, v1?, ...
    assert (i.format, i.opcode, i.size) == (Format.VOP3A, 331, 8)
    assert i.fields == {
        "clamp": 0, "abs": 0, "vdst": 3, "src0": 257, "src1": 4, "src2": 127, "omod": 0, "neg": 5,
    }  # fmt: skip
    i = decode_one(words(0xC2048908), 0)
    assert (i.name, i.fields["sdst"], i.fields["sbase"]) == ("s_buffer_load_dword", 9, 4)
    assert (i.fields["imm"], i.fields["offset"]) == (1, 8)


def test_a_literal_is_the_word_that_follows():
    i = decode_one(words(0xBEFC03FF, 0x8000), 0)
    assert (i.name, i.literal, i.size) == ("s_mov_b32", 0x8000, 8)
    assert decode_one(words(0xBEFC0380, 0x8000), 0).literal is None
    code = words(0xBEFC03FF, 0x8000, 0xBF810000)
    assert [(i.offset, i.name) for i in decode(code)] == [(0, "s_mov_b32"), (8, "s_endpgm")]


@pytest.mark.parametrize("short", [1, 3, 4, 5, 7])
def test_what_is_cut_short_is_told_with_its_place(short):
    code = words(0xBF8C007F, 0xBEFC03FF, 0x8000)
    with pytest.raises(DecodeError) as refused:
        decode(code[: 4 + short])
    assert refused.value.offset == (4 if short < 4 else 8)
    assert str(refused.value).startswith(f"byte {refused.value.offset:#x} of the code: expected 4")


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ([0xBF810000], [0xBF830000], "SOPP has no opcode 3 on Southern Islands"),
        ([0xC8000000], [0xCC000000], "0xcc000000 begins no instruction of Southern Islands"),
        ([0x7E020267], [0x7E020268], "v_mov_b32: no operand has code 104, as its src0 says"),
        ([0x7E0202D0], [0x7E0202D1], "v_mov_b32: no operand has code 209"),
        ([0xBEE70300], [0xBEE80300], "s_mov_b32: no register has code 104, as its sdst says"),
        ([0xC2048967], [0xC2048868], "s_buffer_load_dword: no register has code 104"),
        ([0xD2820000, 0], [0xD2820000, 0xFF], "v_mad_f32: a literal as src0 is not encodable"),
        ([0xE0300000, 128 << 24], [0xE0300000, 255 << 24], "a literal as soffset is not"),
        ([0xD002006A, 0], [0xD0020080, 0], "v_cmp_lt_f32: no register has code 128"),
    ],
)
def test_what_names_nothing_is_refused(good, bad, message):
    decode_one(words(*good), 0)
    with pytest.raises(DecodeError) as refused:
        decode(words(0xBF800000, *bad))
    assert refused.value.offset == 4
    assert message in str(refused.value)


@pytest.mark.parametrize("unused", [0, 128, 104, 255])
def test_fields_that_an_instruction_does_not_use_may_hold_anything(unused):
    """AMD's compiler leaves 128 in them, LLVM 0."""
    instruction = decode_one(words(0xD2CA0000, 0x00020702 | unused << 18), 0)
    assert spell(instruction) == "v_mul_f64 v[0:1], v[2:3], v[3:4]"


def test_random_words_are_decoded_or_refused_where_they_are():
    chance = random.Random(3)
    told = {"decoded": 0, "refused": 0}
    for _ in range(20_000):
        code = chance.randbytes(8)
        try:
            instruction = decode_one(code, 0)
        except DecodeError as refused:
            assert refused.offset == 0
            told["refused"] += 1
            continue
        told["decoded"] += 1
        assert spell(instruction).startswith(instruction.name)
        key = instruction.format, instruction.opcode
        assert (instruction.opcode in VOP3B_OPCODES) or instruction.format is not Format.VOP3B
        assert OPERATIONS[key].name == instruction.name
    assert min(told.values()) > 5_000


@pytest.mark.skipif(not BINARIES, reason="LOCKSTEP_SDK_BINARIES names no folder of binaries")
def test_the_binaries_of_the_sdk_are_decoded():
    files = sorted(Path(BINARIES).glob("*_Kernels.bin"))
    kernels = [k for f in files for k in container.read_file(f).kernels.values()]
    assert (len(files), len(kernels)) == (31, 54)
    assert sum(len(decode(kernel.code)) for kernel in kernels) == 35_100


@pytest.mark.skipif(not BINARIES, reason="LOCKSTEP_SDK_BINARIES names no folder of binaries")
@pytest.mark.skipif(not has_llvm(), reason="needs llvm-mc 14 with AMDGPU (apt install llvm-14)")
@pytest.mark.parametrize("file", sorted(Path(BINARIES or ".").glob("*_Kernels.bin")), ids=str)
def test_listings_of_the_binaries_are_assembled_to_them(file):
    """But for src2 where it is not used: AMD's compiler writes 128, LLVM 0."""
    kernels = list(container.read_file(file).kernels.values())
    lines = [line for number, kernel in enumerate(kernels) for line in listing(kernel, number)]
    again = decode(assemble("\n".join(lines) + "\n"))
    whole = decode(b"".join(kernel.code for kernel in kernels))
    assert [used(i) for i in again] == [used(i) for i in whole]


def used(instruction):
    """An instruction without fields of sources that its operation has not."""
    operation = OPERATIONS[instruction.format, instruction.opcode]
    unused = {"src1", "src2"} - {operand.field for operand in operation.sources}
    fields = {k: v for k, v in instruction.fields.items() if k not in unused}
    return (
        instruction.offset,
        instruction.format,
        instruction.opcode,
        fields,
        instruction.literal,
    )
