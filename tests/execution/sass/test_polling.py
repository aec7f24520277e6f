"""Loads of shared memory that poll, told from others by the loops that they are in."""

import numpy as np
import pytest

from lockstep.execution.sass.polling import idle_atomics, polling_loads
from lockstep.isa.instruction import INSTRUCTION, OpClass
from lockstep.isa.sass.encoding.instruction import Control, Instruction
from lockstep.isa.sass.encoding.operand import Address, Immediate, Register, Target

P, R = Register("P", 0), Register("R", 0)
CLASSES = {
    "LDS": OpClass.LOAD, "STS": OpClass.STORE, "ISETP": OpClass.INT32, "IADD3": OpClass.INT32,
    "BRA": OpClass.BRANCH, "BAR": OpClass.BARRIER, "MEMBAR": OpClass.FENCE, "EXIT": OpClass.EXIT,
    "NANOSLEEP": OpClass.SLEEP, "CALL": OpClass.BRANCH, "RET": OpClass.BRANCH,
    "LDG": OpClass.LOAD, "STG": OpClass.STORE,
}  # fmt: skip


def load(to=0, base=2, offset=0):
    return "LDS", (Register("R", to), Address(Register("R", base), offset=offset)), 1


def compare(register=0):
    return "ISETP", (P, Register("PT", 7), Register("R", register), Immediate(0)), 1


def add(to, what):
    return "IADD3", (Register("R", to), Register("R", what), Immediate(4)), 1


def back(to):
    return "BRA", (Target(16 * to),), 0


def plain(mnemonic):
    return mnemonic, (), 0


def polling(*texts):
    """Static indices of the loads that poll; jumps back are taken if P0 is set."""
    code, records = [], np.zeros(len(texts), INSTRUCTION)
    for k, (mnemonic, operands, results) in enumerate(texts):
        guard = P if mnemonic == "BRA" else None
        code.append(Instruction(16 * k, mnemonic, (), operands, guard, Control(), 0, results))
        records[k]["op"], records[k]["destination_count"][0] = CLASSES[mnemonic], results
    return polling_loads(code, records)


@pytest.mark.parametrize("between", [[], [plain("NANOSLEEP")], [plain("MEMBAR")], [add(9, 9)]])
def test_a_loop_that_ends_when_a_word_has_changed_polls_it(between):
    assert polling(*between, load(), compare(), back(0), plain("EXIT")) == {len(between)}


def test_the_value_may_take_detours():
    assert polling(load(), add(5, 0), compare(5), back(0)) == {0}


def test_the_first_turn_may_lie_before_the_loop():
    first = [load(), compare(), ("BRA", (Target(16 * 6),), 0)]
    assert polling(*first, load(), compare(), back(3), plain("EXIT")) == {0, 3}


@pytest.mark.parametrize("between", [plain("STS"), plain("BAR"), add(2, 9)])
def test_what_changes_between_is_no_first_turn(between):
    assert polling(load(), between, load(), compare(), back(2)) == {2}


@pytest.mark.parametrize(
    "loop",
    [
        [load(), compare(), plain("STS")],  # something that may change the word
        [load(), compare(), plain("BAR")],
        [load(), compare(), add(2, 2)],  # another word each time
        [load(), compare(9)],  # the loop ends anyway
        [load(offset=4), add(5, 0), compare(9)],
    ],
)
def test_other_loops_do_not_poll(loop):
    assert polling(*loop, back(0)) == set()


def test_without_a_loop_nothing_polls():
    assert polling(load(), compare(), ("BRA", (Target(64),), 0), plain("EXIT")) == set()


def function(*body):
    """A loop that calls a function, from index 3 on."""
    call = "CALL", (Target(16 * 3),), 0
    return polling(call, back(0), plain("EXIT"), *body, plain("RET"), load())


def loaded(mnemonic):
    return mnemonic, *load()[1:]


def test_a_load_of_a_called_function_with_a_fence_polls():
    fence = plain("MEMBAR")
    assert function(loaded("LDG"), fence) == {3}
    assert function(fence, add(9, 9), loaded("LDG"), fence) == {5}
    assert function(loaded("LDG"), add(9, 9)) == set()
    assert function(loaded("LDS"), fence) == set()  # a word that others of the block left there
    assert function(loaded("LDG"), fence, loaded("STG")) == set()


def test_what_no_call_leads_to_is_no_function():
    assert polling(plain("EXIT"), loaded("LDG"), plain("MEMBAR"), plain("RET")) == set()


def test_atomics_that_add_zero_only_look():
    zero, some = Register("R", 255), Register("R", 7)
    assert zero.is_zero and not some.is_zero
    cases = [
        ("ATOMG", ("E", "ADD", "STRONG", "GPU"), zero, True),
        ("ATOMS", ("OR",), zero, True),
        ("ATOMG", ("E", "ADD"), some, False),
        ("ATOMG", ("E", "EXCH"), zero, False),
        ("ATOMG", ("E", "AND"), zero, False),
        ("STG", ("E",), zero, False),
    ]
    code = [
        Instruction(16 * k, name, modifiers, (R, Address(some), value), None, Control(), 0, 1)
        for k, (name, modifiers, value, _) in enumerate(cases)
    ]
    assert idle_atomics(code) == [k for k, case in enumerate(cases) if case[-1]]
