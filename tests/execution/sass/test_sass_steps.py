"""Which instructions of machine code read a clock whose value matters."""

import pytest

from lockstep.execution.sass.graph import Block
from lockstep.execution.sass.steps import clock_reads, depends_on_time
from lockstep.isa.sass.encoding.instruction import Control, Instruction
from lockstep.isa.sass.encoding.operand import Name, Register

R0, R4 = Register("R", 0), Register("R", 4)


def instruction(mnemonic, *operands, results=1):
    return Instruction(0, mnemonic, (), operands, None, Control(), 0, results)


@pytest.mark.parametrize("mnemonic", ["CS2R", "S2R", "S2UR"])
@pytest.mark.parametrize("word", ["SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO"])
def test_clocks_are_read_by_their_names(mnemonic, word):
    read = instruction(mnemonic, R4, Name(word))
    assert depends_on_time(read)
    assert list(clock_reads([read, instruction("MOV", R0, R4)], Block(0, 2))) == [0]


def test_a_clock_whose_value_nobody_uses_does_not_matter():
    code = [instruction("CS2R", R4, Name("SR_CLOCKLO")), instruction("MOV", R0, R0)]
    assert list(clock_reads(code, Block(0, 2))) == []
    assert list(clock_reads(code, Block(0, 2, live_out={"R5"}))) == [0]  # the upper half


def test_other_special_registers_are_no_clocks():
    read = instruction("S2R", R4, Name("SR_TID.X"))
    assert not depends_on_time(read)
    assert list(clock_reads([read, instruction("MOV", R0, R4)], Block(0, 2))) == []
